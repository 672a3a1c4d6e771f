//! `feature_list.json`: features, each of which passes or does not; the whole document, or a member `features`.

use serde_json::{Value, json};

use super::draft::Draft;
use super::format::{Format, Layout};
use super::passes;
use super::read_log::ReadLog;
use super::reading::DialectFiles;
use super::worklist::{mostly, name};
use ckpt_model::checkpoint::{Checkpoint, Content};

pub(super) static FORMAT: Format = Format {
    word: "feature-list",
    text: "a feature list, features that pass or do not",
    places: &["feature_list.json", "features.json", ".claude/feature_list.json"],
    recognises,
    read,
    write,
    layout: Some(&LAYOUT),
    ..Format::ONLY_READ
};

static LAYOUT: Layout = Layout { path: |_, _, _| Some("feature_list.json".to_owned()), ..Layout::PLAIN };

fn recognises(main: &Value) -> bool {
    let has_status = |item: &Value| {
        let is_named = ["id", "name"].iter().any(|key| item.get(key).is_some());
        is_named && item.get("status").is_some_and(Value::is_string)
    };
    let features = main.get("features");
    let is_only_list = ["phases", "current_phase", "tasks"].iter().all(|key| main.get(key).is_none());
    passes::has_passes(Some(main)) || passes::has_passes(features) || (is_only_list && mostly(features, has_status))
}

fn read(main: &Value, _: Option<&Value>, log: &mut ReadLog<'_>) -> Draft {
    let (features, place) = main.get("features").map_or((main, ""), |features| (features, "/features"));
    let content = Content { title: name(main, &["description", "project"]), ..passes::read(features, place, log) };
    Draft { workflow: name(main, &["project", "project_name"]), content, ..Draft::default() }
}

fn write(checkpoint: &Checkpoint, imported: Option<&DialectFiles>) -> Option<DialectFiles> {
    let main = match imported.map(|files| &files.main) {
        Some(list @ Value::Array(_)) => passes::write(checkpoint, Some(list)),
        Some(Value::Object(members)) => {
            let features = passes::write(checkpoint, members.get("features"));
            let mut members = members.clone();
            members.insert("features".to_owned(), features);
            members.into()
        }
        Some(other) => other.clone(),
        None => {
            let features = passes::write(checkpoint, None);
            json!({"project": checkpoint.workflow, "description": checkpoint.content.title, "features": features})
        }
    };
    Some(DialectFiles::single(main))
}
