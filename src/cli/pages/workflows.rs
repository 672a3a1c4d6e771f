//! The page of all workflows: a list or a board, filtered, sorted and in pages.

use std::cmp::{Ordering, Reverse};

use maud::{Markup, html};

use super::links::encoded;
use super::parts::{badge, class, cut, link, meter, time, warnings};
use super::{Doc, View};

/// The rows of one page.
const ROWS: usize = 50;
/// The cards of one column of the board.
const CARDS: usize = 25;

/// The part of the list that is asked for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Query {
    /// Text in the title, id, labels, pipeline or phase.
    pub(crate) text: String,
    pub(crate) status: String,
    pub(crate) sort: String,
    /// Counted from 1.
    pub(crate) page: usize,
    pub(crate) board: bool,
    pub(crate) archived: bool,
}

/// The statuses, in the order of the board.
const STATUSES: [&str; 4] = ["in_progress", "failed", "complete", "abandoned"];
const SORTS: [(&str, &str); 4] =
    [("", "newest activity"), ("id", "id"), ("title", "title"), ("progress", "progress")];

/// Renders the page from the document of `list`.
pub(crate) fn workflows(view: &View, list: Doc<'_>, query: &Query) -> Markup {
    let mut rows: Vec<Doc<'_>> = list.list("workflows").filter(|row| query.selects(*row)).collect();
    rows.sort_by(|a, b| query.order(*a, *b));
    let pages = rows.len().div_ceil(ROWS).max(1);
    let page = query.page.clamp(1, pages);
    let shown: Vec<Doc<'_>> = if view.links.is_live() {
        rows.iter().skip((page - 1) * ROWS).take(ROWS).copied().collect()
    } else {
        rows.clone()
    };
    html! {
        header.head {
            h1 { @if query.archived { "Archived workflows" } @else { "Workflows" } }
            p.dim { (rows.len()) " of " (list.list("workflows").len()) }
        }
        (warnings(list))
        @if view.links.is_live() { (form(query)) }
        (damaged(list))
        @if list.list("workflows").len() == 0 {
            div.empty {
                @if query.archived { p { "Nothing is archived." } }
                @else {
                    p { "There is no workflow yet. Begin one with:" }
                    (super::parts::command(crate::cli::words::FIRST_COMMAND))
                }
            }
        } @else if rows.is_empty() {
            div.empty { p { "No workflow matches." } }
        } @else if query.board {
            (board(view, &rows))
        } @else {
            (table(view, &shown))
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
    fn selects(&self, row: Doc<'_>) -> bool {
        let wanted = self.text.to_lowercase();
        let fields = ["workflow", "title", "pipeline", "phase", "note"].map(|name| row.word(name));
        let matches = |text: &str| text.to_lowercase().contains(&wanted);
        (self.status.is_empty() || column(row) == self.status)
            && (wanted.is_empty()
                || fields.into_iter().any(matches)
                || row.words("labels").into_iter().any(matches))
    }

    fn order(&self, a: Doc<'_>, b: Doc<'_>) -> Ordering {
        let by_id = || a.word("workflow").cmp(b.word("workflow"));
        match self.sort.as_str() {
            "id" => by_id(),
            "title" => a.word("title").to_lowercase().cmp(&b.word("title").to_lowercase()).then_with(by_id),
            "progress" => Reverse(percent(a)).cmp(&Reverse(percent(b))).then_with(by_id),
            _ => b.time("saved_at").cmp(&a.time("saved_at")).then_with(by_id),
        }
    }

    /// Returns the address of the same question on another page.
    fn address(&self, page: usize, board: bool) -> String {
        let mut address = format!(
            "/?q={}&status={}&sort={}&page={page}",
            encoded(&self.text),
            encoded(&self.status),
            encoded(&self.sort)
        );
        for (set, part) in [(board, "&view=board"), (self.archived, "&archived=1")] {
            if set {
                address.push_str(part);
            }
        }
        address
    }
}

/// Returns the column of the board: work in progress with a failed phase counts as failed.
fn column<'a>(row: Doc<'a>) -> &'a str {
    match row.word("status") {
        "in_progress" if row.list("failed").len() > 0 => "failed",
        status => status,
    }
}

fn percent(row: Doc<'_>) -> u64 {
    row.count("done").saturating_mul(100).checked_div(row.count("total")).unwrap_or_default()
}

fn form(query: &Query) -> Markup {
    html! {
        form.filters method="get" action="/" role="search" {
            label { span { "Search" } input type="search" name="q" value=(query.text) autocomplete="off"; }
            label {
                span { "Status" }
                select name="status" {
                    option value="" { "all" }
                    @for status in STATUSES {
                        option value=(status) selected[query.status == status] { (super::parts::words(status)) }
                    }
                }
            }
            label {
                span { "Sort by" }
                select name="sort" {
                    @for (value, words) in SORTS { option value=(value) selected[query.sort == value] { (words) } }
                }
            }
            @if query.board { input type="hidden" name="view" value="board"; }
            label.check { input type="checkbox" name="archived" value="1" checked[query.archived]; span { "Archived" } }
            button type="submit" { "Show" }
            a.button href=(query.address(1, !query.board)) { @if query.board { "As a list" } @else { "As a board" } }
        }
    }
}

fn table(view: &View, rows: &[Doc<'_>]) -> Markup {
    html! {
        div.scroll tabindex="0" role="group" aria-label="Workflows" {
            table {
                thead { tr {
                    th scope="col" { "Workflow" } th scope="col" { "Title" } th scope="col" { "Status" }
                    th scope="col" { "Phase" } th scope="col" { "Progress" } th scope="col" { "Saved" }
                } }
                tbody {
                    @for row in rows {
                        tr {
                            th scope="row" { (link(view.links.workflow(row.word("workflow")), row.word("workflow"))) }
                            td.wide { (cut(row.word("title"))) @for label in row.words("labels") { " " span.label { (label) } } }
                            td { (badge(status(*row))) }
                            td { (row.word("phase")) }
                            td { (progress(*row)) }
                            td.nowrap { (time(view, row.time("saved_at"))) }
                        }
                    }
                }
            }
        }
    }
}

fn status<'a>(row: Doc<'a>) -> &'a str {
    if row.flag("archived") { "archived" } else { column(row) }
}

fn progress(row: Doc<'_>) -> Markup {
    let words = match row.number("total") {
        Some(total) => format!("{} of {total}", row.count("done")),
        None => format!("{} done", row.count("done")),
    };
    html! { span.progress { @if row.number("total").is_some() { (meter(percent(row), &words)) } span.nowrap { (words) } } }
}

fn board(view: &View, rows: &[Doc<'_>]) -> Markup {
    html! {
        div.board {
            @for status in STATUSES {
                @let cards: Vec<&Doc<'_>> = rows.iter().filter(|row| column(**row) == status).collect();
                section {
                    h2 class=(class(status)) { (super::parts::words(status)) " " span.dim { (cards.len()) } }
                    @for card in cards.iter().take(CARDS) {
                        article.card {
                            h3 { (link(view.links.workflow(card.word("workflow")), card.word("workflow"))) }
                            @if let Some(title) = card.text("title") { p { (cut(title)) } }
                            p.dim { @if let Some(phase) = card.text("phase") { (phase) " · " } (time(view, card.time("saved_at"))) }
                            (progress(**card))
                        }
                    }
                    @if cards.len() > CARDS { p.dim { "and " (cards.len() - CARDS) " more" } }
                }
            }
        }
    }
}

fn damaged(list: Doc<'_>) -> Markup {
    html! {
        @for row in list.list("damaged").take(ROWS) {
            div.notice.bad role="alert" {
                p { strong { (row.word("handle")) } " cannot be read: " (cut(row.text("message").unwrap_or(row.word("problem")))) }
                (super::parts::command("ckpt verify"))
            }
        }
    }
}

fn pager(query: &Query, page: usize, pages: usize) -> Markup {
    html! {
        nav.pager aria-label="Pages" {
            @if page > 1 { a rel="prev" href=(query.address(page - 1, false)) { "Newer" } }
            span { "Page " (page) " of " (pages) }
            @if page < pages { a rel="next" href=(query.address(page + 1, false)) { "Older" } }
        }
    }
}
