//! Walking over the summaries of all workflows, by the index as far as it is valid.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::Receiver;

use super::batches::{ScanProgress, Workers, in_batches, on_all_cores};
use super::disk::Disk;
use super::error::Result;
use super::file_stamp::FileStamp;
use super::index::{
    BLOCK_LINES, Block, Cached, IndexFile, IndexReader, IndexWriter, LEAST_WORKFLOWS, Line, REWRITE_SHARE, SetStamp,
    members, parse_line,
};
use super::open::Store;
use super::scan_workflows::in_order;
use super::summary::WorkflowSummary;
use ckpt_model::workflow_id::{WorkflowId, WorkflowIdRef};

/// The directories that one thread looks at before it takes the next task.
const TASK_LINES: usize = 256;
/// The blocks that are stamped or visited at the same time. With fewer, the threads run out of tasks while one is visited.
const BLOCKS_AHEAD: usize = 4;

impl<D: Disk<Dir: Sync> + Sync> Store<D> {
    /// Passes the summary of every workflow to `visit`, in the order of their directories. Valid summaries are taken from
    /// the index, and the index is written again if it is not that of these workflows.
    ///
    /// # Errors
    /// The store itself cannot be read; a workflow that cannot is a summary that says so.
    pub fn visit_summaries(
        &self,
        progress: &mut dyn FnMut(&ScanProgress),
        visit: &mut dyn FnMut(&WorkflowSummary<'_>),
    ) -> Result<()> {
        let workflows = self.open_workflows()?;
        let workflows = workflows.as_ref();
        let is_small = workflows.is_none_or(|dir| self.disk().is_short(dir).unwrap_or(true));
        let index = if is_small { None } else { IndexFile::open(self) };
        let Some(index) = index else { return self.visit_unindexed(workflows, progress, visit) };
        // Before anything is listed: a later change changes it.
        let set = index.set_stamp();
        let stamp_all = |task: StampTask| self.stamp_all(workflows, &task);
        std::thread::scope(|scope| {
            let mut walk = Walk {
                store: self,
                workflows,
                index: &index,
                workers: Workers::start(scope, &stamp_all),
                writer: None,
                outdated: 0,
                scanned: ScanProgress { done: 0, total: 0 },
                progress,
                visit,
            };
            match index.read() {
                Some(mut reader) if reader.set.is_some() && reader.set == set => {
                    walk.by_index(&mut reader)?;
                }
                reader => walk.by_names(reader, set)?,
            }
            if let Some(writer) = walk.writer {
                writer.finish();
            }
            Ok(())
        })
    }

    /// Reads every workflow: there are few, or no index can be written.
    fn visit_unindexed(
        &self,
        workflows: Option<&D::Dir>,
        progress: &mut dyn FnMut(&ScanProgress),
        visit: &mut dyn FnMut(&WorkflowSummary<'_>),
    ) -> Result<()> {
        let names = self.workflow_names()?;
        let names = in_order(&names);
        let mut scanned = ScanProgress { done: 0, total: names.len() };
        let read = |name: &&str| self.scan_newest_of(workflows, &WorkflowId::from_directory(name)?);
        in_batches(&names, read, |_, row| {
            scanned.done += 1;
            progress(&scanned);
            if let Some((row, _)) = row {
                visit(&WorkflowSummary::from(&row));
            }
        });
        Ok(())
    }

    /// Returns the stamps of the directories in some lines of a block; none where that is no directory of a workflow.
    fn stamp_all(&self, workflows: Option<&D::Dir>, (block, lines): &StampTask) -> Stamps {
        let stamp = |line: Line<'_>| {
            WorkflowIdRef::from_directory(line.name)?;
            FileStamp::of_directory(&self.disk().stat(workflows?, line.name).ok()?)
        };
        block.lines(lines.clone()).map(stamp).collect()
    }
}

/// Some lines of a block, whose directories are to be stamped.
type StampTask = (Arc<Block>, Range<usize>);
type Stamps = Vec<Option<FileStamp>>;

/// A block whose directories are being stamped.
struct Started {
    block: Arc<Block>,
    stamps: Vec<Receiver<Stamps>>,
}

/// Takes the names up to that of the last line off `names`, and returns them with their lines. Both are in order.
fn merge<'b, 'n: 'b>(names: &mut &'n [&'n str], block: &'b Block) -> Vec<Line<'b>> {
    let Some(last) = block.lines(0..block.len()).last() else { return Vec::new() };
    let (here, rest) = names.split_at(names.partition_point(|name| *name <= last.name));
    *names = rest;
    let mut lines = block.lines(0..block.len()).peekable();
    let line = |name: &&'n str| {
        while lines.next_if(|line| line.name < *name).is_some() {}
        let members = lines.next_if(|line| line.name == *name).map_or("", |line| line.members);
        Line { name, members }
    };
    here.iter().map(line).collect()
}

/// The result of looking a workflow up in the index.
enum LookedUp<'l> {
    Summary(WorkflowSummary<'l>),
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
    index: &'w IndexFile<'w, D>,
    /// They stamp directories.
    workers: Workers<StampTask, Stamps>,
    /// Gets a line for each workflow.
    writer: Option<IndexWriter<'w, D>>,
    /// The number of lines that were outdated.
    outdated: usize,
    scanned: ScanProgress,
    progress: &'w mut dyn FnMut(&ScanProgress),
    visit: &'w mut dyn FnMut(&WorkflowSummary<'_>),
}

impl<'w, D: Disk<Dir: Sync> + Sync> Walk<'w, D> {
    /// Visits the workflows in an index that has all of them. If too many lines are outdated, a new one is begun.
    fn by_index(&mut self, reader: &mut IndexReader<D::File>) -> Result<()> {
        self.scanned.total = reader.count;
        let mut may_write = true;
        let (mut ahead, mut is_end) = (VecDeque::new(), false);
        loop {
            // The threads go on with these while the first one is visited. Nothing is read behind a damaged block.
            while !is_end && ahead.len() < BLOCKS_AHEAD {
                match reader.next_block() {
                    Some(block) => ahead.push_back(self.start(block)),
                    None => is_end = true,
                }
            }
            let Some(started) = ahead.pop_front() else { break };
            let stamps = Self::finish(&started.stamps);
            let looked_up = self.look_up(&started.block, &stamps);
            // Before anything is read: the new index has what is read from now on.
            if may_write && self.outdated.saturating_mul(REWRITE_SHARE) > reader.count {
                self.writer = self.index.begin_with(reader, started.block.position);
                may_write = false;
            }
            self.read(&started.block, looked_up);
        }
        if let Some(last) = reader.interrupted_after() {
            // Behind a damaged block the names are unknown.
            let names = self.store.workflow_names()?;
            let mut names = in_order(&names);
            names.retain(|name| *name > last);
            if self.writer.is_none() {
                self.writer = self.index.begin_with(reader, reader.end);
            }
            self.visit_names(&names);
        }
        Ok(())
    }

    /// Lists all workflows and visits them. The names may have changed, so a new index is written.
    fn by_names(&mut self, mut reader: Option<IndexReader<D::File>>, set: Option<SetStamp>) -> Result<()> {
        let index = self.index;
        let was_large = reader.as_ref().is_some_and(|reader| reader.count >= LEAST_WORKFLOWS);
        let mut before = if was_large { index.time() } else { None };
        let mut names = self.store.workflow_names()?;
        if !was_large && names.lines().count() >= LEAST_WORKFLOWS {
            // The time has to be before the list. The first one was only to count.
            before = index.time();
            names = self.store.workflow_names()?;
        }
        let names = in_order(&names);
        if let Some(before) = before {
            self.writer = index.begin(before, names.len(), set);
        }
        self.scanned.total = names.len();
        let mut names = names.as_slice();
        while let Some(block) = reader.as_mut().and_then(IndexReader::next_block) {
            self.visit_lines(&merge(&mut names, &block));
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
            let Started { block, stamps } = self.start(Block::of(lines.iter().copied()));
            let stamps = Self::finish(&stamps);
            let looked_up = self.look_up(&block, &stamps);
            self.read(&block, looked_up);
        }
    }

    /// Lets the threads stamp the directories in a block.
    fn start(&self, block: Block) -> Started {
        let block = Arc::new(block);
        let give = |first| self.workers.give((Arc::clone(&block), first..first + TASK_LINES));
        let stamps = (0..block.len()).step_by(TASK_LINES).map(give).collect();
        Started { block, stamps }
    }

    /// Waits for stamps. What could not be stamped has none.
    fn finish(stamps: &[Receiver<Stamps>]) -> Stamps {
        stamps.iter().flat_map(|stamps| stamps.recv().unwrap_or_default()).collect()
    }

    /// Looks workflows up by their lines, and counts those that are outdated.
    fn look_up<'b>(&mut self, block: &'b Block, stamps: &[Option<FileStamp>]) -> Vec<LookedUp<'b>> {
        let stamps = stamps.iter().copied().chain(std::iter::repeat(None));
        let look_up = |(line, stamp): (Line<'b>, Option<FileStamp>)| {
            let unread = |is_outdated| LookedUp::Unread { stamp, is_outdated };
            let Some(stamp) = stamp else { return unread(false) };
            // Only names that stand for a workflow are stamped.
            let Some(id) = WorkflowIdRef::from_checked_directory(line.name) else { return unread(false) };
            match parse_line(line.members, id, &stamp) {
                Cached::Summary(summary) => LookedUp::Summary(summary),
                Cached::Nothing => unread(false),
                Cached::Outdated => unread(true),
            }
        };
        let looked_up: Vec<_> = block.lines(0..block.len()).zip(stamps).map(look_up).collect();
        let is_outdated = |found: &&LookedUp<'_>| matches!(found, LookedUp::Unread { is_outdated: true, .. });
        self.outdated += looked_up.iter().filter(is_outdated).count();
        looked_up
    }

    /// Reads the workflows that have to be read, visits all, and writes their lines.
    fn read(&mut self, block: &Block, looked_up: Vec<LookedUp<'_>>) {
        let lines = || block.lines(0..block.len());
        let is_unread = |looked_up: &LookedUp<'_>| matches!(looked_up, LookedUp::Unread { .. });
        let unread = lines().zip(&looked_up).filter(|(_, looked_up)| is_unread(looked_up));
        let unread: Vec<&str> = unread.map(|(line, _)| line.name).collect();
        let (store, workflows) = (self.store, self.workflows);
        let read = |name: &&str| store.scan_newest_of(workflows, &WorkflowId::from_directory(name)?);
        let mut read = on_all_cores(&unread, &read);
        let time = self.writer.as_ref().map(|writer| writer.time);
        let mut text = String::new();
        for (Line { name, members: old }, looked_up) in lines().zip(looked_up) {
            let row;
            let (line, summary) = match looked_up {
                LookedUp::Summary(summary) => (Cow::Borrowed(old), Some(summary)),
                LookedUp::Unread { stamp, .. } => {
                    let from_directory;
                    (row, from_directory) = read.next().flatten().unzip();
                    let summary = row.as_ref().map(WorkflowSummary::from);
                    let indexed = if from_directory == Some(true) { summary.as_ref() } else { None };
                    let stamp = stamp.filter(|stamp| time.is_some_and(|time| stamp.is_before(time)));
                    let line = stamp.map(|stamp| members(name, stamp, indexed)).unwrap_or_default();
                    (Cow::Owned(line), summary)
                }
            };
            if time.is_some() {
                text.extend([name, " ", &line, "\n"]);
            }
            self.scanned.done += 1;
            (self.progress)(&self.scanned);
            summary.iter().for_each(&mut *self.visit);
        }
        if let Some(writer) = &mut self.writer {
            writer.add(&text);
        }
    }
}
