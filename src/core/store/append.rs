//! The save protocol: how a checkpoint is added, by any number of writers at once, without a lock that matters.
//!
//! A writer reads the newest checkpoint, decides what follows it, writes that to a private file, and then claims the
//! next number by linking the file to it, which fails if the number is taken. The loser begins again on top of the
//! winner. The advisory lock only saves losers the work; a writer that does not get it goes on without.
//!
//! Order of the steps, and what each is for:
//!
//! 1. Before the first number of a workflow is claimed, every directory above it is synced. So a number that exists
//!    proves that its directory survives a power loss, whoever made it.
//! 2. The private file is synced before it gets its name: a name never shows half a content.
//! 3. The directory is synced before the save is acknowledged: an acknowledged name does not vanish.
//!    The same goes for one that is found instead of written, because a repeated save is acknowledged by it.
//! 4. The file is looked up once more from the top: if somebody moved the directory away in the meantime, what was
//!    written is not where the next reader will look, and that must not be acknowledged.

use std::io;
use std::time::Duration;

use super::disk::{Access, Disk, FileId};
use super::error::{Error, Result};
use super::layout::{self, WORKFLOWS};
use super::open::Store;
use crate::core::cause::Cause;
use crate::core::checkpoint::Checkpoint;
use crate::core::format::{self, MAX_FILE_BYTES};
use crate::core::selector::Handle;
use crate::core::workflow_id::WorkflowId;

/// How long a writer waits for others before it goes on without the lock.
pub const LOCK_PATIENCE: Duration = Duration::from_secs(2);
/// How long a writer waits for a directory that was moved away to come back.
const RETURN_PATIENCE: Duration = Duration::from_secs(2);
const RETURN_POLL: Duration = Duration::from_millis(20);

/// The decision of a writer that has seen the newest checkpoint. `K` is its reason to add nothing.
#[derive(Debug)]
pub enum Decision<K> {
    /// Add this checkpoint, which continues the newest one.
    Write(Box<Checkpoint>),
    /// Add nothing.
    Keep(K),
}

#[derive(Debug, thiserror::Error)]
#[error("its directory could not be synced: {0}")]
struct NotSynced(#[source] io::Error);

impl<D: Disk> Store<D> {
    /// Adds a checkpoint to a workflow and returns the decision that was carried out; a checkpoint in it survives a
    /// power loss.
    ///
    /// `decide` is given the newest checkpoint and its number, and is asked again when another writer was faster. The
    /// store is created if it is not there. An error of `decide` leaves everything as it was. An archived workflow goes
    /// on above its seal: `decide` is given the last checkpoint under the number of the seal, and its own number.
    ///
    /// # Errors
    /// The newest checkpoint cannot be continued, the disk refuses, or `decide` does.
    pub fn append<K>(
        &self,
        workflow: &WorkflowId,
        save_id: &str,
        mut decide: impl FnMut(Option<Box<Checkpoint>>, u64) -> Result<Decision<K>>,
    ) -> Result<Decision<K>> {
        self.append_at(workflow, save_id, |dir, newest| {
            let base = self.base(dir, workflow, newest)?;
            let (seq, content_seq) = base.as_ref().map_or((0, 0), |base| (base.checkpoint.seq, base.content));
            let mut decision = decide(base.map(|base| base.checkpoint), content_seq)?;
            if let Decision::Write(checkpoint) = &mut decision {
                checkpoint.seq = seq.saturating_add(1);
            }
            Ok(decision)
        })
    }

    /// Adds what `decide` wants on top of what it finds: the workflow's directory, if there is one, and the newest
    /// number. The number of the checkpoint is its business.
    pub(super) fn append_at<K>(
        &self,
        workflow: &WorkflowId,
        save_id: &str,
        mut decide: impl FnMut(Option<&D::Dir>, Option<u64>) -> Result<Decision<K>>,
    ) -> Result<Decision<K>> {
        let mut lock = None;
        let mut attempt = 0;
        loop {
            let dir = self.open_workflow(workflow)?;
            if let (Some(dir), None) = (&dir, &lock) {
                lock = Some(self.disk().lock(dir, LOCK_PATIENCE));
            }
            let live = dir.as_ref().map_or(Ok(None), |dir| self.newest_in(dir, workflow))?;
            let newest = self.newest_above(live, workflow)?;
            let mut checkpoint = match decide(dir.as_ref(), newest)? {
                Decision::Write(checkpoint) => checkpoint,
                Decision::Keep(why) => {
                    // Whoever wrote it may have been killed before the sync, and this acknowledges it again.
                    if let Some(dir) = &dir {
                        let path = self.workflow_dir(workflow);
                        self.disk().sync_dir(dir).map_err(|error| self.failed("sync", &path, error))?;
                    }
                    return Ok(Decision::Keep(why));
                }
            };
            // A new workflow's first decision is made before anything is created, so that a refusal leaves no trace.
            let Some(dir) = dir else {
                self.create()?;
                self.make_workflow(workflow)?;
                continue;
            };
            if live.is_none() {
                self.sync_above(workflow)?;
            }
            if let Some(newest) = newest.filter(|newest| live < Some(*newest)) {
                self.rebuild(&dir, workflow, newest, save_id)?;
            }
            if let Some(()) = self.claim(&dir, &mut checkpoint, save_id, attempt)? {
                return Ok(Decision::Write(checkpoint));
            }
            attempt += 1;
        }
    }

    pub(super) fn make_workflow(&self, workflow: &WorkflowId) -> Result<()> {
        let path = self.workflow_dir(workflow);
        let workflows = self.open_workflows()?.ok_or_else(|| {
            self.failed("open", &self.root().join(WORKFLOWS), io::ErrorKind::NotFound.into())
        })?;
        self.make(&workflows, &workflow.directory(), &path).map(drop)
    }

    /// Tries to make `checkpoint` the next one; `None` if its number is taken.
    fn claim(
        &self,
        dir: &D::Dir,
        checkpoint: &mut Checkpoint,
        save_id: &str,
        attempt: u32,
    ) -> Result<Option<()>> {
        let handle = checkpoint.handle();
        let failed = |error: io::Error| self.failed("write", &self.checkpoint_path(&handle), error);
        let bytes = format::encode(checkpoint).map_err(|error| failed(error.into()))?;
        if bytes.len() as u64 > MAX_FILE_BYTES {
            return Err(Error::TooLarge { bytes: bytes.len() as u64, limit: MAX_FILE_BYTES });
        }
        let staged = layout::staged_file(save_id, attempt);
        let file = match self.disk().stage(dir, &staged, &bytes, Access::ReadOnly) {
            Ok(file) => file,
            Err(error) => {
                let _ = self.disk().remove(dir, &staged);
                return Err(failed(error));
            }
        };
        let published = self.disk().publish(dir, &staged, &layout::checkpoint_file(handle.seq));
        let refused = match published {
            Ok(()) => None,
            // A link that was made may be reported as one that exists, or not at all: the count of names tells.
            Err(error) => match self.disk().stat(dir, &staged) {
                Ok(stat) if stat.links > 1 => None,
                Ok(_) => Some(error),
                Err(_) => return Err(self.unconfirmed(&handle, Cause::new(error))),
            },
        };
        // A name that stays behind is found by its prefix and swept later; nothing depends on its removal.
        let _ = self.disk().remove(dir, &staged);
        match refused {
            None => self.confirm(dir, checkpoint, file).map(Some),
            Some(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(None),
            Some(error) if error.kind() == io::ErrorKind::Unsupported => {
                Err(Error::UnsupportedFileSystem { path: self.workflow_dir(&handle.workflow) })
            }
            Some(error) => Err(failed(error)),
        }
    }

    /// Makes sure that the published file stays and is where readers will look for it.
    fn confirm(&self, dir: &D::Dir, checkpoint: &Checkpoint, file: FileId) -> Result<()> {
        let handle = &checkpoint.handle();
        let unconfirmed = |why| Err(self.unconfirmed(handle, why));
        if let Err(error) = self.disk().sync_dir(dir) {
            return unconfirmed(Cause::new(NotSynced(error)));
        }
        let name = layout::checkpoint_file(handle.seq);
        let mut left = RETURN_PATIENCE;
        loop {
            let found = match self.open_workflow(&handle.workflow) {
                Ok(Some(dir)) => self.disk().stat(&dir, &name),
                Ok(None) => Err(io::ErrorKind::NotFound.into()),
                Err(error) => return unconfirmed(Cause::new(error)),
            };
            match found {
                Ok(found) if found.id == file => return Ok(()),
                // Archived, or even restored, in the meantime: another file stands for the same content.
                Ok(_)
                    if self.load(handle).is_ok_and(|found| found.checkpoint.sha256 == checkpoint.sha256) =>
                {
                    return Ok(());
                }
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return unconfirmed(Cause::new(error));
                }
                _ if left.is_zero() => {
                    return unconfirmed(Cause::new(
                        "the directory of the workflow was moved while it was written",
                    ));
                }
                _ => {
                    self.disk().pause(RETURN_POLL);
                    left = left.saturating_sub(RETURN_POLL);
                }
            }
        }
    }

    /// Syncs the directories whose entries lead to a workflow.
    pub(super) fn sync_above(&self, workflow: &WorkflowId) -> Result<()> {
        let root = self.root();
        let workflows_path = root.join(WORKFLOWS);
        let base_path = root.parent().unwrap_or(&root).to_owned();
        let base = self.disk().base().map_err(|error| self.failed("open", &base_path, error))?;
        let store = self.enter(&base, self.name(), &root)?;
        let workflows = self.enter(&store, WORKFLOWS, &workflows_path)?;
        let sync =
            |dir, path: &_| self.disk().sync_dir(dir).map_err(|error| self.failed("sync", path, error));
        sync(&workflows, &self.workflow_dir(workflow))?;
        sync(&store, &workflows_path)?;
        sync(&base, &root)
    }

    fn unconfirmed(&self, handle: &Handle, why: Cause) -> Error {
        Error::Unconfirmed { handle: handle.clone(), path: self.checkpoint_path(handle), why }
    }
}
