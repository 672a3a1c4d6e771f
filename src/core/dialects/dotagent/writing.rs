//! Both files, from a checkpoint.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::named_phase;
use crate::core::checkpoint::{Artifact, Checkpoint};
use crate::core::dialects::members::{first, paths, word};
use crate::core::dialects::reading::Papers;
use crate::core::dialects::times::Time;
use crate::core::phase::{Phase, PhaseId, PhaseStatus};
use crate::core::time::Timestamp;

/// Writes both files. A phase that is done is always listed, so that the pointer leaves nothing open.
pub(in super::super) fn write(checkpoint: &Checkpoint) -> Papers {
    let state = checkpoint.content.state.to_value().unwrap_or_default();
    let kept = state.get(super::PIPELINE);
    let current = checkpoint.content.phase.as_ref().and_then(|id| checkpoint.content.find_phase(id));
    let current = current
        .or_else(|| checkpoint.content.remaining().next())
        .or_else(|| checkpoint.content.phases.last());
    let approved = checkpoint.content.phases.iter().filter_map(|phase| {
        let approval = phase.approval.as_ref()?;
        let mut entry = json!({"phase": phase.id, "approved_at": approval.approved_at?});
        if let Some(by) = &approval.approved_by {
            entry["approved_by"] = by.as_str().into();
        }
        Some(entry)
    });
    let mut main = json!({
        "workflow_id": checkpoint.workflow,
        "started_at": write_start(checkpoint, kept),
        "last_updated": checkpoint.saved_at,
        "current_phase": current.map(|phase| &phase.id),
        "phase_status": current.map(|phase| phase.status.word()),
        "completed_phases": write_completed(checkpoint, kept),
        "user_checkpoints": approved.collect::<Vec<_>>(),
        "interruption_safe": !kept.is_some_and(|kept| is_torn(kept, checkpoint.saved_at)),
    });
    let failed = current.filter(|phase| phase.status == PhaseStatus::Failed);
    if let Some(error) = failed.and_then(|phase| phase.error.as_deref()) {
        main["error"] = error.into();
    }
    Papers {
        main,
        beside: Some(super::execution::write(&checkpoint.content.tasks, state.get("dotagent-execution"))),
    }
}

/// When the work began: as the imported file says, else the first time that is known of it.
fn write_start(checkpoint: &Checkpoint, kept: Option<&Value>) -> Value {
    if let Some((_, start)) = kept.and_then(|kept| first(kept, &["started_at"])) {
        return start.clone();
    }
    let times = checkpoint.content.phases.iter().flat_map(|phase| [phase.started_at, phase.completed_at]);
    let known = times.flatten().min();
    known.or(kept.is_none().then_some(checkpoint.saved_at)).map_or(Value::Null, |at| at.to_string().into())
}

/// Whether the checkpoint still is the file that was being written when it was imported: nothing was saved since.
fn is_torn(kept: &Value, saved_at: Timestamp) -> bool {
    let recorded = Time::understand(&kept["last_updated"]).timestamp();
    let recorded = recorded.or_else(|| Time::understand(&kept["started_at"]).timestamp());
    kept["interruption_safe"] == false && recorded.is_none_or(|recorded| recorded == saved_at)
}

/// The phases that are done, each with the files it has produced. A file that was promised and never recorded is none
/// of them.
fn write_completed(checkpoint: &Checkpoint, kept: Option<&Value>) -> Vec<Value> {
    let owners = Owners::new(checkpoint, kept);
    let mut produced: HashMap<&PhaseId, Vec<&str>> = HashMap::new();
    for artifact in &checkpoint.content.artifacts {
        if let Some(owner) = owners.of(artifact) {
            produced.entry(owner).or_default().push(&artifact.path);
        }
    }
    let of = |phase: &Phase| produced.get(&phase.id).map(Vec::as_slice).unwrap_or_default();
    checkpoint.content.done().map(|phase| write_entry(phase, of(phase))).collect()
}

/// The phases that are done, by what tells that a file is theirs.
struct Owners<'c> {
    ids: HashMap<&'c str, &'c PhaseId>,
    named: HashMap<&'c str, &'c PhaseId>,
    promised: HashMap<&'c str, &'c PhaseId>,
}

impl<'c> Owners<'c> {
    fn new(checkpoint: &'c Checkpoint, kept: Option<&'c Value>) -> Self {
        let (mut ids, mut named, mut promised) = (HashMap::new(), HashMap::new(), HashMap::new());
        let mut spelled = HashMap::new();
        for phase in checkpoint.content.done() {
            ids.entry(phase.id.as_str()).or_insert(&phase.id);
            spelled.entry(phase.id.as_str().to_ascii_lowercase()).or_insert(&phase.id);
            for output in &phase.outputs {
                promised.entry(output.path.as_str()).or_insert(&phase.id);
            }
        }
        for entry in kept.and_then(|kept| kept["completed_phases"].as_array()).into_iter().flatten() {
            let phase = word(&named_phase(entry)).and_then(|id| spelled.get(&id.to_ascii_lowercase()));
            let (Some(phase), Some((_, output))) = (phase, first(entry, &["output", "outputs"])) else {
                continue;
            };
            for path in paths(output) {
                named.entry(path).or_insert(*phase);
            }
        }
        Self { ids, named, promised }
    }

    /// The phase that names an artifact: the one it is called after, that named it in the imported file, or that
    /// promises it. Of any other artifact it is not known which phase has produced it.
    fn of(&self, artifact: &Artifact) -> Option<&'c PhaseId> {
        let (name, path) = (artifact.name.as_str(), artifact.path.as_str());
        let named = || self.named.get(path).or_else(|| self.named.get(name));
        self.ids.get(name).or_else(named).or_else(|| self.promised.get(path)).copied()
    }
}

/// One file is a text, as the system writes it; several are a list.
fn write_entry(phase: &Phase, files: &[&str]) -> Value {
    let output = match files {
        [] => Value::Null,
        [only] => (*only).into(),
        several => json!(several),
    };
    let mut entry = Map::from_iter([
        ("phase".to_owned(), json!(phase.id)),
        ("completed_at".to_owned(), json!(phase.completed_at)),
        ("output".to_owned(), output),
    ]);
    if phase.status == PhaseStatus::Skipped {
        entry.insert("status".to_owned(), phase.status.word().into());
    }
    entry.into()
}
