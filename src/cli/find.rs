//! Finding a workflow by words: its title, or the id that another system gave to an imported checkpoint.
//!
//! Only commands that read do this. An exact match is taken and named on stderr; everything else is offered, never guessed.
//! An id that exists is looked up first, so the search costs nothing where it is not needed.

use std::collections::HashSet;
use std::path::Path;
use std::str::FromStr;

use super::error::{ErrorCode, Failure};
use super::escape;
use super::session::Session;
use super::suggest::selectors;
use ckpt_model::format::Header;
use ckpt_model::selector::{SelectorError, Which};
use ckpt_model::text::shell_word;
use ckpt_model::{Handle, Selector, WorkflowId};
use ckpt_store as store;
use ckpt_store::Store;
use ckpt_store::{Entry, Error, WorkflowRow};

/// Where the path of a plan is in the state, natively saved or imported.
const PLAN_PATHS: [&str; 4] =
    ["/plan_path", "/claude-plan/plan_path", "/claude-dir/workflow_state/plan_path", "/workflow_state/plan_path"];

/// How many matches are offered.
const MOST_OFFERED: usize = 10;

/// The text that names a checkpoint for a command that reads: a selector, or words.
#[derive(Debug, Clone)]
pub(crate) struct Query {
    text: String,
    selector: Result<Selector, SelectorError>,
}

impl FromStr for Query {
    type Err = SelectorError;

    /// Refuses what is neither a selector nor words. A label or the path of a plan are words too; what begins with a number
    /// is rather a selector in another notation.
    fn from_str(text: &str) -> Result<Self, SelectorError> {
        let selector = text.parse();
        let is_other_notation = !text.starts_with(char::is_alphabetic) && !selectors(text, false).is_empty();
        let is_words = text.contains(char::is_alphabetic) && !is_other_notation;
        match selector {
            Err(error) if !is_words => Err(error),
            selector => Ok(Self { text: text.to_owned(), selector }),
        }
    }
}

impl Query {
    /// Returns the selector; words are none.
    pub(crate) fn selector(&self) -> Result<&Selector, Failure> {
        self.selector.as_ref().map_err(|error| error.clone().into())
    }
}

impl Session {
    /// Loads the checkpoint that a user named. `command` is offered for workflows that match in part.
    pub(crate) fn find<T>(
        &self,
        store: &Store,
        query: &Query,
        command: &str,
        load: impl Fn(&Selector) -> store::Result<T>,
    ) -> Result<T, Failure> {
        let failure = match &query.selector {
            Ok(selector) => match load(selector) {
                Err(error @ Error::NoSuchWorkflow { .. }) => Failure::from(error),
                loaded => return Ok(loaded?),
            },
            Err(error) => {
                let meant = selectors(&query.text, false).into_iter().map(|meant| format!("ckpt {command} {meant}"));
                meant.fold(error.clone().into(), Failure::instead)
            }
        };
        let rows = store.scan()?;
        let wanted = plain(&query.text);
        let titled: Vec<&WorkflowRow> = rows.iter().filter(|row| has_title(row, &wanted)).collect();
        let found = match titled[..] {
            [row] => Some(Selector { workflow: row.newest.workflow.clone(), which: Which::Newest }),
            [] => foreign_checkpoint(store, &rows, &query.text)?,
            _ => None,
        };
        if let Some(found) = found {
            if !self.output.is_quiet() {
                let text = escape::inline(&query.text);
                self.output.say(&format!("Found {found} by \"{text}\"\n"));
            }
            return Ok(load(&found)?);
        }
        let partly = || matching(store, &rows, &wanted).collect();
        let offered: Vec<&WorkflowRow> = if titled.is_empty() { partly() } else { titled };
        Err(offer(failure, &query.text, command, &offered))
    }
}

impl Session {
    /// Finds the workflow that a user named, for a command that needs no checkpoint of it.
    pub(crate) fn find_workflow(&self, store: &Store, query: &Query, command: &str) -> Result<WorkflowId, Failure> {
        let Selector { workflow, which } = self.find(store, query, command, |selector| {
            Ok(Selector { workflow: store.resolve_workflow(&selector.workflow)?, which: selector.which })
        })?;
        // A foreign id names a checkpoint, but the workflow is what was asked for.
        let names_a_checkpoint = query.selector.as_ref().is_ok_and(|given| given.which != Which::Newest);
        if which != Which::Newest && names_a_checkpoint {
            let message = format!("`{}` is a checkpoint, not a workflow", query.text);
            return Err(Failure::new(ErrorCode::Usage, message).help(format!("ckpt {command} {workflow}")));
        }
        Ok(workflow)
    }
}

/// Returns the workflows that match a text in part: title, id, label, pipeline or plan path.
pub(crate) fn matching_workflows(store: &Store, text: &str) -> Result<HashSet<WorkflowId>, Failure> {
    let wanted = plain(text);
    let rows = store.scan()?;
    Ok(matching(store, &rows, &wanted).map(|row| row.newest.workflow.clone()).collect())
}

fn matching<'r>(store: &'r Store, rows: &'r [WorkflowRow], wanted: &'r str) -> impl Iterator<Item = &'r WorkflowRow> {
    rows.iter().filter(move |row| matches(row, wanted) || has_plan(store, row, wanted))
}

/// True if the state names a plan with this text in its path.
fn has_plan(store: &Store, row: &WorkflowRow, wanted: &str) -> bool {
    let Ok(checkpoint) = store.load_content(row.newest.clone()) else { return false };
    let Ok(state) = checkpoint.content.state.to_value() else { return false };
    let mut plans = PLAN_PATHS.iter().filter_map(|pointer| state.pointer(pointer)?.as_str());
    !wanted.is_empty() && plans.any(|plan| plain(plan).contains(wanted))
}

/// Offers a command for each workflow.
fn offer(failure: Failure, text: &str, command: &str, rows: &[&WorkflowRow]) -> Failure {
    if rows.is_empty() {
        return failure;
    }
    let text = escape::inline(text);
    let mut failure = if rows.len() == 1 {
        Failure::new(ErrorCode::NoSuchWorkflow, format!("there is no workflow `{text}`; one contains it"))
    } else {
        let message = format!("there is no workflow `{text}`; {} contain it", rows.len());
        Failure::new(ErrorCode::Ambiguous, message)
    };
    for row in rows.iter().take(MOST_OFFERED) {
        let title = row.header.as_ref().ok().and_then(|header| header.title.as_deref());
        let title = title.map(|title| format!("  # {}", escape::inline(title))).unwrap_or_default();
        failure = failure.help(format!("ckpt {command} {}{title}", row.newest.workflow));
    }
    if rows.len() > MOST_OFFERED {
        failure = failure.help(format!("ckpt list --match {}", shell_word(&text)));
    }
    let ids: Vec<_> = rows.iter().map(|row| row.newest.workflow.as_str()).collect();
    failure.context("candidates", ids)
}

/// Finds an imported checkpoint by the name of its file, which in other systems is its id.
fn foreign_checkpoint(store: &Store, rows: &[WorkflowRow], text: &str) -> store::Result<Option<Selector>> {
    // Every checkpoint is read, so words and short names are not searched for.
    if text.len() < 8 || !text.contains(|c: char| c.is_ascii_digit()) || text.contains(' ') {
        return Ok(None);
    }
    for row in rows {
        for checkpoint in store.scan_newest(&row.newest.workflow, usize::MAX)? {
            let live = match &checkpoint.entry {
                Ok(Entry::Checkpoint(header)) => Some(header),
                _ => None,
            };
            if checkpoint.archived.as_ref().or(live).is_some_and(|header| has_foreign_id(header, text)) {
                let Handle { workflow, seq, .. } = checkpoint.handle;
                return Ok(Some(Selector { workflow, which: Which::Number(seq) }));
            }
        }
    }
    Ok(None)
}

fn has_foreign_id(header: &Header, text: &str) -> bool {
    let source = header.imported.as_ref().map(|imported| Path::new(&imported.source));
    source.is_some_and(|path| [path.file_stem(), path.file_name()].contains(&Some(text.as_ref())))
}

fn has_title(row: &WorkflowRow, wanted: &str) -> bool {
    let title = row.header.as_ref().ok().and_then(|header| header.title.as_deref());
    title.is_some_and(|title| plain(title) == wanted)
}

fn matches(row: &WorkflowRow, wanted: &str) -> bool {
    let contains = |text: &str| !wanted.is_empty() && plain(text).contains(wanted);
    if contains(row.newest.workflow.as_str()) {
        return true;
    }
    let Ok(header) = &row.header else { return false };
    let texts = header.title.iter().chain(&header.pipeline).chain(&header.labels);
    texts.into_iter().any(|text| contains(text))
}

/// Returns a text without case and spacing.
fn plain(text: &str) -> String {
    text.to_lowercase().split_whitespace().collect()
}
