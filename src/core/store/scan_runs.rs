//! Scanning the runs of all workflows, live and archived, for statistics. What is damaged is left out.

use std::collections::{BTreeMap, HashSet};

use super::archive::Archive;
use super::batches::{ScanProgress, in_batches};
use super::bundle::{Bundle, BundleName};
use super::disk::Disk;
use super::error::Result;
use super::open::Store;
use super::workflow::{Workflow, belongs};
use crate::core::checkpoint::WorkflowStatus;
use crate::core::format::{Unusable, decode_part};
use crate::core::run_summary::{Moment, RunState, RunSummary, StepCounter};
use crate::core::selector::Handle;
use crate::core::workflow_id::WorkflowId;

/// One run of a workflow.
#[derive(Debug, Clone)]
pub struct Run {
    /// The workflow.
    pub workflow: WorkflowId,
    /// The summary of its checkpoints.
    pub summary: RunSummary,
    /// Its outcome, or that it is in progress.
    pub status: WorkflowStatus,
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
    /// Passes every run of every workflow to `visit`, in no order.
    ///
    /// # Errors
    /// The store itself cannot be read; a workflow that cannot is left out.
    pub fn visit_runs(
        &self,
        progress: &mut dyn FnMut(&ScanProgress),
        visit: &mut dyn FnMut(Run),
    ) -> Result<()> {
        let ids = self.workflow_ids()?;
        let mut now = ScanProgress { done: 0, total: ids.len() };
        in_batches(
            &ids,
            |id| self.runs_of(id).unwrap_or_default(),
            |_, runs| {
                now.done += 1;
                progress(&now);
                runs.into_iter().for_each(&mut *visit);
            },
        );
        Ok(())
    }
}

impl<D: Disk> Store<D> {
    /// Returns the runs of a workflow, the oldest first.
    ///
    /// # Errors
    /// The workflow cannot be read.
    pub fn runs_of(&self, id: &WorkflowId) -> Result<Vec<Run>> {
        let workflow = self.workflow(id)?;
        let mut held = HashSet::new();
        let mut parts = workflow.archive()?.parts(&mut held)?;
        parts.append(&mut workflow.live_parts(&held)?);
        parts.sort_by_key(|part| (part.run, part.last));
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
            Run { workflow: id.clone(), summary, status }
        };
        Ok(runs.into_iter().enumerate().map(run).collect())
    }
}

impl Part {
    /// True if a later part belongs to the same run. What was archived as complete and then taken up again counts as two
    /// runs, unless it was only restored.
    fn goes_on_in(&self, later: &Self) -> bool {
        let is_complete = self.outcome == Some(WorkflowStatus::Complete);
        self.run == later.run && !(is_complete && self.summary.last.phases != later.summary.last.phases)
    }
}

impl<D: Disk> Workflow<'_, D> {
    /// Summarises the live checkpoints that are not in `held`, run by run.
    fn live_parts(&self, held: &HashSet<u64>) -> Result<Vec<Part>> {
        struct Live {
            steps: StepCounter,
            last: Option<(u64, RunState)>,
            outcome: Option<WorkflowStatus>,
        }
        let mut runs: BTreeMap<u64, Live> = BTreeMap::new();
        for seq in self.numbers()? {
            let Ok(bytes) = self.read_bytes(seq) else { continue };
            let Ok(moment) = decode_moment(&self.handle(seq), &bytes) else { continue };
            let fresh = || Live { steps: StepCounter::default(), last: None, outcome: None };
            let live = runs.entry(moment.first_of_run()).or_insert_with(fresh);
            if moment.sealed.is_some() {
                live.outcome = Some(moment.status());
            } else {
                live.outcome = None;
                if !held.contains(&seq) {
                    live.steps.add(moment.step());
                    live.last = Some((seq, moment.state()));
                }
            }
        }
        let part = |(run, live): (u64, Live)| {
            let (last, state) = live.last?;
            Some(Part { run, last, summary: live.steps.summary(state)?, outcome: live.outcome })
        };
        Ok(runs.into_iter().filter_map(part).collect())
    }
}

impl<D: Disk> Archive<'_, D> {
    /// Returns the summaries of the bundles, and adds the numbers in them to `held`. Of bundles that overlap, only the one
    /// with the highest numbers counts.
    fn parts(&self, held: &mut HashSet<u64>) -> Result<Vec<Part>> {
        let mut parts = Vec::new();
        self.each_bundle(|name, bundle| {
            let Ok(bundle) = bundle else { return Ok(()) };
            let numbers: Vec<u64> = bundle.manifest().entries.iter().map(|entry| entry.seq).collect();
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
