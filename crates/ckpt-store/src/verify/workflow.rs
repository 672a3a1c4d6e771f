//! Checking one workflow: every file in its directory.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use super::finding::{CHECK_DISK, LOOK, REPAIR, Walk, words};
use crate::bundle::BundleName;
use crate::deletion::{self, Range};
use crate::disk::{Disk, FileKind, Stat};
use crate::error::{Error, Result};
use crate::layout::{self, EntryName};
use crate::open::Store;
use crate::workflow::{Entry, Workflow};
use ckpt_model::checkpoint::{Checkpoint, Sealed};
use ckpt_model::digest::Digest;
use ckpt_model::finding::{Code, Severity};
use ckpt_model::format::Unusable;
use ckpt_model::version::CURRENT;
use ckpt_model::workflow_id::WorkflowId;

/// How many missing numbers are confirmed by a stat.
const MOST_LOOKED_FOR: usize = 1000;

/// How often a workflow is inspected until two inspections in a row agree.
const MAX_LOOKS: usize = 4;

/// The members of a checkpoint that relate it to others.
#[derive(Debug, Clone)]
pub(crate) struct CheckpointLinks {
    pub(crate) sha256: Digest,
    pub(super) parent: Option<(u64, Digest)>,
    /// The other checkpoint of this workflow that it continues, if it merges two heads.
    pub(super) other_head: Option<(u64, Digest)>,
    pub(super) save_id: String,
    pub(super) sealed: Option<Sealed>,
}

impl CheckpointLinks {
    pub(super) fn of(checkpoint: &Checkpoint) -> Self {
        Self {
            sha256: checkpoint.sha256,
            parent: checkpoint.parent.as_ref().map(|parent| (parent.seq, parent.sha256)),
            other_head: checkpoint.other_head().map(|other| (other.seq, other.sha256)),
            save_id: checkpoint.save_id.clone(),
            sealed: checkpoint.sealed.clone(),
        }
    }
}

/// The state of an entry.
#[derive(Debug, Clone)]
pub(crate) enum Slot {
    /// A checkpoint or a seal.
    Good(Box<CheckpointLinks>),
    /// A tombstone below other numbers.
    Tombstone,
    /// A checkpoint of a newer format, which is not checked.
    Newer,
    /// An entry that cannot be used.
    Damaged(Unusable),
}

/// The state of a workflow and its archive.
#[derive(Debug, Default)]
pub(crate) struct Inspection {
    /// The numbers in the live store.
    pub(crate) numbers: BTreeMap<u64, Slot>,
    /// The numbers in usable bundles; none for a checkpoint that was damaged when it was archived.
    pub(crate) held: BTreeMap<u64, Option<CheckpointLinks>>,
    /// The ranges of the deletion records.
    pub(crate) deleted: Vec<Range>,
    /// Bundles that cannot be used.
    pub(crate) bad_bundles: Vec<BundleName>,
    /// Links, pipes and devices that do not belong to the live store.
    pub(crate) strays: Vec<String>,
    /// Links, pipes and devices that do not belong to the archive.
    pub(crate) archive_strays: Vec<String>,
    /// Numbers that are neither live nor archived, as ranges.
    pub(crate) missing: Vec<Range>,
    /// True if something could not be read that may be undamaged: then the rest proves nothing.
    pub(crate) is_partial: bool,
    /// Numbers whose files were removed by hand, and that a bundle holds.
    pub(crate) absent: Vec<u64>,
    /// Tombstones whose content is nowhere and has no deletion record.
    pub(crate) lost: Vec<u64>,
}

impl Inspection {
    /// Returns true if a deletion record covers a number.
    pub(super) fn is_deleted(&self, seq: u64) -> bool {
        self.deleted.iter().any(|range| deletion::contains(range, seq))
    }

    /// Returns all numbers, live or archived.
    pub(crate) fn all_numbers(&self) -> BTreeSet<u64> {
        self.numbers.keys().chain(self.held.keys()).copied().collect()
    }

    /// Returns the facts about the checkpoint of a number, live or archived.
    pub(crate) fn facts(&self, seq: u64) -> Option<&CheckpointLinks> {
        match self.numbers.get(&seq) {
            Some(Slot::Good(facts)) => Some(facts),
            Some(Slot::Newer) => None,
            _ => self.held.get(&seq)?.as_ref(),
        }
    }
}

impl<D: Disk> Store<D> {
    /// Checks one workflow and its archive.
    ///
    /// Other processes may save, clean up, archive or restore at the same time, so that the files of one inspection
    /// need not fit together. A workflow with findings is therefore inspected again until two inspections in a row agree.
    /// If none do, only what the last two have in common is reported, and the inspection counts as partial.
    pub(crate) fn inspect_workflow(&self, id: &WorkflowId, walk: &mut Walk<'_>) -> Result<Inspection> {
        walk.begin();
        let mut inspection = self.inspect_once(id, walk)?;
        let mut findings = walk.contestable();
        for _ in 1..MAX_LOOKS {
            if findings.is_empty() {
                return Ok(inspection);
            }
            walk.begin_again();
            inspection = self.inspect_once(id, walk)?;
            let earlier = std::mem::replace(&mut findings, walk.contestable());
            if findings == earlier {
                return Ok(inspection);
            }
            walk.drop_unconfirmed(&earlier);
        }
        inspection.is_partial |= !findings.is_empty();
        Ok(inspection)
    }

    fn inspect_once(&self, id: &WorkflowId, walk: &mut Walk<'_>) -> Result<Inspection> {
        let mut inspection = Inspection::default();
        let workflow = match self.workflow(id) {
            Ok(workflow) => workflow,
            Err(error) => {
                inspection.is_partial = true;
                // An entry of the wrong type in the place of the directory has been reported already.
                if !matches!(error, Error::NotAStore { .. }) {
                    let path = self.workflow_dir(id);
                    walk.add(Severity::Blocker, Code::Unreadable, path, error.to_string(), Some(CHECK_DISK));
                }
                return Ok(inspection);
            }
        };
        if workflow.dir().is_some() {
            workflow.inspect_entries(walk, &mut inspection)?;
        }
        // After the directory: whatever becomes a tombstone meanwhile is in a bundle by then.
        self.inspect_archive(id, walk, &mut inspection)?;
        workflow.drop_newer(&mut inspection)?;
        workflow.relate(walk, &mut inspection);
        Ok(inspection)
    }
}

impl<D: Disk> Workflow<'_, D> {
    /// Drops the archived numbers above the listed ones if these were saved after the listing: they are not missing. A
    /// bundle is only published below a live number, so the directory has higher numbers now.
    fn drop_newer(&self, inspection: &mut Inspection) -> Result<()> {
        let listed = inspection.numbers.keys().next_back().copied();
        let archived = inspection.held.keys().next_back().copied();
        if archived > listed && self.highest_listed()? > listed {
            inspection.held.retain(|seq, _| Some(*seq) <= listed);
        }
        Ok(())
    }

    fn inspect_entries(&self, walk: &mut Walk<'_>, inspection: &mut Inspection) -> Result<()> {
        let mut names = self.names()?;
        let numbers = names.iter().filter_map(|name| match EntryName::parse(name) {
            EntryName::Number(seq) => Some(seq),
            _ => None,
        });
        let numbers: BTreeSet<u64> = numbers.collect();
        let Some(newest) = numbers.last().copied() else {
            walk.add(Severity::Info, Code::EmptyDirectory, self.path(), "holds no checkpoint", None);
            return Ok(());
        };
        // A listing may leave out an entry that was added or replaced meanwhile; a stat distinguishes that from a gap.
        for seq in gaps(&numbers).take(MOST_LOOKED_FOR) {
            let name = layout::checkpoint_file(seq);
            if self.stat_name(&name).is_ok() {
                names.insert(name);
            }
        }
        for name in &names {
            let path = self.path().join(name);
            match (EntryName::parse(name), self.stat_name(name)) {
                // Removed after it was listed.
                (_, Err(error)) if error.kind() == io::ErrorKind::NotFound && name.is_ascii() => {}
                (EntryName::Number(seq), stat) => {
                    let slot = self.inspect_entry(seq, stat.ok(), newest, walk);
                    inspection.is_partial |= matches!(slot, Some(Slot::Damaged(Unusable::Unreadable(_))));
                    inspection.numbers.extend(slot.map(|slot| (seq, slot)));
                }
                (EntryName::Staged, _) => walk.temporary(path),
                (EntryName::KeyMarker, Ok(stat)) if stat.is_empty_file() => {}
                (EntryName::KeyMarker | EntryName::Unknown, stat) => {
                    if walk.unknown(path, stat.ok(), "is no checkpoint") {
                        inspection.strays.push(name.clone());
                    }
                }
            }
        }
        Ok(())
    }

    /// Reads the entry of a number and reports what is wrong with it alone. Returns none if it was removed meanwhile.
    fn inspect_entry(&self, seq: u64, stat: Option<Stat>, newest: u64, walk: &mut Walk<'_>) -> Option<Slot> {
        walk.count(seq);
        let handle = &self.handle(seq);
        let here = || (handle, self.file_path(seq));
        if let Some(Stat { kind: FileKind::File, mode, .. }) = stat {
            walk.check_mode(self.file_path(seq), Some(handle), mode, 0o400);
        }
        Some(match self.read_entry(seq) {
            Err(Unusable::Missing) => return None,
            Ok(Entry::Checkpoint(stored) | Entry::Seal(stored)) => {
                walk.look_for_secrets(handle, &self.file_path(seq), &stored.bytes);
                walk.note_objects(&stored.checkpoint);
                if stored.checkpoint.version > CURRENT {
                    let message = format!("has format {}, newer than this program", stored.checkpoint.version);
                    walk.about(Severity::Info, Code::FormatNewer, here(), message, None);
                } else if let Some(violation) = walk.violation(&stored.bytes) {
                    walk.about(Severity::Blocker, Code::Schema, here(), violation, Some(LOOK));
                }
                Slot::Good(Box::new(CheckpointLinks::of(&stored.checkpoint)))
            }
            Ok(Entry::Tombstone) if seq < newest || self.is_overtaken(seq) => Slot::Tombstone,
            Ok(Entry::Tombstone) => {
                let message = "is empty, and nothing is above it";
                walk.about(Severity::Blocker, Code::Empty, here(), message, Some(REPAIR));
                Slot::Damaged(Unusable::Empty)
            }
            Err(why @ Unusable::Newer(_)) => {
                walk.about(Severity::Advice, Code::FormatNewer, here(), why.to_string(), None);
                Slot::Newer
            }
            Err(why) => {
                let help = match why {
                    Unusable::Unreadable(_) => CHECK_DISK,
                    _ => REPAIR,
                };
                let message = match (&why, stat) {
                    (Unusable::NotAFile, Some(stat)) => format!("is {}, not a file", words(stat.kind)),
                    _ => why.to_string(),
                };
                walk.about(Severity::Blocker, why.code(), here(), message, Some(help));
                Slot::Damaged(why)
            }
        })
    }
}

/// Returns the numbers between 1 and the last one that are not there.
fn gaps(numbers: &BTreeSet<u64>) -> impl Iterator<Item = u64> {
    let mut next = 1;
    numbers.iter().flat_map(move |seq| {
        let first = next;
        next = seq.saturating_add(1);
        first..*seq
    })
}
