//! Inspecting the files that a foreign checkpoint names.

use std::path::Path;

use crate::core::checkpoint::Checkpoint;
use crate::core::dialects::Draft;
use crate::core::files::{FileProblem, follow_in_project, hash_regular};
use crate::core::finding::{Code, Finding, Severity};
use crate::core::size::Size;
use crate::core::time::Timestamp;

/// Hashes the artifacts and watched files that exist. Returns a finding for each watched file that is missing or has
/// changed since the foreign file was saved.
pub(super) fn inspect_files(
    checkpoint: &mut Checkpoint,
    draft: &Draft,
    project: &Path,
    limit: Size,
) -> Vec<Finding> {
    for artifact in &mut checkpoint.content.artifacts {
        if artifact.sha256.is_some() {
            continue;
        }
        let hashed = follow_in_project(project, &artifact.path).and_then(|path| hash_regular(&path, limit.0));
        if let Ok((size, digest)) = hashed {
            (artifact.size, artifact.sha256) = (Some(size), Some(digest));
        }
    }
    let mut findings = Vec::new();
    for (file, watched) in checkpoint.context.watched.iter_mut().zip(&draft.watched) {
        let path = match follow_in_project(project, &file.path) {
            Ok(path) => path,
            // Only its metadata is read; nothing outside the project is opened.
            Err(FileProblem::Outside) => Path::new(&file.path).to_owned(),
            Err(_) => project.join(&file.path),
        };
        if path.starts_with(project) {
            file.sha256 = hash_regular(&path, limit.0).ok().map(|(_, digest)| digest);
        }
        let doubt = match (std::fs::symlink_metadata(&path), watched.modified_at) {
            (Err(_), _) => "is gone",
            (Ok(now), Some(then)) if is_modified_since(&now, then) => "has changed since the file was saved",
            _ => continue,
        };
        let message = format!("{}, which the work depends on, {doubt}", file.path);
        findings.push(Finding::new(Severity::Confirm, Code::PlanChanged, message).at(&file.path));
    }
    findings
}

/// Returns true if the mtime is later. Many systems record it in whole seconds, so one second is tolerated.
fn is_modified_since(metadata: &std::fs::Metadata, then: Timestamp) -> bool {
    metadata.modified().is_ok_and(|modified| Timestamp::from(modified).seconds_since(then) > 1)
}
