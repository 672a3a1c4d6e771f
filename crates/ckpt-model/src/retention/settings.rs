//! The table `[retention]` of a settings file.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::limit::Limit;
use super::policy::{KeepRules, Policy, Rules, RunRule, TriggerLimits, WorkflowFilter};
use crate::size::Size;
use crate::span::Span;
use crate::trigger::Trigger;

const DEFAULT_PREVIOUS_RUNS: Option<Limit> = Limit::newest(5);
const DEFAULT_FAILED_FOR: Span = Span::from_days(30);
const DEFAULT_COMPRESS_AFTER: Span = Span::from_days(30);

/// The table `[retention]`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RetentionSettings {
    #[serde(default)]
    triggers: BTreeMap<String, Limit>,
    max_age: Option<Span>,
    abandon_idle: Option<Span>,
    compress_after: Option<Span>,
    failed_for: Option<Span>,
    previous_runs: Option<Limit>,
    max_size: Option<Size>,
}

impl RetentionSettings {
    /// Checks that all triggers are known.
    pub(crate) fn check(&self) -> Result<(), String> {
        for word in self.triggers.keys() {
            match word.parse::<Trigger>() {
                Ok(trigger) if trigger.word() == word => {}
                Ok(trigger) => return Err(format!("[retention]: write `{trigger}` instead of `{word}`")),
                Err(error) => return Err(format!("[retention]: {error}")),
            }
        }
        Ok(())
    }

    /// Fills what is not set from `lower`.
    pub(crate) fn over(mut self, lower: Self) -> Self {
        for (trigger, limit) in lower.triggers {
            self.triggers.entry(trigger).or_insert(limit);
        }
        self.max_age = self.max_age.or(lower.max_age);
        self.abandon_idle = self.abandon_idle.or(lower.abandon_idle);
        self.compress_after = self.compress_after.or(lower.compress_after);
        self.failed_for = self.failed_for.or(lower.failed_for);
        self.previous_runs = self.previous_runs.or(lower.previous_runs);
        self.max_size = self.max_size.or(lower.max_size);
        self
    }

    /// Returns the configured limits of the triggers, over the standard ones.
    #[must_use]
    pub fn trigger_limits(&self) -> TriggerLimits {
        let mut limits = TriggerLimits::standard();
        limits.0.extend(self.triggers.iter().map(|(word, limit)| (word.clone(), *limit)));
        limits
    }

    /// Returns the policy of the store.
    #[must_use]
    pub fn policy(&self) -> Policy {
        let max_age = self.max_age;
        let failed_for = self.failed_for.unwrap_or(DEFAULT_FAILED_FOR);
        let previous_runs = self.previous_runs.or(DEFAULT_PREVIOUS_RUNS).unwrap_or(Limit::All);
        Policy {
            filter: WorkflowFilter::default(),
            rules: Rules::Configured {
                triggers: self.trigger_limits(),
                max_age,
                compress_after: Some(self.compress_after.unwrap_or(DEFAULT_COMPRESS_AFTER)),
            },
            keep: KeepRules::default(),
            abandon_idle: self.abandon_idle,
            runs: Some(RunRule { previous_runs, failed_for }),
            max_size: self.max_size,
            purge: false,
        }
    }

    /// Returns the policy of the cleanup after a save, which looks at one workflow only and deletes nothing.
    #[must_use]
    pub fn policy_after_save(&self) -> Policy {
        Policy { abandon_idle: None, runs: None, max_size: None, ..self.policy() }
    }
}
