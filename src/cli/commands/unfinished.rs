//! Selects and orders the workflows of a store.

use std::cmp::Reverse;

use crate::cli::error::{ErrorCode, Failure};
use crate::cli::progress::Progress;
use crate::cli::session::Session;
use crate::core::store::{Extent, WorkflowSummary};
use crate::core::{Handle, Store, Timestamp, WorkflowId, WorkflowStatus};

/// The workflows that a filter selects: the number of all, and those with the newest activity.
#[derive(Debug)]
pub(crate) struct Selection {
    limit: usize,
    /// At most `limit` once everything was added.
    newest: Vec<WorkflowSummary>,
    pub(crate) total: usize,
    /// The damaged ones beyond the limit.
    pub(crate) other_damaged: Vec<WorkflowSummary>,
}

impl Selection {
    /// Selects among all workflows of a store, and keeps at most `limit` of them in memory.
    pub(crate) fn scan(
        session: &Session,
        store: &Store,
        limit: usize,
        mut selects: impl FnMut(&WorkflowSummary) -> bool,
    ) -> Result<Self, Failure> {
        let mut selection = Self { limit, newest: Vec::new(), total: 0, other_damaged: Vec::new() };
        let mut progress = Progress::new(&session.ui);
        store.visit_summaries(Extent::Newest, &mut |scanned| progress.scan(scanned), &mut |workflow| {
            if selects(&workflow) {
                selection.add(workflow);
            }
        })?;
        selection.trim();
        Ok(selection)
    }

    fn add(&mut self, workflow: WorkflowSummary) {
        /// Sorting is rare, but a selection stays small.
        const SPARE: usize = 1000;
        self.total += 1;
        self.newest.push(workflow);
        if self.newest.len() > self.limit.saturating_add(SPARE) {
            self.trim();
        }
    }

    /// Sorts the workflows and drops those beyond the limit.
    fn trim(&mut self) {
        self.newest.sort_by_cached_key(by_activity);
        let rest = self.newest.split_off(self.newest.len().min(self.limit));
        self.other_damaged.extend(rest.into_iter().filter(|workflow| workflow.head.is_err()));
    }

    /// Returns those with the newest activity, in order.
    pub(crate) fn newest(&self) -> &[WorkflowSummary] {
        &self.newest
    }

    /// Returns their ids.
    pub(crate) fn ids(&self) -> Vec<WorkflowId> {
        self.newest.iter().map(|workflow| workflow.newest.workflow.clone()).collect()
    }
}

/// Orders by the newest activity. Damaged ones have no time; they come first, where they are seen.
fn by_activity(workflow: &WorkflowSummary) -> (Option<Reverse<Timestamp>>, Handle) {
    (workflow.head.as_ref().ok().map(|head| Reverse(head.saved_at)), workflow.newest.clone())
}

/// Selects the workflows with work left.
pub(crate) fn unfinished(session: &Session, store: &Store) -> Result<Selection, Failure> {
    Selection::scan(session, store, usize::MAX, is_unfinished)
}

/// Returns the live workflow with the newest activity, if any can be read.
pub(crate) fn newest(session: &Session, store: &Store) -> Option<WorkflowId> {
    let is_readable = |workflow: &WorkflowSummary| !workflow.archived && workflow.head.is_ok();
    Selection::scan(session, store, 1, is_readable).ok()?.ids().pop()
}

/// True if a workflow has work left. A damaged one may have some, so it counts.
pub(crate) fn is_unfinished(workflow: &WorkflowSummary) -> bool {
    !workflow.archived
        && workflow.head.as_ref().map_or(true, |head| head.status == WorkflowStatus::InProgress)
}

/// Returns the only unfinished workflow. If there are several, the failure lists what to type.
pub(crate) fn only_unfinished(
    session: &Session,
    store: &Store,
    command: &str,
) -> Result<WorkflowId, Failure> {
    const MOST_LINES: usize = 10;
    let mut ids = unfinished(session, store)?.ids();
    if ids.len() == 1 {
        return Ok(ids.swap_remove(0));
    }
    if ids.is_empty() {
        let message = "no workflow is unfinished";
        return Err(Failure::new(ErrorCode::NothingToResume, message).help("`ckpt list` shows all workflows"));
    }
    let message = format!("{} workflows are unfinished", ids.len());
    let mut failure = Failure::new(ErrorCode::Ambiguous, message);
    for row in store.scan_these(&ids[..ids.len().min(MOST_LINES)], Extent::Newest)? {
        let title = row.header.as_ref().ok().and_then(|header| header.title.as_deref());
        let title = title.map(|title| format!("  # {title}")).unwrap_or_default();
        failure = failure.help(format!("ckpt {command} {}{title}", row.newest.workflow));
    }
    if ids.len() > MOST_LINES {
        failure = failure.help("ckpt list --unfinished");
    }
    let ids: Vec<_> = ids.iter().map(WorkflowId::as_str).collect();
    Err(failure.context("candidates", ids))
}
