//! The reasons to refuse a change.

use crate::json::InvalidJson;
use crate::merge::MergeError;
use crate::name::InvalidName;
use crate::phase::PhaseId;
use crate::task::TaskId;
use crate::text::times;

/// The reason why a change was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChangeError {
    /// A merge has no result.
    #[error(transparent)]
    Merge(#[from] MergeError),
    /// The workflow follows a pipeline that has no such phase.
    #[error("there is no phase `{given}` in this workflow")]
    UnknownPhase {
        /// The phase asked for.
        given: PhaseId,
        /// The phases of the workflow.
        legal: Vec<PhaseId>,
    },
    /// Several phases of the workflow fit.
    #[error("`{given}` fits several phases of this workflow")]
    AmbiguousPhase {
        /// The phase asked for.
        given: PhaseId,
        /// The phases that fit.
        candidates: Vec<PhaseId>,
    },
    /// The new list of phases leaves out one that has been worked on.
    #[error("phase `{phase}` has been worked on and is missing from the new list of phases")]
    DropsPhase {
        /// The phase.
        phase: PhaseId,
    },
    /// A phase cannot be complete and have an error.
    #[error("phase `{phase}` cannot be complete with an error")]
    CompleteWithError {
        /// The phase.
        phase: PhaseId,
    },
    /// A phase cannot be complete while its data says that its gate was not passed.
    #[error("phase `{phase}` is not done: {why}")]
    FailedGate {
        /// The phase.
        phase: PhaseId,
        /// The sentence of the data.
        why: String,
    },
    /// The change is about the current phase, and the workflow has none yet.
    #[error("{what} belongs to a phase, and no phase was named")]
    NoPhase {
        /// The part of the change: `data`.
        what: &'static str,
    },
    /// A task would wait for itself.
    #[error("task `{task}` would wait for itself")]
    TaskCycle {
        /// The task.
        task: TaskId,
        /// The tasks it waits for, up to itself.
        through: Vec<TaskId>,
    },
    /// There is no such artifact to forget.
    #[error("no artifact is called `{given}`")]
    UnknownArtifact {
        /// The name asked for.
        given: String,
        /// The names of the recorded artifacts.
        known: Vec<String>,
    },
    /// There is no such label to take away.
    #[error("there is no label `{given}`")]
    UnknownLabel {
        /// The label asked for.
        given: String,
        /// The labels of the workflow.
        known: Vec<String>,
    },
    /// There is no such external fact to forget.
    #[error("no external fact is called `{given}`")]
    UnknownFact {
        /// The name asked for.
        given: String,
        /// The names of the recorded facts.
        known: Vec<String>,
    },
    /// Only an array can be appended to.
    #[error("nothing can be added to `{at}` of the {what}: it is not an array")]
    NotAnArray {
        /// The edited value: `state` or `data`.
        what: &'static str,
        /// The member.
        at: String,
    },
    /// The edit has a path through a value that is not an object.
    #[error("{what} cannot be set: `{at}` is not inside an object")]
    NotAnObject {
        /// The edited value: `state` or `data`.
        what: &'static str,
        /// The member.
        at: String,
    },
    /// The result would not be an object.
    #[error("{what} must be a JSON object")]
    MustBeObject {
        /// The edited value: `state` or `data`.
        what: &'static str,
    },
    /// The stored value is nested too deeply to be edited.
    #[error("the stored {what} cannot be edited: {source}")]
    Unreadable {
        /// The edited value: `state` or `data`.
        what: &'static str,
        /// The cause.
        source: InvalidJson,
    },
    /// The phase has been reopened as often as allowed.
    #[error("phase `{phase}` has been reopened {}, which is the limit", times(*count as u64))]
    ReplanLimit {
        /// The phase.
        phase: PhaseId,
        /// The number of times it was reopened.
        count: usize,
    },
    /// A text is too long.
    #[error("the {what} is longer than {limit} bytes")]
    TooLong {
        /// The text.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
    /// A text contains a NUL, which no argument and no environment variable can hold.
    #[error("the {what} contains a NUL character")]
    Nul {
        /// The text.
        what: &'static str,
    },
    /// A name looks like a secret.
    #[error("{what} looks like a secret, and names are stored as they are")]
    SecretName {
        /// The thing that has the name.
        what: &'static str,
    },
    /// A label or a key is no name.
    #[error(transparent)]
    Name(InvalidName),
    /// A limit would be exceeded.
    #[error("a workflow has at most {limit} {what}")]
    TooMany {
        /// The things there are too many of.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
}
