//! Making a checkpoint out of a draft, without a look at the disk.

use std::path::Path;

use super::reading::Draft;
use crate::core::checkpoint::{Checkpoint, Context, LastError, WatchedFile};
use crate::core::trigger::Trigger;

impl Draft {
    /// Puts the content of the draft into `checkpoint`, replacing what was there. Files are recorded by their path
    /// only, relative to `project` where they lie in it.
    #[must_use]
    pub fn assemble(self, checkpoint: Checkpoint, project: &Path) -> Checkpoint {
        let saved_at = self.recorded_at.unwrap_or(checkpoint.saved_at);
        let mut content = self.content;
        for artifact in &mut content.artifacts {
            artifact.path = relative(&artifact.path, project);
        }
        let undated = |message| LastError { message, phase: None, at: saved_at, extra: Default::default() };
        content.last_error = content.last_error.or(self.undated_error.map(undated));
        let watched = self.watched.iter().map(|file| WatchedFile {
            path: relative(&file.path, project),
            sha256: None,
            extra: Default::default(),
        });
        Checkpoint {
            saved_at,
            trigger: self.trigger.unwrap_or(Trigger::PhaseTransition),
            note: self.note,
            content,
            context: Context { git: self.git, watched: watched.collect(), ..checkpoint.context },
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
