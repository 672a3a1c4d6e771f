//! Looking for the files of other systems in a project, where those systems keep them.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::collect::{Companions, Found, Source, collect};
use super::foreign_file::{ForeignFile, ReadOptions};
use crate::dialects::Dialect;
use ckpt_model::workflow_id::WorkflowId;

/// The most directories that stand for `*` in a place.
const MAX_MATCHES: usize = 200;

/// A file of another system, or a directory with such files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Discovered {
    /// Its path, relative to the project.
    pub path: String,
    /// Its dialect.
    pub dialect: Dialect,
    /// The number of files.
    pub files: usize,
    /// The workflow; none if there are several.
    pub workflow: Option<WorkflowId>,
}

/// Looks at the places of all systems. A file counts if its content is of that system, and about work that is not over.
#[must_use]
pub fn discover(project: &Path) -> Vec<Discovered> {
    let mut found = Vec::new();
    for dialect in Dialect::ALL {
        for place in dialect.places() {
            for path in matches(project, place) {
                found.extend(inspect(project, &path, *dialect));
            }
        }
    }
    found
}

/// Returns the paths that a place stands for. `*` is any directory of that name.
fn matches(project: &Path, place: &str) -> Vec<PathBuf> {
    let Some((before, behind)) = place.split_once("/*/") else { return vec![PathBuf::from(place)] };
    let Ok(entries) = project.join(before).read_dir() else { return Vec::new() };
    let dirs = entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let mut paths: Vec<PathBuf> =
        dirs.take(MAX_MATCHES).map(|dir| Path::new(before).join(dir.file_name()).join(behind)).collect();
    paths.sort();
    paths
}

fn inspect(project: &Path, path: &Path, dialect: Dialect) -> Option<Discovered> {
    let full = project.join(path);
    let metadata = full.symlink_metadata().ok().filter(|metadata| !metadata.is_symlink())?;
    let sources = if metadata.is_dir() {
        let listed = collect(&full).into_iter().filter_map(|(_, found)| match found {
            Found::File(source) => Some(source),
            Found::Link | Found::Unreadable(_) => None,
        });
        listed.collect()
    } else {
        vec![Source::Listed { root: project.to_owned(), path: full }]
    };
    let mut companions = Companions::default();
    let read = sources.iter().filter_map(|source| {
        let file = ForeignFile::open(source, &ReadOptions::default(), &mut companions).ok()?;
        let counts = file.reading.dialect == dialect && file.reading.is_about_work() && !file.reading.draft.idle;
        counts.then(|| file.workflow().ok())
    });
    let workflows: Vec<Option<WorkflowId>> = read.collect();
    let first = workflows.first()?.clone();
    let workflow = first.filter(|first| workflows.iter().all(|other| other.as_ref() == Some(first)));
    Some(Discovered { path: path.to_str()?.to_owned(), dialect, files: workflows.len(), workflow })
}
