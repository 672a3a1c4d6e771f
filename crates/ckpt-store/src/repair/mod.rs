//! Repairing a store. Nothing is ever deleted.
//!
//! Damaged files are moved to quarantine. If a bundle holds the same number, its exact bytes take their place;
//! otherwise a tombstone keeps the number taken, and a deletion record says that the content is lost. If no save could
//! continue the workflow, a checkpoint is added first that continues the newest usable one.
//!
//! Damaged objects are quarantined too. A content that is referred to and is nowhere is recorded as lost.
//!
//! A workflow with a file that cannot be read, but may be undamaged, is left alone: a disk that fails for a moment must
//! not make anybody continue an older state.
//!
//! Others may work at the same time. So before anything is moved or given up, it is looked at once more: a damaged file
//! must still be damaged, and a number is recorded as lost only after its tombstone was published, which replaces
//! nothing, and if neither the live store nor a bundle has its content then.
//!
//! A repair works in passes, each of which inspects the store again, until a pass finds nothing to do. Every step leaves
//! a store that the next pass, in this process or another one, completes.

mod objects;
mod quarantine;
mod workflow;

use quarantine::Quarantined;

use std::path::PathBuf;

use serde::Serialize;

use super::disk::Disk;
use super::layout::{ARCHIVE, GITIGNORE, GITIGNORE_TEXT, QUARANTINE, WORKFLOWS};
use super::open::Store;
use super::verify::{Checked, Directories, DirectoryPlace, Misfit, Walk};
use crate::error::Result;
use ckpt_model::change::Stamp;
use ckpt_model::digest::Digest;
use ckpt_model::selector::Handle;
use ckpt_model::workflow_id::WorkflowId;

/// A pass can only find what the one before it uncovered, so few are needed.
const PASSES: usize = 8;

/// The kind of a repair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RepairAction {
    /// It was moved to quarantine.
    Quarantined,
    /// Its exact bytes were put back from a bundle.
    Restored,
    /// A tombstone keeps its number taken, and a deletion record says that its content is lost.
    Recorded,
    /// It was added, to continue the newest usable checkpoint.
    Continued,
    /// It was missing, and was created.
    Created,
}

impl RepairAction {
    /// Returns the word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Quarantined => "quarantined",
            Self::Restored => "restored",
            Self::Recorded => "recorded",
            Self::Continued => "continued",
            Self::Created => "created",
        }
    }
}

/// One repair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repair {
    /// The kind.
    pub action: RepairAction,
    /// The path of the file.
    pub path: PathBuf,
    /// Its new path, if it was moved.
    pub to: Option<PathBuf>,
    /// The checkpoint it is about.
    pub handle: Option<Handle>,
}

impl<D: Disk> Store<D> {
    /// Repairs what [`verify`](Self::verify) finds, as far as that is possible without deciding between two versions
    /// of history. `progress` is called for every checkpoint.
    ///
    /// # Errors
    /// The disk refuses. What was done until then stays, and the same call completes it.
    pub fn repair(
        &self,
        only: &[WorkflowId],
        stamp: &Stamp,
        progress: &mut dyn FnMut(&Checked),
    ) -> Result<Vec<Repair>> {
        let mut done = Vec::new();
        for pass in 0..PASSES {
            let before = done.len();
            let mut walk = Walk::new(progress);
            let directories = self.inspect_directories(&mut walk)?;
            if only.is_empty() {
                self.repair_directories(&directories, &mut done)?;
            }
            for id in directories.ids.iter().filter(|id| only.is_empty() || only.contains(id)) {
                let name = Digest::of(format!("{} {pass} {id}", stamp.save_id).as_bytes()).to_hex();
                let stamp = Stamp { save_id: name.chars().take(32).collect(), ..stamp.clone() };
                self.repair_workflow(id, &stamp, &mut walk, &mut done)?;
            }
            let objects = self.inspect_objects(only.is_empty(), &mut walk)?;
            self.repair_objects(&objects, stamp, &mut done)?;
            if done.len() == before {
                break;
            }
        }
        Ok(done)
    }

    fn repair_directories(&self, found: &Directories, done: &mut Vec<Repair>) -> Result<()> {
        let root = self.open_root()?;
        let is_quarantine = |misfit: &Misfit| misfit.place == DirectoryPlace::Root && misfit.name == QUARANTINE;
        if found.misfits.iter().any(is_quarantine) {
            self.clear_quarantine_name(&root, done)?;
        }
        for misfit in found.misfits.iter().filter(|misfit| !is_quarantine(misfit)) {
            let Misfit { place, name, kind } = misfit;
            let (dir, path) = match place {
                DirectoryPlace::Root => (self.open_root()?, self.root()),
                DirectoryPlace::Workflows => (self.enter(&root, WORKFLOWS, &self.root())?, self.root().join(WORKFLOWS)),
                DirectoryPlace::Archive => (self.enter(&root, ARCHIVE, &self.root())?, self.root().join(ARCHIVE)),
            };
            // Another repair may have moved it, and a save created the directory that belongs there.
            if self.disk().stat(&dir, name).ok().map(|stat| stat.kind) != *kind {
                continue;
            }
            // No directory of a workflow has a name that begins like this.
            let from = Quarantined { dir: &dir, path: &path, name, handle: None };
            self.quarantine(&from, None, &format!("+{name}"), done)?;
        }
        if found.is_whole {
            return Ok(());
        }
        let mut created = |name: &str| {
            let path = self.root().join(name);
            done.push(Repair { action: RepairAction::Created, path, to: None, handle: None });
        };
        if self.publish_editable(&root, GITIGNORE, GITIGNORE_TEXT)? {
            created(GITIGNORE);
        }
        if self.make(&root, WORKFLOWS, &self.root().join(WORKFLOWS))? {
            created(WORKFLOWS);
        }
        self.sync(&root, &self.root())
    }
}
