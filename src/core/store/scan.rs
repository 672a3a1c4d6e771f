//! Scanning workflows and checkpoints for lists. Damaged ones are reported, never left out.

use std::collections::{BTreeMap, HashSet};
use std::io;

use super::archive::Archive;
use super::deletion::contains;
use super::disk::{Disk, Stat};
use super::error::{Error, Result};
use super::layout::{ARCHIVE, WORKFLOWS};
use super::open::Store;
use super::workflow::{Entry, Workflow};
use crate::core::cause::Cause;
use crate::core::files::is_link;
use crate::core::format::{self, Header, Unusable};
use crate::core::selector::Handle;
use crate::core::time::Timestamp;
use crate::core::workflow_id::WorkflowId;

/// One workflow in a list.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct WorkflowRow {
    /// The head.
    pub newest: Handle,
    /// Its header, or why it cannot be used.
    pub header: Result<Header, Unusable>,
    /// Its live checkpoints, if they were counted.
    pub live: Option<Live>,
    /// True if the workflow is archived: its head is a seal.
    pub archived: bool,
}

/// The live checkpoints of a workflow.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Live {
    /// Their number, without the seal.
    pub checkpoints: usize,
    /// Their size in bytes.
    pub bytes: u64,
}

/// One checkpoint in a list.
#[derive(Debug, Clone)]
pub struct CheckpointRow {
    /// The checkpoint.
    pub handle: Handle,
    /// Its header, or why it cannot be used.
    pub entry: Result<Entry<Header>, Unusable>,
    /// The size of its file.
    pub bytes: u64,
}

/// How much of a workflow is scanned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Extent {
    Newest,
    Live,
}

/// Fewer workflows than this are scanned faster than threads are started.
const WORTH_THREADS: usize = 512;
/// More threads than this do not make the disk faster.
const MOST_THREADS: usize = 8;

impl<D: Disk<Dir: Sync> + Sync> Store<D> {
    /// Reads the header of every head.
    ///
    /// # Errors
    /// The store itself cannot be read; a workflow that cannot is a row that says so.
    pub fn scan(&self) -> Result<Vec<WorkflowRow>> {
        self.scan_to(Extent::Newest)
    }

    /// Reads the header of every head and counts the live checkpoints, which takes a stat of each.
    ///
    /// # Errors
    /// As [`scan`](Self::scan).
    pub fn scan_live(&self) -> Result<Vec<WorkflowRow>> {
        self.scan_to(Extent::Live)
    }

    fn scan_to(&self, extent: Extent) -> Result<Vec<WorkflowRow>> {
        let workflows = self.open_workflows()?;
        let ids = self.workflow_ids()?;
        let rows = |ids: &[WorkflowId]| -> Vec<WorkflowRow> {
            ids.iter().filter_map(|id| self.scan_workflow(workflows.as_ref(), id, extent)).collect()
        };
        if ids.len() < WORTH_THREADS {
            return Ok(rows(&ids));
        }
        let threads = std::thread::available_parallelism().map_or(1, |cores| cores.get().min(MOST_THREADS));
        std::thread::scope(|scope| {
            let rows = &rows;
            let parts = ids.chunks(ids.len().div_ceil(threads)).map(|part| scope.spawn(move || rows(part)));
            let parts: Vec<_> = parts.collect();
            // A panic ends the process, so every thread returns its rows.
            Ok(parts.into_iter().flat_map(|part| part.join().unwrap_or_default()).collect())
        })
    }
}

impl<D: Disk> Store<D> {
    /// Returns the ids of all workflows, in no order, also of those that only have an archive because their directory
    /// was removed by hand.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn workflow_ids(&self) -> Result<Vec<WorkflowId>> {
        let mut ids = self.ids_in(WORKFLOWS)?;
        let mut archived = self.ids_in(ARCHIVE)?;
        let live: HashSet<&WorkflowId> = ids.iter().collect();
        archived.retain(|id| !live.contains(id));
        ids.append(&mut archived);
        Ok(ids)
    }

    /// Returns the ids of all workflows that have bundles, in order.
    ///
    /// # Errors
    /// The archive cannot be read.
    pub fn archived_workflows(&self) -> Result<Vec<WorkflowId>> {
        let mut ids = self.ids_in(ARCHIVE)?;
        ids.sort();
        Ok(ids)
    }

    /// Returns the ids that the names in one of the store's directories stand for.
    fn ids_in(&self, name: &str) -> Result<Vec<WorkflowId>> {
        let mut ids = Vec::new();
        if let Some(dir) = self.open_below(&[self.name(), name])? {
            self.disk()
                .list(&dir, &mut |name| ids.extend(WorkflowId::from_directory(name)))
                .map_err(|error| self.failed("list", &self.root().join(name), error))?;
        }
        Ok(ids)
    }

    /// Reads the header of the head and counts the live checkpoints of one workflow; none if there is no such workflow.
    ///
    /// # Errors
    /// The store itself cannot be read; a workflow that cannot is a row that says so.
    #[cfg(feature = "testing")]
    pub fn scan_one(&self, id: &WorkflowId) -> Result<Option<WorkflowRow>> {
        Ok(self.scan_workflow(self.open_workflows()?.as_ref(), id, Extent::Live))
    }

    /// Returns the row of a workflow; none if nothing has been saved there yet.
    fn scan_workflow(
        &self,
        workflows: Option<&D::Dir>,
        id: &WorkflowId,
        extent: Extent,
    ) -> Option<WorkflowRow> {
        let broken = |why: Unusable| {
            let newest = Handle::new(id, 0);
            Some(WorkflowRow { newest, header: Err(why), live: Some(Live::default()), archived: false })
        };
        let Some(workflows) = workflows else { return self.scan_archived(id) };
        let dir = match self.disk().enter(workflows, &id.directory()) {
            Ok(dir) => dir,
            Err(error) => {
                return match error.kind() {
                    io::ErrorKind::NotFound => self.scan_archived(id),
                    io::ErrorKind::NotADirectory => broken(Unusable::NotAFile),
                    _ if is_link(&error) => broken(Unusable::NotAFile),
                    _ => broken(Unusable::Unreadable(Cause::new(error))),
                };
            }
        };
        let workflow = Workflow::with_dir(self, id, Some(dir));
        let newest = match workflow.highest_live() {
            Ok(Some(newest)) => newest,
            Ok(None) => return self.scan_archived(id),
            Err(error) => return broken(Unusable::Unreadable(Cause::new(error))),
        };
        let (header, checkpoints, bytes) = match workflow.read_header(newest) {
            Ok(Entry::Checkpoint((header, bytes))) => (Ok(header), 1, bytes),
            Ok(Entry::Seal((header, bytes))) => (Ok(header), 0, bytes),
            // Archived after it was looked up: then there is a seal now.
            Ok(Entry::Tombstone) if workflow.highest_live().unwrap_or_default() > Some(newest) => {
                return self.scan_workflow(Some(workflows), id, extent);
            }
            // Every file above it was removed by hand.
            Ok(Entry::Tombstone) if workflow.is_overtaken(newest) => return self.scan_archived(id),
            Ok(Entry::Tombstone) => (Err(Unusable::Empty), 1, 0),
            Err(why) => (Err(why), 1, 0),
        };
        let mut live = Live { checkpoints, bytes };
        if extent == Extent::Live {
            let numbers = match workflow.numbers() {
                Ok(numbers) => numbers,
                Err(error) => return broken(Unusable::Unreadable(Cause::new(error))),
            };
            for seq in numbers.into_iter().filter(|seq| *seq < newest) {
                // Tombstones do not count; an entry without metadata does.
                let stat = workflow.stat(seq);
                if !stat.as_ref().is_ok_and(Stat::is_empty_file) {
                    live.checkpoints += 1;
                    live.bytes += stat.map_or(0, |stat| stat.file_bytes());
                }
            }
        }
        Some(WorkflowRow {
            newest: workflow.handle(newest),
            archived: header.as_ref().is_ok_and(|header| header.sealed.is_some()),
            header,
            live: (extent == Extent::Live).then_some(live),
        })
    }

    /// Returns the row of a workflow whose files were removed by hand, from its archive; none if it has none.
    fn scan_archived(&self, id: &WorkflowId) -> Option<WorkflowRow> {
        let workflow = Workflow::with_dir(self, id, None);
        let newest = workflow.head_number().ok()??;
        let header = workflow.archive().and_then(|archive| archive.header(newest)).map_err(unusable);
        Some(WorkflowRow {
            newest: workflow.handle(newest),
            header,
            live: Some(Live::default()),
            archived: true,
        })
    }

    /// Returns the time of the oldest live checkpoint that can be read.
    ///
    /// # Errors
    /// The workflow cannot be read.
    pub fn oldest_saved_at(&self, workflow: &WorkflowId) -> Result<Option<Timestamp>> {
        let workflow = self.workflow(workflow)?;
        let saved_at = |seq| match workflow.read_header(seq) {
            Ok(Entry::Checkpoint((header, _))) => Some(header.saved_at),
            _ => None,
        };
        Ok(workflow.numbers()?.into_iter().find_map(saved_at))
    }

    /// Reads the headers of the newest `limit` checkpoints of a workflow, the newest first. Also returns the number of
    /// all of them, which is the newest number: only if numbers are missing, every checkpoint is read.
    ///
    /// # Errors
    /// The workflow cannot be read.
    pub fn scan_newest(&self, id: &WorkflowId, limit: usize) -> Result<(Vec<CheckpointRow>, usize)> {
        let workflow = self.workflow(id)?;
        let Some(head) = workflow.head_number()? else { return Ok((Vec::new(), 0)) };
        let mut rows = Vec::new();
        for seq in (1..=head).rev().take(limit) {
            let row = workflow.scan_entry(seq, head);
            if matches!(row.entry, Err(Unusable::Missing)) {
                let mut all = self.scan_checkpoints(id)?;
                let total = all.len();
                all.reverse();
                all.truncate(limit);
                return Ok((all, total));
            }
            rows.push(row);
        }
        Ok((rows, usize::try_from(head).unwrap_or(usize::MAX)))
    }

    /// Reads the header of every checkpoint of a workflow, the oldest first. A missing number is a row that says so.
    ///
    /// # Errors
    /// The workflow cannot be read.
    pub fn scan_checkpoints(&self, workflow: &WorkflowId) -> Result<Vec<CheckpointRow>> {
        let workflow = self.workflow(workflow)?;
        let Some(head) = workflow.head_number()? else { return Ok(Vec::new()) };
        let numbers = workflow.numbers()?;
        let mut rows: BTreeMap<u64, CheckpointRow> =
            numbers.into_iter().map(|seq| (seq, workflow.scan_entry(seq, head))).collect();
        if u64::try_from(rows.len()).is_ok_and(|rows| rows < head) {
            workflow.archive()?.fill_gaps(head, &mut rows)?;
        }
        Ok(rows.into_values().collect())
    }
}

impl<D: Disk> Workflow<'_, D> {
    /// Reads the row of a number, where `head` was the number of the head.
    fn scan_entry(&self, seq: u64, head: u64) -> CheckpointRow {
        let (entry, bytes) = match self.read_header(seq) {
            Ok(Entry::Checkpoint((header, bytes))) => (Ok(Entry::Checkpoint(header)), bytes),
            Ok(Entry::Seal((header, bytes))) => (Ok(Entry::Seal(header)), bytes),
            Ok(Entry::Tombstone) if seq < head || self.is_overtaken(seq) => (Ok(Entry::Tombstone), 0),
            Ok(Entry::Tombstone) => (Err(Unusable::Empty), 0),
            Err(why) => (Err(why), self.stat(seq).map_or(0, |stat| stat.file_bytes())),
        };
        CheckpointRow { handle: self.handle(seq), entry, bytes }
    }
}

impl<D: Disk> Archive<'_, D> {
    /// Adds the numbers up to `head` whose files were removed by hand. What no bundle holds is missing, or deleted.
    fn fill_gaps(&self, head: u64, rows: &mut BTreeMap<u64, CheckpointRow>) -> Result<()> {
        let row = |seq, entry| CheckpointRow { handle: self.handle(seq), entry, bytes: 0 };
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
    fn header(&self, seq: u64) -> Result<Header> {
        let (name, bytes) = self.find(seq)?;
        let damaged = |why| Error::Damaged {
            handle: self.handle(seq),
            path: self.bundle_path(&name),
            why,
            before: None,
        };
        format::decode_header(&bytes).map_err(damaged)
    }
}

fn unusable(error: Error) -> Unusable {
    match error {
        Error::Damaged { why, .. } => why,
        other => Unusable::Unreadable(Cause::new(other)),
    }
}
