//! The `kamiflow` dialect: one file per phase, `042-checkpoint-phase2.json`, and at last `042-checkpoint-complete.json`.
//!
//! A file speaks of its own phase only. How the rest is taken:
//!
//! - The phases before it have files of their own. Read alone, a file says that they are complete, and a finding says
//!   that this was concluded.
//! - A file without a status is of a finished phase if it names a later one as next, because these files are written
//!   after a phase. Otherwise, and with a status that is not understood, the phase was begun and is not done.
//! - A failed phase is never done, whatever the file names as next.
//! - A phase that kamiflow does not have stands before the one the file names as next, or else behind all others, and
//!   then nothing is concluded about the others.
//! - `validation` and `reflection` are part of what the phase found out. They may stand in `phaseData` or beside it; the
//!   one in `phaseData` counts, and both places are written.

use serde_json::{Map, Value, json};

use super::known_phases::{self, listed, says_all_done, stand};
use super::members::{error_text, first, paths, word};
use super::reading::{Draft, Notes, pointer};
use crate::core::checkpoint::{Artifact, Checkpoint, Content, LastError, Next, WorkflowStatus};
use crate::core::finding::{Code, Severity};
use crate::core::json::Json;
use crate::core::phase::{Phase, PhaseId, PhaseStatus};

const PIPELINE: &str = "kamiflow";

/// What a phase found out and may stand beside its data.
const BESIDE_DATA: [&str; 2] = ["validation", "reflection"];

/// The files that every task has, sooner or later.
const SLOTS: [&str; 4] = ["s1", "s2", "s3", "s4"];

pub(super) fn recognises(main: &Value) -> bool {
    let marks = ["slug", "phaseName", "phaseData", "nextPhase", "nextAction"];
    word(&main["taskId"]).is_some()
        && word(&main["phase"]).is_some()
        && marks.iter().filter(|mark| main.get(mark).is_some()).count() >= 2
}

pub(super) fn read(main: &Value, notes: &mut Notes<'_>) -> Draft {
    let content = Content {
        title: main["slug"].as_str().filter(|slug| !slug.trim().is_empty()).map(str::to_owned),
        pipeline: Some(PIPELINE.to_owned()),
        phases: known_phases::of(PIPELINE),
        ..Content::default()
    };
    let mut draft = Draft { workflow: word(&main["taskId"]), content, ..Draft::default() };
    check_version(&main["version"], notes);
    if let Some(id) = &draft.workflow {
        notes.found("workflow", id, "/taskId");
    }
    if let Some(slug) = &draft.content.title {
        notes.found("title", slug, "/slug");
    }
    draft.recorded_at = notes.time("saved_at", &main["timestamp"], "/timestamp");
    draft.content.next = read_next(main, &draft.content.phases, notes);
    read_phase(main, &mut draft, notes);
    read_artifacts(&main["artifacts"], &mut draft.content.artifacts, notes);
    draft
}

fn check_version(version: &Value, notes: &mut Notes<'_>) {
    let major = word(version).and_then(|version| version.split('.').next()?.parse::<u64>().ok());
    if major.is_some_and(|major| major > 1) {
        let message = "a newer version of kamiflow's files; some of it may be misunderstood";
        notes.doubt_at(Severity::Blocker, Code::FormatNewer, "/version", message);
    }
}

/// The id of the phase that is meant: `2`, 2, `phase2`, `Phase 3a`, `complete`; as it was given if there is no such.
fn understand(value: &Value, phases: &[Phase], place: &str, notes: &mut Notes<'_>) -> Option<PhaseId> {
    let given = notes.phase(value, place)?;
    let folded = given.as_str().to_ascii_lowercase();
    let bare = folded.strip_prefix("phase").unwrap_or(&folded).trim_start_matches([' ', '_', '-', ':']);
    let bare = bare.strip_suffix(".0").unwrap_or(bare);
    let known = if says_all_done(bare) {
        phases.last()
    } else {
        known_phases::position(phases, bare).map(|index| &phases[index])
    };
    Some(known.map_or(given, |phase| phase.id.clone()))
}

fn read_next(main: &Value, phases: &[Phase], notes: &mut Notes<'_>) -> Option<Next> {
    let named = &main["nextPhase"];
    let nothing = named.as_str().is_some_and(|text| {
        let text = text.trim();
        text.is_empty() || ["none", "null", "n/a", "-"].iter().any(|none| text.eq_ignore_ascii_case(none))
    });
    let phase = if nothing { None } else { understand(named, phases, "/nextPhase", notes) };
    let action = main["nextAction"].as_str().filter(|text| !text.trim().is_empty()).map(str::to_owned);
    if let Some(phase) = &phase {
        notes.found("next/phase", phase, "/nextPhase");
    }
    if let Some(action) = &action {
        notes.found("next/action", action, "/nextAction");
    }
    (phase.is_some() || action.is_some()).then(|| Next { phase, action, extra: Default::default() })
}

fn read_phase(main: &Value, draft: &mut Draft, notes: &mut Notes<'_>) {
    let name = main["phaseName"].as_str().map(str::trim).filter(|name| !name.is_empty());
    let Some((id, from)) = which_phase(main, name, &draft.content.phases, notes) else {
        let message = "the file does not say which phase it is about; nothing is concluded about any";
        notes.doubt(Severity::Advice, Code::PhasesUnknown, message);
        return;
    };
    notes.found("phase", &id, from);
    let next = draft.content.next.as_ref().and_then(|next| next.phase.clone());
    let next_at = next.as_ref().and_then(|next| known_phases::position(&draft.content.phases, next.as_str()));
    let (index, ordered) = match known_phases::position(&draft.content.phases, id.as_str()) {
        Some(index) => (index, true),
        None => {
            let message = format!("kamiflow has no phase {id}; it is taken as one of its own");
            notes.doubt_at(Severity::Advice, Code::Imported, from, &message);
            let index = next_at.unwrap_or(draft.content.phases.len());
            let phase = Phase { name: name.map(str::to_owned), ..Phase::pending(id.clone()) };
            draft.content.phases.insert(index, phase);
            (index, next_at.is_some())
        }
    };
    if ordered && index > 0 {
        let before = &mut draft.content.phases[..index];
        before.iter_mut().for_each(|phase| stand(phase, PhaseStatus::Complete));
        let message = format!("phases before {id} are taken as complete: {}", listed(&*before));
        notes.doubt_at(Severity::Info, Code::PhasesImplied, from, &message);
    }
    let leads_on = next.as_ref().filter(|next| **next != id && next_at.is_some_and(|at| at >= index));
    let status = read_status(main, &id, leads_on, notes);
    let phase = &mut draft.content.phases[index];
    stand(phase, status);
    phase.completed_at = draft.recorded_at.filter(|_| status.is_done());
    phase.data = read_data(main, notes).map(Json::Given);
    read_error(main, index, draft);
    if draft.content.phases.iter().all(|phase| phase.status.is_done()) {
        draft.content.status = WorkflowStatus::Complete;
        // `"nextPhase": "complete"` of the last file names no phase that is left.
        draft.content.next = draft.content.next.take().filter(|next| next.action.is_some());
        draft.content.next.iter_mut().for_each(|next| next.phase = None);
    }
    draft.content.phase = Some(id);
}

fn which_phase(
    main: &Value,
    name: Option<&str>,
    phases: &[Phase],
    notes: &mut Notes<'_>,
) -> Option<(PhaseId, &'static str)> {
    let named = |phase: &&Phase| {
        name.is_some_and(|name| phase.name.as_ref().is_some_and(|known| known.eq_ignore_ascii_case(name)))
    };
    let by_name = phases.iter().find(named).map(|phase| phase.id.clone());
    let Some(id) = understand(&main["phase"], phases, "/phase", notes) else {
        return by_name.map(|id| (id, "/phaseName"));
    };
    if let Some(other) = by_name.filter(|other| *other != id) {
        let message =
            format!("this is the name of phase {other}, but the file is of phase {id}; the id counts");
        notes.doubt_at(Severity::Advice, Code::RecordsDisagree, "/phaseName", &message);
    }
    Some((id, "/phase"))
}

fn read_status(main: &Value, id: &PhaseId, leads_on: Option<&PhaseId>, notes: &mut Notes<'_>) -> PhaseStatus {
    let recorded = &main["status"];
    if let Some(status) = notes.status(&format!("phases/{id}/status"), recorded, "/status") {
        return status;
    }
    let silent = recorded.is_null() || recorded.as_str().is_some_and(|text| text.trim().is_empty());
    let finished = main["phase"].as_str().is_some_and(says_all_done);
    let why = match leads_on {
        Some(next) => format!("it names {next} as next"),
        None => "it is the last of the workflow".to_owned(),
    };
    if silent && (finished || leads_on.is_some()) {
        let message = format!("no status is recorded; the file is taken as of a finished phase, as {why}");
        notes.doubt_at(Severity::Info, Code::PhasesImplied, "/status", &message);
        return PhaseStatus::Complete;
    }
    if !recorded.is_string() {
        let message = format!("no status can be read; phase {id} is taken as begun and not done");
        notes.doubt_at(Severity::Advice, Code::StatusUnknown, "/status", &message);
    }
    PhaseStatus::InProgress
}

fn read_data(main: &Value, notes: &mut Notes<'_>) -> Option<Value> {
    let given = &main["phaseData"];
    let mut data = match given {
        Value::Null => Map::new(),
        Value::Object(members) => members.clone(),
        // The data of a phase is an object; anything else keeps the name it had.
        other => Map::from_iter([("phaseData".to_owned(), other.clone())]),
    };
    for key in BESIDE_DATA {
        let beside = &main[key];
        match data.get(key).filter(|inside| !inside.is_null()) {
            _ if beside.is_null() => {}
            None => drop(data.insert(key.to_owned(), beside.clone())),
            Some(inside) if inside != beside => {
                let message = format!("phaseData has another {key}, which counts");
                notes.doubt_at(Severity::Info, Code::RecordsDisagree, &pointer(&[key]), &message);
            }
            Some(_) => {}
        }
    }
    (given.is_object() || !data.is_empty()).then_some(Value::Object(data))
}

fn read_error(main: &Value, index: usize, draft: &mut Draft) {
    let phase = &mut draft.content.phases[index];
    let error = error_text(main).or_else(|| error_text(&main["phaseData"]));
    let Some(message) = error.filter(|_| !phase.status.is_done()) else { return };
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

/// A member that is null is a file that has not been made yet.
fn read_artifacts(value: &Value, artifacts: &mut Vec<Artifact>, notes: &mut Notes<'_>) {
    let members = value.as_object().into_iter().flatten();
    for (key, member) in members {
        let paths = paths(member);
        for path in &paths {
            notes.found("artifact", path, &pointer(&["artifacts", key]));
            artifacts.push(Artifact::new(if paths.len() == 1 { key } else { *path }, *path));
        }
    }
    if value.is_array() {
        for path in paths(value) {
            notes.found("artifact", path, "/artifacts");
            artifacts.push(Artifact::new(path, path));
        }
    }
}

/// Writes the file of the phase that the checkpoint is about.
pub(super) fn write(checkpoint: &Checkpoint) -> Value {
    let phase = checkpoint.content.phase.as_ref().and_then(|id| checkpoint.content.find_phase(id));
    let phase =
        phase.or_else(|| checkpoint.content.done().last()).or_else(|| checkpoint.content.phases.first());
    let recorded = checkpoint.content.next.as_ref();
    let next = recorded.and_then(|next| next.phase.clone());
    let next = next.or_else(|| checkpoint.content.remaining().next().map(|phase| phase.id.clone()));
    let described = next.as_ref().and_then(|id| checkpoint.content.find_phase(id)?.action.clone());
    let action = recorded.and_then(|next| next.action.clone()).or(described);
    let data = phase.and_then(|phase| phase.data.as_ref()?.to_value().ok()).unwrap_or_else(|| json!({}));
    let state = checkpoint.content.state.to_value().unwrap_or_default();
    let metadata = first(&state, &["metadata"]).map_or_else(|| json!({}), |(_, metadata)| metadata.clone());
    let mut document = json!({
        "version": "1.0",
        "taskId": checkpoint.workflow,
        "slug": checkpoint.content.title,
        "phase": phase.map(|phase| &phase.id),
        "phaseName": phase.map(|phase| phase.name.as_deref().unwrap_or(phase.id.as_str())),
        "timestamp": checkpoint.saved_at,
        "command": state.get("command"),
        "status": phase.map(|phase| phase.status.word()),
        "artifacts": write_artifacts(&checkpoint.content.artifacts),
        "phaseData": data,
        "validation": data.get("validation"),
        "reflection": data.get("reflection"),
        "nextPhase": next,
        "nextAction": action,
        "metadata": metadata,
    });
    let error = phase.filter(|phase| !phase.status.is_done()).and_then(|phase| {
        let last =
            checkpoint.content.last_error.as_ref().filter(|last| last.phase.as_ref() == Some(&phase.id));
        phase.error.as_deref().or(last.map(|last| last.message.as_str()))
    });
    if let Some(error) = error {
        document["error"] = error.into();
    }
    document
}

/// Files by their names. One that goes by its path is put where its file name says, as in `042-S2-SPEC-search.md`.
fn write_artifacts(artifacts: &[Artifact]) -> Map<String, Value> {
    let mut members: Map<String, Value> =
        SLOTS.iter().map(|slot| ((*slot).to_owned(), Value::Null)).collect();
    let (by_path, by_name): (Vec<_>, Vec<_>) =
        artifacts.iter().partition(|artifact| artifact.name == artifact.path);
    for artifact in by_name {
        members.insert(artifact.name.clone(), artifact.path.as_str().into());
    }
    for artifact in by_path {
        let folded = artifact.path.to_ascii_lowercase();
        let slot =
            SLOTS.iter().find(|slot| members[**slot].is_null() && folded.contains(&format!("-{slot}-")));
        let key = slot.map_or(artifact.name.as_str(), |slot| slot);
        members.insert(key.to_owned(), artifact.path.as_str().into());
    }
    members
}

#[cfg(test)]
mod tests;
