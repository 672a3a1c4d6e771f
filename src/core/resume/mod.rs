//! Resume: where to continue, why, and whether it is safe.
//!
//! [`evaluate`] judges a checkpoint in the light of [`Facts`] about the world, without looking at the world itself;
//! [`gather`] looks, and judges nothing. Keeping the two apart is what makes every rule testable at every boundary.
//!
//! The rules, in order:
//!
//! 1. A phase is done when it is recorded as `complete` or `skipped`. Work continues at the first declared phase that
//!    is not done. What the checkpoint says about "next" is only a claim: where it disagrees, that is a finding.
//! 2. A phase `in_progress` whose promised outputs all exist and are valid is done by evidence. Otherwise it was
//!    interrupted and is done again. A `failed` phase is tried again and never counts as done.
//! 3. A phase that needs approval, has something to show and has not been approved is presented again, not redone.
//! 4. Tasks of the phase are recovered one by one: see [`tasks`].
//! 5. Everything that has changed around the work is a finding. The verdict is the worst of them.

mod checks;
mod evaluate;
mod facts;
mod finding;
mod gather;
mod select;
pub mod tasks;

pub use evaluate::{Evidence, Resume, Verdict, evaluate};
pub use facts::{Condition, Facts, GitFact, OutputFact, TaskOutput, Watched};
pub use finding::{Code, Finding, Severity};
pub use gather::{Observer, gather};
pub use select::Selected;

use super::span::Span;

/// The limits that the judgement goes by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// A checkpoint older than this is stale, which is worth a word.
    pub stale_after: Span,
    /// A checkpoint older than this needs a confirmation.
    pub confirm_after: Span,
    /// How often one phase may be reopened.
    pub replans: u32,
    /// How often a task may be begun before it blocks, if its phase does not say.
    pub task_attempts: u32,
    /// Another session that saved within this time may still be at work.
    pub recent: Span,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            stale_after: Span::from_days(7),
            confirm_after: Span::from_days(30),
            replans: 2,
            task_attempts: 3,
            recent: Span::from_minutes(10),
        }
    }
}
