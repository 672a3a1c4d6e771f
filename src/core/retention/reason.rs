//! Why something stays or goes.

use std::fmt;

use serde::{Serialize, Serializer};

use super::limit::Limit;
use crate::core::checkpoint::WorkflowStatus;
use crate::core::phase::PhaseId;
use crate::core::size::Size;
use crate::core::span::Span;
use crate::core::trigger::Trigger;

/// Why a checkpoint or a bundle stays or goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// Stays: it is the newest of an open workflow.
    NewestOfOpen,
    /// Stays: somebody asked for it.
    Pinned,
    /// Stays: its age cannot be told.
    Future,
    /// Stays: nobody knows what is in it.
    Unreadable,
    /// Stays: the newest of its workflow cannot be read, and this may be what is left.
    NewestUnreadable,
    /// Stays: the numbers of the workflow go on from it.
    NewestOfKept,
    /// Stays: it is among the newest so many.
    KeepLast(Limit),
    /// Stays: it is young enough for a keep rule.
    KeepWithin(Span),
    /// Stays: it is among the newest so many of its trigger.
    KeepTrigger(Trigger, Limit),
    /// Stays: it is the last of a complete workflow.
    Final,
    /// Stays: it is no older than the limit.
    Recent(Span),
    /// Stays: its workflow has not been idle for long.
    RecentlyActive(Span),
    /// Stays: its trigger does not have too many.
    WithinLimit(Trigger, Limit),
    /// Stays: no rule is about it.
    NoRule,
    /// Goes: its trigger has newer ones enough.
    BeyondLimit(Trigger, Limit, Option<PhaseId>),
    /// Goes: it is too old.
    OlderThan(Span),
    /// Goes: its workflow is finished and has been idle for too long.
    IdleFor(WorkflowStatus, Span),
    /// Goes: its workflow is finished.
    Finished(WorkflowStatus),
    /// Goes: its workflow is archived already.
    AlreadyArchived,
    /// Goes: no keep rule matches it.
    NotKept,
    /// Goes: the store is too large, and its workflow is among the oldest finished ones.
    MaxSize(Size),
    /// A bundle goes: there are newer ones enough.
    BundleBeyond(Limit),
    /// A bundle goes: it is that of a failed or abandoned workflow, and too old.
    BundleOlderThan(Span),
}

impl Reason {
    /// A stable word.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::NewestOfOpen => "newest_of_open",
            Self::Pinned => "pinned",
            Self::Future => "future_time",
            Self::Unreadable => "unreadable",
            Self::NewestUnreadable => "newest_unreadable",
            Self::NewestOfKept => "newest_of_kept",
            Self::KeepLast(_) => "keep_last",
            Self::KeepWithin(_) => "keep_within",
            Self::KeepTrigger(..) => "keep_trigger",
            Self::Final => "final",
            Self::Recent(_) => "recent",
            Self::RecentlyActive(_) => "recently_active",
            Self::WithinLimit(..) => "within_limit",
            Self::NoRule => "no_rule",
            Self::BeyondLimit(..) => "beyond_limit",
            Self::OlderThan(_) => "older_than",
            Self::IdleFor(..) => "idle_for",
            Self::Finished(_) => "finished",
            Self::AlreadyArchived => "already_archived",
            Self::NotKept => "not_kept",
            Self::MaxSize(_) => "max_size",
            Self::BundleBeyond(_) => "bundle_beyond_limit",
            Self::BundleOlderThan(_) => "bundle_older_than",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NewestOfOpen => f.write_str("the newest of an open workflow"),
            Self::Pinned => f.write_str("pinned"),
            Self::Future => f.write_str("dated in the future"),
            Self::Unreadable => f.write_str("cannot be read"),
            Self::NewestUnreadable => f.write_str("the newest of its workflow cannot be read"),
            Self::NewestOfKept => f.write_str("the newest of a workflow of which something stays"),
            Self::KeepLast(Limit::All) => f.write_str("all stay"),
            Self::KeepLast(limit) => f.write_str(&newest(*limit)),
            Self::KeepWithin(span) => write!(f, "within {span}"),
            Self::KeepTrigger(trigger, Limit::All) | Self::WithinLimit(trigger, Limit::All) => {
                write!(f, "all {trigger} stay")
            }
            Self::KeepTrigger(trigger, limit) | Self::WithinLimit(trigger, limit) => {
                write!(f, "{} {trigger}", newest(*limit))
            }
            Self::Final => f.write_str("the final checkpoint of a complete workflow"),
            Self::Recent(span) => write!(f, "no older than {span}"),
            Self::RecentlyActive(span) => write!(f, "its workflow was saved within {span}"),
            Self::NoRule => f.write_str("no rule is about it"),
            Self::BeyondLimit(trigger, limit, None) => write!(f, "not {} {trigger}", newest(*limit)),
            Self::BeyondLimit(trigger, limit, Some(phase)) => {
                write!(f, "not {} {trigger} of phase {phase}", newest(*limit))
            }
            Self::OlderThan(span) => write!(f, "older than {span}"),
            Self::IdleFor(status, span) => write!(f, "{} and idle for more than {span}", status.word()),
            Self::Finished(WorkflowStatus::Complete) => f.write_str("complete, and not the final checkpoint"),
            Self::Finished(status) => write!(f, "the workflow is {}", status.word()),
            Self::AlreadyArchived => f.write_str("its workflow is archived already"),
            Self::NotKept => f.write_str("no keep rule matches it"),
            Self::MaxSize(size) => write!(f, "the store is larger than {size}"),
            Self::BundleBeyond(limit) if Some(*limit) == Limit::newest(1) => {
                f.write_str("not the newest bundle")
            }
            Self::BundleBeyond(limit) => write!(f, "not {} bundles", newest(*limit)),
            Self::BundleOlderThan(span) => write!(f, "failed or abandoned, and older than {span}"),
        }
    }
}

/// `the newest`, `among the newest 3`.
fn newest(limit: Limit) -> String {
    if Some(limit) == Limit::newest(1) {
        "the newest".to_owned()
    } else {
        format!("among the newest {limit}")
    }
}

impl Serialize for Reason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct as _;
        let mut reason = serializer.serialize_struct("Reason", 2)?;
        reason.serialize_field("code", self.code())?;
        reason.serialize_field("message", &self.to_string())?;
        reason.end()
    }
}
