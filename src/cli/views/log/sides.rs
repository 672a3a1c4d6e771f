//! Side checkpoints in a log: what other stores have saved under numbers that are taken here.

use std::collections::BTreeSet;

use super::related::newest_first;
use super::{LogBuilder, LogEntry, LogKind, damaged_file};
use ckpt_model::Handle;
use ckpt_model::digest::ShortDigest;
use ckpt_model::log::changes;
use ckpt_store::Store;

/// The names of side checkpoints.
pub(super) type Sides = BTreeSet<(u64, ShortDigest)>;

/// Returns the side checkpoints that belong into a log from a checkpoint down: below the head, all of them. What cannot be
/// listed is left out; `verify` reports it.
pub(super) fn below(store: &Store, first: &Handle) -> Sides {
    let mut sides = store.sides(&first.workflow).unwrap_or_default();
    if !sides.is_empty() && store.head_number(&first.workflow).ok().flatten() != Some(first.seq) {
        sides.retain(|(seq, _)| *seq < first.seq);
    }
    sides
}

impl LogBuilder<'_> {
    /// Adds the side checkpoints, each above what it continues.
    pub(super) fn add_sides(&mut self) {
        if self.sides.is_empty() {
            return;
        }
        for (seq, digest) in &self.sides {
            let handle = Handle::side(&self.report.workflow, *seq, *digest);
            let entry = match self.store.load(&handle) {
                Ok(stored) => LogEntry::new(&handle, &stored, &self.sides),
                Err(error) => {
                    self.report.damaged.push(damaged_file(&handle, &error, self.store));
                    LogEntry::unread(handle, LogKind::Damaged, None)
                }
            };
            self.report.entries.push(entry);
        }
        let report = &mut self.report;
        // What these continue is not the number below them; below a merge of heads there may be a filler.
        for entry in &mut report.entries {
            let Some(saved) = entry.saved.as_mut().filter(|saved| saved.changes.is_none()) else { continue };
            let Some(parent) = entry.parents.first().and_then(|parent| self.store.load(parent).ok()) else {
                continue;
            };
            if let Ok(stored) = self.store.load(&entry.handle) {
                let elapsed = saved.saved_at.seconds_since(parent.checkpoint.saved_at);
                saved.elapsed_seconds = u64::try_from(elapsed).ok();
                saved.changes = Some(changes(Some(&parent.checkpoint.content), &stored.checkpoint));
            }
        }
        report.total = report.total.saturating_add(self.sides.len() as u64);
        report.entries = newest_first(std::mem::take(&mut report.entries));
        report.truncated |= report.entries.len() > self.limit;
        report.entries.truncate(self.limit);
    }
}
