//! The head that a process remembers from one save to the next.
//!
//! A server such as `ckpt mcp` saves to the same workflow many times. Each save would list the directory to find the head, and
//! read, hash and decode the file that the save before has written. A [`HeadMemory`] keeps the last checkpoint that was
//! published through it, with the metadata of its file and of its directory.
//!
//! # Why a remembered head is as good as one that is read
//!
//! - It is the head if nothing was added, removed or renamed in its directory since, which would have changed the mtime of the
//!   directory, and if the next number is not taken. Otherwise the head is looked for as always.
//! - It is what its file says if that is the file that was published, with the same device, inode, size, mtime and ctime. A
//!   file that was edited, replaced or emptied differs in one of them, and is read and checked like any other.
//! - A change that happens in the same tick of the file system's clock may escape the first two. If a number was taken, the
//!   save finds out when it publishes, and begins again on top of it. If the file was damaged, the save is still right:
//!   entries never change, so what is remembered is what was acknowledged under this number, and the file is what is wrong.
//!   `verify` reports it.
//!
//! A save takes the checkpoint out, and only one that publishes puts its own in: after any other, the next one reads.

use std::sync::{Arc, Mutex, PoisonError};

use super::disk::Stat;
use super::head::Head;
use ckpt_model::checkpoint::Checkpoint;
use ckpt_model::selector::Handle;
use ckpt_model::workflow_id::WorkflowId;

/// The last checkpoint that was published by the stores that share this value.
#[derive(Debug, Clone, Default)]
pub struct HeadMemory(Arc<Mutex<Option<Published>>>);

#[derive(Debug)]
struct Published {
    checkpoint: Box<Checkpoint>,
    file: Stat,
    directory: Stat,
}

impl HeadMemory {
    /// Remembers a checkpoint that was published as `file` in `directory`, and nothing else. A system without a ctime tells
    /// too little.
    pub(super) fn remember(&self, checkpoint: &Checkpoint, file: Stat, directory: Stat) {
        let is_known = file.changed.is_some() && directory.changed.is_some();
        let published = || Published { checkpoint: Box::new(checkpoint.clone()), file, directory };
        self.replace(is_known.then(published));
    }

    /// Returns the number that is remembered of a workflow, if nothing has changed in its directory since.
    pub(super) fn number(&self, workflow: &WorkflowId, directory: &Stat) -> Option<u64> {
        let published = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let same = published.as_ref().filter(|published| published.directory == *directory)?;
        (same.checkpoint.workflow == *workflow).then_some(same.checkpoint.seq)
    }

    /// Takes out the entry `handle`, if that is the one, and `file` is its file.
    pub(super) fn take(&self, handle: &Handle, file: &Stat) -> Option<Head> {
        let published = self.replace(None)?;
        let is_same = published.file == *file && published.checkpoint.handle() == *handle;
        is_same.then(|| Head::new(published.checkpoint))
    }

    fn replace(&self, with: Option<Published>) -> Option<Published> {
        std::mem::replace(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner), with)
    }
}
