//! How the checkpoints of a workflow fit together and the archive.

use std::collections::BTreeMap;

use super::finding::{LOOK, REPAIR, Walk};
use super::workflow::{Inspection, Slot};
use crate::core::finding::{Code, Severity};
use crate::core::selector::Handle;
use crate::core::store::bundle::BundleName;
use crate::core::store::disk::Disk;
use crate::core::store::error::Error;
use crate::core::store::gone::PURGED;
use crate::core::store::open::Store;
use crate::core::workflow_id::WorkflowId;

const PUT_BACK: &str = "`ckpt verify --repair` takes the numbers again";

impl<D: Disk> Store<D> {
    pub(super) fn relate(
        &self,
        workflow: &WorkflowId,
        dir: Option<&D::Dir>,
        walk: &mut Walk<'_>,
        inspection: &mut Inspection,
    ) {
        self.relate_numbers(workflow, walk, inspection);
        self.relate_parents(workflow, walk, inspection);
        self.relate_save_ids(workflow, walk, inspection);
        self.relate_seals(workflow, walk, inspection);
        self.relate_base(workflow, dir, walk, inspection);
    }

    /// Numbers are dense, and what is not live is archived.
    fn relate_numbers(&self, workflow: &WorkflowId, walk: &mut Walk<'_>, inspection: &mut Inspection) {
        let known =
            |inspection: &Inspection, seq: u64| inspection.held.contains_key(&seq) || inspection.is_gone(seq);
        let mut expected = 1;
        let (mut missing, mut lost) = (Vec::new(), Vec::new());
        for (seq, slot) in &inspection.numbers {
            missing.extend(unknown(expected, *seq, inspection));
            expected = seq.saturating_add(1);
            if matches!(slot, Slot::Tombstone) && !known(inspection, *seq) {
                lost.push(*seq);
            }
        }
        // Where files were removed by hand, the archive may hold more.
        if let Some((top, _)) = inspection.held.last_key_value().filter(|(top, _)| **top >= expected) {
            missing.extend(unknown(expected, top.saturating_add(1), inspection));
        }
        for (first, last) in &missing {
            let handle = Handle::new(workflow, *first);
            let message = if first == last {
                "is missing, although newer checkpoints exist".to_owned()
            } else {
                format!("is missing, and so is every number up to {last}")
            };
            let here = (&handle, self.place_of(workflow, *first));
            walk.about(Severity::Blocker, Code::Missing, here, message, Some(REPAIR));
        }
        let absent: Vec<u64> =
            inspection.held.keys().filter(|seq| !inspection.numbers.contains_key(seq)).copied().collect();
        if let (Some(first), Some(last)) = (absent.first(), absent.last()) {
            let handle = Handle::new(workflow, *last);
            let here = (&handle, self.place_of(workflow, *last));
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
            let handle = Handle::new(workflow, *seq);
            let here = (&handle, self.place_of(workflow, *seq));
            walk.about(
                Severity::Blocker,
                Code::Lost,
                here,
                "is archived, but no bundle holds it",
                Some(REPAIR),
            );
        }
        let noted = inspection.gone.iter().map(|(first, last)| last - first + 1).sum::<u64>();
        if noted > 0 {
            let message = match noted {
                1 => "notes 1 number whose content is gone".to_owned(),
                _ => format!("notes {noted} numbers whose content is gone"),
            };
            walk.add(Severity::Info, Code::Gone, self.archive_dir(workflow), message, None);
        }
        (inspection.missing, inspection.lost, inspection.absent) = (missing, lost, absent);
    }

    /// Each checkpoint continues the one before it, and knows its digest.
    fn relate_parents(&self, workflow: &WorkflowId, walk: &mut Walk<'_>, inspection: &Inspection) {
        let seqs = inspection.numbers.keys().chain(inspection.held.keys());
        let seqs: std::collections::BTreeSet<u64> = seqs.copied().collect();
        for seq in seqs {
            let Some(facts) = inspection.facts(seq) else { continue };
            let usable = |seq: u64| inspection.facts(seq).is_some();
            let complaint = match facts.parent {
                None if seq > 1 && facts.sealed.is_none() && usable(seq - 1) => {
                    Some("says that nothing is before it".to_owned())
                }
                None => None,
                Some((parent, _)) if parent >= seq => Some(format!("says that it continues {parent}")),
                Some((parent, sha256)) => match inspection.facts(parent) {
                    Some(found) if found.sha256 != sha256 => Some(format!(
                        "continues another {} than the one that is there",
                        Handle::new(workflow, parent)
                    )),
                    // What lies between was damaged, and was passed over when the store was repaired.
                    _ if (parent + 1..seq).any(usable) => Some(format!("says that it continues {parent}")),
                    _ => None,
                },
            };
            if let Some(message) = complaint {
                let handle = Handle::new(workflow, seq);
                let here = (&handle, self.place_of(workflow, seq));
                walk.about(Severity::Blocker, Code::Parent, here, message, Some(LOOK));
            }
        }
    }

    /// One save makes one checkpoint. A seal is made by the save that follows it.
    fn relate_save_ids(&self, workflow: &WorkflowId, walk: &mut Walk<'_>, inspection: &Inspection) {
        let mut seen: BTreeMap<&str, u64> = BTreeMap::new();
        let seqs = inspection.numbers.keys().chain(inspection.held.keys());
        let seqs: std::collections::BTreeSet<u64> = seqs.copied().collect();
        for seq in seqs {
            let Some(facts) = inspection.facts(seq).filter(|facts| facts.sealed.is_none()) else { continue };
            if let Some(first) = seen.insert(&facts.save_id, seq) {
                let handle = Handle::new(workflow, seq);
                let message = format!("has the save id of {}", Handle::new(workflow, first));
                let here = (&handle, self.place_of(workflow, seq));
                walk.about(Severity::Blocker, Code::DuplicateSaveId, here, message, Some(LOOK));
            }
        }
    }

    /// A seal closes what is just below it, and names a bundle of that, or says that it was purged.
    fn relate_seals(&self, workflow: &WorkflowId, walk: &mut Walk<'_>, inspection: &Inspection) {
        for (seq, slot) in &inspection.numbers {
            let Slot::Good(facts) = slot else { continue };
            let Some(sealed) = &facts.sealed else { continue };
            let named = BundleName::parse(&sealed.bundle);
            let fits = sealed.bundle == PURGED
                || named.is_some_and(|name| name.last == sealed.last && name.reason == sealed.reason);
            if !fits || sealed.last.checked_add(1) != Some(*seq) {
                let handle = Handle::new(workflow, *seq);
                let here = (&handle, self.place_of(workflow, *seq));
                let message = "is a seal that does not fit what it closes";
                walk.about(Severity::Blocker, Code::Seal, here, message, Some(LOOK));
            }
        }
    }

    /// A save can go on from here.
    fn relate_base(
        &self,
        workflow: &WorkflowId,
        dir: Option<&D::Dir>,
        walk: &mut Walk<'_>,
        inspection: &Inspection,
    ) {
        if let Some((severity, error)) = self.obstacle(workflow, dir, inspection) {
            let message = format!("cannot be continued: {error}");
            walk.add(severity, Code::NoBase, self.workflow_dir(workflow), message, Some(REPAIR));
        }
    }

    /// What keeps a save from going on, other than a newest file that is damaged itself.
    pub(in crate::core::store) fn obstacle(
        &self,
        workflow: &WorkflowId,
        dir: Option<&D::Dir>,
        inspection: &Inspection,
    ) -> Option<(Severity, Error)> {
        let newest = inspection.numbers.last_key_value();
        if matches!(newest, Some((_, Slot::Damaged(_) | Slot::Newer))) {
            return None;
        }
        let error =
            self.newest_known(dir, workflow).and_then(|newest| self.base(dir, workflow, newest)).err()?;
        let severity = match &error {
            // A newer version goes on; and what left on purpose is not missed.
            Error::NewerFormat { .. } => Severity::Info,
            Error::Archived { handle, .. } if inspection.is_gone(handle.seq) => Severity::Info,
            Error::Damaged { handle, .. } if matches!(inspection.held.get(&handle.seq), Some(None)) => {
                Severity::Advice
            }
            _ => Severity::Blocker,
        };
        Some((severity, error))
    }
}

/// The numbers from `expected` up to `end`, without it, of which nothing is known, as ranges.
fn unknown(expected: u64, end: u64, inspection: &Inspection) -> Vec<(u64, u64)> {
    let mut ranges = vec![(expected, end.saturating_sub(1))];
    ranges.retain(|(first, last)| first <= last);
    let held = inspection.held.range(expected..end).map(|(seq, _)| (*seq, *seq));
    for (known_first, known_last) in held.chain(inspection.gone.iter().copied()) {
        let cut = |(first, last): (u64, u64)| {
            let below = (first, last.min(known_first.saturating_sub(1)));
            let above = (first.max(known_last.saturating_add(1)), last);
            if known_last < first || known_first > last {
                vec![(first, last)]
            } else {
                [below, above].into_iter().filter(|(first, last)| first <= last).collect()
            }
        };
        ranges = ranges.into_iter().flat_map(cut).collect();
    }
    ranges
}
