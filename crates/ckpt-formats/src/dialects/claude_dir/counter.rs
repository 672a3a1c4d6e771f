//! The counter that every version has: which phases are completed, which is current, how many there are.

use serde_json::Value;

use super::members::member;
use super::state_machine::{StateMachine, state_id};
use crate::dialects::members::{count, pointer};
use crate::dialects::numbered_phases::{self, logged_phase_id};
use crate::dialects::read_log::ReadLog;
use ckpt_model::finding::{Code, Severity};
use ckpt_model::phase::{MAX_PHASES, PhaseId, PhaseStatus};
use ckpt_model::time::Timestamp;

/// The members of the counter.
pub(super) struct PhaseCounter {
    pub(super) completed: Option<Vec<CompletedEntry>>,
    pub(super) current: Option<(PhaseId, String)>,
    total: Option<usize>,
}

/// One entry of `completed_phases`.
pub(super) struct CompletedEntry {
    pub(super) id: PhaseId,
    pub(super) status: PhaseStatus,
    pub(super) completed_at: Option<Timestamp>,
    pub(super) place: String,
}

impl PhaseCounter {
    pub(super) fn read(main: &Value, log: &mut ReadLog<'_>) -> Self {
        let total = member(main, "total_phases").and_then(|(value, place)| {
            let total = count(value).filter(|total| *total > 0)?;
            let bounded = usize::try_from(total).ok().filter(|total| *total <= MAX_PHASES);
            if bounded.is_some() {
                log.origin("total", total, &place);
            } else {
                let message = format!("{total} phases are more than can be followed; the number is ignored");
                log.finding_at(Severity::Advice, Code::PhasesUnknown, &place, &message);
            }
            bounded
        });
        let current = member(main, "current_phase")
            .filter(|(value, _)| value.as_str().is_none_or(|text| !text.trim().is_empty()))
            .and_then(|(value, place)| Some((logged_phase_id(value, &place, log)?, place)));
        let completed = member(main, "completed_phases").and_then(|(value, place)| completed(value, &place, log));
        Self { completed, current, total }
    }

    /// True if the state machine takes precedence: completed states beat a counter that does not match them.
    pub(super) fn yields_to(&self, machine: &StateMachine<'_>, log: &mut ReadLog<'_>) -> bool {
        let Some(states) = &machine.completed else { return false };
        let Some(counted) = &self.completed else { return true };
        if counted.len() != states.len() {
            let message = format!(
                "{} states are completed, but {} phases are counted as completed; the states count",
                states.len(),
                counted.len()
            );
            log.finding_at(Severity::Advice, Code::RecordsDisagree, &machine.place, &message);
            return true;
        }
        // Phases that have the names of states are those states, and the transitions know of more.
        let is_name = |id: &PhaseId| numbered_phases::number_of(id).is_none();
        let is_state = |id: &PhaseId, state: &String| state_id(state).as_ref() == Some(id);
        let is_named_state = |id: &PhaseId| is_name(id) && states.iter().any(|state| is_state(id, state));
        if counted.iter().any(|entry| is_named_state(&entry.id)) {
            return true;
        }
        if !counted.iter().zip(states).all(|(entry, state)| is_state(&entry.id, state)) {
            return false;
        }
        let same_current = match (&self.current, &machine.current) {
            (Some((id, _)), Some(state)) if is_state(id, state) => Some(id),
            _ => None,
        };
        same_current.is_some_and(is_name)
            || ((!counted.is_empty() || same_current.is_some()) && machine.chain().is_some())
    }
}

/// Reads `completed_phases`: a list of numbers, texts or objects, an object by phase, or a bare count.
fn completed(value: &Value, place: &str, log: &mut ReadLog<'_>) -> Option<Vec<CompletedEntry>> {
    let mut entries: Vec<CompletedEntry> = Vec::new();
    match value {
        Value::Array(items) => {
            log.check_phase_count(items.len(), place);
            for (index, item) in items.iter().take(MAX_PHASES).enumerate() {
                let place = format!("{place}/{index}");
                match logged_phase_id(phase_member(item), &place, log) {
                    Some(id) => add(&mut entries, entry(id, item, place, log)),
                    None if item.is_object() => log.finding_at(
                        Severity::Advice,
                        Code::PhaseUnreadable,
                        &place,
                        "this names no phase; it is kept, but not followed",
                    ),
                    None => {}
                }
            }
        }
        Value::Object(members) => {
            log.check_phase_count(members.len(), place);
            for (key, item) in members.iter().take(MAX_PHASES) {
                let place = format!("{place}{}", pointer(&[key]));
                if let Some(id) = logged_phase_id(&key.as_str().into(), &place, log) {
                    add(&mut entries, entry(id, item, place, log));
                }
            }
        }
        other => {
            let number = count(other).and_then(|number| usize::try_from(number).ok())?;
            let message =
                format!("only the number of completed phases is given; the first {number} are taken as completed");
            log.finding_at(Severity::Info, Code::PhasesImplied, place, &message);
            let ids = (1..=number.min(MAX_PHASES)).filter_map(|number| number.to_string().parse().ok());
            entries.extend(ids.map(|id| entry(id, other, place.to_owned(), log)));
        }
    }
    Some(entries)
}

/// Returns the member that names the phase of an entry, or the entry itself if it is a bare id.
fn phase_member(item: &Value) -> &Value {
    match item {
        Value::Object(item) => ["phase", "phase_number", "number", "id", "phase_id", "name"]
            .iter()
            .find_map(|key| item.get(*key).filter(|id| !id.is_null()))
            .unwrap_or(&Value::Null),
        id => id,
    }
}

fn entry(id: PhaseId, item: &Value, place: String, log: &mut ReadLog<'_>) -> CompletedEntry {
    let fact = format!("phases/{id}/status");
    let at = |key: &str| format!("{place}/{key}");
    let recorded = match item {
        Value::Object(members) => members.get("status").and_then(|status| log.status(&fact, status, &at("status"))),
        Value::Bool(_) => log.status(&fact, item, &place),
        _ => None,
    };
    let time = ["completed_at", "timestamp"].iter().find_map(|key| Some((item.get(key)?, at(key))));
    let completed_at = time.and_then(|(time, place)| log.time(&format!("phases/{id}/completed_at"), time, &place));
    CompletedEntry { id, status: recorded.unwrap_or(PhaseStatus::Complete), completed_at, place }
}

/// Adds an entry. Of two entries for one phase, one that is not done takes precedence.
fn add(entries: &mut Vec<CompletedEntry>, entry: CompletedEntry) {
    match entries.iter_mut().find(|other| other.id == entry.id) {
        Some(other) if other.status.is_done() => *other = entry,
        Some(_) => {}
        None => entries.push(entry),
    }
}

impl PhaseCounter {
    /// Returns the phases in order, and true if the list is complete.
    pub(super) fn phase_ids(&self, mut mentioned: Vec<PhaseId>, log: &mut ReadLog<'_>) -> (Vec<PhaseId>, bool) {
        let total = self.total;
        let range = |ids: &[PhaseId]| numbered_phases::range(ids, total.map(|total| total as u64));
        let listed = range(&mentioned);
        if let Some((id, _)) = &self.current
            && !mentioned.contains(id)
        {
            mentioned.push(id.clone());
        }
        let ids = match (listed, range(&mentioned), &self.current) {
            (Some(listed), Some(with_current), Some((id, place))) => {
                // The current phase may be one behind the last, or a 0 that means "none yet"; neither adds a phase.
                let exceeds_total = total.is_some_and(|total| with_current.len() > listed.len().max(total));
                let behind_the_last = listed.last().and_then(numbered_phases::number_of).map(|last| last + 1);
                if exceeds_total && numbered_phases::number_of(id) != behind_the_last {
                    let message = format!("phase {id} is not one of the {} there are", listed.len());
                    log.finding_at(Severity::Advice, Code::RecordsDisagree, place, &message);
                }
                if exceeds_total { listed } else { with_current }
            }
            (listed, with_current, _) => match listed.or(with_current) {
                Some(ids) => ids,
                None => {
                    let is_complete = total == Some(mentioned.len());
                    return (mentioned, is_complete);
                }
            },
        };
        if let Some(total) = total.filter(|total| *total < ids.len()) {
            let message = format!("there are {total} phases in all, but {} are mentioned", ids.len());
            log.finding_at(Severity::Advice, Code::RecordsDisagree, "/total_phases", &message);
        }
        (ids, total.is_some())
    }
}
