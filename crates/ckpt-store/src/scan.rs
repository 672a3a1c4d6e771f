//! Scanning the checkpoints of a workflow for lists. Damaged ones are reported, never left out.

use std::collections::{BTreeMap, BTreeSet};

use super::archive::Archive;
use super::bundled_files::BundledFiles;
use super::deletion::contains;
use super::disk::Disk;
use super::error::{Error, Result};
use super::open::Store;
use super::workflow::{Entry, Workflow, decode_header};
use ckpt_model::cause::Cause;
use ckpt_model::format::{self, Header, Unusable};
use ckpt_model::selector::Handle;
use ckpt_model::workflow_id::WorkflowId;

/// One checkpoint in a list.
#[derive(Debug, Clone)]
pub struct CheckpointRow {
    /// The checkpoint.
    pub handle: Handle,
    /// Its header, or why it cannot be used.
    pub entry: Result<Entry<Header>, Unusable>,
    /// The size of its file; 0 for a tombstone.
    pub bytes: u64,
    /// The header of an archived checkpoint, if bundles were read.
    pub archived: Option<Header>,
}

impl<D: Disk> Store<D> {
    /// Reads the headers of the newest `limit` checkpoints of a workflow, live or archived, the newest first. Only if
    /// numbers are missing, every live checkpoint is read.
    ///
    /// # Errors
    /// The workflow cannot be read.
    pub fn scan_newest(&self, id: &WorkflowId, limit: usize) -> Result<Vec<CheckpointRow>> {
        let workflow = self.workflow(id)?;
        let Some(head) = workflow.head_number()? else { return Ok(Vec::new()) };
        let mut rows = Vec::new();
        for seq in (1..=head).rev().take(limit) {
            let row = workflow.scan_entry(seq, head);
            if matches!(row.entry, Err(Unusable::Missing)) {
                rows = self.scan_checkpoints(id)?;
                rows.reverse();
                rows.truncate(limit);
                break;
            }
            rows.push(row);
        }
        workflow.read_archived_headers(&mut rows)?;
        Ok(rows)
    }

    /// Reads the header of every checkpoint of a workflow, the oldest first. A missing number is a row that says so.
    ///
    /// # Errors
    /// The workflow cannot be read.
    pub fn scan_checkpoints(&self, workflow: &WorkflowId) -> Result<Vec<CheckpointRow>> {
        let workflow = self.workflow(workflow)?;
        let numbers = workflow.numbers()?;
        match workflow.head_number_from(numbers.last().copied())? {
            Some(head) => workflow.scan_entries(numbers, head),
            None => Ok(Vec::new()),
        }
    }
}

impl<D: Disk> Workflow<'_, D> {
    /// Reads the rows of all numbers up to `head`, where `numbers` are those in a list of the directory.
    pub(super) fn scan_entries(&self, mut numbers: BTreeSet<u64>, head: u64) -> Result<Vec<CheckpointRow>> {
        let has_gaps = |count: usize| u64::try_from(count).is_ok_and(|count| count < head);
        if has_gaps(numbers.len()) {
            // A number that was published while the directory was listed may be missing in the list.
            numbers.append(&mut self.numbers()?);
        }
        let mut rows: BTreeMap<u64, CheckpointRow> =
            numbers.into_iter().map(|seq| (seq, self.scan_entry(seq, head))).collect();
        if has_gaps(rows.len()) {
            self.archive()?.fill_gaps(head, &mut rows)?;
        }
        Ok(rows.into_values().collect())
    }

    /// Reads the row of a number, where `head` was the number of the head.
    fn scan_entry(&self, seq: u64, head: u64) -> CheckpointRow {
        let (entry, bytes) = match self.read_header(seq) {
            Ok(Entry::Checkpoint((header, bytes))) => (Ok(Entry::Checkpoint(header)), bytes),
            Ok(Entry::Seal((header, bytes))) => (Ok(Entry::Seal(header)), bytes),
            Ok(Entry::Tombstone) if seq < head || self.is_overtaken(seq) => (Ok(Entry::Tombstone), 0),
            Ok(Entry::Tombstone) => (Err(Unusable::Empty), 0),
            Err(why) => (Err(why), self.stat(seq).map_or(0, |stat| stat.file_bytes())),
        };
        CheckpointRow { handle: self.handle(seq), entry, bytes, archived: None }
    }

    /// Adds the headers of archived checkpoints to their rows, which are the newest first. What no usable bundle holds
    /// stays without one.
    fn read_archived_headers(&self, rows: &mut [CheckpointRow]) -> Result<()> {
        let is_archived = |row: &CheckpointRow| matches!(row.entry, Ok(Entry::Tombstone));
        let mut left = rows.iter().filter(|row| is_archived(row)).count();
        if left == 0 {
            return Ok(());
        }
        let mut bundled = BundledFiles::new(self.archive()?);
        for row in rows.iter_mut().filter(|row| is_archived(row)) {
            if let Ok((_, bytes)) = bundled.take(row.handle.seq, left) {
                row.archived = decode_header(&row.handle, &bytes).ok();
            }
            left -= 1;
        }
        Ok(())
    }
}

impl<D: Disk> Archive<'_, D> {
    /// Adds the numbers up to `head` whose files were removed by hand. What no bundle holds is missing, or deleted.
    fn fill_gaps(&self, head: u64, rows: &mut BTreeMap<u64, CheckpointRow>) -> Result<()> {
        let row = |seq, entry| CheckpointRow { handle: self.handle(seq), entry, bytes: 0, archived: None };
        self.each_bundle(|name, bundle| {
            let (numbers, damage): (Vec<u64>, _) = match bundle {
                Ok(bundle) => (bundle.manifest().entries.iter().map(|entry| entry.seq).collect(), None),
                Err(why) => (vec![name.last], Some(unusable(self.damaged(name, why)))),
            };
            for seq in numbers.into_iter().filter(|seq| *seq <= head) {
                let entry = damage.clone().map_or(Ok(Entry::Tombstone), Err);
                rows.entry(seq).or_insert_with(|| row(seq, entry));
            }
            Ok(())
        })?;
        if let Some(row) = rows.get_mut(&head)
            && matches!(row.entry, Ok(Entry::Tombstone))
            && let Ok(header) = self.header(head)
            && header.sealed.is_some()
        {
            row.entry = Ok(Entry::Seal(header));
        }
        let deleted = self.deletion_records()?;
        let present: Vec<u64> = rows.keys().copied().collect();
        let mut below = 0;
        for above in present {
            // Of a range of missing numbers, the first and the last are listed.
            for seq in [below + 1, above - 1] {
                if below + 1 < above {
                    let is_deleted = deleted.iter().any(|(range, _)| contains(range, seq));
                    let entry = if is_deleted { Ok(Entry::Tombstone) } else { Err(Unusable::Missing) };
                    rows.insert(seq, row(seq, entry));
                }
            }
            below = above;
        }
        Ok(())
    }

    /// Reads the header of an archived checkpoint.
    pub(super) fn header(&self, seq: u64) -> Result<Header> {
        let (name, bytes) = self.find(seq)?;
        let damaged =
            |why| Error::Damaged { handle: self.handle(seq), path: self.bundle_path(&name), why, before: None };
        format::decode_header(&bytes).map_err(damaged)
    }
}

pub(super) fn unusable(error: Error) -> Unusable {
    match error {
        Error::Damaged { why, .. } => why,
        other => Unusable::Unreadable(Cause::new(other)),
    }
}
