//! Recording files: where they are, how large, and what was in them.

use std::path::{Path, PathBuf};

use super::capture::{Capture, CaptureError};
use super::files::{FileProblem, follow_in_project, locate_in_project};
use crate as store;
use crate::Disk;
use ckpt_model::checkpoint::{Artifact, WatchedFile};
use ckpt_model::size::Size;

/// A file that cannot be recorded.
#[derive(Debug, thiserror::Error)]
#[error("artifact `{}` {problem}", path.display())]
pub struct ArtifactError {
    /// The file.
    pub path: PathBuf,
    /// The problem.
    #[source]
    pub problem: FileProblem,
}

/// Hashes artifacts of which only a path is known, and keeps their contents with `capture`. A relative path starts at
/// `base`; the recorded one starts at `project`, and is the name of an artifact that has none.
///
/// # Errors
/// A file is missing, not a regular one, too large, or outside the project; or the store cannot be read.
pub(super) fn record<D: Disk, E: From<ArtifactError> + From<store::Error>>(
    project: &Path,
    base: &Path,
    artifacts: &mut [Artifact],
    limit: Size,
    mut capture: Option<&mut Capture<'_, D>>,
) -> Result<(), E> {
    for artifact in artifacts {
        let typed = PathBuf::from(&artifact.path);
        let refused = |problem: FileProblem| ArtifactError { path: typed.clone(), problem };
        let (file, path) = locate_in_project(project, base, &typed).map_err(refused)?;
        if artifact.name.is_empty() {
            artifact.name.clone_from(&path);
        }
        artifact.path = path;
        artifact.captured = false;
        if let Some(capture) = &mut capture {
            let captured = capture.take(&file, artifact).map_err(|error| match error {
                CaptureError::File(problem) => E::from(refused(problem)),
                CaptureError::Store(error) => E::from(error),
            })?;
            if captured {
                continue;
            }
        }
        let (size, sha256) = file.hash(limit.0).map_err(refused)?;
        (artifact.size, artifact.sha256) = (Some(size), Some(sha256));
    }
    Ok(())
}

/// Hashes the watched files. One that is missing or cannot be read is recorded as such: it may come later.
#[must_use]
pub fn watch(project: &Path, paths: &[String], limit: Size) -> Vec<WatchedFile> {
    let watch = |path: &String| {
        let digest = follow_in_project(project, path).and_then(|file| file.hash(limit.0));
        WatchedFile { path: path.clone(), sha256: digest.ok().map(|(_, digest)| digest), extra: Default::default() }
    };
    paths.iter().map(watch).collect()
}
