//! The reasons of a cleanup's decisions.

use std::fmt;

use serde::{Serialize, Serializer};

use super::limit::Limit;
use crate::checkpoint::WorkflowStatus;
use crate::phase::PhaseId;
use crate::size::Size;
use crate::span::Span;
use crate::trigger::Trigger;

/// A reason why a checkpoint stays or leaves, or why a run expires.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// Stays: the newest checkpoint of an open workflow.
    NewestOfOpen,
    /// Stays: pinned.
    Pinned,
    /// Stays: dated in the future, so its age is unknown.
    Future,
    /// Stays: its content is unknown.
    Unreadable,
    /// Stays: the newest of its workflow cannot be read, so it may be needed to continue.
    NewestUnreadable,
    /// Stays: the next number of its workflow follows it.
    NewestOfKept,
    /// Stays: [`KeepRules::last`](super::KeepRules::last).
    KeepLast(Limit),
    /// Stays: [`KeepRules::within`](super::KeepRules::within).
    KeepWithin(Span),
    /// Stays: [`KeepRules::triggers`](super::KeepRules::triggers).
    KeepTrigger(Trigger, Limit),
    /// Stays: the last checkpoint of a complete workflow.
    Final,
    /// Stays: not older than the maximum age.
    Recent(Span),
    /// Stays: its finished workflow was not idle for the maximum age.
    RecentlyActive(Span),
    /// Stays: within the limit of its trigger.
    WithinLimit(Trigger, Limit),
    /// Stays: no rule applies.
    NoRule,
    /// Leaves: beyond the limit of its trigger, in this phase if the trigger is counted per phase.
    BeyondLimit(Trigger, Limit, Option<PhaseId>),
    /// Leaves: older than the maximum age.
    OlderThan(Span),
    /// Leaves: its finished workflow was idle for longer than the maximum age.
    IdleFor(WorkflowStatus, Span),
    /// Leaves: its open workflow was idle for longer than [`Policy::abandon_idle`](super::Policy::abandon_idle), and is
    /// marked abandoned.
    AbandonedAfter(Span),
    /// Leaves: its open workflow was idle for longer, and only the newest checkpoint stays live.
    CompressedAfter(Span),
    /// Leaves: its workflow is finished.
    Finished(WorkflowStatus),
    /// Leaves: its workflow is archived already.
    AlreadyArchived,
    /// Leaves: no keep rule matches it.
    NotKept,
    /// Leaves: the store is too large, and its workflow is among the oldest finished ones.
    MaxSize(Size),
    /// A run expires: there are enough newer previous runs.
    RunBeyondLimit(Limit),
    /// A failed or abandoned run expires: its last save is too long ago.
    RunOlderThan(WorkflowStatus, Span),
}

impl Reason {
    /// Returns a stable word.
    #[cfg(feature = "testing")]
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.describe().0
    }

    pub(super) fn is_keep_rule(&self) -> bool {
        matches!(self, Self::KeepLast(_) | Self::KeepWithin(_) | Self::KeepTrigger(..))
    }

    /// Returns the code and the message.
    fn describe(&self) -> (&'static str, String) {
        let fixed = |code, message: &str| (code, message.to_owned());
        match self {
            Self::NewestOfOpen => fixed("newest_of_open", "the newest of an open workflow"),
            Self::Pinned => fixed("pinned", "pinned"),
            Self::Future => fixed("future_time", "dated in the future"),
            Self::Unreadable => fixed("unreadable", "cannot be read"),
            Self::NewestUnreadable => fixed("newest_unreadable", "the newest of its workflow cannot be read"),
            Self::NewestOfKept => fixed("newest_of_kept", "the newest of a workflow of which something stays"),
            Self::KeepLast(Limit::All) => fixed("keep_last", "all stay"),
            Self::KeepLast(limit) => ("keep_last", newest(*limit)),
            Self::KeepWithin(span) => ("keep_within", format!("within {span}")),
            Self::KeepTrigger(trigger, limit) => ("keep_trigger", newest_of(trigger, *limit)),
            Self::Final => fixed("final", "the final checkpoint of a complete workflow"),
            Self::Recent(span) => ("recent", format!("no older than {span}")),
            Self::RecentlyActive(span) => ("recently_active", format!("its workflow was saved within {span}")),
            Self::WithinLimit(trigger, limit) => ("within_limit", newest_of(trigger, *limit)),
            Self::NoRule => fixed("no_rule", "no rule is about it"),
            Self::BeyondLimit(trigger, limit, phase) => {
                let of = phase.as_ref().map(|phase| format!(" of phase {phase}")).unwrap_or_default();
                ("beyond_limit", format!("not {} {trigger}{of}", newest(*limit)))
            }
            Self::OlderThan(span) => ("older_than", format!("older than {span}")),
            Self::IdleFor(status, span) => ("idle_for", format!("{} and idle for more than {span}", status.word())),
            Self::AbandonedAfter(span) => {
                ("abandoned_after", format!("open and idle for more than {span}, so marked abandoned"))
            }
            Self::CompressedAfter(span) => {
                ("compressed_after", format!("open and idle for more than {span}, so compressed"))
            }
            Self::Finished(WorkflowStatus::Complete) => fixed("finished", "complete, and not the final checkpoint"),
            Self::Finished(status) => ("finished", format!("the workflow is {}", status.word())),
            Self::AlreadyArchived => fixed("already_archived", "its workflow is archived already"),
            Self::NotKept => fixed("not_kept", "no keep rule matches it"),
            Self::MaxSize(size) => ("max_size", format!("the store is larger than {size}")),
            Self::RunBeyondLimit(limit) if Some(*limit) == Limit::newest(1) => {
                fixed("run_beyond_limit", "not the newest previous run")
            }
            Self::RunBeyondLimit(limit) => ("run_beyond_limit", format!("not {} previous runs", newest(*limit))),
            Self::RunOlderThan(status, span) => {
                ("run_older_than", format!("{}, and last saved more than {span} ago", status.word()))
            }
        }
    }
}

/// Returns `the newest` or `among the newest 3`.
fn newest(limit: Limit) -> String {
    if Some(limit) == Limit::newest(1) { "the newest".to_owned() } else { format!("among the newest {limit}") }
}

fn newest_of(trigger: &Trigger, limit: Limit) -> String {
    match limit {
        Limit::All => format!("all {trigger} stay"),
        Limit::Newest(_) => format!("{} {trigger}", newest(limit)),
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.describe().1)
    }
}

impl Serialize for Reason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct as _;
        let (code, message) = self.describe();
        let mut reason = serializer.serialize_struct("Reason", 2)?;
        reason.serialize_field("code", code)?;
        reason.serialize_field("message", &message)?;
        reason.end()
    }
}
