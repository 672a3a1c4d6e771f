//! Reading the file of a phase.

use serde_json::{Map, Value};

use super::PIPELINE;
use crate::dialects::draft::Draft;
use crate::dialects::members::{error_text, paths, pointer, text_or_number};
use crate::dialects::phase_list::{self, is_all_done_word, join_ids, set_status};
use crate::dialects::read_log::ReadLog;
use crate::dialects::times::{earlier, parse_duration};
use ckpt_model::checkpoint::{Artifact, Content, LastError, Next, WorkflowStatus};
use ckpt_model::finding::{Code, Severity};
use ckpt_model::json::Json;
use ckpt_model::phase::{Phase, PhaseId, PhaseStatus};

/// Members of the file that belong to the data of the phase.
const DATA_MEMBERS: [&str; 2] = ["validation", "reflection"];

pub(super) fn recognises(main: &Value) -> bool {
    let typical = ["slug", "phaseName", "phaseData", "nextPhase", "nextAction"];
    text_or_number(&main["taskId"]).is_some()
        && text_or_number(&main["phase"]).is_some()
        && typical.iter().filter(|key| main.get(key).is_some()).count() >= 2
}

pub(super) fn read(main: &Value, log: &mut ReadLog<'_>) -> Draft {
    let content = Content {
        title: main["slug"].as_str().filter(|slug| !slug.trim().is_empty()).map(str::to_owned),
        pipeline: Some(PIPELINE.to_owned()),
        phases: phase_list::builtin(PIPELINE),
        ..Content::default()
    };
    let mut draft = Draft { workflow: text_or_number(&main["taskId"]), content, ..Draft::default() };
    check_version(&main["version"], log);
    if let Some(id) = &draft.workflow {
        log.origin("workflow", id, "/taskId");
    }
    if let Some(slug) = &draft.content.title {
        log.origin("title", slug, "/slug");
    }
    draft.recorded_at = log.time("saved_at", &main["timestamp"], "/timestamp");
    draft.content.next = read_next(main, &draft.content.phases, log);
    read_phase(main, &mut draft, log);
    read_artifacts(&main["artifacts"], &mut draft.content.artifacts, log);
    draft
}

fn check_version(version: &Value, log: &mut ReadLog<'_>) {
    let major = text_or_number(version).and_then(|version| version.split('.').next()?.parse::<u64>().ok());
    if major.is_some_and(|major| major > 1) {
        let message = "a newer version of kamiflow's files; some of it may be misunderstood";
        log.finding_at(Severity::Blocker, Code::FormatNewer, "/version", message);
    }
}

/// Parses a phase id: `2`, 2, `phase2`, `Phase 3a`, `Strategic Synthesis`, `complete`. An id that kamiflow does not have
/// is returned as written, unless it is a number.
fn parse_phase_id(value: &Value, phases: &[Phase], place: &str, log: &mut ReadLog<'_>) -> Option<PhaseId> {
    let written = log.phase_id(value, place)?;
    let lower = written.as_str().to_ascii_lowercase();
    let bare = lower.strip_prefix("phase").unwrap_or(&lower).trim_start_matches([' ', '_', '-', ':']);
    if is_all_done_word(bare) {
        return Some(phases.last().map_or(written, |phase| phase.id.clone()));
    }
    let index = phase_list::find_named(phases, &written, place, log).ok()?;
    Some(index.map_or(written, |index| phases[index].id.clone()))
}

fn read_next(main: &Value, phases: &[Phase], log: &mut ReadLog<'_>) -> Option<Next> {
    let next_phase = &main["nextPhase"];
    let is_none_word = next_phase.as_str().is_some_and(|text| {
        let text = text.trim();
        text.is_empty() || ["none", "null", "n/a", "-"].iter().any(|none| text.eq_ignore_ascii_case(none))
    });
    let phase = if is_none_word { None } else { parse_phase_id(next_phase, phases, "/nextPhase", log) };
    let action = main["nextAction"].as_str().filter(|text| !text.trim().is_empty()).map(str::to_owned);
    if let Some(phase) = &phase {
        log.origin("next/phase", phase, "/nextPhase");
    }
    if let Some(action) = &action {
        log.origin("next/action", action, "/nextAction");
    }
    if phase.is_none() && action.is_none() {
        return None;
    }
    Some(Next { explicit: phase.is_some(), phase, action, extra: Default::default() })
}

fn read_phase(main: &Value, draft: &mut Draft, log: &mut ReadLog<'_>) {
    let name = main["phaseName"].as_str().map(str::trim).filter(|name| !name.is_empty());
    let Some((id, place)) = find_phase_id(main, name, &draft.content.phases, log) else {
        let message = "the file does not say which phase it is about; nothing is concluded about any";
        log.finding(Severity::Advice, Code::PhasesUnknown, message);
        return;
    };
    log.origin("phase", &id, place);
    let phases = &mut draft.content.phases;
    let next = draft.content.next.as_ref().and_then(|next| next.phase.clone());
    let next_index = next.as_ref().and_then(|next| phase_list::position(phases, next.as_str()));
    let (index, order_is_known) = match phase_list::position(phases, id.as_str()) {
        Some(index) => (index, true),
        None => {
            let message = format!("kamiflow has no phase {id}; it is taken as one of its own");
            log.finding_at(Severity::Advice, Code::Imported, place, &message);
            let index = next_index.unwrap_or(phases.len());
            phases.insert(index, Phase { name: name.map(str::to_owned), ..Phase::pending(id.clone()) });
            (index, next_index.is_some())
        }
    };
    if order_is_known && index > 0 {
        let earlier = &mut phases[..index];
        for phase in earlier.iter_mut() {
            set_status(phase, PhaseStatus::Complete);
            // A later phase was begun, so the person has agreed, whatever this file knows of it.
            phase.approval = None;
        }
        let message = format!("phases before {id} are taken as complete: {}", join_ids(&*earlier));
        log.finding_at(Severity::Info, Code::PhasesImplied, place, &message);
    }
    // What is said to be next is never done already.
    if let Some(next) = next.as_ref().filter(|next| next_index.is_none() && **next != id) {
        let message = format!("kamiflow has no phase {next}; it is taken as one of its own");
        log.finding_at(Severity::Advice, Code::Imported, "/nextPhase", &message);
        phases.insert(index + 1, Phase::pending(next.clone()));
    }
    let later_next = next.filter(|next| *next != id && next_index.is_some_and(|at| at >= index));
    let status = read_status(main, &id, later_next.as_ref(), log);
    let phase = &mut phases[index];
    set_status(phase, status);
    phase.completed_at = if status.is_done() { draft.recorded_at } else { None };
    let seconds = parse_duration(&main["metadata"]["duration"]);
    phase.started_at = phase.completed_at.zip(seconds).and_then(|(at, seconds)| earlier(at, seconds));
    phase.data = read_data(main, log).map(Json::Given);
    read_error(main, index, draft);
    let content = &mut draft.content;
    if content.phases.iter().all(|phase| phase.status.is_done()) {
        content.status = WorkflowStatus::Complete;
        // `"nextPhase": "complete"` of the last file names no phase that is left.
        if let Some(next) = &mut content.next {
            (next.phase, next.explicit) = (None, false);
            if next.action.is_none() {
                content.next = None;
            }
        }
    }
    content.phase = Some(id);
}

/// Returns the id of the phase of the file, and where it was found: in `phase`, or else by the name of the phase.
fn find_phase_id(
    main: &Value,
    name: Option<&str>,
    phases: &[Phase],
    log: &mut ReadLog<'_>,
) -> Option<(PhaseId, &'static str)> {
    let has_name = |phase: &&Phase| match (name, &phase.name) {
        (Some(name), Some(other)) => other.eq_ignore_ascii_case(name),
        _ => false,
    };
    let by_name = phases.iter().find(has_name).map(|phase| phase.id.clone());
    let Some(id) = parse_phase_id(&main["phase"], phases, "/phase", log) else {
        return by_name.map(|id| (id, "/phaseName"));
    };
    if let Some(other) = by_name
        && other != id
    {
        let message = format!("this is the name of phase {other}, but the file is of phase {id}; the id counts");
        log.finding_at(Severity::Advice, Code::RecordsDisagree, "/phaseName", &message);
    }
    Some((id, "/phase"))
}

/// Reads the status of the phase. `later_next` is the phase that the file names as next, if it is a later one.
fn read_status(main: &Value, id: &PhaseId, later_next: Option<&PhaseId>, log: &mut ReadLog<'_>) -> PhaseStatus {
    let recorded = &main["status"];
    if let Some(status) = log.status(&format!("phases/{id}/status"), recorded, "/status") {
        return status;
    }
    let is_absent = recorded.is_null() || recorded.as_str().is_some_and(|text| text.trim().is_empty());
    let is_last_file = main["phase"].as_str().is_some_and(is_all_done_word);
    if is_absent && (is_last_file || later_next.is_some()) {
        let why = match later_next {
            Some(next) => format!("it names {next} as next"),
            None => "it is the last of the workflow".to_owned(),
        };
        let message = format!("no status is recorded; the file is taken as of a finished phase, as {why}");
        log.finding_at(Severity::Info, Code::PhasesImplied, "/status", &message);
        return PhaseStatus::Complete;
    }
    if !recorded.is_string() {
        let message = format!("no status can be read; phase {id} is taken as begun and not done");
        log.finding_at(Severity::Confirm, Code::StatusUnknown, "/status", &message);
    }
    PhaseStatus::InProgress
}

fn read_data(main: &Value, log: &mut ReadLog<'_>) -> Option<Value> {
    let phase_data = &main["phaseData"];
    let mut data = match phase_data {
        Value::Null => Map::new(),
        Value::Object(members) => members.clone(),
        // The data of a phase is an object; any other value becomes a member of one.
        other => Map::from_iter([("phaseData".to_owned(), other.clone())]),
    };
    for key in DATA_MEMBERS {
        let outside = &main[key];
        if outside.is_null() {
            continue;
        }
        match data.get(key) {
            None | Some(Value::Null) => {
                data.insert(key.to_owned(), outside.clone());
            }
            Some(inside) if inside != outside => {
                let message = format!("phaseData has another {key}, which counts");
                log.finding_at(Severity::Info, Code::RecordsDisagree, &pointer(&[key]), &message);
            }
            Some(_) => {}
        }
    }
    if data.is_empty() && !phase_data.is_object() { None } else { Some(Value::Object(data)) }
}

fn read_error(main: &Value, index: usize, draft: &mut Draft) {
    let phase = &mut draft.content.phases[index];
    if phase.status.is_done() {
        return;
    }
    let Some(message) = error_text(main).or_else(|| error_text(&main["phaseData"])) else { return };
    if phase.status == PhaseStatus::Failed {
        phase.error = Some(message.clone());
    }
    let Some(at) = draft.recorded_at else {
        draft.undated_error = Some(message);
        return;
    };
    let phase = Some(phase.id.clone());
    draft.content.last_error = Some(LastError { message, phase, at, extra: Default::default() });
}

/// Reads the artifacts: by name, or a bare list. Null is an artifact that does not exist yet.
fn read_artifacts(value: &Value, artifacts: &mut Vec<Artifact>, log: &mut ReadLog<'_>) {
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                let paths = paths(member);
                for path in &paths {
                    log.origin("artifact", path, &pointer(&["artifacts", key]));
                    artifacts.push(Artifact::new(if paths.len() == 1 { key } else { *path }, *path));
                }
            }
        }
        Value::Array(_) => {
            for path in paths(value) {
                log.origin("artifact", path, "/artifacts");
                artifacts.push(Artifact::new(path, path));
            }
        }
        _ => {}
    }
}
