//! The draft: what a document says besides its progress (the workflow, its title and time, the next action, git, files and
//! errors), and the answer.

use std::collections::HashSet;

use serde_json::Value;

use super::arrange::{Extent, Subject};
use super::collect::{Claim, Statement};
use super::decide::{Answer, Whole};
use super::values::{Fields, Thing, is_path};
use super::vocabulary::{self as words, Noun, WRAPPERS, Word, has, is_idle_word, snake_case};
use crate::dialects::draft::Draft;
use crate::dialects::members::text_or_number;
use crate::dialects::phase_list::phase_with_status;
use crate::dialects::read_log::ReadLog;
use crate::dialects::times::ParsedTime;
use crate::dialects::worklist::title;
use ckpt_model::checkpoint::{Artifact, CUSTOM_PIPELINE, GitContext, Next, WorkflowStatus};
use ckpt_model::finding::{Code, Severity};
use ckpt_model::json::below;
use ckpt_model::phase::{Phase, PhaseId, PhaseStatus};
use ckpt_model::task::{Task, TaskId, TaskStatus};

/// Keys of an object for a file.
const PATH: &str = "path file file_path location";
/// The deepest level of wrapping objects, the document included.
const MAX_LEVELS: usize = 3;

/// The objects in which facts about the whole are looked up: the document, and objects that commonly wrap them.
pub(super) struct Sections<'a>(Vec<(String, Fields<'a>)>);

/// A member of a section, with its place.
struct Member<'a> {
    value: &'a Value,
    place: String,
}

impl<'a> Sections<'a> {
    pub(super) fn of(root: &'a Value) -> Self {
        let mut sections = Vec::new();
        let mut level = vec![(String::new(), root)];
        for _ in 0..MAX_LEVELS {
            let mut next_level = Vec::new();
            for (place, value) in level {
                for (key, value) in value.as_object().into_iter().flatten() {
                    if value.is_object() && has(WRAPPERS, &snake_case(key)) {
                        next_level.push((below(&place, key), value));
                    }
                }
                sections.push((place, Fields::of(value)));
            }
            level = next_level;
        }
        Self(sections)
    }

    /// Returns the first of these members; outer sections take precedence over the order of the names.
    fn find(&self, names: &str) -> Option<Member<'a>> {
        self.0.iter().find_map(|(place, fields)| {
            let (key, value) = fields.get(names)?;
            Some(Member { value, place: below(place, key) })
        })
    }

    /// Returns the first of these members that is not an empty list; the order of the names takes precedence.
    fn find_filled(&self, names: &str) -> Option<Member<'a>> {
        let is_filled = |member: &Member<'_>| member.value.as_array().is_none_or(|items| !items.is_empty());
        names.split_ascii_whitespace().find_map(|name| self.find(name).filter(is_filled))
    }

    /// Returns the text and the place of the member that [`Self::find`] finds.
    fn text(&self, names: &str) -> Option<(String, String)> {
        let member = self.find(names)?;
        text_or_number(member.value).map(|text| (text, member.place))
    }
}

/// Adds the workflow, its title and the time of the newest change to the draft.
pub(super) fn read_head(sections: &Sections<'_>, draft: &mut Draft, log: &mut ReadLog<'_>) {
    if let Some(member) = sections.find_filled(words::WORKFLOW_ID)
        && let Some(id) = text_or_number(member.value)
    {
        log.origin("workflow", &id, &member.place);
        draft.workflow = Some(id);
    }
    if let Some((text, place)) = sections.text(words::TITLE) {
        let line = title(&text);
        log.origin("title", &line, &place);
        draft.content.title = Some(line);
    }
    if let Some(member) = latest(sections, words::SAVED_AT, log).or_else(|| latest(sections, words::CREATED_AT, log)) {
        draft.recorded_at = log.time("saved_at", member.value, &member.place);
    }
}

/// Returns the latest of these times. If none of them can be read, that of the outermost section is a finding.
fn latest<'a>(sections: &Sections<'a>, names: &str, log: &mut ReadLog<'_>) -> Option<Member<'a>> {
    let found: Vec<Member<'a>> = names.split_ascii_whitespace().filter_map(|name| sections.find(name)).collect();
    let time = |member: &Member<'_>| ParsedTime::parse(member.value).timestamp();
    let unreadable = found.iter().find(|member| time(member).is_none());
    if let (Some(member), true) = (unreadable, found.iter().all(|member| time(member).is_none())) {
        log.parse_time(member.value, &member.place);
    }
    found.into_iter().filter(|member| time(member).is_some()).max_by_key(time)
}

/// Adds the next action, git, files and the last error to the draft.
pub(super) fn read_rest(sections: &Sections<'_>, draft: &mut Draft, log: &mut ReadLog<'_>) {
    read_next(sections, draft, log);
    read_git(sections, draft, log);
    read_files(sections, draft, log);
    read_error(sections, draft, log);
}

/// Returns a text, or that of the first of these members of an object.
fn text_in(value: &Value, names: &str) -> Option<String> {
    if value.is_object() { Fields::of(value).text(names) } else { text_or_number(value) }
}

fn read_next(sections: &Sections<'_>, draft: &mut Draft, log: &mut ReadLog<'_>) {
    let Some(member) = sections.find_filled(words::NEXT_ACTION) else { return };
    let value = match member.value {
        Value::Array(items) => items.first().unwrap_or(&Value::Null),
        value => value,
    };
    let Some(text) = text_in(value, "action description title step task") else { return };
    if is_idle_word(&text) {
        return;
    }
    let phases = &draft.content.phases;
    let recorded = draft.content.next.take().unwrap_or_default();
    let (mut phase, explicit) = (recorded.phase, recorded.explicit);
    // The name of a phase is not an action.
    let is_phase = phases.iter().any(|phase| phase.id.as_str() == text)
        || phase.as_ref().is_some_and(|phase| phase.as_str() == text);
    log.origin(if is_phase { "next phase" } else { "next action" }, &text, &member.place);
    let action = if is_phase { None } else { Some(text) };
    let is_done = |id: &PhaseId| phases.iter().any(|phase| phase.id == *id && phase.status.is_done());
    if action.is_some()
        && let Some(id) = phase.take_if(|id| is_done(id))
    {
        let message = format!("the record stands at {id}, which is done; what to do next is about what follows it");
        log.finding(Severity::Advice, Code::NextDisagrees, message);
    }
    if phase.is_some() || action.is_some() {
        draft.content.next = Some(Next { explicit: explicit && phase.is_some(), phase, action, ..Next::default() });
    }
}

fn read_git(sections: &Sections<'_>, draft: &mut Draft, log: &mut ReadLog<'_>) {
    let branch =
        sections.text(words::BRANCH).filter(|(name, _)| !name.contains(char::is_whitespace) && !is_idle_word(name));
    let commit = sections.text(words::COMMIT).and_then(|(text, place)| Some((commit_hash(&text)?, place)));
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
    let Some(Member { value, place }) = sections.find(words::FILES) else { return };
    match value {
        Value::Object(members) if Fields::of(value).get(PATH).is_none() => {
            for (key, value) in members {
                read_paths(value, Some(key), &below(&place, key), draft, log);
            }
        }
        _ => read_paths(value, None, &place, draft, log),
    }
}

fn read_paths(value: &Value, name: Option<&str>, place: &str, draft: &mut Draft, log: &mut ReadLog<'_>) {
    let fields = Fields::of(value);
    if let Value::Array(items) = value {
        for (index, item) in items.iter().enumerate() {
            read_paths(item, name, &format!("{place}/{index}"), draft, log);
        }
    } else if let Some((key, Value::String(path))) = fields.get(PATH) {
        let own = fields.get("name id").and_then(|(_, name)| name.as_str());
        add_artifact(path, name.or(own), &below(place, key), draft, log);
    } else if let Value::String(path) = value {
        add_artifact(path, name, place, draft, log);
    }
}

fn add_artifact(path: &str, name: Option<&str>, place: &str, draft: &mut Draft, log: &mut ReadLog<'_>) {
    let is_new = draft.content.artifacts.iter().all(|artifact| artifact.path != path);
    if is_on_other_machine(path) {
        let message = "this path is that of another machine or user; it is kept, but not looked at";
        log.finding_at(Severity::Advice, Code::ArtifactUnreadable, place, message);
    } else if is_path(path) && !path.ends_with('/') && is_new {
        log.origin("artifact", path, place);
        draft.content.artifacts.push(Artifact::new(name.unwrap_or(path), path));
    }
}

/// True if a path starts with a drive, a share or a home directory.
fn is_on_other_machine(path: &str) -> bool {
    let has_drive = matches!(path.as_bytes(), [letter, b':', b'\\' | b'/', ..] if letter.is_ascii_alphabetic());
    has_drive || path.starts_with("\\\\") || path.starts_with("~/")
}

fn read_error(sections: &Sections<'_>, draft: &mut Draft, log: &mut ReadLog<'_>) {
    let Some(member) = sections.find_filled(words::LAST_ERROR) else { return };
    let value = match member.value {
        Value::Array(items) => items.last().unwrap_or(&Value::Null),
        value => value,
    };
    let Some(message) = text_in(value, "message error description reason blocker") else {
        return;
    };
    if !is_idle_word(&message) {
        log.origin("error", &message, &member.place);
        draft.undated_error = Some(message);
    }
}

/// Writes the answer into the draft, so that the judgement of `resume` gives the same.
pub(super) fn conclude(
    answer: &Answer,
    mut subject: Subject,
    whole: &Whole,
    statements: &[Statement],
    draft: &mut Draft,
    log: &mut ReadLog<'_>,
) {
    let is_over = matches!(answer, Answer::Complete | Answer::Idle);
    let said = whole.status().or(subject.word.map(Word::status).filter(|status| *status == PhaseStatus::Failed));
    draft.content.status = match said {
        _ if is_over => WorkflowStatus::Complete,
        Some(PhaseStatus::Complete) => WorkflowStatus::Complete,
        Some(PhaseStatus::Failed) => WorkflowStatus::Failed,
        Some(PhaseStatus::Skipped) => WorkflowStatus::Abandoned,
        Some(PhaseStatus::InProgress | PhaseStatus::Pending) | None => WorkflowStatus::InProgress,
    };
    let mut next = None;
    match answer {
        Answer::Idle => {
            log.finding(Severity::Info, Code::Idle, "the file says that there is nothing to be done");
            draft.idle = true;
            return;
        }
        Answer::Complete => subject.complete_first(subject.things.len()),
        Answer::Unknown => {
            let message = "nothing that can be relied on says where to continue";
            log.finding(Severity::Confirm, Code::PhasesUnknown, message);
            subject.extent = Extent::Some;
            draft.content.status = WorkflowStatus::InProgress;
            if !subject.all_done() {
                subject.things.clear();
            }
        }
        Answer::Resume(id) => next = Some(id),
        Answer::ResumeAfterOthers(id) => {
            subject.complete_first(subject.position(id).unwrap_or_default());
            next = Some(id);
        }
    }
    let index = next.and_then(|id| subject.position(id));
    if subject.extent == Extent::All && !subject.things.is_empty() && (next.is_none() || index.is_some()) {
        draft.content.pipeline = Some(CUSTOM_PIPELINE.to_owned());
    }
    if let Some(id) = next {
        draft.content.phase = subject.current.as_ref().map(|stand| stand.id.clone());
        draft.content.next = Some(Next { phase: Some(id.clone()), explicit: true, ..Next::default() });
    }
    add_tasks(&subject, next, statements, draft);
    for (position, thing) in subject.things.iter().enumerate() {
        let mut phase = phase_of(thing);
        phase.recency = u32::from(index == Some(position) && thing.is_open());
        if let Some(path) = &thing.output {
            draft.content.artifacts.push(Artifact::new(phase.id.to_string(), path.clone()));
        }
        draft.content.phases.push(phase);
    }
}

fn phase_of(thing: &Thing) -> Phase {
    let status = thing.status.unwrap_or_default();
    let mut phase = phase_with_status(thing.id.clone(), status);
    phase.name.clone_from(&thing.name);
    phase.started_at = thing.started_at;
    phase.completed_at = if status.is_done() { thing.completed_at } else { None };
    phase.error.clone_from(&thing.error);
    phase
}

/// Adds the parts of all things as tasks, and the tasks of the current one.
fn add_tasks(subject: &Subject, next: Option<&PhaseId>, statements: &[Statement], draft: &mut Draft) {
    let mut used = HashSet::new();
    for thing in &subject.things {
        for part in &thing.parts {
            add_task(part, Some(&thing.id), &mut used, draft);
        }
    }
    if subject.noun == Noun::Task {
        return;
    }
    let lists = statements.iter().filter(|statement| statement.noun == Noun::Task);
    for statement in lists {
        let Claim::Things(items) = &statement.claim else { continue };
        for item in items.iter().filter(|item| item.status.is_some()) {
            let own = item.part_of.as_ref().and_then(|id| subject.find(id)).map(|thing| &thing.id);
            add_task(item, own.or(next), &mut used, draft);
        }
    }
}

/// Adds a task. One whose id is in use is prefixed with its phase.
fn add_task(item: &Thing, phase: Option<&PhaseId>, used: &mut HashSet<TaskId>, draft: &mut Draft) {
    let Some(mut id) = task_id(item.id.as_str()) else { return };
    if used.contains(&id) {
        let Some(prefixed) = phase.and_then(|phase| format!("{phase}/{id}").parse().ok()) else { return };
        id = prefixed;
    }
    if !used.insert(id.clone()) {
        return;
    }
    let mut task = Task::pending(id, phase.cloned());
    task.status = TaskStatus::from(item.status.unwrap_or_default());
    task.attempts = u32::from(!matches!(task.status, TaskStatus::Pending | TaskStatus::Skipped));
    task.output.clone_from(&item.output);
    task.error.clone_from(&item.error);
    task.depends_on = item.depends_on.iter().filter_map(|id| task_id(id)).collect();
    draft.content.tasks.push(task);
}

/// Parses a task id. A text that is too long or has a separator of task lists is made to fit.
fn task_id(text: &str) -> Option<TaskId> {
    text.parse().ok().or_else(|| {
        let line = text.trim().lines().next().unwrap_or_default();
        let fitting: String = line.replace([',', '=', '+'], "-").chars().take(64).collect();
        fitting.trim().parse().ok()
    })
}
