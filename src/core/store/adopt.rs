//! Adding entries that another store has saved, byte for byte.
//!
//! An entry that continues the head takes its own number on the main line; see `core::sync` for the others. A number is
//! taken by publishing it without replacing anything, as by a save, so a save at the same moment and an adoption never
//! share one.

use std::collections::BTreeSet;

use super::bundle::{BundleName, ManifestEntry};
use super::disk::{Access, Disk};
use super::error::Result;
use super::layout;
use super::open::Store;
use super::progress::ProgressCounter;
use super::publish::NewFile;
use crate::core::format::MAX_FILE_BYTES;
use crate::core::reason::DeletionReason;
use crate::core::selector::Handle;
use crate::core::workflow_id::WorkflowId;

impl<D: Disk> Store<D> {
    /// Adds an entry with its own number to the main line, if the head is still `head`. Returns false if it is not. The
    /// entry is durable when this returns.
    ///
    /// Numbers between the two get fillers, after the entry: an empty file is no head, so a store without power in between
    /// has a gap, which [`fill_below`](Self::fill_below) closes.
    ///
    /// # Errors
    /// The disk refuses.
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
        let name = &layout::checkpoint_file(seq);
        let staged = &layout::staged_file(&format!("{save_id}-{seq}"), 0);
        let file = NewFile { staged, name, bytes, access: Access::ReadOnly };
        let path = self.checkpoint_path(&Handle::new(workflow, seq));
        let published = file.publish(self.disk(), dir).map_err(|error| self.not_written(&path, error))?;
        entries.sync()?;
        if published && seq > head.unwrap_or_default() + 1 {
            self.fill_below(workflow, seq, save_id)?;
        }
        Ok(published)
    }

    /// Gives every free number below an entry a filler, and records that it has no content.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn fill_below(&self, workflow: &WorkflowId, seq: u64, save_id: &str) -> Result<()> {
        let entries = self.workflow(workflow)?;
        let taken = entries.numbers()?;
        let mut gaps: Vec<(u64, u64)> = Vec::new();
        let mut next = 1;
        for number in taken.range(..=seq) {
            if next < *number {
                gaps.push((next, number - 1));
            }
            next = number + 1;
        }
        for range in gaps {
            self.record_deletion(workflow, range, DeletionReason::Absent, save_id)?;
            for seq in range.0..=range.1 {
                entries.publish_file(seq, &[], save_id)?;
            }
        }
        entries.sync()
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
