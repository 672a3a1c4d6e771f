//! What a checkpoint says and a dialect has no member for.
//!
//! Most of these systems have a place for whatever their users want to remember. What cannot be said otherwise goes
//! there, under `ckpt`, and is taken up again when the file is read:
//!
//! | dialect | place |
//! |---|---|
//! | `kamiflow` | `metadata` |
//! | `claude-dir` | `workflow_state` |
//! | `claude-plan` | `context_metadata` |
//! | `crunch` | `knowledge_context` |
//!
//! The system that owns the file goes on without reading this, so its own members always count, and some of what is
//! carried is worth nothing any more once the file says that it was saved later: the status, that of phases, the note,
//! what to do next, the last error and the git checkout. A member of that name which somebody else has put there is left alone.

mod homes;
mod names;
mod reading;

use serde_json::{Map, Value, json};

use super::dialect::Dialect;
use super::topic::{Topic, action, approved, data, untold_data, untold_standing, untold_tasks};
use crate::core::checkpoint::Checkpoint;
use crate::core::phase::Phase;
use crate::core::time::Timestamp;

use homes::Homes;
pub(super) use reading::take_up;

const MEMBER: &str = "ckpt";

/// The member whose content is up to the users of the system.
fn home(dialect: Dialect) -> Option<&'static str> {
    match dialect {
        Dialect::Kamiflow => Some("metadata"),
        Dialect::ClaudeDir => Some("workflow_state"),
        Dialect::ClaudePlan => Some("context_metadata"),
        Dialect::Crunch => Some("knowledge_context"),
        Dialect::Dotagent | Dialect::Ckpt | Dialect::Generic => None,
    }
}

/// Whether a document of the dialect says of every phase whether it is done, and may still not say which there are. Only
/// then can the list be carried: elsewhere it would contradict what the document implies.
fn lists_done(dialect: Dialect) -> bool {
    matches!(dialect, Dialect::ClaudeDir | Dialect::ClaudePlan)
}

/// What a document carries, and when that was written.
fn find(dialect: Dialect, main: &Value) -> Option<(&Map<String, Value>, Timestamp)> {
    let carried = main.get(home(dialect)?)?.get(MEMBER)?.as_object()?;
    let saved_at = carried.get("saved_at")?.as_str().and_then(Timestamp::parse)?;
    Some((carried, saved_at))
}

/// Takes out of a document what it carries.
pub(super) fn take_out(dialect: Dialect, main: &mut Value) {
    if find(dialect, main).is_some()
        && let Some(place) = home(dialect).and_then(|home| main.get_mut(home)?.as_object_mut())
    {
        place.shift_remove(MEMBER);
    }
}

/// Puts into a document what it has to carry, if there is room for it.
pub(super) fn put_in(dialect: Dialect, main: &mut Value, carried: Map<String, Value>) {
    let (Some(home), Value::Object(members)) = (home(dialect), main) else { return };
    let place = members.entry(home).or_insert(Value::Null);
    if place.is_null() {
        *place = Value::Object(Map::new());
    }
    if let Value::Object(place) = place {
        place.entry(MEMBER).or_insert(carried.into());
    }
}

/// The state that a dialect has no members for.
pub(super) fn untold_state(dialect: Dialect, checkpoint: &Checkpoint) -> Value {
    let mut state = free_state(dialect, checkpoint);
    if let (Dialect::Kamiflow, Value::Object(members)) = (dialect, &mut state) {
        ["metadata", "command"].iter().for_each(|key| drop(members.shift_remove(*key)));
    }
    state
}

/// The state of a checkpoint without the papers of the dialect itself, and without what those of others carry: that is
/// part of the checkpoint by now.
fn free_state(dialect: Dialect, checkpoint: &Checkpoint) -> Value {
    match checkpoint.content.state.to_value().unwrap_or_default() {
        Value::Null => Value::Object(Map::new()),
        Value::Object(mut members) => {
            members.shift_remove(dialect.word());
            dialect.beside_key().and_then(|beside| members.shift_remove(beside));
            for other in Dialect::FOREIGN {
                if let Some(papers) = members.get_mut(other.word()) {
                    take_out(other, papers);
                }
            }
            members.into()
        }
        other => other,
    }
}

/// Whether two checkpoints would have the same to carry.
pub(super) fn same(dialect: Dialect, one: &Checkpoint, other: &Checkpoint) -> bool {
    let both = |topic: &Topic| topic.is_said(one, other, dialect) && topic.is_said(other, one, dialect);
    // The phases and their data are told by the members of the dialect.
    Topic::ALL.iter().filter(|topic| !matches!(topic, Topic::Phases | Topic::Data)).all(both)
}

/// What of `meant` must be carried in a document that says only `said`, and that it was saved at `recorded_at`.
pub(super) fn collect(
    dialect: Dialect,
    meant: &Checkpoint,
    said: &Checkpoint,
    recorded_at: Option<Timestamp>,
) -> Option<Map<String, Value>> {
    let mut carried = Map::new();
    for topic in Topic::ALL.into_iter().filter(|topic| !topic.is_said(said, meant, dialect)) {
        if let Some((key, value)) = member(topic, dialect, meant, said) {
            carried.insert(key.to_owned(), value);
        }
    }
    if Homes::are_untold(dialect)
        && let Some(homes) = Homes::collect(meant, said)
    {
        carried.insert("phase_of".to_owned(), json!(homes));
    }
    if carried.is_empty() && recorded_at == Some(meant.saved_at) {
        return None;
    }
    let mut members = Map::from_iter([("saved_at".to_owned(), json!(meant.saved_at))]);
    members.extend(carried);
    Some(members)
}

/// How a topic is carried; none for what only the members of the dialect can tell.
fn member(
    topic: Topic,
    dialect: Dialect,
    meant: &Checkpoint,
    said: &Checkpoint,
) -> Option<(&'static str, Value)> {
    let paths = |checkpoint: &Checkpoint| -> Vec<String> {
        checkpoint.context.watched.iter().map(|file| file.path.clone()).collect()
    };
    Some(match topic {
        Topic::Phases
            if lists_done(dialect) && meant.content.is_declared() && !said.content.is_declared() =>
        {
            ("phases", meant.content.phases.iter().map(|phase| json!(phase.id)).collect())
        }
        Topic::Phases => return None,
        Topic::Standing => {
            let stands = |phase: &Phase| (phase.id.to_string(), json!(phase.status));
            ("phase_status", untold_standing(said, meant).map(stands).collect::<Map<_, _>>().into())
        }
        Topic::Artifacts => {
            let renamed = Some(names::collect(meant, said)).filter(|renamed| !renamed.is_empty());
            ("artifacts", json!(renamed?))
        }
        Topic::Data => ("data", pages(dialect, meant, said)?.into()),
        Topic::Status => ("status", json!(meant.content.status)),
        Topic::Title => ("title", json!(meant.content.title)),
        Topic::Action => ("next_action", json!(action(meant))),
        Topic::Note => ("note", json!(meant.note)),
        Topic::Tasks => {
            let untold = Some(untold_tasks(said, meant)).filter(|untold| !untold.is_empty());
            ("tasks", json!(untold?))
        }
        Topic::Replans => ("replans", json!(meant.content.replans)),
        Topic::Approvals => ("approvals", approved(meant).map(approval).collect()),
        Topic::Error => ("last_error", json!(meant.content.last_error)),
        Topic::Labels => ("labels", json!(meant.content.labels)),
        Topic::Watched => ("watched", json!(paths(meant))),
        Topic::Git => ("git", json!(meant.context.git)),
        Topic::State => match free_state(dialect, meant) {
            state @ Value::Object(_) => ("state", state),
            _ => return None,
        },
    })
}

/// The data of phases that is nowhere in a document, by phase.
fn pages(dialect: Dialect, meant: &Checkpoint, said: &Checkpoint) -> Option<Map<String, Value>> {
    let mut untold = untold_data(said, meant, dialect);
    if Homes::are_untold(dialect) {
        // What all phases found out is told in one place; only whose it is may be missing.
        let all: Map<String, Value> = said.content.phases.iter().flat_map(data).collect();
        untold.retain(|(_, data)| data.iter().any(|(key, value)| all.get(key) != Some(value)));
    }
    let pages = untold.into_iter().map(|(id, data)| (id.to_string(), data.into()));
    Some(pages.collect::<Map<_, _>>()).filter(|pages| !pages.is_empty())
}

fn approval(phase: &Phase) -> Value {
    let given = phase.approval.as_ref();
    json!({
        "phase": phase.id,
        "approved_at": given.and_then(|approval| approval.approved_at),
        "approved_by": given.and_then(|approval| approval.approved_by.as_ref()),
    })
}

#[cfg(test)]
mod tests;
