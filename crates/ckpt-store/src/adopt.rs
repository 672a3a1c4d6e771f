//! Adding entries that another store has saved, byte for byte.
//!
//! An entry that continues the head takes its own number on the main line; see `sync` for the others. A number is
//! taken by publishing it without replacing anything, as by a save, so a save at the same moment and an adoption never
//! share one.

use std::collections::BTreeSet;

use super::bundle::{BundleName, ManifestEntry};
use super::deletion::{Range, count};
use super::disk::{Access, Disk};
use super::error::{Error, Result};
use super::layout;
use super::open::Store;
use super::progress::ProgressCounter;
use super::publish::NewFile;
use super::workflow::Workflow;
use ckpt_model::format::{self, Links, MAX_FILE_BYTES};
use ckpt_model::reason::DeletionReason;
use ckpt_model::selector::Handle;
use ckpt_model::workflow_id::WorkflowId;

/// The most numbers without an entry that are filled. A number is data of others, so it must not decide on how much is
/// written.
pub const MOST_FILLED: u64 = 100_000;

impl<D: Disk> Store<D> {
    /// Adds an entry with its own number to the main line, if the head is still `head`. Returns false if it is not. The
    /// entry is durable when this returns.
    ///
    /// Numbers between the two get fillers, after the entry: an empty file is no head, so a store without power in between
    /// has a gap. Below a merge of heads, [`fill_below_merges`](Self::fill_below_merges) closes it.
    ///
    /// # Errors
    /// The disk refuses, or the entry is too far above the head.
    pub fn adopt(
        &self,
        workflow: &WorkflowId,
        seq: u64,
        bytes: &[u8],
        head: Option<u64>,
        save_id: &str,
    ) -> Result<bool> {
        debug_assert!(bytes.len() as u64 <= MAX_FILE_BYTES);
        if head.is_none() {
            self.make_workflow(workflow)?;
            self.sync_above(workflow)?;
        }
        let entries = self.workflow(workflow)?;
        let Some(dir) = entries.dir() else { return Ok(false) };
        let _lock = self.disk().lock(dir, self.patience());
        if entries.head_number()? != head {
            return Ok(false);
        }
        let skips = seq.saturating_sub(head.unwrap_or_default()) > 1;
        if skips {
            entries.free_below(seq)?;
        }
        let name = &layout::checkpoint_file(seq);
        let staged = &layout::staged_file(&format!("{save_id}-{seq}"), 0);
        let file = NewFile { staged, name, bytes, access: Access::ReadOnly };
        let path = self.checkpoint_path(&Handle::new(workflow, seq));
        let published = file.publish(self.disk(), dir).map_err(|error| self.not_written(&path, error))?;
        entries.sync()?;
        if published && skips {
            self.fill_below(workflow, seq, save_id)?;
        }
        Ok(published)
    }

    /// Gives every free number below an entry a filler, and records that it has no content.
    ///
    /// # Errors
    /// The disk refuses, or there are too many.
    pub fn fill_below(&self, workflow: &WorkflowId, seq: u64, save_id: &str) -> Result<()> {
        let entries = self.workflow(workflow)?;
        for range in entries.free_below(seq)? {
            self.fill(&entries, range, save_id)?;
        }
        entries.sync()
    }

    fn fill(&self, entries: &Workflow<'_, D>, range: Range, save_id: &str) -> Result<()> {
        self.record_deletion(entries.id, range, DeletionReason::Absent, save_id)?;
        for seq in range.0..=range.1 {
            entries.publish_file(seq, &[], save_id)?;
        }
        Ok(())
    }

    /// Does what the writer of a merge of heads did not, because it was killed: gives fillers to the free numbers between
    /// the merge and the checkpoint that it continues. Returns false if there are none. Other free numbers were taken once, and stay
    /// as they are.
    ///
    /// # Errors
    /// The store cannot be read, or the disk refuses.
    pub fn fill_below_merges(&self, workflow: &WorkflowId, save_id: &str) -> Result<bool> {
        let entries = self.workflow(workflow)?;
        let Some(head) = entries.head_number()? else { return Ok(false) };
        let mut has_filled = false;
        for (first, last) in entries.free_below(head)? {
            if self.is_skipped_by_merge(workflow, (first, last)) {
                self.fill(&entries, (first, last), save_id)?;
                has_filled = true;
            }
        }
        if has_filled {
            entries.sync()?;
        }
        Ok(has_filled)
    }

    /// Returns true if free numbers are between a merge of heads and the checkpoint that it continues, so that they never had a
    /// content.
    fn is_skipped_by_merge(&self, workflow: &WorkflowId, (first, last): Range) -> bool {
        let links = |seq| {
            let (bytes, _) = self.load_bytes(&Handle::new(workflow, seq)).ok()?;
            format::decode_part::<Links>(&bytes).ok()
        };
        let (Some(below), Some(above)) = (links(first - 1), links(last + 1)) else { return false };
        above.parents().count() > 1 && above.parents().any(|parent| parent == below.sha256)
    }

    /// Fails if more numbers below an entry are free than are ever filled.
    ///
    /// # Errors
    /// There are too many, or the store cannot be read.
    pub fn check_free_below(&self, handle: &Handle) -> Result<()> {
        self.workflow(&handle.workflow)?.free_below(handle.seq).map(drop)
    }

    /// Adds a bundle that another store has written, and replaces the files of `numbers` that it holds by tombstones. Returns
    /// false if it holds something else than the main line of this store: then nothing is done.
    ///
    /// The bundle is durable and was read back before a file is replaced, and the head always stays.
    ///
    /// # Errors
    /// The disk refuses, or the bundle is damaged.
    pub fn adopt_bundle(
        &self,
        workflow: &WorkflowId,
        name: &BundleName,
        bytes: &[u8],
        numbers: &BTreeSet<u64>,
        save_id: &str,
    ) -> Result<bool> {
        let archive = self.archive_of(workflow)?;
        let manifest = archive.parse(name, bytes).and_then(|bundle| bundle.verify(&mut || {}));
        let manifest = manifest.map_err(|why| archive.damaged(name, why))?;
        for entry in &manifest.entries {
            let here = self.load_bytes(&Handle::new(workflow, entry.seq));
            if !here.is_ok_and(|(here, _)| ManifestEntry::of(entry.seq, &here) == *entry) {
                return Ok(false);
            }
        }
        let entries = self.workflow(workflow)?;
        let head = entries.head_number()?.unwrap_or_default();
        let numbers: BTreeSet<u64> = numbers.iter().copied().filter(|seq| *seq < head).collect();
        let archive = self.create_archive(workflow)?;
        archive.publish_bundle(name, bytes, &layout::staged_file(save_id, 0))?;
        archive.sync()?;
        // One of the same name that was there stays, and what it holds counts.
        let Some(held) = archive.verify(name)? else { return Ok(false) };
        entries.replace_archived(&[held], &numbers, save_id, &mut ProgressCounter::new(&mut |_| {}))?;
        Ok(true)
    }
}

impl<D: Disk> Workflow<'_, D> {
    /// Returns the ranges of free numbers below a number. Fails if there are more numbers in them than are ever filled.
    pub(super) fn free_below(&self, seq: u64) -> Result<Vec<Range>> {
        let mut free: Vec<Range> = Vec::new();
        let mut next = 1;
        for number in self.numbers()?.range(..seq).chain([&seq]) {
            if next < *number {
                free.push((next, number - 1));
            }
            next = number.saturating_add(1);
        }
        if count(free.clone()) > MOST_FILLED {
            return Err(Error::FarAbove { handle: self.handle(seq) });
        }
        Ok(free)
    }
}
