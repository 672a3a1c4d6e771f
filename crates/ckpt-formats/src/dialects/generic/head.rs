//! The facts of a document besides its progress: the workflow, a title, the time, what to do next, git, the last error.

use heck::ToSnakeCase as _;
use serde_json::Value;

use super::entry::Fields;
use super::words::{WHOLES, Word, has, status_word};
use crate::dialects::checklist;
use crate::dialects::draft::Draft;
use crate::dialects::markdown;
use crate::dialects::members::text_or_number;
use crate::dialects::read_log::ReadLog;
use crate::dialects::times::ParsedTime;
use crate::dialects::worklist::title;
use ckpt_model::checkpoint::{Artifact, GitContext};
use ckpt_model::finding::{Code, Severity};
use ckpt_model::json::below;

const WORKFLOW_ID: &str = "workflow_id workflow_run_id run_id flow_id pipeline_id task_id id task_number issue_number ticket checkpoint_id \
     project_name project slug feature_name";
const TITLE: &str = "title project project_name name workflow_name feature_name feature";
/// Times of the newest change; the latest of them counts.
const SAVED_AT: &str = "updated_at last_updated last_updated_at updated saved_at last_saved last_modified modified_at timestamp \
     last_checkpoint checkpoint_time last_activity last_run last_save ts completed_at finished_at";
const NEXT_ACTION: &str =
    "next_action next_actions next_step next_steps next resume_action pending_actions next_task next_command";
const ERROR: &str = "last_error error error_message failure_reason blocked_reason";

/// A member, with its place.
struct Member<'a> {
    value: &'a Value,
    place: String,
}

/// The document, and the objects at its top that describe the whole.
struct Sections<'a>(Vec<(String, Fields<'a>)>);

impl<'a> Sections<'a> {
    fn of(root: &'a Value) -> Self {
        let inner = root.as_object().into_iter().flatten().filter(|(key, value)| {
            let key = key.to_snake_case();
            value.is_object() && (has(WHOLES, &key) || has("context git session position task", &key))
        });
        let inner = inner.map(|(key, value)| (below("", key), Fields::of(value)));
        Self([(String::new(), Fields::of(root))].into_iter().chain(inner).collect())
    }

    fn all(&self, names: &str) -> impl Iterator<Item = Member<'a>> {
        let found = self.0.iter().flat_map(|(place, fields)| {
            fields.all(names).map(move |(key, value)| Member { value, place: below(place, key) })
        });
        found.collect::<Vec<_>>().into_iter()
    }

    /// Returns the first text or number that does not say that there is none.
    fn text(&self, names: &str) -> Option<(String, String)> {
        let is_text = |text: &String| status_word(text) != Some(Word::Idle);
        self.all(names).find_map(|member| {
            let value = match member.value {
                Value::Array(items) => items.first()?,
                value => value,
            };
            let text = match value {
                Value::Object(_) => Fields::of(value).text("action description title message reason"),
                value => text_or_number(value),
            };
            Some((text.filter(is_text)?, member.place))
        })
    }
}

/// Adds what the document says besides its progress.
pub(super) fn read(root: &Value, draft: &mut Draft, log: &mut ReadLog<'_>) {
    let sections = Sections::of(root);
    if let Some((id, place)) = sections.text(WORKFLOW_ID) {
        log.origin("workflow", &id, &place);
        draft.workflow = Some(id);
    }
    let heading = root.get(markdown::TEXT).and_then(Value::as_str).and_then(checklist::title);
    let named = sections.text(TITLE).map(|(text, place)| (title(&text), place));
    if let Some((line, place)) = named.or_else(|| Some((heading?, below("", markdown::TEXT)))) {
        log.origin("title", &line, &place);
        draft.content.title = Some(line);
    }
    let time = |member: &Member<'_>| ParsedTime::parse(member.value).timestamp();
    if let Some(newest) = sections.all(SAVED_AT).filter(|member| time(member).is_some()).max_by_key(time) {
        draft.recorded_at = log.time("saved_at", newest.value, &newest.place);
    }
    let branch =
        sections.text("git_branch branch current_branch").filter(|(name, _)| !name.contains(char::is_whitespace));
    let is_hash = |text: &str| (7..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let commit =
        sections.text("git_commit commit commit_hash commit_sha last_commit").filter(|(text, _)| is_hash(text));
    for (fact, found) in [("git branch", &branch), ("git commit", &commit)] {
        if let Some((text, place)) = found {
            log.origin(fact, text, place);
        }
    }
    if branch.is_some() || commit.is_some() {
        let (branch, commit) = (branch.map(|(name, _)| name), commit.map(|(hash, _)| hash));
        draft.git = Some(GitContext { branch, commit, extra: Default::default() });
    }
    if let Some(files) = sections.all("artifacts output_files outputs").next() {
        read_files(files.value, &files.place, draft, log);
    }
    if let Some((message, place)) = sections.text(ERROR) {
        log.origin("error", &message, &place);
        draft.undated_error = Some(message);
    }
}

/// Adds the files in a list of paths.
fn read_files(files: &Value, place: &str, draft: &mut Draft, log: &mut ReadLog<'_>) {
    for (index, path) in files.as_array().into_iter().flatten().enumerate() {
        let place = below(place, &index.to_string());
        let Some(path) = path.as_str().filter(|path| !path.contains(char::is_whitespace)) else { continue };
        let is_elsewhere = path.starts_with("~/") || path.contains('\\') || path.get(1..3) == Some(":/");
        if is_elsewhere {
            let message = "this path is on another machine or of another user; it is kept, but not looked at";
            log.finding_at(Severity::Advice, Code::ArtifactUnreadable, &place, message);
        } else if path.contains(['.', '/']) && draft.content.artifacts.iter().all(|known| known.path != path) {
            log.origin("artifact", path, &place);
            draft.content.artifacts.push(Artifact::new(path, path));
        }
    }
}

/// Returns what is to be done next, in words, and its place.
pub(super) fn next_action(root: &Value) -> Option<(String, String)> {
    Sections::of(root).text(NEXT_ACTION).filter(|(text, _)| text.contains(' '))
}
