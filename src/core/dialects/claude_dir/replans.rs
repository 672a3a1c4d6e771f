//! Replans: their history, and counters beside it that may know of more.

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::members::{bare, count, member, phase};
use crate::core::checkpoint::Replan;
use crate::core::dialects::numbers;
use crate::core::dialects::reading::{Notes, pointer};
use crate::core::finding::{Code, Severity};
use crate::core::phase::PhaseId;
use crate::core::record::Extra;
use crate::core::time::Timestamp;

/// Marks a replan that was counted, and of which nothing else is known.
const COUNTED: &str = "counted";
/// More replans of one phase than this are not told apart: every limit is reached by then.
const MOST: usize = 20;

/// Reads the replans. Those without a time of their own have the time of the document.
pub(super) fn read(main: &Value, recorded_at: Option<Timestamp>, notes: &mut Notes<'_>) -> Vec<Replan> {
    let mut replans = Vec::new();
    let (history, place) = member(main, "replan_history").unwrap_or((&Value::Null, String::new()));
    for (index, entry) in history.as_array().into_iter().flatten().enumerate() {
        let place = format!("{place}/{index}");
        let id = entry.get("phase").unwrap_or(&Value::Null);
        let id = phase(id, &format!("{place}/phase"), notes);
        let at = entry.get("timestamp").unwrap_or(&Value::Null);
        let at = notes.time("replan", at, &format!("{place}/timestamp")).or(recorded_at);
        match (id, at) {
            (Some(phase), Some(at)) => {
                let reason = entry.get("reason").and_then(Value::as_str).map(str::to_owned);
                replans.push(Replan { phase, reason, at, extra: Extra::default() });
            }
            _ => {
                let message = "this replan has no phase or no time; it is kept, but not counted";
                notes.doubt_at(Severity::Advice, Code::RecordsDisagree, &place, message);
            }
        }
    }
    read_counts(main, recorded_at, &mut replans, notes);
    if let Some((value, place)) = member(main, "replanning_count")
        && let Some(total) = count(value).filter(|total| *total != replans.len() as u64)
    {
        let message = format!("{total} replans are counted, but {} are known by phase", replans.len());
        notes.doubt_at(Severity::Info, Code::RecordsDisagree, &place, &message);
    }
    replans
}

fn read_counts(
    main: &Value,
    recorded_at: Option<Timestamp>,
    replans: &mut Vec<Replan>,
    notes: &mut Notes<'_>,
) {
    let Some((counts, place)) = member(main, "replan_phase_counts") else { return };
    let Some(counts) = counts.as_object() else { return };
    let mut counted: Vec<PhaseId> = Vec::new();
    for (key, value) in counts {
        let place = format!("{place}{}", pointer(&[key]));
        let Some(id) = phase(&key.as_str().into(), &place, notes) else { continue };
        counted.push(id.clone());
        let known = replans.iter().filter(|replan| replan.phase == id).count();
        let claimed = count(value).map_or(0, |claimed| usize::try_from(claimed).unwrap_or(MOST));
        if claimed > known {
            let message = format!(
                "phase {id} was replanned {claimed} times, and the history knows of {known}; all count"
            );
            notes.doubt_at(Severity::Info, Code::RecordsDisagree, &place, &message);
            let Some(at) = recorded_at else { continue };
            let unknown = Replan { phase: id.clone(), reason: None, at, extra: marked() };
            replans.extend(std::iter::repeat_n(unknown, claimed.min(MOST).saturating_sub(known)));
        } else if claimed < known {
            let message = format!(
                "phase {id} was replanned {claimed} times, but the history knows of {known}; the history counts"
            );
            notes.doubt_at(Severity::Info, Code::RecordsDisagree, &place, &message);
        }
    }
    if let Some(forgotten) = replans.iter().find(|replan| !counted.contains(&replan.phase)) {
        let message =
            format!("the replans of phase {} are not counted here; the history counts", forgotten.phase);
        notes.doubt_at(Severity::Info, Code::RecordsDisagree, &place, &message);
    }
}

fn marked() -> Extra {
    let mut extra = Extra::default();
    if let Ok(mark) = RawValue::from_string("true".to_owned()) {
        extra.insert(COUNTED.to_owned(), mark);
    }
    extra
}

/// Writes the replans: those of which something is known as history, all of them as numbers.
pub(super) fn write(replans: &[Replan], imported: Option<&Value>, page: &mut Map<String, Value>) {
    let keys = imported.and_then(|main| member(main, "replan_phase_counts")).map(|(counts, _)| counts);
    let mut counts: Map<String, Value> = Map::new();
    for replan in replans {
        let mut spelled = keys.and_then(Value::as_object).into_iter().flat_map(|keys| keys.keys());
        let spelled = spelled.find(|key| bare(&key.as_str().into()).as_ref() == Some(&replan.phase));
        let key = spelled.cloned().unwrap_or_else(|| match numbers::plain(&replan.phase) {
            Some(number) => format!("phase_{number}"),
            None => replan.phase.to_string(),
        });
        let before = counts.get(&key).and_then(Value::as_u64).unwrap_or(0);
        counts.insert(key, json!(before + 1));
    }
    let history = replans.iter().filter(|replan| replan.extra.get(COUNTED).is_none()).map(
        |replan| json!({"phase": numbers::to_json(&replan.phase), "timestamp": replan.at, "reason": replan.reason}),
    );
    page.insert("replanning_count".to_owned(), json!(replans.len()));
    page.insert(
        "last_replan_reason".to_owned(),
        json!(replans.last().and_then(|replan| replan.reason.as_ref())),
    );
    page.insert("replan_phase_counts".to_owned(), counts.into());
    page.insert("replan_history".to_owned(), history.collect());
}
