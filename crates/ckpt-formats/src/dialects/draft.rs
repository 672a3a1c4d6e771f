//! The content of a foreign checkpoint, and how it becomes a checkpoint of this program.

use std::path::Path;

use super::replans::counted;
use ckpt_model::checkpoint::{Checkpoint, Content, Context, GitContext, LastError, WatchedFile};
use ckpt_model::phase::PhaseId;
use ckpt_model::text::replace_nul;
use ckpt_model::time::Timestamp;
use ckpt_model::trigger::Trigger;

/// The content of a checkpoint, before it has a workflow, a number and hashed files.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Draft {
    /// The id of the workflow, as written in the file.
    pub workflow: Option<String>,
    /// The time at which the file was saved, according to the file.
    pub recorded_at: Option<Timestamp>,
    /// The trigger of the checkpoint; a phase transition if the file has none.
    pub trigger: Option<Trigger>,
    /// The content. Paths are as written. There is a pipeline only if the list of phases is known to be complete.
    pub content: Content,
    /// The watched files.
    pub watched: Vec<WatchedPath>,
    /// The git checkout it was saved on.
    pub git: Option<GitContext>,
    /// An error without a time. It becomes the last error unless the content has one.
    pub undated_error: Option<String>,
    /// The phases of replans without a time. They have that of the checkpoint.
    pub undated_replans: Vec<PhaseId>,
    /// A remark about the checkpoint.
    pub note: Option<String>,
    /// True if the file states that there is no work at all.
    pub idle: bool,
    /// Why nothing can be told about where the work stands, if that is so.
    pub undecided: Option<Undecided>,
    /// True if the file mentions phases, tasks or the like, even if nothing says where they stand.
    pub mentions_work: bool,
}

/// Why a document does not say where its work stands, and the lists that it has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undecided {
    /// The reason, as a sentence.
    pub why: String,
    /// The lists, any of which a person may choose.
    pub lists: Vec<ListCandidate>,
}

/// A list that may be the work.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct ListCandidate {
    /// Its JSON pointer.
    pub place: String,
    /// The number of its entries.
    pub entries: usize,
    /// Why it was not chosen, or what is left of it.
    pub why: String,
}

/// A watched file, by the path that a foreign document has for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WatchedPath {
    /// The path as written.
    pub path: String,
    /// The recorded modification time.
    pub modified_at: Option<Timestamp>,
}

impl Draft {
    /// Replaces the content of `checkpoint` by that of the draft, without looking at the disk. Files are recorded by
    /// path only, relative to `project` if they lie in it.
    #[must_use]
    pub fn assemble(self, checkpoint: Checkpoint, project: &Path) -> Checkpoint {
        let saved_at = self.recorded_at.unwrap_or(checkpoint.saved_at);
        let mut content = self.content;
        for artifact in &mut content.artifacts {
            artifact.path = relative(&artifact.path, project);
        }
        // No environment variable can hold a NUL, so `run` could not export such an action.
        let phase_actions = content.phases.iter_mut().map(|phase| &mut phase.action);
        let next_action = content.next.iter_mut().map(|next| &mut next.action);
        for action in phase_actions.chain(next_action).flatten() {
            *action = replace_nul(action);
        }
        let undated = |message| LastError { message, phase: None, at: saved_at, extra: Default::default() };
        content.last_error = content.last_error.or(self.undated_error.map(undated));
        content.replans.extend(self.undated_replans.into_iter().map(|phase| counted(phase, saved_at)));
        let watched = self.watched.iter().map(|file| WatchedFile {
            path: relative(&file.path, project),
            sha256: None,
            seq: None,
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

/// Makes a path relative to the project if it lies in it.
fn relative(path: &str, project: &Path) -> String {
    let inside = Path::new(path).strip_prefix(project).ok().and_then(Path::to_str);
    let path = inside.filter(|inside| !inside.is_empty()).unwrap_or(path);
    path.strip_prefix("./").unwrap_or(path).to_owned()
}
