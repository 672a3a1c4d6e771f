//! Putting one workflow right.

use std::collections::BTreeSet;

use super::{Repair, RepairAction};
use crate::core::change::{Stamp, successor};
use crate::core::checkpoint::Checkpoint;
use crate::core::finding::Severity;
use crate::core::format::Unusable;
use crate::core::selector::Handle;
use crate::core::store::append::Decision;
use crate::core::store::bundle::BadBundle;
use crate::core::store::disk::Disk;
use crate::core::store::error::{Error, Result};
use crate::core::store::layout;
use crate::core::store::open::Store;
use crate::core::store::verify::{Inspection, Slot, Walk};
use crate::core::trigger::Trigger;
use crate::core::workflow_id::WorkflowId;

/// A number so far above all others was never given out.
const FARTHEST: u64 = 1000;

const CONTINUED: &str = "repaired: continues the newest checkpoint that could be used";
const BEGUN: &str = "repaired: no checkpoint before this one could be used";

impl<D: Disk> Store<D> {
    pub(super) fn repair_workflow(
        &self,
        workflow: &WorkflowId,
        stamp: &Stamp,
        walk: &mut Walk<'_>,
        done: &mut Vec<Repair>,
    ) -> Result<()> {
        // Something else stands in its place, and is not to be moved this time.
        let Ok(dir) = self.open_workflow(workflow) else { return Ok(()) };
        let inspection = self.inspect(workflow, walk)?;
        if inspection.is_partial {
            return Ok(());
        }
        if let (Some(dir), Some(seq)) = (&dir, never_given_out(&inspection)) {
            return self.quarantine_number(dir, &Handle::new(workflow, seq), done);
        }
        // The next pass goes on from there.
        if let Some(newest) = inspection.absent.last() {
            let dir = match dir {
                Some(dir) => dir,
                None => {
                    self.create()?;
                    self.make_workflow(workflow)?;
                    let Some(dir) = self.open_workflow(workflow)? else { return Ok(()) };
                    self.sync_above(workflow)?;
                    dir
                }
            };
            let newest = inspection.numbers.keys().last().max(Some(newest)).copied().unwrap_or_default();
            self.rebuild(&dir, workflow, newest, &stamp.save_id)?;
            let handle = Handle::new(workflow, newest);
            let path = self.checkpoint_path(&handle);
            done.push(Repair { action: RepairAction::Restored, path, to: None, handle: Some(handle) });
            return Ok(());
        }
        // The next pass goes on from there: the newest one that can be used may be among them.
        if let Some(dir) = &dir
            && self.restore_held(dir, workflow, stamp, &inspection, done)?
        {
            return Ok(());
        }
        // Before anything else is moved: from here on the newest one can be used, whatever happens.
        if self.needs_base(workflow, dir.as_ref(), &inspection) {
            self.append_base(workflow, stamp, &inspection, done)?;
        }
        if let Some(dir) = &dir {
            self.repair_numbers(dir, workflow, stamp, &inspection, done)?;
            for name in &inspection.strays {
                let path = self.workflow_dir(workflow);
                self.quarantine(dir, &path, name, Some(&workflow.directory()), name, None, done)?;
            }
        }
        let Ok(Some(archive)) = self.open_archive(workflow) else { return Ok(()) };
        let bundles = inspection.bad_bundles.iter().map(ToString::to_string);
        for name in bundles.chain(inspection.archive_strays.iter().cloned()) {
            let path = self.archive_dir(workflow);
            self.quarantine(&archive, &path, &name, Some(&workflow.directory()), &name, None, done)?;
        }
        Ok(())
    }

    /// Puts the exact bytes that bundles hold in the place of damaged files; true if there were any.
    fn restore_held(
        &self,
        dir: &D::Dir,
        workflow: &WorkflowId,
        stamp: &Stamp,
        inspection: &Inspection,
        done: &mut Vec<Repair>,
    ) -> Result<bool> {
        let before = done.len();
        for (seq, _) in damaged(inspection).filter(|(seq, _)| is_held(inspection, *seq)) {
            let handle = Handle::new(workflow, seq);
            let (_, bytes) = self.find_archived(&handle)?;
            match self.read_bytes(dir, &handle) {
                // The good bytes take its place in one step: whenever this is stopped, the next repair sees it through.
                Ok(damaged) => {
                    self.quarantine_copy(&handle, &damaged, stamp, done)?;
                    self.overwrite(dir, &handle, &bytes, &stamp.save_id)?;
                }
                // What is no file can only be moved.
                Err(_) => {
                    self.quarantine_number(dir, &handle, done)?;
                    self.publish_file(dir, &handle, &bytes, &stamp.save_id)?;
                }
            }
            self.sync_workflow(dir, workflow)?;
            let path = self.checkpoint_path(&handle);
            done.push(Repair { action: RepairAction::Restored, path, to: None, handle: Some(handle) });
        }
        Ok(done.len() > before)
    }

    /// Moves away the damaged files that no bundle holds, and has every number taken.
    fn repair_numbers(
        &self,
        dir: &D::Dir,
        workflow: &WorkflowId,
        stamp: &Stamp,
        inspection: &Inspection,
        done: &mut Vec<Repair>,
    ) -> Result<()> {
        let mut lost: BTreeSet<u64> = inspection.lost.iter().copied().collect();
        for (seq, why) in damaged(inspection) {
            // An empty file has nothing to keep.
            if *why != Unusable::Empty {
                self.quarantine_number(dir, &Handle::new(workflow, seq), done)?;
            }
            lost.insert(seq);
        }
        let mut ranges = inspection.missing.clone();
        ranges.extend(lost.iter().map(|seq| (*seq, *seq)));
        self.note_missing(dir, workflow, ranges, stamp, done)?;
        self.sync_workflow(dir, workflow)
    }

    /// Notes that these numbers are gone, and gives them a tombstone each.
    fn note_missing(
        &self,
        dir: &D::Dir,
        workflow: &WorkflowId,
        ranges: Vec<(u64, u64)>,
        stamp: &Stamp,
        done: &mut Vec<Repair>,
    ) -> Result<()> {
        for (first, last) in joined(ranges) {
            // Unless that would be more than anybody can have lost.
            for seq in (first..=last).take(usize::try_from(FARTHEST).unwrap_or_default()) {
                self.publish_file(dir, &Handle::new(workflow, seq), b"", &stamp.save_id)?;
            }
            self.sync_workflow(dir, workflow)?;
            let why = format!("lost or damaged when the store was repaired on {}", stamp.now);
            self.note_gone(workflow, (first, last), &why, &stamp.save_id)?;
            let handle = Handle::new(workflow, first);
            let path = self.checkpoint_path(&handle);
            done.push(Repair { action: RepairAction::Noted, path, to: None, handle: Some(handle) });
        }
        Ok(())
    }

    fn quarantine_number(&self, dir: &D::Dir, handle: &Handle, done: &mut Vec<Repair>) -> Result<()> {
        let name = layout::checkpoint_file(handle.seq);
        let below = handle.workflow.directory();
        let path = self.workflow_dir(&handle.workflow);
        self.quarantine(dir, &path, &name, Some(&below), &name, Some(handle), done)
    }

    /// Whether a save could not go on, and no bundle has what is missing.
    fn needs_base(&self, workflow: &WorkflowId, dir: Option<&D::Dir>, inspection: &Inspection) -> bool {
        match inspection.numbers.last_key_value() {
            Some((newest, Slot::Damaged(why))) => is_movable(why) && !is_held(inspection, *newest),
            _ => matches!(
                self.obstacle(workflow, dir, inspection),
                Some((Severity::Blocker, error)) if !may_pass(&error)
            ),
        }
    }

    /// Adds a checkpoint on top that continues the newest one that can be used.
    fn append_base(
        &self,
        workflow: &WorkflowId,
        stamp: &Stamp,
        inspection: &Inspection,
        done: &mut Vec<Repair>,
    ) -> Result<()> {
        let usable = self.newest_usable(workflow, inspection)?;
        let appended = self.append_at(workflow, &stamp.save_id, |dir, newest| {
            let top = newest.unwrap_or_default();
            if matches!(self.base(dir, workflow, newest), Ok(Some(_))) {
                return Ok(Decision::Keep(()));
            }
            let note = if usable.is_some() { CONTINUED } else { BEGUN };
            let mut next = successor(workflow, usable.clone(), stamp);
            next.seq = top.saturating_add(1);
            next.trigger = Trigger::Manual;
            next.note = Some(note.to_owned());
            Ok(Decision::Write(next))
        })?;
        if let Decision::Write(checkpoint) = appended {
            let handle = checkpoint.handle();
            let path = self.checkpoint_path(&handle);
            done.push(Repair { action: RepairAction::Continued, path, to: None, handle: Some(handle) });
        }
        Ok(())
    }

    /// The newest checkpoint that can be used, live or archived. Of a workflow whose content is lost, what a seal
    /// knows.
    fn newest_usable(
        &self,
        workflow: &WorkflowId,
        inspection: &Inspection,
    ) -> Result<Option<Box<Checkpoint>>> {
        let known: BTreeSet<u64> = inspection.numbers.keys().chain(inspection.held.keys()).copied().collect();
        let mut seal = None;
        for seq in known.into_iter().rev() {
            let Some(facts) = inspection.facts(seq) else { continue };
            let handle = Handle::new(workflow, seq);
            match self.content(handle.clone()) {
                // Above a seal it is the seal that is continued, with the content of what it closes.
                Ok(mut content) => {
                    content.seq = seq;
                    content.sha256 = facts.sha256;
                    return Ok(Some(content));
                }
                Err(error) if may_pass(&error) => return Err(error),
                Err(_) if seal.is_none() => seal = Some(self.load(&handle)?.checkpoint),
                Err(_) => {}
            }
        }
        Ok(seal)
    }
}

/// Whether the disk is to blame, and not what is on it.
fn may_pass(error: &Error) -> bool {
    matches!(error, Error::Io { .. } | Error::DamagedBundle { why: BadBundle::Unreadable(_), .. })
}

/// The damaged files that can be moved.
fn damaged(inspection: &Inspection) -> impl Iterator<Item = (u64, &Unusable)> {
    inspection.numbers.iter().filter_map(|(seq, slot)| match slot {
        Slot::Damaged(why) if is_movable(why) => Some((*seq, why)),
        _ => None,
    })
}

/// Whether a bundle holds a number whole.
fn is_held(inspection: &Inspection, seq: u64) -> bool {
    matches!(inspection.held.get(&seq), Some(Some(_)))
}

/// Whether a file is damaged for good. What cannot be read may be as whole as ever.
fn is_movable(why: &Unusable) -> bool {
    !matches!(why, Unusable::Unreadable(_) | Unusable::Newer(_) | Unusable::Missing)
}

/// A damaged file whose number cannot have been given out, because it is far above all others.
fn never_given_out(inspection: &Inspection) -> Option<u64> {
    let (top, slot) = inspection.numbers.last_key_value()?;
    let below = inspection.numbers.range(..top).next_back().map(|(seq, _)| *seq);
    let archived = inspection.held.last_key_value().map(|(seq, _)| *seq);
    let far = top.saturating_sub(below.max(archived).unwrap_or_default()) > FARTHEST;
    matches!(slot, Slot::Damaged(why) if far && is_movable(why)).then_some(*top)
}

/// The same numbers in as few ranges as possible.
fn joined(mut ranges: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    ranges.sort_unstable();
    let mut joined: Vec<(u64, u64)> = Vec::new();
    for (first, last) in ranges {
        match joined.last_mut() {
            Some((_, end)) if first <= end.saturating_add(1) => *end = last.max(*end),
            _ => joined.push((first, last)),
        }
    }
    joined
}
