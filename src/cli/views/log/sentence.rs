//! The words for one line of the log.

use super::{LogEntry, LogKind, SavedEntry};
use crate::cli::escape;
use crate::cli::words::count;
use ckpt_model::diff::ChangeKind;
use ckpt_model::log::LogChange;
use ckpt_model::span::humane;
use ckpt_model::{Handle, Trigger};
use ckpt_store::DeletionReason;

/// How many phases or tasks are named; more are counted.
const MOST_NAMES: usize = 3;

/// Returns one line about an entry, safe to show. A deleted range goes down to `oldest`.
pub(super) fn of(entry: &LogEntry, oldest: &Handle) -> String {
    match (entry.kind, &entry.saved) {
        (LogKind::Damaged, _) => "damaged".to_owned(),
        (_, Some(saved)) => about_save(saved, entry.deleted),
        (_, None) => {
            let word = entry.deleted.map_or("archived, but in no bundle", DeletionReason::word);
            if *oldest == entry.handle { word.to_owned() } else { format!("{word}, down to {oldest}") }
        }
    }
}

fn about_save(saved: &SavedEntry, deleted: Option<DeletionReason>) -> String {
    let mut phrases = Vec::new();
    if let Some(reason) = &saved.archived_as {
        phrases.push(format!("archived as {}", escape::inline(reason.word())));
        phrases.extend(deleted.map(|reason| reason.word().to_owned()));
    } else if let Some(earlier) = &saved.copy_of {
        phrases.push(format!("rolled back to {earlier}"));
    } else if let Some(origin) = &saved.forked_from {
        phrases.push(format!("forked from {origin}"));
    } else if saved.trigger == Trigger::Restart {
        phrases.push("started over".to_owned());
    } else {
        match saved.trigger {
            Trigger::Restore => phrases.push("restored".to_owned()),
            Trigger::Repair => phrases.push("repaired".to_owned()),
            Trigger::UserInterrupt => phrases.push("interrupted".to_owned()),
            _ => {}
        }
        if let Some(other) = &saved.merged {
            phrases.push(format!("merged {other}"));
        }
        if let Some(file) = &saved.imported_from {
            phrases.push(format!("imported from {}", escape::inline(file)));
        }
        match &saved.changes {
            Some(changes) => phrases.extend(about_changes(changes, saved.error.as_deref())),
            None => phrases.push("changes unknown".to_owned()),
        }
    }
    if saved.pinned {
        phrases.push("pinned".to_owned());
    }
    let phrases = phrases.join(", ");
    match &saved.note {
        Some(note) if phrases.is_empty() => escape::quoted(note),
        Some(note) => format!("{phrases}  {}", escape::quoted(note)),
        None if phrases.is_empty() => "no change".to_owned(),
        None => phrases,
    }
}

fn about_changes(changes: &[LogChange], error: Option<&str>) -> Vec<String> {
    let of = |field: &'static str| changes.iter().filter(move |change| change.field == field);
    let mut phrases = Vec::new();
    let is_declaration = of("pipeline").next().is_some();
    let declared =
        if is_declaration { of("phases").filter(|change| change.change == ChangeKind::Added).count() } else { 0 };
    if declared > 0 {
        phrases.push(count(declared, "phase"));
    }
    let replans: Vec<_> = of("replans").filter_map(|change| change.name.as_deref()).collect();
    phrases.extend(replans.iter().map(|phase| format!("reopened from {}", escape::name(phase))));
    // A declared phase has not begun, and reopening a phase reopens those behind it.
    let is_expected = is_declaration || !replans.is_empty();
    let moved = of("phases").filter(|change| !(is_expected && change.status == Some("pending")));
    let has_moved = moved.clone().any(|change| change.status.is_some());
    phrases.extend(by_word(moved, "phase", ""));
    let failed = phrases.last_mut().filter(|phrase| phrase.contains(" failed"));
    match (error, failed) {
        (Some(error), Some(phrase)) => phrase.push_str(&format!(": {}", escape::inline(error))),
        (Some(error), None) => phrases.push(format!("error: {}", escape::inline(error))),
        (None, _) => {}
    }
    phrases.extend(by_word(of("tasks"), "task", "task "));
    phrases.extend(by_word(of("artifacts"), "artifact", "artifact "));
    phrases.extend(by_word(of("facts"), "fact", "fact "));
    phrases.extend(by_word(of("labels"), "label", "label "));
    for change in changes {
        match (change.field.as_str(), change.status) {
            ("status", Some("in_progress")) => phrases.push("workflow reopened".to_owned()),
            ("status", Some(status)) => phrases.push(format!("workflow {status}")),
            ("phases" | "tasks" | "artifacts" | "facts" | "labels" | "replans" | "last_error" | "phase", _) => {}
            ("next", _) if has_moved => {}
            ("pipeline", _) if declared > 0 => {}
            (field, _) => phrases.push(escape::inline(field).into_owned()),
        }
    }
    phrases
}

/// Says what happened to the entries of a list: `plan done in 5m 00s`, `7 tasks started`.
fn by_word<'a>(changes: impl Iterator<Item = &'a LogChange>, noun: &str, label: &str) -> Vec<String> {
    let mut words: Vec<(&'static str, Vec<&LogChange>)> = Vec::new();
    for change in changes {
        let word = word(change);
        match words.iter_mut().find(|(other, _)| *other == word) {
            Some((_, list)) => list.push(change),
            None => words.push((word, vec![change])),
        }
    }
    let mut phrases = Vec::new();
    for (word, list) in words {
        if list.len() > MOST_NAMES {
            phrases.push(format!("{} {word}", count(list.len(), noun)));
            continue;
        }
        for change in list {
            let name = change.name.as_deref().map_or_else(|| format!("{noun}s"), escape::name);
            let duration = change.duration_seconds.map(|seconds| format!(" in {}", humane(seconds)));
            phrases.push(format!("{label}{name} {word}{}", duration.unwrap_or_default()));
        }
    }
    phrases
}

fn word(change: &LogChange) -> &'static str {
    match (change.change, change.status) {
        (_, Some("in_progress" | "running")) => "started",
        (_, Some("complete")) => "done",
        (_, Some("failed")) => "failed",
        (_, Some("skipped")) => "skipped",
        (ChangeKind::Added, _) => "added",
        (ChangeKind::Removed, _) => "removed",
        (ChangeKind::Reordered, _) => "reordered",
        (ChangeKind::Changed, Some(_)) => "reopened",
        (ChangeKind::Changed, None) => "changed",
    }
}
