//! The bundles of a workflow: which there are, and finding a checkpoint in them. Nothing here writes.

use std::path::PathBuf;

use super::bundle::{BadBundle, Bundle, BundleName, MAX_BUNDLE_BYTES, Manifest};
use super::disk::Disk;
use super::error::{Error, Result};
use super::gone;
use super::open::Store;
use super::read::Stored;
use crate::core::cause::Cause;
use crate::core::files::FileProblem;
use crate::core::selector::Handle;
use crate::core::workflow_id::WorkflowId;

/// What came of a look at a bundle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Visited {
    /// It was read, or is damaged; the next one.
    Read,
    /// It is not there any more.
    Vanished,
    /// No more is needed.
    Enough,
}

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
        let (mut found, mut damaged) = (None, None);
        self.each_bundle(&handle.workflow, &|name| name.covers(handle.seq), &mut |name| {
            match self.with_bundle(&handle.workflow, name, &mut |bundle| bundle.find(handle.seq)) {
                Ok(None) => return Ok(Visited::Vanished),
                Ok(Some(None)) => {}
                Ok(Some(Some(bytes))) => found = Some((name.clone(), bytes)),
                // Another bundle may hold it too.
                Err(error @ Error::DamagedBundle { .. }) => damaged = damaged.take().or(Some(error)),
                Err(error) => return Err(error),
            }
            Ok(if found.is_some() { Visited::Enough } else { Visited::Read })
        })?;
        let archived = || Error::Archived { handle: handle.clone(), gone: self.why_gone(handle) };
        found.ok_or_else(|| damaged.unwrap_or_else(archived))
    }

    /// Visits the bundles of a workflow, the highest numbers first, each once.
    ///
    /// A bundle that was listed and is gone was merged into another one meanwhile, which the list does not have. So
    /// the list is made again then, and what was not visited yet is visited.
    pub(super) fn each_bundle(
        &self,
        workflow: &WorkflowId,
        wanted: &dyn Fn(&BundleName) -> bool,
        visit: &mut dyn FnMut(&BundleName) -> Result<Visited>,
    ) -> Result<()> {
        let mut seen: Vec<BundleName> = Vec::new();
        loop {
            let mut vanished = false;
            for name in self.bundles(workflow)?.into_iter().filter(|name| wanted(name)) {
                if seen.contains(&name) {
                    continue;
                }
                match visit(&name)? {
                    Visited::Read => {}
                    Visited::Vanished => vanished = true,
                    Visited::Enough => return Ok(()),
                }
                seen.push(name);
            }
            if !vanished {
                return Ok(());
            }
        }
    }

    /// Whether a number is known to be in no bundle.
    pub(super) fn is_noted_gone(&self, handle: &Handle) -> Result<bool> {
        let ranges = self.gone_ranges(&handle.workflow)?;
        Ok(ranges.iter().any(|(first, last)| (*first..=*last).contains(&handle.seq)))
    }

    /// The numbers of a workflow that are known to be in no bundle, first to last.
    pub(super) fn gone_ranges(&self, workflow: &WorkflowId) -> Result<Vec<gone::Range>> {
        let mut ranges = Vec::new();
        if let Some(dir) = self.open_archive(workflow)? {
            self.disk()
                .list(&dir, &mut |name| ranges.extend(gone::parse(name)))
                .map_err(|error| self.failed("list", &self.archive_dir(workflow), error))?;
        }
        Ok(ranges)
    }

    /// Does something with an open bundle; none if it is not there.
    pub(super) fn with_bundle<T>(
        &self,
        workflow: &WorkflowId,
        name: &BundleName,
        then: &mut dyn FnMut(Bundle<'_>) -> Result<T, BadBundle>,
    ) -> Result<Option<T>> {
        let Some(bytes) = self.read_bundle(workflow, name)? else { return Ok(None) };
        let opened = self.open_bundle(workflow, name, &bytes)?;
        let bad = |why| Error::DamagedBundle { path: self.bundle_path(workflow, name), why };
        then(opened).map(Some).map_err(bad)
    }

    /// The file of a bundle as it is; none if it is not there.
    pub(super) fn read_bundle(&self, workflow: &WorkflowId, name: &BundleName) -> Result<Option<Vec<u8>>> {
        let bad = |why| Error::DamagedBundle { path: self.bundle_path(workflow, name), why };
        let Some(dir) = self.open_archive(workflow)? else { return Ok(None) };
        match self.disk().read(&dir, &name.to_string(), MAX_BUNDLE_BYTES) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(FileProblem::Missing) => Ok(None),
            Err(FileProblem::TooLarge(_)) => Err(bad(BadBundle::TooLarge)),
            Err(FileProblem::Io(error)) => Err(bad(BadBundle::Unreadable(Cause::new(error)))),
            Err(FileProblem::NotAFile | FileProblem::Outside | FileProblem::NotUtf8) => {
                Err(bad(BadBundle::NotAFile))
            }
        }
    }

    /// Checks the digest and the manifest of what was read.
    pub(super) fn open_bundle<'a>(
        &self,
        workflow: &WorkflowId,
        name: &BundleName,
        bytes: &'a [u8],
    ) -> Result<Bundle<'a>> {
        let bad = |why| Error::DamagedBundle { path: self.bundle_path(workflow, name), why };
        let bundle = Bundle::open(bytes).map_err(bad)?;
        belongs(bundle.manifest(), workflow, name).map_err(bad)?;
        Ok(bundle)
    }
}

/// A bundle copied from elsewhere has a valid digest, but says who it is.
fn belongs(manifest: &Manifest, workflow: &WorkflowId, name: &BundleName) -> Result<(), BadBundle> {
    let found = BundleName::new(manifest.first, manifest.last, manifest.created_at, &manifest.reason);
    if found == *name && manifest.workflow == *workflow {
        Ok(())
    } else {
        Err(BadBundle::Misplaced { found: format!("{}/{found}", manifest.workflow) })
    }
}
