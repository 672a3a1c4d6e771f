//! Ralph's `prd.json`: user stories, each of which passes or does not. The one with the lowest priority number is next.

use serde_json::{Value, json};

use super::draft::Draft;
use super::format::{Format, Layout};
use super::members::first_member;
use super::passes;
use super::read_log::ReadLog;
use super::reading::DialectFiles;
use super::worklist::name;
use ckpt_model::checkpoint::{Checkpoint, Content, GitContext};

const STORIES: [&str; 3] = ["userStories", "user_stories", "stories"];

pub(super) static FORMAT: Format = Format {
    word: "ralph",
    text: "Ralph, user stories that pass or do not",
    places: &["prd.json", "scripts/ralph/prd.json", ".ralph/prd.json", "ralph/prd.json"],
    recognises,
    read,
    write,
    layout: Some(&LAYOUT),
    ..Format::ONLY_READ
};

static LAYOUT: Layout = Layout { path: |_, _, _| Some("prd.json".to_owned()), ..Layout::PLAIN };

fn recognises(main: &Value) -> bool {
    STORIES.iter().any(|key| passes::has_passes(main.get(key)))
}

fn read(main: &Value, _: Option<&Value>, log: &mut ReadLog<'_>) -> Draft {
    let (key, stories) = first_member(main, &STORIES).unwrap_or(("userStories", &Value::Null));
    let content =
        Content { title: name(main, &["description", "project"]), ..passes::read(stories, &format!("/{key}"), log) };
    let branch = main.get("branchName").and_then(Value::as_str).map(str::to_owned);
    Draft {
        workflow: name(main, &["project", "name"]).inspect(|id| log.origin("workflow", id, "/project")),
        content,
        git: branch.map(|branch| GitContext { branch: Some(branch), commit: None, extra: Default::default() }),
        ..Draft::default()
    }
}

fn write(checkpoint: &Checkpoint, imported: Option<&DialectFiles>) -> Option<DialectFiles> {
    let mut main = imported.map_or_else(
        || {
            let branch = checkpoint.context.git.as_ref().and_then(|git| git.branch.as_deref());
            json!({"project": checkpoint.workflow, "branchName": branch, "description": checkpoint.content.title})
        },
        |files| files.main.clone(),
    );
    let (key, stories) = first_member(&main, &STORIES).unwrap_or(("userStories", &Value::Null));
    let stories = passes::write(checkpoint, Some(stories));
    if let Value::Object(members) = &mut main {
        members.insert(key.to_owned(), stories);
    }
    Some(DialectFiles::single(main))
}
