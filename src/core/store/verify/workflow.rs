//! One workflow: every file in its directory.

use std::collections::BTreeMap;
use std::io;

use super::finding::{CHECK_DISK, LOOK, REPAIR, Walk};
use super::survey::{leftover, words};
use crate::core::checkpoint::{Checkpoint, Sealed};
use crate::core::digest::Digest;
use crate::core::finding::{Code, Severity};
use crate::core::format::Unusable;
use crate::core::selector::Handle;
use crate::core::store::bundle::BundleName;
use crate::core::store::disk::{Disk, Kind, Stat};
use crate::core::store::error::{Error, Result};
use crate::core::store::gone::Range;
use crate::core::store::layout::{self, EntryName};
use crate::core::store::open::Store;
use crate::core::store::read::Stored;
use crate::core::version::CURRENT;
use crate::core::workflow_id::WorkflowId;

/// How far below the newest number gaps are looked at twice.
const MOST_LOOKED_FOR: usize = 1000;

/// What a checkpoint says about how it fits the others.
#[derive(Debug, Clone)]
pub(in crate::core::store) struct Facts {
    pub(in crate::core::store) sha256: Digest,
    pub(super) parent: Option<(u64, Digest)>,
    pub(super) save_id: String,
    pub(super) sealed: Option<Sealed>,
}

impl Facts {
    pub(super) fn of(checkpoint: &Checkpoint) -> Self {
        Self {
            sha256: checkpoint.sha256,
            parent: checkpoint.parent.as_ref().map(|parent| (parent.seq, parent.sha256)),
            save_id: checkpoint.save_id.clone(),
            sealed: checkpoint.sealed.clone(),
        }
    }
}

/// What is in the file of a number.
#[derive(Debug, Clone)]
pub(in crate::core::store) enum Slot {
    /// A checkpoint or a seal.
    Good(Facts),
    /// Nothing, and there are higher numbers.
    Tombstone,
    /// A checkpoint of a newer format, which is not judged.
    Newer,
    /// Something that is no checkpoint.
    Damaged(Unusable),
}

/// What there is of a workflow.
#[derive(Debug, Default)]
pub(in crate::core::store) struct Inspection {
    /// The numbers in the live store.
    pub(in crate::core::store) numbers: BTreeMap<u64, Slot>,
    /// The numbers in bundles that can be used; none where what is inside was damaged when it was archived.
    pub(in crate::core::store) held: BTreeMap<u64, Option<Facts>>,
    /// The numbers that are known to be in no bundle.
    pub(in crate::core::store) gone: Vec<Range>,
    /// Bundles that cannot be used.
    pub(in crate::core::store) bad_bundles: Vec<BundleName>,
    /// Links, pipes and devices that have no business in the live store.
    pub(in crate::core::store) strays: Vec<String>,
    /// The same in the archive.
    pub(in crate::core::store) archive_strays: Vec<String>,
    /// Numbers that are neither live nor archived, as ranges.
    pub(in crate::core::store) missing: Vec<Range>,
    /// Whether something could not be read that may be as whole as ever: then nothing can be concluded from this.
    pub(in crate::core::store) is_partial: bool,
    /// Numbers whose files were removed by hand, and that a bundle holds.
    pub(in crate::core::store) absent: Vec<u64>,
    /// Tombstones whose content is nowhere.
    pub(in crate::core::store) lost: Vec<u64>,
}

impl Inspection {
    pub(super) fn is_gone(&self, seq: u64) -> bool {
        self.gone.iter().any(|(first, last)| (*first..=*last).contains(&seq))
    }

    /// What the checkpoint of a number says, live or archived.
    pub(in crate::core::store) fn facts(&self, seq: u64) -> Option<&Facts> {
        match self.numbers.get(&seq) {
            Some(Slot::Good(facts)) => Some(facts),
            Some(Slot::Newer) => None,
            _ => self.held.get(&seq)?.as_ref(),
        }
    }
}

impl<D: Disk> Store<D> {
    pub(in crate::core::store) fn inspect(
        &self,
        workflow: &WorkflowId,
        walk: &mut Walk<'_>,
    ) -> Result<Inspection> {
        walk.begin();
        let mut inspection = Inspection::default();
        let dir = match self.open_workflow(workflow) {
            Ok(dir) => dir,
            Err(error) => {
                inspection.is_partial = true;
                // Something else in the place of the directory has been found already.
                if !matches!(error, Error::NotAStore { .. }) {
                    let path = self.workflow_dir(workflow);
                    walk.add(Severity::Blocker, Code::Unreadable, path, error.to_string(), Some(CHECK_DISK));
                }
                return Ok(inspection);
            }
        };
        if let Some(dir) = &dir {
            self.inspect_directory(dir, workflow, walk, &mut inspection)?;
        }
        // Behind the directory: whatever becomes a tombstone meanwhile is in a bundle by then.
        self.inspect_bundles(workflow, walk, &mut inspection)?;
        self.relate(workflow, dir.as_ref(), walk, &mut inspection);
        Ok(inspection)
    }

    fn inspect_directory(
        &self,
        dir: &D::Dir,
        workflow: &WorkflowId,
        walk: &mut Walk<'_>,
        inspection: &mut Inspection,
    ) -> Result<()> {
        let root = self.workflow_dir(workflow);
        let mut names = self.names(dir, &root)?;
        let numbers = names.iter().filter_map(|name| match EntryName::parse(name) {
            EntryName::Checkpoint(seq) => Some(seq),
            _ => None,
        });
        let Some(newest) = numbers.max() else {
            walk.add(Severity::Info, Code::EmptyDirectory, root, "holds no checkpoint", None);
            return Ok(());
        };
        // A list may leave out what was added while it was made; a second look tells that from a gap.
        for seq in (1..newest).rev().take(MOST_LOOKED_FOR) {
            let name = layout::checkpoint_file(seq);
            if !names.contains(&name) && self.disk().stat(dir, &name).is_ok() {
                names.insert(name);
            }
        }
        for name in &names {
            let path = root.join(name);
            let look = self.disk().stat(dir, name);
            match (EntryName::parse(name), look) {
                // Swept away or archived since it was listed.
                (_, Err(error)) if error.kind() == io::ErrorKind::NotFound && name.is_ascii() => {}
                (EntryName::Checkpoint(seq), look) => {
                    let handle = Handle::new(workflow, seq);
                    let slot = self.inspect_file(dir, &handle, look.ok(), newest, walk);
                    inspection.is_partial |= matches!(slot, Some(Slot::Damaged(Unusable::Unreadable(_))));
                    inspection.numbers.extend(slot.map(|slot| (seq, slot)));
                }
                (EntryName::Staged, _) => leftover(walk, path),
                (EntryName::Foreign, Ok(Stat { kind: kind @ (Kind::Link | Kind::Special), .. })) => {
                    walk.add(
                        Severity::Advice,
                        Code::Foreign,
                        path,
                        format!("is {}", words(kind)),
                        Some(REPAIR),
                    );
                    inspection.strays.push(name.clone());
                }
                (EntryName::Foreign, _) => {
                    walk.add(Severity::Advice, Code::Foreign, path, "is no checkpoint", Some(LOOK));
                }
            }
        }
        Ok(())
    }

    /// Reads the file of a number, and says what is wrong with it alone; none if it is gone since it was looked at.
    fn inspect_file(
        &self,
        dir: &D::Dir,
        handle: &Handle,
        look: Option<Stat>,
        newest: u64,
        walk: &mut Walk<'_>,
    ) -> Option<Slot> {
        walk.count(handle.seq);
        let here = || (handle, self.checkpoint_path(handle));
        if let Some(Stat { kind: Kind::File, mode, .. }) = look
            && mode != 0o400
        {
            walk.about(Severity::Info, Code::Mode, here(), format!("has mode {mode:o}, not 400"), None);
        }
        let read = self.read_bytes(dir, handle).and_then(|bytes| {
            if bytes.is_empty() { Ok(None) } else { Stored::decode(handle, bytes).map(Some) }
        });
        Some(match read {
            Err(Unusable::Missing) => return None,
            Ok(Some(stored)) => {
                walk.look_for_secrets(handle, &self.checkpoint_path(handle), &stored.bytes);
                if stored.checkpoint.version > CURRENT {
                    let message =
                        format!("has format {}, newer than this program", stored.checkpoint.version);
                    walk.about(Severity::Info, Code::FormatNewer, here(), message, None);
                } else if let Some(violation) = walk.violation(&stored.bytes) {
                    walk.about(Severity::Blocker, Code::Schema, here(), violation, Some(LOOK));
                }
                Slot::Good(Facts::of(&stored.checkpoint))
            }
            Ok(None) if handle.seq < newest || self.is_overtaken(Some(dir), handle).unwrap_or_default() => {
                Slot::Tombstone
            }
            Ok(None) => {
                walk.about(
                    Severity::Blocker,
                    Code::Empty,
                    here(),
                    "is empty, and nothing is above it",
                    Some(REPAIR),
                );
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
                let message = match (&why, look) {
                    (Unusable::NotAFile, Some(look)) => format!("is {}, not a file", words(look.kind)),
                    _ => why.to_string(),
                };
                walk.about(Severity::Blocker, why.code(), here(), message, Some(help));
                Slot::Damaged(why)
            }
        })
    }

    /// Where the file of a number is.
    pub(super) fn place_of(&self, workflow: &WorkflowId, seq: u64) -> std::path::PathBuf {
        self.workflow_dir(workflow).join(layout::checkpoint_file(seq))
    }
}
