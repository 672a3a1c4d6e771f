//! `ckpt cleanup --remote`: the janitor of a remote empties the checkpoints there that the archive of this store holds.

use serde::Serialize;

use super::error::{ErrorCode, Failure};
use super::exit::Exit;
use super::progress::Progress;
use super::question::confirm;
use super::remote_access::{WHEN_ASKED, exchange_with};
use super::session::{Session, Workspace};
use super::views::remote_cleanup::RemoteCleanupReport;
use ckpt_model::WorkflowId;
use ckpt_model::digest::Digest;
use ckpt_store::OsDisk;
use ckpt_sync::transports::RemoteUrl;
use ckpt_sync::{Exchange, RemoteCleanup};

/// How far a cleanup of the remote goes.
#[derive(Debug)]
pub(crate) struct RemoteCleanupOptions<'a> {
    /// The workflows; all if none is named.
    pub(crate) workflows: &'a [WorkflowId],
    pub(crate) dry_run: bool,
    pub(crate) expect_plan: Option<&'a str>,
    pub(crate) yes: bool,
}

/// The plan, for its fingerprint.
#[derive(Serialize)]
struct Fingerprinted<'a> {
    remote: &'a str,
    plan: &'a [RemoteCleanup],
}

impl Session {
    pub(crate) fn clean_up_remote(
        &self,
        workspace: &Workspace,
        options: &RemoteCleanupOptions<'_>,
    ) -> Result<Exit, Failure> {
        let url = self.trusted_remote(workspace)?;
        let store = &workspace.store;
        let stamp = self.stamp(&workspace.place, &workspace.config)?;
        let mut remote = self.open_remote(workspace, &url, &stamp.save_id, WHEN_ASKED)?;
        let mut exchange = exchange_with(store, &mut *remote, &url, &stamp.save_id);
        exchange.remote.check_layout()?;

        let (plan, warnings) = plan(&mut exchange, options.workflows)?;
        let remote_text = url.to_string();
        let fingerprint = Digest::of_json(&Fingerprinted { remote: &remote_text, plan: &plan }).to_hex();
        if options.expect_plan.is_some_and(|expected| expected != fingerprint) {
            return Err(Failure::plan_changed(fingerprint, "ckpt cleanup --remote --dry-run"));
        }
        let mut report = RemoteCleanupReport::planned(remote_text, fingerprint, &plan, warnings);
        if options.dry_run {
            return self.answer(&report);
        }
        if !plan.is_empty() && !options.yes && self.is_interactive() {
            self.output.converse(&report, &self.clock);
            if !confirm(&self.output, "Do it?") {
                self.output.say("Nothing was done.\n");
                return Ok(Exit::Refused);
            }
        }
        carry_out(&plan, &mut exchange, &mut report, &mut Progress::new(&self.output))?;
        self.answer(&report)?;
        Ok(if report.is_complete() { Exit::Ok } else { Exit::Partial })
    }

    /// Returns the address of the remote. One that only the settings of the store name is refused: they may be a stranger's.
    fn trusted_remote(&self, workspace: &Workspace) -> Result<RemoteUrl, Failure> {
        match self.find_remote(workspace)? {
            Some((url, source)) if !self.is_trusted(workspace, &url, source) => Err(Failure::new(
                ErrorCode::ConfirmationNeeded,
                format!("only the settings of the store name the remote `{url}`; nothing is emptied there"),
            )
            .help(format!("`ckpt remote add {url}` allows it on this machine"))),
            _ => self.remote_url(workspace),
        }
    }
}

/// Plans the cleanup of these workflows, or of all. Returns warnings as well.
fn plan(
    exchange: &mut Exchange<'_, OsDisk>,
    workflows: &[WorkflowId],
) -> Result<(Vec<RemoteCleanup>, Vec<String>), Failure> {
    let mut names = match workflows {
        [workflow] => exchange.remote.names(Some(workflow))?,
        _ => exchange.remote.names(None)?,
    };
    if !workflows.is_empty() {
        names.retain(|workflow, _| workflows.contains(workflow));
    }
    let (mut plan, mut warnings) = (Vec::new(), Vec::new());
    for (workflow, names) in &names {
        plan.extend(exchange.plan_cleanup(workflow, names)?);
        if exchange.has_unpushed_bundle(workflow)? {
            warnings.push(format!(
                "{workflow}: the archive holds checkpoints that the remote is not known to have; `ckpt push {workflow}` first"
            ));
        }
    }
    Ok((plan, warnings))
}

fn carry_out(
    plan: &[RemoteCleanup],
    exchange: &mut Exchange<'_, OsDisk>,
    report: &mut RemoteCleanupReport,
    progress: &mut Progress<'_>,
) -> Result<(), Failure> {
    report.begin();
    for (done, part) in plan.iter().enumerate() {
        progress.at(|| format!("Cleaned up {done} of {} bundles of the remote", plan.len()));
        match exchange.clean_up(part) {
            Ok(emptied) => report.done(part, emptied),
            Err(error) => {
                let failure = Failure::from(error);
                // Others would fail in the same way.
                let is_general = matches!(failure.code, ErrorCode::RemoteUnreachable | ErrorCode::RemoteRefused);
                if is_general && report.is_untouched() {
                    return Err(failure);
                }
                report.failed(part, failure);
                if is_general {
                    break;
                }
            }
        }
    }
    Ok(())
}
