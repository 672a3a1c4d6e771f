//! Saving, and what follows from it: the copy that another system reads, and cleaning up behind a finished workflow.

use super::error::{ErrorCode, Failure};
use super::escape;
use super::mirror::mirror;
use super::session::{Session, Workspace};
use super::tidy::after_save;
use crate::core::WorkflowId;
use crate::core::change::Change;
use crate::core::dialects::Dialect;
use crate::core::redact::redact_text;
use crate::core::save::{Save, Saved};

/// The terms of a save.
#[derive(Debug, Default)]
pub(crate) struct Terms<'a> {
    /// The number that must be the newest one; 0 if there must be none.
    pub(crate) expect: Option<u64>,
    /// Saying the same save again under the same key makes no second checkpoint.
    pub(crate) key: Option<&'a str>,
    /// Whether to add nothing when nothing would be new.
    pub(crate) if_changed: bool,
    /// Whether to keep what looks like a secret.
    pub(crate) allow_secrets: bool,
    /// The system that reads a copy; the one of the settings if not given.
    pub(crate) mirror: Option<Dialect>,
}

/// A save that was made, and what there is to say about it.
#[derive(Debug)]
pub(crate) struct Recorded {
    pub(crate) saved: Saved,
    /// The JSON pointers of secrets that were replaced.
    pub(crate) redactions: Vec<String>,
    /// The trigger that is switched off, if that is why nothing was saved.
    pub(crate) skipped_trigger: Option<String>,
    pub(crate) warnings: Vec<String>,
    /// Whether nothing was saved because it had been, under the same key.
    pub(crate) by_key: bool,
    /// What was cleaned up behind the save, in a line.
    pub(crate) tidied: Option<String>,
}

impl Recorded {
    /// What there is to say besides that it was saved, in lines for stderr.
    pub(crate) fn remarks(&self) -> String {
        let secrets = (!self.redactions.is_empty())
            .then(|| format!("replaced what looks like secrets at {}", self.redactions.join(", ")));
        let warnings = self.warnings.iter().chain(&secrets);
        let mut text: String =
            warnings.map(|warning| format!("warning: {}\n", escape::inline(warning))).collect();
        if let Some(tidied) = &self.tidied {
            text.push_str(&format!("{tidied}\n"));
        }
        text
    }
}

impl Session {
    /// Saves a change.
    pub(crate) fn save(
        &self,
        workspace: &Workspace,
        workflow: &WorkflowId,
        change: Change,
    ) -> Result<Recorded, Failure> {
        self.save_on(&Terms::default(), workspace, workflow, change)
    }

    /// The same, on these terms.
    pub(crate) fn save_on(
        &self,
        terms: &Terms<'_>,
        workspace: &Workspace,
        workflow: &WorkflowId,
        mut change: Change,
    ) -> Result<Recorded, Failure> {
        let Workspace { place, store, config } = workspace;
        let mut redactions = Vec::new();
        if !terms.allow_secrets {
            redactions = change.redact();
            refuse_secret_names(&change, [Some(workflow.as_str()), terms.key])?;
        }
        let stamp = self.stamp(place, config)?;
        let save = Save {
            workflow,
            change: &change,
            stamp: &stamp,
            config,
            expect: terms.expect,
            key: terms.key,
            if_changed: terms.if_changed,
        };
        let saved = save.to(store)?;
        let trigger = change.trigger();
        let unwanted = !saved.created && !change.is_decision() && !config.wants(&trigger);
        let mut warnings = Vec::new();
        if let Some(dialect) = terms.mirror.or(config.mirror())
            && let Some(checkpoint) = saved.checkpoint.as_deref()
        {
            warnings.extend(mirror(dialect, checkpoint, store).err());
        }
        let tidied = after_save(store, config, &stamp, &saved).unwrap_or_else(|warning| {
            warnings.push(warning);
            None
        });
        let skipped_trigger = unwanted.then(|| trigger.to_string());
        let kept = saved.checkpoint.as_ref().filter(|_| !saved.created);
        let keys = kept.iter().flat_map(|kept| kept.keys.iter().filter(|known| known.seq == kept.seq));
        let by_key = keys.map(|known| known.key.as_str()).any(|known| Some(known) == terms.key);
        Ok(Recorded { saved, redactions, skipped_trigger, warnings, by_key, tidied })
    }
}

/// A name cannot be replaced: it would be another one then.
pub(crate) fn refuse_secret_names(change: &Change, others: [Option<&str>; 2]) -> Result<(), Failure> {
    let looks_secret = |name: Option<&str>| name.is_some_and(|name| redact_text(name).is_some());
    let [workflow, key] = others.map(looks_secret);
    let workflow = workflow.then_some("the id of the workflow");
    match change.secret_name().or(workflow).or(key.then_some("the key")) {
        None => Ok(()),
        Some(what) => {
            let message = format!("{what} looks like a secret, and names are stored as they are");
            Err(Failure::new(ErrorCode::SecretInName, message)
                .help("choose another name, or keep it with `ckpt save --allow-secrets`"))
        }
    }
}
