//! The pages of a store: what its commands would answer, rendered. `report` and `ui` share it.

use maud::Markup;

use super::commands::{diff, show, status};
use super::error::Failure;
use super::pages::workflow::{LOG_ROWS, WorkflowPage};
use super::pages::workflows::Query;
use super::pages::{self, View};
use super::session::Session;
use super::views::log::LogReport;
use ckpt_model::stats::RunFilter;
use ckpt_model::{Handle, WorkflowId};
use ckpt_store::observe::Selected;
use ckpt_store::store_stats;

/// Renders the page of all workflows, or of all archived ones.
pub(crate) fn workflows(session: &Session, view: &View, query: &Query) -> Result<Markup, Failure> {
    let store = session.store()?;
    let warning = session.config_warning(&store);
    Ok(pages::workflows::workflows(view, &store.scan()?, warning.as_slice(), query))
}

/// Renders the page of a workflow.
pub(crate) fn workflow(session: &Session, view: &View, id: &WorkflowId) -> Result<Markup, Failure> {
    let workspace = session.workspace()?;
    let store = &workspace.store;
    let selected = Selected::newest(store, &store.resolve_workflow(id)?)?;
    let newest = Handle::new(id, store.head_number(id)?.unwrap_or_default());
    let log = LogReport::read(store, &newest, LOG_ROWS)?;
    let finished = status::finished(&workspace, &selected.checkpoint)?;
    let (judgement, status) = status::report(session, &workspace, selected, &finished);
    Ok(pages::workflow::workflow(view, &WorkflowPage { judgement: &judgement, status: &status, log: &log }))
}

/// Renders the page of a checkpoint of the main line.
pub(crate) fn checkpoint(session: &Session, view: &View, handle: &Handle) -> Result<Markup, Failure> {
    Ok(pages::checkpoint::checkpoint(view, &show::at(&session.store()?, handle)?))
}

/// Renders the page of the difference of two checkpoints of main lines.
pub(crate) fn diff(session: &Session, view: &View, from: &Handle, to: &Handle) -> Result<Markup, Failure> {
    let store = session.store()?;
    let [from, to] = [store.load_content(from.clone())?, store.load_content(to.clone())?];
    Ok(pages::diff::diff(view, &diff::difference(&store, &from, &to)?))
}

/// Renders the page of the figures.
pub(crate) fn analytics(session: &Session, view: &View) -> Result<Markup, Failure> {
    let (_, figures) = store_stats::of_store(&session.store()?, &RunFilter::default(), &mut |_| {})?;
    Ok(pages::analytics::analytics(view, &figures))
}
