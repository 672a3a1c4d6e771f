//! Parts that several pages share.

use maud::{Markup, html};

use super::View;
use ckpt_model::Timestamp;
use ckpt_model::span::{ago, humane};

/// Longer stored texts are cut.
const MAX_TEXT: usize = 4000;

/// Returns stored text, cut if it is very long.
pub(super) fn cut(text: &str) -> Markup {
    match text.char_indices().nth(MAX_TEXT) {
        None => html! { (text) },
        Some((end, _)) => html! { (text[..end]) span.cut { " … cut, " (text.len()) " bytes in all" } },
    }
}

/// Returns a time: relative, with the absolute one on hover.
pub(super) fn time(view: &View, time: Option<Timestamp>) -> Markup {
    let Some(time) = time else { return html! { span.dim { "–" } } };
    let age = u64::try_from(view.now.seconds_since(time));
    let words = age.map_or_else(|_| "in the future".to_owned(), ago);
    html! { time datetime=(time) title=(time) { (words) } }
}

/// Returns a duration, or a dash.
pub(super) fn duration(seconds: Option<u64>) -> Markup {
    match seconds {
        Some(seconds) => html! { span title={ (seconds) " seconds" } { (humane(seconds)) } },
        None => html! { span.dim { "–" } },
    }
}

/// Returns a status as a badge. Its class is one of a fixed set, whatever the word is.
pub(super) fn badge(status: &str) -> Markup {
    html! { span class={ "badge " (class(status)) } { (words(status)) } }
}

/// Returns the class of a status, a verdict or a severity.
pub(super) fn class(status: &str) -> &'static str {
    match status {
        "complete" | "ready" | "done" | "unchanged" | "good" => "good",
        "in_progress" | "running" | "confirm" | "advice" | "changed" => "open",
        "failed" | "blocked" | "blocker" | "missing" | "damaged" => "bad",
        _ => "quiet",
    }
}

/// `in_progress` as people write it.
pub(super) fn words(status: &str) -> String {
    status.replace('_', " ")
}

/// Returns a command with a button that copies it. Without the script it can be selected.
pub(super) fn command(line: &str) -> Markup {
    html! {
        span.command {
            code { (line) }
            button.copy type="button" data-copy=(line) aria-label={ "Copy " (line) } { "Copy" }
        }
    }
}

/// Returns a link, or the same text if there is nothing to link to.
pub(super) fn link(address: Option<String>, text: &str) -> Markup {
    match address {
        Some(address) => html! { a href=(address) { (text) } },
        None => html! { (text) },
    }
}

/// Returns a bar from 0 to 100 per cent.
pub(super) fn meter(percent: u64, label: &str) -> Markup {
    html! {
        svg.meter viewBox="0 0 100 8" preserveAspectRatio="none" role="img" aria-label=(label) {
            rect.track width="100" height="8" rx="4" {}
            rect.fill width=(percent.min(100)) height="8" rx="4" {}
        }
    }
}

/// Returns warnings.
pub(super) fn warnings(warnings: &[String]) -> Markup {
    html! {
        @for warning in warnings {
            p.notice.open role="status" { strong { "Warning: " } (cut(warning)) }
        }
    }
}

/// Returns a table that scrolls on its own. A heading that begins with `#` is of a column of numbers.
pub(super) fn table(label: &str, headings: &[&str], rows: &Markup) -> Markup {
    html! {
        div.scroll tabindex="0" role="group" aria-label=(label) {
            table {
                thead { tr {
                    @for heading in headings {
                        @let name = heading.trim_start_matches('#');
                        th class=[(name != *heading).then_some("number")] scope="col" { (name) }
                    }
                } }
                tbody { (rows) }
            }
        }
    }
}
