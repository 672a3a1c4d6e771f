//! Updating mirrors after a command that changed the store. What fails is a warning.

use std::path::Path;

use super::error::Failure;
use crate::core::dialects::Dialect;
use crate::core::mirror::{MirrorError, MirrorUpdate, Since, mirrored, update};
use crate::core::text::shell_word;
use crate::core::{Config, Store, WorkflowId};

/// Updates every mirror of a workflow after anything: those that exist, and that of the settings. Returns warnings.
pub(crate) fn update_mirrors(
    store: &Store,
    config: &Config,
    cwd: &Path,
    workflow: &WorkflowId,
) -> Vec<String> {
    update_mirrors_since(store, config, cwd, workflow, Since::Beginning)
}

/// Updates every mirror of a workflow. Returns warnings.
pub(crate) fn update_mirrors_since(
    store: &Store,
    config: &Config,
    cwd: &Path,
    workflow: &WorkflowId,
    since: Since,
) -> Vec<String> {
    let mut dialects = mirrored(store, workflow);
    dialects.extend(config.mirror().filter(|dialect| !dialects.contains(dialect)));
    dialects.into_iter().flat_map(|dialect| update_mirror(store, dialect, cwd, workflow, since)).collect()
}

/// Updates one mirror of a workflow. Returns warnings.
pub(crate) fn update_mirror(
    store: &Store,
    dialect: Dialect,
    cwd: &Path,
    workflow: &WorkflowId,
    since: Since,
) -> Vec<String> {
    let project = store.project();
    let typed = |path: &str| {
        let path = if cwd == project { path.into() } else { project.join(path) };
        shell_word(path.display().to_string())
    };
    let MirrorUpdate { blocked, released } = match update(store, dialect, workflow, since) {
        Ok(updated) => updated,
        Err(error) => {
            let why = match error {
                MirrorError::Locked => error.to_string(),
                MirrorError::Store(error) => Failure::from(error).message,
                MirrorError::Export(error) => Failure::from(error).message,
            };
            return vec![format!("the {dialect} copy was not brought up to date: {why}")];
        }
    };
    let blocked = blocked.iter().map(|path| {
        format!(
            "the {dialect} copy was not brought up to date: `{path}` says something else; `ckpt import {}` takes it \
             over, `ckpt export {workflow} --as {dialect} --force` replaces it",
            typed(&importable(path))
        )
    });
    let released = released.iter().map(|path| {
        format!(
            "`{path}` is no part of the {dialect} copy any more, and stays because it was changed by others"
        )
    });
    blocked.chain(released).collect()
}

/// Returns what is imported to take over a file: its directory for the index and the link of crunch, and for the tasks of
/// dotagent the file that they belong to.
fn importable(path: &str) -> String {
    match path.rsplit_once('/') {
        Some((dir, "index.yaml" | "latest")) => format!("{dir}/"),
        Some((dir, "execution.json")) => format!("{dir}/phase.json"),
        _ => path.to_owned(),
    }
}
