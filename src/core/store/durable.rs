//! What one process knows to survive a power loss, because it has synced it itself.

use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use super::disk::FileId;

/// The store and its directory of workflows, whose names have been synced.
///
/// The directories are held open as long as they are remembered. So nobody else can get their inodes, and a store that
/// was removed and made anew in the meantime is never taken for the one that was synced.
pub(super) struct Durable<Dir>(Arc<Mutex<Option<Synced<Dir>>>>);

struct Synced<Dir> {
    ids: [FileId; 2],
    _held: [Dir; 2],
    /// The directories of workflows whose names have been synced, before their first number is.
    workflows: HashSet<FileId>,
}

impl<Dir> Durable<Dir> {
    /// Whether the names of exactly these have been synced.
    pub(super) fn knows(&self, ids: [FileId; 2]) -> bool {
        let synced = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        synced.as_ref().is_some_and(|synced| synced.ids == ids)
    }

    /// Remembers that they have been.
    pub(super) fn remember(&self, ids: [FileId; 2], held: [Dir; 2]) {
        let synced = Synced { ids, _held: held, workflows: HashSet::new() };
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(synced);
    }

    /// Whether the name of this workflow has been synced in exactly these.
    pub(super) fn knows_workflow(&self, ids: [FileId; 2], workflow: FileId) -> bool {
        let synced = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        synced.as_ref().is_some_and(|synced| synced.ids == ids && synced.workflows.contains(&workflow))
    }

    /// Remembers that the names of these workflows have been synced in what is remembered.
    pub(super) fn remember_workflows(&self, workflows: impl IntoIterator<Item = FileId>) {
        if let Some(synced) = self.0.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            synced.workflows.extend(workflows);
        }
    }
}

impl<Dir> Default for Durable<Dir> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<Dir> Clone for Durable<Dir> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<Dir> fmt::Debug for Durable<Dir> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Durable")
    }
}
