//! The archive of one workflow: its bundles and deletion records.

use std::collections::BTreeSet;
use std::io;
use std::ops::ControlFlow;
use std::path::PathBuf;

use super::bundle::{BadBundle, Bundle, BundleName, MAX_BUNDLE_BYTES, Manifest};
use super::disk::{Disk, Stat};
use super::error::{Error, Result};
use super::layout::ARCHIVE;
use super::open::Store;
use super::publish::NewFile;
use super::workflow::Stored;
use crate::files::FileProblem;
use ckpt_model::cause::Cause;
use ckpt_model::selector::Handle;
use ckpt_model::workflow_id::WorkflowId;

/// The archive of one workflow. Without a directory it is empty.
#[derive(Debug)]
pub(super) struct Archive<'s, D: Disk> {
    store: &'s Store<D>,
    id: &'s WorkflowId,
    dir: Option<D::Dir>,
}

impl<D: Disk> Store<D> {
    /// Returns the path of a bundle, whether or not it exists.
    #[must_use]
    pub fn bundle_path(&self, workflow: &WorkflowId, name: &BundleName) -> PathBuf {
        self.archive_dir(workflow).join(name.to_string())
    }

    /// Lists the bundles of a workflow, the highest numbers first.
    ///
    /// # Errors
    /// The archive cannot be read.
    pub fn bundles(&self, workflow: &WorkflowId) -> Result<Vec<BundleName>> {
        self.archive_of(workflow)?.bundles()
    }

    /// Reads a bundle to its end, checks every file in it, and returns its bytes too; none if there is no such bundle.
    ///
    /// # Errors
    /// It cannot be read, or is damaged.
    pub fn read_bundle(&self, workflow: &WorkflowId, name: &BundleName) -> Result<Option<(Vec<u8>, Manifest)>> {
        let archive = self.archive_of(workflow)?;
        let damaged = |why| archive.damaged(name, why);
        let Some(bytes) = archive.read(name).map_err(damaged)? else { return Ok(None) };
        let manifest = archive.parse(name, &bytes).and_then(|bundle| bundle.verify(&mut || {}));
        let manifest = manifest.map_err(damaged)?;
        Ok(Some((bytes, manifest)))
    }

    /// Opens the archive of a workflow.
    pub(super) fn archive_of<'s>(&'s self, id: &'s WorkflowId) -> Result<Archive<'s, D>> {
        let dir = self.open_below(&[self.name(), ARCHIVE, &id.directory()])?;
        Ok(Archive { store: self, id, dir })
    }

    /// Opens the archive of a workflow in the open directory of all archives.
    pub(super) fn archive_in<'s>(&'s self, archives: Option<&D::Dir>, id: &'s WorkflowId) -> Result<Archive<'s, D>> {
        let opened = archives.map(|archives| self.disk().enter(archives, &id.directory()));
        let dir = opened.map(|opened| self.found(opened, || self.archive_dir(id))).transpose()?.flatten();
        Ok(Archive { store: self, id, dir })
    }

    /// Opens the archive of a workflow, and creates its directories if they are missing.
    pub(super) fn create_archive<'s>(&'s self, id: &'s WorkflowId) -> Result<Archive<'s, D>> {
        let [root, path] = [self.root(), self.archive_dir(id)];
        let store = self.open_root()?;
        self.make(&store, ARCHIVE, &root.join(ARCHIVE))?;
        let archive = self.enter(&store, ARCHIVE, &root.join(ARCHIVE))?;
        self.make(&archive, &id.directory(), &path)?;
        let dir = self.enter(&archive, &id.directory(), &path)?;
        Ok(Archive { store: self, id, dir: Some(dir) })
    }
}

impl<'s, D: Disk> Archive<'s, D> {
    pub(super) fn handle(&self, seq: u64) -> Handle {
        Handle::new(self.id, seq)
    }

    pub(super) fn id(&self) -> &'s WorkflowId {
        self.id
    }

    pub(super) fn path(&self) -> PathBuf {
        self.store.archive_dir(self.id)
    }

    pub(super) fn bundle_path(&self, name: &BundleName) -> PathBuf {
        self.store.bundle_path(self.id, name)
    }

    pub(super) fn dir(&self) -> Option<&D::Dir> {
        self.dir.as_ref()
    }

    /// Passes each name in the archive to `visit`.
    pub(super) fn list(&self, mut visit: impl FnMut(&str)) -> Result<()> {
        let Some(dir) = &self.dir else { return Ok(()) };
        let listed = self.store.disk().list(dir, &mut visit);
        listed.map_err(|error| self.store.failed("list", &self.path(), error))
    }

    /// Returns the names in the directory.
    pub(super) fn names(&self) -> Result<BTreeSet<String>> {
        self.dir.as_ref().map_or_else(|| Ok(BTreeSet::new()), |dir| self.store.names(dir, &self.path()))
    }

    pub(super) fn stat(&self, name: &str) -> io::Result<Stat> {
        let dir = self.dir.as_ref().ok_or(io::ErrorKind::NotFound)?;
        self.store.disk().stat(dir, name)
    }

    pub(super) fn read_file(&self, name: &str, limit: u64) -> Result<Vec<u8>, FileProblem> {
        let dir = self.dir.as_ref().ok_or(FileProblem::Missing)?;
        self.store.disk().read(dir, name, limit)
    }

    /// Lists the bundles, the highest numbers first.
    pub(super) fn bundles(&self) -> Result<Vec<BundleName>> {
        let mut names = Vec::new();
        self.list(|name| names.extend(BundleName::parse(name)))?;
        names.sort_by_cached_key(|name| std::cmp::Reverse((name.last, name.saved_at, name.to_string())));
        Ok(names)
    }

    /// Visits every bundle once, the highest numbers first.
    pub(super) fn each_bundle(
        &self,
        mut visit: impl FnMut(&BundleName, Result<Bundle<'_>, BadBundle>) -> Result<()>,
    ) -> Result<()> {
        self.find_bundle(|_| true, |name, bundle| visit(name, bundle).map(ControlFlow::<()>::Continue)).map(drop)
    }

    /// Visits the wanted bundles once each, the highest numbers first, until `visit` returns a value.
    ///
    /// A bundle that disappears after it was listed was deleted or moved. So the archive is listed again, and what was
    /// not visited yet is visited.
    pub(super) fn find_bundle<T>(
        &self,
        wanted: impl Fn(&BundleName) -> bool,
        mut visit: impl FnMut(&BundleName, Result<Bundle<'_>, BadBundle>) -> Result<ControlFlow<T>>,
    ) -> Result<Option<T>> {
        let mut seen: Vec<BundleName> = Vec::new();
        loop {
            let mut vanished = false;
            for name in self.bundles()?.into_iter().filter(|name| wanted(name)) {
                if seen.contains(&name) {
                    continue;
                }
                let bytes = self.read(&name);
                let flow = match &bytes {
                    Ok(Some(bytes)) => visit(&name, self.parse(&name, bytes))?,
                    Ok(None) => {
                        vanished = true;
                        ControlFlow::Continue(())
                    }
                    Err(why) => visit(&name, Err(why.clone()))?,
                };
                if let ControlFlow::Break(value) = flow {
                    return Ok(Some(value));
                }
                seen.push(name);
            }
            if !vanished {
                return Ok(None);
            }
        }
    }

    /// Calls `then` with an open bundle. Returns none if there is no such bundle.
    pub(super) fn with_bundle<T>(
        &self,
        name: &BundleName,
        then: impl FnOnce(Bundle<'_>) -> Result<T, BadBundle>,
    ) -> Result<Option<T>> {
        let bad = |why| self.damaged(name, why);
        let Some(bytes) = self.read(name).map_err(bad)? else { return Ok(None) };
        self.parse(name, &bytes).and_then(then).map(Some).map_err(bad)
    }

    /// Reads a bundle to its end and checks every file in it. Returns none if there is no such bundle.
    pub(super) fn verify(&self, name: &BundleName) -> Result<Option<Manifest>> {
        self.with_bundle(name, |bundle| bundle.verify(&mut || {}))
    }

    /// Reads the bytes of a bundle. Returns none if there is no such bundle.
    pub(super) fn read(&self, name: &BundleName) -> Result<Option<Vec<u8>>, BadBundle> {
        match self.read_file(&name.to_string(), MAX_BUNDLE_BYTES) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(FileProblem::Missing) => Ok(None),
            Err(FileProblem::TooLarge(_)) => Err(BadBundle::TooLarge),
            Err(FileProblem::Io(error)) => Err(BadBundle::Unreadable(Cause::new(error))),
            Err(FileProblem::NotAFile | FileProblem::Outside | FileProblem::NotUtf8) => Err(BadBundle::NotAFile),
        }
    }

    /// Checks the digest of a bundle, its manifest, and that it belongs here: a bundle copied from elsewhere has a
    /// valid digest.
    pub(super) fn parse<'b>(&self, name: &BundleName, bytes: &'b [u8]) -> Result<Bundle<'b>, BadBundle> {
        let bundle = Bundle::open(bytes)?;
        let manifest = bundle.manifest();
        let (found, workflow) = (manifest.name(), &manifest.workflow);
        if found != *name || workflow != self.id {
            return Err(BadBundle::Misplaced { found: format!("{workflow}/{found}") });
        }
        Ok(bundle)
    }

    pub(super) fn damaged(&self, name: &BundleName, why: BadBundle) -> Error {
        Error::DamagedBundle { path: self.bundle_path(name), why }
    }

    /// Finds the file of a checkpoint: the bundle that holds it, and its exact bytes.
    pub(super) fn find(&self, seq: u64) -> Result<(BundleName, Vec<u8>)> {
        let mut damaged = None;
        let found = self.find_bundle(
            |name| name.covers(seq),
            |name, bundle| {
                Ok(match bundle.and_then(|bundle| bundle.find(seq)) {
                    Ok(Some(bytes)) => ControlFlow::Break((name.clone(), bytes)),
                    Ok(None) => ControlFlow::Continue(()),
                    // Another bundle may hold it too.
                    Err(why) => {
                        damaged.get_or_insert_with(|| self.damaged(name, why));
                        ControlFlow::Continue(())
                    }
                })
            },
        )?;
        found.ok_or_else(|| damaged.unwrap_or_else(|| self.not_archived(seq)))
    }

    /// Reads one checkpoint.
    pub(super) fn load(&self, seq: u64) -> Result<Stored> {
        let (name, bytes) = self.find(seq)?;
        let path = self.bundle_path(&name);
        let handle = self.handle(seq);
        match Stored::decode(&handle, bytes) {
            Ok(stored) => Ok(Stored { bundle: Some(path), ..stored }),
            Err(why) => {
                let before = self.store.workflow(self.id).ok().and_then(|workflow| workflow.usable_below(seq));
                Err(Error::Damaged { handle, path, why, before })
            }
        }
    }

    /// Publishes a file. One of the same name that is there stays.
    pub(super) fn publish_file(&self, file: &NewFile<'_>) -> Result<()> {
        let published = match &self.dir {
            Some(dir) => file.publish(self.store.disk(), dir),
            None => Err(io::ErrorKind::NotFound.into()),
        };
        published.map(drop).map_err(|error| self.store.not_written(&self.path().join(file.name), error))
    }

    /// Removes a bundle. Returns false if it was removed already.
    pub(super) fn remove(&self, name: &BundleName) -> Result<bool> {
        let Some(dir) = &self.dir else { return Ok(false) };
        self.store.remove(dir, &name.to_string(), &self.bundle_path(name))
    }

    /// Syncs the directory of the archive and the directories above it.
    pub(super) fn sync(&self) -> Result<()> {
        let [root, path] = [self.store.root(), self.path()];
        let store = self.store.open_root()?;
        let archive = self.store.enter(&store, ARCHIVE, &root.join(ARCHIVE))?;
        let dir = self.store.enter(&archive, &self.id.directory(), &path)?;
        self.store.sync(&dir, &path)?;
        self.store.sync(&archive, &root.join(ARCHIVE))?;
        self.store.sync(&store, &root)
    }
}
