//! What the next checkpoint of a workflow continues.

use super::disk::Disk;
use super::error::{Error, Result};
use super::open::Store;
use super::read::Entry;
use crate::core::checkpoint::Checkpoint;
use crate::core::format::Unusable;
use crate::core::selector::Handle;
use crate::core::workflow_id::WorkflowId;

/// What the next checkpoint continues.
#[derive(Debug)]
pub(super) struct Base {
    /// The newest checkpoint. Of an archived workflow: the last one, under the number and digest of the seal.
    pub(super) checkpoint: Box<Checkpoint>,
    /// The number whose content that is.
    pub(super) content: u64,
}

impl<D: Disk> Store<D> {
    /// The newest checkpoint, if a new one can be put on top of it.
    pub(super) fn base(
        &self,
        dir: Option<&D::Dir>,
        workflow: &WorkflowId,
        newest: Option<u64>,
    ) -> Result<Option<Base>> {
        let Some(seq) = newest else { return Ok(None) };
        let (handle, entry) = self.read_newest(dir, workflow, seq)?;
        match entry {
            Ok(Entry::Live(stored)) => {
                Ok(Some(Base { content: stored.checkpoint.seq, checkpoint: writable(stored.checkpoint)? }))
            }
            Ok(Entry::Sealed(stored)) => self.above_seal(&*writable(stored.checkpoint)?).map(Some),
            Ok(Entry::Tombstone) => Err(self.damaged(&handle, Unusable::Empty)),
            Err(why) => Err(self.damaged(&handle, why)),
        }
    }

    /// The content of what a seal closes, under the number of the seal.
    fn above_seal(&self, seal: &Checkpoint) -> Result<Base> {
        let content = match &seal.sealed {
            // What was below is gone because somebody wanted that: the seal knows what the work is about.
            Some(sealed) if sealed.is_purged() => Box::new(seal.clone()),
            sealed => {
                let last = sealed.as_ref().map_or(0, |sealed| sealed.last);
                match self.content(Handle::new(&seal.workflow, last)) {
                    // So it is with what was noted as gone.
                    Err(Error::Archived { handle, .. }) if self.is_noted_gone(&handle)? => {
                        Box::new(seal.clone())
                    }
                    content => content?,
                }
            }
        };
        Ok(above(seal, content))
    }

    /// The checkpoint `handle`, live or archived; if it is a seal, the one that it closes.
    ///
    /// # Errors
    /// It is missing or damaged, or the store cannot be read.
    pub fn load_content(&self, mut handle: Handle) -> Result<Box<Checkpoint>> {
        loop {
            let checkpoint = self.load(&handle)?.checkpoint;
            match &checkpoint.sealed {
                None => return Ok(checkpoint),
                Some(sealed) if sealed.last < handle.seq => handle.seq = sealed.last,
                Some(_) => return Err(Error::Archived { handle, gone: None }),
            }
        }
    }

    /// The same, if this version may write on top of it.
    pub(super) fn content(&self, handle: Handle) -> Result<Box<Checkpoint>> {
        self.load_content(handle).and_then(writable)
    }
}

/// The content of a checkpoint under the number and digest of the seal above it.
fn above(seal: &Checkpoint, mut checkpoint: Box<Checkpoint>) -> Base {
    let content = checkpoint.seq;
    checkpoint.seq = seal.seq;
    checkpoint.sha256 = seal.sha256;
    checkpoint.sealed = None;
    Base { checkpoint, content }
}

/// The checkpoint, if this version may write on top of it.
pub(super) fn writable(checkpoint: Box<Checkpoint>) -> Result<Box<Checkpoint>> {
    if checkpoint.version.is_writable() {
        Ok(checkpoint)
    } else {
        Err(Error::NewerFormat { handle: checkpoint.handle(), version: checkpoint.version })
    }
}
