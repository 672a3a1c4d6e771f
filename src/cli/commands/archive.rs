//! `ckpt archive`

use clap::Args;
use clap_complete::engine::ArgValueCandidates;

use crate::cli::args::{CommandSpec, command};
use crate::cli::complete;
use crate::cli::error::{ErrorCode, Failure};
use crate::cli::exit::Exit;
use crate::cli::progress::Progress;
use crate::cli::question::confirm;
use crate::cli::session::{Session, Workspace};
use crate::cli::views::archive::ArchiveReport;
use crate::cli::words::{and, count};
use ckpt_model::digest::Digest;
use ckpt_model::span::Span;
use ckpt_model::{ArchiveReason, Handle, Timestamp, WorkflowId, WorkflowStatus};
use ckpt_store::Store;
use ckpt_store::{ArchivePlan, ArchiveProgress, Archived, ArchivedPart, BundleRow, DeletionPlan, Error, WorkflowRow};

/// More workflows than this are brought back by their undo record: the command stays short.
const MOST_NAMED: usize = 8;

pub(crate) const COMMAND: CommandSpec = command!(ArchiveArgs, "archive", EXAMPLES, run);

const EXAMPLES: &str = "\
Examples:
  ckpt archive 042
  ckpt archive 042 043 --as abandoned
  ckpt archive --finished --idle-for 30d --dry-run
  ckpt archive --list
  ckpt archive 042 --delete --dry-run";

/// Compress workflows and take them out of the live store
///
/// Every checkpoint goes into a bundle, which is read back before anything leaves; `ckpt restore ID` brings all of it
/// back. `show` and `resume --from` read archived checkpoints without that, and a save goes on where the workflow
/// stood.
///
/// `--delete` deletes workflows that are archived already for good: all of their bundles, whatever their age. Their
/// numbers stay taken.
#[derive(Debug, Args)]
pub(crate) struct ArchiveArgs {
    /// The workflows: any number of them
    #[arg(
        value_name = "ID",
        required_unless_present_any = ["finished", "idle_for", "list"],
        conflicts_with_all = ["finished", "idle_for"],
        add = ArgValueCandidates::new(complete::workflow_ids),
    )]
    ids: Vec<WorkflowId>,
    /// All that are complete, failed or abandoned
    #[arg(long, conflicts_with = "list")]
    finished: bool,
    /// All that were not saved for this long, such as 30d; with `--finished`, only the finished ones of them
    #[arg(long, value_name = "SPAN", conflicts_with = "list")]
    idle_for: Option<Span>,
    /// What became of the work; needed where there is work left
    #[arg(long = "as", value_enum, value_name = "REASON", conflicts_with = "list")]
    reason: Option<ArchiveReason>,
    /// List the bundles there are instead
    #[arg(long)]
    list: bool,
    /// Delete these archived workflows for good instead; nothing brings them back
    #[arg(long, conflicts_with_all = ["list", "finished", "idle_for", "reason"])]
    delete: bool,
    /// Say what would be done, and do nothing
    #[arg(short = 'n', long, conflicts_with = "list")]
    dry_run: bool,
    /// Delete without asking
    #[arg(short, long, requires = "delete", conflicts_with_all = ["reason", "finished", "idle_for", "list"])]
    yes: bool,
}

fn run(args: &ArchiveArgs, session: &Session) -> Result<Exit, Failure> {
    if args.list {
        let store = session.store()?;
        return session.answer(&ArchiveReport::listing(args.bundles(&store)?, &store));
    }
    let workspace = session.workspace()?;
    if args.delete {
        return delete(args, session, &workspace);
    }
    let mut report = ArchiveReport::default();
    report.applied = !args.dry_run;
    let workflows = args.select(&workspace.store, session.now(), &mut report)?;
    let mut progress = Progress::new(&session.output);
    let mut failed = None;
    let mut applied = Vec::new();
    for (index, workflow) in workflows.iter().enumerate() {
        let mut tell = |far: &ArchiveProgress| {
            progress.at(|| {
                let ArchiveProgress { step, done, total } = far;
                let place = format!("{workflow}, {} of {}", index + 1, workflows.len());
                format!("Archiving {place}: {} {done} of {}", step.word(), count(*total, "checkpoint"))
            });
        };
        let result = plan(args, &workspace.store, workflow, &mut tell).and_then(|plan| {
            if args.dry_run {
                report.add_plan(&plan);
            } else {
                let archived = apply(session, &workspace, &plan, &mut tell)?;
                report.add(&plan.workflow, &archived);
                applied.push((plan, archived));
            }
            Ok(())
        });
        if let Err(failure) = result {
            report.fail(workflow, failure.clone());
            failed = Some(failure);
        }
    }
    drop(progress);
    report.undo = undo(session, &workspace, &applied, &mut report.warnings)?;
    match failed {
        // The failure of the only workflow is the failure of the command.
        Some(failure) if workflows.len() == 1 => Err(failure),
        Some(_) => session.answer(&report).map(|_| Exit::Partial),
        None => session.answer(&report),
    }
}

fn plan(
    args: &ArchiveArgs,
    store: &Store,
    id: &WorkflowId,
    tell: &mut dyn FnMut(&ArchiveProgress),
) -> Result<ArchivePlan, Failure> {
    let workflow = store.resolve_workflow(id)?;
    let reason = match &args.reason {
        Some(reason) => reason.clone(),
        None => default_reason(store, &workflow)?,
    };
    Ok(store.plan_archive(&workflow, &reason, tell)?)
}

fn apply(
    session: &Session,
    workspace: &Workspace,
    plan: &ArchivePlan,
    tell: &mut dyn FnMut(&ArchiveProgress),
) -> Result<Archived, Failure> {
    let stamp = session.stamp(&workspace.place, &workspace.config)?;
    Ok(workspace.store.archive(&plan.workflow, &plan.reason, &stamp, tell)?)
}

/// Returns the command that brings back what was archived.
fn undo(
    session: &Session,
    workspace: &Workspace,
    applied: &[(ArchivePlan, Archived)],
    warnings: &mut Vec<String>,
) -> Result<Option<Vec<String>>, Failure> {
    let moved: Vec<&(ArchivePlan, Archived)> =
        applied.iter().filter(|(_, archived)| !archived.moved.is_empty()).collect();
    if moved.is_empty() {
        return Ok(None);
    }
    if moved.len() <= MOST_NAMED {
        let ids = moved.iter().map(|(plan, _)| plan.workflow.to_string()).collect();
        return Ok(Some(session.restore_command(ids)));
    }
    let plans: Vec<&ArchivePlan> = applied.iter().map(|(plan, _)| plan).collect();
    let parts = moved.iter().map(|(plan, archived)| {
        let numbers = archived.moved.iter().map(|handle| handle.seq).collect();
        ArchivedPart::new(&plan.workflow, &numbers, true)
    });
    let stamp = session.stamp(&workspace.place, &workspace.config)?;
    let plan = Digest::of_json(&plans);
    Ok(Some(session.undo_command(&workspace.store, &plan, parts.collect(), &stamp, warnings)))
}

/// Deletes archived workflows for good.
fn delete(args: &ArchiveArgs, session: &Session, workspace: &Workspace) -> Result<Exit, Failure> {
    let store = &workspace.store;
    let mut plans = Vec::new();
    for id in args.ids() {
        plans.push(plan_deletion(store, &store.resolve_workflow(&id)?)?);
    }
    let mut report = ArchiveReport::deletion(&plans);
    if args.dry_run {
        return session.answer(&report);
    }
    if plans.iter().any(|plan| plan.checkpoints > 0) && !args.yes {
        let ids: Vec<String> = plans.iter().map(|plan| plan.seal.workflow.to_string()).collect();
        if !session.is_interactive() {
            let message = format!("deleting {} cannot be undone", and(&ids));
            let ids = ids.join(" ");
            return Err(Failure::new(ErrorCode::ConfirmationNeeded, message)
                .help(format!("look first: `ckpt archive {ids} --delete --dry-run`"))
                .help(format!("then `ckpt archive {ids} --delete --yes`")));
        }
        session.output.converse(&report, &session.clock);
        if !confirm(&session.output, "Delete for good?") {
            session.output.say("Nothing was done.\n");
            return Ok(Exit::Refused);
        }
    }
    for plan in plans.iter().filter(|plan| plan.checkpoints > 0) {
        let stamp = session.stamp(&workspace.place, &workspace.config)?;
        store.delete_archived(plan, &stamp)?;
    }
    report.applied = true;
    session.answer(&report)
}

fn plan_deletion(store: &Store, workflow: &WorkflowId) -> Result<DeletionPlan, Failure> {
    store.plan_deletion(workflow).map_err(|error| match error {
        Error::NotArchived { .. } => {
            let reason = if default_reason(store, workflow).is_ok() { "" } else { " --as abandoned" };
            Failure::from(error)
                .help(format!("only what is archived is deleted; first `ckpt archive {workflow}{reason}`"))
        }
        error => error.into(),
    })
}

/// Returns the reason that follows from the status of the workflow.
fn default_reason(store: &Store, workflow: &WorkflowId) -> Result<ArchiveReason, Failure> {
    let refuse = |message: String| {
        Failure::new(ErrorCode::NeedsReason, message)
            .help(format!("say what became of it: `ckpt archive {workflow} --as abandoned`"))
            .help("or `--as completed`, or `--as failed`")
            .context("workflow", workflow.as_str())
    };
    let newest = Handle::new(workflow, store.head_number(workflow)?.unwrap_or_default());
    let checkpoint = match store.load(&newest) {
        Ok(stored) => stored.checkpoint,
        Err(error @ Error::Damaged { .. }) => {
            return Err(refuse(format!("what became of `{workflow}` is not known: {error}")));
        }
        // Bundles without a seal: there is nothing to archive, so the reason does not matter.
        Err(Error::Archived { .. }) => return Ok(ArchiveReason::Cleanup),
        Err(error) => return Err(error.into()),
    };
    if let Some(seal) = checkpoint.sealed {
        return Ok(seal.reason);
    }
    let reason = checkpoint.content.status.archive_reason();
    reason.ok_or_else(|| refuse(format!("there is work left in `{workflow}`")))
}

impl ArchiveArgs {
    /// The ids without repetitions, in the order given.
    fn ids(&self) -> Vec<WorkflowId> {
        let mut ids: Vec<WorkflowId> = Vec::new();
        for id in &self.ids {
            if !ids.contains(id) {
                ids.push(id.clone());
            }
        }
        ids
    }

    /// Returns the workflows to archive. The rules never select a damaged one, whose status is unknown.
    fn select(&self, store: &Store, now: Timestamp, report: &mut ArchiveReport) -> Result<Vec<WorkflowId>, Failure> {
        if !self.ids.is_empty() {
            return Ok(self.ids());
        }
        let mut rows = store.scan()?;
        rows.retain(|row| !row.archived);
        rows.sort_by(|a, b| a.newest.cmp(&b.newest));
        for row in rows.iter().filter(|row| row.header.is_err()) {
            report.warn(format!("`{}` cannot be judged and was left where it is", row.newest.workflow));
        }
        Ok(rows.into_iter().filter(|row| self.selects(row, now)).map(|row| row.newest.workflow).collect())
    }

    fn selects(&self, row: &WorkflowRow, now: Timestamp) -> bool {
        let Ok(header) = &row.header else { return false };
        let age = u64::try_from(now.seconds_since(header.saved_at)).unwrap_or_default();
        (!self.finished || header.status != WorkflowStatus::InProgress)
            && self.idle_for.is_none_or(|span| age > span.seconds())
    }

    fn bundles(&self, store: &Store) -> Result<Vec<BundleRow>, Failure> {
        let ids = if self.ids.is_empty() {
            store.archived_workflows()?
        } else {
            self.ids().iter().map(|id| store.resolve_workflow(id)).collect::<Result<Vec<_>, _>>()?
        };
        let mut rows = Vec::new();
        for id in ids {
            rows.extend(store.list_bundles(&id)?);
        }
        Ok(rows)
    }
}
