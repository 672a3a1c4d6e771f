//! Putting a store right again. Nothing is ever deleted.
//!
//! What is damaged is moved to quarantine. Where a bundle holds the same number, its exact bytes take the place;
//! elsewhere a tombstone does, so that the number stays taken, and a note beside the bundles says that its content is
//! gone. Where a save could not go on, a checkpoint is added first that continues the newest one that can be used.
//!
//! A workflow of which something cannot be read, and may be as whole as ever, is left alone: a disk that fails for a
//! moment must not make anybody continue an older state.
//!
//! It works in passes, each of which looks at the store anew, until there is nothing left to do. Every step leaves a
//! store that the next pass, in this process or another one, completes.

mod quarantine;
mod workflow;

use std::path::PathBuf;

use serde::Serialize;

use super::disk::Disk;
use super::layout::{ARCHIVE, GITIGNORE, GITIGNORE_TEXT, QUARANTINE, WORKFLOWS};
use super::open::Store;
use super::verify::{Checked, Misfit, Place, Survey, Walk};
use crate::core::change::Stamp;
use crate::core::digest::Digest;
use crate::core::selector::Handle;
use crate::core::store::error::Result;
use crate::core::workflow_id::WorkflowId;

/// Each pass can only bring to light what the one before it uncovered, and that is never deep.
const PASSES: usize = 8;

/// What was done to put something right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RepairAction {
    /// It was moved to quarantine.
    Quarantined,
    /// Its exact bytes were put back from a bundle.
    Restored,
    /// Its number is held by a tombstone, and a note says that its content is gone.
    Noted,
    /// It was added, to continue the newest checkpoint that can be used.
    Continued,
    /// It was missing, and was created.
    Created,
}

impl RepairAction {
    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Quarantined => "quarantined",
            Self::Restored => "restored",
            Self::Noted => "noted",
            Self::Continued => "continued",
            Self::Created => "created",
        }
    }
}

/// One thing that was put right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repair {
    /// What was done.
    pub action: RepairAction,
    /// Where.
    pub path: PathBuf,
    /// Where it is now, if it was moved.
    pub to: Option<PathBuf>,
    /// The checkpoint it is about.
    pub handle: Option<Handle>,
}

impl<D: Disk> Store<D> {
    /// Puts right what [`verify`](Self::verify) finds, as far as that is possible without deciding between two
    /// versions of history. `progress` is told how far it is.
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
            let survey = self.look_over(&mut walk)?;
            if only.is_empty() {
                self.repair_directories(&survey, &mut done)?;
            }
            for id in survey.ids.iter().filter(|id| only.is_empty() || only.contains(id)) {
                let name = Digest::of(format!("{} {pass} {id}", stamp.save_id).as_bytes()).to_hex();
                let stamp = Stamp { save_id: name.chars().take(32).collect(), ..stamp.clone() };
                self.repair_workflow(id, &stamp, &mut walk, &mut done)?;
            }
            if done.len() == before {
                break;
            }
        }
        Ok(done)
    }

    fn repair_directories(&self, survey: &Survey, done: &mut Vec<Repair>) -> Result<()> {
        let root = self.open_root()?;
        let own_place = Misfit { place: Place::Root, name: QUARANTINE.to_owned() };
        if survey.misfits.contains(&own_place) {
            self.clear_the_place_of_quarantine(&root, done)?;
        }
        for Misfit { place, name } in survey.misfits.iter().filter(|misfit| **misfit != own_place) {
            let (dir, path) = match place {
                Place::Root => (self.open_root()?, self.root()),
                Place::Workflows => {
                    (self.enter(&root, WORKFLOWS, &self.root())?, self.root().join(WORKFLOWS))
                }
                Place::Archive => (self.enter(&root, ARCHIVE, &self.root())?, self.root().join(ARCHIVE)),
            };
            // No directory of a workflow begins like this.
            self.quarantine(&dir, &path, name, None, &format!("+{name}"), None, done)?;
        }
        if survey.is_whole {
            return Ok(());
        }
        let mut created = |name: &str| {
            let path = self.root().join(name);
            done.push(Repair { action: RepairAction::Created, path, to: None, handle: None });
        };
        if self.place(&root, GITIGNORE, GITIGNORE_TEXT)? {
            created(GITIGNORE);
        }
        if self.make(&root, WORKFLOWS, &self.root().join(WORKFLOWS))? {
            created(WORKFLOWS);
        }
        self.disk().sync_dir(&root).map_err(|error| self.failed("sync", &self.root(), error))
    }
}
