//! Inspecting the files that a foreign checkpoint names.

use std::path::Path;
use std::time::SystemTime;

use crate::dialects::Draft;
use ckpt_model::builtin::{self, Builtin};
use ckpt_model::checkpoint::Checkpoint;
use ckpt_model::finding::{Code, Finding, Severity};
use ckpt_model::size::Size;
use ckpt_model::time::Timestamp;
use ckpt_store::artifact;
use ckpt_store::files::{FileProblem, follow_in_project};

/// Hashes the artifacts and watched files that exist. Returns a finding for each watched file that is missing or has
/// changed since the foreign file was saved, and one for all artifacts that have: what they were then is not known, so
/// times are compared.
pub(super) fn inspect_files(checkpoint: &mut Checkpoint, draft: &Draft, project: &Path, limit: Size) -> Vec<Finding> {
    let mut modified = Vec::new();
    for artifact in &mut checkpoint.content.artifacts {
        if artifact.sha256.is_some() {
            continue;
        }
        let Ok(file) = follow_in_project(project, &artifact.path) else { continue };
        if let Ok((size, digest)) = file.hash(limit.0) {
            (artifact.size, artifact.sha256) = (Some(size), Some(digest));
        }
        if let (Some(now), Some(then)) = (file.modified(), draft.recorded_at)
            && is_later(now, then)
        {
            modified.push(artifact.path.as_str());
        }
    }
    let mut findings = Vec::from_iter(modified_later(&modified));
    for (file, watched) in checkpoint.context.watched.iter_mut().zip(&draft.watched) {
        let modified = match follow_in_project(project, &file.path) {
            Ok(present) => {
                file.sha256 = present.hash(limit.0).ok().map(|(_, digest)| digest);
                present.modified()
            }
            // Only its metadata is read; nothing outside the project is opened.
            Err(FileProblem::Outside) => {
                let metadata = std::fs::symlink_metadata(project.join(&file.path));
                metadata.and_then(|metadata| metadata.modified()).ok()
            }
            Err(_) => None,
        };
        let doubt = match (modified, watched.modified_at) {
            (None, _) => "is gone",
            (Some(now), Some(then)) if is_later(now, then) => "has changed since the file was saved",
            _ => continue,
        };
        let message = format!("{}, which the work depends on, {doubt}", file.path);
        findings.push(Finding::new(Severity::Confirm, Code::PlanChanged, message).at(&file.path));
    }
    let builtin = checkpoint.content.pipeline.as_deref().and_then(builtin::find);
    let watch = builtin.map(Builtin::watch).unwrap_or_default();
    findings.extend(watch_files(checkpoint, &watch, draft.recorded_at, project, limit));
    findings
}

/// Watches the files that the pipeline declares, as a save does. Returns a finding for each that was modified after the
/// foreign file was saved.
fn watch_files(
    checkpoint: &mut Checkpoint,
    paths: &[String],
    recorded_at: Option<Timestamp>,
    project: &Path,
    limit: Size,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in artifact::watch(project, paths, limit).into_iter().filter(|file| file.sha256.is_some()) {
        let modified = follow_in_project(project, &file.path).ok().and_then(|present| present.modified());
        if let (Some(now), Some(then)) = (modified, recorded_at)
            && is_later(now, then)
        {
            let message = format!("{} was modified after the file was saved; read it again", file.path);
            findings.push(Finding::new(Severity::Advice, Code::WatchedChanged, message).at(&file.path));
        }
        checkpoint.context.watched.push(file);
    }
    findings
}

/// Returns the finding about artifacts that were modified after the foreign file was saved.
fn modified_later(paths: &[&str]) -> Option<Finding> {
    const MOST_NAMED: usize = 5;
    let first = paths.first()?;
    let mut names = paths.iter().take(MOST_NAMED).copied().collect::<Vec<_>>().join(", ");
    if paths.len() > MOST_NAMED {
        names.push_str(&format!(" and {} more", paths.len() - MOST_NAMED));
    }
    let (verb, object) = if paths.len() == 1 { ("was", "it") } else { ("were", "them") };
    let message =
        format!("{names} {verb} modified after the file was saved; look at {object} before you rely on {object}");
    Some(Finding::new(Severity::Advice, Code::ArtifactChanged, message).at(*first))
}

/// Returns true if an mtime is later. Many systems record it in whole seconds, so one second is tolerated.
fn is_later(mtime: SystemTime, then: Timestamp) -> bool {
    Timestamp::from(mtime).seconds_since(then) > 1
}
