//! `ckpt list`

use clap::Args;

use super::pull_flag::PullFlag;
use super::unfinished::{Selection, is_unfinished};
use crate::cli::args::{CommandSpec, parsed};
use crate::cli::clock::Clock;
use crate::cli::error::Failure;
use crate::cli::exit::Exit;
use crate::cli::find::{Query, matching_workflows};
use crate::cli::session::Session;
use crate::cli::views::list::{Scope, Unlisted, WorkflowsReport};
use crate::cli::words::{and, count};
use ckpt_model::phase_name::is_spelling_of;
use ckpt_model::span::Span;
use ckpt_model::{Handle, WorkflowStatus};
use ckpt_store::Store;
use ckpt_store::{Extent, WorkflowSummary};

pub(crate) const COMMAND: CommandSpec = CommandSpec {
    name: "list",
    alias: Some("ls"),
    augment_args: ListArgs::augment_args,
    examples: EXAMPLES,
    run: |matches, session| run(&parsed(matches)?, session),
};

const DEFAULT_LIMIT: usize = 50;

const EXAMPLES: &str = "\
Examples:
  ckpt list
  ckpt list --status in_progress --newer-than 7d
  ckpt list --json | jq -r '.workflows[].handle'";

/// List workflows, newest activity first
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Run `ckpt log` instead
    #[arg(value_name = "ID", hide = true)]
    id: Option<Query>,
    /// The archived ones instead of the live ones
    #[arg(long, help_heading = "Filters", conflicts_with = "id")]
    archived: bool,
    /// Only those with work left
    #[arg(long, help_heading = "Filters", conflicts_with_all = ["id", "archived"])]
    unfinished: bool,
    /// Only those with this status
    #[arg(long, value_enum, value_name = "S", help_heading = "Filters", conflicts_with = "id")]
    status: Vec<WorkflowStatus>,
    /// Only those whose last save is about this phase
    #[arg(long, value_name = "P", help_heading = "Filters", conflicts_with = "id")]
    phase: Option<String>,
    /// Only those with this label
    #[arg(long, value_name = "L", help_heading = "Filters", conflicts_with = "id")]
    label: Vec<String>,
    /// Only those that follow this pipeline
    #[arg(long, value_name = "NAME", help_heading = "Filters", conflicts_with = "id")]
    pipeline: Option<String>,
    /// Only those with this text in their title, id, label, pipeline or plan path; case and spacing do not matter
    #[arg(long = "match", value_name = "TEXT", help_heading = "Filters", conflicts_with = "id")]
    matching: Option<String>,
    /// Only those not saved for this long, such as 7d
    #[arg(long, value_name = "SPAN", help_heading = "Filters", conflicts_with = "id")]
    older_than: Option<Span>,
    /// Only those saved within this time, such as 36h
    #[arg(long, value_name = "SPAN", help_heading = "Filters", conflicts_with = "id")]
    newer_than: Option<Span>,
    /// Show at most this many rows; 50 if not given, and with `--json` or `--quiet` all of them
    #[arg(short = 'n', long, value_name = "N", conflicts_with = "all")]
    limit: Option<usize>,
    /// Show all rows
    #[arg(short = 'a', long)]
    all: bool,
    #[command(flatten)]
    pull: PullFlag,
}

fn run(args: &ListArgs, session: &Session) -> Result<Exit, Failure> {
    if let Some(id) = &args.id {
        return super::log::of_workflow(id, args.limit, args.all, args.pull, session);
    }
    let warning = args.pull.warning(session)?;
    let store = session.store()?;
    let limit = row_limit(args.limit, args.all, session);
    let mut scope = Scope { filtered: args.is_filtered(), archived: args.archived, live_count: 0, archived_count: 0 };
    let matching = args.matching.as_ref().map(|text| matching_workflows(&store, text)).transpose()?;
    let selection = Selection::scan(session, &store, limit, |workflow| {
        *(if workflow.archived { &mut scope.archived_count } else { &mut scope.live_count }) += 1;
        let matches = matching.as_ref().is_none_or(|ids| ids.contains(&workflow.workflow.to_id()));
        matches && args.selects(workflow, &session.clock)
    })?;
    let rest = Unlisted { total: selection.total, damaged: &selection.other_damaged, scope };
    if session.output.is_quiet() && !session.output.is_json() {
        let report = WorkflowsReport::of_ids(selection.newest(), &rest, &store);
        return session.answer(&report.warning(session.config_warning(&store)));
    }
    // Only `--json` has the sizes of live checkpoints, which take one stat each.
    let mut rows = if session.output.is_json() {
        store.scan_these(&selection.ids(), Extent::Live)?
    } else {
        selection.rows(&store)?
    };
    rows.retain(|row| args.selects(&WorkflowSummary::from(row), &session.clock));
    let shown: Vec<Handle> = rows.iter().map(|row| row.newest.clone()).collect();
    let mut report = WorkflowsReport::new(rows, &rest, &store).warning(session.config_warning(&store));
    for warning in sharing_warnings(&store, &shown)? {
        report = report.warning(Some(warning));
    }
    session.answer(&report.warning(warning))
}

/// Says which workflows were continued in several places, and how those that are shown compare with the remote, as far as the
/// store knows.
fn sharing_warnings(store: &Store, shown: &[Handle]) -> Result<Vec<String>, Failure> {
    let mut warnings = Vec::new();
    for workflow in store.forked()? {
        warnings
            .push(format!("{workflow} was continued in several places; `ckpt merge {workflow}` reconciles the heads"));
    }
    let (mut behind, mut unpushed) = (Vec::new(), Vec::new());
    if store.has_ledgers() {
        for newest in shown {
            let Some(ledger) = store.any_ledger(&newest.workflow) else { continue };
            if ledger.behind > 0 {
                behind.push(newest.workflow.to_string());
            }
            if ledger.pushed < newest.seq {
                unpushed.push(newest.workflow.to_string());
            }
        }
    }
    let named = |ids: &[String]| match ids {
        [] | [_] | [_, _] | [_, _, _] => and(ids),
        many => count(many.len(), "workflow"),
    };
    if !behind.is_empty() {
        let what = named(&behind);
        warnings.push(format!("the remote was seen to have more of {what}; `ckpt pull` fetches it"));
    }
    if !unpushed.is_empty() {
        let what = named(&unpushed);
        warnings.push(format!("the remote does not have all of {what}; `ckpt push` copies it"));
    }
    Ok(warnings)
}

/// Returns the largest number of rows. There is no default for a script, which would not notice missing rows.
pub(super) fn row_limit(limit: Option<usize>, all: bool, session: &Session) -> usize {
    match limit {
        None if all || session.global.quiet || session.global.json => usize::MAX,
        limit => limit.unwrap_or(DEFAULT_LIMIT),
    }
}

impl ListArgs {
    /// True if there are filters beside `--archived`.
    fn is_filtered(&self) -> bool {
        self.unfinished
            || !self.status.is_empty()
            || self.phase.is_some()
            || !self.label.is_empty()
            || self.pipeline.is_some()
            || self.matching.is_some()
            || self.older_than.is_some()
            || self.newer_than.is_some()
    }

    /// True if a workflow passes the filters. A damaged one passes, because its values are unknown.
    fn selects(&self, workflow: &WorkflowSummary<'_>, clock: &Clock) -> bool {
        if workflow.archived != self.archived || self.unfinished && !is_unfinished(workflow) {
            return false;
        }
        let Ok(header) = &workflow.head else { return true };
        let age = || u64::try_from(clock.now().seconds_since(header.saved_at)).unwrap_or_default();
        (self.status.is_empty() || self.status.contains(&header.status))
            && self
                .phase
                .as_ref()
                .is_none_or(|wanted| header.phase.as_ref().is_some_and(|id| is_spelling_of(wanted, id)))
            && self.label.iter().all(|label| header.labels.iter().any(|of| of == label))
            && self.pipeline.as_ref().is_none_or(|wanted| header.pipeline.as_ref().is_some_and(|of| of == wanted))
            && self.older_than.is_none_or(|span| age() > span.seconds())
            && self.newer_than.is_none_or(|span| age() <= span.seconds())
    }
}
