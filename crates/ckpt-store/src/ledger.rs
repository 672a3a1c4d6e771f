//! Ledgers: what a remote is known to have of a workflow, so that a push needs no list.
//!
//! `.ckpt/remote/042.json` may be deleted at any time: then everything is looked up again.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::disk::Disk;
use super::layout::{self, REMOTE};
use super::open::Store;
use ckpt_model::digest::Digest;
use ckpt_model::workflow_id::WorkflowId;

const SUFFIX: &str = ".json";
const MAX_LEDGER_BYTES: u64 = 16 << 20;

/// The part of a workflow that a remote is known to have.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
    /// The digest of the URL of the remote.
    pub remote: Option<Digest>,
    /// All numbers of its main line up to this one are taken, and this store has what they hold.
    #[serde(default)]
    pub main: u64,
    /// The newest checkpoint of its main line up to that number, with its digest.
    #[serde(default)]
    pub top: Option<(u64, Digest)>,
    /// The remote has all entries of this store up to this number, under one name or another.
    #[serde(default)]
    pub pushed: u64,
    /// Its side checkpoints that this store has too: `8@3fa9c2d1`.
    #[serde(default)]
    pub sides: BTreeSet<String>,
    /// The number of its checkpoints that this store was seen to lack.
    #[serde(default)]
    pub behind: u64,
}

/// Returns true for the name of a ledger.
pub(super) fn is_ledger(name: &str) -> bool {
    name.strip_suffix(SUFFIX).is_some_and(|name| WorkflowId::from_directory(name).is_some())
}

fn file(workflow: &WorkflowId) -> String {
    format!("{}{SUFFIX}", workflow.directory())
}

impl<D: Disk> Store<D> {
    /// Reads the ledger of a workflow; an empty one if there is none, it cannot be used, or it is of another remote than
    /// this one.
    #[must_use]
    pub fn ledger(&self, workflow: &WorkflowId, remote: Digest) -> Ledger {
        let ledger = self.any_ledger(workflow).filter(|ledger| ledger.remote == Some(remote));
        ledger.unwrap_or_else(|| Ledger { remote: Some(remote), ..Ledger::default() })
    }

    /// Reads the ledger of a workflow, whatever its remote.
    #[must_use]
    pub fn any_ledger(&self, workflow: &WorkflowId) -> Option<Ledger> {
        let dir = self.open_below(&[self.name(), REMOTE]).ok()??;
        let bytes = self.disk().read(&dir, &file(workflow), MAX_LEDGER_BYTES).ok()?;
        serde_json::from_slice(&bytes).ok()
    }

    /// Returns true if there are ledgers: the store has or had a remote.
    #[must_use]
    pub fn has_ledgers(&self) -> bool {
        self.open_below(&[self.name(), REMOTE]).is_ok_and(|dir| dir.is_some())
    }

    /// Writes the ledger of a workflow. A failure only costs requests.
    pub fn write_ledger(&self, workflow: &WorkflowId, ledger: &Ledger, unique: &str) {
        let path = self.root().join(REMOTE);
        let Ok(root) = self.open_root() else { return };
        let dir = self.make(&root, REMOTE, &path).and_then(|_| self.enter(&root, REMOTE, &path));
        let (Ok(dir), Ok(bytes)) = (dir, serde_json::to_vec(ledger)) else { return };
        let staged = &layout::staged_file(&format!("{unique}-{}", workflow.directory()), 0);
        if self.disk().stage_unsynced(&dir, staged, &bytes).is_ok() {
            let replaced = self.disk().replace(&dir, staged, &file(workflow));
            let _ = replaced.inspect_err(|_| drop(self.disk().remove(&dir, staged)));
        }
    }

    /// Removes all ledgers: the remote is another one from now on.
    pub fn forget_remote(&self) {
        let Ok(Some(dir)) = self.open_below(&[self.name(), REMOTE]) else { return };
        let mut names = Vec::new();
        let _ = self.disk().list(&dir, &mut |name| names.extend(is_ledger(name).then(|| name.to_owned())));
        for name in names {
            let _ = self.disk().remove(&dir, &name);
        }
    }
}
