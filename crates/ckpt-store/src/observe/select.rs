//! The choice of the checkpoint to resume from.

use crate::{Disk, Error, Head, Result, Store};
use ckpt_model::checkpoint::Checkpoint;
use ckpt_model::format::Unusable;
use ckpt_model::resume::{DamagedNewest, Selection};
use ckpt_model::selector::{Handle, Selector, Which};
use ckpt_model::workflow_id::WorkflowId;

/// A usable checkpoint, and how it was chosen.
#[derive(Debug, Clone)]
pub struct Selected {
    /// The checkpoint.
    pub checkpoint: Box<Checkpoint>,
    /// How it was chosen.
    pub selection: Selection,
}

impl Selected {
    /// Loads the checkpoint that a selector names.
    ///
    /// # Errors
    /// There is none, the selector is ambiguous, or the checkpoint cannot be used.
    pub fn resolve<D: Disk>(store: &Store<D>, selector: &Selector) -> Result<Self> {
        match selector.which {
            Which::Newest => Self::newest(store, &store.resolve_workflow(&selector.workflow)?),
            Which::Number(_) | Which::Digest(..) | Which::Before(_) => Self::at(store, &store.resolve(selector)?),
        }
    }

    /// Loads the newest checkpoint of a workflow; of an archived one, the last before the seal. If it is damaged, loads
    /// the newest one that is not.
    ///
    /// # Errors
    /// No checkpoint can be used, the newest one has a newer format, or the store cannot be read.
    pub fn newest<D: Disk>(store: &Store<D>, workflow: &WorkflowId) -> Result<Self> {
        match store.head(workflow) {
            Ok(None) => Err(Error::NoSuchWorkflow { id: workflow.clone(), similar: Vec::new() }),
            Ok(Some(Head::Checkpoint(checkpoint) | Head::Seal(checkpoint))) => Self::unsealed(store, checkpoint),
            Err(Error::Damaged { handle, path, why, before: Some(before) }) if !matches!(why, Unusable::Newer(_)) => {
                let damaged = DamagedNewest {
                    handle: handle.to_string(),
                    path: path.display().to_string(),
                    problem: why.to_string(),
                };
                let selection = Selection { damaged_newest: Some(damaged), ..Selection::default() };
                Ok(Self { checkpoint: store.load(&before)?.checkpoint, selection })
            }
            Err(error) => Err(error),
        }
    }

    /// Loads one checkpoint, whether or not it is the newest. A seal stands for the last one before it.
    ///
    /// # Errors
    /// It cannot be used.
    pub fn at<D: Disk>(store: &Store<D>, handle: &Handle) -> Result<Self> {
        let checkpoint = store.load(handle)?.checkpoint;
        if checkpoint.sealed.is_some() {
            return Self::unsealed(store, checkpoint);
        }
        let newest = store.head_number(&handle.workflow)?.filter(|newest| *newest != handle.seq);
        let newest = newest.map(|seq| Handle::new(&handle.workflow, seq).to_string());
        Ok(Self { checkpoint, selection: Selection { newest, ..Selection::default() } })
    }

    /// Returns a newest checkpoint itself, or the last one before it if it is a seal.
    fn unsealed<D: Disk>(store: &Store<D>, checkpoint: Box<Checkpoint>) -> Result<Self> {
        let Some(seal) = &checkpoint.sealed else {
            return Ok(Self { checkpoint, selection: Selection::default() });
        };
        let last = store.load(&Handle::new(&checkpoint.workflow, seal.last))?.checkpoint;
        let selection = Selection { archived: Some(seal.reason.to_string()), ..Selection::default() };
        Ok(Self { checkpoint: last, selection })
    }

    /// Returns a sentence about the damaged checkpoint that was not chosen, if there is one.
    #[must_use]
    pub fn damage_warning(&self) -> Option<String> {
        self.selection.damaged_newest.as_ref().map(ToString::to_string)
    }
}
