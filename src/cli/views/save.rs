//! The answer of `ckpt save`.

use std::borrow::Cow;

use serde::Serialize;

use crate::cli::page::Page;
use crate::cli::recording::Recorded;
use crate::cli::report::Report;
use crate::cli::style::Style;
use crate::core::phase::PhaseStatus;
use crate::core::{Checkpoint, Store, WorkflowId, WorkflowStatus};

#[derive(Debug, Serialize)]
pub(crate) struct SaveReport {
    handle: Option<String>,
    workflow: WorkflowId,
    seq: Option<u64>,
    pub(crate) created: bool,
    status: Option<WorkflowStatus>,
    phase: Option<String>,
    done: Vec<String>,
    remaining: Vec<String>,
    next: Option<NextReport>,
    redactions: Vec<String>,
    path: Option<String>,
    skipped_trigger: Option<String>,
    warnings: Vec<String>,
    #[serde(skip)]
    verb: Cow<'static, str>,
    #[serde(skip)]
    summary: String,
    #[serde(skip)]
    pub(crate) new_store: Option<String>,
    /// How many of the warnings, from the first, are about what was given; the others are about what did not work out.
    #[serde(skip)]
    advice: usize,
    /// Whether the save was recognised by its key.
    #[serde(skip)]
    by_key: bool,
    #[serde(skip)]
    tidied: Option<String>,
    /// Whether there is a flag that keeps secrets.
    #[serde(skip)]
    takes_secrets: bool,
}

#[derive(Debug, Serialize)]
struct NextReport {
    phase: Option<String>,
    action: Option<String>,
}

impl SaveReport {
    pub(crate) fn new(workflow: &WorkflowId, recorded: &Recorded, store: &Store) -> Self {
        let saved = &recorded.saved;
        let checkpoint = saved.checkpoint.as_deref();
        let ids = |done: bool| {
            let phases = checkpoint.map(|c| c.content.phases.as_slice()).unwrap_or_default();
            let of_kind = phases.iter().filter(|phase| phase.status.is_done() == done);
            of_kind.map(|phase| phase.id.to_string()).collect()
        };
        let next = checkpoint.and_then(|c| c.content.next.as_ref()).map(|next| NextReport {
            phase: next.phase.as_ref().map(ToString::to_string),
            action: next.action.clone(),
        });
        Self {
            handle: saved.handle.as_ref().map(ToString::to_string),
            workflow: workflow.clone(),
            seq: saved.handle.as_ref().map(|handle| handle.seq),
            created: saved.created,
            status: checkpoint.map(|c| c.content.status),
            phase: checkpoint.and_then(|c| c.content.phase.as_ref()).map(ToString::to_string),
            done: ids(true),
            remaining: ids(false),
            next,
            redactions: recorded.redactions.clone(),
            path: saved.handle.as_ref().map(|handle| store.checkpoint_path(handle).display().to_string()),
            skipped_trigger: recorded.skipped_trigger.clone(),
            warnings: recorded.warnings.clone(),
            advice: 0,
            verb: Cow::Borrowed("Saved"),
            summary: checkpoint.map(summary).unwrap_or_default(),
            new_store: None,
            by_key: recorded.by_key,
            tidied: recorded.tidied.clone(),
            takes_secrets: false,
        }
    }

    /// The answer of `ckpt save`, which can be asked to keep secrets, and has something to say about what it was given.
    pub(crate) fn of_save(mut self, advice: Vec<String>) -> Self {
        self.takes_secrets = true;
        self.advice = advice.len();
        self.warnings.splice(..0, advice);
        self
    }

    /// Says it with another word than "Saved".
    pub(crate) fn titled(mut self, verb: impl Into<Cow<'static, str>>) -> Self {
        self.verb = verb.into();
        self
    }
}

/// `phase 2 (Strategic Synthesis) complete, 4 of 7 done`
fn summary(checkpoint: &Checkpoint) -> String {
    let phase = checkpoint.content.phase.as_ref().and_then(|id| checkpoint.content.find_phase(id));
    let mut words = match phase {
        Some(phase) => {
            let name = phase.name.as_ref().map(|name| format!(" ({name})")).unwrap_or_default();
            let status = match phase.status {
                PhaseStatus::InProgress => "in progress",
                other => other.word(),
            };
            format!("phase {}{name} {status}, ", phase.id)
        }
        None => String::new(),
    };
    let done = checkpoint.content.done().count();
    words.push_str(&if checkpoint.content.is_declared() {
        format!("{done} of {} done", checkpoint.content.phases.len())
    } else {
        format!("{done} done")
    });
    words
}

impl Report for SaveReport {
    const FORMAT: &'static str = "ckpt.save.v1";

    fn essential(&self) -> String {
        self.handle.as_ref().map(|handle| format!("{handle}\n")).unwrap_or_default()
    }

    fn answer(&self, page: &mut Page) {
        page.raw(&self.essential());
    }

    fn failures(&self, page: &mut Page) {
        page.warnings(self.warnings.get(self.advice..).unwrap_or_default());
    }

    fn remarks(&self, page: &mut Page) {
        if let Some(store) = &self.new_store {
            page.line(format!("Created the store {}", page.foreign(store)));
        }
        page.warnings(self.warnings.get(..self.advice).unwrap_or_default());
        if !self.redactions.is_empty() {
            let label = page.paint(Style::Warning, "warning:");
            let pointers = page.foreign(&self.redactions.join(", "));
            let flag = if self.takes_secrets { "; `--allow-secrets` keeps them" } else { "" };
            page.line(format!("{label} replaced what looks like secrets at {pointers}{flag}"));
        }
        if let Some(trigger) = &self.skipped_trigger {
            page.line(format!("Nothing saved: the trigger {trigger} is switched off in the configuration"));
            return;
        }
        let Some(handle) = &self.handle else { return };
        if !self.created {
            page.line(if self.by_key {
                format!("Nothing new: {handle} was saved under this key")
            } else {
                format!("Nothing new: {handle} says it already")
            });
            return;
        }
        let next = match &self.next {
            _ if self.status == Some(WorkflowStatus::Complete) => " The workflow is complete.".to_owned(),
            Some(NextReport { phase: Some(next), .. } | NextReport { action: Some(next), .. }) => {
                format!(" Next: {}.", page.foreign(next))
            }
            _ => String::new(),
        };
        let resume = match self.status {
            Some(WorkflowStatus::InProgress) => format!(" Resume with: ckpt resume {}", self.workflow),
            _ => String::new(),
        };
        page.line(format!("{} {handle}: {}.{next}{resume}", self.verb, page.foreign(&self.summary)));
        if let Some(tidied) = &self.tidied {
            page.line(tidied);
        }
        if let Some(path) = self.path.as_ref().filter(|_| page.verbose) {
            page.line(format!("  {}", page.foreign(path)));
        }
    }

    fn already_done(&self) -> Option<String> {
        self.handle.as_ref().map(|handle| {
            if self.created { format!("saved {handle}") } else { format!("{handle} says it already") }
        })
    }
}
