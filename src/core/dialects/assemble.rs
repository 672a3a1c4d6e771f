//! Making a checkpoint out of a draft, without a look at the disk.

use std::path::Path;

use super::reading::Draft;
use crate::core::checkpoint::{Artifact, Checkpoint, LastError, WatchedFile};
use crate::core::json::Json;
use crate::core::trigger::Trigger;

impl Draft {
    /// Puts the content of the draft into `checkpoint`, replacing what was there. Files are recorded by their path
    /// only, relative to `project` where they lie in it. The state stays unless the draft has one.
    #[must_use]
    pub fn assemble(&self, checkpoint: Checkpoint, project: &Path) -> Checkpoint {
        let draft = self.clone();
        let mut context = checkpoint.context.clone();
        context.git = draft.git;
        context.labels = draft.labels;
        context.watched = draft
            .watched
            .iter()
            .map(|file| WatchedFile {
                path: relative(&file.path, project),
                sha256: None,
                extra: Default::default(),
            })
            .collect();
        let artifacts = draft.artifacts.into_iter().map(|file| Artifact {
            path: relative(&file.path, project),
            name: file.name,
            size: file.recorded.map(|(size, _)| size),
            sha256: file.recorded.map(|(_, digest)| digest),
            extra: Default::default(),
        });
        let saved_at = draft.recorded_at.unwrap_or(checkpoint.saved_at);
        let undated = draft.undated_error.map(|message| LastError {
            message,
            phase: None,
            at: saved_at,
            extra: Default::default(),
        });
        Checkpoint {
            saved_at,
            trigger: draft.trigger.unwrap_or(Trigger::PhaseTransition),
            status: draft.status,
            phase: draft.phase,
            next: draft.next,
            title: draft.title,
            note: draft.note,
            pipeline: draft.pipeline,
            phases: draft.phases,
            tasks: draft.tasks,
            artifacts: artifacts.collect(),
            replans: draft.replans,
            last_error: draft.last_error.or(undated),
            context,
            state: draft.state.map_or(checkpoint.state, Json::Given),
            extra: draft.extra,
            ..checkpoint
        }
    }
}

/// The path relative to the project, if it lies in it; as it was otherwise.
pub(crate) fn relative(path: &str, project: &Path) -> String {
    let inside = Path::new(path).strip_prefix(project).ok().and_then(Path::to_str);
    let path = inside.filter(|inside| !inside.is_empty()).unwrap_or(path);
    path.strip_prefix("./").unwrap_or(path).to_owned()
}
