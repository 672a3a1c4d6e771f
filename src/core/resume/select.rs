//! Which checkpoint to judge.

use super::facts::Facts;
use crate::core::checkpoint::Checkpoint;
use crate::core::format::Unusable;
use crate::core::selector::{Handle, Selector, Which};
use crate::core::store::{Disk, Error, Result, Store, Stored};
use crate::core::workflow_id::WorkflowId;

/// A checkpoint that can be judged, and what had to be passed over to find it.
#[derive(Debug, Clone)]
pub struct Selected {
    /// The checkpoint.
    pub checkpoint: Box<Checkpoint>,
    damaged_newest: Option<(String, String, String)>,
    newest: Option<String>,
    archived: Option<String>,
}

impl Selected {
    /// Takes the checkpoint that is meant.
    ///
    /// # Errors
    /// There is none, several workflows are meant, or it cannot be used.
    pub fn meant<D: Disk>(store: &Store<D>, selector: &Selector) -> Result<Self> {
        match selector.which {
            Which::Newest => Self::newest(store, &store.resolve_workflow(&selector.workflow)?),
            Which::Number(_) | Which::Before(_) => Self::exactly(store, &store.resolve(selector)?),
        }
    }

    /// Takes the newest checkpoint of a workflow; of an archived one, the last before it was archived. If it is
    /// damaged, the newest one that is not is taken instead, and the judgement will say so.
    ///
    /// # Errors
    /// No checkpoint can be used, the newest one has a newer format, or the store cannot be read.
    pub fn newest<D: Disk>(store: &Store<D>, workflow: &WorkflowId) -> Result<Self> {
        let selected = |checkpoint| Self { checkpoint, damaged_newest: None, newest: None, archived: None };
        match store.newest(workflow) {
            Ok(None) => Err(Error::NoSuchWorkflow { given: workflow.clone(), similar: Vec::new() }),
            Ok(Some(Stored { checkpoint, .. })) => match &checkpoint.sealed {
                Some(seal) => {
                    let last = store.load(&Handle::new(workflow, seal.last))?.checkpoint;
                    Ok(Self { archived: Some(seal.reason.to_string()), ..selected(last) })
                }
                None => Ok(selected(checkpoint)),
            },
            Err(Error::Damaged { handle, path, why, before: Some(before) })
                if !matches!(why, Unusable::Newer(_)) =>
            {
                let checkpoint = store.load(&before)?.checkpoint;
                let damaged = (handle.to_string(), path.display().to_string(), why.to_string());
                Ok(Self { damaged_newest: Some(damaged), ..selected(checkpoint) })
            }
            Err(error) => Err(error),
        }
    }

    /// Takes one checkpoint, whether or not it is the newest. A seal stands for the last one before it.
    ///
    /// # Errors
    /// It cannot be used.
    pub fn exactly<D: Disk>(store: &Store<D>, handle: &Handle) -> Result<Self> {
        let checkpoint = store.load(handle)?.checkpoint;
        if let Some(seal) = &checkpoint.sealed {
            let last = store.load(&Handle::new(&handle.workflow, seal.last))?.checkpoint;
            let archived = Some(seal.reason.to_string());
            return Ok(Self { checkpoint: last, damaged_newest: None, newest: None, archived });
        }
        let newest = store.newest_number(&handle.workflow)?.filter(|newest| *newest != handle.seq);
        let newest = newest.map(|seq| Handle::new(&handle.workflow, seq).to_string());
        Ok(Self { checkpoint, damaged_newest: None, newest, archived: None })
    }

    /// What had to be passed over, in a sentence.
    #[must_use]
    pub fn passed_over(&self) -> Option<String> {
        self.damaged_newest.as_ref().map(damaged)
    }

    /// Adds what had to be passed over to the facts.
    #[must_use]
    pub fn complete(&self, facts: Facts) -> Facts {
        Facts {
            damaged_newest: self.damaged_newest.clone(),
            newest: self.newest.clone(),
            archived: self.archived.clone(),
            ..facts
        }
    }
}

/// Says that the newest checkpoint could not be used.
pub(super) fn damaged((handle, path, why): &(String, String, String)) -> String {
    format!("the newest checkpoint {handle} is damaged and was left alone: {path} {why}")
}
