//! Repairing one workflow.

use std::collections::BTreeSet;

use super::quarantine::Quarantined;
use super::{Repair, RepairAction};
use crate::append::Decision;
use crate::bundle::BadBundle;
use crate::deletion::{Range, joined};
use crate::disk::Disk;
use crate::error::{Error, Result};
use crate::head::writable;
use crate::layout;
use crate::open::Store;
use crate::verify::{Inspection, Slot, Walk};
use crate::workflow::{Entry, Workflow};
use ckpt_model::change::{Stamp, next_checkpoint};
use ckpt_model::checkpoint::Checkpoint;
use ckpt_model::finding::Severity;
use ckpt_model::format::Unusable;
use ckpt_model::reason::DeletionReason;
use ckpt_model::trigger::Trigger;
use ckpt_model::workflow_id::WorkflowId;

/// An unreadable file whose number is more than this above the next one is a stray file, not the head.
const MAX_GAP: u64 = 1000;

const CONTINUED: &str = "repaired: continues the newest checkpoint that could be used";
const BEGUN: &str = "repaired: no checkpoint before this one could be used";

impl<D: Disk> Store<D> {
    pub(super) fn repair_workflow(
        &self,
        id: &WorkflowId,
        stamp: &Stamp,
        walk: &mut Walk<'_>,
        done: &mut Vec<Repair>,
    ) -> Result<()> {
        // An entry of the wrong type has its name, and was not quarantined this time.
        let Ok(workflow) = self.workflow(id) else { return Ok(()) };
        let inspection = self.inspect_workflow(id, walk)?;
        if inspection.is_partial {
            return Ok(());
        }
        if let Some((seq, why)) = never_taken(&inspection) {
            return workflow.quarantine_damaged(seq, why, done).map(drop);
        }
        // The next pass continues from there.
        if let Some(absent) = inspection.absent.last() {
            let head = inspection.numbers.keys().last().max(Some(absent)).copied().unwrap_or_default();
            let workflow = self.rebuild_workflow(id, head, &stamp.save_id)?;
            done.push(workflow.repaired(RepairAction::Restored, head));
            return Ok(());
        }
        // The next pass continues from there: the newest usable checkpoint may be among them.
        if workflow.restore_held(stamp, &inspection, done)? {
            return Ok(());
        }
        // Before anything else is moved: from here on the head is usable, whatever happens.
        if workflow.needs_head(&inspection) {
            self.append_usable(&workflow, stamp, &inspection, done)?;
        }
        if workflow.dir().is_some() {
            workflow.repair_numbers(stamp, &inspection, done)?;
        }
        workflow.quarantine_strays(&inspection, done)
    }

    /// Adds a checkpoint that continues the newest usable one.
    fn append_usable(
        &self,
        workflow: &Workflow<'_, D>,
        stamp: &Stamp,
        inspection: &Inspection,
        done: &mut Vec<Repair>,
    ) -> Result<()> {
        let usable = workflow.newest_usable(inspection)?;
        let appended = self.append_at(workflow.id, &stamp.save_id, |workflow, head| {
            let number = head.unwrap_or_default();
            let continued = |head| workflow.continued(workflow.read_head(head)?);
            if head.is_some_and(|head| continued(head).is_ok()) {
                return Ok(Decision::Keep(()));
            }
            let note = if usable.is_some() { CONTINUED } else { BEGUN };
            let mut next = next_checkpoint(workflow.id, usable.clone(), stamp);
            next.seq = number.saturating_add(1);
            next.trigger = Trigger::Repair;
            next.note = Some(note.to_owned());
            Ok(Decision::Write(next))
        })?;
        if let Decision::Write(checkpoint) = appended {
            done.push(workflow.repaired(RepairAction::Continued, checkpoint.seq));
        }
        Ok(())
    }
}

impl<D: Disk> Workflow<'_, D> {
    fn repaired(&self, action: RepairAction, seq: u64) -> Repair {
        Repair { action, path: self.file_path(seq), to: None, handle: Some(self.handle(seq)) }
    }

    /// Restores damaged files that bundles hold. Returns true if there were any.
    fn restore_held(&self, stamp: &Stamp, inspection: &Inspection, done: &mut Vec<Repair>) -> Result<bool> {
        let before = done.len();
        for (seq, _) in damaged(inspection).filter(|(seq, _)| is_held(inspection, *seq)) {
            // Another repair was faster.
            if matches!(self.read_entry(seq), Ok(Entry::Checkpoint(_) | Entry::Seal(_))) {
                continue;
            }
            let (_, bytes) = self.archive()?.find(seq)?;
            match self.read_bytes(seq) {
                // The good bytes take its place in one step, so that the next repair can complete this one.
                Ok(damaged) => {
                    self.store.quarantine_copy(&self.handle(seq), &damaged, stamp, done)?;
                    self.replace_file(seq, &bytes, &stamp.save_id)?;
                }
                // An entry that is no file can only be moved.
                Err(_) => {
                    self.quarantine_number(seq, done)?;
                    self.publish_file(seq, &bytes, &stamp.save_id)?;
                }
            }
            self.sync()?;
            done.push(self.repaired(RepairAction::Restored, seq));
        }
        Ok(done.len() > before)
    }

    /// Quarantines the damaged files that no bundle holds, and keeps every number taken.
    fn repair_numbers(&self, stamp: &Stamp, inspection: &Inspection, done: &mut Vec<Repair>) -> Result<()> {
        let mut ranges = inspection.missing.clone();
        ranges.extend(inspection.lost.iter().map(|seq| (*seq, *seq)));
        for (seq, why) in damaged(inspection) {
            if self.quarantine_damaged(seq, why, done)? {
                ranges.push((seq, seq));
            }
        }
        let ranges = joined(ranges);
        let mut content = BTreeSet::new();
        for (first, last) in &ranges {
            // So many cannot have been lost: a file was put far above. A tombstone at the end of the numbers below it is
            // enough for a save to list the directory and find it.
            let end = if last - first < MAX_GAP { *last } else { *first };
            for seq in *first..=end {
                self.publish_file(seq, b"", &stamp.save_id)?;
                if !self.stat(seq).is_ok_and(|stat| stat.is_empty_file()) {
                    content.insert(seq);
                }
            }
        }
        self.sync()?;
        if ranges.is_empty() {
            return Ok(());
        }
        content.extend(self.numbers_with_content()?);
        for (first, last) in without(&ranges, &content) {
            self.store.record_deletion(self.id, (first, last), DeletionReason::Lost, &stamp.save_id)?;
            done.push(self.repaired(RepairAction::Recorded, first));
        }
        Ok(())
    }

    /// Returns the numbers whose content is live or in a bundle. The archive is read last: a number that becomes a
    /// tombstone meanwhile is in a bundle by then.
    fn numbers_with_content(&self) -> Result<BTreeSet<u64>> {
        let mut numbers = self.live_below(u64::MAX)?;
        self.archive()?.each_bundle(|_, bundle| {
            if let Ok(bundle) = bundle {
                numbers.extend(bundle.manifest().entries.iter().map(|entry| entry.seq));
            }
            Ok(())
        })?;
        Ok(numbers)
    }

    /// Quarantines an entry if it is still damaged. An empty file has no content to keep and stays.
    fn quarantine_damaged(&self, seq: u64, why: &Unusable, done: &mut Vec<Repair>) -> Result<bool> {
        let now = match self.read_entry(seq) {
            Ok(Entry::Tombstone) => Unusable::Empty,
            Ok(Entry::Checkpoint(_) | Entry::Seal(_)) => return Ok(false),
            Err(now) => now,
        };
        if now != *why {
            return Ok(false);
        }
        if now != Unusable::Empty {
            self.quarantine_number(seq, done)?;
        }
        Ok(true)
    }

    fn quarantine_number(&self, seq: u64, done: &mut Vec<Repair>) -> Result<()> {
        let Some(dir) = self.dir() else { return Ok(()) };
        let name = &layout::checkpoint_file(seq);
        let from = Quarantined { dir, path: &self.path(), name, handle: Some(&self.handle(seq)) };
        self.store.quarantine(&from, Some(&self.id.directory()), name, done)
    }

    /// Quarantines links, pipes and devices, and bundles that cannot be used.
    fn quarantine_strays(&self, inspection: &Inspection, done: &mut Vec<Repair>) -> Result<()> {
        let below = &self.id.directory();
        if let Some(dir) = self.dir() {
            for name in &inspection.strays {
                let from = Quarantined { dir, path: &self.path(), name, handle: None };
                self.store.quarantine(&from, Some(below), name, done)?;
            }
        }
        let Ok(archive) = self.archive() else { return Ok(()) };
        let Some(dir) = archive.dir() else { return Ok(()) };
        let bundles = inspection.bad_bundles.iter().map(ToString::to_string);
        for name in bundles.chain(inspection.archive_strays.iter().cloned()) {
            let from = Quarantined { dir, path: &archive.path(), name: &name, handle: None };
            self.store.quarantine(&from, Some(below), &name, done)?;
        }
        Ok(())
    }

    /// Returns true if a save could not continue the workflow, and no bundle has what is missing.
    fn needs_head(&self, inspection: &Inspection) -> bool {
        match inspection.numbers.last_key_value() {
            Some((head, Slot::Damaged(why))) => is_movable(why) && !is_held(inspection, *head),
            _ => matches!(
                self.obstacle(inspection),
                Some((Severity::Blocker, error)) if !may_pass(&error)
            ),
        }
    }

    /// Finds the newest usable checkpoint, live or archived. If all content is lost, returns a seal.
    fn newest_usable(&self, inspection: &Inspection) -> Result<Option<Box<Checkpoint>>> {
        let mut seal = None;
        for seq in inspection.all_numbers().into_iter().rev() {
            let Some(facts) = inspection.facts(seq) else { continue };
            match self.store.load_content(self.handle(seq)).and_then(writable) {
                // If it is a seal, the seal is continued with the content of the checkpoint below it.
                Ok(mut content) => {
                    content.seq = seq;
                    content.sha256 = facts.sha256;
                    return Ok(Some(content));
                }
                Err(error) if may_pass(&error) => return Err(error),
                Err(_) if seal.is_none() => seal = Some(self.load(seq)?.checkpoint),
                Err(_) => {}
            }
        }
        Ok(seal)
    }
}

/// Returns true for an error of the disk, which says nothing about the content.
fn may_pass(error: &Error) -> bool {
    matches!(error, Error::Io { .. } | Error::DamagedBundle { why: BadBundle::Unreadable(_), .. })
}

/// Returns the damaged entries that can be moved.
fn damaged(inspection: &Inspection) -> impl Iterator<Item = (u64, &Unusable)> {
    inspection.numbers.iter().filter_map(|(seq, slot)| match slot {
        Slot::Damaged(why) if is_movable(why) => Some((*seq, why)),
        _ => None,
    })
}

/// Returns true if a bundle holds an undamaged checkpoint of a number.
fn is_held(inspection: &Inspection, seq: u64) -> bool {
    matches!(inspection.held.get(&seq), Some(Some(_)))
}

/// Returns true if an entry is damaged for good. One that cannot be read may be undamaged.
fn is_movable(why: &Unusable) -> bool {
    !matches!(why, Unusable::Unreadable(_) | Unusable::Newer(_) | Unusable::Missing)
}

/// Returns the number and the damage of an entry that no save can have taken, because it is far above all others.
fn never_taken(inspection: &Inspection) -> Option<(u64, &Unusable)> {
    let (highest, slot) = inspection.numbers.last_key_value()?;
    let below = inspection.numbers.range(..highest).next_back().map(|(seq, _)| *seq);
    let archived = inspection.held.last_key_value().map(|(seq, _)| *seq);
    let far = highest.saturating_sub(below.max(archived).unwrap_or_default()) > MAX_GAP;
    match slot {
        Slot::Damaged(why) if far && is_movable(why) => Some((*highest, why)),
        _ => None,
    }
}

/// Returns the ranges without some numbers.
fn without(ranges: &[Range], numbers: &BTreeSet<u64>) -> Vec<Range> {
    let mut rest = Vec::new();
    for (first, last) in ranges {
        let mut next = *first;
        for seq in numbers.range(first..=last) {
            if next < *seq {
                rest.push((next, seq - 1));
            }
            next = seq.saturating_add(1);
        }
        if next <= *last {
            rest.push((next, *last));
        }
    }
    rest
}
