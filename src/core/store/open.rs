//! A store that has been found.

use std::io;
use std::path::{Path, PathBuf};

use super::disk::{Access, Disk};
use super::error::{Error, Result};
use super::layout::{self, ARCHIVE, CONFIG, GITIGNORE, GITIGNORE_TEXT, WORKFLOWS};
use super::locate::Located;
use super::os_disk::OsDisk;
use crate::core::files::is_link;
use crate::core::selector::Handle;
use crate::core::workflow_id::WorkflowId;

/// How many files of writers who were killed are passed over when a settings file is placed.
const MAX_LEFTOVERS: u32 = 100;

/// A store. Opening one touches nothing; every operation looks at the disk anew.
#[derive(Debug, Clone)]
pub struct Store<D: Disk = OsDisk> {
    disk: D,
    base: PathBuf,
    name: String,
    project: PathBuf,
}

impl Store {
    /// The store at a place that was found.
    ///
    /// # Errors
    /// The place has no name that can be written as text.
    pub fn at(located: &Located) -> Result<Self> {
        let unusable = || Error::NotAStore { path: located.root.clone(), why: "its name cannot be used" };
        let name = located.root.file_name().and_then(|name| name.to_str()).ok_or_else(unusable)?;
        let base =
            located.root.parent().filter(|base| !base.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Ok(Self::on(OsDisk::new(base), base, name, &located.project))
    }
}

impl<D: Disk> Store<D> {
    /// The store called `name` on a disk that sees the directory `base`.
    pub fn on(disk: D, base: &Path, name: &str, project: &Path) -> Self {
        let (base, name, project) = (base.to_owned(), name.to_owned(), project.to_owned());
        Self { disk, base, name, project }
    }

    /// The directory of the store.
    #[must_use]
    pub fn root(&self) -> PathBuf {
        self.base.join(&self.name)
    }

    /// What artifact paths are relative to.
    #[must_use]
    pub fn project(&self) -> &Path {
        &self.project
    }

    /// The settings file of the store, whether or not it exists.
    #[must_use]
    pub fn config_file(&self) -> PathBuf {
        self.root().join(CONFIG)
    }

    /// The directory of a workflow, whether or not it exists.
    #[must_use]
    pub fn workflow_dir(&self, workflow: &WorkflowId) -> PathBuf {
        self.root().join(WORKFLOWS).join(workflow.directory())
    }

    /// The file of a checkpoint, whether or not it exists.
    #[must_use]
    pub fn checkpoint_path(&self, handle: &Handle) -> PathBuf {
        self.workflow_dir(&handle.workflow).join(layout::checkpoint_file(handle.seq))
    }

    /// The directory of the bundles of a workflow, whether or not it exists.
    #[must_use]
    pub fn archive_dir(&self, workflow: &WorkflowId) -> PathBuf {
        self.root().join(ARCHIVE).join(workflow.directory())
    }

    /// The name of the directory of the store.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The disk the store is on.
    #[must_use]
    pub fn disk(&self) -> &D {
        &self.disk
    }

    /// Creates the store if it is not there; true if it was not. What exists is left as it is.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn create(&self) -> Result<bool> {
        let base = self.disk.base().map_err(|error| self.failed("open", &self.base, error))?;
        let root = self.root();
        let created = self.make(&base, &self.name, &root)?;
        let store = self.enter(&base, &self.name, &root)?;
        // The directory of workflows comes last: where it is, everything before it was done, and where somebody was
        // stopped halfway, the next one does all of it again.
        match self.disk.enter(&store, WORKFLOWS) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.place(&store, GITIGNORE, GITIGNORE_TEXT)?;
                self.disk.sync_dir(&base).map_err(|error| self.failed("sync", &self.base, error))?;
                self.make(&store, WORKFLOWS, &root.join(WORKFLOWS))?;
            }
            found => drop(found.map_err(|error| self.refused(&root.join(WORKFLOWS), error))?),
        }
        Ok(created)
    }

    /// Writes the settings file if there is none; true if there was none.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn create_config(&self, text: &str) -> Result<bool> {
        let base = self.disk.base().map_err(|error| self.failed("open", &self.base, error))?;
        let store = self.enter(&base, &self.name, &self.root())?;
        self.place(&store, CONFIG, text.as_bytes())
    }

    /// Puts a file that its owner may edit into the store, whole or not at all; false if there is one already.
    pub(super) fn place(&self, store: &D::Dir, name: &str, bytes: &[u8]) -> Result<bool> {
        let path = self.root().join(name);
        let failed = |error| self.failed("write", &path, error);
        match self.disk.stat(store, name) {
            // Whoever placed it may have been killed before the sync.
            Ok(_) => return self.disk.sync_dir(store).map(|()| false).map_err(failed),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(failed(error)),
        }
        // Whoever has a name first keeps it: others who place the same file, or were killed while doing so, have theirs.
        let mut staged = String::new();
        for attempt in 0..=MAX_LEFTOVERS {
            staged = layout::staged_file(name, attempt);
            match self.disk.stage(store, &staged, bytes, Access::ReadWrite) {
                Ok(_) => break,
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                    let _ = self.disk.remove(store, &staged);
                    return Err(failed(error));
                }
                Err(error) if attempt == MAX_LEFTOVERS => return Err(failed(error)),
                Err(_) => {}
            }
        }
        let placed = match self.disk.publish(store, &staged, name) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(failed(error)),
        };
        // A name that stays behind is harmless, as it is for a checkpoint.
        let _ = self.disk.remove(store, &staged);
        let placed = placed?;
        // Also for one that was there: whoever placed it may have been killed before the sync.
        self.disk.sync_dir(store).map_err(failed)?;
        Ok(placed)
    }

    /// Opens the directory of all workflows; none if there is no store.
    pub(super) fn open_workflows(&self) -> Result<Option<D::Dir>> {
        self.open_below(&[&self.name, WORKFLOWS])
    }

    /// Opens the directory of a workflow; none if it is not there.
    pub(super) fn open_workflow(&self, workflow: &WorkflowId) -> Result<Option<D::Dir>> {
        self.open_below(&[&self.name, WORKFLOWS, &workflow.directory()])
    }

    /// Opens the directory of the archives of all workflows; none if it is not there.
    pub(super) fn open_archives(&self) -> Result<Option<D::Dir>> {
        self.open_below(&[&self.name, ARCHIVE])
    }

    /// Opens the directory of the bundles of a workflow; none if it is not there.
    pub(super) fn open_archive(&self, workflow: &WorkflowId) -> Result<Option<D::Dir>> {
        self.open_below(&[&self.name, ARCHIVE, &workflow.directory()])
    }

    /// Opens a directory by the names that lead to it from the directory that holds the store; none if it is not there.
    fn open_below(&self, names: &[&str]) -> Result<Option<D::Dir>> {
        let found = |opened: io::Result<D::Dir>, path: &dyn Fn() -> PathBuf| match opened {
            Ok(dir) => Ok(Some(dir)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.refused(&path(), error)),
        };
        match self.disk.reach(names) {
            Ok(dir) => return Ok(Some(dir)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            // Level by level it can be said what is in the way.
            Err(_) => {}
        }
        let Some(mut dir) = found(self.disk.base(), &|| self.root())? else { return Ok(None) };
        for (depth, name) in names.iter().enumerate() {
            let path = || self.base.join(names[..=depth].iter().collect::<PathBuf>());
            let Some(next) = found(self.disk.enter(&dir, name), &path)? else { return Ok(None) };
            dir = next;
        }
        Ok(Some(dir))
    }

    /// Makes a directory; true if it was not there.
    pub(super) fn make(&self, dir: &D::Dir, name: &str, path: &Path) -> Result<bool> {
        match self.disk.make_dir(dir, name) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(self.failed("create", path, error)),
        }
    }

    pub(super) fn enter(&self, dir: &D::Dir, name: &str, path: &Path) -> Result<D::Dir> {
        self.disk.enter(dir, name).map_err(|error| self.refused(path, error))
    }

    /// An error about a directory that cannot be entered: something else in its place is told apart.
    pub(super) fn refused(&self, path: &Path, error: io::Error) -> Error {
        if is_link(&error) || error.kind() == io::ErrorKind::NotADirectory {
            Error::NotAStore { path: path.to_owned(), why: "it is a link or a file, and neither is followed" }
        } else {
            self.failed("open", path, error)
        }
    }

    pub(super) fn failed(&self, doing: &'static str, path: &Path, source: io::Error) -> Error {
        Error::Io { doing, path: path.to_owned(), source }
    }
}
