//! Selects and orders the workflows of a store.

use crate::cli::error::{ErrorCode, Failure};
use crate::core::store::WorkflowRow;
use crate::core::{Store, WorkflowId, WorkflowStatus};

/// Scans for workflows with work left, the newest activity first. A damaged one may have some, so it counts.
pub(crate) fn unfinished(store: &Store) -> Result<Vec<WorkflowRow>, Failure> {
    let mut rows = store.scan()?;
    rows.retain(is_unfinished);
    rows.sort_by(by_activity);
    Ok(rows)
}

pub(crate) fn is_unfinished(row: &WorkflowRow) -> bool {
    !row.archived && row.header.as_ref().map_or(true, |header| header.status == WorkflowStatus::InProgress)
}

/// Orders by the newest activity. Damaged ones have no time; they come first, where they are seen.
pub(crate) fn by_activity(a: &WorkflowRow, b: &WorkflowRow) -> std::cmp::Ordering {
    let key = |row: &WorkflowRow| row.header.as_ref().ok().map(|header| std::cmp::Reverse(header.saved_at));
    key(a).cmp(&key(b)).then_with(|| a.newest.cmp(&b.newest))
}

/// Returns the only unfinished workflow. If there are several, the failure lists what to type.
pub(crate) fn only_unfinished(store: &Store, command: &str) -> Result<WorkflowId, Failure> {
    const MOST_LINES: usize = 10;
    let rows = unfinished(store)?;
    let several = match rows.as_slice() {
        [] => {
            let message = "no workflow is unfinished";
            return Err(
                Failure::new(ErrorCode::NothingToResume, message).help("`ckpt list` shows all workflows")
            );
        }
        [one] => return Ok(one.newest.workflow.clone()),
        several => several,
    };
    let message = format!("{} workflows are unfinished", several.len());
    let mut failure = Failure::new(ErrorCode::Ambiguous, message);
    for row in several.iter().take(MOST_LINES) {
        let title = row.header.as_ref().ok().and_then(|header| header.title.as_deref());
        let title = title.map(|title| format!("  # {title}")).unwrap_or_default();
        failure = failure.help(format!("ckpt {command} {}{title}", row.newest.workflow));
    }
    if several.len() > MOST_LINES {
        failure = failure.help("ckpt list --unfinished");
    }
    let ids: Vec<_> = several.iter().map(|row| row.newest.workflow.as_str()).collect();
    Err(failure.context("candidates", ids))
}
