//! The figures of every workflow, for statistics: its runs, live and archived, and the room that it takes.
//!
//! Every workflow is visited once, and each of its files is read once. The names are read from the directories while the
//! workflows are visited, so the memory does not depend on their number.

use std::collections::{BTreeMap, HashSet};

use super::archive::Archive;
use super::batches::{ScanProgress, in_batches};
use super::bundle::{Bundle, BundleName};
use super::disk::Disk;
use super::error::Result;
use super::layout::{ARCHIVE, WORKFLOWS};
use super::open::Store;
use super::scan_workflows::Live;
use super::workflow::{Workflow, belongs};
use ckpt_model::checkpoint::WorkflowStatus;
use ckpt_model::format::{Unusable, decode_part};
use ckpt_model::run_summary::{LastState, Moment, RunFigures, RunSummary, StepCounter};
use ckpt_model::selector::Handle;
use ckpt_model::time::Timestamp;
use ckpt_model::workflow_id::WorkflowId;

/// Everything that statistics need of one workflow.
#[derive(Debug, Clone, Default)]
pub struct WorkflowFigures {
    /// Its runs, the oldest first. What is damaged is left out.
    pub runs: Vec<RunFigures>,
    /// The status that its head has; none if that is damaged.
    pub status: Option<WorkflowStatus>,
    /// The time of its head, as far as that can be read.
    pub saved_at: Option<Timestamp>,
    /// True if the workflow is archived: its head is a seal.
    pub archived: bool,
    /// Its live checkpoints.
    pub live: Live,
    /// Its bundles.
    pub bundles: BundleTotals,
}

/// The bundles of a workflow.
#[derive(Debug, Clone, Copy, Default)]
pub struct BundleTotals {
    /// Their number.
    pub count: usize,
    /// Their size in bytes.
    pub bytes: u64,
    /// The number of files in those that can be read, seals included.
    pub files: usize,
    /// The size of these files before they were archived.
    pub content_bytes: u64,
}

/// The checkpoints of a run that are in one bundle, or live.
struct Part {
    run: u64,
    last: u64,
    summary: RunSummary,
    /// The outcome, if archiving recorded it.
    outcome: Option<WorkflowStatus>,
}

impl<D: Disk<Dir: Sync> + Sync> Store<D> {
    /// Passes the figures of every workflow to `visit`, in no order.
    ///
    /// # Errors
    /// The store itself, or an archive in it, cannot be read; a workflow that cannot is damaged.
    pub fn visit_figures(
        &self,
        progress: &mut dyn FnMut(&ScanProgress),
        visit: &mut dyn FnMut(WorkflowFigures),
    ) -> Result<()> {
        let [workflows, archives] = [self.open_workflows()?, self.open_below(&[self.name(), ARCHIVE])?];
        let mut scanned = ScanProgress { done: 0, total: 0 };
        self.visit_ids(WORKFLOWS, &mut |_, _| scanned.total += 1)?;
        let mut result = Ok(());
        self.visit_batches(&mut |ids| {
            let read = |id: &WorkflowId| {
                let archive = self.archive_in(archives.as_ref(), id)?;
                figures(&archive, self.workflow_in(workflows.as_ref(), id))
            };
            in_batches(ids, read, |_, figures| {
                scanned.done += 1;
                scanned.total = scanned.total.max(scanned.done);
                progress(&scanned);
                match figures {
                    Ok(figures) => figures.into_iter().for_each(&mut *visit),
                    Err(error) if result.is_ok() => result = Err(error),
                    Err(_) => {}
                }
            });
        })?;
        result
    }
}

impl<D: Disk> Store<D> {
    /// Returns the runs of a workflow, the oldest first.
    ///
    /// # Errors
    /// The archive of the workflow cannot be read.
    pub fn runs_of(&self, id: &WorkflowId) -> Result<Vec<RunFigures>> {
        let figures = figures(&self.archive_of(id)?, self.workflow(id))?;
        Ok(figures.unwrap_or_default().runs)
    }
}

/// Returns the figures of a workflow; none if nothing was ever saved there.
fn figures<D: Disk>(archive: &Archive<'_, D>, workflow: Result<Workflow<'_, D>>) -> Result<Option<WorkflowFigures>> {
    let mut bundles = BundleTotals::default();
    let mut held = HashSet::new();
    let mut parts = archive.parts(&mut held, &mut bundles)?;
    let entries = workflow
        .and_then(|workflow| workflow.read_entries(&held))
        .unwrap_or_else(|_| Entries { head: Some(LiveHead::Damaged), ..Entries::default() });
    parts.extend(entries.runs.into_iter().filter_map(|(run, entries)| entries.part(run)));
    parts.sort_by_key(|part| (part.run, part.last));
    let (status, saved_at, archived) = match entries.head {
        Some(LiveHead::Read { status, saved_at, sealed }) => (Some(status), Some(saved_at), sealed),
        Some(LiveHead::Damaged) => (None, None, false),
        None if bundles.count == 0 => return Ok(None),
        // Its files were removed by hand.
        None => (None, parts.last().map(|part| part.summary.last.saved_at), true),
    };
    let runs = runs(archive.id(), parts);
    Ok(Some(WorkflowFigures { runs, status, saved_at, archived, live: entries.live, bundles }))
}

/// Puts the parts of runs together, which are in order.
fn runs(workflow: &WorkflowId, parts: Vec<Part>) -> Vec<RunFigures> {
    let mut runs: Vec<Part> = Vec::new();
    for part in parts {
        match runs.pop_if(|earlier| earlier.goes_on_in(&part)) {
            Some(earlier) => runs.push(Part { summary: earlier.summary.then(part.summary), ..part }),
            None => runs.push(part),
        }
    }
    let newest = runs.len().saturating_sub(1);
    let run = |(index, Part { summary, outcome, .. })| {
        let status = match outcome.unwrap_or(summary.last.status) {
            // Another run was started instead.
            WorkflowStatus::InProgress if index != newest => WorkflowStatus::Abandoned,
            status => status,
        };
        RunFigures { workflow: workflow.clone(), summary, status }
    };
    runs.into_iter().enumerate().map(run).collect()
}

impl Part {
    /// True if a later part belongs to the same run. What was archived as complete and then taken up again counts as two
    /// runs, unless it was only restored.
    fn goes_on_in(&self, later: &Self) -> bool {
        let is_complete = self.outcome == Some(WorkflowStatus::Complete);
        self.run == later.run && !(is_complete && self.summary.last.phases != later.summary.last.phases)
    }
}

/// The live entries of a workflow.
#[derive(Default)]
struct Entries {
    live: Live,
    /// The entries of each run.
    runs: BTreeMap<u64, RunEntries>,
    /// None if there is no live head.
    head: Option<LiveHead>,
}

/// The newest live entry.
enum LiveHead {
    Read { status: WorkflowStatus, saved_at: Timestamp, sealed: bool },
    Damaged,
}

/// The live entries of one run.
#[derive(Default)]
struct RunEntries {
    steps: StepCounter,
    last: Option<(u64, LastState)>,
    outcome: Option<WorkflowStatus>,
}

impl RunEntries {
    fn part(self, run: u64) -> Option<Part> {
        let (last, state) = self.last?;
        Some(Part { run, last, summary: self.steps.summary(state)?, outcome: self.outcome })
    }
}

impl<D: Disk> Workflow<'_, D> {
    /// Reads each live entry once. The runs are without those that are in `held`.
    fn read_entries(&self, held: &HashSet<u64>) -> Result<Entries> {
        let mut entries = Entries::default();
        let mut tombstone = None;
        for seq in self.numbers()? {
            let read = self.read_bytes(seq);
            tombstone = read.as_ref().is_ok_and(Vec::is_empty).then_some(seq);
            if tombstone.is_some() {
                continue;
            }
            let bytes = read.as_ref().map(|bytes| bytes.len() as u64);
            entries.live.bytes += bytes.unwrap_or_else(|_| self.stat(seq).map_or(0, |stat| stat.file_bytes()));
            match read.and_then(|bytes| decode_moment(&self.handle(seq), &bytes)) {
                Ok(moment) => entries.add(seq, moment, held),
                Err(_) => {
                    entries.live.checkpoints += 1;
                    entries.head = Some(LiveHead::Damaged);
                }
            }
        }
        match tombstone {
            None => {}
            // Archived after it was listed: then there is a seal now.
            Some(seq) if self.highest_live()? > Some(seq) => return self.read_entries(held),
            // Every file above it was removed by hand.
            Some(seq) if self.is_overtaken(seq) => entries.head = None,
            Some(_) => {
                entries.live.checkpoints += 1;
                entries.head = Some(LiveHead::Damaged);
            }
        }
        Ok(entries)
    }
}

impl Entries {
    /// Adds a checkpoint or a seal.
    fn add(&mut self, seq: u64, moment: Moment, held: &HashSet<u64>) {
        let (status, saved_at, sealed) = (moment.status(), moment.saved_at(), moment.sealed.is_some());
        self.head = Some(LiveHead::Read { status, saved_at, sealed });
        let run = self.runs.entry(moment.first_of_run()).or_default();
        if sealed {
            run.outcome = Some(status);
            return;
        }
        run.outcome = None;
        self.live.checkpoints += 1;
        self.live.oldest.get_or_insert(saved_at);
        if !held.contains(&seq) {
            run.steps.add(moment.step());
            run.last = Some((seq, moment.state()));
        }
    }
}

impl<D: Disk> Archive<'_, D> {
    /// Returns the summaries of the bundles, adds the numbers in them to `held`, and counts them. Of bundles that overlap,
    /// only the one with the highest numbers has a summary.
    fn parts(&self, held: &mut HashSet<u64>, totals: &mut BundleTotals) -> Result<Vec<Part>> {
        let mut parts = Vec::new();
        self.each_bundle(|name, bundle| {
            totals.count += 1;
            totals.bytes += self.stat(&name.to_string()).map_or(0, |stat| stat.file_bytes());
            let Ok(bundle) = bundle else { return Ok(()) };
            let entries = &bundle.manifest().entries;
            totals.files += entries.len();
            totals.content_bytes += entries.iter().map(|entry| entry.bytes).sum::<u64>();
            let numbers: Vec<u64> = entries.iter().map(|entry| entry.seq).collect();
            if numbers.iter().any(|seq| held.contains(seq)) {
                return Ok(());
            }
            if let Some(summary) = self.summary(name, bundle) {
                held.extend(numbers);
                let outcome = WorkflowStatus::archived_as(&name.reason);
                parts.push(Part { run: name.run, last: name.last, summary, outcome });
            }
            Ok(())
        })?;
        Ok(parts)
    }

    /// Returns the summary of a bundle. One that an earlier version wrote has none, so its checkpoints are read.
    fn summary(&self, name: &BundleName, mut bundle: Bundle<'_>) -> Option<RunSummary> {
        if let Some(summary) = &bundle.manifest().summary {
            return Some(summary.clone());
        }
        let (mut steps, mut last) = (Vec::new(), None);
        while let Ok(Some((entry, bytes))) = bundle.next_file() {
            let Ok(moment) = decode_moment(&self.handle(entry.seq), &bytes) else { continue };
            if moment.sealed.is_none() && moment.first_of_run() == name.run {
                steps.push(moment.step());
                last.get_or_insert_with(|| moment.state());
            }
        }
        let mut counter = StepCounter::default();
        steps.into_iter().rev().for_each(|step| counter.add(step));
        counter.summary(last?)
    }
}

/// Decodes the part of the file of `handle` that statistics need.
fn decode_moment(handle: &Handle, bytes: &[u8]) -> Result<Moment, Unusable> {
    let moment: Moment = decode_part(bytes)?;
    belongs(handle, &moment.workflow, moment.seq)?;
    Ok(moment)
}
