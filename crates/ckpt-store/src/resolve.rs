//! Resolving ids and selectors.

use super::disk::Disk;
use super::error::{Error, Result};
use super::open::Store;
use super::workflow::{Stored, Workflow};
use ckpt_model::digest::ShortDigest;
use ckpt_model::selector::{Handle, Selector, Which};
use ckpt_model::text::distance;
use ckpt_model::workflow_id::WorkflowId;

const MOST_SIMILAR: usize = 3;

impl<D: Disk> Store<D> {
    /// Resolves a workflow id: the exact name, or the only one that is the same number; never a prefix.
    ///
    /// Each spelling of the number is looked up by its name, so the cost does not grow with the store.
    ///
    /// # Errors
    /// There is none, or several are the same number.
    pub fn resolve_workflow(&self, id: &WorkflowId) -> Result<WorkflowId> {
        match self.find_workflow(id)? {
            Some(found) => Ok(found),
            None => Err(Error::NoSuchWorkflow { id: id.clone(), similar: self.similar(id) }),
        }
    }

    /// Resolves a workflow id. Returns none for a workflow that does not exist yet.
    ///
    /// # Errors
    /// Several are the same number.
    pub fn find_workflow(&self, id: &WorkflowId) -> Result<Option<WorkflowId>> {
        if self.has_checkpoints(id)? {
            return Ok(Some(id.clone()));
        }
        let mut candidates = Vec::new();
        for candidate in id.same_number() {
            if self.has_checkpoints(&candidate)? {
                candidates.push(candidate);
            }
        }
        match candidates.len() {
            0 | 1 => Ok(candidates.pop()),
            _ => Err(Error::Ambiguous { id: id.clone(), candidates }),
        }
    }

    /// Resolves a selector.
    ///
    /// # Errors
    /// There is no such checkpoint, or several workflows match.
    pub fn resolve(&self, selector: &Selector) -> Result<Handle> {
        self.workflow(&selector.workflow)?.resolve(selector)
    }

    /// Resolves a selector and reads the checkpoint.
    ///
    /// # Errors
    /// There is no such checkpoint, or several workflows match. One that cannot be read is the inner error.
    pub fn find(&self, selector: &Selector) -> Result<(Handle, Result<Stored>)> {
        let workflow = self.workflow(&selector.workflow)?;
        let handle = workflow.resolve(selector)?;
        let stored = if handle.workflow == selector.workflow && handle.side.is_none() {
            workflow.load(handle.seq)
        } else {
            self.load(&handle)
        };
        Ok((handle, stored))
    }

    /// Returns true if anything was saved in a workflow.
    ///
    /// Numbers begin at 1 and are never freed, so one stat usually answers it.
    fn has_checkpoints(&self, workflow: &WorkflowId) -> Result<bool> {
        let workflow = self.workflow(workflow)?;
        Ok(workflow.stat(1).is_ok() || workflow.head_number()?.is_some())
    }

    /// Finds a workflow of which a new one may be a misspelling. Looks only in a store of few workflows, so that the cost
    /// does not grow with the store.
    #[must_use]
    pub fn near_miss(&self, new: &WorkflowId) -> Option<WorkflowId> {
        let workflows = self.open_workflows().ok()??;
        if !self.disk().is_short(&workflows).ok()? {
            return None;
        }
        let mut near_miss = None;
        let compare = &mut |name: &str| {
            if near_miss.is_none() {
                near_miss = WorkflowId::from_directory(name).filter(|other| other.is_near_miss(new));
            }
        };
        self.disk().list(&workflows, compare).ok()?;
        near_miss
    }

    /// Finds workflows with similar ids, for the error about one that does not exist.
    fn similar(&self, id: &WorkflowId) -> Vec<WorkflowId> {
        let limit = id.as_str().len().max(3) / 3;
        let mut similar: Vec<(usize, WorkflowId)> = self
            .workflow_ids()
            .unwrap_or_default()
            .into_iter()
            .filter_map(|other| {
                let distance = distance(id.as_str(), other.as_str());
                let contained = other.as_str().contains(id.as_str()) || id.as_str().contains(other.as_str());
                (distance <= limit || (contained && id.as_str().len() > 1)).then_some((distance, other))
            })
            .collect();
        similar.sort();
        similar.into_iter().take(MOST_SIMILAR).map(|(_, id)| id).collect()
    }
}

impl<D: Disk> Workflow<'_, D> {
    /// Resolves a selector that names this workflow, or another one of the same number if this one does not exist.
    fn resolve(&self, selector: &Selector) -> Result<Handle> {
        let (workflow, head) = match self.head_number()? {
            Some(head) => (self.id.clone(), head),
            None => {
                let workflow = self.store.resolve_workflow(self.id)?;
                let head = self.store.head_number(&workflow)?.unwrap_or_default();
                (workflow, head)
            }
        };
        let seq = match selector.which {
            Which::Newest => return Ok(Handle::new(&workflow, head)),
            Which::Number(seq) | Which::Digest(seq, _) => Some(seq),
            Which::Before(back) => head.checked_sub(back),
        };
        let found = match (seq.filter(|seq| *seq > 0), selector.which) {
            (Some(seq), Which::Digest(_, digest)) => self.store.with_digest(&workflow, seq, digest)?,
            (Some(seq), _) => self.store.with_number(&workflow, seq, head)?,
            (None, _) => None,
        };
        found.ok_or_else(|| {
            let asked = Selector { workflow: workflow.clone(), which: selector.which }.to_string();
            Error::NoSuchCheckpoint { asked, newest: Handle::new(&workflow, head) }
        })
    }
}

impl<D: Disk> Store<D> {
    /// Returns the checkpoint of a number; none if there is none.
    ///
    /// # Errors
    /// Several stores have used the number.
    fn with_number(&self, workflow: &WorkflowId, seq: u64, head: u64) -> Result<Option<Handle>> {
        let main = (1..=head).contains(&seq).then(|| Handle::new(workflow, seq));
        let sides = self.sides(workflow)?.into_iter().filter(|(number, _)| *number == seq);
        let mut candidates: Vec<Handle> = sides.map(|(seq, digest)| Handle::side(workflow, seq, digest)).collect();
        if candidates.is_empty() {
            return Ok(main);
        }
        // A filler is not one of several.
        let own = main.filter(|main| !matches!(self.load_bytes(main), Err(Error::Archived { deleted: Some(_), .. })));
        if let Some(own) = own {
            let digest = self.load(&own)?.checkpoint.sha256.short();
            candidates.insert(0, Handle::side(workflow, seq, digest));
        }
        match candidates.len() {
            1 => Ok(candidates.pop()),
            _ => Err(Error::AmbiguousNumber { asked: Handle::new(workflow, seq), candidates }),
        }
    }

    /// Returns the checkpoint of a number and digest; none if there is none.
    pub(super) fn with_digest(&self, workflow: &WorkflowId, seq: u64, digest: ShortDigest) -> Result<Option<Handle>> {
        if self.sides(workflow)?.contains(&(seq, digest)) {
            return Ok(Some(Handle::side(workflow, seq, digest)));
        }
        let main = Handle::new(workflow, seq);
        Ok(self.load(&main).ok().filter(|found| found.checkpoint.sha256.short() == digest).map(|_| main))
    }
}
