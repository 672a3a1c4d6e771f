//! Replans: their history, and counters that may know of more.

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::members::{count, logged_phase_id, member, parse_phase_id};
use crate::core::checkpoint::Replan;
use crate::core::dialects::members::pointer;
use crate::core::dialects::numbered_phases;
use crate::core::dialects::read_log::ReadLog;
use crate::core::finding::{Code, Severity};
use crate::core::phase::PhaseId;
use crate::core::record::Extra;
use crate::core::time::Timestamp;

/// The member that marks a replan which is known from a counter only.
const COUNTED: &str = "counted";
/// The most replans of one phase that a counter adds: every limit is reached by then.
const MAX_COUNTED: usize = 20;

/// Reads the replans. One without a time has the time of the document.
pub(super) fn read(main: &Value, recorded_at: Option<Timestamp>, log: &mut ReadLog<'_>) -> Vec<Replan> {
    let mut replans = Vec::new();
    let (history, place) = member(main, "replan_history").unwrap_or((&Value::Null, String::new()));
    for (index, entry) in history.as_array().into_iter().flatten().enumerate() {
        let place = format!("{place}/{index}");
        let id = entry.get("phase").unwrap_or(&Value::Null);
        let id = logged_phase_id(id, &format!("{place}/phase"), log);
        let at = entry.get("timestamp").unwrap_or(&Value::Null);
        let at = log.time("replan", at, &format!("{place}/timestamp")).or(recorded_at);
        match (id, at) {
            (Some(phase), Some(at)) => {
                let reason = entry.get("reason").and_then(Value::as_str).map(str::to_owned);
                replans.push(Replan { phase, reason, at, extra: Extra::default() });
            }
            _ => {
                let message = "this replan has no phase or no time; it is kept, but not counted";
                log.finding_at(Severity::Advice, Code::RecordsDisagree, &place, message);
            }
        }
    }
    read_counts(main, recorded_at, &mut replans, log);
    if let Some((value, place)) = member(main, "replanning_count")
        && let Some(total) = count(value).filter(|total| *total != replans.len() as u64)
    {
        let message = format!("{total} replans are counted, but {} are known by phase", replans.len());
        log.finding_at(Severity::Info, Code::RecordsDisagree, &place, &message);
    }
    replans
}

fn read_counts(
    main: &Value,
    recorded_at: Option<Timestamp>,
    replans: &mut Vec<Replan>,
    log: &mut ReadLog<'_>,
) {
    let Some((counts, place)) = member(main, "replan_phase_counts") else { return };
    let Some(counts) = counts.as_object() else { return };
    let mut counted: Vec<PhaseId> = Vec::new();
    for (key, value) in counts {
        let place = format!("{place}{}", pointer(&[key]));
        let Some(id) = logged_phase_id(&key.as_str().into(), &place, log) else { continue };
        counted.push(id.clone());
        let known = replans.iter().filter(|replan| replan.phase == id).count();
        let claimed = count(value).map_or(0, |claimed| usize::try_from(claimed).unwrap_or(MAX_COUNTED));
        if claimed > known {
            let message = format!(
                "phase {id} was replanned {claimed} times, and the history knows of {known}; all count"
            );
            log.finding_at(Severity::Info, Code::RecordsDisagree, &place, &message);
            let Some(at) = recorded_at else { continue };
            let unknown = Replan { phase: id.clone(), reason: None, at, extra: counted_mark() };
            replans.extend(std::iter::repeat_n(unknown, claimed.min(MAX_COUNTED).saturating_sub(known)));
        } else if claimed < known {
            let message = format!(
                "phase {id} was replanned {claimed} times, but the history knows of {known}; the history counts"
            );
            log.finding_at(Severity::Info, Code::RecordsDisagree, &place, &message);
        }
    }
    if let Some(forgotten) = replans.iter().find(|replan| !counted.contains(&replan.phase)) {
        let message =
            format!("the replans of phase {} are not counted here; the history counts", forgotten.phase);
        log.finding_at(Severity::Info, Code::RecordsDisagree, &place, &message);
    }
}

fn counted_mark() -> Extra {
    let mut extra = Extra::default();
    if let Ok(mark) = RawValue::from_string("true".to_owned()) {
        extra.insert(COUNTED.to_owned(), mark);
    }
    extra
}

/// Writes the history and the counters. Replans that are known from a counter only are not in the history.
pub(super) fn write(replans: &[Replan], imported: Option<&Value>, members: &mut Map<String, Value>) {
    let imported_counts = imported
        .and_then(|main| member(main, "replan_phase_counts"))
        .and_then(|(counts, _)| counts.as_object());
    let mut counts: Map<String, Value> = Map::new();
    for replan in replans {
        let mut imported_keys = imported_counts.into_iter().flat_map(Map::keys);
        let is_same_phase =
            |key: &&String| parse_phase_id(&key.as_str().into()).as_ref() == Some(&replan.phase);
        let key = imported_keys.find(is_same_phase).cloned().unwrap_or_else(|| {
            match numbered_phases::number_of(&replan.phase) {
                Some(number) => format!("phase_{number}"),
                None => replan.phase.to_string(),
            }
        });
        let before = counts.get(&key).and_then(Value::as_u64).unwrap_or(0);
        counts.insert(key, json!(before + 1));
    }
    let history = replans.iter().filter(|replan| replan.extra.get(COUNTED).is_none()).map(
        |replan| json!({"phase": numbered_phases::to_json(&replan.phase), "timestamp": replan.at, "reason": replan.reason}),
    );
    members.insert("replanning_count".to_owned(), json!(replans.len()));
    members.insert(
        "last_replan_reason".to_owned(),
        json!(replans.last().and_then(|replan| replan.reason.as_ref())),
    );
    members.insert("replan_phase_counts".to_owned(), counts.into());
    members.insert("replan_history".to_owned(), history.collect());
}
