//! All files that a system would have of what the store holds.
//!
//! | dialect | in progress | complete | failed or abandoned | archived |
//! |---|---|---|---|---|
//! | kamiflow | a file per phase that has begun | the last one is `-complete` | a file per phase | none |
//! | claude-dir | one file | none | in `failed/` | in `failed/` if it was not completed, until it expires |
//! | claude-plan | one file | one file | one file | none |
//! | crunch | a file per checkpoint that it keeps, and their index | a file per live checkpoint | the same | none |
//! | dotagent | in the slot | in `.archive/` | in the slot | in `.archive/` |
//!
//! What crunch keeps of open work is what is live here, and what was archived although its limits per trigger admit it: work that
//! was idle for a month is compressed here, but not there.
//!
//! The slot of dotagent is for all workflows of a store: the one that was saved last has it, the others are in `.archive/`.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::path::Path;

use super::error::ExportError;
use super::files::{ExportFile, files, has_history};
use crate::core::checkpoint::{Checkpoint, WorkflowStatus};
use crate::core::dialects::{Dialect, FilePer};
use crate::core::phase::{Phase, PhaseStatus};
use crate::core::retention::TriggerLimits;
use crate::core::selector::Handle;
use crate::core::store::{CurrentRun, Disk, Result, Store};
use crate::core::workflow_id::WorkflowId;

/// The number of archived states that dotagent keeps.
const MAX_ARCHIVED: usize = 5;

/// Returns the directory that holds all files of a dialect.
#[must_use]
pub fn directory(dialect: Dialect) -> &'static str {
    dialect.layout().map_or("", |layout| layout.directory)
}

/// Reads what the store holds of a workflow, as far as its files in a dialect show it.
///
/// # Errors
/// As [`Store::current_run`].
pub fn current_run<D: Disk>(store: &Store<D>, dialect: Dialect, workflow: &WorkflowId) -> Result<CurrentRun> {
    let mut run = store.current_run(workflow, has_history(dialect))?;
    match dialect.layout().map(|layout| layout.per) {
        Some(FilePer::Phase) if lacks_phases(&run) => run.checkpoints = whole_run(store, workflow)?,
        Some(FilePer::Checkpoint) if is_open(&run) && !is_whole(&run) => {
            let live: BTreeSet<u64> = run.checkpoints.iter().map(|checkpoint| checkpoint.seq).collect();
            let whole = whole_run(store, workflow)?;
            let counted: Vec<_> = whole
                .iter()
                .map(|checkpoint| (&checkpoint.trigger, checkpoint.content.phase.as_ref()))
                .collect();
            let admitted = TriggerLimits::standard().admit(&counted);
            let kept = |(checkpoint, admitted): (Checkpoint, bool)| {
                (admitted || live.contains(&checkpoint.seq)).then_some(checkpoint)
            };
            run.checkpoints = whole.into_iter().zip(admitted).filter_map(kept).collect();
            let numbers = run.checkpoints.iter().map(|checkpoint| checkpoint.seq);
            run.packed = numbers.filter(|seq| !live.contains(seq)).collect();
        }
        _ => {}
    }
    Ok(run)
}

fn is_open(run: &CurrentRun) -> bool {
    let status = run.checkpoints.last().map(|newest| newest.content.status);
    !run.archived && status == Some(WorkflowStatus::InProgress)
}

/// Returns true if every checkpoint of the run is live.
fn is_whole(run: &CurrentRun) -> bool {
    let Some(newest) = run.checkpoints.last() else { return true };
    let all = newest.seq.saturating_sub(newest.first_of_run()) + 1;
    run.checkpoints.len() as u64 == all
}

/// Reads every checkpoint of the newest run of a workflow, live or archived.
///
/// # Errors
/// As [`Store::load_history`].
pub fn whole_run<D: Disk>(store: &Store<D>, workflow: &WorkflowId) -> Result<Vec<Checkpoint>> {
    let history = store.load_history(workflow)?.into_iter().map(|stored| *stored.checkpoint);
    let mut run: Vec<Checkpoint> = history.collect();
    let first = run.last().map(Checkpoint::first_of_run);
    run.retain(|checkpoint| Some(checkpoint.first_of_run()) == first);
    Ok(run)
}

/// True if a phase of open work has begun, and its checkpoint may be in the archive: kamiflow keeps all files until the work
/// is complete.
fn lacks_phases(run: &CurrentRun) -> bool {
    let Some(newest) = run.checkpoints.last() else { return false };
    let is_live = |phase: &Phase| {
        run.checkpoints.iter().any(|checkpoint| checkpoint.content.phase.as_ref() == Some(&phase.id))
    };
    let has_begun = |phase: &&Phase| !matches!(phase.status, PhaseStatus::Pending | PhaseStatus::Skipped);
    !run.archived
        && newest.content.status != WorkflowStatus::Complete
        && !is_whole(run)
        && !newest.content.phases.iter().filter(has_begun).all(is_live)
}

/// Returns the files of a workflow, in a dialect that keeps workflows apart.
///
/// # Errors
/// The dialect cannot express a checkpoint.
pub fn projection(
    dialect: Dialect,
    run: &CurrentRun,
    project: &Path,
) -> Result<Vec<ExportFile>, ExportError> {
    let Some(newest) = run.checkpoints.last() else { return Ok(Vec::new()) };
    let is_shown = dialect.layout().is_some_and(|layout| (layout.is_shown)(newest, run.archived));
    let mut shown = if is_shown { files(dialect, &run.checkpoints, project)?.files } else { Vec::new() };
    for file in shown.iter_mut().filter(|file| run.packed.contains(&file.source.seq)) {
        file.memo.iter_mut().for_each(|memo| memo.packed = true);
    }
    Ok(shown)
}

/// Returns the runs of a workflow before this one that can be read, each with its last checkpoint, the newest first. A
/// dialect with one slot archives what is started over.
#[must_use]
pub fn previous_runs<D: Disk>(store: &Store<D>, run: &CurrentRun) -> Vec<CurrentRun> {
    let mut previous = Vec::new();
    let Some(newest) = run.checkpoints.last() else { return previous };
    let mut first = newest.first_of_run();
    while first > 1 && previous.len() < MAX_ARCHIVED {
        let load = |seq| store.load(&Handle::new(&newest.workflow, seq)).ok().map(|stored| stored.checkpoint);
        let seal = load(first - 1).and_then(|seal| seal.sealed);
        let Some(last) = seal.and_then(|seal| load(seal.last)) else { break };
        first = last.first_of_run();
        previous.push(CurrentRun { checkpoints: vec![*last], archived: true, packed: BTreeSet::new() });
    }
    previous
}

/// Returns the files of a dialect with one slot. Of workflows that were saved at the same time, the first one is the
/// later. Drops the workflows that have no files.
///
/// # Errors
/// The dialect cannot express a checkpoint.
pub fn slot_projection(
    dialect: Dialect,
    runs: &mut Vec<CurrentRun>,
    project: &Path,
) -> Result<Vec<ExportFile>, ExportError> {
    runs.sort_by_key(|run| Reverse(run.checkpoints.last().map(|newest| newest.saved_at)));
    let has_slot = |run: &CurrentRun| {
        let status = run.checkpoints.last().map(|newest| newest.content.status);
        !run.archived && status != Some(WorkflowStatus::Complete)
    };
    if let Some(open) = runs.iter().position(has_slot) {
        runs[..=open].rotate_right(1);
    }
    let has_slot = runs.first().is_some_and(has_slot);
    runs.truncate(MAX_ARCHIVED + usize::from(has_slot));
    let slot = directory(dialect);
    let archive = dialect.layout().and_then(|layout| layout.archive).unwrap_or_default();
    let mut all = Vec::new();
    let mut used = BTreeSet::new();
    for (index, run) in runs.iter().enumerate() {
        let Some(newest) = run.checkpoints.last() else { continue };
        let time = newest.saved_at.to_chrono().format("%Y%m%d_%H%M%S");
        let archive = format!("{slot}/{archive}/{}_{time}/", newest.workflow);
        // Of runs that ended within one second, the newest has the name.
        if !used.insert(archive.clone()) {
            continue;
        }
        for mut file in files(dialect, &run.checkpoints, project)?.files {
            if !has_slot || index > 0 {
                file.path = file.path.replacen(&format!("{slot}/"), &archive, 1);
            }
            all.push(file);
        }
    }
    Ok(all)
}
