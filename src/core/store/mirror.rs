//! The manifests of mirrors: which files were written for another system, and what they held.
//!
//! `.ckpt/mirror/kamiflow/042.json` is about the files of one workflow. A system that has one place for all workflows has
//! one manifest. A manifest may be deleted at any time: files that still hold what would be written are found again, and
//! any other file counts as one that was changed by its system. It is not synced, for the same reason.
//!
//! The lock of the dialect's directory is held from reading the manifest until the files are written, so that concurrent
//! updates follow each other, and each one sees what the store holds then.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::disk::Disk;
use super::error::Result;
use super::layout::{self, MIRROR};
use super::open::Store;
use crate::core::dialects::Dialect;
use crate::core::digest::Digest;
use crate::core::files::FileProblem;
use crate::core::phase::PhaseId;
use crate::core::selector::Handle;
use crate::core::trigger::Trigger;
use crate::core::workflow_id::WorkflowId;

/// The largest manifest that is read.
const MAX_MANIFEST_BYTES: u64 = 16 << 20;

/// The files that were written for another system.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MirrorManifest {
    /// The workflows whose files these are; of a system with one place for all, those that were saved last.
    pub workflows: Vec<WorkflowId>,
    /// The files by their paths below the project.
    pub files: BTreeMap<String, MirroredFile>,
    /// The files of others that the user was told about.
    pub named: BTreeSet<String>,
    /// Where the files of open work stand, if all of them could be written and each is about one checkpoint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub through: Option<Through>,
}

/// The checkpoint up to which files were written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Through {
    /// Its number.
    pub seq: u64,
    /// The number of the first checkpoint of its run.
    pub run: u64,
    /// The phases that had begun, where there is a file per phase.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub begun: BTreeSet<PhaseId>,
}

/// A file that was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MirroredFile {
    /// The checkpoint that it was made from.
    pub source: Handle,
    /// The digest of its content. Until it was written, also that of the content that it replaces: a process may be killed
    /// before.
    pub sha256: Vec<Digest>,
    /// The facts about the checkpoint that are kept; none for a file that is derived from the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memo: Option<FileMemo>,
}

/// The facts about the checkpoint of a file that are kept, so that it is not read again for every later one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FileMemo {
    /// Its phase.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<PhaseId>,
    /// Its trigger, where there is a file per checkpoint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trigger: Option<Trigger>,
    /// True if it is not live any more: then it has a file as long as the limit of its trigger admits it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub packed: bool,
    /// Its entry in the index of the system.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entry: Option<Value>,
}

impl MirrorManifest {
    fn is_empty(&self) -> bool {
        self.files.is_empty() && self.named.is_empty()
    }
}

/// The manifests of a dialect, locked.
#[derive(Debug)]
pub struct Manifests<'s, D: Disk> {
    store: &'s Store<D>,
    dialect: Dialect,
    dir: D::Dir,
    _lock: D::Lock,
}

impl<D: Disk> Store<D> {
    /// Opens the manifests of a dialect, and waits up to `patience` for their lock, or not at all if the store does not
    /// wait. Returns none if another process holds it for longer.
    ///
    /// # Errors
    /// The directory cannot be created or opened.
    pub fn lock_manifests(&self, dialect: Dialect, patience: Duration) -> Result<Option<Manifests<'_, D>>> {
        let mut dir = self.open_root()?;
        let mut path = self.root();
        for name in [MIRROR, dialect.word()] {
            path.push(name);
            self.make(&dir, name, &path)?;
            dir = self.enter(&dir, name, &path)?;
        }
        let patience = if self.patience().is_zero() { Duration::ZERO } else { patience };
        let Some(lock) = self.disk().lock(&dir, patience) else { return Ok(None) };
        Ok(Some(Manifests { store: self, dialect, dir, _lock: lock }))
    }

    /// Reads a manifest. Returns none if there is none, or it cannot be used.
    #[must_use]
    pub fn manifest(&self, dialect: Dialect, workflow: &WorkflowId) -> Option<MirrorManifest> {
        let dir = self.open_below(&[self.name(), MIRROR, dialect.word()]).ok()??;
        self.read_manifest(&dir, &layout::manifest_file(dialect, workflow)).ok()
    }

    /// Reads the manifest of a name; the reason why it cannot be used otherwise.
    pub(super) fn read_manifest(&self, dir: &D::Dir, name: &str) -> Result<MirrorManifest, FileProblem> {
        let bytes = self.disk().read(dir, name, MAX_MANIFEST_BYTES)?;
        serde_json::from_slice(&bytes).map_err(|error| FileProblem::Io(error.into()))
    }
}

impl<D: Disk> Manifests<'_, D> {
    /// Reads the manifest of a workflow. One that cannot be used is as good as none.
    #[must_use]
    pub fn load(&self, workflow: &WorkflowId) -> MirrorManifest {
        let name = layout::manifest_file(self.dialect, workflow);
        self.store.read_manifest(&self.dir, &name).unwrap_or_default()
    }

    /// Replaces the manifest of a workflow, or removes it if it lists nothing.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn replace(&self, workflow: &WorkflowId, manifest: &MirrorManifest) -> Result<()> {
        let name = layout::manifest_file(self.dialect, workflow);
        if manifest.is_empty() {
            return self.store.remove(&self.dir, &name, &self.path(&name)).map(drop);
        }
        let written = self.write(&name, manifest);
        written.map_err(|error| self.store.not_written(&self.path(&name), error))
    }

    fn write(&self, name: &str, manifest: &MirrorManifest) -> io::Result<()> {
        let bytes = serde_json::to_vec(manifest)?;
        let disk = self.store.disk();
        // Under the lock, a temporary file of this name is stale.
        let staged = layout::staged_file(name, 0);
        match disk.stage_unsynced(&self.dir, &staged, &bytes) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                disk.remove(&self.dir, &staged)?;
                disk.stage_unsynced(&self.dir, &staged, &bytes)?;
            }
            staged => staged?,
        }
        disk.replace(&self.dir, &staged, name).inspect_err(|_| drop(disk.remove(&self.dir, &staged)))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.store.root().join(MIRROR).join(self.dialect.word()).join(name)
    }
}
