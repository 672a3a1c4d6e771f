//! Keys of saves that a checkpoint does not list any more.
//!
//! Each checkpoint lists the keys of the last saves, so that a repeated save is recognised by reading the head. When a key
//! leaves that list, a marker remembers that it was used: an empty file whose name is made from the digest of the key. A
//! new key, which is the usual case, has no marker and needs no search. For the key of an earlier save the history is
//! searched: the oldest save that a list names lists the keys before it, so each step goes back by the length of a list.

use std::io;

use super::disk::{Access, Disk};
use super::error::Result;
use super::layout;
use super::open::Store;
use super::publish::NewFile;
use super::workflow::Workflow;
use ckpt_model::checkpoint::{Checkpoint, SaveKey};

impl<D: Disk> Store<D> {
    /// Finds the save under a key that the head does not list.
    ///
    /// # Errors
    /// The workflow cannot be read. Checkpoints that cannot be read are passed over.
    pub fn find_key(&self, head: &Checkpoint, key: &str) -> Result<Option<SaveKey>> {
        let workflow = self.workflow(&head.workflow)?;
        if !workflow.is_marked(key)? {
            return Ok(None);
        }
        let mut keys = head.keys.clone();
        while let Some(older) = workflow.keys_before(&keys) {
            if let Some(used) = older.iter().find(|used| used.key == key) {
                return Ok(Some(used.clone()));
            }
            keys = older;
        }
        Ok(None)
    }
}

impl<D: Disk> Workflow<'_, D> {
    fn is_marked(&self, key: &str) -> Result<bool> {
        let name = layout::key_marker(key);
        match self.stat_name(&name) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(self.store.failed("look at", &self.path().join(name), error)),
        }
    }

    /// Returns a list of keys that begins before `keys` does; none if there is none.
    fn keys_before(&self, keys: &[SaveKey]) -> Option<Vec<SaveKey>> {
        let first = keys.first()?.seq;
        let older = keys.iter().find_map(|used| self.load(used.seq).ok())?.checkpoint.keys;
        (older.first()?.seq < first).then_some(older)
    }

    /// Marks the keys that `old` lists and `new`, which follows it, does not. They are durable together with the new
    /// checkpoint: the sync of its directory is also theirs.
    pub(super) fn mark_keys(&self, old: &[SaveKey], new: &[SaveKey], save_id: &str) -> Result<()> {
        let Some(dir) = self.dir() else { return Ok(()) };
        let first = new.first().map_or(u64::MAX, |key| key.seq);
        for (index, left) in old.iter().take_while(|key| key.seq < first).enumerate() {
            let name = &layout::key_marker(&left.key);
            let staged = &layout::staged_file(&format!("{save_id}-key-{index}"), 0);
            let marker = NewFile { staged, name, bytes: b"", access: Access::ReadOnly };
            let marked = marker.publish(self.store.disk(), dir);
            marked.map_err(|error| self.store.not_written(&self.path().join(name), error))?;
        }
        Ok(())
    }
}
