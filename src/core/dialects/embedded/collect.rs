//! Collecting the data to embed.

use serde_json::{Map, Value, json};

use super::artifact_names;
use super::container::{needs_phase_list, needs_phase_owners, remove};
use super::phase_owners::PhaseOwners;
use crate::core::checkpoint::Checkpoint;
use crate::core::dialects::checkpoint_part::{
    CheckpointPart, approved, missing_data, missing_phase_statuses, missing_tasks, next_action, phase_data,
};
use crate::core::dialects::dialect::Dialect;
use crate::core::dialects::native_state;
use crate::core::phase::Phase;
use crate::core::time::Timestamp;

/// Returns the state of a checkpoint without the imported files of the dialect, and without the data that is embedded in
/// the files of other dialects: that is part of the checkpoint by now.
pub(in crate::core::dialects) fn state_without_import(dialect: Dialect, checkpoint: &Checkpoint) -> Value {
    let mut members = match checkpoint.content.state.to_value().unwrap_or_default() {
        Value::Null => Map::new(),
        Value::Object(members) => members,
        other => return other,
    };
    members.shift_remove(dialect.word());
    if let Some(key) = dialect.companion_key() {
        members.shift_remove(key);
    }
    for other in Dialect::FOREIGN {
        if let Some(main) = members.get_mut(other.word()) {
            remove(other, main);
        }
    }
    members.into()
}

/// True if the same data would be embedded for both checkpoints.
pub(in crate::core::dialects) fn is_same(dialect: Dialect, one: &Checkpoint, other: &Checkpoint) -> bool {
    CheckpointPart::ALL.iter().all(|part| match part {
        // The members of the dialect express these.
        CheckpointPart::Phases | CheckpointPart::Data => true,
        part => part.is_preserved(one, other, dialect) && part.is_preserved(other, one, dialect),
    })
}

/// Collects what of `source` must be embedded in a document that gives `read_back` and the time `recorded_at` when it is
/// read.
pub(in crate::core::dialects) fn collect(
    dialect: Dialect,
    source: &Checkpoint,
    read_back: &Checkpoint,
    recorded_at: Option<Timestamp>,
) -> Option<Map<String, Value>> {
    let mut data = Map::from_iter([("saved_at".to_owned(), json!(source.saved_at))]);
    for part in CheckpointPart::ALL {
        if !part.is_preserved(source, read_back, dialect)
            && let Some((key, value)) = member(part, dialect, source, read_back)
        {
            data.insert(key.to_owned(), value);
        }
    }
    if !CheckpointPart::State.is_preserved(source, read_back, dialect) {
        collect_state(dialect, source, read_back, &mut data);
    }
    if needs_phase_owners(dialect)
        && let Some(owners) = PhaseOwners::collect(source, read_back)
    {
        data.insert("phase_of".to_owned(), json!(owners));
    }
    let only_time = data.len() == 1;
    if only_time && recorded_at == Some(source.saved_at) { None } else { Some(data) }
}

/// Returns the member that a part is embedded as; `None` if only the members of the dialect can express it.
fn member(
    part: CheckpointPart,
    dialect: Dialect,
    source: &Checkpoint,
    read_back: &Checkpoint,
) -> Option<(&'static str, Value)> {
    Some(match part {
        CheckpointPart::Phases => {
            if !needs_phase_list(dialect) || !source.content.is_declared() || read_back.content.is_declared()
            {
                return None;
            }
            ("phases", source.content.phases.iter().map(|phase| json!(phase.id)).collect())
        }
        CheckpointPart::PhaseStatus => {
            let phases = missing_phase_statuses(source, read_back);
            let statuses: Map<_, _> =
                phases.map(|phase| (phase.id.to_string(), json!(phase.status))).collect();
            ("phase_status", statuses.into())
        }
        CheckpointPart::Artifacts => {
            let renamed = artifact_names::collect(source, read_back);
            if renamed.is_empty() {
                return None;
            }
            ("artifacts", json!(renamed))
        }
        CheckpointPart::Data => {
            let data = data_by_phase(dialect, source, read_back);
            if data.is_empty() {
                return None;
            }
            ("data", data.into())
        }
        CheckpointPart::Status => ("status", json!(source.content.status)),
        CheckpointPart::Title => ("title", json!(source.content.title)),
        CheckpointPart::Action => ("next_action", json!(next_action(source))),
        CheckpointPart::Note => ("note", json!(source.note)),
        CheckpointPart::Tasks => {
            let tasks = missing_tasks(source, read_back);
            if tasks.is_empty() {
                return None;
            }
            ("tasks", json!(tasks))
        }
        CheckpointPart::Facts => ("facts", json!(source.content.facts)),
        CheckpointPart::Replans => ("replans", json!(source.content.replans)),
        CheckpointPart::Approvals => ("approvals", approved(source).map(approval).collect()),
        CheckpointPart::Error => ("last_error", json!(source.content.last_error)),
        CheckpointPart::Labels => ("labels", json!(source.content.labels)),
        CheckpointPart::Watched => {
            ("watched", source.context.watched.iter().map(|file| json!(file.path)).collect())
        }
        CheckpointPart::Git => ("git", json!(source.context.git)),
        CheckpointPart::State => return None,
    })
}

/// Embeds the state, except for what the document has under the same name: of that, only the paths.
fn collect_state(
    dialect: Dialect,
    source: &Checkpoint,
    read_back: &Checkpoint,
    data: &mut Map<String, Value>,
) {
    let Value::Object(mut state) = state_without_import(dialect, source) else { return };
    let files = read_back.content.state.to_value().unwrap_or_default();
    let paths = native_state::take_written(dialect, &files[dialect.word()], &mut state);
    if !state.is_empty() || paths.is_empty() {
        data.insert("state".to_owned(), state.into());
    }
    if !paths.is_empty() {
        data.insert("native_state".to_owned(), json!(paths));
    }
}

/// Returns the data of phases that is nowhere in the document, by phase.
fn data_by_phase(dialect: Dialect, source: &Checkpoint, read_back: &Checkpoint) -> Map<String, Value> {
    let mut missing = missing_data(source, read_back, dialect);
    if needs_phase_owners(dialect) {
        // The document has one place for the data of all phases; only the phase it belongs to may be missing.
        let all: Map<String, Value> = read_back.content.phases.iter().flat_map(phase_data).collect();
        missing.retain(|(_, data)| data.iter().any(|(key, value)| all.get(key) != Some(value)));
    }
    missing.into_iter().map(|(id, data)| (id.to_string(), data.into())).collect()
}

fn approval(phase: &Phase) -> Value {
    let approval = phase.approval.as_ref();
    json!({
        "phase": phase.id,
        "approved_at": approval.and_then(|approval| approval.approved_at),
        "approved_by": approval.and_then(|approval| approval.approved_by.as_ref()),
    })
}
