//! The path of every command that saves: redact, save, update the mirror, clean up.

use super::auto_cleanup::clean_up_after_save;
use super::error::Failure;
use super::mirror::mirror;
use super::session::{Session, Workspace};
use super::views::save::SaveReport;
use crate::core::change::Change;
use crate::core::dialects::Dialect;
use crate::core::save::{Outcome, Request, Save};
use crate::core::{Handle, WorkflowId};

/// The conditions of a save, which ordinary saves leave at their defaults.
#[derive(Debug, Default)]
pub(crate) struct SaveOptions<'a> {
    /// The number that must be the newest one; 0 if there must be none.
    pub(crate) expect: Option<u64>,
    /// The key of the save.
    pub(crate) key: Option<&'a str>,
    /// Write nothing if the content stays the same.
    pub(crate) if_changed: bool,
    /// Keep secrets instead of replacing them.
    pub(crate) allow_secrets: bool,
    /// The dialect of the mirror; the one of the settings if none.
    pub(crate) mirror: Option<Dialect>,
}

impl Session {
    /// Saves a change to a workflow. Once it is written, a mirror or a cleanup that fails is only a warning.
    pub(crate) fn save(
        &self,
        workspace: &Workspace,
        workflow: &WorkflowId,
        mut change: Change,
        options: &SaveOptions<'_>,
    ) -> Result<SaveReport, Failure> {
        let Workspace { place, store, config } = workspace;
        let request = Request {
            workflow,
            key: options.key,
            project: store.project(),
            base: &place.cwd,
            allow_secrets: options.allow_secrets,
        };
        let redactions = request.prepare::<Failure>(&mut change, config)?;
        let stamp = self.stamp(place, config)?;
        let save = Save::new(workflow, &change, &stamp, config)
            .expect(options.expect)
            .key(options.key)
            .if_changed(options.if_changed);
        let outcome = save.to(store)?;

        let kept;
        let checkpoint = match &outcome {
            Outcome::Written(checkpoint) => Some(&**checkpoint),
            _ => {
                let handle = outcome.seq().map(|seq| Handle::new(workflow, seq));
                // An archived checkpoint may be unreadable; its number is enough of an answer.
                kept = handle.and_then(|handle| store.load(&handle).ok());
                kept.as_ref().map(|stored| &*stored.checkpoint)
            }
        };
        let mut report = SaveReport::new(store, workflow, &outcome, checkpoint);
        report.redactions = redactions;
        if let Some(dialect) = options.mirror.or(config.mirror())
            && let Some(checkpoint) = checkpoint
        {
            report.warnings.extend(mirror(dialect, checkpoint, store).err());
        }
        if let Outcome::Written(checkpoint) = &outcome {
            match clean_up_after_save(store, config, &stamp, checkpoint) {
                Ok(cleanup) => report.cleanup = cleanup,
                Err(warning) => report.warnings.push(warning),
            }
        }
        Ok(report)
    }
}
