//! The save protocol: how checkpoints are added by any number of writers at once.
//!
//! A writer reads the head, decides on the next checkpoint, stages it as a temporary file, and claims the next number by
//! publishing the file under it, which fails if the number is taken. The loser begins again on top of the winner. The
//! advisory lock only spares losers that work; a writer that does not get the lock continues without it. A writer whose
//! temporary file is removed by another process before it is published writes another one.
//!
//! The order of the steps, and the reason of each:
//!
//! 1. Before the first number of a workflow is claimed, every directory above it is synced. So a number that exists
//!    proves that its directory survives a power loss, whichever process created it.
//! 2. The temporary file is synced before it is published: a published name never has partial content.
//! 3. The directory is synced before the save is acknowledged: an acknowledged name does not vanish. The same goes for a
//!    checkpoint that is found instead of written, because it acknowledges a repeated save.
//! 4. The file is looked up once more by its path: if the directory was renamed meanwhile, the next reader would not
//!    find the file, and the save must not be acknowledged.
//! 5. Objects that the checkpoint refers to are made durable while it is staged: before it is published, so that no
//!    checkpoint lacks one, and after its file can be read, so that a cleanup sees that it refers to them. See `objects`.

use std::cell::RefCell;
use std::collections::HashSet;
use std::io;
use std::time::Duration;

use super::disk::{Access, Disk, FileId, StagedFile};
use super::error::{Error, Result};
use super::layout::{self, WORKFLOWS};
use super::objects::{ObjectContent, objects_of};
use super::open::Store;
use super::publish::NewFile;
use super::workflow::Workflow;
use ckpt_model::cause::Cause;
use ckpt_model::checkpoint::Checkpoint;
use ckpt_model::format::{self, MAX_FILE_BYTES};
use ckpt_model::selector::Handle;
use ckpt_model::workflow_id::WorkflowId;

const RETURN_POLL: Duration = Duration::from_millis(20);
/// How often a writer begins again because the number was taken, or its temporary file removed. Each time another
/// process was faster, so this many are lost only if something is wrong with the directory.
const MAX_ATTEMPTS: u32 = 200;

/// The decision of a writer that has seen the head. `K` is its reason to add nothing.
#[derive(Debug)]
pub enum Decision<K> {
    /// Add this checkpoint, which continues the head.
    Write(Box<Checkpoint>),
    /// Add nothing.
    Keep(K),
}

/// The result of an attempt to take a number.
enum Claim {
    /// The checkpoint has the number.
    Won,
    /// Another writer has it.
    Taken,
    /// Another process removed the temporary file before it was published.
    StagedRemoved,
}

#[derive(Debug, thiserror::Error)]
#[error("its directory could not be synced: {0}")]
struct NotSynced(#[source] io::Error);

impl<D: Disk> Store<D> {
    /// Adds a checkpoint to a workflow and returns the decision that was carried out; a checkpoint in it survives a
    /// power loss.
    ///
    /// `decide` is called with the checkpoint to continue and the number of its content, and again when another writer was
    /// faster. The two numbers differ above a seal: there the checkpoint has the number of the seal and the content of
    /// the last checkpoint below. The store is created if it is missing. An error of `decide` changes nothing.
    ///
    /// # Errors
    /// The head cannot be continued, the disk refuses, or `decide` does.
    pub fn append<K>(
        &self,
        workflow: &WorkflowId,
        save_id: &str,
        decide: impl FnMut(Option<Box<Checkpoint>>, u64) -> Result<Decision<K>>,
    ) -> Result<Decision<K>> {
        self.append_with(workflow, save_id, &[], decide)
    }

    /// As [`append`](Self::append), with the contents that the checkpoint refers to: their objects are durable before it is
    /// published.
    ///
    /// # Errors
    /// As [`append`](Self::append).
    pub fn append_with<K>(
        &self,
        workflow: &WorkflowId,
        save_id: &str,
        contents: &[ObjectContent],
        mut decide: impl FnMut(Option<Box<Checkpoint>>, u64) -> Result<Decision<K>>,
    ) -> Result<Decision<K>> {
        // Those that the head refers to.
        let known = RefCell::new(HashSet::new());
        let keep = || self.keep_objects(contents, &known.borrow(), save_id);
        let decide = |workflow: &Workflow<'_, D>, head| {
            let (head, content) = match head {
                Some(head) => {
                    let continued = workflow.continued(workflow.recall_head(head)?)?;
                    (Some(continued.checkpoint), continued.content)
                }
                None => (None, 0),
            };
            let head_number = head.as_ref().map_or(0, |head| head.seq);
            let keys = head.as_ref().map(|head| head.keys.clone()).unwrap_or_default();
            if !contents.is_empty() {
                known.replace(head.as_deref().map(objects_of).unwrap_or_default());
            }
            let mut decision = decide(head, content)?;
            if let Decision::Write(checkpoint) = &mut decision {
                checkpoint.seq = checkpoint.number_after(head_number);
                workflow.mark_keys(&keys, &checkpoint.keys, save_id)?;
            }
            Ok(decision)
        };
        self.append_keeping(workflow, save_id, decide, keep)
    }

    /// Adds what `decide` returns for the workflow and the number of its head. `decide` sets the number of the
    /// checkpoint.
    pub(super) fn append_at<K>(
        &self,
        id: &WorkflowId,
        save_id: &str,
        decide: impl FnMut(&Workflow<'_, D>, Option<u64>) -> Result<Decision<K>>,
    ) -> Result<Decision<K>> {
        self.append_keeping(id, save_id, decide, || Ok(()))
    }

    /// As [`append_at`](Self::append_at). `keep` makes the objects of the checkpoint durable; it is called each time that the
    /// checkpoint is staged.
    pub(super) fn append_keeping<K>(
        &self,
        id: &WorkflowId,
        save_id: &str,
        mut decide: impl FnMut(&Workflow<'_, D>, Option<u64>) -> Result<Decision<K>>,
        keep: impl Fn() -> Result<()>,
    ) -> Result<Decision<K>> {
        let mut lock = None;
        let mut taken = None;
        for attempt in 0..MAX_ATTEMPTS {
            let workflow = self.workflow(id)?;
            if let (Some(dir), None) = (workflow.dir(), &lock) {
                lock = Some(self.disk().lock(dir, self.patience()));
            }
            // A number that is taken although it was free may be above a gap, so the whole directory is listed.
            let live = if taken.is_none() { workflow.highest_live()? } else { workflow.highest_listed()? };
            let head = workflow.head_number_from(live)?;
            let mut checkpoint = match decide(&workflow, head)? {
                Decision::Write(checkpoint) => checkpoint,
                Decision::Keep(why) => {
                    // Its writer may have been killed before the sync, and this acknowledges it again.
                    if workflow.dir().is_some() {
                        workflow.sync()?;
                    }
                    return Ok(Decision::Keep(why));
                }
            };
            if head == Some(u64::MAX) {
                let handle = Handle::new(id, u64::MAX);
                return Err(Error::LastNumber { path: self.checkpoint_path(&handle), handle });
            }
            // A new workflow's first decision is made before anything is created, so that a refusal leaves no trace.
            let Some(dir) = workflow.dir() else {
                self.make_workflow(id)?;
                continue;
            };
            if live.is_none() {
                self.sync_above(id)?;
            }
            if let Some(head) = head.filter(|head| live < Some(*head)) {
                workflow.rebuild(head, save_id)?;
            }
            if checkpoint.other_head().is_some() {
                workflow.free_below(checkpoint.seq)?;
            }
            match self.claim(dir, &mut checkpoint, &layout::staged_file(save_id, attempt), &keep)? {
                Claim::Won => {
                    if checkpoint.other_head().is_some() {
                        self.fill_below(id, checkpoint.seq, save_id)?;
                    }
                    return Ok(Decision::Write(checkpoint));
                }
                Claim::Taken => taken = Some(checkpoint.seq),
                Claim::StagedRemoved => {}
            }
        }
        let attempts = MAX_ATTEMPTS;
        match taken.map(|seq| Handle::new(id, seq)) {
            Some(handle) => Err(Error::NumberTaken { path: self.checkpoint_path(&handle), handle, attempts }),
            None => Err(Error::StagedRemoved { directory: self.workflow_dir(id), attempts }),
        }
    }

    /// Publishes a checkpoint under its number. `keep` is called before that, when it is staged.
    fn claim(
        &self,
        dir: &D::Dir,
        checkpoint: &mut Checkpoint,
        staged: &str,
        keep: impl Fn() -> Result<()>,
    ) -> Result<Claim> {
        let handle = checkpoint.handle();
        let failed = |error: io::Error| self.not_written(&self.checkpoint_path(&handle), error);
        let bytes = format::encode(checkpoint).map_err(|error| failed(error.into()))?;
        if bytes.len() as u64 > MAX_FILE_BYTES {
            return Err(Error::TooLarge { bytes: bytes.len() as u64, limit: MAX_FILE_BYTES });
        }
        let name = &layout::checkpoint_file(handle.seq);
        let new = NewFile { staged, name, bytes: &bytes, access: Access::ReadOnly };
        let StagedFile { id, lock } = new.stage(self.disk(), dir).map_err(failed)?;
        keep().inspect_err(|_| new.remove_staged(self.disk(), dir))?;
        let is_missing = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
        let refused = match self.disk().publish(dir, staged, name) {
            Ok(()) => None,
            // NFS may make the link and lose the reply, so that a retry fails. A second link proves that it was made.
            Err(error) => match self.disk().stat(dir, staged) {
                Ok(stat) if stat.links > 1 => None,
                Ok(_) => Some(error),
                // It was renamed and the reply was lost, or it was removed. Nothing else can have its inode meanwhile,
                // because the file is still open.
                Err(missing) if is_missing(&missing) && is_missing(&error) => match self.disk().stat(dir, name) {
                    Ok(found) if found.id == id => None,
                    Ok(_) => return Ok(Claim::StagedRemoved),
                    Err(missing) if is_missing(&missing) => return Ok(Claim::StagedRemoved),
                    Err(_) => return Err(self.unconfirmed(&handle, Cause::new(error))),
                },
                Err(_) => return Err(self.unconfirmed(&handle, Cause::new(error))),
            },
        };
        new.remove_staged(self.disk(), dir);
        drop(lock);
        match refused {
            None => self.confirm(dir, checkpoint, id).map(|()| Claim::Won),
            Some(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(Claim::Taken),
            Some(error) => Err(failed(error)),
        }
    }

    /// Makes sure that the published file is durable and that readers find it.
    fn confirm(&self, dir: &D::Dir, checkpoint: &Checkpoint, file: FileId) -> Result<()> {
        let handle = &checkpoint.handle();
        let unconfirmed = |why| Err(self.unconfirmed(handle, why));
        if let Err(error) = self.disk().sync_dir(dir) {
            return unconfirmed(Cause::new(NotSynced(error)));
        }
        let mut left = self.patience();
        loop {
            let workflow = match self.workflow(&handle.workflow) {
                Ok(workflow) => workflow,
                Err(error) => return unconfirmed(Cause::new(error)),
            };
            match workflow.stat(handle.seq) {
                Ok(found) if found.id == file => {
                    workflow.remember_head(checkpoint, found);
                    return Ok(());
                }
                // It was archived, or even restored, meanwhile: another file has the same content.
                Ok(_) if self.load(handle).is_ok_and(|found| found.checkpoint.sha256 == checkpoint.sha256) => {
                    return Ok(());
                }
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return unconfirmed(Cause::new(error));
                }
                _ if left.is_zero() => {
                    return unconfirmed(Cause::new("the directory of the workflow was moved while it was written"));
                }
                _ => {
                    self.disk().pause(RETURN_POLL);
                    left = left.saturating_sub(RETURN_POLL);
                }
            }
        }
    }

    /// Syncs the directories above a workflow.
    pub(super) fn sync_above(&self, workflow: &WorkflowId) -> Result<()> {
        let root = self.root();
        let workflows_path = root.join(WORKFLOWS);
        let base_path = root.parent().unwrap_or(&root);
        let base = self.disk().base().map_err(|error| self.failed("open", base_path, error))?;
        let store = self.enter(&base, self.name(), &root)?;
        let workflows = self.enter(&store, WORKFLOWS, &workflows_path)?;
        self.sync(&workflows, &self.workflow_dir(workflow))?;
        self.sync(&store, &workflows_path)?;
        self.sync(&base, &root)
    }

    fn unconfirmed(&self, handle: &Handle, why: Cause) -> Error {
        Error::Unconfirmed { handle: handle.clone(), path: self.checkpoint_path(handle), why }
    }
}
