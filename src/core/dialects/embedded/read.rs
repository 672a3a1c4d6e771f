//! Reading embedded data. It is untrusted, like the rest of the file.

use std::collections::{HashMap, HashSet};

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::artifact_names;
use super::container::{KEY, container, find, needs_phase_list, needs_phase_owners, remove};
use super::phase_owners::PhaseOwners;
use crate::core::change::{MAX_TEXT_BYTES, MAX_TITLE_BYTES, check_fact};
use crate::core::checkpoint::{CUSTOM_PIPELINE, Fact, GitContext, LastError, Next, Replan, WorkflowStatus};
use crate::core::dialects::checkpoint_part::refines;
use crate::core::dialects::dialect::Dialect;
use crate::core::dialects::draft::{Draft, WatchedPath};
use crate::core::dialects::members::pointer;
use crate::core::dialects::native_state::{self, MemberPath};
use crate::core::dialects::read_log::ReadLog;
use crate::core::dialects::{numbered_phases, phase_list};
use crate::core::external::MAX_FACTS;
use crate::core::finding::{Code, Severity};
use crate::core::json::{Json, overlay};
use crate::core::name::check_name;
use crate::core::phase::{Approval, MAX_PHASES, Phase, PhaseId, PhaseStatus};
use crate::core::task::{MAX_TASKS, Task};
use crate::core::time::Timestamp;

/// Adds the embedded data of a document to its draft. Values from the document's own members take precedence.
pub(in crate::core::dialects) fn read(
    dialect: Dialect,
    main: &Value,
    draft: &mut Draft,
    log: &mut ReadLog<'_>,
) {
    let Some((members, saved_at)) = find(dialect, main) else { return };
    let place = pointer(&[container(dialect).unwrap_or_default(), KEY]);
    let is_current = draft.recorded_at.is_none_or(|recorded| recorded <= saved_at);
    let mut data = EmbeddedData { members, place, log };
    if needs_phase_list(dialect)
        && draft.content.pipeline.is_none()
        && let Some(ids) = data.get::<Vec<PhaseId>>("phases")
    {
        complete_phases(dialect, ids, draft);
    }
    if is_current {
        if draft.recorded_at != Some(saved_at) {
            data.log.origin("saved_at", saved_at, &format!("{}/saved_at", data.place));
        }
        draft.recorded_at = Some(saved_at);
        read_outdatable(&mut data, draft);
    }
    if needs_phase_owners(dialect)
        && let Some(owners) = data.get::<PhaseOwners>("phase_of")
    {
        owners.apply(draft);
    }
    read_lasting(&mut data, draft);
    let state = data.get::<Map<String, Value>>("state");
    let paths = data.get::<Vec<MemberPath>>("native_state");
    if state.is_some() || paths.is_some() {
        let mut state = state.unwrap_or_default();
        let mut document = main.clone();
        remove(dialect, &mut document);
        native_state::restore(dialect, &document, paths.unwrap_or_default(), &mut state);
        draft.content.state = Json::Given(Value::Object(state));
    }
}

/// The embedded members, their place in the document, and the log of the read.
struct EmbeddedData<'a, 'n, 'd> {
    members: &'a Map<String, Value>,
    place: String,
    log: &'n mut ReadLog<'d>,
}

impl EmbeddedData<'_, '_, '_> {
    /// Returns a member; a member of the wrong type is a finding.
    fn get<T: DeserializeOwned>(&mut self, key: &str) -> Option<T> {
        let value = self.members.get(key)?;
        let place = format!("{}/{key}", self.place);
        match serde_json::from_value(value.clone()) {
            Ok(member) => {
                self.log.origin(key, "recorded", &place);
                Some(member)
            }
            Err(_) => {
                self.finding(key, "this cannot be understood; it is kept, but not followed");
                None
            }
        }
    }

    /// Returns a member with a text, unless the text is longer than a save accepts.
    fn get_bounded<T: DeserializeOwned>(
        &mut self,
        key: &str,
        limit: usize,
        length: impl Fn(&T) -> usize,
    ) -> Option<T> {
        let member = self.get(key)?;
        if length(&member) <= limit {
            return Some(member);
        }
        self.finding(key, &format!("this is longer than {limit} bytes; it is kept, but not followed"));
        None
    }

    fn finding(&mut self, key: &str, message: &str) {
        let place = format!("{}/{key}", self.place);
        self.log.finding_at(Severity::Advice, Code::Imported, &place, message);
    }
}

/// Reads the members that are valid only as long as the file was not saved again by its own system.
fn read_outdatable(data: &mut EmbeddedData<'_, '_, '_>, draft: &mut Draft) {
    // The system may have started a phase without updating the time.
    let is_open = |phase: &Phase| matches!(phase.status, PhaseStatus::InProgress | PhaseStatus::Failed);
    if let Some(status) = data.get::<WorkflowStatus>("status")
        && (status != WorkflowStatus::Complete || !draft.content.phases.iter().any(is_open))
    {
        draft.content.status = status;
    }
    if let Some(statuses) = data.get::<HashMap<PhaseId, PhaseStatus>>("phase_status") {
        for phase in &mut draft.content.phases {
            if let Some(status) = statuses.get(&phase.id)
                && refines(*status, phase.status)
            {
                phase_list::set_status(phase, *status);
            }
        }
    }
    draft.note = draft.note.take().or_else(|| data.get_bounded("note", MAX_TEXT_BYTES, String::len));
    if let Some(text) = data.get_bounded("next_action", MAX_TEXT_BYTES, String::len) {
        draft.content.next.get_or_insert_with(Next::default).action.get_or_insert(text);
    }
    if draft.content.last_error.is_none() {
        let length = |error: &LastError| error.message.len();
        draft.content.last_error = data.get_bounded("last_error", MAX_TEXT_BYTES, length);
    }
    if let Some(embedded) = data.get::<GitContext>("git") {
        let git = draft.git.get_or_insert_with(|| embedded.clone());
        if git.branch == embedded.branch && git.commit.is_none() {
            git.commit = embedded.commit;
        }
    }
}

/// Reads the members for which the dialect has no equivalent, so that its system cannot have changed them.
fn read_lasting(data: &mut EmbeddedData<'_, '_, '_>, draft: &mut Draft) {
    if let Some(title) = data.get_bounded("title", MAX_TITLE_BYTES, String::len) {
        draft.content.title = Some(title);
    }
    let mut seen: HashSet<_> = draft.content.labels.iter().cloned().collect();
    for label in data.get::<Vec<String>>("labels").unwrap_or_default() {
        if check_name("a label", &label, &[',']).is_ok() && seen.insert(label.clone()) {
            draft.content.labels.push(label);
        }
    }
    if let Some(names) = data.get("artifacts") {
        artifact_names::apply(names, draft);
    }
    if draft.content.facts.is_empty() {
        let mut facts = data.get::<Vec<Fact>>("facts").unwrap_or_default();
        facts.retain(|fact| check_fact(fact).is_ok());
        facts.truncate(MAX_FACTS);
        draft.content.facts = facts;
    }
    read_tasks(data, draft);
    if draft.content.replans.is_empty() {
        draft.content.replans = data.get::<Vec<Replan>>("replans").unwrap_or_default();
    }
    let mut seen: HashSet<_> = draft.watched.iter().map(|file| file.path.clone()).collect();
    for path in data.get::<Vec<String>>("watched").unwrap_or_default() {
        if seen.insert(path.clone()) {
            draft.watched.push(WatchedPath { path, modified_at: None });
        }
    }
    read_phase_details(data, draft);
}

/// Adds the tasks that the document does not have, as many as a save accepts.
fn read_tasks(data: &mut EmbeddedData<'_, '_, '_>, draft: &mut Draft) {
    let mut seen: HashSet<_> = draft.content.tasks.iter().map(|task| task.id.clone()).collect();
    let mut tasks = data.get::<Vec<Task>>("tasks").unwrap_or_default();
    tasks.retain(|task| seen.insert(task.id.clone()));
    let has_long_error = |task: &Task| task.error.as_ref().is_some_and(|error| error.len() > MAX_TEXT_BYTES);
    if tasks.iter().any(has_long_error) {
        let message = format!(
            "a task has an error that is longer than {MAX_TEXT_BYTES} bytes; it is kept, but not followed"
        );
        data.finding("tasks", &message);
        tasks.retain(|task| !has_long_error(task));
    }
    let room = MAX_TASKS.saturating_sub(draft.content.tasks.len());
    if tasks.len() > room {
        let message = format!("there are more than {MAX_TASKS} tasks; the first of them are taken");
        data.finding("tasks", &message);
        tasks.truncate(room);
    }
    draft.content.tasks.extend(tasks);
}

/// Adds the data and the approvals of single phases.
fn read_phase_details(data: &mut EmbeddedData<'_, '_, '_>, draft: &mut Draft) {
    let phases = &mut draft.content.phases;
    let mut index_by_id: HashMap<String, usize> = HashMap::new();
    for (index, phase) in phases.iter().enumerate() {
        index_by_id.entry(phase.id.to_string()).or_insert(index);
    }
    for (id, mut phase_data) in data.get::<Map<String, Value>>("data").unwrap_or_default() {
        let Some(index) = index_by_id.get(&id) else { continue };
        let phase = &mut phases[*index];
        if let Some(Ok(own_data)) = phase.data.as_ref().map(Json::to_value) {
            overlay(&mut phase_data, own_data);
        }
        phase.data = Some(Json::Given(phase_data));
    }
    for approval in data.get::<Vec<Value>>("approvals").unwrap_or_default() {
        let id = approval.get("phase").and_then(Value::as_str);
        if let Some(index) = id.and_then(|id| index_by_id.get(id)) {
            read_approval(&approval, &mut phases[*index]);
        }
    }
}

fn read_approval(embedded: &Value, phase: &mut Phase) {
    let at = embedded.get("approved_at").and_then(Value::as_str).and_then(Timestamp::parse);
    let Some(at) = at else { return };
    let approval = phase.approval.get_or_insert_with(Approval::default);
    if approval.approved_at.is_none() {
        approval.approved_at = Some(at);
        approval.approved_by = embedded.get("approved_by").and_then(Value::as_str).map(str::to_owned);
    }
}

/// Completes the list of phases. A pending phase that is not in the list is a pointer past its end and is removed.
fn complete_phases(dialect: Dialect, ids: Vec<PhaseId>, draft: &mut Draft) {
    let mut seen = HashSet::new();
    let ids: Vec<PhaseId> = ids.into_iter().filter(|id| seen.insert(id.clone())).collect();
    if ids.is_empty() || ids.len() > MAX_PHASES {
        return;
    }
    let content = &mut draft.content;
    let numbered = ids.iter().all(|id| numbered_phases::number_of(id).is_some());
    let mut read_phases = std::mem::take(&mut content.phases);
    for id in ids {
        let phase = match read_phases.iter().position(|phase| phase.id == id) {
            Some(index) => read_phases.remove(index),
            None => Phase::pending(id),
        };
        content.phases.push(phase);
    }
    content.phases.extend(read_phases.into_iter().filter(|phase| phase.status != PhaseStatus::Pending));
    content.pipeline = Some(if numbered { dialect.word() } else { CUSTOM_PIPELINE }.to_owned());
    let is_listed = |id: &PhaseId| content.phases.iter().any(|phase| phase.id == *id);
    if let Some(next) = &mut content.next {
        next.phase = next.phase.take().filter(is_listed);
        if next.phase.is_none() && next.action.is_none() {
            content.next = None;
        }
    }
    let last_done = content.phases.iter().rfind(|phase| phase.status.is_done()).map(|phase| phase.id.clone());
    content.phase = content.phase.take().filter(is_listed).or(last_done);
    if content.status == WorkflowStatus::InProgress
        && content.phases.iter().all(|phase| phase.status.is_done())
    {
        content.status = WorkflowStatus::Complete;
    }
}
