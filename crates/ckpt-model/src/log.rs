//! The changes of each save of a workflow, in short: which entries, and their new status. [`diff`](super::diff) has the
//! values.

use std::collections::HashMap;

use serde::Serialize;

use super::checkpoint::{Checkpoint, Content};
use super::diff::ChangeKind;
use super::phase::Phase;
use super::progress::durations;
use super::task::Task;

/// One thing that a save changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LogChange {
    /// The field of the checkpoint: `phases`, `labels`, `state`.
    pub field: String,
    /// The entry, where entries have names: the id of a phase or task, the name of an artifact.
    pub name: Option<String>,
    /// The kind of change.
    pub change: ChangeKind,
    /// The new status of a workflow, phase or task, if that changed.
    pub status: Option<&'static str>,
    /// The time that a phase took, if it ended with this save.
    pub duration_seconds: Option<u64>,
}

impl LogChange {
    fn new(field: &str, change: ChangeKind) -> Self {
        Self { field: field.to_owned(), name: None, change, status: None, duration_seconds: None }
    }

    fn named(self, name: &str) -> Self {
        Self { name: Some(name.to_owned()), ..self }
    }
}

/// Returns what a save changed in the content of the checkpoint before it; of the first one, everything is new.
#[must_use]
pub fn changes(before: Option<&Content>, saved: &Checkpoint) -> Vec<LogChange> {
    let nothing = Content::default();
    let (old, new) = (before.unwrap_or(&nothing), &saved.content);
    let mut log = Vec::new();
    if old.status != new.status {
        let status = Some(new.status.word());
        log.push(LogChange { status, ..LogChange::new("status", ChangeKind::Changed) });
    }
    log.extend(optional("phase", old.phase.as_ref(), new.phase.as_ref()));
    log.extend(optional("next", old.next.as_ref(), new.next.as_ref()));
    log.extend(optional("title", old.title.as_ref(), new.title.as_ref()));
    log.extend(entries("labels", &old.labels, &new.labels, |label| label, |_| None));
    log.extend(optional("pipeline", old.pipeline.as_ref(), new.pipeline.as_ref()));
    log.extend(phases(old, saved));
    let status = |task: &Task| Some(task.status.word());
    log.extend(entries("tasks", &old.tasks, &new.tasks, |task| task.id.as_str(), status));
    log.extend(entries("artifacts", &old.artifacts, &new.artifacts, |artifact| &artifact.name, |_| None));
    log.extend(entries("facts", &old.facts, &new.facts, |fact| fact.name.as_str(), |_| None));
    for replan in new.replans.iter().skip(old.replans.len()) {
        log.push(LogChange::new("replans", ChangeKind::Added).named(replan.phase.as_str()));
    }
    log.extend(optional("last_error", old.last_error.as_ref(), new.last_error.as_ref()));
    if old.state != new.state {
        log.push(LogChange::new("state", ChangeKind::Changed));
    }
    let added = new.extra.names().filter(|name| old.extra.get(name).is_none());
    for name in old.extra.names().chain(added) {
        log.extend(optional(name, old.extra.get(name), new.extra.get(name)));
    }
    log
}

fn phases(old: &Content, saved: &Checkpoint) -> Vec<LogChange> {
    let new = &saved.content;
    let status = |phase: &Phase| Some(phase.status.word());
    let mut log = entries("phases", &old.phases, &new.phases, |phase| phase.id.as_str(), status);
    if log.iter().all(|change| change.status.is_none()) {
        return log;
    }
    let durations: HashMap<&str, u64> = new
        .phases
        .iter()
        .zip(durations(saved))
        .filter_map(|(phase, duration)| Some((phase.id.as_str(), duration?)))
        .collect();
    for change in log.iter_mut().filter(|change| change.status.is_some()) {
        change.duration_seconds = change.name.as_deref().and_then(|name| durations.get(name)).copied();
    }
    log
}

fn optional<T: PartialEq>(field: &str, old: Option<T>, new: Option<T>) -> Option<LogChange> {
    let change = match (old, new) {
        (None, None) => return None,
        (Some(old), Some(new)) if old == new => return None,
        (Some(_), Some(_)) => ChangeKind::Changed,
        (Some(_), None) => ChangeKind::Removed,
        (None, Some(_)) => ChangeKind::Added,
    };
    Some(LogChange::new(field, change))
}

/// Compares two lists by the names of their entries.
fn entries<'a, T: PartialEq>(
    field: &str,
    old: &'a [T],
    new: &'a [T],
    name: impl Fn(&'a T) -> &'a str,
    status: impl Fn(&T) -> Option<&'static str>,
) -> Vec<LogChange> {
    let mut log = Vec::new();
    // Most saves change one list or none.
    if old == new {
        return log;
    }
    let change = |entry, kind| LogChange::new(field, kind).named(name(entry));
    let mut rest: HashMap<&str, &T> = old.iter().map(|entry| (name(entry), entry)).collect();
    for entry in new {
        match rest.remove(name(entry)) {
            None => log.push(LogChange { status: status(entry), ..change(entry, ChangeKind::Added) }),
            Some(before) if before != entry => {
                let status = if status(before) == status(entry) { None } else { status(entry) };
                log.push(LogChange { status, ..change(entry, ChangeKind::Changed) });
            }
            Some(_) => {}
        }
    }
    let removed = old.iter().filter(|entry| rest.contains_key(name(entry)));
    log.extend(removed.map(|entry| change(entry, ChangeKind::Removed)));
    if log.is_empty() {
        log.push(LogChange::new(field, ChangeKind::Reordered));
    }
    log
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn checkpoint(content: &Value) -> Checkpoint {
        let mut document = json!({
            "version": "1.0", "sha256": "0".repeat(64), "workflow": "w", "seq": 1,
            "saved_at": "2026-01-30T14:30:00.000Z", "trigger": "manual", "status": "in_progress", "save_id": "s",
        });
        document.as_object_mut().unwrap().extend(content.as_object().unwrap().clone());
        serde_json::from_value(document).unwrap()
    }

    /// `field name change status`
    fn lines(before: &Value, after: &Value) -> Vec<String> {
        let line = |change: &LogChange| {
            let kind = serde_json::to_value(change.change).unwrap();
            let [name, status] = [change.name.as_deref(), change.status].map(Option::unwrap_or_default);
            format!("{} {name} {} {status}", change.field, kind.as_str().unwrap()).trim_end().to_owned()
        };
        changes(Some(&checkpoint(before).content), &checkpoint(after)).iter().map(line).collect()
    }

    #[test]
    fn every_field_of_the_content_is_compared() {
        let after = json!({
            "status": "failed", "phase": "p", "next": {"phase": "q", "action": null}, "title": "t", "labels": ["l"],
            "pipeline": "x", "phases": [{"id": "p", "status": "complete"}], "tasks": [{"id": "t", "status": "running"}],
            "artifacts": [{"name": "a", "path": "a", "size": null, "sha256": null}],
            "facts": [{"name": "f", "document": 1}],
            "replans": [{"phase": "p", "at": "2026-01-30T14:30:00.000Z"}],
            "last_error": {"message": "m", "phase": null, "at": "2026-01-30T14:30:00.000Z"}, "state": {"n": 1}, "mine": 1,
        });
        let all = lines(&json!({}), &after);
        for field in Content::FIELDS {
            assert!(all.iter().any(|line| line.split(' ').next() == Some(field)), "{field}: {all:?}");
        }
        assert!(all.contains(&"mine  added".to_owned()), "{all:?}");
        assert_eq!(lines(&after, &after), Vec::<String>::new());
        assert!(lines(&after, &json!({})).contains(&"tasks t removed".to_owned()));
    }

    #[test]
    fn the_new_status_is_given_only_if_it_changed() {
        let tasks = |a: &str, attempts: u32| json!({"tasks": [{"id": "a", "status": a, "attempts": attempts}]});
        assert_eq!(lines(&tasks("running", 1), &tasks("failed", 1)), ["tasks a changed failed"]);
        assert_eq!(lines(&tasks("failed", 1), &tasks("failed", 2)), ["tasks a changed"]);
    }

    #[test]
    fn another_order_is_a_change() {
        let labels = |labels: [&str; 2]| json!({"labels": labels});
        assert_eq!(lines(&labels(["a", "b"]), &labels(["b", "a"])), ["labels  reordered"]);
    }
}
