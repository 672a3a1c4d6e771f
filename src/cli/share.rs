//! Sharing a save at once, for stores whose settings say so.

use std::time::{Duration, Instant};

use super::error::{ErrorCode, Failure};
use super::remote_access::{SyncOptions, exchange_with};
use super::session::{Session, Workspace};
use ckpt_model::change::{Change, Stamp};
use ckpt_model::config::PushMode;
use ckpt_model::{Checkpoint, Handle, WorkflowId, WorkflowStatus};
use ckpt_store::Store;
use ckpt_store::save::{Outcome, Save};
use ckpt_sync::ClaimingDisk;
use ckpt_sync::transports::RemoteUrl;

/// How long a request may take that nobody asked for. It is made three times.
const UNASKED: Duration = Duration::from_secs(6);

/// When and with what a save is shared.
pub(crate) struct Sharing {
    url: RemoteUrl,
    pub(crate) mode: PushMode,
}

impl Session {
    /// Returns how a save is shared; none if it is not, which costs nothing. A remote that only the settings of the store
    /// name is not contacted, with a warning.
    pub(crate) fn sharing(
        &self,
        workspace: &Workspace,
        warnings: &mut Vec<String>,
    ) -> Result<Option<Sharing>, Failure> {
        let mode = workspace.config.push_mode();
        if mode == PushMode::Manual {
            return Ok(None);
        }
        let Some((url, source)) = self.find_remote(workspace)? else { return Ok(None) };
        if !self.is_trusted(workspace, &url, source) {
            warnings.push(format!(
                "not pushed: only the settings of the store name the remote; `ckpt remote add {url}` allows it on this machine"
            ));
            return Ok(None);
        }
        Ok(Some(Sharing { url, mode }))
    }

    /// Saves, and claims the number on the remote first. What was saved although the remote does not have it is a failure
    /// with a code of its own.
    pub(crate) fn save_claimed(
        &self,
        workspace: &Workspace,
        sharing: &Sharing,
        save: Save<'_>,
        workflow: &WorkflowId,
        stamp: &Stamp,
    ) -> Result<(Outcome, Option<Failure>), Failure> {
        // The save holds the lock of the workflow while others' checkpoints are pulled below it.
        let store = &workspace.store.clone().without_waiting();
        let mut remote = match self.open_remote(workspace, &sharing.url, &stamp.save_id, UNASKED) {
            Ok(remote) => remote,
            Err(failure) => return Ok((save.to(store)?, Some(failure))),
        };
        let mut exchange = exchange_with(store, &mut *remote, &sharing.url, &stamp.save_id);
        let is_known = store.ledger(workflow, sharing.url.identity()).main > 0;
        if !is_known && let Err(error) = exchange.remote.claim_layout() {
            return Ok((save.to(store)?, Some(error.into())));
        }
        let seed = u64::from_str_radix(stamp.save_id.get(..16).unwrap_or_default(), 16).unwrap_or_default();
        let begun = Instant::now();
        let clock = || begun.elapsed();
        let disk = ClaimingDisk::new(store, workflow, exchange, &clock, seed);
        let root = store.root();
        let (base, name) = (root.parent().unwrap_or(&root), root.file_name().and_then(|name| name.to_str()));
        let claiming = Store::on(disk, base, name.unwrap_or_default(), store.project());
        let outcome = save.to(&claiming)?;
        let problem = claiming.into_disk().finish().err().map(Failure::from);
        Ok((outcome, problem))
    }

    /// Pushes a workflow after a save that ended a phase or the workflow. A failure is a warning.
    pub(crate) fn push_at_end(&self, workspace: &Workspace, workflow: &WorkflowId) -> Option<String> {
        let options = SyncOptions { push: true, time_limit: Some(UNASKED), ..SyncOptions::default() };
        let failed = |why: &str| format!("saved, but not pushed: {why}; `ckpt push {workflow}` tries again");
        match self.exchange(workspace, std::slice::from_ref(workflow), options) {
            Ok(report) => report.first_failure().map(|failure| failed(&failure.message)),
            Err(failure) => Some(failed(&failure.message)),
        }
    }
}

/// Returns true if a save ends a phase or the workflow.
pub(crate) fn is_end(change: &Change, saved: &Checkpoint) -> bool {
    let ends_phase = change.phase.is_some() && change.phase_status().is_done();
    ends_phase || saved.content.status != WorkflowStatus::InProgress
}

/// The failure of a save that the remote was to have.
pub(crate) fn not_shared(handle: &Handle, why: &Failure) -> Failure {
    let message = format!("saved locally as `{handle}`, not on the remote: {}", why.message);
    Failure::new(ErrorCode::NotShared, message)
        .help("`ckpt push` copies it to the remote")
        .context("handle", handle.to_string())
        .context("cause", why.code.word())
}
