//! The store itself: its paths, opening its directories, and creating it.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::disk::{Access, Disk};
use super::error::{Error, Result};
use super::head_memory::HeadMemory;
use super::layout::{self, ARCHIVE, CONFIG, GITIGNORE, GITIGNORE_TEXT, SIDES, WORKFLOWS};
use super::locate::Located;
use super::os_disk::OsDisk;
use super::publish::NewFile;
use super::sides;
use crate::files::FileProblem;
use ckpt_model::selector::Handle;
use ckpt_model::workflow_id::WorkflowId;
use ckpt_platform::is_link;

/// How long a writer waits for a lock before it continues without it, or for a renamed directory to come back.
const PATIENCE: Duration = Duration::from_secs(2);
/// The maximum size of a settings file that is edited.
const MAX_CONFIG_BYTES: u64 = 1 << 20;
/// How many temporary names are tried for a settings file.
const MAX_ATTEMPTS: u32 = 100;

/// A store. Creating this value touches nothing; every operation reads the disk again, except for a head that it
/// [remembers](Self::remembering).
#[derive(Debug, Clone)]
pub struct Store<D: Disk = OsDisk> {
    disk: D,
    base: PathBuf,
    name: String,
    project: PathBuf,
    /// How long a writer waits for others.
    patience: Duration,
    /// The head that was written last, for a process that saves again and again.
    heads: Option<HeadMemory>,
}

impl Store {
    /// Returns the store at a location.
    ///
    /// # Errors
    /// The name of its directory is not UTF-8.
    pub fn at(located: &Located) -> Result<Self> {
        let unusable = || Error::NotAStore { path: located.root.clone(), why: "its name cannot be used" };
        let name = located.root.file_name().and_then(|name| name.to_str()).ok_or_else(unusable)?;
        let base = located.root.parent().filter(|base| !base.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Ok(Self::on(OsDisk::new(base), base, name, &located.project))
    }
}

impl<D: Disk> Store<D> {
    /// Returns the store `name` in the directory `base` of a disk.
    pub fn on(disk: D, base: &Path, name: &str, project: &Path) -> Self {
        let (base, name, project) = (base.to_owned(), name.to_owned(), project.to_owned());
        Self { disk, base, name, project, patience: PATIENCE, heads: None }
    }

    /// Returns the same store for a caller that has no time: its saves do not wait for other writers, which only spares
    /// them to begin again.
    #[must_use]
    pub fn without_waiting(self) -> Self {
        Self { patience: Duration::ZERO, ..self }
    }

    /// Returns the same store for a process that saves to it again and again, and remembers what it has written.
    #[must_use]
    pub fn remembering(self, heads: HeadMemory) -> Self {
        Self { heads: Some(heads), ..self }
    }

    /// Returns the memory of the head that was written last.
    pub(super) fn heads(&self) -> Option<&HeadMemory> {
        self.heads.as_ref()
    }

    /// Returns how long a writer waits for a lock, or for a directory that was renamed.
    pub(super) fn patience(&self) -> Duration {
        self.patience
    }

    /// Returns the directory of the store.
    #[must_use]
    pub fn root(&self) -> PathBuf {
        self.base.join(&self.name)
    }

    /// Returns the directory that artifact paths are relative to.
    #[must_use]
    pub fn project(&self) -> &Path {
        &self.project
    }

    /// Returns the path of the settings file, whether or not it exists.
    #[must_use]
    pub fn config_file(&self) -> PathBuf {
        self.root().join(CONFIG)
    }

    /// Returns the directory of a workflow, whether or not it exists.
    #[must_use]
    pub fn workflow_dir(&self, workflow: &WorkflowId) -> PathBuf {
        self.root().join(WORKFLOWS).join(workflow.directory())
    }

    /// Returns the path of an entry, whether or not it exists.
    #[must_use]
    pub fn checkpoint_path(&self, handle: &Handle) -> PathBuf {
        match handle.side {
            Some(digest) => self.sides_dir(&handle.workflow).join(sides::side_file(handle.seq, digest)),
            None => self.workflow_dir(&handle.workflow).join(layout::checkpoint_file(handle.seq)),
        }
    }

    /// Returns the directory of the side checkpoints of a workflow, whether or not it exists.
    #[must_use]
    pub fn sides_dir(&self, workflow: &WorkflowId) -> PathBuf {
        self.root().join(SIDES).join(workflow.directory())
    }

    /// Returns the directory of the archive of a workflow, whether or not it exists.
    #[must_use]
    pub fn archive_dir(&self, workflow: &WorkflowId) -> PathBuf {
        self.root().join(ARCHIVE).join(workflow.directory())
    }

    /// Returns the name of the store's directory.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the disk.
    #[must_use]
    pub fn disk(&self) -> &D {
        &self.disk
    }

    /// Returns the disk, and gives up the store.
    #[must_use]
    pub fn into_disk(self) -> D {
        self.disk
    }

    /// Returns the permission bits of the store's directory.
    ///
    /// # Errors
    /// It cannot be looked at.
    pub fn mode(&self) -> Result<u32> {
        let failed = |error| self.failed("look at", &self.root(), error);
        let base = self.disk.base().map_err(failed)?;
        self.disk.stat(&base, &self.name).map(|stat| stat.mode).map_err(failed)
    }

    /// Creates the store, or the parts of it that are missing. Returns true if there was none.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn create(&self) -> Result<bool> {
        let base = self.disk.base().map_err(|error| self.failed("open", &self.base, error))?;
        let root = self.root();
        let created = self.make(&base, &self.name, &root)?;
        let store = self.enter(&base, &self.name, &root)?;
        // The directory of workflows comes last: if it exists, everything else was created before. A process that was
        // killed halfway leaves the rest to the next one.
        match self.disk.enter(&store, WORKFLOWS) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.publish_editable(&store, GITIGNORE, GITIGNORE_TEXT)?;
                self.disk.sync_dir(&base).map_err(|error| self.failed("sync", &self.base, error))?;
                self.make(&store, WORKFLOWS, &root.join(WORKFLOWS))?;
            }
            found => drop(found.map_err(|error| self.refused(&root.join(WORKFLOWS), error))?),
        }
        Ok(created)
    }

    /// Writes the settings file. Returns false if there is one already.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn create_config(&self, text: &str) -> Result<bool> {
        let base = self.disk.base().map_err(|error| self.failed("open", &self.base, error))?;
        let store = self.enter(&base, &self.name, &self.root())?;
        self.publish_editable(&store, CONFIG, text.as_bytes())
    }

    /// Returns the text of the settings file; empty if there is none.
    ///
    /// # Errors
    /// It cannot be read, or is not UTF-8.
    pub fn config_text(&self) -> Result<String> {
        let path = self.config_file();
        let Some(store) = self.open_below(&[&self.name])? else { return Ok(String::new()) };
        match self.disk.read(&store, CONFIG, MAX_CONFIG_BYTES) {
            Ok(bytes) => {
                String::from_utf8(bytes).map_err(|_| self.failed("read", &path, io::ErrorKind::InvalidData.into()))
            }
            Err(FileProblem::Missing) => Ok(String::new()),
            Err(problem) => Err(self.failed("read", &path, io::Error::other(problem))),
        }
    }

    /// Replaces the settings file, or creates it.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn replace_config(&self, text: &str) -> Result<()> {
        let path = self.config_file();
        let failed = |error| self.not_written(&path, error);
        let base = self.disk.base().map_err(|error| self.failed("open", &self.base, error))?;
        let store = self.enter(&base, &self.name, &self.root())?;
        let mut attempt = 0;
        loop {
            let staged = layout::staged_file(CONFIG, attempt);
            let replaced = self
                .disk
                .stage(&store, &staged, text.as_bytes(), Access::ReadWrite)
                .and_then(|_file| self.disk.replace(&store, &staged, CONFIG));
            match replaced {
                // The temporary file belongs to a concurrent or killed writer.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempt < MAX_ATTEMPTS => {
                    attempt += 1;
                }
                replaced => {
                    replaced.map_err(failed)?;
                    return self.disk.sync_dir(&store).map_err(failed);
                }
            }
        }
    }

    /// Publishes a file that its owner may edit, and syncs the store. Returns false if there is one already.
    pub(super) fn publish_editable(&self, store: &D::Dir, name: &str, bytes: &[u8]) -> Result<bool> {
        let path = self.root().join(name);
        let failed = |error| self.not_written(&path, error);
        let is_there = match self.disk.stat(store, name) {
            Ok(_) => true,
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            Err(error) => return Err(failed(error)),
        };
        let published = !is_there && self.publish_under_any(store, name, bytes).map_err(failed)?;
        // Also if it was there: its writer may have been killed before the sync.
        self.disk.sync_dir(store).map_err(failed)?;
        Ok(published)
    }

    /// Publishes a file under the first temporary name that is free: others belong to concurrent or killed writers. One
    /// that another process removes is written again.
    fn publish_under_any(&self, store: &D::Dir, name: &str, bytes: &[u8]) -> io::Result<bool> {
        let may_pass =
            |error: &io::Error| matches!(error.kind(), io::ErrorKind::AlreadyExists | io::ErrorKind::NotFound);
        let mut attempt = 0;
        loop {
            let staged = &layout::staged_file(name, attempt);
            let file = NewFile { staged, name, bytes, access: Access::ReadWrite };
            match file.publish(&self.disk, store) {
                Err(error) if may_pass(&error) && attempt < MAX_ATTEMPTS => attempt += 1,
                published => return published,
            }
        }
    }

    /// Opens the directory of all workflows. Returns none if it is missing.
    pub(super) fn open_workflows(&self) -> Result<Option<D::Dir>> {
        self.open_below(&[&self.name, WORKFLOWS])
    }

    /// Opens the directory of the store.
    pub(super) fn open_root(&self) -> Result<D::Dir> {
        let root = self.root();
        let base = self.disk.base().map_err(|error| self.failed("open", &root, error))?;
        self.enter(&base, &self.name, &root)
    }

    /// Opens a directory by its path components, beginning with the name of the store. Returns none if it is missing.
    pub(super) fn open_below(&self, names: &[&str]) -> Result<Option<D::Dir>> {
        match self.disk.reach(names) {
            Ok(dir) => return Ok(Some(dir)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            // Level by level, the error names the component that is no directory.
            Err(_) => {}
        }
        let Some(mut dir) = self.found(self.disk.base(), || self.root())? else { return Ok(None) };
        for (depth, name) in names.iter().enumerate() {
            let path = || self.base.join(names[..=depth].iter().collect::<PathBuf>());
            let Some(next) = self.found(self.disk.enter(&dir, name), path)? else { return Ok(None) };
            dir = next;
        }
        Ok(Some(dir))
    }

    /// Returns the directory that was opened at a path, or none if it is missing.
    pub(super) fn found(&self, opened: io::Result<D::Dir>, path: impl FnOnce() -> PathBuf) -> Result<Option<D::Dir>> {
        match opened {
            Ok(dir) => Ok(Some(dir)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.refused(&path(), error)),
        }
    }

    /// Creates a directory. Returns false if it exists.
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

    /// The error about a directory that cannot be opened. A link or a file in its place has an error of its own.
    pub(super) fn refused(&self, path: &Path, error: io::Error) -> Error {
        if is_link(&error) || error.kind() == io::ErrorKind::NotADirectory {
            Error::NotAStore { path: path.to_owned(), why: "it is a link or a file, and neither is followed" }
        } else {
            self.failed("open", path, error)
        }
    }

    /// Returns the names in a directory.
    pub(super) fn names(&self, dir: &D::Dir, path: &Path) -> Result<BTreeSet<String>> {
        let mut names = BTreeSet::new();
        let listed = self.disk.list(dir, &mut |name| {
            names.insert(name.to_owned());
        });
        listed.map_err(|error| self.failed("list", path, error))?;
        Ok(names)
    }

    /// Syncs a directory.
    pub(super) fn sync(&self, dir: &D::Dir, path: &Path) -> Result<()> {
        self.disk.sync_dir(dir).map_err(|error| self.failed("sync", path, error))
    }

    /// Removes a file. Returns false if there was none.
    pub(super) fn remove(&self, dir: &D::Dir, name: &str, path: &Path) -> Result<bool> {
        match self.disk.remove(dir, name) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(self.failed("remove", path, error)),
        }
    }

    /// The error about a file that could not be written.
    pub(super) fn not_written(&self, path: &Path, error: io::Error) -> Error {
        self.unsupported_or("write", path, error)
    }

    /// The error about a file that could not be published or moved without replacing another.
    pub(super) fn unsupported_or(&self, doing: &'static str, path: &Path, error: io::Error) -> Error {
        if error.kind() == io::ErrorKind::Unsupported {
            return Error::UnsupportedFileSystem { path: path.parent().unwrap_or(path).to_owned() };
        }
        self.failed(doing, path, error)
    }

    pub(super) fn failed(&self, doing: &'static str, path: &Path, source: io::Error) -> Error {
        Error::Io { doing, path: path.to_owned(), source }
    }
}
