//! The `claude-plan` dialect: one file per plan, rewritten after every phase.
//!
//! It numbers its phases and never says how many there are, so what lies behind the current one is not known, unless the
//! file carries the whole list.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value, json};

use super::numbers;
use super::reading::{Draft, Notes, Watch, phase_at, phase_id, pointer};
use crate::core::checkpoint::{Artifact, Checkpoint, LastError, Next, Replan};
use crate::core::finding::{Code, Severity};
use crate::core::json::Json;
use crate::core::phase::MAX_PHASES;
use crate::core::phase::{Phase, PhaseId, PhaseStatus};

pub(super) fn recognises(main: &Value) -> bool {
    let has = |key: &str| main.get(key).is_some();
    has("workflow_id")
        && has("current_phase")
        && main.get("completed_phases").is_some_and(Value::is_array)
        && (has("plan_path") || has("phase_metadata") || has("replan_history"))
}

pub(super) fn read(main: &Value, notes: &mut Notes<'_>) -> Draft {
    let text = |key: &str| main.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    let mut draft = Draft { workflow: text("workflow_id").map(str::to_owned), ..Draft::default() };
    if let Some(id) = &draft.workflow {
        notes.found("workflow", id, "/workflow_id");
    }
    if let Some(plan) = text("plan_path") {
        notes.found("title", plan, "/plan_path");
        draft.content.title = Some(plan.to_owned());
        draft.watched.push(Watch { path: plan.to_owned(), modified_at: None });
    }
    read_phases(main, &mut draft, notes);
    read_replans(main, &mut draft, notes);
    let phases = draft.content.phases.iter().filter_map(|phase| phase.completed_at);
    draft.recorded_at = phases.chain(draft.content.replans.iter().map(|replan| replan.at)).max();
    draft.content.last_error =
        draft.content.phases.iter().find(|phase| phase.status == PhaseStatus::Failed).and_then(|phase| {
            Some(LastError {
                message: phase.error.clone()?,
                phase: Some(phase.id.clone()),
                at: draft.recorded_at?,
                extra: Default::default(),
            })
        });
    draft
}

fn read_phases(main: &Value, draft: &mut Draft, notes: &mut Notes<'_>) {
    let current = main.get("current_phase").and_then(|value| notes.phase(value, "/current_phase"));
    let listed = main.get("completed_phases").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    notes.count_phases(listed.len(), "/completed_phases");
    let mut completed = Vec::new();
    for (index, entry) in listed.iter().take(MAX_PHASES).enumerate() {
        let place = pointer(&["completed_phases", &index.to_string()]);
        completed.extend(notes.phase(entry, &place).map(|id| (id, place)));
    }
    let empty = Map::new();
    let metadata = main.get("phase_metadata").and_then(Value::as_object).unwrap_or(&empty);
    notes.count_phases(metadata.len(), "/phase_metadata");
    let described: Vec<(PhaseId, &Value, String)> = metadata
        .iter()
        .take(MAX_PHASES)
        .filter_map(|(key, value)| {
            let place = pointer(&["phase_metadata", key]);
            Some((notes.phase(&Value::from(key.as_str()), &place)?, value, place))
        })
        .collect();
    let ids = completed.iter().map(|(id, _)| id).chain(described.iter().map(|(id, ..)| id)).chain(&current);
    let mut seen = HashSet::new();
    let mentioned: Vec<PhaseId> = ids.filter(|id| seen.insert(*id)).cloned().collect();
    let ids = numbers::range(&mentioned, None).unwrap_or(mentioned);
    draft.content.phases = ids.into_iter().map(Phase::pending).collect();
    for phase in &mut draft.content.phases {
        if let Some((_, place)) = completed.iter().find(|(id, _)| *id == phase.id) {
            notes.found(format!("phases/{}/status", phase.id), "complete", place);
            *phase = phase_at(phase.id.clone(), PhaseStatus::Complete);
        }
        if let Some((_, value, place)) = described.iter().find(|(id, ..)| *id == phase.id) {
            read_metadata(value, place, phase, &mut draft.content.artifacts, notes);
        }
    }
    if let Some(current) = current {
        notes.found("phase", &current, "/current_phase");
        draft.content.next =
            Some(Next { phase: Some(current.clone()), action: None, extra: Default::default() });
        draft.content.phase = Some(current);
    }
}

fn read_metadata(
    value: &Value,
    place: &str,
    phase: &mut Phase,
    artifacts: &mut Vec<Artifact>,
    notes: &mut Notes<'_>,
) {
    let (id, claimed) = (phase.id.clone(), phase.status == PhaseStatus::Complete);
    let recorded = value.get("status").unwrap_or(&Value::Null);
    let status = notes.status(&format!("phases/{id}/status"), recorded, &format!("{place}/status"));
    if let Some(status) = status {
        if claimed && !status.is_done() {
            let message = format!(
                "phase {id} is listed as completed, but recorded as {}; the record counts",
                status.word()
            );
            notes.doubt_at(Severity::Advice, Code::RecordsDisagree, place, &message);
        }
        *phase = phase_at(id.clone(), status);
    }
    let at = value.get("timestamp").unwrap_or(&Value::Null);
    phase.completed_at = notes.time(&format!("phases/{id}/completed_at"), at, &format!("{place}/timestamp"));
    if phase.status == PhaseStatus::Failed {
        let error = ["error", "error_message", "last_error"].iter().find_map(|key| value.get(*key)?.as_str());
        phase.error = error.map(str::to_owned);
    }
    for (index, path) in value.get("artifacts").and_then(Value::as_array).into_iter().flatten().enumerate() {
        if let Some(path) = path.as_str() {
            notes.found("artifact", path, &format!("{place}/artifacts/{index}"));
            artifacts.push(Artifact::new(path, path));
        }
    }
    let listed = value.get("artifacts").and_then(Value::as_array);
    let told = [
        ("status", status.is_some()),
        ("timestamp", phase.completed_at.is_some()),
        ("error", phase.error.is_some() && value.get("error").is_some_and(Value::is_string)),
        ("artifacts", listed.is_some_and(|listed| listed.iter().all(Value::is_string))),
    ];
    phase.data = found_out(value, &told);
}

/// What a phase found out: all that is recorded of it and means nothing to the system itself.
fn found_out(value: &Value, told: &[(&str, bool)]) -> Option<Json> {
    let mut members = value.as_object()?.clone();
    for (key, _) in told.iter().filter(|(_, told)| *told) {
        members.shift_remove(*key);
    }
    (!members.is_empty()).then(|| Json::Given(members.into()))
}

fn read_replans(main: &Value, draft: &mut Draft, notes: &mut Notes<'_>) {
    for (index, entry) in
        main.get("replan_history").and_then(Value::as_array).into_iter().flatten().enumerate()
    {
        let place = pointer(&["replan_history", &index.to_string()]);
        let phase = entry.get("phase").and_then(|id| notes.phase(id, &format!("{place}/phase")));
        let at = entry.get("timestamp").unwrap_or(&Value::Null);
        let at = notes.time("replan", at, &format!("{place}/timestamp"));
        if let (Some(phase), Some(at)) = (phase, at) {
            let reason = entry.get("reason").and_then(Value::as_str).map(str::to_owned);
            draft.content.replans.push(Replan { phase, reason, at, extra: Default::default() });
        }
    }
}

/// Writes what the model knows; members that only an imported document has are laid under it by the caller.
pub(super) fn write(checkpoint: &Checkpoint, imported: Option<&Value>) -> Value {
    let plan = match imported {
        // What the work watches by now may be other files; the plan is still the plan.
        Some(main) => main.get("plan_path").cloned(),
        None => checkpoint.context.watched.first().map(|plan| plan.path.as_str().into()),
    };
    let about =
        checkpoint.content.phase.as_ref().and_then(|id| checkpoint.content.find_phase(id)).filter(is_told);
    let about = about.or_else(|| checkpoint.content.phases.iter().rfind(is_told)).map(|phase| &phase.id);
    let current = checkpoint.content.next.as_ref().and_then(|next| next.phase.clone());
    let current = current.or_else(|| checkpoint.content.remaining().next().map(|phase| phase.id.clone()));
    let current = current.or_else(|| after_last(checkpoint)).or_else(|| checkpoint.content.phase.clone());
    let produced = Produced::new(checkpoint, imported);
    let metadata = checkpoint.content.phases.iter().filter(is_told).map(|phase| {
        (phase.id.to_string(), write_metadata(phase, produced.by(phase, about == Some(&phase.id))))
    });
    let mut counts: Map<String, Value> = Map::new();
    for replan in &checkpoint.content.replans {
        let before = counts.get(replan.phase.as_str()).and_then(Value::as_u64).unwrap_or(0);
        counts.insert(replan.phase.to_string(), json!(before + 1));
    }
    let history = checkpoint.content.replans.iter().map(|replan| {
        json!({"phase": numbers::to_json(&replan.phase), "reason": replan.reason, "timestamp": replan.at})
    });
    json!({
        "workflow_id": checkpoint.workflow,
        "plan_path": plan,
        "current_phase": current.as_ref().map(numbers::to_json),
        "completed_phases": checkpoint.content.done().map(|phase| numbers::to_json(&phase.id)).collect::<Vec<_>>(),
        "phase_metadata": metadata.collect::<Map<_, _>>(),
        "replan_history": history.collect::<Vec<_>>(),
        "replan_count": counts,
        "artifact_paths": {},
        "context_metadata": {},
    })
}

/// The phase behind the last one, which is where this system points when a phase is done.
fn after_last(checkpoint: &Checkpoint) -> Option<PhaseId> {
    let last = checkpoint.content.phases.iter().filter_map(|phase| numbers::plain(&phase.id)).max()?;
    last.checked_add(1)?.to_string().parse().ok()
}

/// Whether there is anything to tell about a phase.
fn is_told(phase: &&Phase) -> bool {
    phase.status != PhaseStatus::Pending || phase.data.is_some()
}

/// Describes a phase, with the files it has to name.
fn write_metadata(phase: &Phase, artifacts: Option<Value>) -> Value {
    let mut members = match phase.data.as_ref().and_then(|data| data.to_value().ok()) {
        Some(Value::Object(members)) => members,
        _ => Map::new(),
    };
    let word = if phase.status == PhaseStatus::Complete { "completed" } else { phase.status.word() };
    members.insert("status".to_owned(), word.into());
    if let Some(at) = phase.completed_at {
        members.insert("timestamp".to_owned(), at.to_string().into());
    }
    if let Some(error) = &phase.error {
        members.insert("error".to_owned(), error.as_str().into());
    }
    if let Some(artifacts) = artifacts {
        members.entry("artifacts").or_insert(artifacts);
    }
    Value::Object(members)
}

/// Which phase names which files: the one that did so in the imported document, else the one that the checkpoint is
/// about.
struct Produced<'c> {
    named: HashMap<PhaseId, Vec<&'c str>>,
    new: Vec<&'c str>,
}

impl<'c> Produced<'c> {
    fn new(checkpoint: &'c Checkpoint, imported: Option<&Value>) -> Self {
        let mut owners: HashMap<&str, PhaseId> = HashMap::new();
        let mut named: HashMap<PhaseId, Vec<&str>> = HashMap::new();
        let metadata = imported.and_then(|main| main.get("phase_metadata")).and_then(Value::as_object);
        for (key, value) in metadata.into_iter().flatten() {
            let paths = value.get("artifacts").and_then(Value::as_array);
            let (Some(id), Some(paths)) = (phase_id(&key.as_str().into()), paths) else { continue };
            named.entry(id.clone()).or_default();
            owners.extend(paths.iter().filter_map(Value::as_str).map(|path| (path, id.clone())));
        }
        let mut new = Vec::new();
        for Artifact { name, path, .. } in &checkpoint.content.artifacts {
            // An artifact that was imported is called by its path, as it was written.
            let owner = owners.get(name.as_str()).or_else(|| owners.get(path.as_str()));
            owner.and_then(|id| named.get_mut(id)).unwrap_or(&mut new).push(path);
        }
        Self { named, new }
    }

    /// The files that a phase names, if it names any or has to.
    fn by(&self, phase: &Phase, is_about: bool) -> Option<Value> {
        let named = self.named.get(&phase.id);
        let new: &[&str] = if is_about { &self.new } else { &[] };
        (named.is_some() || is_about)
            .then(|| json!([named.map(Vec::as_slice).unwrap_or_default(), new].concat()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::dialects::Dialect;
    use crate::core::dialects::testing::{codes, imported, read, round_trip};

    fn document() -> Value {
        json!({
            "workflow_id": "implement_031_search",
            "plan_path": "specs/031_search/plans/001.md",
            "current_phase": 3,
            "completed_phases": [1, 2],
            "phase_metadata": {
                "1": {"status": "completed", "artifacts": ["specs/031_search/log_1.md"], "duration_minutes": 12,
                    "timestamp": "2026-02-03T10:30:00.123456Z"},
                "2": {"status": "completed", "artifacts": [], "duration_minutes": 60.50, "timestamp": "2026-02-03T11:45:00Z"}
            },
            "replan_history": [{"phase": 3, "reason": "complexity_exceeded", "timestamp": "2026-02-03T12:00:00Z"}],
            "replan_count": {"3": 1},
            "artifact_paths": {"implementation_dir": "specs/031_search/implementation/"},
            "context_metadata": {"research_reports": ["001.md"], "plan_metadata": {"n": 1.0}}
        })
    }

    #[test]
    fn it_resumes_at_the_current_phase_with_its_history() {
        assert_eq!(Dialect::detect(&document()), Dialect::ClaudePlan);
        let reading = read(Dialect::ClaudePlan, &document(), None);
        let draft = reading.draft;
        assert_eq!(draft.workflow.as_deref(), Some("implement_031_search"));
        assert_eq!(draft.recorded_at.unwrap().to_string(), "2026-02-03T12:00:00.000Z");
        let phases: Vec<_> =
            draft.content.phases.iter().map(|phase| (phase.id.as_str(), phase.status.word())).collect();
        assert_eq!(phases, [("1", "complete"), ("2", "complete"), ("3", "pending")]);
        assert_eq!(draft.content.pipeline, None);
        assert_eq!(draft.content.replans[0].phase.as_str(), "3");
        assert_eq!(
            draft.content.artifacts,
            [Artifact::new("specs/031_search/log_1.md", "specs/031_search/log_1.md")]
        );
    }

    #[test]
    fn a_gap_stays_open() {
        let mut document = document();
        document["completed_phases"] = json!(["1", "2", 4]);
        document["current_phase"] = json!(5);
        let draft = read(Dialect::ClaudePlan, &document, None).draft;
        let open: Vec<_> =
            draft.content.phases.iter().filter(|p| !p.status.is_done()).map(|p| p.id.as_str()).collect();
        assert_eq!(open, ["3", "5"]);
    }

    #[test]
    fn a_phase_recorded_as_failed_is_not_complete_whatever_the_list_says() {
        let mut document = document();
        document["phase_metadata"]["2"]["status"] = json!("failed");
        document["phase_metadata"]["2"]["error"] = json!("tests broke");
        let reading = read(Dialect::ClaudePlan, &document, None);
        assert_eq!(reading.draft.content.phases[1].status, PhaseStatus::Failed);
        assert_eq!(reading.draft.content.last_error.as_ref().unwrap().message, "tests broke");
        assert_eq!(codes(&reading), ["records_disagree"]);
        round_trip(Dialect::ClaudePlan, &document, None);
    }

    #[test]
    fn what_was_imported_is_written_back_as_it_was() {
        round_trip(Dialect::ClaudePlan, &document(), None);
        let mut odd = document();
        odd["completed_phases"] = json!([1, "2", {"x": 1}]);
        odd["phase_metadata"]["7"] = json!("later");
        odd["mine"] = json!({"deep": [null, 0, "", false]});
        round_trip(Dialect::ClaudePlan, &odd, None);
    }

    #[test]
    fn a_save_on_top_shows_in_what_is_written() {
        let mut checkpoint = imported(Dialect::ClaudePlan, &document(), None);
        checkpoint.content.phases[2].enter(PhaseStatus::Complete, checkpoint.saved_at);
        checkpoint.content.next = None;
        let written = Dialect::ClaudePlan.write(&checkpoint, "/project".as_ref()).unwrap().main;
        assert_eq!(written["completed_phases"], json!([1, 2, 3]));
        assert_eq!(written["current_phase"], json!(4));
        assert_eq!(written["phase_metadata"]["3"]["status"], json!("completed"));
        assert_eq!(written["phase_metadata"]["2"], document()["phase_metadata"]["2"]);
        assert_eq!(written["context_metadata"], document()["context_metadata"]);
    }

    #[test]
    fn what_the_system_records_of_a_phase_is_not_what_the_phase_found_out() {
        let data = |checkpoint: &Checkpoint| {
            let data = checkpoint.content.phases.iter().map(|phase| phase.data.as_ref()?.to_value().ok());
            data.collect::<Vec<_>>()
        };
        let mut checkpoint = imported(Dialect::ClaudePlan, &document(), None);
        let found = [Some(json!({"duration_minutes": 12})), Some(json!({"duration_minutes": 60.50})), None];
        assert_eq!(data(&checkpoint), found);
        checkpoint.content.state = Json::Given(json!({}));
        checkpoint.content.phases[0].data = Some(Json::Given(json!({"status": "weird", "artifacts": 1})));
        checkpoint.content.phases[1].data = None;
        let project = "/project".as_ref();
        let papers = Dialect::ClaudePlan.write(&checkpoint, project).unwrap();
        assert_eq!(Dialect::ClaudePlan.left_out(&papers, &checkpoint, project), []);
        assert_eq!(data(&imported(Dialect::ClaudePlan, &papers.main, None)), data(&checkpoint));
    }

    #[test]
    fn more_phases_than_can_be_followed_are_a_finding() {
        let mut document = document();
        document["completed_phases"] = (0..40_000).map(|n| json!(format!("x{n}"))).collect();
        document["phase_metadata"] = json!({});
        let reading = read(Dialect::ClaudePlan, &document, None);
        assert_eq!((reading.draft.content.phases.len(), codes(&reading)), (10_001, vec!["phase_unreadable"]));
        round_trip(Dialect::ClaudePlan, &document, None);
    }

    #[test]
    fn files_stay_with_the_phase_that_named_them() {
        let mut checkpoint = imported(Dialect::ClaudePlan, &document(), None);
        checkpoint.content.phases[2].enter(PhaseStatus::Complete, checkpoint.saved_at);
        let extra = Default::default();
        let file = "new.md".to_owned();
        checkpoint.content.artifacts.push(Artifact {
            name: file.clone(),
            path: file,
            size: None,
            sha256: None,
            extra,
        });
        let written = Dialect::ClaudePlan.write(&checkpoint, "/project".as_ref()).unwrap().main;
        assert_eq!(written["phase_metadata"]["1"], document()["phase_metadata"]["1"]);
        assert_eq!(written["phase_metadata"]["2"], document()["phase_metadata"]["2"]);
        assert_eq!(written["phase_metadata"]["3"]["artifacts"], json!(["new.md"]));
    }
}
