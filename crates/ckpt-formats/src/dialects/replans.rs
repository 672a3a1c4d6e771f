//! Replans: their history, and counters that may know of more.

use std::collections::{HashMap, HashSet};

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::members::{count, pointer};
use super::numbered_phases::{self, logged_phase_id};
use super::read_log::ReadLog;
use ckpt_model::checkpoint::Replan;
use ckpt_model::finding::{Code, Severity};
use ckpt_model::phase::PhaseId;
use ckpt_model::record::Extra;
use ckpt_model::time::Timestamp;

/// The member that marks a replan which is known from a counter only.
const COUNTED: &str = "counted";
/// The most replans of one phase that a counter adds: every limit is reached by then.
const MAX_COUNTED: usize = 20;

/// A member of a document, and its place.
pub(super) type Placed<'a> = Option<(&'a Value, String)>;

/// The replans of a document, and the phases of those that have no time. All of them count for the limit.
#[derive(Default)]
pub(super) struct Replans {
    pub(super) dated: Vec<Replan>,
    pub(super) undated: Vec<PhaseId>,
}

/// Reads the history, and the counts by phase; the higher of both holds. An entry without a time has that of the document.
pub(super) fn read(
    history: Placed<'_>,
    counts: Placed<'_>,
    recorded_at: Option<Timestamp>,
    log: &mut ReadLog<'_>,
) -> Replans {
    let mut replans = Replans::default();
    let (history, place) = history.unwrap_or((&Value::Null, String::new()));
    for (index, entry) in history.as_array().into_iter().flatten().enumerate() {
        let place = format!("{place}/{index}");
        let id = entry.get("phase").unwrap_or(&Value::Null);
        let id = logged_phase_id(id, &format!("{place}/phase"), log);
        let at = entry.get("timestamp").unwrap_or(&Value::Null);
        let at = log.time("replan", at, &format!("{place}/timestamp")).or(recorded_at);
        let reason = entry.get("reason").and_then(Value::as_str).map(str::to_owned);
        match (id, at) {
            (Some(phase), Some(at)) => {
                replans.dated.push(Replan { phase, reason, at, extra: Extra::default() });
            }
            (Some(phase), None) => replans.undated.push(phase),
            (None, _) => {
                let message = "this replan has no phase; it is kept, but not counted";
                log.finding_at(Severity::Advice, Code::RecordsDisagree, &place, message);
            }
        }
    }
    if let Some((Value::Object(counts), place)) = counts {
        read_counts(counts, &place, &mut replans, log);
    }
    replans
}

fn read_counts(counts: &Map<String, Value>, place: &str, replans: &mut Replans, log: &mut ReadLog<'_>) {
    let mut known: HashMap<PhaseId, usize> = HashMap::new();
    for phase in replans.dated.iter().map(|replan| &replan.phase).chain(&replans.undated) {
        *known.entry(phase.clone()).or_default() += 1;
    }
    let mut counted: HashSet<PhaseId> = HashSet::new();
    for (key, value) in counts {
        let place = format!("{place}{}", pointer(&[key]));
        let Some(id) = logged_phase_id(&key.as_str().into(), &place, log) else { continue };
        let known = known.get(&id).copied().unwrap_or_default();
        let claimed = count(value).map_or(0, |claimed| usize::try_from(claimed).unwrap_or(MAX_COUNTED));
        if claimed != known {
            let message = format!(
                "phase {id} was replanned {claimed} times, and the history knows of {known}; the higher number counts"
            );
            log.finding_at(Severity::Info, Code::RecordsDisagree, &place, &message);
            let missing = claimed.min(MAX_COUNTED).saturating_sub(known);
            replans.undated.extend(std::iter::repeat_n(id.clone(), missing));
        }
        counted.insert(id);
    }
    if let Some(forgotten) = replans.dated.iter().find(|replan| !counted.contains(&replan.phase)) {
        let message = format!("the replans of phase {} are not counted here; the history counts", forgotten.phase);
        log.finding_at(Severity::Info, Code::RecordsDisagree, place, &message);
    }
}

/// Returns a replan that is known from a counter only.
pub(super) fn counted(phase: PhaseId, at: Timestamp) -> Replan {
    let mut extra = Extra::default();
    if let Ok(mark) = RawValue::from_string("true".to_owned()) {
        extra.insert(COUNTED.to_owned(), mark);
    }
    Replan { phase, reason: None, at, extra }
}

/// Writes the history, without those that are known from a counter only.
pub(super) fn history(replans: &[Replan]) -> Value {
    let known = replans.iter().filter(|replan| replan.extra.get(COUNTED).is_none());
    let entry = |replan: &Replan| {
        let phase = numbered_phases::to_json(&replan.phase);
        json!({"phase": phase, "timestamp": replan.at, "reason": replan.reason})
    };
    known.map(entry).collect()
}

/// Writes the counts by phase, under `prefix` and its number.
pub(super) fn counts(replans: &[Replan], prefix: &str) -> Value {
    let mut counts: Map<String, Value> = Map::new();
    for replan in replans {
        let key = match numbered_phases::number_of(&replan.phase) {
            Some(number) => format!("{prefix}{number}"),
            None => replan.phase.to_string(),
        };
        let before = counts.get(&key).and_then(Value::as_u64).unwrap_or(0);
        counts.insert(key, json!(before + 1));
    }
    counts.into()
}
