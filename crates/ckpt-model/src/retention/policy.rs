//! The retention policy as a value.

use std::collections::{BTreeMap, BTreeSet};

use super::limit::Limit;
use crate::checkpoint::WorkflowStatus;
use crate::size::Size;
use crate::span::Span;
use crate::trigger::Trigger;
use crate::workflow_id::WorkflowId;

/// The retention rules of one cleanup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// The workflows in scope.
    pub filter: WorkflowFilter,
    /// The rules that name what leaves the live store.
    pub rules: Rules,
    /// The rules that keep checkpoints, whatever the others say.
    pub keep: KeepRules,
    /// Open workflows that have been idle for longer are archived as abandoned; `None` leaves them open.
    pub abandon_idle: Option<Span>,
    /// Which runs are deleted; `None` keeps all.
    pub runs: Option<RunRule>,
    /// The maximum size of all live checkpoints together.
    pub max_size: Option<Size>,
    /// True if leaving checkpoints are deleted instead of archived.
    pub purge: bool,
}

/// Selects workflows by id and status.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorkflowFilter {
    /// These workflows; all if empty.
    pub ids: BTreeSet<WorkflowId>,
    /// Workflows with one of these statuses; all if empty.
    pub statuses: Vec<WorkflowStatus>,
}

impl WorkflowFilter {
    /// Returns true if it selects every workflow.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty() && self.statuses.is_empty()
    }

    /// Returns true if a workflow is selected. A list of statuses never selects an unknown status.
    #[must_use]
    pub fn matches(&self, workflow: &WorkflowId, status: Option<WorkflowStatus>) -> bool {
        (self.ids.is_empty() || self.ids.contains(workflow))
            && (self.statuses.is_empty() || status.is_some_and(|status| self.statuses.contains(&status)))
    }
}

/// The rules that name what leaves the live store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rules {
    /// The rules of the store: of open workflows, the checkpoints beyond the limit of their trigger, and once they are
    /// idle, all but the newest; of complete ones, all but the final checkpoint; of failed and abandoned ones, all.
    Configured {
        /// How many checkpoints of each trigger stay.
        triggers: TriggerLimits,
        /// The rule [`MaxAge`](Self::MaxAge) as well, if given.
        max_age: Option<Span>,
        /// How long an open workflow is idle before all but its newest checkpoint are compressed. This rule only archives:
        /// a cleanup that deletes what leaves does without it.
        compress_after: Option<Span>,
    },
    /// Finished workflows that have been idle for longer, and older checkpoints of open ones.
    MaxAge(Span),
    /// Everything that no keep rule matches.
    Everything,
}

impl Rules {
    /// Returns the age from which checkpoints leave.
    #[must_use]
    pub fn max_age(&self) -> Option<Span> {
        match self {
            Self::Configured { max_age, .. } => *max_age,
            Self::MaxAge(span) => Some(*span),
            Self::Everything => None,
        }
    }
}

/// The rules that keep checkpoints, whatever the others say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeepRules {
    /// The newest checkpoints of every workflow.
    pub last: Option<Limit>,
    /// Checkpoints that are not older.
    pub within: Option<Span>,
    /// The newest checkpoints of each trigger.
    pub triggers: TriggerLimits,
}

impl KeepRules {
    /// Returns true if there is no keep rule.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// How many checkpoints of each trigger stay. A trigger that is not listed has no limit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TriggerLimits(pub BTreeMap<String, Limit>);

impl TriggerLimits {
    /// Returns the limits that apply if nothing is configured.
    #[must_use]
    pub fn standard() -> Self {
        let limits = [(Trigger::BatchComplete, 3), (Trigger::AgentComplete, 1), (Trigger::UserInterrupt, 1)];
        let limit = |(trigger, count): (Trigger, u32)| Some((trigger.word().to_owned(), Limit::newest(count)?));
        Self(limits.into_iter().filter_map(limit).collect())
    }

    /// Returns the limit of a trigger.
    #[must_use]
    pub fn of(&self, trigger: &Trigger) -> Option<Limit> {
        self.0.get(trigger.word()).copied()
    }
}

/// Which runs of a workflow are deleted for good. All others stay, live or archived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunRule {
    /// The number of runs before the newest one that stay.
    pub previous_runs: Limit,
    /// How long a failed or abandoned run stays after its last save.
    pub failed_for: Span,
}

/// The reason why a policy cannot be applied.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// It has no rule, which never means "everything".
    #[error("the policy has no rule")]
    Empty,
    /// A keep rule matches nothing, so the checkpoints it was meant to protect would leave.
    #[error("{rule} matches no checkpoint, and {leaving} would go")]
    MatchesNothing {
        /// The rule in words.
        rule: String,
        /// The number of checkpoints that would leave.
        leaving: usize,
    },
}
