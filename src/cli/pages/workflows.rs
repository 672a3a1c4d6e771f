//! The page of all workflows: a list, filtered, sorted and in pages.

use std::cmp::{Ordering, Reverse};

use maud::{Markup, html};

use super::View;
use super::links::encoded;
use super::parts::{badge, command, cut, link, meter, time, warnings, words};
use ckpt_model::WorkflowStatus;
use ckpt_model::format::Header;
use ckpt_model::phase::PhaseId;
use ckpt_store::WorkflowRow;

/// The rows of one page.
const ROWS: usize = 50;

/// The part of the list that is asked for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Query {
    /// Text in the title, id, labels, pipeline, phase or note.
    pub(crate) text: String,
    pub(crate) status: String,
    pub(crate) sort: String,
    /// Counted from 1.
    pub(crate) page: usize,
    pub(crate) archived: bool,
}

const STATUSES: [WorkflowStatus; 4] =
    [WorkflowStatus::InProgress, WorkflowStatus::Failed, WorkflowStatus::Complete, WorkflowStatus::Abandoned];
const SORTS: [(&str, &str); 3] = [("", "newest activity"), ("id", "id"), ("title", "title")];

/// Renders the page from the rows of a store.
pub(crate) fn workflows(view: &View, rows: &[WorkflowRow], problems: &[String], query: &Query) -> Markup {
    let all = || rows.iter().filter(|row| row.archived == query.archived);
    let total = all().count();
    let mut found: Vec<&Header> = all().filter_map(|row| row.header.as_ref().ok()).collect();
    found.retain(|header| query.selects(header));
    found.sort_by(|a, b| query.order(a, b));
    let pages = found.len().div_ceil(ROWS).max(1);
    let page = query.page.clamp(1, pages);
    let shown =
        if view.links.is_live() { found.chunks(ROWS).nth(page - 1).unwrap_or_default() } else { found.as_slice() };
    html! {
        header.head {
            h1 { @if query.archived { "Archived workflows" } @else { "Workflows" } }
            p.dim { (found.len()) " of " (total) }
        }
        (warnings(problems))
        @if view.links.is_live() { (form(query)) }
        (damaged(all()))
        @if total == 0 {
            div.empty {
                @if query.archived { p { "Nothing is archived." } }
                @else { p { "There is no workflow yet. Begin one with:" } (command(crate::cli::words::FIRST_COMMAND)) }
            }
        } @else if found.is_empty() {
            div.empty { p { "No workflow matches." } }
        } @else {
            (table(view, shown, query.archived))
            @if view.links.is_live() && pages > 1 { (pager(query, page, pages)) }
        }
        @if view.token.is_some() {
            section.actions aria-labelledby="retention" {
                h2 #retention { "Retention" }
                div.forms { (super::action::form(view, "cleanup", "", "", None, "Clean up")) }
            }
        }
    }
}

impl Query {
    fn selects(&self, header: &Header) -> bool {
        let Header { workflow, title, pipeline, phase, note, labels, .. } = header;
        let wanted = self.text.to_lowercase();
        let texts = title.iter().chain(pipeline).chain(note).chain(labels).map(String::as_str);
        let mut texts = texts.chain([workflow.as_str()]).chain(phase.as_ref().map(PhaseId::as_str));
        (self.status.is_empty() || status(header).word() == self.status)
            && (wanted.is_empty() || texts.any(|text| text.to_lowercase().contains(&wanted)))
    }

    fn order(&self, a: &Header, b: &Header) -> Ordering {
        let title = |header: &Header| header.title.as_deref().unwrap_or_default().to_lowercase();
        let ordering = match self.sort.as_str() {
            "id" => Ordering::Equal,
            "title" => title(a).cmp(&title(b)),
            _ => Reverse(a.saved_at).cmp(&Reverse(b.saved_at)),
        };
        ordering.then_with(|| a.workflow.cmp(&b.workflow))
    }

    /// Returns the address of another page of the same list.
    fn address(&self, page: usize) -> String {
        let Self { text, status, sort, archived, .. } = self;
        let archived = if *archived { "&archived=1" } else { "" };
        format!("/?q={}&status={}&sort={}&page={page}{archived}", encoded(text), encoded(status), encoded(sort))
    }
}

/// Returns the status that is shown: work in progress with a failed phase counts as failed.
fn status(header: &Header) -> WorkflowStatus {
    match header.status {
        WorkflowStatus::InProgress if header.failed().next().is_some() => WorkflowStatus::Failed,
        status => status,
    }
}

fn form(query: &Query) -> Markup {
    html! {
        form.filters method="get" action="/" role="search" {
            label { span { "Search" } input type="search" name="q" value=(query.text) autocomplete="off"; }
            label {
                span { "Status" }
                select name="status" {
                    option value="" { "all" }
                    @for word in STATUSES.map(WorkflowStatus::word) {
                        option value=(word) selected[query.status == word] { (words(word)) }
                    }
                }
            }
            label {
                span { "Sort by" }
                select name="sort" {
                    @for (value, words) in SORTS { option value=(value) selected[query.sort == value] { (words) } }
                }
            }
            label.check { input type="checkbox" name="archived" value="1" checked[query.archived]; span { "Archived" } }
            button type="submit" { "Show" }
        }
    }
}

fn table(view: &View, rows: &[&Header], archived: bool) -> Markup {
    let rows = html! {
        @for header in rows {
            @let workflow = header.workflow.as_str();
            tr {
                th scope="row" { (link(view.links.workflow(workflow), workflow)) }
                td.wide { (cut(header.title.as_deref().unwrap_or_default())) @for label in &header.labels { " " span.label { (label) } } }
                td { (badge(if archived { "archived" } else { status(header).word() })) }
                td { (header.phase.as_ref().map(PhaseId::as_str).unwrap_or_default()) }
                td { (progress(header)) }
                td.nowrap { (time(view, Some(header.saved_at))) }
            }
        }
    };
    super::parts::table("Workflows", &["Workflow", "Title", "Status", "Phase", "Progress", "Saved"], &rows)
}

fn progress(header: &Header) -> Markup {
    let progress = header.progress();
    let percent = |total: usize| (progress.done * 100).checked_div(total).unwrap_or_default();
    let words = match progress.total {
        Some(total) => format!("{} of {total}", progress.done),
        None => format!("{} done", progress.done),
    };
    html! { span.progress { @if let Some(total) = progress.total { (meter(percent(total) as u64, &words)) } span.nowrap { (words) } } }
}

fn damaged<'a>(rows: impl Iterator<Item = &'a WorkflowRow>) -> Markup {
    let damaged = rows.filter_map(|row| Some((&row.newest, row.header.as_ref().err()?)));
    html! {
        @for (handle, why) in damaged.take(ROWS) {
            div.notice.bad role="alert" {
                p { strong { (handle) } " cannot be read: " (cut(&why.to_string())) }
                (command("ckpt verify"))
            }
        }
    }
}

fn pager(query: &Query, page: usize, pages: usize) -> Markup {
    html! {
        nav.pager aria-label="Pages" {
            @if page > 1 { a rel="prev" href=(query.address(page - 1)) { "Newer" } }
            span { "Page " (page) " of " (pages) }
            @if page < pages { a rel="next" href=(query.address(page + 1)) { "Older" } }
        }
    }
}
