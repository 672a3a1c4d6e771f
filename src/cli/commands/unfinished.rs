//! Selects and orders the workflows of a store.

use std::cmp::Reverse;

use crate::cli::error::{ErrorCode, Failure};
use crate::cli::picker::pick;
use crate::cli::progress::Progress;
use crate::cli::session::Session;
use crate::cli::table::{Cell, Column, lines};
use crate::cli::text_page::TextPage;
use ckpt_model::workflow_id::WorkflowIdRef;
use ckpt_model::{Handle, Timestamp, WorkflowId, WorkflowStatus};
use ckpt_store::Store;
use ckpt_store::{Extent, SelectedWorkflow, WorkflowRow, WorkflowSummary};

/// The workflows that a filter selects: the number of all, and those with the newest activity.
#[derive(Debug)]
pub(crate) struct Selection {
    limit: usize,
    /// At most `limit` once everything was added.
    newest: Vec<SelectedWorkflow>,
    /// Whatever comes after this one is beyond the limit.
    cutoff: Option<(Reverse<Timestamp>, WorkflowId)>,
    pub(crate) total: usize,
    /// The damaged ones beyond the limit.
    pub(crate) other_damaged: Vec<SelectedWorkflow>,
}

impl Selection {
    /// Selects among all workflows of a store, and keeps at most `limit` of them in memory.
    pub(crate) fn scan(
        session: &Session,
        store: &Store,
        limit: usize,
        mut selects: impl FnMut(&WorkflowSummary<'_>) -> bool,
    ) -> Result<Self, Failure> {
        let mut selection = Self { limit, newest: Vec::new(), cutoff: None, total: 0, other_damaged: Vec::new() };
        let mut progress = Progress::new(&session.output);
        store.visit_summaries(&mut |scanned| progress.scan(scanned), &mut |workflow| {
            if selects(workflow) {
                selection.add(workflow);
            }
        })?;
        selection.trim();
        Ok(selection)
    }

    fn add(&mut self, workflow: &WorkflowSummary<'_>) {
        /// Sorting is rare, but a selection stays small.
        const SPARE: usize = 1000;
        self.total += 1;
        if let (Ok(head), Some((time, id))) = (&workflow.head, &self.cutoff)
            && (Reverse(head.saved_at), &workflow.workflow) > (*time, &WorkflowIdRef::from(id))
        {
            return;
        }
        // A list without a limit would hold the rows of all workflows.
        let row = if self.limit == usize::MAX { None } else { workflow.row.cloned().map(Box::new) };
        self.newest.push(SelectedWorkflow { row, ..workflow.into() });
        if self.newest.len() > self.limit.saturating_add(SPARE) {
            self.trim();
        }
    }

    /// Sorts the workflows and drops those beyond the limit.
    fn trim(&mut self) {
        self.newest.sort_by_cached_key(by_activity);
        let rest = self.newest.split_off(self.newest.len().min(self.limit));
        if !rest.is_empty() {
            let place =
                |last: &SelectedWorkflow| Some((Reverse(*last.saved_at.as_ref().ok()?), last.newest.workflow.clone()));
            self.cutoff = self.newest.last().and_then(place);
        }
        self.other_damaged.extend(rest.into_iter().filter(|workflow| workflow.saved_at.is_err()));
    }

    /// Returns those with the newest activity, in order.
    pub(crate) fn newest(&self) -> &[SelectedWorkflow] {
        &self.newest
    }

    /// Returns their ids.
    pub(crate) fn ids(&self) -> Vec<WorkflowId> {
        self.newest.iter().map(|workflow| workflow.newest.workflow.clone()).collect()
    }

    /// Returns their rows, in order. In a small store all were read to be selected, and are not read again.
    pub(crate) fn rows(&self, store: &Store) -> Result<Vec<WorkflowRow>, Failure> {
        let kept: Option<_> = self.newest.iter().map(|workflow| workflow.row.as_deref().cloned()).collect();
        Ok(kept.map_or_else(|| store.scan_these(&self.ids(), Extent::Newest), Ok)?)
    }
}

/// Orders by the newest activity. Damaged ones have no time; they come first, where they are seen.
fn by_activity(workflow: &SelectedWorkflow) -> (Option<Reverse<Timestamp>>, Handle) {
    (workflow.saved_at.as_ref().ok().copied().map(Reverse), workflow.newest.clone())
}

/// Selects the workflows with work left.
pub(crate) fn unfinished(session: &Session, store: &Store, limit: usize) -> Result<Selection, Failure> {
    Selection::scan(session, store, limit, is_unfinished)
}

/// Returns the live workflow with the newest activity, if any can be read.
pub(crate) fn newest(session: &Session, store: &Store) -> Option<WorkflowId> {
    let is_readable = |workflow: &WorkflowSummary<'_>| !workflow.archived && workflow.head.is_ok();
    Selection::scan(session, store, 1, is_readable).ok()?.ids().pop()
}

/// True if a workflow has work left. A damaged one may have some, so it counts.
pub(crate) fn is_unfinished(workflow: &WorkflowSummary<'_>) -> bool {
    !workflow.archived && workflow.head.as_ref().map_or(true, |head| head.status == WorkflowStatus::InProgress)
}

/// Returns the only unfinished workflow. If there are several, a person at a terminal picks one; elsewhere the failure lists
/// what to type.
pub(crate) fn only_unfinished(session: &Session, store: &Store, command: &str) -> Result<WorkflowId, Failure> {
    /// More are too many to look through.
    const MOST_CHOICES: usize = 200;
    let selection = unfinished(session, store, MOST_CHOICES)?;
    let (mut ids, total) = (selection.ids(), selection.total);
    if total == 1 {
        return Ok(ids.swap_remove(0));
    }
    if ids.is_empty() {
        let message = "no workflow is unfinished";
        return Err(Failure::new(ErrorCode::NothingToResume, message).help("`ckpt list` shows all workflows"));
    }
    if session.is_interactive() && session.env.var("TERM").is_none_or(|term| term != "dumb") {
        let rows = selection.rows(store)?;
        let question = format!("{total} workflows are unfinished. Which one?");
        if let Some(picked) = pick(&session.output, &question, &choices(&rows, session)) {
            let workflow = rows[picked].newest.workflow.clone();
            session.output.say(&format!("Picked: ckpt {command} {workflow}\n"));
            return Ok(workflow);
        }
    }
    Err(several_unfinished(store, command, &ids, total)?)
}

/// Returns a line for each workflow: its id, the time of its last save and its title, safe to show.
fn choices(rows: &[WorkflowRow], session: &Session) -> Vec<String> {
    let page = TextPage::new(false, None, Some(session.now()), false);
    let cells = |row: &WorkflowRow| {
        let header = row.header.as_ref().ok();
        let time = header.map_or_else(|| "damaged".to_owned(), |header| page.time(header.saved_at));
        let title = header.and_then(|header| header.title.as_deref()).unwrap_or_default();
        [row.newest.workflow.to_string(), time, page.escape(title)].map(Cell::new).into()
    };
    lines(&page, &["", "", ""].map(Column::new), &rows.iter().map(cells).collect::<Vec<_>>())
}

/// The failure that lists what to type. Of `total` workflows, `ids` are those with the newest activity.
fn several_unfinished(store: &Store, command: &str, ids: &[WorkflowId], total: usize) -> Result<Failure, Failure> {
    const MOST_LINES: usize = 10;
    let message = format!("{total} workflows are unfinished");
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
    Ok(failure.context("candidates", ids).context("total", total))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ckpt_model::format::Unusable;
    use ckpt_store::HeadSummary;

    /// Every 500th is damaged; times repeat.
    fn summary(name: &str, number: u64) -> WorkflowSummary<'_> {
        let minute = number * 7919 % 60;
        let hour = number * 104_729 % 24;
        let saved_at = Timestamp::parse(&format!("2026-01-01T{hour:02}:{minute:02}:00Z")).unwrap();
        let status = WorkflowStatus::Complete;
        let head = HeadSummary { saved_at, status, phase: None, pipeline: None, labels: Vec::new() };
        WorkflowSummary {
            workflow: WorkflowIdRef::from_directory(name).unwrap(),
            seq: 1,
            head: if number.is_multiple_of(500) { Err(&Unusable::Empty) } else { Ok(head) },
            archived: false,
            row: None,
        }
    }

    #[test]
    fn the_newest_are_those_of_a_full_sort() {
        let names: Vec<_> = (1..=9000).map(|number| (format!("w{number}"), number)).collect();
        let summaries: Vec<_> = names.iter().map(|(name, number)| summary(name, *number)).collect();
        let mut all: Vec<_> = summaries.iter().map(SelectedWorkflow::from).collect();
        all.sort_by_cached_key(by_activity);
        for limit in [0, 1, 5, 50, 2000, 9000, usize::MAX] {
            let mut selection =
                Selection { limit, newest: Vec::new(), cutoff: None, total: 0, other_damaged: Vec::new() };
            summaries.iter().for_each(|summary| selection.add(summary));
            selection.trim();
            let shown = limit.min(all.len());
            let handles = |workflows: &[SelectedWorkflow]| -> Vec<_> {
                workflows.iter().map(|workflow| workflow.newest.clone()).collect()
            };
            assert_eq!(handles(selection.newest()), handles(&all[..shown]), "{limit}");
            let damaged = all[shown..].iter().filter(|workflow| workflow.saved_at.is_err()).count();
            assert_eq!((selection.total, selection.other_damaged.len()), (9000, damaged), "{limit}");
        }
    }
}
