//! The head of a workflow: its newest entry, and what the next checkpoint continues.

use std::io;

use super::disk::{Disk, Stat};
use super::error::{Error, Result};
use super::open::Store;
use super::workflow::{Entry, Workflow};
use ckpt_model::checkpoint::Checkpoint;
use ckpt_model::format::Unusable;
use ckpt_model::selector::Handle;
use ckpt_model::workflow_id::WorkflowId;

/// Every number up to this distance above the last one is looked up, to see if numbers are missing: a power failure may
/// keep the name that one of several concurrent writers published, and lose those below it.
const CLOSE: u64 = 8;
/// Further away, numbers are looked up at these distances, for ranges of files that were removed by hand.
const FAR: [u64; 3] = [1 << 5, 1 << 10, 1 << 16];
/// How often a head that is archived while it is read is looked up again.
const MAX_LOOKUPS: u32 = 100;

/// The newest entry of a workflow.
#[derive(Debug, Clone)]
pub enum Head {
    /// A checkpoint: the workflow is live.
    Checkpoint(Box<Checkpoint>),
    /// A seal: the workflow is archived.
    Seal(Box<Checkpoint>),
}

impl Head {
    pub(super) fn new(checkpoint: Box<Checkpoint>) -> Self {
        if checkpoint.sealed.is_some() { Self::Seal(checkpoint) } else { Self::Checkpoint(checkpoint) }
    }
}

/// The state that the next checkpoint continues.
#[derive(Debug)]
pub(super) struct Continued {
    /// The head. If that is a seal: the content of the checkpoint below, with the number and digest of the seal.
    pub(super) checkpoint: Box<Checkpoint>,
    /// The number of the checkpoint that has this content.
    pub(super) content: u64,
}

impl<D: Disk> Store<D> {
    /// Returns the number of the head; none if there is no such workflow.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn head_number(&self, workflow: &WorkflowId) -> Result<Option<u64>> {
        self.workflow(workflow)?.head_number()
    }

    /// Reads the head; none if there is no such workflow.
    ///
    /// # Errors
    /// It is damaged, or the store cannot be read.
    pub fn head(&self, workflow: &WorkflowId) -> Result<Option<Head>> {
        let workflow = self.workflow(workflow)?;
        workflow.head_number()?.map(|seq| workflow.read_head(seq)).transpose()
    }

    /// Returns the checkpoint that the next one continues, with the number of its content; none if there is no such
    /// workflow. The numbers differ above a seal, whose number the checkpoint has then.
    ///
    /// # Errors
    /// The head cannot be continued, or the store cannot be read.
    pub fn continued(&self, workflow: &WorkflowId) -> Result<Option<(Box<Checkpoint>, u64)>> {
        let workflow = self.workflow(workflow)?;
        let Some(seq) = workflow.head_number()? else { return Ok(None) };
        let Continued { checkpoint, content } = workflow.continued(workflow.read_head(seq)?)?;
        Ok(Some((checkpoint, content)))
    }

    /// Reads a checkpoint, live or archived; for the number of a seal, the last checkpoint below it.
    ///
    /// # Errors
    /// It is missing or damaged, or the store cannot be read.
    pub fn load_content(&self, mut handle: Handle) -> Result<Box<Checkpoint>> {
        loop {
            let checkpoint = self.load(&handle)?.checkpoint;
            match &checkpoint.sealed {
                None => return Ok(checkpoint),
                // What a seal of another store closes may be on the main line of this one.
                Some(sealed) if sealed.last < handle.seq && handle.side.is_some() => {
                    let below = checkpoint.parent.as_ref().map(|parent| parent.sha256.short());
                    let below = below.map(|digest| self.with_digest(&handle.workflow, sealed.last, digest));
                    let missing = Error::Archived { handle: handle.clone(), deleted: None };
                    handle = below.transpose()?.flatten().ok_or(missing)?;
                }
                Some(sealed) if sealed.last < handle.seq => handle.seq = sealed.last,
                Some(_) => return Err(Error::Archived { handle, deleted: None }),
            }
        }
    }
}

impl<D: Disk> Workflow<'_, D> {
    /// Returns the highest number in the directory, at a cost that does not grow with the number of entries.
    ///
    /// A short directory is listed. In a long one, numbers are looked up by name: they are dense at every moment, because
    /// a number is claimed only after the one below it was seen. So if a number exists and the next one does not, it was
    /// the highest at that moment. Whatever contradicts this makes the directory be listed.
    pub(super) fn highest_live(&self) -> Result<Option<u64>> {
        let Some(dir) = self.dir() else { return Ok(None) };
        if let Some(known) = self.remembered_number() {
            return Ok(Some(known));
        }
        let is_short = self.store.disk().is_short(dir);
        if is_short.map_err(|error| self.store.failed("look at", &self.path(), error))? {
            return self.highest_listed();
        }
        match self.last_number()? {
            Some(last) => Ok(Some(last)),
            None => self.highest_listed(),
        }
    }

    /// Returns the highest number in the directory, by listing all of it.
    pub(super) fn highest_listed(&self) -> Result<Option<u64>> {
        let mut highest = None;
        self.each_number(|seq| highest = highest.max(Some(seq)))?;
        Ok(highest)
    }

    /// Finds the last number by doubling, then bisecting. Returns none if numbers may be missing: if the first one does
    /// not exist, or one above the last does, or the last is a tombstone, which no head is.
    fn last_number(&self) -> Result<Option<u64>> {
        let mut last = 1_u64;
        let Some(mut stat) = self.probe(last)? else { return Ok(None) };
        let mut free = loop {
            let Some(next) = last.checked_mul(2) else { return Ok(None) };
            match self.probe(next)? {
                Some(taken) => (last, stat) = (next, taken),
                None => break next,
            }
        };
        while free - last > 1 {
            let middle = last + (free - last) / 2;
            match self.probe(middle)? {
                Some(taken) => (last, stat) = (middle, taken),
                None => free = middle,
            }
        }
        if stat.is_empty_file() {
            return Ok(None);
        }
        for distance in (2..=CLOSE).chain(FAR) {
            if self.probe(last.saturating_add(distance))?.is_some() {
                return Ok(None);
            }
        }
        Ok(Some(last))
    }

    /// Returns the metadata of a number; none if it is not taken in the live store.
    fn probe(&self, seq: u64) -> Result<Option<Stat>> {
        match self.stat(seq) {
            Ok(stat) => Ok(Some(stat)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.store.failed("look at", &self.file_path(seq), error)),
        }
    }

    /// Finds the number of the head.
    pub(super) fn head_number(&self) -> Result<Option<u64>> {
        self.head_number_from(self.highest_live()?)
    }

    /// Finds the number of the head, where `live` is the highest number in the directory.
    ///
    /// A bundle only holds numbers up to a live one. So the head is in the archive only if files were removed by
    /// hand, and then no number that a bundle holds may be taken again.
    pub(super) fn head_number_from(&self, live: Option<u64>) -> Result<Option<u64>> {
        let archive = match self.archive() {
            // Something else stands in the place of the archive.
            Err(Error::NotAStore { .. }) => return Ok(live),
            archive => archive?,
        };
        match archive.bundles()?.first() {
            Some(bundle) => Ok(live.max(Some(bundle.last))),
            None => Ok(live),
        }
    }

    /// Returns true if a number is no longer that of the head.
    pub(super) fn is_overtaken(&self, seq: u64) -> bool {
        self.head_number().is_ok_and(|head| head > Some(seq))
    }

    /// Remembers the head that was just published, in a store that does.
    pub(super) fn remember_head(&self, checkpoint: &Checkpoint, file: Stat) {
        if let Some(heads) = self.store.heads()
            && let Some(Ok(directory)) = self.stat_dir()
        {
            heads.remember(checkpoint, file, directory);
        }
    }

    /// Returns the number of the remembered head, if it still is the head.
    fn remembered_number(&self) -> Option<u64> {
        let known = self.store.heads()?.number(self.id, &self.stat_dir()?.ok()?)?;
        matches!(self.probe(known.checked_add(1)?), Ok(None)).then_some(known)
    }

    /// Returns the head, whose number was `seq` when it was looked up: the remembered one, or else it is read.
    pub(super) fn recall_head(&self, seq: u64) -> Result<Head> {
        let heads = self.store.heads();
        let known = heads.and_then(|heads| heads.take(&self.handle(seq), &self.stat(seq).ok()?));
        known.map_or_else(|| self.read_head(seq), Ok)
    }

    /// Reads the head, whose number was `seq` when it was looked up.
    pub(super) fn read_head(&self, mut seq: u64) -> Result<Head> {
        let mut lookups = 0;
        loop {
            let why = match self.read_entry(seq) {
                Ok(Entry::Checkpoint(stored)) => return Ok(Head::Checkpoint(stored.checkpoint)),
                Ok(Entry::Seal(stored)) => return Ok(Head::Seal(stored.checkpoint)),
                Ok(Entry::Tombstone) => Unusable::Empty,
                Err(Unusable::Missing) => Unusable::Missing,
                Err(why) => return Err(self.damaged(seq, why)),
            };
            // It was archived after it was looked up: then there is a seal now.
            if let Some(head) = self.head_number()?
                && head != seq
                && lookups < MAX_LOOKUPS
            {
                seq = head;
                lookups += 1;
                continue;
            }
            if why == Unusable::Missing {
                match self.archive()?.load(seq) {
                    Err(Error::Archived { .. }) => {}
                    loaded => return Ok(Head::new(loaded?.checkpoint)),
                }
            }
            return Err(self.damaged(seq, why));
        }
    }

    /// Returns what a checkpoint on top of the head continues.
    pub(super) fn continued(&self, head: Head) -> Result<Continued> {
        let seal = match head {
            Head::Checkpoint(checkpoint) => {
                return Ok(Continued { content: checkpoint.seq, checkpoint: writable(checkpoint)? });
            }
            Head::Seal(seal) => writable(seal)?,
        };
        let mut checkpoint = match &seal.sealed {
            Some(sealed) if sealed.deleted.is_none() => {
                match self.store.load_content(self.handle(sealed.last)).and_then(writable) {
                    // Deleted on purpose: the seal has the title and the phases.
                    Err(Error::Archived { deleted: Some(_), .. }) => seal.clone(),
                    content => content?,
                }
            }
            _ => seal.clone(),
        };
        let content = checkpoint.seq;
        checkpoint.seq = seal.seq;
        checkpoint.sha256 = seal.sha256;
        checkpoint.sealed = None;
        Ok(Continued { checkpoint, content })
    }
}

/// Refuses a checkpoint of a newer format, whose members this version could get wrong.
pub(super) fn writable(checkpoint: Box<Checkpoint>) -> Result<Box<Checkpoint>> {
    if checkpoint.version.is_writable() {
        Ok(checkpoint)
    } else {
        Err(Error::NewerFormat { handle: checkpoint.handle(), version: checkpoint.version })
    }
}
