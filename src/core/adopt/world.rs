//! What is there of the files that a foreign checkpoint names.

use std::path::Path;

use crate::core::checkpoint::Checkpoint;
use crate::core::dialects::Draft;
use crate::core::files::{FileProblem, follow_in_project, hash_regular};
use crate::core::finding::{Code, Finding, Severity};
use crate::core::size::Size;
use crate::core::time::Timestamp;

/// Hashes the files that are there; those that are not stay recorded as missing. Returns what was noticed about the
/// plan that the work follows.
pub(super) fn look(checkpoint: &mut Checkpoint, draft: &Draft, project: &Path, limit: Size) -> Vec<Finding> {
    for artifact in checkpoint.content.artifacts.iter_mut().filter(|artifact| artifact.sha256.is_none()) {
        let found = follow_in_project(project, &artifact.path).and_then(|real| hash_regular(&real, limit.0));
        if let Ok((size, digest)) = found {
            (artifact.size, artifact.sha256) = (Some(size), Some(digest));
        }
    }
    let mut findings = Vec::new();
    for (file, watch) in checkpoint.context.watched.iter_mut().zip(&draft.watched) {
        let found = follow_in_project(project, &file.path);
        let real = match found {
            Ok(real) => real,
            // It is only asked whether something is there; nothing outside the project is opened.
            Err(FileProblem::Outside) => Path::new(&file.path).to_owned(),
            Err(_) => project.join(&file.path),
        };
        file.sha256 =
            hash_regular(&real, limit.0).ok().map(|(_, digest)| digest).filter(|_| real.starts_with(project));
        let doubt = match (std::fs::symlink_metadata(&real), watch.modified_at) {
            (Err(_), _) => "is gone",
            (Ok(now), Some(then)) if changed(&now, then) => "has changed since the file was saved",
            _ => continue,
        };
        let message = format!("{}, which the work depends on, {doubt}", file.path);
        findings.push(Finding::new(Severity::Confirm, Code::PlanChanged, message).at(&file.path));
    }
    findings
}

/// Whether a file was modified after `then`. Times of files are often recorded in whole seconds.
fn changed(now: &std::fs::Metadata, then: Timestamp) -> bool {
    now.modified().is_ok_and(|modified| Timestamp::from(modified).seconds_since(then) > 1)
}
