//! `ckpt cleanup`

use std::collections::BTreeSet;

use clap::Args;
use clap_complete::engine::ArgValueCandidates;

use crate::cli::args::{CommandSpec, command};
use crate::cli::complete;
use crate::cli::error::{ErrorCode, Failure};
use crate::cli::exit::Exit;
use crate::cli::progress::Progress;
use crate::cli::question::confirm;
use crate::cli::remote_cleanup::RemoteCleanupOptions;
use crate::cli::session::{Session, Workspace};
use crate::cli::views::cleanup::CleanupReport;
use crate::cli::views::policy::PolicySource;
use crate::cli::words::count;
use ckpt_model::retention::{
    CleanupPlan, KeepRules, Limit, Policy, Rules, Snapshot, WorkflowFilter, is_past_grace, plan,
};
use ckpt_model::span::Span;
use ckpt_model::{Trigger, WorkflowId, WorkflowStatus};
use ckpt_store::Store;
use ckpt_store::{ArchiveProgress, Cleaned, CleanupProgress};

pub(crate) const COMMAND: CommandSpec = command!(CleanupArgs, "cleanup", EXAMPLES, run);

const EXAMPLES: &str = "\
Examples:
  ckpt cleanup --dry-run
  ckpt cleanup --max-age 7d --abandon-idle 30d
  ckpt cleanup --max-age 30d --keep-last 3 --status complete
  ckpt cleanup --keep-within 2w --keep-trigger manual=all
  ckpt cleanup --expect-plan \"$(ckpt cleanup --dry-run -q)\"
  ckpt cleanup --remote --dry-run";

/// Apply the retention policy: archive what may leave, delete what has expired
///
/// Without a rule, the policy of the store applies. `--max-age` and the keep rules replace all of it, its `max_size` too:
/// given without `--max-age`, keep rules say what stays, and everything else goes. The newest checkpoint of an open
/// workflow, pinned ones, ones dated in the future and ones that cannot be read always stay. What goes is archived, and
/// `ckpt restore` brings it back.
///
/// Whole runs are deleted for good, by the rule of the store in any case: previous runs of a workflow except the newest 5
/// (`previous_runs`), and failed and abandoned runs 30 days after their last save (`failed_for`). Each is listed with its
/// reason before it goes.
///
/// All of this is about this store: nothing leaves a remote. With `--remote` it is the other way round: checkpoints of the
/// remote that are in the archive of this store are emptied there, after the bundles that hold them were copied to the remote
/// and read back. That is the role of a janitor, and needs the right to replace objects.
#[derive(Debug, Args)]
pub(crate) struct CleanupArgs {
    /// Finished workflows idle for longer go, such as 7d or 12h, and what is older in open ones, except the newest
    #[arg(long, value_name = "SPAN", help_heading = "Rules")]
    max_age: Option<Span>,
    /// Open workflows idle for longer are marked abandoned, and go as a whole; added to the other rules
    #[arg(long, value_name = "SPAN", help_heading = "Rules")]
    abandon_idle: Option<Span>,
    /// Keep the newest N checkpoints of every workflow; -1 or `all` keeps all
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = "Rules")]
    keep_last: Option<Limit>,
    /// Keep what is no older than this, such as 2w
    #[arg(long, value_name = "SPAN", help_heading = "Rules")]
    keep_within: Option<Span>,
    /// Keep the newest N of a trigger, such as `batch_complete=3`; -1 or `all` keeps all
    #[arg(long, value_name = "T=N", help_heading = "Rules")]
    keep_trigger: Vec<String>,
    /// Only this workflow
    #[arg(long, value_name = "ID", help_heading = "Scope", add = ArgValueCandidates::new(complete::workflow_ids))]
    workflow: Vec<WorkflowId>,
    /// Only workflows with this status
    #[arg(long, value_enum, value_name = "S", help_heading = "Scope")]
    status: Vec<WorkflowStatus>,
    /// Say what would be done, and do nothing
    #[arg(short = 'n', long)]
    dry_run: bool,
    /// Do it only if it is this plan, by the fingerprint that `--dry-run` printed
    #[arg(long, value_name = "FP")]
    expect_plan: Option<String>,
    /// Delete what goes instead of archiving it: nothing brings it back; needs `--yes`
    #[arg(long)]
    purge: bool,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
    /// Exit with 4 if there is no store; otherwise there is nothing to do then
    #[arg(long)]
    require_store: bool,
    /// Empty the checkpoints of the remote that the archive of this store holds, instead of cleaning up this store
    #[arg(
        long,
        conflicts_with_all = [
            "max_age", "abandon_idle", "keep_last", "keep_within", "keep_trigger", "status", "purge",
        ],
    )]
    remote: bool,
}

fn run(args: &CleanupArgs, session: &Session) -> Result<Exit, Failure> {
    let keep = args.keep_rules()?;
    let workspace = if args.require_store { session.workspace()? } else { session.workspace_or_empty()? };
    if args.remote {
        return session.clean_up_remote(
            &workspace,
            &RemoteCleanupOptions {
                workflows: &args.workflow,
                dry_run: args.dry_run,
                expect_plan: args.expect_plan.as_deref(),
                yes: args.yes,
            },
        );
    }
    let policy = args.policy(keep, &workspace)?;
    if !workspace.exists() && !session.output.is_quiet() && !session.output.is_json() {
        session.output.say("There is no store here, so there is nothing to clean up.\n");
    }
    let snapshot = gather(&policy, &workspace.store, session)?;
    let plan = plan(&snapshot, &policy, session.now())?;
    args.check_plan(&plan, &policy)?;
    let mut report = CleanupReport::planned(&plan, (&policy, args.source()), &snapshot, session.now());
    if args.dry_run {
        return answer(&report, session);
    }
    if args.purge && !args.yes {
        return Err(Failure::new(
            ErrorCode::ConfirmationNeeded,
            "`--purge` deletes without an archive, and nothing brings it back",
        )
        .help("look first with `--dry-run`, then add `--yes`"));
    }
    if plan.is_empty() {
        report.carried_out(Cleaned::default());
    } else if is_confirmed(args.yes, session, &mut report) {
        carry_out(&plan, &workspace, session, &mut report)?;
    } else {
        session.output.say("Nothing was done.\n");
        return Ok(Exit::Refused);
    }
    answer(&report, session)
}

fn answer(report: &CleanupReport, session: &Session) -> Result<Exit, Failure> {
    session.answer(report)?;
    Ok(if report.has_failures() { Exit::Partial } else { Exit::Ok })
}

/// Gathers the facts that the policy is applied to.
fn gather(policy: &Policy, store: &Store, session: &Session) -> Result<Snapshot, Failure> {
    let mut progress = Progress::new(&session.output);
    let mut snapshot = store.cleanup_facts(&mut |scanned| progress.scan(scanned))?;
    // Objects belong to no workflow alone.
    if policy.filter.is_empty() {
        match store.unreferred_objects(|modified| is_past_grace(modified, session.now())) {
            Ok(objects) => snapshot.objects = objects,
            Err(error) => snapshot.skipped.push((store.objects_dir(), error.to_string())),
        }
    }
    Ok(snapshot)
}

/// Shows the plan to a person and asks whether to go on. Elsewhere only deletions are shown, before they are made.
fn is_confirmed(yes: bool, session: &Session, report: &mut CleanupReport) -> bool {
    if !yes && session.is_interactive() {
        session.output.converse(report, &session.clock);
        if session.output.shows_answer() {
            report.shows_policy = false;
        }
        return confirm(&session.output, "Do it?");
    }
    if report.deletes() {
        report.shows_deletions_only = true;
        session.output.converse(report, &session.clock);
        report.shows_deletions_only = false;
    }
    true
}

/// Carries out a plan, and records how to undo it.
fn carry_out(
    plan: &CleanupPlan,
    workspace: &Workspace,
    session: &Session,
    report: &mut CleanupReport,
) -> Result<(), Failure> {
    let Workspace { place, store, config, .. } = workspace;
    let stamp = session.stamp(place, config)?;
    let mut progress = Progress::new(&session.output);
    let mut cleaned = store.clean_up(plan, &stamp, &mut |far| {
        progress.at(|| {
            let CleanupProgress { workflow, done, total, step } = far;
            let place = format!("{workflow}, {} of {total}", done + 1);
            let ArchiveProgress { step, done, total } = step;
            format!("Cleaning up {place}: {} {done} of {}", step.word(), count(*total, "checkpoint"))
        });
    });
    drop(progress);
    let files = cleaned.stale_files.len() + cleaned.objects.len();
    let nothing = cleaned.workflows.is_empty() && files == 0;
    if nothing && !cleaned.failures.is_empty() {
        return Err(cleaned.failures.swap_remove(0).1.into());
    }
    report.carried_out(cleaned);
    let parts = report.archived_parts();
    if !parts.is_empty() {
        let plan = plan.fingerprint();
        report.undo = Some(session.undo_command(store, &plan, parts, &stamp, &mut report.warnings));
    }
    Ok(())
}

impl CleanupArgs {
    fn source(&self) -> PolicySource {
        let keeps = self.keep_last.is_some() || self.keep_within.is_some() || !self.keep_trigger.is_empty();
        if self.max_age.is_some() || keeps {
            PolicySource::CommandLine
        } else if self.abandon_idle.is_some() {
            PolicySource::StoreAndCommandLine
        } else {
            PolicySource::Store
        }
    }

    /// Refuses a plan that is not the expected one.
    fn check_plan(&self, plan: &CleanupPlan, policy: &Policy) -> Result<(), Failure> {
        let fingerprint = plan.fingerprint().to_hex();
        if self.expect_plan.as_ref().is_none_or(|expected| *expected == fingerprint) {
            return Ok(());
        }
        Err(Failure::plan_changed(fingerprint, &self.dry_run_of(policy)))
    }

    /// Returns the command that shows the plan of the same rules.
    fn dry_run_of(&self, Policy { filter, keep, .. }: &Policy) -> String {
        let mut words = vec!["ckpt cleanup".to_owned()];
        words.extend(self.max_age.map(|span| format!("--max-age {span}")));
        words.extend(self.abandon_idle.map(|span| format!("--abandon-idle {span}")));
        words.extend(keep.last.map(|limit| format!("--keep-last {limit}")));
        words.extend(keep.within.map(|span| format!("--keep-within {span}")));
        words.extend(keep.triggers.0.iter().map(|(trigger, limit)| format!("--keep-trigger {trigger}={limit}")));
        words.extend(filter.ids.iter().map(|id| format!("--workflow {id}")));
        words.extend(filter.statuses.iter().map(|status| format!("--status {}", status.word())));
        words.extend(self.purge.then(|| "--purge".to_owned()));
        words.push("--dry-run".to_owned());
        words.join(" ")
    }

    fn keep_rules(&self) -> Result<KeepRules, Failure> {
        let mut keep = KeepRules { last: self.keep_last, within: self.keep_within, ..KeepRules::default() };
        for argument in &self.keep_trigger {
            let (trigger, limit) = argument.split_once('=').ok_or_else(|| {
                Failure::new(ErrorCode::Usage, format!("`--keep-trigger {argument}` has no number"))
                    .help("write `--keep-trigger batch_complete=3`, or `=all`")
            })?;
            let trigger: Trigger = trigger.parse()?;
            let limit: Limit = limit
                .parse()
                .map_err(|error| Failure::new(ErrorCode::Usage, format!("`--keep-trigger {argument}`: {error}")))?;
            keep.triggers.0.insert(trigger.word().to_owned(), limit);
        }
        Ok(keep)
    }

    fn policy(&self, keep: KeepRules, workspace: &Workspace) -> Result<Policy, Failure> {
        let mut workflows = BTreeSet::new();
        for id in &self.workflow {
            let exists = workspace.exists();
            workflows.insert(if exists { workspace.store.resolve_workflow(id)? } else { id.clone() });
        }
        let statuses = self.status.clone();
        let standing = workspace.config.retention().policy();
        let adds_to_store = self.source() != PolicySource::CommandLine;
        Ok(Policy {
            filter: WorkflowFilter { ids: workflows, statuses },
            max_size: if adds_to_store { standing.max_size } else { None },
            abandon_idle: self.abandon_idle.or(if adds_to_store { standing.abandon_idle } else { None }),
            rules: match self.max_age {
                Some(span) => Rules::MaxAge(span),
                None if !keep.is_empty() => Rules::Everything,
                None => standing.rules,
            },
            keep,
            purge: self.purge,
            ..standing
        })
    }
}
