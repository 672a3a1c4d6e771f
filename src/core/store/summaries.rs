//! Walking over the summaries of all workflows, by the index as far as it is valid.

use std::borrow::Cow;

use super::batches::{ScanProgress, on_all_cores};
use super::disk::Disk;
use super::error::Result;
use super::file_stamp::FileStamp;
use super::index::{
    BLOCK_LINES, Cached, IndexFile, IndexReader, IndexWriter, LEAST_WORKFLOWS, REWRITE_SHARE, SetStamp,
    lines, members, parse_line,
};
use super::open::Store;
use super::scan_workflows::Extent;
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
        extent: Extent,
        progress: &mut dyn FnMut(&ScanProgress),
        visit: &mut dyn FnMut(WorkflowSummary),
    ) -> Result<()> {
        let workflows = self.open_workflows()?;
        let is_small = workflows.as_ref().is_none_or(|dir| self.disk().is_short(dir).unwrap_or(true));
        let index = if is_small { None } else { IndexFile::open(self) };
        let mut walk = Walk {
            store: self,
            workflows: workflows.as_ref(),
            extent,
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

/// A workflow to look up.
struct Candidate<'n> {
    /// The name of its directory.
    name: &'n str,
    /// The members of its line in the index; empty if it has none.
    members: &'n str,
}

/// Returns candidates without lines.
fn candidates(names: &[String]) -> Vec<Candidate<'_>> {
    names.iter().map(|name| Candidate { name, members: "" }).collect()
}

/// Takes the names up to that of the last line off `names`, and returns them with their lines. Both are in order.
fn merge<'b, 'n: 'b>(names: &mut &'n [String], block: &'b str) -> Vec<Candidate<'b>> {
    let Some((last, _)) = lines(block).last() else { return Vec::new() };
    let (here, rest) = names.split_at(names.partition_point(|name| name.as_str() <= last));
    *names = rest;
    let mut lines = lines(block).peekable();
    let candidate = |name: &'b String| {
        while lines.next_if(|(of, _)| *of < name.as_str()).is_some() {}
        let line = lines.next_if(|(of, _)| *of == name.as_str());
        Candidate { name, members: line.map_or("", |(_, members)| members) }
    };
    here.iter().map(candidate).collect()
}

/// The result of looking a workflow up in the index.
enum LookedUp {
    Summary(WorkflowSummary),
    /// It has to be read; its directory has this stamp before.
    Unread(Option<FileStamp>),
}

/// A walk over all workflows, in the order of their directories.
struct Walk<'w, D: Disk> {
    store: &'w Store<D>,
    workflows: Option<&'w D::Dir>,
    extent: Extent,
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
        while let Some(block) = reader.next_block() {
            let candidates = lines(&block).map(|(name, members)| Candidate { name, members });
            let candidates: Vec<_> = candidates.collect();
            let looked_up = self.look_up(&candidates);
            // Before anything is read: the new index has what is read from now on.
            if may_write && self.outdated.saturating_mul(REWRITE_SHARE) > reader.count {
                self.writer = index.begin_with(reader, reader.block);
                may_write = false;
            }
            self.read(&candidates, looked_up);
        }
        if let Some(last) = reader.interrupted_after() {
            // Behind a damaged block the names are unknown.
            let mut names = self.store.workflow_names()?;
            names.retain(|name| name.as_str() > last);
            if self.writer.is_none() {
                self.writer = index.begin_with(reader, reader.end);
            }
            self.visit(&candidates(&names));
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
        if !was_large && names.len() >= LEAST_WORKFLOWS {
            // The time has to be before the list. The first one was only to count.
            before = time();
            names = self.store.workflow_names()?;
        }
        if let (Some(index), Some(before)) = (index, before) {
            self.writer = index.begin(before, names.len(), set);
        }
        self.scanned.total = names.len();
        let mut names = names.as_slice();
        while let Some(block) = reader.as_mut().and_then(IndexReader::next_block) {
            self.visit(&merge(&mut names, &block));
        }
        self.visit(&candidates(names));
        Ok(())
    }

    /// Visits these workflows.
    fn visit(&mut self, candidates: &[Candidate<'_>]) {
        for part in candidates.chunks(BLOCK_LINES) {
            let looked_up = self.look_up(part);
            self.read(part, looked_up);
        }
    }

    /// Looks workflows up in the index, and counts the lines that are outdated.
    fn look_up(&mut self, candidates: &[Candidate<'_>]) -> Vec<LookedUp> {
        let (disk, extent) = (self.store.disk(), self.extent);
        let compared = if self.has_index { self.workflows } else { None };
        let stamp = |name: &str| FileStamp::of_directory(&disk.stat(compared?, name).ok()?);
        let look_up = |candidate: &Candidate<'_>| {
            let unread = (LookedUp::Unread(None), false);
            // Names in the index are untrusted.
            let Some(id) = WorkflowId::from_directory(candidate.name) else { return unread };
            let Some(stamp) = stamp(candidate.name) else { return unread };
            match parse_line(candidate.members, id, &stamp, extent) {
                Cached::Summary(summary) => (LookedUp::Summary(summary), false),
                Cached::Nothing => (LookedUp::Unread(Some(stamp)), false),
                Cached::Outdated => (LookedUp::Unread(Some(stamp)), true),
            }
        };
        let (looked_up, outdated): (Vec<_>, Vec<_>) = on_all_cores(candidates, &look_up).unzip();
        self.outdated += outdated.into_iter().filter(|outdated| *outdated).count();
        looked_up
    }

    /// Reads the workflows that have to be read, visits all, and writes their lines.
    fn read(&mut self, candidates: &[Candidate<'_>], looked_up: Vec<LookedUp>) {
        let is_unread = |looked_up: &LookedUp| matches!(looked_up, LookedUp::Unread(_));
        let unread = candidates.iter().zip(&looked_up).filter(|(_, looked_up)| is_unread(looked_up));
        let unread: Vec<&str> = unread.map(|(candidate, _)| candidate.name).collect();
        let (store, workflows, extent) = (self.store, self.workflows, self.extent);
        let read = |name: &&str| store.summarize(workflows, &WorkflowId::from_directory(name)?, extent);
        let mut read = on_all_cores(&unread, &read);
        let time = self.writer.as_ref().map(|writer| writer.time);
        let mut block = String::new();
        for (Candidate { name, members: old }, looked_up) in candidates.iter().zip(looked_up) {
            let (line, summary) = match looked_up {
                LookedUp::Summary(summary) => (Cow::Borrowed(*old), Some(summary)),
                LookedUp::Unread(stamp) => {
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
