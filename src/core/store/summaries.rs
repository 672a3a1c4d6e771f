//! Walking over the summaries of all workflows, by the index as far as it is valid.

use std::borrow::Cow;

use super::batches::{ScanProgress, on_all_cores, read_now};
use super::disk::Disk;
use super::error::Result;
use super::file_stamp::FileStamp;
use super::index::{
    BLOCK_LINES, Cached, IndexFile, IndexReader, IndexWriter, LEAST_WORKFLOWS, Line, REWRITE_SHARE, SetStamp,
    members, parse_line,
};
use super::open::Store;
use super::scan_workflows::in_order;
use super::summary::WorkflowSummary;
use crate::core::workflow_id::WorkflowId;

impl<D: Disk<Dir: Sync> + Sync> Store<D> {
    /// Passes the summary of every workflow to `visit`, in the order of their directories. Valid summaries are taken from
    /// the index, and the index is written again if it is not that of these workflows.
    ///
    /// # Errors
    /// The store itself cannot be read; a workflow that cannot is a summary that says so.
    pub fn visit_summaries(
        &self,
        progress: &mut dyn FnMut(&ScanProgress),
        visit: &mut dyn FnMut(WorkflowSummary),
    ) -> Result<()> {
        let workflows = self.open_workflows()?;
        let is_small = workflows.as_ref().is_none_or(|dir| self.disk().is_short(dir).unwrap_or(true));
        let index = if is_small { None } else { IndexFile::open(self) };
        let mut walk = Walk {
            store: self,
            workflows: workflows.as_ref(),
            has_index: index.is_some(),
            writer: None,
            outdated: 0,
            scanned: ScanProgress { done: 0, total: 0 },
            progress,
            visit,
        };
        // Before anything is listed: a later change changes it.
        let set = index.as_ref().and_then(IndexFile::set_stamp);
        match (&index, index.as_ref().and_then(IndexFile::read)) {
            (Some(index), Some(mut reader)) if reader.set.is_some() && reader.set == set => {
                walk.by_index(index, &mut reader)?;
            }
            (index, reader) => walk.by_names(index.as_ref(), reader, set)?,
        }
        if let Some(writer) = walk.writer {
            writer.finish();
        }
        Ok(())
    }
}

/// Takes the names up to that of the last line off `names`, and returns them with their lines. Both are in order.
fn merge<'b, 'n: 'b>(names: &mut &'n [&'n str], lines: &[Line<'b>]) -> Vec<Line<'b>> {
    let Some(last) = lines.last() else { return Vec::new() };
    let (here, rest) = names.split_at(names.partition_point(|name| *name <= last.name));
    *names = rest;
    let mut lines = lines.iter().peekable();
    let line = |name: &&'n str| {
        while lines.next_if(|line| line.name < *name).is_some() {}
        let members = lines.next_if(|line| line.name == *name).map_or("", |line| line.members);
        Line { name, members }
    };
    here.iter().map(line).collect()
}

/// The result of looking a workflow up in the index.
enum LookedUp {
    Summary(WorkflowSummary),
    /// It has to be read. Its directory had this stamp before, and its line is outdated or right.
    Unread {
        stamp: Option<FileStamp>,
        is_outdated: bool,
    },
}

/// A walk over all workflows, in the order of their directories.
struct Walk<'w, D: Disk> {
    store: &'w Store<D>,
    workflows: Option<&'w D::Dir>,
    /// True if directories are compared with an index, or may be written to one.
    has_index: bool,
    /// Gets a line for each workflow.
    writer: Option<IndexWriter<'w, D>>,
    /// The number of lines that were outdated.
    outdated: usize,
    scanned: ScanProgress,
    progress: &'w mut dyn FnMut(&ScanProgress),
    visit: &'w mut dyn FnMut(WorkflowSummary),
}

impl<'w, D: Disk<Dir: Sync> + Sync> Walk<'w, D> {
    /// Visits the workflows in an index that has all of them. If too many lines are outdated, a new one is begun.
    fn by_index(&mut self, index: &'w IndexFile<'w, D>, reader: &mut IndexReader<D::File>) -> Result<()> {
        self.scanned.total = reader.count;
        let mut may_write = true;
        let mut block = String::new();
        while let Some(lines) = reader.next_block(&mut block) {
            let looked_up = self.look_up(&lines);
            // Before anything is read: the new index has what is read from now on.
            if may_write && self.outdated.saturating_mul(REWRITE_SHARE) > reader.count {
                self.writer = index.begin_with(reader, reader.block);
                may_write = false;
            }
            self.read(&lines, looked_up);
        }
        if let Some(last) = reader.interrupted_after() {
            // Behind a damaged block the names are unknown.
            let names = self.store.workflow_names()?;
            let mut names = in_order(&names);
            names.retain(|name| *name > last);
            if self.writer.is_none() {
                self.writer = index.begin_with(reader, reader.end);
            }
            self.visit_names(&names);
        }
        Ok(())
    }

    /// Lists all workflows and visits them. The names may have changed, so a new index is written.
    fn by_names(
        &mut self,
        index: Option<&'w IndexFile<'w, D>>,
        mut reader: Option<IndexReader<D::File>>,
        set: Option<SetStamp>,
    ) -> Result<()> {
        let time = || index.and_then(IndexFile::time);
        let was_large = reader.as_ref().is_some_and(|reader| reader.count >= LEAST_WORKFLOWS);
        let mut before = if was_large { time() } else { None };
        let mut names = self.store.workflow_names()?;
        if !was_large && names.lines().count() >= LEAST_WORKFLOWS {
            // The time has to be before the list. The first one was only to count.
            before = time();
            names = self.store.workflow_names()?;
        }
        let names = in_order(&names);
        if let (Some(index), Some(before)) = (index, before) {
            self.writer = index.begin(before, names.len(), set);
        }
        self.scanned.total = names.len();
        let mut names = names.as_slice();
        let mut block = String::new();
        while let Some(lines) = reader.as_mut().and_then(|reader| reader.next_block(&mut block)) {
            self.visit_lines(&merge(&mut names, &lines));
        }
        self.visit_names(names);
        Ok(())
    }

    /// Visits workflows that have no lines.
    fn visit_names(&mut self, names: &[&str]) {
        for names in names.chunks(BLOCK_LINES) {
            let lines: Vec<_> = names.iter().map(|name| Line { name, members: "" }).collect();
            self.visit_lines(&lines);
        }
    }

    fn visit_lines(&mut self, lines: &[Line<'_>]) {
        for lines in lines.chunks(BLOCK_LINES) {
            let looked_up = self.look_up(lines);
            self.read(lines, looked_up);
        }
    }

    /// Looks workflows up by their lines, and counts those that are outdated.
    fn look_up(&mut self, lines: &[Line<'_>]) -> Vec<LookedUp> {
        let disk = self.store.disk();
        let compared = if self.has_index { self.workflows } else { None };
        let stamp = |name: &str| FileStamp::of_directory(&disk.stat(compared?, name).ok()?);
        let look_up = |line: &Line<'_>| {
            let unread = |stamp, is_outdated| LookedUp::Unread { stamp, is_outdated };
            let Some(id) = WorkflowId::from_directory(line.name) else { return unread(None, false) };
            let Some(stamp) = stamp(line.name) else { return unread(None, false) };
            match parse_line(line.members, id, &stamp) {
                Cached::Summary(summary) => LookedUp::Summary(summary),
                Cached::Nothing => unread(Some(stamp), false),
                Cached::Outdated => unread(Some(stamp), true),
            }
        };
        let looked_up = read_now(lines, &look_up);
        let is_outdated = |found: &&LookedUp| matches!(found, LookedUp::Unread { is_outdated: true, .. });
        self.outdated += looked_up.iter().filter(is_outdated).count();
        looked_up
    }

    /// Reads the workflows that have to be read, visits all, and writes their lines.
    fn read(&mut self, lines: &[Line<'_>], looked_up: Vec<LookedUp>) {
        let is_unread = |looked_up: &LookedUp| matches!(looked_up, LookedUp::Unread { .. });
        let unread = lines.iter().zip(&looked_up).filter(|(_, looked_up)| is_unread(looked_up));
        let unread: Vec<&str> = unread.map(|(line, _)| line.name).collect();
        let (store, workflows) = (self.store, self.workflows);
        let read = |name: &&str| store.summarize(workflows, &WorkflowId::from_directory(name)?);
        let mut read = on_all_cores(&unread, &read);
        let time = self.writer.as_ref().map(|writer| writer.time);
        let mut block = String::new();
        for (Line { name, members: old }, looked_up) in lines.iter().zip(looked_up) {
            let (line, summary) = match looked_up {
                LookedUp::Summary(summary) => (Cow::Borrowed(*old), Some(summary)),
                LookedUp::Unread { stamp, .. } => {
                    let (summary, from_directory) = read.next().flatten().unzip();
                    let indexed = summary.as_ref().filter(|_| from_directory == Some(true));
                    let stamp = stamp.filter(|stamp| time.is_some_and(|time| stamp.is_before(time)));
                    let line = stamp.map(|stamp| members(name, stamp, indexed)).unwrap_or_default();
                    (Cow::Owned(line), summary)
                }
            };
            if time.is_some() {
                block.extend([name, " ", &line, "\n"]);
            }
            self.scanned.done += 1;
            (self.progress)(&self.scanned);
            summary.into_iter().for_each(&mut *self.visit);
        }
        if let Some(writer) = &mut self.writer {
            writer.add(&block);
        }
    }
}
