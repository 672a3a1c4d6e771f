//! Recording files: where they are, how large, and what was in them.

use std::path::{Path, PathBuf};

use super::change::ArtifactRequest;
use super::checkpoint::{Artifact, WatchedFile};
use super::files::{FileProblem, follow_in_project, hash_regular, locate_in_project};
use super::size::Size;

/// A file that cannot be recorded.
#[derive(Debug, thiserror::Error)]
#[error("artifact `{}` {problem}", path.display())]
pub struct ArtifactError {
    /// The file.
    pub path: PathBuf,
    /// What is in the way.
    #[source]
    pub problem: FileProblem,
}

/// Hashes the files that a save names. Relative paths start at `base`; what is recorded starts at `project`.
///
/// # Errors
/// A file that is missing, not a regular one, too large, or outside the project.
pub fn record(
    project: &Path,
    base: &Path,
    requests: &[ArtifactRequest],
    limit: Size,
) -> Result<Vec<Artifact>, ArtifactError> {
    let record = |request: &ArtifactRequest| {
        let refused = |problem: FileProblem| ArtifactError { path: request.path.clone(), problem };
        let (real, path) = locate_in_project(project, base, &request.path).map_err(refused)?;
        let (size, sha256) = hash_regular(&real, limit.0).map_err(refused)?;
        let name = request.name.clone().unwrap_or_else(|| path.clone());
        Ok(Artifact { name, path, size: Some(size), sha256: Some(sha256), extra: Default::default() })
    };
    requests.iter().map(record).collect()
}

/// Hashes the watched files. One that is missing or cannot be read is recorded as such: it may come later.
#[must_use]
pub fn watch(project: &Path, paths: &[String], limit: Size) -> Vec<WatchedFile> {
    let watch = |path: &String| {
        let digest = follow_in_project(project, path).and_then(|real| hash_regular(&real, limit.0));
        WatchedFile {
            path: path.clone(),
            sha256: digest.ok().map(|(_, digest)| digest),
            extra: Default::default(),
        }
    };
    paths.iter().map(watch).collect()
}
