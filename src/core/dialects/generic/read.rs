//! Reading a document of unknown kind.

use serde_json::Value;

use super::claim::{claim, settle_claim};
use super::decide::decide;
use super::evidence::Evidence;
use super::listed::{is_path, member};
use super::scope::{Found, Scopes, is_idle_word, is_nothing, text};
use crate::core::checkpoint::{Artifact, GitContext, Next, WorkflowStatus};
use crate::core::dialects::reading::{Draft, Notes};
use crate::core::finding::{Code, Severity};
use crate::core::phase::PhaseId;

const IDS: [&str; 14] = [
    "workflow_id",
    "workflow_run_id",
    "run_id",
    "flow_id",
    "pipeline_id",
    "task_id",
    "id",
    "task_number",
    "issue_number",
    "ticket",
    "checkpoint_id",
    "project_name",
    "project",
    "slug",
];
const TITLES: [&str; 10] = [
    "title",
    "workflow_description",
    "task_description",
    "description",
    "request",
    "goal",
    "objective",
    "name",
    "summary",
    "current_task",
];
const SAVED: [&str; 16] = [
    "updated_at",
    "last_updated",
    "last_updated_at",
    "updated",
    "saved_at",
    "last_saved",
    "last_modified",
    "timestamp",
    "last_checkpoint",
    "checkpoint_time",
    "saved",
    "created_at",
    "created",
    "date",
    "started_at",
    "state_set_at",
];
const ACTIONS: [&str; 10] = [
    "next_action",
    "next_actions",
    "next_step",
    "next_steps",
    "next",
    "next_action_hint",
    "resume_action",
    "pending_actions",
    "what_next",
    "next_task",
];
const ERRORS: [&str; 6] = ["last_error", "error", "error_message", "failure_reason", "errors", "blockers"];
const FILES: [&str; 6] =
    ["artifacts", "artifact_paths", "artifact_registry", "outputs", "output_files", "output_file"];

pub(in super::super) fn read(main: &Value, notes: &mut Notes<'_>) -> Draft {
    let scopes = Scopes::of(main);
    let mut draft = Draft::default();
    if let Some(found) = scopes.best(&IDS)
        && let Some(id) = text(found.value)
    {
        notes.found("workflow", &id, &found.pointer);
        draft.workflow = Some(id);
    }
    if let Some((title, place)) = scopes.text(&TITLES) {
        let line = shortened(title.lines().next().unwrap_or_default());
        notes.found("title", &line, &place);
        draft.content.title = Some(line);
    }
    draft.recorded_at =
        scopes.best(&SAVED).and_then(|found| notes.time("saved_at", found.value, &found.pointer));
    let claim = claim(&scopes, notes);
    let mut evidence = Evidence::gather(main, &scopes, notes);
    evidence.not_begun |= claim.is_some_and(|claim| claim.not_begun);
    let claim = claim.map(|claim| claim.status);
    let says_idle = evidence.says_idle;
    let known = !evidence.is_empty() || evidence.current.is_some();
    let outputs: Vec<_> = evidence
        .records
        .iter()
        .filter_map(|record| Some((record.id.clone()?, record.output.clone()?)))
        .collect();
    let claim = settle_claim(claim, &scopes, &evidence, notes);
    decide(evidence, claim, &mut draft, notes);
    let phase_times =
        draft.content.phases.iter().flat_map(|phase| [phase.started_at, phase.completed_at]).flatten();
    draft.recorded_at = draft.recorded_at.or(phase_times.max());
    read_next(&scopes, &mut draft, notes);
    read_git(&scopes, &mut draft, notes);
    read_files(&scopes, &mut draft, notes);
    for (phase, path) in outputs {
        draft.content.artifacts.push(Artifact::new(phase.to_string(), path));
    }
    read_error(&scopes, &mut draft, notes);
    let silent = !known && draft.content.next.is_none() && draft.content.tasks.is_empty();
    if silent && claim.is_none() && (says_idle || says_idle_status(&scopes)) {
        notes.doubt(Severity::Info, Code::Idle, "the file says that there is nothing to be done");
        draft.idle = true;
        draft.content.status = WorkflowStatus::Complete;
    }
    draft
}

/// The longest title that is taken over as it is, in characters.
const MAX_TITLE: usize = 200;

/// A line that fits as a title: one that is too long ends behind a whole word, if it has one, and with three dots.
fn shortened(line: &str) -> String {
    const CUT: &str = "...";
    let line = line.trim_end();
    if line.chars().count() <= MAX_TITLE {
        return line.to_owned();
    }
    let end = line.char_indices().nth(MAX_TITLE - CUT.len()).map_or(line.len(), |(end, _)| end);
    let (kept, rest) = line.split_at(end);
    let word =
        if rest.starts_with(char::is_whitespace) { Some(end) } else { kept.rfind(char::is_whitespace) };
    // A text without spaces, or with one only at its beginning, is cut where it must be.
    let whole = word.map(|end| kept[..end].trim_end()).filter(|whole| whole.len() >= end / 2);
    format!("{}{CUT}", whole.unwrap_or(kept))
}

fn says_idle_status(scopes: &Scopes<'_>) -> bool {
    scopes.text(&["status", "state", "workflow_status"]).is_some_and(|(word, _)| is_idle_word(&word))
}

/// The member with the best of these names that is no empty list.
fn telling<'a>(scopes: &Scopes<'a>, names: &[&str]) -> Option<Found<'a>> {
    let tells = |found: &Found<'_>| !matches!(found.value, Value::Array(items) if items.is_empty());
    names.iter().find_map(|name| scopes.find(&[name]).filter(tells))
}

fn read_next(scopes: &Scopes<'_>, draft: &mut Draft, notes: &mut Notes<'_>) {
    let Some(found) = telling(scopes, &ACTIONS) else { return };
    let value = match found.value {
        Value::Array(items) => items.first().unwrap_or(&Value::Null),
        value => value,
    };
    let action = match value {
        Value::Object(_) => {
            member(value, &["action", "description", "title", "step", "task"]).and_then(|(_, v)| text(v))
        }
        value => text(value),
    };
    let Some(action) = action.filter(|action| !is_idle_word(action)) else { return };
    let mut phase = draft.content.next.take().and_then(|next| next.phase);
    // What names a phase is no sentence about what to do.
    let names_a_phase = draft.content.phases.iter().any(|known| known.id.as_str() == action);
    notes.found(if names_a_phase { "next phase" } else { "next action" }, &action, &found.pointer);
    let action = Some(action).filter(|_| !names_a_phase);
    let is_done =
        |id: &PhaseId| draft.content.phases.iter().any(|known| known.id == *id && known.status.is_done());
    if let Some(id) = phase.take_if(|id| action.is_some() && is_done(id)) {
        let message =
            format!("the record stands at {id}, which is done; what to do next is about what follows it");
        notes.doubt(Severity::Advice, Code::NextDisagrees, message);
    }
    draft.content.next =
        (phase.is_some() || action.is_some()).then(|| Next { phase, action, extra: Default::default() });
}

fn read_git(scopes: &Scopes<'_>, draft: &mut Draft, notes: &mut Notes<'_>) {
    let branch = scopes.text(&["git_branch", "branch", "current_branch", "branch_name"]);
    let commit =
        scopes.text(&["git_commit", "commit", "last_commit", "commit_hash", "commit_sha", "head", "git_sha"]);
    let hash = |(text, place): (String, String)| {
        let word = text.split_whitespace().next()?.to_owned();
        let is_hash = (7..=64).contains(&word.len()) && word.bytes().all(|b| b.is_ascii_hexdigit());
        is_hash.then_some((word, place))
    };
    let branch = branch.filter(|(name, _)| !name.contains(char::is_whitespace) && !is_idle_word(name));
    let commit = commit.and_then(hash);
    if let Some((name, place)) = &branch {
        notes.found("git branch", name, place);
    }
    if let Some((hash, place)) = &commit {
        notes.found("git commit", hash, place);
    }
    if branch.is_some() || commit.is_some() {
        let first = |found: Option<(String, String)>| found.map(|(text, _)| text);
        draft.git =
            Some(GitContext { branch: first(branch), commit: first(commit), extra: Default::default() });
    }
}

/// Files: a path, a list of paths or of objects with a path, or an object from names to any of these.
fn read_files(scopes: &Scopes<'_>, draft: &mut Draft, notes: &mut Notes<'_>) {
    let Some(found) = scopes.find(&FILES) else { return };
    let mut mention = |name: Option<&str>, path: &str, place: &str| {
        if is_elsewhere(path) {
            let message = "this path is that of another machine or user; it is kept, but not looked at";
            notes.doubt_at(Severity::Advice, Code::ArtifactUnreadable, place, message);
        } else if is_path(path)
            && !path.ends_with('/')
            && draft.content.artifacts.iter().all(|known| known.path != path)
        {
            notes.found("artifact", path, place);
            draft.content.artifacts.push(Artifact::new(name.unwrap_or(path), path));
        }
    };
    let mut pending = vec![(None, found.value, found.pointer)];
    while let Some((name, value, place)) = pending.pop() {
        match value {
            Value::String(path) => mention(name, path, &place),
            Value::Array(items) => {
                let items = items.iter().enumerate().rev();
                pending.extend(items.map(|(index, item)| (None, item, format!("{place}/{index}"))));
            }
            Value::Object(members) => match member(value, &["path", "file", "file_path", "location"]) {
                Some((key, path)) => {
                    let name =
                        name.or_else(|| member(value, &["name", "id"]).and_then(|(_, name)| name.as_str()));
                    pending.push((name, path, format!("{place}/{key}")));
                }
                None if name.is_none() => {
                    let members = members.iter().rev().filter(|(_, value)| !is_nothing(value));
                    pending.extend(
                        members.map(|(key, value)| (Some(key.as_str()), value, format!("{place}/{key}"))),
                    );
                }
                None => {}
            },
            _ => {}
        }
    }
}

/// Whether a path begins where nobody but its writer knows: on a drive, a share, or in a home.
fn is_elsewhere(path: &str) -> bool {
    let drive = matches!(path.as_bytes(), [letter, b':', b'\\' | b'/', ..] if letter.is_ascii_alphabetic());
    drive || path.starts_with("\\\\") || path.starts_with("~/")
}

fn read_error(scopes: &Scopes<'_>, draft: &mut Draft, notes: &mut Notes<'_>) {
    let Some(found) = telling(scopes, &ERRORS) else { return };
    let value = match found.value {
        Value::Array(items) => items.last().unwrap_or(&Value::Null),
        value => value,
    };
    let message = match value {
        Value::Object(_) => member(value, &["message", "error", "description", "reason", "blocker"])
            .and_then(|(_, text)| super::scope::text(text)),
        value => text(value),
    };
    let Some(message) = message.filter(|message| !is_idle_word(message)) else { return };
    notes.found("error", &message, &found.pointer);
    draft.undated_error = Some(message);
}
