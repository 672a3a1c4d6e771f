//! The bundles of a workflow: which there are, and finding a checkpoint in them. Nothing here writes.

use std::io;
use std::path::PathBuf;

use super::bundle::{BadBundle, Bundle, BundleName, MAX_BUNDLE_BYTES, Manifest};
use super::disk::Disk;
use super::layout::ARCHIVE;
use super::open::Store;
use super::read::Stored;
use crate::core::error::{Error, Result};
use crate::core::files::FileProblem;
use crate::core::selector::Handle;
use crate::core::workflow_id::WorkflowId;

impl<D: Disk> Store<D> {
    /// The file of a bundle, whether or not it exists.
    #[must_use]
    pub fn bundle_path(&self, workflow: &WorkflowId, name: &BundleName) -> PathBuf {
        self.archive_dir(workflow).join(name.to_string())
    }

    /// The bundles of a workflow, the highest numbers first.
    ///
    /// # Errors
    /// The archive cannot be read.
    pub fn bundles(&self, workflow: &WorkflowId) -> Result<Vec<BundleName>> {
        let mut names = Vec::new();
        if let Some(dir) = self.open_archive(workflow)? {
            self.disk()
                .list(&dir, &mut |name| names.extend(BundleName::parse(name)))
                .map_err(|error| self.failed("list", &self.archive_dir(workflow), error))?;
        }
        names.sort_by_cached_key(|name| std::cmp::Reverse((name.last, name.at, name.to_string())));
        Ok(names)
    }

    /// Reads a whole bundle, checks every file in it, and returns what it lists; none if it is not there.
    ///
    /// # Errors
    /// It is damaged, or cannot be read.
    pub fn verify_bundle(&self, workflow: &WorkflowId, name: &BundleName) -> Result<Option<Manifest>> {
        self.with_bundle(workflow, name, &mut |bundle| bundle.verify())
    }

    /// Opens the directory of the bundles of a workflow; none if there is none.
    pub(super) fn open_archive(&self, workflow: &WorkflowId) -> Result<Option<D::Dir>> {
        let root = self.root();
        let mut path = root.parent().unwrap_or(&root).to_owned();
        let mut opened = self.disk().base();
        for part in [self.name(), ARCHIVE, &workflow.directory()] {
            let Ok(dir) = opened else { break };
            path.push(part);
            opened = self.disk().enter(&dir, part);
        }
        match opened {
            Ok(dir) => Ok(Some(dir)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.refused(&path, error)),
        }
    }

    /// The newest number of a workflow that is only in the archive: that of the seal, which is above the last one.
    pub(super) fn newest_archived(&self, workflow: &WorkflowId) -> Result<Option<u64>> {
        Ok(self.bundles(workflow)?.first().map(|name| name.last.saturating_add(1)))
    }

    /// Reads one checkpoint out of the archive.
    pub(super) fn load_archived(&self, handle: &Handle) -> Result<Stored> {
        let (name, bytes) = self.find_archived(handle)?;
        let path = self.bundle_path(&handle.workflow, &name);
        match Stored::decode(handle, bytes) {
            Ok(stored) => Ok(Stored { bundle: Some(path), ..stored }),
            Err(why) => Err(match self.damaged(handle, why) {
                Error::Damaged { handle, why, before, .. } => Error::Damaged { path, handle, why, before },
                other => other,
            }),
        }
    }

    /// The file of a checkpoint, byte for byte, and the bundle it is in.
    pub(super) fn find_archived(&self, handle: &Handle) -> Result<(BundleName, Vec<u8>)> {
        let mut damaged = None;
        for name in self.bundles(&handle.workflow)?.into_iter().filter(|name| name.covers(handle.seq)) {
            match self.with_bundle(&handle.workflow, &name, &mut |bundle| bundle.find(handle.seq)) {
                Ok(Some(Some(bytes))) => return Ok((name, bytes)),
                Ok(_) => {}
                // Another bundle may hold it too.
                Err(error @ Error::DamagedBundle { .. }) => damaged = damaged.or(Some(error)),
                Err(error) => return Err(error),
            }
        }
        Err(damaged.unwrap_or_else(|| Error::Archived { handle: handle.clone() }))
    }

    /// Does something with an open bundle; none if it is not there.
    pub(super) fn with_bundle<T>(
        &self,
        workflow: &WorkflowId,
        name: &BundleName,
        then: &mut dyn FnMut(Bundle<'_>) -> Result<T, BadBundle>,
    ) -> Result<Option<T>> {
        let bad = |why| Error::DamagedBundle { path: self.bundle_path(workflow, name), why };
        let Some(dir) = self.open_archive(workflow)? else { return Ok(None) };
        let bytes = match self.disk().read(&dir, &name.to_string(), MAX_BUNDLE_BYTES) {
            Ok(bytes) => bytes,
            Err(FileProblem::Missing) => return Ok(None),
            Err(FileProblem::TooLarge(_)) => return Err(bad(BadBundle::TooLarge)),
            Err(FileProblem::Io(error)) => return Err(bad(BadBundle::Unreadable(error.to_string()))),
            Err(FileProblem::NotAFile | FileProblem::Outside | FileProblem::NotUtf8) => {
                return Err(bad(BadBundle::NotAFile));
            }
        };
        let bundle = Bundle::open(&bytes).map_err(bad)?;
        belongs(bundle.manifest(), workflow, name).map_err(bad)?;
        then(bundle).map(Some).map_err(bad)
    }
}

/// A bundle copied from elsewhere has a valid digest, but says who it is.
fn belongs(manifest: &Manifest, workflow: &WorkflowId, name: &BundleName) -> Result<(), BadBundle> {
    let found = BundleName::new(manifest.first, manifest.last, manifest.created_at, &manifest.reason);
    match found == *name && manifest.workflow == *workflow {
        true => Ok(()),
        false => Err(BadBundle::Misplaced { found: format!("{}/{found}", manifest.workflow) }),
    }
}
