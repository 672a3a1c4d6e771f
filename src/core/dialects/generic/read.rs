//! Reading a document of an unknown dialect.

use serde_json::Value;

use super::decide::decide;
use super::overall_status::{read_overall_status, with_completion_time};
use super::phase_records::{is_path, member, text_member};
use super::sections::{Member, Sections, is_blank, is_idle_word};
use super::stated_progress::StatedProgress;
use crate::core::checkpoint::{Artifact, GitContext, Next, WorkflowStatus};
use crate::core::dialects::draft::Draft;
use crate::core::dialects::members::text_or_number;
use crate::core::dialects::read_log::ReadLog;
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
const SAVE_TIMES: [&str; 16] = [
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

/// The longest title in characters.
const MAX_TITLE: usize = 200;

pub(in crate::core::dialects) fn read(main: &Value, log: &mut ReadLog<'_>) -> Draft {
    let sections = Sections::of(main);
    let mut draft = Draft::default();
    if let Some(member) = sections.find_by_rank(&IDS)
        && let Some(id) = text_or_number(member.value)
    {
        log.origin("workflow", &id, &member.pointer);
        draft.workflow = Some(id);
    }
    if let Some((title, place)) = sections.text(&TITLES) {
        let line = shorten(title.lines().next().unwrap_or_default());
        log.origin("title", &line, &place);
        draft.content.title = Some(line);
    }
    let saved = sections.find_by_rank(&SAVE_TIMES);
    draft.recorded_at = saved.and_then(|member| log.time("saved_at", member.value, &member.pointer));
    let overall = read_overall_status(&sections, log);
    let mut stated = StatedProgress::collect(main, &sections, log);
    stated.not_started |= overall.is_some_and(|overall| overall.not_started);
    let overall = overall.map(|overall| overall.status);
    let says_idle = stated.says_idle;
    let has_phases = !stated.is_empty() || stated.current.is_some();
    let outputs: Vec<_> = stated
        .records
        .iter()
        .filter_map(|record| Some((record.id.clone()?, record.output.clone()?)))
        .collect();
    let overall = with_completion_time(overall, &sections, &stated, log);
    decide(stated, overall, &mut draft, log);
    let phase_times =
        draft.content.phases.iter().flat_map(|phase| [phase.started_at, phase.completed_at]).flatten();
    draft.recorded_at = draft.recorded_at.or(phase_times.max());
    read_next(&sections, &mut draft, log);
    read_git(&sections, &mut draft, log);
    read_files(&sections, &mut draft, log);
    for (phase, path) in outputs {
        draft.content.artifacts.push(Artifact::new(phase.to_string(), path));
    }
    read_error(&sections, &mut draft, log);
    let has_work = has_phases || draft.content.next.is_some() || !draft.content.tasks.is_empty();
    if !has_work && overall.is_none() && (says_idle || has_idle_status(&sections)) {
        log.finding(Severity::Info, Code::Idle, "the file says that there is nothing to be done");
        draft.idle = true;
        draft.content.status = WorkflowStatus::Complete;
    }
    draft
}

/// Shortens a line to the length of a title: it ends behind a whole word, if it has one, and with three dots.
fn shorten(line: &str) -> String {
    const CUT: &str = "...";
    let line = line.trim_end();
    if line.chars().count() <= MAX_TITLE {
        return line.to_owned();
    }
    let end = line.char_indices().nth(MAX_TITLE - CUT.len()).map_or(line.len(), |(end, _)| end);
    let (kept, rest) = line.split_at(end);
    let word_end =
        if rest.starts_with(char::is_whitespace) { Some(end) } else { kept.rfind(char::is_whitespace) };
    // A text without spaces, or with one only near its start, is cut inside a word.
    let whole_words = word_end.map(|end| kept[..end].trim_end()).filter(|words| words.len() >= end / 2);
    format!("{}{CUT}", whole_words.unwrap_or(kept))
}

fn has_idle_status(sections: &Sections<'_>) -> bool {
    sections.text(&["status", "state", "workflow_status"]).is_some_and(|(word, _)| is_idle_word(&word))
}

/// Returns the first member with one of these names that is neither blank nor an empty list.
fn find_filled<'s, 'a>(sections: &'s Sections<'a>, names: &[&str]) -> Option<&'s Member<'a>> {
    names.iter().find_map(|name| {
        let member = sections.find(&[name])?;
        let is_empty = member.value.as_array().is_some_and(Vec::is_empty);
        if is_empty { None } else { Some(member) }
    })
}

/// Returns a text, or that of the first of these members of an object.
fn text_in(value: &Value, names: &[&str]) -> Option<String> {
    if value.is_object() { text_member(value, names) } else { text_or_number(value) }
}

fn read_next(sections: &Sections<'_>, draft: &mut Draft, log: &mut ReadLog<'_>) {
    let Some(member) = find_filled(sections, &ACTIONS) else { return };
    let value = match member.value {
        Value::Array(items) => items.first().unwrap_or(&Value::Null),
        value => value,
    };
    let Some(text) = text_in(value, &["action", "description", "title", "step", "task"]) else { return };
    if is_idle_word(&text) {
        return;
    }
    let phases = &draft.content.phases;
    let recorded = draft.content.next.take().unwrap_or_default();
    let (mut phase, explicit) = (recorded.phase, recorded.explicit);
    // The name of a phase is not an action.
    let is_phase = phases.iter().any(|phase| phase.id.as_str() == text);
    log.origin(if is_phase { "next phase" } else { "next action" }, &text, &member.pointer);
    let action = if is_phase { None } else { Some(text) };
    let is_done = |id: &PhaseId| phases.iter().any(|phase| phase.id == *id && phase.status.is_done());
    if action.is_some()
        && let Some(id) = phase.take_if(|id| is_done(id))
    {
        let message =
            format!("the record stands at {id}, which is done; what to do next is about what follows it");
        log.finding(Severity::Advice, Code::NextDisagrees, message);
    }
    if phase.is_some() || action.is_some() {
        draft.content.next =
            Some(Next { explicit: explicit && phase.is_some(), phase, action, ..Next::default() });
    }
}

fn read_git(sections: &Sections<'_>, draft: &mut Draft, log: &mut ReadLog<'_>) {
    let branch = sections
        .text(&["git_branch", "branch", "current_branch", "branch_name"])
        .filter(|(name, _)| !name.contains(char::is_whitespace) && !is_idle_word(name));
    let commit = sections
        .text(&["git_commit", "commit", "last_commit", "commit_hash", "commit_sha", "head", "git_sha"])
        .and_then(|(text, place)| Some((commit_hash(&text)?, place)));
    if let Some((name, place)) = &branch {
        log.origin("git branch", name, place);
    }
    if let Some((hash, place)) = &commit {
        log.origin("git commit", hash, place);
    }
    if branch.is_some() || commit.is_some() {
        let (branch, commit) = (branch.map(|(name, _)| name), commit.map(|(hash, _)| hash));
        draft.git = Some(GitContext { branch, commit, extra: Default::default() });
    }
}

/// Returns the first word of a text if it is a commit hash.
fn commit_hash(text: &str) -> Option<String> {
    let word = text.split_whitespace().next()?;
    let is_hash = (7..=64).contains(&word.len()) && word.bytes().all(|b| b.is_ascii_hexdigit());
    is_hash.then(|| word.to_owned())
}

/// Reads artifacts: a path, a list of paths or of objects with a path, or an object from names to any of these.
fn read_files(sections: &Sections<'_>, draft: &mut Draft, log: &mut ReadLog<'_>) {
    let Some(files) = sections.find(&FILES) else { return };
    let mut add = |name: Option<&str>, path: &str, place: &str| {
        if is_on_other_machine(path) {
            let message = "this path is that of another machine or user; it is kept, but not looked at";
            log.finding_at(Severity::Advice, Code::ArtifactUnreadable, place, message);
        } else if is_path(path)
            && !path.ends_with('/')
            && draft.content.artifacts.iter().all(|artifact| artifact.path != path)
        {
            log.origin("artifact", path, place);
            draft.content.artifacts.push(Artifact::new(name.unwrap_or(path), path));
        }
    };
    // A stack: children are pushed in reverse, so that they are read in order.
    let mut stack = vec![(None, files.value, files.pointer.clone())];
    while let Some((name, value, place)) = stack.pop() {
        match value {
            Value::String(path) => add(name, path, &place),
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate().rev() {
                    stack.push((None, item, format!("{place}/{index}")));
                }
            }
            Value::Object(members) => match member(value, &["path", "file", "file_path", "location"]) {
                Some((key, path)) => {
                    let name =
                        name.or_else(|| member(value, &["name", "id"]).and_then(|(_, name)| name.as_str()));
                    stack.push((name, path, format!("{place}/{key}")));
                }
                None if name.is_none() => {
                    for (key, value) in members.iter().rev() {
                        if !is_blank(value) {
                            stack.push((Some(key.as_str()), value, format!("{place}/{key}")));
                        }
                    }
                }
                None => {}
            },
            _ => {}
        }
    }
}

/// True if a path starts with a drive, a share or a home directory.
fn is_on_other_machine(path: &str) -> bool {
    let has_drive =
        matches!(path.as_bytes(), [letter, b':', b'\\' | b'/', ..] if letter.is_ascii_alphabetic());
    has_drive || path.starts_with("\\\\") || path.starts_with("~/")
}

fn read_error(sections: &Sections<'_>, draft: &mut Draft, log: &mut ReadLog<'_>) {
    let Some(member) = find_filled(sections, &ERRORS) else { return };
    let value = match member.value {
        Value::Array(items) => items.last().unwrap_or(&Value::Null),
        value => value,
    };
    let Some(message) = text_in(value, &["message", "error", "description", "reason", "blocker"]) else {
        return;
    };
    if !is_idle_word(&message) {
        log.origin("error", &message, &member.pointer);
        draft.undated_error = Some(message);
    }
}
