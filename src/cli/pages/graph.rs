//! The lines between the checkpoints of a log: each continues its parents, and a rollback takes up an earlier one.

use std::collections::HashMap;

use maud::{Markup, html};

use super::Doc;

/// The height of a row of the log; the style sheet has the same.
const ROW: usize = 44;
const X: usize = 56;
/// The place of side checkpoints, beside the main line.
const SIDE_X: usize = 40;
/// The most lines to earlier checkpoints that are drawn beside each other.
const MAX_LANES: usize = 4;

/// Draws a dot for each entry, the newest first, with a line to its parent, an arc to the checkpoint that it copies or
/// merges, and a short line to what it continues of another workflow.
pub(super) fn graph(entries: &[Doc<'_>]) -> Markup {
    let rows: HashMap<&str, usize> =
        entries.iter().enumerate().map(|(row, entry)| (entry.word("handle"), row)).collect();
    let y = |row: usize| row * ROW + ROW / 2;
    let x = |row: usize| if entries[row].word("handle").contains('@') { SIDE_X } else { X };
    let mut arcs = Vec::new();
    for (row, entry) in entries.iter().enumerate() {
        let others = entry.words("parents").into_iter().skip(1).chain(entry.text("copy_of"));
        arcs.extend(
            others
                .filter_map(|other| rows.get(other))
                .filter(|other| **other > row)
                .map(|other| (row, *other)),
        );
    }
    let height = entries.len() * ROW;
    html! {
        svg.graph width="64" height=(height) viewBox={ "0 0 64 " (height) } aria-hidden="true" {
            @for (row, entry) in entries.iter().enumerate() {
                @let parent = entry.words("parents").first().and_then(|parent| rows.get(parent)).copied();
                @if let Some(parent) = parent.filter(|parent| *parent > row) {
                    line.edge x1=(x(row)) y1=(y(row)) x2=(x(parent)) y2=(y(parent)) {}
                } @else if parent.is_none() && row + 1 == entries.len() && entry.list("parents").len() > 0 {
                    line.edge x1=(X) y1=(y(row)) x2=(X) y2=(height) {}
                }
            }
            @for (lane, (from, to)) in arcs.iter().enumerate() {
                @let beside = X - 12 - 10 * (lane % MAX_LANES);
                path.edge.back d={ "M" (x(*from)) " " (y(*from)) " C" (beside) " " (y(*from)) " " (beside) " " (y(*to)) " " (x(*to)) " " (y(*to)) } {}
            }
            @for (row, entry) in entries.iter().enumerate() {
                @if entry.text("merged").or(entry.text("forked_from")).is_some_and(|other| !rows.contains_key(other)) {
                    line.edge.elsewhere x1=(x(row)) y1=(y(row)) x2=(x(row) - 24) y2=(y(row) + ROW / 2) {}
                }
            }
            @for (row, entry) in entries.iter().enumerate() {
                circle class={ "dot " (kind(*entry)) } cx=(x(row)) cy=(y(row)) r="5" {}
            }
        }
    }
}

/// Returns the class of the dot of an entry.
fn kind(entry: Doc<'_>) -> &'static str {
    if entry.text("error").is_some() || entry.word("kind") == "damaged" {
        "bad"
    } else if entry.word("kind") != "checkpoint" || entry.flag("archived") {
        "quiet"
    } else if entry.word("status") == "complete" {
        "good"
    } else {
        "open"
    }
}
