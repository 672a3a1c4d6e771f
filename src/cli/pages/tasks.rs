//! The tasks of a workflow as a graph of what waits for what.

use std::collections::HashMap;

use maud::{Markup, html};

use super::Doc;
use super::parts::{class, words};

/// More tasks than this are a list only.
const MAX_DRAWN: usize = 80;
const WIDTH: usize = 160;
const HEIGHT: usize = 30;
const GAP_X: usize = 50;
const GAP_Y: usize = 12;
/// The most characters of an id in its box; the whole is shown on hover.
const MAX_LABEL: usize = 20;

/// Draws the tasks of a checkpoint in columns: each stands behind those that it waits for. Nothing if none waits.
pub(super) fn tasks(checkpoint: Doc<'_>) -> Markup {
    let tasks: Vec<Doc<'_>> = checkpoint.list("tasks").take(MAX_DRAWN + 1).collect();
    let has_edges = tasks.iter().any(|task| task.list("depends_on").len() > 0);
    if !has_edges || tasks.len() > MAX_DRAWN {
        return html! {};
    }
    let index: HashMap<&str, usize> =
        tasks.iter().enumerate().rev().map(|(place, task)| (task.word("id"), place)).collect();
    let before = |place: usize| -> Vec<usize> {
        tasks[place].words("depends_on").iter().filter_map(|id| index.get(id)).copied().collect()
    };
    let columns = columns(tasks.len(), &before);
    let mut used = vec![0; columns.iter().max().map_or(0, |last| last + 1)];
    let mut places = Vec::new();
    for column in &columns {
        places.push((column * (WIDTH + GAP_X) + 2, used[*column] * (HEIGHT + GAP_Y) + 2));
        used[*column] += 1;
    }
    let width = used.len() * (WIDTH + GAP_X);
    let height = used.iter().max().copied().unwrap_or_default() * (HEIGHT + GAP_Y) + 4;
    let edges: Vec<(usize, usize)> =
        (0..tasks.len()).flat_map(|to| before(to).into_iter().map(move |from| (from, to))).collect();
    html! {
        div.scroll tabindex="0" role="group" aria-label="Graph of the tasks" {
            svg.tasks width=(width) height=(height) viewBox={ "0 0 " (width) " " (height) } role="img"
                aria-label={ (tasks.len()) " tasks and what they wait for" } {
                @for (from, to) in &edges {
                    @let (x1, y1) = (places[*from].0 + WIDTH, places[*from].1 + HEIGHT / 2);
                    @let (x2, y2) = (places[*to].0, places[*to].1 + HEIGHT / 2);
                    @let middle = x1.midpoint(x2);
                    path.edge d={ "M" (x1) " " (y1) " C" (middle) " " (y1) " " (middle) " " (y2) " " (x2) " " (y2) } {}
                }
                @for (task, (x, y)) in tasks.iter().zip(&places) {
                    g {
                        title { (task.word("id")) ": " (words(task.word("status"))) }
                        rect class={ "box " (class(task.word("status"))) } x=(x) y=(y) width=(WIDTH) height=(HEIGHT) rx="5" {}
                        text x=(x + 10) y=(y + 20) { (short(task.word("id"))) }
                    }
                }
            }
        }
    }
}

fn short(id: &str) -> String {
    match id.char_indices().nth(MAX_LABEL) {
        None => id.to_owned(),
        Some((end, _)) => format!("{}…", &id[..end]),
    }
}

/// Returns the column of each task: one more than the highest of those it waits for. A cycle, which no save makes, ends
/// after as many rounds as there are tasks.
fn columns(count: usize, before: &impl Fn(usize) -> Vec<usize>) -> Vec<usize> {
    let mut columns = vec![0; count];
    for _ in 0..count {
        let mut moved = false;
        for place in 0..count {
            let column = before(place).iter().map(|other| columns[*other] + 1).max().unwrap_or_default();
            if column > columns[place] && column < count {
                columns[place] = column;
                moved = true;
            }
        }
        if !moved {
            break;
        }
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::columns;

    #[test]
    fn a_task_stands_behind_those_it_waits_for_and_a_cycle_ends() {
        let edges = [vec![], vec![0], vec![0, 1], vec![]];
        assert_eq!(columns(4, &|place| edges[place].clone()), [0, 1, 2, 0]);
        let cycle = [vec![1], vec![0]];
        assert!(columns(2, &|place| cycle[place].clone()).iter().all(|column| *column < 2));
    }
}
