//! Reading what a document carries. All of it is untrusted, like the rest of the file.

use std::collections::{HashMap, HashSet};

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::homes::Homes;
use super::{MEMBER, find, home, lists_done, names};
use crate::core::change::{MAX_TEXT_BYTES, MAX_TITLE_BYTES};
use crate::core::checkpoint::{CUSTOM_PIPELINE, GitContext, LastError, Next, Replan, WorkflowStatus};
use crate::core::dialects::dialect::Dialect;
use crate::core::dialects::reading::{Draft, Notes, Watch, pointer};
use crate::core::dialects::topic::is_nearly;
use crate::core::dialects::{known_phases, numbers};
use crate::core::finding::{Code, Severity};
use crate::core::json::{Json, overlay};
use crate::core::name::check_name;
use crate::core::phase::MAX_PHASES;
use crate::core::phase::{Approval, Phase, PhaseId, PhaseStatus};
use crate::core::task::MAX_TASKS;
use crate::core::task::Task;
use crate::core::time::Timestamp;

/// Adds to a draft what its document carries. What the document says itself stays.
pub(in super::super) fn take_up(dialect: Dialect, main: &Value, draft: &mut Draft, notes: &mut Notes<'_>) {
    let Some((members, saved_at)) = find(dialect, main) else { return };
    let place = pointer(&[home(dialect).unwrap_or_default(), MEMBER]);
    let fresh = draft.recorded_at.is_none_or(|recorded| recorded <= saved_at);
    let mut carried = Carried { members, place, notes };
    if lists_done(dialect)
        && draft.content.pipeline.is_none()
        && let Some(ids) = carried.get::<Vec<PhaseId>>("phases")
    {
        complete_phases(dialect, ids, draft);
    }
    if fresh {
        if draft.recorded_at != Some(saved_at) {
            carried.notes.found("saved_at", saved_at, &format!("{}/saved_at", carried.place));
        }
        draft.recorded_at = Some(saved_at);
        take_passing(&mut carried, draft);
    }
    if Homes::are_untold(dialect)
        && let Some(homes) = carried.get::<Homes>("phase_of")
    {
        homes.settle(draft);
    }
    take_lasting(&mut carried, draft);
}

/// The members that are carried, and where notes about them are taken.
struct Carried<'a, 'n, 'd> {
    members: &'a Map<String, Value>,
    place: String,
    notes: &'n mut Notes<'d>,
}

impl Carried<'_, '_, '_> {
    /// A member, if it is there and what it should be.
    fn get<T: DeserializeOwned>(&mut self, key: &str) -> Option<T> {
        let value = self.members.get(key)?;
        let place = format!("{}/{key}", self.place);
        match serde_json::from_value(value.clone()) {
            Ok(understood) => {
                self.notes.found(key, "recorded", &place);
                Some(understood)
            }
            Err(_) => {
                self.doubt(key, "this cannot be understood; it is kept, but not followed");
                None
            }
        }
    }

    /// A member with a text in it that is no longer than a save would take.
    fn short<T: DeserializeOwned>(
        &mut self,
        key: &str,
        limit: usize,
        length: impl Fn(&T) -> usize,
    ) -> Option<T> {
        let member = self.get(key)?;
        if length(&member) <= limit {
            return Some(member);
        }
        self.doubt(key, &format!("this is longer than {limit} bytes; it is kept, but not followed"));
        None
    }

    fn doubt(&mut self, key: &str, message: &str) {
        let place = format!("{}/{key}", self.place);
        self.notes.doubt_at(Severity::Advice, Code::Imported, &place, message);
    }
}

/// What counts only as long as nobody has saved the file since.
fn take_passing(carried: &mut Carried<'_, '_, '_>, draft: &mut Draft) {
    // A phase may have been begun without a word about the time.
    let begun = |phase: &Phase| matches!(phase.status, PhaseStatus::InProgress | PhaseStatus::Failed);
    if let Some(status) = carried.get::<WorkflowStatus>("status")
        && (status != WorkflowStatus::Complete || !draft.content.phases.iter().any(begun))
    {
        draft.content.status = status;
    }
    if let Some(standing) = carried.get::<HashMap<PhaseId, PhaseStatus>>("phase_status") {
        for phase in &mut draft.content.phases {
            let status = standing.get(&phase.id).filter(|status| is_nearly(phase.status, **status));
            if let Some(status) = status {
                known_phases::stand(phase, *status);
            }
        }
    }
    draft.note = draft.note.take().or_else(|| carried.short("note", MAX_TEXT_BYTES, String::len));
    if let Some(text) = carried.short("next_action", MAX_TEXT_BYTES, String::len) {
        let blank = || Next { phase: None, action: None, extra: Default::default() };
        draft.content.next.get_or_insert_with(blank).action.get_or_insert(text);
    }
    if draft.content.last_error.is_none() {
        let length = |error: &LastError| error.message.len();
        draft.content.last_error = carried.short("last_error", MAX_TEXT_BYTES, length);
    }
    if let Some(git) = carried.get::<GitContext>("git") {
        let known = draft.git.get_or_insert_with(|| git.clone());
        if known.branch == git.branch && known.commit.is_none() {
            known.commit = git.commit;
        }
    }
}

/// What the system that owns the file has no word about, so that it cannot have changed it.
fn take_lasting(carried: &mut Carried<'_, '_, '_>, draft: &mut Draft) {
    if let Some(title) = carried.short("title", MAX_TITLE_BYTES, String::len) {
        draft.content.title = Some(title);
    }
    let mut known: HashSet<_> = draft.content.labels.iter().cloned().collect();
    let labels = carried.get::<Vec<String>>("labels").unwrap_or_default();
    let fits = |label: &String| check_name("a label", label, &[',']).is_ok();
    draft
        .content
        .labels
        .extend(labels.into_iter().filter(|label| fits(label) && known.insert(label.clone())));
    if let Some(names) = carried.get("artifacts") {
        names::settle(names, draft);
    }
    take_tasks(carried, draft);
    if draft.content.replans.is_empty() {
        draft.content.replans = carried.get::<Vec<Replan>>("replans").unwrap_or_default();
    }
    let mut known: HashSet<_> = draft.watched.iter().map(|file| file.path.clone()).collect();
    let paths = carried.get::<Vec<String>>("watched").unwrap_or_default();
    let new = paths.into_iter().filter(|path| known.insert(path.clone()));
    draft.watched.extend(new.map(|path| Watch { path, modified_at: None }));
    take_pages(carried, draft);
    if let Some(state) = carried.get::<Map<String, Value>>("state") {
        draft.content.state = Json::Given(Value::Object(state));
    }
}

/// Adds the tasks that the document does not have, as many as a save would take.
fn take_tasks(carried: &mut Carried<'_, '_, '_>, draft: &mut Draft) {
    let mut known: HashSet<_> = draft.content.tasks.iter().map(|task| task.id.clone()).collect();
    let mut tasks = carried.get::<Vec<Task>>("tasks").unwrap_or_default();
    tasks.retain(|task| known.insert(task.id.clone()));
    let long = |task: &Task| task.error.as_ref().is_some_and(|error| error.len() > MAX_TEXT_BYTES);
    if tasks.iter().any(long) {
        let message = format!(
            "a task has an error that is longer than {MAX_TEXT_BYTES} bytes; it is kept, but not followed"
        );
        carried.doubt("tasks", &message);
        tasks.retain(|task| !long(task));
    }
    let room = MAX_TASKS.saturating_sub(draft.content.tasks.len());
    if tasks.len() > room {
        carried
            .doubt("tasks", &format!("there are more than {MAX_TASKS} tasks; the first of them are taken"));
        tasks.truncate(room);
    }
    draft.content.tasks.extend(tasks);
}

/// Adds what is carried about single phases: what they found out, and who agreed to them.
fn take_pages(carried: &mut Carried<'_, '_, '_>, draft: &mut Draft) {
    // Of two phases of one name the first counts.
    let places = draft.content.phases.iter().enumerate().rev();
    let places: HashMap<String, usize> = places.map(|(place, phase)| (phase.id.to_string(), place)).collect();
    for (id, data) in carried.get::<Map<String, Value>>("data").unwrap_or_default() {
        let Some(phase) = places.get(&id).map(|place| &mut draft.content.phases[*place]) else { continue };
        let (mut whole, own) = (data, phase.data.as_ref().and_then(|own| own.to_value().ok()));
        if let Some(own) = own {
            overlay(&mut whole, own);
        }
        phase.data = Some(Json::Given(whole));
    }
    for given in carried.get::<Vec<Value>>("approvals").unwrap_or_default() {
        let place = given.get("phase").and_then(Value::as_str).and_then(|id| places.get(id));
        if let Some(place) = place {
            take_approval(&given, &mut draft.content.phases[*place]);
        }
    }
}

fn take_approval(given: &Value, phase: &mut Phase) {
    let at = given.get("approved_at").and_then(Value::as_str).and_then(Timestamp::parse);
    let Some(at) = at else { return };
    let approval = phase.approval.get_or_insert_with(|| Approval {
        required: false,
        approved_at: None,
        approved_by: None,
        evidence: None,
        extra: Default::default(),
    });
    if approval.approved_at.is_none() {
        approval.approved_at = Some(at);
        approval.approved_by = given.get("approved_by").and_then(Value::as_str).map(str::to_owned);
    }
}

/// Makes the list of phases whole. What the document only points at and the list does not have is behind the end.
fn complete_phases(dialect: Dialect, ids: Vec<PhaseId>, draft: &mut Draft) {
    let mut seen = HashSet::new();
    let ids: Vec<PhaseId> = ids.into_iter().filter(|id| seen.insert(id.clone())).collect();
    if ids.is_empty() || ids.len() > MAX_PHASES {
        return;
    }
    let mut told = std::mem::take(&mut draft.content.phases);
    let numbered = ids.iter().all(|id| numbers::plain(id).is_some());
    for id in ids {
        let known = told.iter().position(|phase| phase.id == id).map(|at| told.remove(at));
        draft.content.phases.push(known.unwrap_or_else(|| Phase::pending(id)));
    }
    draft.content.phases.extend(told.into_iter().filter(|phase| phase.status != PhaseStatus::Pending));
    draft.content.pipeline = Some(if numbered { dialect.word() } else { CUSTOM_PIPELINE }.to_owned());
    let listed = |id: &PhaseId| draft.content.phases.iter().any(|phase| phase.id == *id);
    if let Some(next) = &mut draft.content.next {
        next.phase = next.phase.take().filter(listed);
    }
    draft.content.next =
        draft.content.next.take().filter(|next| next.phase.is_some() || next.action.is_some());
    let last =
        draft.content.phases.iter().rfind(|phase| phase.status.is_done()).map(|phase| phase.id.clone());
    draft.content.phase = draft.content.phase.take().filter(listed).or(last);
    if draft.content.status == WorkflowStatus::InProgress
        && draft.content.phases.iter().all(|phase| phase.status.is_done())
    {
        draft.content.status = WorkflowStatus::Complete;
    }
}
