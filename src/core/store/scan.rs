//! Looking over many checkpoints at once, for lists. What is damaged is reported, never left out.

use std::collections::{BTreeMap, HashSet};

use super::disk::{Disk, Stat};
use super::error::Result;
use super::layout::{WORKFLOWS, checkpoint_file};
use super::open::Store;
use super::read::Entry;
use crate::core::cause::Cause;
use crate::core::files::is_link;
use crate::core::format::{Header, Unusable};
use crate::core::selector::Handle;
use crate::core::time::Timestamp;
use crate::core::workflow_id::WorkflowId;

/// One workflow in a list.
#[derive(Debug, Clone)]
pub struct WorkflowRow {
    /// The newest checkpoint.
    pub newest: Handle,
    /// What it says, or why it cannot be used.
    pub header: Result<Header, Unusable>,
    /// What there is of it, if that was asked for.
    pub live: Option<Live>,
    /// Whether the workflow is archived: its newest number is a seal.
    pub archived: bool,
}

/// What there is of a workflow outside of the archive.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Live {
    /// How many checkpoints; a seal is none.
    pub checkpoints: usize,
    /// How much room they take.
    pub bytes: u64,
}

/// One checkpoint in a list.
#[derive(Debug, Clone)]
pub struct CheckpointRow {
    /// The checkpoint.
    pub handle: Handle,
    /// What it says, that it is a seal, that it is archived, or why it cannot be used.
    pub entry: Result<Entry<Header>, Unusable>,
    /// The size of its file.
    pub bytes: u64,
}

/// How much of a workflow is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Extent {
    Newest,
    Live,
}

/// Fewer workflows than this are looked at faster than threads are started.
const WORTH_THREADS: usize = 512;
/// More threads than this wait for the disk, not for each other.
const MOST_THREADS: usize = 8;

impl<D: Disk<Dir: Sync> + Sync> Store<D> {
    /// Looks at the newest checkpoint of every workflow.
    ///
    /// # Errors
    /// The store itself cannot be read; a workflow that cannot is a row that says so.
    pub fn scan(&self) -> Result<Vec<WorkflowRow>> {
        self.scan_to(Extent::Newest)
    }

    /// The same, and how many others there are, and how large. Every checkpoint has to be looked up for that.
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
            // A thread that panicked has said so, and ended the process.
            Ok(parts.into_iter().flat_map(|part| part.join().unwrap_or_default()).collect())
        })
    }
}

impl<D: Disk> Store<D> {
    /// The ids of all workflows, in no order. Directories that are not named as an id would be are not workflows. A
    /// workflow whose directory was removed by hand is known by its archive.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn workflow_ids(&self) -> Result<Vec<WorkflowId>> {
        let live = self.open_workflows()?;
        let mut ids = live.map_or_else(|| Ok(Vec::new()), |workflows| self.ids_in(&workflows, WORKFLOWS))?;
        let live: HashSet<&WorkflowId> = ids.iter().collect();
        let mut archived = self.archived_ids()?;
        archived.retain(|id| !live.contains(id));
        ids.append(&mut archived);
        Ok(ids)
    }

    /// The ids that the directories in one of the store's own directories stand for.
    pub(super) fn ids_in(&self, dir: &D::Dir, name: &str) -> Result<Vec<WorkflowId>> {
        let mut ids = Vec::new();
        self.disk()
            .list(dir, &mut |name| ids.extend(WorkflowId::from_directory(name)))
            .map_err(|error| self.failed("list", &self.root().join(name), error))?;
        Ok(ids)
    }

    /// Looks at one workflow like [`scan_live`](Self::scan_live); none if there is no such workflow.
    ///
    /// # Errors
    /// The store itself cannot be read; a workflow that cannot is a row that says so.
    pub fn scan_one(&self, id: &WorkflowId) -> Result<Option<WorkflowRow>> {
        Ok(self.scan_workflow(self.open_workflows()?.as_ref(), id, Extent::Live))
    }

    /// One row; none if nothing has been saved there yet.
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
                    std::io::ErrorKind::NotFound => self.scan_archived(id),
                    std::io::ErrorKind::NotADirectory => broken(Unusable::NotAFile),
                    _ if is_link(&error) => broken(Unusable::NotAFile),
                    _ => broken(Unusable::Unreadable(Cause::new(error))),
                };
            }
        };
        let mut numbers = Vec::new();
        if let Err(error) = self.each_number(&dir, id, &mut |seq| numbers.push(seq)) {
            return broken(Unusable::Unreadable(Cause::new(error)));
        }
        let Some(newest) = numbers.iter().copied().max() else { return self.scan_archived(id) };
        let newest = Handle::new(id, newest);
        let (header, checkpoints, bytes) = match self.read_header(&dir, &newest) {
            Ok(Entry::Live((header, bytes))) => (Ok(header), 1, bytes),
            Ok(Entry::Sealed((header, bytes))) => (Ok(header), 0, bytes),
            // Archived since it was listed: then there is a seal now.
            Ok(Entry::Tombstone) if self.newest_in(&dir, id).unwrap_or_default() > Some(newest.seq) => {
                return self.scan_workflow(Some(workflows), id, extent);
            }
            // Every file above it was removed by hand.
            Ok(Entry::Tombstone) if self.is_overtaken(Some(&dir), &newest).unwrap_or_default() => {
                return self.scan_archived(id);
            }
            Ok(Entry::Tombstone) => (Err(Unusable::Empty), 1, 0),
            Err(why) => (Err(why), 1, 0),
        };
        let mut live = Live { checkpoints, bytes };
        let mut count = || {
            for seq in numbers.iter().filter(|seq| **seq != newest.seq) {
                // Tombstones take no room and count as nothing; what cannot be looked at is counted all the same.
                let stat = self.disk().stat(&dir, &checkpoint_file(*seq));
                if !stat.as_ref().is_ok_and(Stat::is_empty_file) {
                    live.checkpoints += 1;
                    live.bytes += stat.map_or(0, |stat| stat.file_bytes());
                }
            }
            live
        };
        let live = (extent == Extent::Live).then(&mut count);
        let archived = header.as_ref().is_ok_and(|header| header.sealed.is_some());
        Some(WorkflowRow { newest, header, live, archived })
    }

    /// When the oldest live checkpoint of a workflow was saved that can be read; none if there is none. The newer ones
    /// are not looked at.
    ///
    /// # Errors
    /// The workflow cannot be read.
    pub fn oldest_saved_at(&self, workflow: &WorkflowId) -> Result<Option<Timestamp>> {
        let Some(dir) = self.open_workflow(workflow)? else { return Ok(None) };
        let saved_at = |seq| match self.read_header(&dir, &Handle::new(workflow, seq)) {
            Ok(Entry::Live((header, _))) => Some(header.saved_at),
            _ => None,
        };
        Ok(self.numbers(workflow)?.into_iter().find_map(saved_at))
    }

    /// Looks at every checkpoint of a workflow, oldest first. A number that is missing is a row that says so.
    ///
    /// # Errors
    /// The workflow cannot be read.
    pub fn scan_checkpoints(&self, workflow: &WorkflowId) -> Result<Vec<CheckpointRow>> {
        let dir = self.open_workflow(workflow)?;
        let Some(newest) = self.newest_known(dir.as_ref(), workflow)? else { return Ok(Vec::new()) };
        let mut rows = BTreeMap::new();
        let Some(dir) = dir else { return self.fill_gaps(workflow, newest, rows) };
        for seq in self.numbers(workflow)? {
            let handle = Handle::new(workflow, seq);
            let (entry, bytes) = match self.read_header(&dir, &handle) {
                Ok(Entry::Live((header, bytes))) => (Ok(Entry::Live(header)), bytes),
                Ok(Entry::Sealed((header, bytes))) => (Ok(Entry::Sealed(header)), bytes),
                Ok(Entry::Tombstone)
                    if seq < newest || self.is_overtaken(Some(&dir), &handle).unwrap_or_default() =>
                {
                    (Ok(Entry::Tombstone), 0)
                }
                Ok(Entry::Tombstone) => (Err(Unusable::Empty), 0),
                Err(why) => {
                    let bytes =
                        self.disk().stat(&dir, &checkpoint_file(seq)).map_or(0, |stat| stat.file_bytes());
                    (Err(why), bytes)
                }
            };
            rows.insert(seq, CheckpointRow { handle, entry, bytes });
        }
        self.fill_gaps(workflow, newest, rows)
    }

    /// Adds the numbers up to `newest` whose files were removed by hand. What is not in the archive either is missing.
    fn fill_gaps(
        &self,
        workflow: &WorkflowId,
        newest: u64,
        mut rows: BTreeMap<u64, CheckpointRow>,
    ) -> Result<Vec<CheckpointRow>> {
        if u64::try_from(rows.len()).is_ok_and(|rows| rows >= newest) {
            return Ok(rows.into_values().collect());
        }
        for (seq, mut row) in self.scan_manifests(workflow)?.into_iter().filter(|(seq, _)| *seq <= newest) {
            if seq == newest
                && let Ok(header) = self.archived_header(&row.handle)
                && header.sealed.is_some()
            {
                row.entry = Ok(Entry::Sealed(header));
            }
            rows.entry(seq).or_insert(row);
        }
        let gone = self.gone_ranges(workflow)?;
        let is_gone = |seq: u64| gone.iter().any(|(first, last)| (*first..=*last).contains(&seq));
        let known: Vec<u64> = rows.keys().copied().collect();
        let before = std::iter::once(0).chain(known.iter().copied());
        for (below, above) in before.zip(&known).filter(|(below, above)| below + 1 < **above) {
            // However many are missing in a row, the first and the last of them tell it.
            for seq in [below + 1, above - 1] {
                let handle = Handle::new(workflow, seq);
                let entry = if is_gone(seq) { Ok(Entry::Tombstone) } else { Err(Unusable::Missing) };
                rows.insert(seq, CheckpointRow { handle, entry, bytes: 0 });
            }
        }
        Ok(rows.into_values().collect())
    }
}
