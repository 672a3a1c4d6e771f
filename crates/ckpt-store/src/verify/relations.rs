//! Checking how the checkpoints of a workflow relate to each other and to the archive.

use std::collections::BTreeMap;

use super::finding::{LOOK, REPAIR, Walk};
use super::workflow::{Inspection, Slot};
use crate::deletion::{Range, count};
use crate::disk::Disk;
use crate::error::{Error, Result};
use crate::workflow::Workflow;
use ckpt_model::digest::Digest;
use ckpt_model::finding::{Code, Severity};

const PUT_BACK: &str = "`ckpt verify --repair` takes the numbers again";

impl<D: Disk> Workflow<'_, D> {
    pub(super) fn relate(&self, walk: &mut Walk<'_>, inspection: &mut Inspection) {
        self.relate_numbers(walk, inspection);
        self.relate_parents(walk, inspection);
        self.relate_save_ids(walk, inspection);
        self.relate_seals(walk, inspection);
        self.relate_head(walk, inspection);
    }

    /// Checks that numbers have no gaps, and that every tombstone has its content in the archive or a deletion record.
    fn relate_numbers(&self, walk: &mut Walk<'_>, inspection: &mut Inspection) {
        let known =
            |inspection: &Inspection, seq: u64| inspection.held.contains_key(&seq) || inspection.is_deleted(seq);
        let mut expected = 1;
        let (mut missing, mut lost) = (Vec::new(), Vec::new());
        for (seq, slot) in &inspection.numbers {
            missing.extend(unknown(expected, *seq, inspection));
            expected = seq.saturating_add(1);
            if matches!(slot, Slot::Tombstone) && !known(inspection, *seq) {
                lost.push(*seq);
            }
        }
        // If files were removed by hand, the archive may hold higher numbers.
        if let Some((top, _)) = inspection.held.last_key_value().filter(|(top, _)| **top >= expected) {
            missing.extend(unknown(expected, top.saturating_add(1), inspection));
        }
        for (first, last) in &missing {
            let handle = self.handle(*first);
            let message = if first == last {
                "is missing, although newer checkpoints exist".to_owned()
            } else {
                format!("is missing, and so is every number up to {last}")
            };
            let here = (&handle, self.file_path(*first));
            walk.about(Severity::Blocker, Code::Missing, here, message, Some(REPAIR));
        }
        let absent: Vec<u64> =
            inspection.held.keys().filter(|seq| !inspection.numbers.contains_key(seq)).copied().collect();
        if let (Some(first), Some(last)) = (absent.first(), absent.last()) {
            let handle = self.handle(*last);
            let here = (&handle, self.file_path(*last));
            let message = match absent.len() {
                1 => "was removed from the live store; the archive holds it".to_owned(),
                many => {
                    format!(
                        "and {} below it down to {first} were removed from the live store; the archive holds them",
                        many - 1
                    )
                }
            };
            walk.about(Severity::Advice, Code::Removed, here, message, Some(PUT_BACK));
        }
        for seq in &lost {
            let handle = self.handle(*seq);
            let here = (&handle, self.file_path(*seq));
            walk.about(Severity::Blocker, Code::Lost, here, "is archived, but no bundle holds it", Some(REPAIR));
        }
        let recorded = count(inspection.deleted.clone());
        if recorded > 0 {
            let message = match recorded {
                1 => "records 1 number whose content was deleted or lost".to_owned(),
                _ => format!("records {recorded} numbers whose content was deleted or lost"),
            };
            walk.add(Severity::Info, Code::Deleted, self.store.archive_dir(self.id), message, None);
        }
        (inspection.missing, inspection.lost, inspection.absent) = (missing, lost, absent);
    }

    /// Checks that each checkpoint names the one before it as its parent, with its digest.
    fn relate_parents(&self, walk: &mut Walk<'_>, inspection: &Inspection) {
        let numbers = inspection.all_numbers();
        let usable = |seq: u64| inspection.facts(seq).is_some();
        for seq in numbers.iter().copied() {
            let Some(facts) = inspection.facts(seq) else { continue };
            // A merge of heads continues two checkpoints, one of which is on the main line of this store.
            let is_here =
                |(seq, sha256): &(u64, Digest)| inspection.facts(*seq).is_some_and(|found| found.sha256 == *sha256);
            let is_parent_here = facts.parent.as_ref().is_some_and(is_here);
            let other = if is_parent_here { None } else { facts.other_head.filter(is_here) };
            let parent = other.or(facts.parent);
            let complaint = match parent {
                None if seq > 1 && facts.sealed.is_none() && usable(seq - 1) => {
                    Some("says that nothing is before it".to_owned())
                }
                None => None,
                Some((parent, _)) if parent >= seq => Some(format!("says that it continues {parent}")),
                Some((parent, sha256)) => match inspection.facts(parent) {
                    Some(found) if found.sha256 != sha256 => {
                        Some(format!("continues another {} than the one that is there", self.handle(parent)))
                    }
                    // The checkpoints between them were damaged when the store was repaired.
                    _ if numbers.range(parent + 1..seq).copied().any(usable) => {
                        Some(format!("says that it continues {parent}"))
                    }
                    _ => None,
                },
            };
            if let Some(message) = complaint {
                let handle = self.handle(seq);
                let here = (&handle, self.file_path(seq));
                walk.about(Severity::Blocker, Code::Parent, here, message, Some(LOOK));
            }
        }
    }

    /// Checks that no two checkpoints have the same save id. A seal may share it with the checkpoint above it.
    fn relate_save_ids(&self, walk: &mut Walk<'_>, inspection: &Inspection) {
        let mut seen: BTreeMap<&str, u64> = BTreeMap::new();
        for seq in inspection.all_numbers() {
            let Some(facts) = inspection.facts(seq).filter(|facts| facts.sealed.is_none()) else { continue };
            if let Some(first) = seen.insert(&facts.save_id, seq) {
                let handle = self.handle(seq);
                let message = format!("has the save id of {}", self.handle(first));
                let here = (&handle, self.file_path(seq));
                walk.about(Severity::Blocker, Code::DuplicateSaveId, here, message, Some(LOOK));
            }
        }
    }

    /// Checks that each seal closes the number below it.
    fn relate_seals(&self, walk: &mut Walk<'_>, inspection: &Inspection) {
        for (seq, slot) in &inspection.numbers {
            let Slot::Good(facts) = slot else { continue };
            let Some(sealed) = &facts.sealed else { continue };
            if sealed.last.checked_add(1) != Some(*seq) {
                let handle = self.handle(*seq);
                let here = (&handle, self.file_path(*seq));
                let message = "is a seal that does not fit what it closes";
                walk.about(Severity::Blocker, Code::Seal, here, message, Some(LOOK));
            }
        }
    }

    /// Checks that a save can continue the head.
    fn relate_head(&self, walk: &mut Walk<'_>, inspection: &Inspection) {
        if let Some((severity, error)) = self.obstacle(inspection) {
            let message = format!("cannot be continued: {error}");
            walk.add(severity, Code::NotContinuable, self.path(), message, Some(REPAIR));
        }
    }

    /// Fails if a save could not continue the head.
    fn check_continuable(&self) -> Result<()> {
        if let Some(head) = self.head_number()? {
            self.continued(self.read_head(head)?)?;
        }
        Ok(())
    }

    /// Returns why a save cannot continue the head, unless the head itself is damaged.
    pub(crate) fn obstacle(&self, inspection: &Inspection) -> Option<(Severity, Error)> {
        let newest = inspection.numbers.last_key_value();
        if matches!(newest, Some((_, Slot::Damaged(_) | Slot::Newer))) {
            return None;
        }
        let error = self.check_continuable().err()?;
        let severity = match &error {
            // A newer version can continue it; and what was deleted on purpose is not missing.
            Error::NewerFormat { .. } => Severity::Info,
            Error::Archived { handle, .. } if inspection.is_deleted(handle.seq) => Severity::Info,
            Error::Damaged { handle, .. } if matches!(inspection.held.get(&handle.seq), Some(None)) => Severity::Advice,
            _ => Severity::Blocker,
        };
        Some((severity, error))
    }
}

/// Returns the ranges from `next` up to but excluding `end` that are neither archived nor recorded as deleted.
fn unknown(mut next: u64, end: u64, inspection: &Inspection) -> Vec<Range> {
    let held = inspection.held.range(next..end).map(|(seq, _)| (*seq, *seq));
    let mut known: Vec<Range> = held.chain(inspection.deleted.iter().copied()).collect();
    known.sort_unstable();
    let mut unknown = Vec::new();
    for (first, last) in known.into_iter().chain([(end, end)]) {
        if next < first.min(end) {
            unknown.push((next, first.min(end) - 1));
        }
        next = next.max(last.saturating_add(1));
    }
    unknown
}
