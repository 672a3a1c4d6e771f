//! Checks of what any foreign document says: times, the order of phases, unfinished writes, the data of phases.
//!
//! None of them changes what was read. Each is a finding that a person has to confirm.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde_json::Value;

use super::draft::Draft;
use super::members::{first_member, text_or_number};
use super::read_log::ReadLog;
use super::times::ParsedTime;
use ckpt_model::builtin;
use ckpt_model::finding::{Code, Severity};
use ckpt_model::json::Json;
use ckpt_model::phase::{Phase, PhaseId, PhaseStatus};
use ckpt_model::schema::{Steps, Validator};

const STARTED: [&str; 6] = ["started_at", "startedAt", "started", "created_at", "createdAt", "created"];
const COMPLETED: [&str; 2] = ["completed_phases", "completedPhases"];
const UPDATED: [&str; 6] = ["last_updated", "lastUpdated", "updated_at", "updatedAt", "last_modified", "lastModified"];

pub(super) fn check(main: &Value, draft: &Draft, log: &mut ReadLog<'_>) {
    if let Some((key, value)) = first_member(main, &["interruption_safe", "interruptionSafe"])
        && !is_clearly_true(value)
    {
        let message = "the file was being written when this was saved; compare it with the reports";
        log.finding_at(Severity::Confirm, Code::IncompleteWrite, &format!("/{key}"), message);
    }
    let time = |keys| {
        let (key, value) = first_member(main, keys)?;
        Some((key, ParsedTime::parse(value).timestamp()?))
    };
    if let (Some((key, started)), Some((_, updated))) = (time(&STARTED), time(&UPDATED))
        && started > updated
    {
        let message = "the work began after it was last saved";
        log.finding_at(Severity::Confirm, Code::RecordsDisagree, &format!("/{key}"), message);
    }
    check_order(&draft.content.phases, log);
    check_completed_phases(main, &draft.content.phases, log);
    if let Some(pipeline) = &draft.content.pipeline {
        check_data(pipeline, &draft.content.phases, log);
    }
}

/// True for `true`, 1 and the words for yes. Anything else that is stated is not clearly true.
pub(super) fn is_clearly_true(value: &Value) -> bool {
    match value {
        Value::Bool(stated) => *stated,
        Value::Number(number) => number.as_f64() == Some(1.0),
        Value::String(word) => {
            let word = word.trim();
            ["true", "yes", "y", "on", "1"].iter().any(|known| word.eq_ignore_ascii_case(known))
        }
        _ => false,
    }
}

/// Checks that the phases were completed in their order.
fn check_order(phases: &[Phase], log: &mut ReadLog<'_>) {
    let completed: Vec<_> = phases.iter().filter_map(|phase| Some((&phase.id, phase.completed_at?))).collect();
    for pair in completed.windows(2) {
        let [(earlier, before), (later, after)] = pair else { continue };
        if before > after {
            let message = format!("phase {later} was completed before {earlier}, which comes first");
            log.finding(Severity::Confirm, Code::RecordsDisagree, message);
        }
    }
}

/// Checks that the list of completed phases is in the order of the phases, and has none behind the one in progress.
fn check_completed_phases(main: &Value, phases: &[Phase], log: &mut ReadLog<'_>) {
    let Some((key, Value::Array(completed))) = first_member(main, &COMPLETED) else { return };
    let place = format!("/{key}");
    let position = |value: &Value| {
        let name =
            text_or_number(value).or_else(|| text_or_number(first_member(value, &["phase", "id", "name"])?.1))?;
        phases.iter().position(|phase| phase.id.as_str().eq_ignore_ascii_case(name.trim()))
    };
    let listed: Vec<usize> = completed.iter().filter_map(position).collect();
    if let Some([later, earlier]) = listed.windows(2).find(|pair| pair[0] > pair[1]) {
        let (later, earlier) = (&phases[*later].id, &phases[*earlier].id);
        let message = format!("phase {later} is listed before {earlier}, which comes first");
        log.finding_at(Severity::Confirm, Code::RecordsDisagree, &place, &message);
    }
    let current = phases.iter().position(|phase| phase.status == PhaseStatus::InProgress);
    if let (Some(current), Some(last)) = (current, listed.iter().max())
        && *last > current
    {
        let (last, current) = (&phases[*last].id, &phases[current].id);
        let message = format!("phase {last} is complete, but {current}, which comes first, is in progress");
        log.finding_at(Severity::Confirm, Code::RecordsDisagree, &place, &message);
    }
}

/// Checks the data of phases that are not pending against the schemas of a built-in pipeline.
fn check_data(pipeline: &str, phases: &[Phase], log: &mut ReadLog<'_>) {
    let mut steps = Steps::default();
    for phase in phases.iter().filter(|phase| phase.status != PhaseStatus::Pending) {
        let Some(Ok(data)) = phase.data.as_ref().map(Json::to_value) else { continue };
        let Some(schema) = SCHEMAS.get(pipeline).and_then(|schemas| schemas.get(&phase.id)) else { continue };
        let violations = schema.violations(&data, &mut steps).unwrap_or_default();
        if let Some(first) = violations.first() {
            let message = format!(
                "the data of phase {} is not what {pipeline} has for it, at {}: {}",
                phase.id, first.pointer, first.message
            );
            log.finding(Severity::Confirm, Code::DataInvalid, message);
        }
    }
}

/// The compiled schemas of the built-in pipelines: many files are imported at once.
static SCHEMAS: LazyLock<HashMap<&str, HashMap<PhaseId, Validator>>> = LazyLock::new(|| {
    let schemas = |builtin: &builtin::Builtin| {
        let phases = builtin.pipeline(0).phases.into_iter();
        let compiled = |schema| Validator::compile(&schema, &mut Steps::default()).ok();
        phases.filter_map(|phase| Some((phase.id, compiled(phase.data_schema?)?))).collect()
    };
    builtin::ALL.iter().map(|builtin| (builtin.name, schemas(builtin))).collect()
});
