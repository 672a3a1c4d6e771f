//! The phases of a workflow on a time axis.

use maud::{Markup, html};

use super::View;
use super::parts::{class, words};
use ckpt_model::checkpoint::Checkpoint;
use ckpt_model::phase::Phase;
use ckpt_model::span::humane;
use ckpt_model::{Timestamp, WorkflowStatus};

const WIDTH: i64 = 1000;
const ROW: usize = 26;
/// The most phases that are drawn; the table below has all of them.
const MAX_ROWS: usize = 60;

/// Draws a bar for each phase of a checkpoint that has times. Nothing if none has.
pub(super) fn timeline(view: &View, Checkpoint { content, saved_at, .. }: &Checkpoint) -> Markup {
    let now = if content.status == WorkflowStatus::InProgress { view.now } else { *saved_at };
    let bars: Vec<Bar<'_>> = content.phases.iter().filter_map(|phase| Bar::new(phase, now)).take(MAX_ROWS).collect();
    let (Some(first), Some(last)) = (bars.iter().map(|bar| bar.from).min(), bars.iter().map(|bar| bar.to).max()) else {
        return html! {};
    };
    let span = last.seconds_since(first).max(1);
    let place = |time: Timestamp| time.seconds_since(first) * WIDTH / span;
    let height = bars.len() * ROW + 4;
    html! {
        figure.timeline {
            figcaption { "From " (first) " to " (last) ", " (humane(u64::try_from(span).unwrap_or_default())) }
            div.rows {
                div.labels aria-hidden="true" { @for bar in &bars { span title=(bar.label()) { (bar.phase.id) } } }
                svg viewBox={ "0 0 " (WIDTH) " " (height) } preserveAspectRatio="none" role="img"
                    aria-label={ "Timeline of " (bars.len()) " phases" } {
                    @for (index, bar) in bars.iter().enumerate() {
                        @let width = (place(bar.to) - place(bar.from)).max(4);
                        rect.track x="0" y=(index * ROW + 4) width=(WIDTH) height="16" {}
                        rect class=(class(bar.phase.status.word())) x=(place(bar.from).min(WIDTH - 4)) y=(index * ROW + 4)
                            width=(width) height="16" { title { (bar.label()) } }
                    }
                }
            }
        }
    }
}

struct Bar<'a> {
    phase: &'a Phase,
    from: Timestamp,
    to: Timestamp,
}

impl<'a> Bar<'a> {
    fn new(phase: &'a Phase, now: Timestamp) -> Option<Self> {
        let from = phase.started_at.or(phase.completed_at)?;
        Some(Self { phase, from, to: phase.completed_at.unwrap_or(now).max(from) })
    }

    fn label(&self) -> String {
        let took = humane(u64::try_from(self.to.seconds_since(self.from)).unwrap_or_default());
        let Phase { id, status, attempts, .. } = self.phase;
        let again = if *attempts > 1 { format!(", attempt {attempts}") } else { String::new() };
        format!("{id}: {}, {took}{again}", words(status.word()))
    }
}
