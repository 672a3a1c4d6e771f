//! Updating the files of a workflow.

use std::path::{Component, Path};
use std::time::Duration;

use super::known::{KnownImports, is_derived};
use super::plan::{MirrorPlan, plan};
use crate::core::checkpoint::{Checkpoint, WorkflowStatus};
use crate::core::dialects::{Dialect, Document, FilePer};
use crate::core::export::{
    EarlierFile, ExportError, ExportFile, FileContent, Present, current_run, directory, files_after, present,
    previous_runs, projection, remove, slot_projection, write,
};
use crate::core::phase::{Phase, PhaseId, PhaseStatus};
use crate::core::store::{self, CurrentRun, Error, MirrorManifest, Store, Through};
use crate::core::workflow_id::WorkflowId;

/// The most checkpoints since the last update that are added one by one.
const MOST_ADDED: u64 = 16;
/// How long an update waits for another one of the same dialect. One takes a few milliseconds.
const PATIENCE: Duration = Duration::from_secs(10);

/// An update that failed. What it left undone is done by the next one.
#[derive(Debug, thiserror::Error)]
pub enum MirrorError {
    /// Another process holds the lock.
    #[error("another process is updating it")]
    Locked,
    /// The store cannot be read, or the manifest cannot be written.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// A file cannot be written or removed.
    #[error(transparent)]
    Export(#[from] ExportError),
}

/// The files of others that an update met for the first time. They are unchanged.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct MirrorUpdate {
    /// Files in the place of one to write.
    pub blocked: Vec<String>,
    /// Files that were to be removed.
    pub released: Vec<String>,
}

/// Returns the dialects in which files of a workflow were written.
#[must_use]
pub fn mirrored(store: &Store, workflow: &WorkflowId) -> Vec<Dialect> {
    let has_files = |dialect: &Dialect| {
        store.manifest(*dialect, workflow).is_some_and(|manifest| manifest.workflows.contains(workflow))
    };
    Dialect::mirrored().into_iter().filter(has_files).collect()
}

/// The extent of an update.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Since {
    /// The checkpoints that were saved since the last update, if nothing else has happened.
    LastUpdate,
    /// Everything.
    Beginning,
}

/// Makes the files of a workflow in a dialect equal to what the store holds.
///
/// # Errors
/// The files may be only partly up to date.
pub fn update(
    store: &Store,
    dialect: Dialect,
    workflow: &WorkflowId,
    since: Since,
) -> Result<MirrorUpdate, MirrorError> {
    let project = store.project();
    let manifests = store.lock_manifests(dialect, PATIENCE)?.ok_or(MirrorError::Locked)?;
    let recorded = manifests.load(workflow);
    let mut manifest = recorded.clone();
    // A manifest that was tampered with must not lead to other files of the project.
    manifest.files.retain(|path, _| is_inside(path, directory(dialect)));
    let added = match since {
        Since::LastUpdate => project_added(store, dialect, workflow, &manifest)?,
        Since::Beginning => None,
    };
    let Projected { files: projection, kept, workflows, through } = match added {
        Some(projected) => projected,
        None => project_now(store, dialect, workflow, &manifest)?,
    };
    let mut imports: Vec<_> =
        workflows.iter().map(|workflow| KnownImports::new(store, dialect, workflow)).collect();
    let files = projection.clone();
    let derives = dialect.layout().is_some_and(|layout| layout.derived.is_some());
    let is_known = |path: &str, content: &FileContent| {
        (derives && is_derived(path, content, &files))
            || imports.iter_mut().any(|imports| imports.contains(path, content))
    };
    let MirrorPlan { write: writes, remove: removals, blocked, released, files, named } =
        plan(projection, &kept, &manifest, |path| present(project, path), is_known);

    // Until all of it is done, the next update has to look at everything.
    let mut done = MirrorManifest { workflows, files, named, through: None };
    let mut stored = recorded;
    if !writes.is_empty() {
        stored = done.clone();
        let leaving = removals.iter().filter_map(|path| manifest.files.get_key_value(path));
        stored.files.extend(leaving.map(|(path, file)| (path.clone(), file.clone())));
        manifests.replace(workflow, &stored)?;
    }
    let store_mode = store.mode()?;
    let mut failure = None;
    for file in &writes {
        match write(project, file, true, store_mode) {
            Ok(_) => {
                if let Some(record) = done.files.get_mut(&file.path) {
                    record.sha256.truncate(1);
                }
            }
            Err(error) => failure = failure.or(Some(error)),
        }
    }
    for path in &removals {
        if let Err(error) = remove(project, path, directory(dialect)) {
            failure = failure.or(Some(error));
            done.files.extend(manifest.files.remove_entry(path));
        }
    }
    if failure.is_none() && done.named.is_empty() {
        done.through = through;
    }
    if done != stored {
        manifests.replace(workflow, &done)?;
    }
    match failure {
        Some(error) => Err(error.into()),
        None => Ok(MirrorUpdate { blocked, released }),
    }
}

/// The files that the system would have now.
struct Projected {
    /// Those that may have to be written.
    files: Vec<ExportFile>,
    /// The paths of those that stay as they are.
    kept: Vec<String>,
    /// The workflows that they belong to.
    workflows: Vec<WorkflowId>,
    /// The checkpoint up to which they go.
    through: Option<Through>,
}

/// Adds the files of the checkpoints that were saved since the last update. Returns none if that is not all that happened.
fn project_added(
    store: &Store,
    dialect: Dialect,
    workflow: &WorkflowId,
    manifest: &MirrorManifest,
) -> Result<Option<Projected>, MirrorError> {
    let (Some(layout), Some(through)) = (dialect.layout(), &manifest.through) else { return Ok(None) };
    let Some(added) = store.added_after(workflow, through.seq, MOST_ADDED)? else { return Ok(None) };
    let Some(newest) = added.last() else { return Ok(None) };
    let Some(now) = through_of(dialect, newest) else { return Ok(None) };
    let has_phase =
        |id: &PhaseId| added.iter().any(|checkpoint| checkpoint.content.phase.as_ref() == Some(id));
    let continues =
        |checkpoint: &Checkpoint| checkpoint.first_of_run() == through.run && checkpoint.copy_of.is_none();
    // A phase that has begun without a checkpoint of its own may have an older one.
    let is_simple = added.iter().all(continues) && now.begun.difference(&through.begun).all(has_phase);
    if !is_simple {
        return Ok(None);
    }
    let mut earlier: Vec<_> = manifest
        .files
        .iter()
        .filter_map(|(path, file)| {
            Some((file.source.seq, EarlierFile { path: path.clone(), memo: file.memo.clone()? }))
        })
        .collect();
    if layout.per == FilePer::Phase && earlier.iter().any(|(_, file)| file.memo.phase.is_none()) {
        return Ok(None);
    }
    earlier.sort_by_key(|(seq, _)| *seq);
    let earlier: Vec<_> = earlier.into_iter().map(|(_, file)| file).collect();
    let (export, kept) = files_after(dialect, &earlier, &added, store.project())?;
    Ok(Some(Projected { files: export.files, kept, workflows: vec![workflow.clone()], through: Some(now) }))
}

/// Returns where the files stand after a checkpoint; none if the next one may change others: what is over has other files
/// than what is open.
fn through_of(dialect: Dialect, newest: &Checkpoint) -> Option<Through> {
    let per = dialect.layout()?.per;
    let is_begun = |phase: &&Phase| per == FilePer::Phase && phase.status != PhaseStatus::Pending;
    let begun = newest.content.phases.iter().filter(is_begun).map(|phase| phase.id.clone()).collect();
    let is_open = newest.content.status == WorkflowStatus::InProgress && newest.sealed.is_none();
    (is_open && per != FilePer::Workflow).then(|| Through {
        seq: newest.seq,
        run: newest.first_of_run(),
        begun,
    })
}

/// Returns all files that the system would have.
fn project_now(
    store: &Store,
    dialect: Dialect,
    workflow: &WorkflowId,
    manifest: &MirrorManifest,
) -> Result<Projected, MirrorError> {
    if !dialect.has_one_slot() {
        let run = held(store, dialect, workflow)?;
        let files = match &run {
            Some(run) => projection(dialect, run, store.project())?,
            None => Vec::new(),
        };
        let live = run.filter(|run| !run.archived);
        let newest = live.as_ref().and_then(|run| run.checkpoints.last());
        let through = newest.and_then(|newest| through_of(dialect, newest));
        return Ok(Projected { files, kept: Vec::new(), workflows: vec![workflow.clone()], through });
    }
    let mut workflows = vec![workflow.clone()];
    workflows.extend(imported_into_slot(store, dialect));
    workflows.extend(manifest.workflows.iter().cloned());
    let mut runs: Vec<CurrentRun> = Vec::new();
    for (index, workflow) in workflows.iter().enumerate() {
        if !workflows[..index].contains(workflow) {
            let Some(run) = held(store, dialect, workflow)? else { continue };
            runs.extend(previous_runs(store, &run));
            runs.push(run);
        }
    }
    let files = slot_projection(dialect, &mut runs, store.project())?;
    let kept = runs.iter().filter_map(|run| run.checkpoints.last());
    let mut workflows: Vec<WorkflowId> = Vec::new();
    for newest in kept {
        if !workflows.contains(&newest.workflow) {
            workflows.push(newest.workflow.clone());
        }
    }
    Ok(Projected { files, kept: Vec::new(), workflows, through: None })
}

/// Reads what the store holds of a workflow; none if there is no such workflow, or its content is deleted.
fn held(store: &Store, dialect: Dialect, workflow: &WorkflowId) -> Result<Option<CurrentRun>, MirrorError> {
    match current_run(store, dialect, workflow) {
        Ok(run) => Ok(Some(run)),
        Err(Error::NoSuchWorkflow { .. } | Error::Archived { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Returns the workflow in the slot, if it was imported from there and not changed since.
fn imported_into_slot(store: &Store, dialect: Dialect) -> Option<WorkflowId> {
    let path = dialect.layout()?.slot?;
    let Present::Content(content) = present(store.project(), path) else { return None };
    let FileContent::Bytes(bytes) = &content else { return None };
    let document = Document::parse(bytes).ok()?;
    let workflow: WorkflowId = dialect.read(&document, None).draft.workflow?.parse().ok()?;
    KnownImports::new(store, dialect, &workflow).contains(path, &content).then_some(workflow)
}

/// True if a path leads to a file below a directory.
fn is_inside(path: &str, dir: &str) -> bool {
    let below = Path::new(path).strip_prefix(dir);
    let is_plain = |path: &Path| path.components().all(|part| matches!(part, Component::Normal(_)));
    below.is_ok_and(|below| !below.as_os_str().is_empty() && is_plain(Path::new(path)))
}
