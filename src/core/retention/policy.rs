//! What stays and what goes, as a value.

use std::collections::{BTreeMap, BTreeSet};

use super::limit::Limit;
use crate::core::checkpoint::WorkflowStatus;
use crate::core::phase::PhaseId;
use crate::core::size::Size;
use crate::core::span::Span;
use crate::core::trigger::Trigger;
use crate::core::workflow_id::WorkflowId;

/// What a cleanup goes by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// Which workflows it is about.
    pub scope: Scope,
    /// What goes.
    pub rules: Rules,
    /// What stays, whatever the rules say.
    pub keep: KeepRules,
    /// Which bundles stay; none if bundles are not looked at.
    pub bundles: Option<BundleRule>,
    /// How large the live checkpoints of the store may be.
    pub max_size: Option<Size>,
    /// Whether files that were being written for more than a day are removed.
    pub sweep: bool,
    /// Whether what goes is not archived.
    pub purge: bool,
}

/// Which workflows a policy is about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scope {
    /// These; all of them if empty.
    pub workflows: BTreeSet<WorkflowId>,
    /// Those of them that stand so; all of them if empty.
    pub statuses: Vec<WorkflowStatus>,
}

impl Scope {
    /// Whether a workflow is in scope. One whose status is not known is in no list of statuses.
    #[must_use]
    pub fn covers(&self, workflow: &WorkflowId, status: Option<WorkflowStatus>) -> bool {
        (self.workflows.is_empty() || self.workflows.contains(workflow))
            && (self.statuses.is_empty() || status.is_some_and(|status| self.statuses.contains(&status)))
    }
}

/// What goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rules {
    /// What a store does on its own: in open workflows what a trigger has too many of; of complete ones everything but
    /// the final checkpoint; failed and abandoned ones entirely; and, if an age is given, what is older.
    Standing {
        /// How many of a trigger stay.
        triggers: TriggerLimits,
        /// As in [`MaxAge`](Self::MaxAge).
        max_age: Option<Span>,
    },
    /// Finished workflows that have been idle for longer, and everything older in open ones.
    MaxAge(Span),
    /// Everything that no keep rule matches.
    Everything,
}

/// What stays, whatever the rules say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeepRules {
    /// The newest so many of every workflow.
    pub last: Option<Limit>,
    /// What is no older.
    pub within: Option<Span>,
    /// The newest so many of a trigger.
    pub triggers: TriggerLimits,
}

impl KeepRules {
    /// Whether there is no rule.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.last.is_none() && self.within.is_none() && self.triggers.0.is_empty()
    }
}

/// How many of each trigger stay. A trigger that is not listed has no limit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TriggerLimits(pub BTreeMap<String, Limit>);

impl TriggerLimits {
    /// What applies if nothing is configured.
    #[must_use]
    pub fn standard() -> Self {
        let limits = [(Trigger::BatchComplete, 3), (Trigger::AgentComplete, 1), (Trigger::UserInterrupt, 1)];
        let limit =
            |(trigger, count): (Trigger, u32)| Some((trigger.word().to_owned(), Limit::newest(count)?));
        Self(limits.into_iter().filter_map(limit).collect())
    }

    /// The limit of a trigger, if it has one.
    #[must_use]
    pub fn of(&self, trigger: &Trigger) -> Option<Limit> {
        self.0.get(trigger.word()).copied()
    }
}

/// Which bundles of a workflow stay. The newest one always does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BundleRule {
    /// The newest so many.
    pub newest: Limit,
    /// How long those of failed and abandoned workflows stay.
    pub failed_for: Span,
}

/// What counts as one kind: whatever has the same key is counted together. Batches and agents are counted in each
/// phase, everything else in the whole workflow.
#[must_use]
pub(super) fn kind<'a>(trigger: &'a Trigger, phase: Option<&'a PhaseId>) -> (&'a str, Option<&'a PhaseId>) {
    match trigger {
        Trigger::BatchComplete | Trigger::AgentComplete => (trigger.word(), phase),
        _ => (trigger.word(), None),
    }
}

/// Says why nothing can be decided by a policy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// It has no rule, and that never means "remove all".
    #[error("the policy has no rule")]
    Empty,
    /// A keep rule matches nothing, so that what it was meant to protect would go.
    #[error("{rule} matches no checkpoint, and {removed} would go")]
    MatchesNothing {
        /// The rule in words.
        rule: String,
        /// How many checkpoints would go.
        removed: usize,
    },
}
