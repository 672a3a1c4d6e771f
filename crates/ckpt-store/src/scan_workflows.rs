//! Scanning all workflows of a store for lists. Damaged ones are reported, never left out.

use std::io;

use super::batches::{BATCH, in_batches};
use super::disk::{Disk, Stat};
use super::error::Result;
use super::layout::{ARCHIVE, WORKFLOWS};
use super::open::Store;
use super::scan::unusable;
use super::workflow::{Entry, Workflow};
use ckpt_model::cause::Cause;
use ckpt_model::format::{Header, Unusable};
use ckpt_model::selector::Handle;
use ckpt_model::time::Timestamp;
use ckpt_model::workflow_id::WorkflowId;
use ckpt_platform::is_link;

/// One workflow in a list.
#[derive(Debug, Clone)]
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
    /// Their size in bytes, with the seal.
    pub bytes: u64,
    /// The time of the oldest one that can be read.
    pub oldest: Option<Timestamp>,
}

/// How much of a workflow is scanned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// The header of the head.
    Newest,
    /// The live checkpoints as well, which takes a stat of each.
    Live,
}

/// Returns the names in these lines, in order and each once.
pub(super) fn in_order(names: &str) -> Vec<&str> {
    let mut names: Vec<&str> = names.lines().collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// The result of scanning the directory of a workflow.
pub(super) enum Scanned {
    /// The row, which depends on nothing but that directory.
    Row(Box<WorkflowRow>),
    /// The directory has no head: the workflow was never saved, or its files were removed by hand.
    NoHead,
}

impl<D: Disk<Dir: Sync> + Sync> Store<D> {
    /// Reads the header of every head.
    ///
    /// # Errors
    /// The store itself cannot be read; a workflow that cannot is a row that says so.
    pub fn scan(&self) -> Result<Vec<WorkflowRow>> {
        self.scan_these(&self.workflow_ids()?, Extent::Newest)
    }

    /// Scans these workflows, in this order. One that does not exist is left out.
    ///
    /// # Errors
    /// As [`scan`](Self::scan).
    pub fn scan_these(&self, ids: &[WorkflowId], extent: Extent) -> Result<Vec<WorkflowRow>> {
        let workflows = self.open_workflows()?;
        let mut rows = Vec::new();
        let scan = |id: &WorkflowId| self.scan_workflow(workflows.as_ref(), id, extent);
        in_batches(ids, scan, |_, row| rows.extend(row));
        Ok(rows)
    }
}

impl<D: Disk> Store<D> {
    /// Returns the ids of all workflows, also of those that only have an archive because their directory was removed by
    /// hand.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn workflow_ids(&self) -> Result<Vec<WorkflowId>> {
        let names = self.workflow_names()?;
        Ok(in_order(&names).into_iter().filter_map(WorkflowId::from_directory).collect())
    }

    /// Returns the names of the directories of all workflows, in no order, one per line. There may be many, and each takes
    /// the room of its letters; a name may be there twice.
    pub(super) fn workflow_names(&self) -> Result<String> {
        let mut names = String::new();
        for directory in [WORKFLOWS, ARCHIVE] {
            self.visit_ids(directory, &mut |name, _| names.extend([name, "\n"]))?;
        }
        Ok(names)
    }

    /// Passes the ids of all workflows to `visit`, some at a time and in no order, while the directories are listed. They
    /// take the same memory however many there are.
    pub(super) fn visit_batches(&self, visit: &mut dyn FnMut(&[WorkflowId])) -> Result<()> {
        let workflows = self.open_workflows()?;
        let is_live = |name: &str| workflows.as_ref().is_some_and(|dir| self.disk().stat(dir, name).is_ok());
        let mut batch = Vec::new();
        for directory in [WORKFLOWS, ARCHIVE] {
            self.visit_ids(directory, &mut |name, id| {
                // One that has both directories was passed on already.
                if directory == ARCHIVE && is_live(name) {
                    return;
                }
                batch.push(id);
                if batch.len() == BATCH {
                    visit(&batch);
                    batch.clear();
                }
            })?;
        }
        visit(&batch);
        Ok(())
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
    pub(super) fn ids_in(&self, name: &str) -> Result<Vec<WorkflowId>> {
        let mut ids = Vec::new();
        self.visit_ids(name, &mut |_, id| ids.push(id))?;
        Ok(ids)
    }

    /// Passes each name in one of the store's directories that stands for a workflow to `visit`.
    pub(super) fn visit_ids(&self, name: &str, visit: &mut dyn FnMut(&str, WorkflowId)) -> Result<()> {
        let Some(dir) = self.open_below(&[self.name(), name])? else { return Ok(()) };
        let mut visit = |name: &str| {
            if let Some(id) = WorkflowId::from_directory(name) {
                visit(name, id);
            }
        };
        self.disk().list(&dir, &mut visit).map_err(|error| self.failed("list", &self.root().join(name), error))
    }

    /// Returns the row of a workflow; none if nothing has been saved there yet.
    fn scan_workflow(&self, workflows: Option<&D::Dir>, id: &WorkflowId, extent: Extent) -> Option<WorkflowRow> {
        match workflows.map_or(Scanned::NoHead, |workflows| self.scan_directory(workflows, id, extent)) {
            Scanned::Row(row) => Some(*row),
            Scanned::NoHead => self.scan_archived(id),
        }
    }

    /// Scans the directory of a workflow.
    pub(super) fn scan_directory(&self, workflows: &D::Dir, id: &WorkflowId, extent: Extent) -> Scanned {
        let row = |seq, header: Result<Header, Unusable>, live| {
            let newest = Handle::new(id, seq);
            let archived = header.as_ref().is_ok_and(|header| header.sealed.is_some());
            Scanned::Row(Box::new(WorkflowRow { newest, header, live, archived }))
        };
        let broken = |why| row(0, Err(why), Some(Live::default()));
        let dir = match self.disk().enter(workflows, &id.directory()) {
            Ok(dir) => dir,
            Err(error) => {
                return match error.kind() {
                    io::ErrorKind::NotFound => Scanned::NoHead,
                    io::ErrorKind::NotADirectory => broken(Unusable::NotAFile),
                    _ if is_link(&error) => broken(Unusable::NotAFile),
                    _ => broken(Unusable::Unreadable(Cause::new(error))),
                };
            }
        };
        let workflow = Workflow::with_dir(self, id, Some(dir));
        let newest = match workflow.highest_live() {
            Ok(Some(newest)) => newest,
            Ok(None) => return Scanned::NoHead,
            Err(error) => return broken(Unusable::Unreadable(Cause::new(error))),
        };
        let header = match workflow.read_header(newest) {
            Ok(Entry::Checkpoint((header, _)) | Entry::Seal((header, _))) => Ok(header),
            // Archived after it was looked up: then there is a seal now.
            Ok(Entry::Tombstone) if workflow.highest_live().unwrap_or_default() > Some(newest) => {
                return self.scan_directory(workflows, id, extent);
            }
            // Every file above it was removed by hand.
            Ok(Entry::Tombstone) if workflow.is_overtaken(newest) => return Scanned::NoHead,
            Ok(Entry::Tombstone) => Err(Unusable::Empty),
            Err(why) => Err(why),
        };
        if extent == Extent::Newest {
            return row(newest, header, None);
        }
        match workflow.count_live(newest, &header) {
            Ok(live) => row(newest, header, Some(live)),
            Err(error) => broken(Unusable::Unreadable(Cause::new(error))),
        }
    }

    /// Returns the row of a workflow whose files were removed by hand, from its archive; none if it has none.
    pub(super) fn scan_archived(&self, id: &WorkflowId) -> Option<WorkflowRow> {
        let workflow = Workflow::with_dir(self, id, None);
        let newest = workflow.head_number().ok()??;
        let header = workflow.archive().and_then(|archive| archive.header(newest)).map_err(unusable);
        Some(WorkflowRow { newest: workflow.handle(newest), header, live: Some(Live::default()), archived: true })
    }
}

impl<D: Disk> Workflow<'_, D> {
    /// Counts the live checkpoints up to the head, which has this header. Tombstones and the seal do not count; an entry
    /// without metadata does.
    fn count_live(&self, newest: u64, header: &Result<Header, Unusable>) -> Result<Live> {
        let mut live = Live::default();
        for seq in self.numbers()?.into_iter().filter(|seq| *seq < newest) {
            let stat = self.stat(seq);
            if stat.as_ref().is_ok_and(Stat::is_empty_file) {
                continue;
            }
            live.checkpoints += 1;
            live.bytes += stat.map_or(0, |stat| stat.file_bytes());
            live.oldest = live.oldest.or_else(|| self.saved_at(seq));
        }
        live.bytes += self.stat(newest).map_or(0, |stat| stat.file_bytes());
        match header {
            Ok(seal) if seal.sealed.is_some() => {}
            Ok(newest) => {
                live.checkpoints += 1;
                live.oldest = live.oldest.or(Some(newest.saved_at));
            }
            Err(_) => live.checkpoints += 1,
        }
        Ok(live)
    }

    fn saved_at(&self, seq: u64) -> Option<Timestamp> {
        match self.read_header(seq) {
            Ok(Entry::Checkpoint((header, _))) => Some(header.saved_at),
            _ => None,
        }
    }
}
