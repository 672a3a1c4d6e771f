//! Updating the files of a workflow.

use std::path::{Component, Path};
use std::time::Duration;

use serde_json::Value;

use super::known::{KnownImports, is_derived};
use super::plan::{MirrorPlan, plan};
use crate::core::dialects::{Dialect, Document};
use crate::core::export::{
    ExportError, ExportFile, FileContent, Present, current_run, directory, present, projection, remove,
    slot_projection, write,
};
use crate::core::store::{self, CurrentRun, Error, MirrorManifest, Store};
use crate::core::workflow_id::WorkflowId;

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
    Dialect::FOREIGN.into_iter().filter(has_files).collect()
}

/// Makes the files of a workflow in a dialect equal to what the store holds.
///
/// # Errors
/// The files may be only partly up to date.
pub fn update(store: &Store, dialect: Dialect, workflow: &WorkflowId) -> Result<MirrorUpdate, MirrorError> {
    let project = store.project();
    let manifests = store.lock_manifests(dialect, PATIENCE)?.ok_or(MirrorError::Locked)?;
    let recorded = manifests.load(workflow);
    let mut manifest = recorded.clone();
    // A manifest that was tampered with must not lead to other files of the project.
    manifest.files.retain(|path, _| is_inside(path, directory(dialect)));
    let (projection, workflows) = project_now(store, dialect, workflow, &manifest)?;
    let mut imports: Vec<_> =
        workflows.iter().map(|workflow| KnownImports::new(store, dialect, workflow)).collect();
    let files = projection.clone();
    let is_known = |path: &str, content: &FileContent| {
        (dialect == Dialect::Crunch && is_derived(path, content, &files))
            || imports.iter_mut().any(|imports| imports.contains(path, content))
    };
    let MirrorPlan { write: writes, remove: removals, blocked, released, files, named } =
        plan(projection, &manifest, |path| present(project, path), is_known);

    let mut done = MirrorManifest { workflows, files, named };
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
    if done != stored {
        manifests.replace(workflow, &done)?;
    }
    match failure {
        Some(error) => Err(error.into()),
        None => Ok(MirrorUpdate { blocked, released }),
    }
}

/// Returns the files that the system would have now, and the workflows they belong to.
fn project_now(
    store: &Store,
    dialect: Dialect,
    workflow: &WorkflowId,
    manifest: &MirrorManifest,
) -> Result<(Vec<ExportFile>, Vec<WorkflowId>), MirrorError> {
    if !dialect.has_one_slot() {
        let files = match held(store, dialect, workflow)? {
            Some(run) => projection(dialect, &run, store.project())?,
            None => Vec::new(),
        };
        return Ok((files, vec![workflow.clone()]));
    }
    let mut workflows = vec![workflow.clone()];
    workflows.extend(imported_into_slot(store, dialect));
    workflows.extend(manifest.workflows.iter().cloned());
    let mut runs: Vec<CurrentRun> = Vec::new();
    for (index, workflow) in workflows.iter().enumerate() {
        if !workflows[..index].contains(workflow) {
            runs.extend(held(store, dialect, workflow)?);
        }
    }
    let files = slot_projection(dialect, &mut runs, store.project())?;
    let kept = runs.iter().filter_map(|run| run.checkpoints.last());
    Ok((files, kept.map(|newest| newest.workflow.clone()).collect()))
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
    let path = format!("{}/phase.json", directory(dialect));
    let Present::Content(content) = present(store.project(), &path) else { return None };
    let FileContent::Bytes(bytes) = &content else { return None };
    let document = Document::parse(bytes).ok()?.value;
    let workflow: WorkflowId = document.get("workflow_id").and_then(Value::as_str)?.parse().ok()?;
    KnownImports::new(store, dialect, &workflow).contains(&path, &content).then_some(workflow)
}

/// True if a path leads to a file below a directory.
fn is_inside(path: &str, dir: &str) -> bool {
    let below = Path::new(path).strip_prefix(dir);
    let is_plain = |path: &Path| path.components().all(|part| matches!(part, Component::Normal(_)));
    below.is_ok_and(|below| !below.as_os_str().is_empty() && is_plain(Path::new(path)))
}
