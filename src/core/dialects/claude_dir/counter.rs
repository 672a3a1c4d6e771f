//! The counter that every version has: which phases are completed, which is current, how many there are.

use serde_json::Value;

use super::machine::{Machine, state_id};
use super::members::{bare, count, member, phase};
use crate::core::dialects::numbers;
use crate::core::dialects::reading::{Notes, pointer};
use crate::core::finding::{Code, Severity};
use crate::core::phase::MAX_PHASES;
use crate::core::phase::{PhaseId, PhaseStatus};
use crate::core::time::Timestamp;

/// The members that count.
pub(super) struct Counter {
    pub(super) completed: Option<Vec<Entry>>,
    pub(super) current: Option<(PhaseId, String)>,
    total: Option<usize>,
}

/// One entry of `completed_phases`.
pub(super) struct Entry {
    pub(super) id: PhaseId,
    pub(super) status: PhaseStatus,
    pub(super) completed_at: Option<Timestamp>,
    pub(super) place: String,
}

impl Counter {
    pub(super) fn read(main: &Value, notes: &mut Notes<'_>) -> Self {
        let total = member(main, "total_phases").and_then(|(value, place)| {
            let total = count(value).filter(|total| *total > 0)?;
            let fitting = usize::try_from(total).ok().filter(|total| *total <= MAX_PHASES);
            match fitting {
                Some(_) => notes.found("total", total, &place),
                None => {
                    let message =
                        format!("{total} phases are more than can be followed; the number is ignored");
                    notes.doubt_at(Severity::Advice, Code::PhasesUnknown, &place, &message);
                }
            }
            fitting
        });
        let current = member(main, "current_phase")
            .filter(|(value, _)| value.as_str().is_none_or(|text| !text.trim().is_empty()))
            .and_then(|(value, place)| Some((phase(value, &place, notes)?, place)));
        let completed =
            member(main, "completed_phases").and_then(|(value, place)| completed(value, &place, notes));
        Self { completed, current, total }
    }

    /// Whether the states decide: what is recorded by name beats a counter that does not fit it.
    pub(super) fn yields_to(&self, machine: &Machine<'_>, notes: &mut Notes<'_>) -> bool {
        let Some(states) = &machine.completed else { return false };
        let Some(counted) = &self.completed else { return true };
        if counted.len() != states.len() {
            let message = format!(
                "{} states are completed, but {} phases are counted as completed; the states count",
                states.len(),
                counted.len()
            );
            notes.doubt_at(Severity::Advice, Code::RecordsDisagree, &machine.place, &message);
            return true;
        }
        // Phases that are called like the states are those states, and a table of these has more of them.
        let is_name = |id: &PhaseId| numbers::plain(id).is_none();
        let is = |id: &PhaseId, state: &String| state_id(state).as_ref() == Some(id);
        let named = |entry: &Entry| is_name(&entry.id) && states.iter().any(|state| is(&entry.id, state));
        let at_same =
            matches!((&self.current, &machine.current), (Some((id, _)), Some(state)) if is(id, state));
        let alike = counted.iter().zip(states).all(|(entry, state)| is(&entry.id, state));
        let by_table = || (!counted.is_empty() || at_same) && machine.chain().is_some();
        let pointed = at_same && self.current.as_ref().is_some_and(|(id, _)| is_name(id));
        counted.iter().any(named) || alike && (pointed || by_table())
    }
}

/// The entries of `completed_phases`: a list of numbers, texts or objects, an object by phase, or only their number.
fn completed(value: &Value, place: &str, notes: &mut Notes<'_>) -> Option<Vec<Entry>> {
    let mut entries: Vec<Entry> = Vec::new();
    match value {
        Value::Array(items) => {
            notes.count_phases(items.len(), place);
            for (index, item) in items.iter().take(MAX_PHASES).enumerate() {
                let place = format!("{place}/{index}");
                let id = named(item);
                match phase(id, &place, notes) {
                    Some(id) => add(&mut entries, entry(id, item, place, notes)),
                    None if item.is_object() => notes.doubt_at(
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
            notes.count_phases(members.len(), place);
            for (key, item) in members.iter().take(MAX_PHASES) {
                let place = format!("{place}{}", pointer(&[key]));
                if let Some(id) = phase(&key.as_str().into(), &place, notes) {
                    add(&mut entries, entry(id, item, place, notes));
                }
            }
        }
        other => {
            let number = count(other).and_then(|number| usize::try_from(number).ok())?;
            let message = format!(
                "only the number of completed phases is given; the first {number} are taken as completed"
            );
            notes.doubt_at(Severity::Info, Code::PhasesImplied, place, &message);
            let ids = (1..=number.min(MAX_PHASES)).filter_map(|number| number.to_string().parse().ok());
            entries.extend(ids.map(|id| entry(id, other, place.to_owned(), notes)));
        }
    }
    Some(entries)
}

/// What names the phase in an entry of the list.
fn named(item: &Value) -> &Value {
    match item {
        Value::Object(item) => ["phase", "phase_number", "number", "id", "phase_id", "name"]
            .iter()
            .find_map(|key| item.get(*key).filter(|id| !id.is_null()))
            .unwrap_or(&Value::Null),
        id => id,
    }
}

/// The phase that an entry of the list is about.
pub(super) fn listed_phase(item: &Value) -> Option<PhaseId> {
    bare(named(item))
}

fn entry(id: PhaseId, item: &Value, place: String, notes: &mut Notes<'_>) -> Entry {
    let fact = format!("phases/{id}/status");
    let at = |key: &str| format!("{place}/{key}");
    let recorded = match item {
        Value::Object(members) => {
            members.get("status").and_then(|status| notes.status(&fact, status, &at("status")))
        }
        Value::Bool(_) => notes.status(&fact, item, &place),
        _ => None,
    };
    let time = ["completed_at", "timestamp"].iter().find_map(|key| Some((item.get(key)?, at(key))));
    let completed_at =
        time.and_then(|(time, place)| notes.time(&format!("phases/{id}/completed_at"), time, &place));
    Entry { id, status: recorded.unwrap_or(PhaseStatus::Complete), completed_at, place }
}

/// A phase that is listed twice is one; if one of the entries says that it is not done, it is not.
fn add(entries: &mut Vec<Entry>, entry: Entry) {
    match entries.iter_mut().find(|known| known.id == entry.id) {
        Some(known) if known.status.is_done() => *known = entry,
        Some(_) => {}
        None => entries.push(entry),
    }
}

impl Counter {
    /// All phases, in order, and whether these are all there are.
    pub(super) fn list(&self, mut mentioned: Vec<PhaseId>, notes: &mut Notes<'_>) -> (Vec<PhaseId>, bool) {
        let total = self.total;
        let range = |ids: &[PhaseId]| numbers::range(ids, total.map(|total| total as u64));
        let listed = range(&mentioned);
        if let Some((id, _)) = self.current.as_ref().filter(|(id, _)| !mentioned.contains(id)) {
            mentioned.push(id.clone());
        }
        let ids = match (listed, range(&mentioned), &self.current) {
            (Some(listed), Some(pointed), Some((id, place))) => {
                // The counter may stand behind the last phase, or at a 0 that means "none yet"; neither adds a phase.
                let adds = total.is_some_and(|total| pointed.len() > listed.len().max(total));
                let behind_the_last = listed.last().and_then(numbers::plain).map(|last| last + 1);
                if adds && numbers::plain(id) != behind_the_last {
                    let message = format!("phase {id} is not one of the {} there are", listed.len());
                    notes.doubt_at(Severity::Advice, Code::RecordsDisagree, place, &message);
                }
                if adds { listed } else { pointed }
            }
            (listed, pointed, _) => match listed.or(pointed) {
                Some(ids) => ids,
                None => {
                    let whole = total == Some(mentioned.len());
                    return (mentioned, whole);
                }
            },
        };
        if let Some(total) = total.filter(|total| *total < ids.len()) {
            let message = format!("there are {total} phases in all, but {} are mentioned", ids.len());
            notes.doubt_at(Severity::Advice, Code::RecordsDisagree, "/total_phases", &message);
        }
        (ids, total.is_some())
    }
}
