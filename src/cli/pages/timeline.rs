//! The phases of a workflow on a time axis.

use maud::{Markup, html};

use super::parts::{class, words};
use super::{Doc, View};
use crate::core::Timestamp;
use crate::core::span::humane;

const WIDTH: i64 = 1000;
const ROW: usize = 26;
/// The most phases that are drawn; the table below has all of them.
const MAX_ROWS: usize = 60;

/// Draws a bar for each phase that has times, from the `phases` of a checkpoint. Nothing if none has.
pub(super) fn timeline(view: &View, checkpoint: Doc<'_>) -> Markup {
    let is_open = checkpoint.word("status") == "in_progress";
    let now = if is_open { Some(view.now) } else { checkpoint.time("saved_at") };
    let bars: Vec<Bar<'_>> =
        checkpoint.list("phases").filter_map(|phase| Bar::new(phase, now)).take(MAX_ROWS).collect();
    let (Some(first), Some(last)) =
        (bars.iter().map(|bar| bar.from).min(), bars.iter().map(|bar| bar.to).max())
    else {
        return html! {};
    };
    let span = last.seconds_since(first).max(1);
    let place = |time: Timestamp| time.seconds_since(first) * WIDTH / span;
    let height = bars.len() * ROW + 4;
    html! {
        figure.timeline {
            figcaption { "From " (first) " to " (last) ", " (humane(u64::try_from(span).unwrap_or_default())) }
            div.rows {
                div.labels aria-hidden="true" { @for bar in &bars { span title=(bar.label()) { (bar.id) } } }
                svg viewBox={ "0 0 " (WIDTH) " " (height) } preserveAspectRatio="none" role="img"
                    aria-label={ "Timeline of " (bars.len()) " phases" } {
                    @for (index, bar) in bars.iter().enumerate() {
                        @let width = (place(bar.to) - place(bar.from)).max(4);
                        rect.track x="0" y=(index * ROW + 4) width=(WIDTH) height="16" {}
                        rect class=(class(bar.status)) x=(place(bar.from).min(WIDTH - 4)) y=(index * ROW + 4)
                            width=(width) height="16" { title { (bar.label()) } }
                    }
                }
            }
        }
    }
}

struct Bar<'a> {
    id: &'a str,
    status: &'a str,
    attempts: u64,
    from: Timestamp,
    to: Timestamp,
}

impl<'a> Bar<'a> {
    fn new(phase: Doc<'a>, now: Option<Timestamp>) -> Option<Self> {
        let ended = phase.time("completed_at");
        let from = phase.time("started_at").or(ended)?;
        let to = ended.or(now)?.max(from);
        Some(Self {
            id: phase.word("id"),
            status: phase.word("status"),
            attempts: phase.count("attempts"),
            from,
            to,
        })
    }

    fn label(&self) -> String {
        let took = humane(u64::try_from(self.to.seconds_since(self.from)).unwrap_or_default());
        let again = if self.attempts > 1 { format!(", attempt {}", self.attempts) } else { String::new() };
        format!("{}: {}, {took}{again}", self.id, words(self.status))
    }
}
