//! `ckpt restore`

use clap::Args;

use crate::cli::args::{CommandSpec, command};
use crate::cli::complete;
use crate::cli::error::{ErrorCode, Failure};
use crate::cli::exit::Exit;
use crate::cli::progress::Progress;
use crate::cli::session::{Session, Workspace};
use crate::cli::values::PlanPrefix;
use crate::cli::views::restore::{RestoreReport, RestoredWorkflow};
use crate::cli::words::count;
use ckpt_model::selector::Which;
use ckpt_model::{Handle, Selector, WorkflowId};
use ckpt_store::Store;
use ckpt_store::{ArchiveProgress, ArchivedPart, Error, RestorePlan, RestoreScope};

pub(crate) const COMMAND: CommandSpec = command!(RestoreArgs, "restore", EXAMPLES, run);

const EXAMPLES: &str = "\
Examples:
  ckpt restore 042
  ckpt restore 042/7 043 --dry-run
  ckpt restore --plan 1f2e3d4c5b6a";

/// Bring archived checkpoints back, byte for byte
///
/// A whole workflow goes on where it stood before it was archived; one checkpoint is put back into its place and
/// nothing else. `--plan` brings back exactly what one `cleanup` or `archive` took out, which prints the command. What is
/// live is never overwritten, and bundles stay where they are.
#[derive(Debug, Args)]
pub(crate) struct RestoreArgs {
    /// The workflows, or single checkpoints of them: any number of them
    #[arg(
        value_name = "ID[/N]",
        required_unless_present = "plan",
        conflicts_with = "plan",
        add = complete::selector(),
    )]
    selectors: Vec<Selector>,
    /// What this plan took out of the live store: the first 8 digits or more that `cleanup` or `archive` printed
    #[arg(long, value_name = "FP")]
    plan: Option<PlanPrefix>,
    /// Say what would come back, and do nothing
    #[arg(short = 'n', long)]
    dry_run: bool,
}

fn run(args: &RestoreArgs, session: &Session) -> Result<Exit, Failure> {
    let workspace = session.workspace()?;
    let mut restore = Restore {
        workspace: &workspace,
        session,
        dry_run: args.dry_run,
        progress: Progress::new(&session.output),
        place: String::new(),
    };
    let mut report = RestoreReport::new(!args.dry_run);
    let mut failed = None;
    let mut add = |name: &dyn std::fmt::Display, result: Result<RestoredWorkflow, Failure>| match result {
        Ok(restored) => report.add(restored),
        Err(failure) => {
            report.fail(name, failure.clone());
            failed = Some(failure);
        }
    };
    let total = match &args.plan {
        None => {
            for (index, selector) in args.selectors.iter().enumerate() {
                restore.place = format!("{}, {} of {}", selector.workflow, index + 1, args.selectors.len());
                add(selector, restore.selector(selector));
            }
            args.selectors.len()
        }
        Some(plan) => {
            let parts = workspace.store.undo_of(plan.as_str())?;
            for (index, part) in parts.iter().enumerate() {
                restore.place = format!("{}, {} of {}", part.workflow, index + 1, parts.len());
                add(&part.workflow, restore.part(part));
            }
            parts.len()
        }
    };
    drop(restore);
    match failed {
        // The failure of the only one is the failure of the command.
        Some(failure) if total == 1 => Err(failure),
        _ => {
            session.answer(&report)?;
            Ok(if report.is_partial() { Exit::Partial } else { Exit::Ok })
        }
    }
}

/// One run of the command.
struct Restore<'a> {
    workspace: &'a Workspace,
    session: &'a Session,
    dry_run: bool,
    progress: Progress<'a>,
    /// `042, 3 of 17`
    place: String,
}

impl Restore<'_> {
    fn selector(&mut self, selector: &Selector) -> Result<RestoredWorkflow, Failure> {
        let store = &self.workspace.store;
        if selector.which == Which::Newest {
            return self.scope(&store.resolve_workflow(&selector.workflow)?, &RestoreScope::Workflow);
        }
        let handle = store.resolve(selector)?;
        let scope = RestoreScope::checkpoint(handle.seq);
        let plan = store.plan_restore(&handle.workflow, &scope)?;
        if plan.restores.is_empty() {
            refuse_one(store, &handle, &plan)?;
        }
        self.scope(&handle.workflow, &scope)
    }

    fn part(&mut self, part: &ArchivedPart) -> Result<RestoredWorkflow, Failure> {
        let scope = RestoreScope::Checkpoints { numbers: part.numbers(), reopens: part.whole };
        self.scope(&part.workflow, &scope)
    }

    fn scope(&mut self, workflow: &WorkflowId, scope: &RestoreScope) -> Result<RestoredWorkflow, Failure> {
        let Workspace { store, place, config, .. } = self.workspace;
        let deletions = store.deletions(workflow).unwrap_or_default();
        if self.dry_run {
            return Ok(RestoredWorkflow::planned(store.plan_restore(workflow, scope)?, &deletions));
        }
        let stamp = self.session.stamp(place, config)?;
        let (progress, at) = (&mut self.progress, &self.place);
        let done = store.restore(workflow, scope, &stamp, &mut |far: &ArchiveProgress| {
            progress.at(|| format!("Restoring {at}: {} of {}", far.done, count(far.total, "checkpoint")));
        })?;
        let newest = Handle::new(workflow, store.head_number(workflow)?.unwrap_or_default());
        Ok(RestoredWorkflow::new(newest, &done, &deletions))
    }
}

/// Fails for one checkpoint that cannot be restored: its content is nowhere, or it is live and was never archived.
fn refuse_one(store: &Store, handle: &Handle, plan: &RestorePlan) -> Result<(), Failure> {
    if !plan.lost.is_empty() {
        let deleted = store.deletions(&handle.workflow).unwrap_or_default().reason(handle.seq);
        return Err(Error::Archived { handle: handle.clone(), deleted }.into());
    }
    // If its file is damaged, this fails: a live file is never overwritten.
    store.load(handle)?;
    let bundles = store.list_bundles(&handle.workflow)?;
    if bundles.iter().any(|bundle| (bundle.name.first..=bundle.name.last).contains(&handle.seq)) {
        return Ok(());
    }
    Err(already_live(handle, plan.head))
}

/// The failure for a checkpoint that never left the live store. Most people want to continue from it.
fn already_live(handle: &Handle, newest: u64) -> Failure {
    let failure = Failure::new(ErrorCode::AlreadyLive, format!("`{handle}` is live; it was not archived"));
    if newest == handle.seq {
        return failure.help(format!("it is the newest one: `ckpt resume {}`", handle.workflow));
    }
    failure.help(format!("did you mean `ckpt rollback {handle}`, which continues from it?"))
}
