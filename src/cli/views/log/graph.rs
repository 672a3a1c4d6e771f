//! Draws a history as a graph of text, as `git log --graph` does: the newest row first, parents below their children.

/// The most lines of history beside each other. Parents of a row beyond them are not drawn.
const MOST_LANES: usize = 24;

/// One row to draw.
#[derive(Debug, Clone)]
pub(super) struct GraphRow {
    pub(super) number: u64,
    /// The numbers that it continues: none for a beginning, several for a merge. They are lower than its own.
    pub(super) parents: Vec<u64>,
    /// The character that stands for it.
    pub(super) mark: char,
}

/// The drawing of one row.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Drawing {
    /// The line of the row itself, with its mark.
    pub(super) line: String,
    /// The lines that connect it with the row below.
    pub(super) connectors: Vec<String>,
}

/// Draws rows, which are in descending order.
pub(super) fn draw(rows: &[GraphRow]) -> Vec<Drawing> {
    let mut graph = Graph::default();
    rows.iter().map(|row| graph.draw(row)).collect()
}

/// The lanes of the graph, from left to right: the number that comes next in each, or none if the lane is free. No number
/// is in two lanes.
#[derive(Debug, Default)]
struct Graph {
    lanes: Vec<Option<u64>>,
}

impl Graph {
    fn draw(&mut self, row: &GraphRow) -> Drawing {
        let lane = self.lane_of(row.number).or_else(|| self.free_lane(0));
        let Some(lane) = lane else {
            return Drawing { line: format!("{} {}", self.bars(), row.mark), connectors: Vec::new() };
        };
        self.lanes[lane] = Some(row.number);
        let line = self.line(|place, _| (place == 2 * lane).then_some(row.mark));
        let mut connectors = Vec::new();
        let mut parents = row.parents.clone();
        parents.retain(|parent| *parent < row.number);
        parents.dedup();
        let mut parents = parents.into_iter();
        let first = parents.next();
        for parent in parents {
            connectors.extend(self.branch(lane, parent));
        }
        match first.and_then(|first| self.lane_of(first)) {
            Some(other) => connectors.push(self.join(lane, other)),
            None => self.lanes[lane] = first,
        }
        while self.lanes.last() == Some(&None) {
            self.lanes.pop();
        }
        Drawing { line, connectors }
    }

    fn lane_of(&self, number: u64) -> Option<usize> {
        self.lanes.iter().position(|next| *next == Some(number))
    }

    /// Finds a free lane from `start` on, or adds one.
    fn free_lane(&mut self, start: usize) -> Option<usize> {
        if let Some(free) = self.lanes.iter().skip(start).position(Option::is_none) {
            return Some(start + free);
        }
        if self.lanes.len() >= MOST_LANES {
            return None;
        }
        self.lanes.push(None);
        Some(self.lanes.len() - 1)
    }

    /// Connects a lane with the one of another parent, which may be new.
    fn branch(&mut self, lane: usize, parent: u64) -> Option<String> {
        if let Some(other) = self.lane_of(parent) {
            return Some(self.connector(lane, other, None));
        }
        let new = self.free_lane(lane + 1)?;
        let connector = self.connector(lane, new, Some(new));
        self.lanes[new] = Some(parent);
        Some(connector)
    }

    /// Ends the right one of two lanes that continue with the same number; the left one goes on.
    fn join(&mut self, lane: usize, other: usize) -> String {
        let (left, right) = (lane.min(other), lane.max(other));
        let connector = self.connector(right, left, Some(right));
        self.lanes[left] = self.lanes[other];
        self.lanes[right] = None;
        connector
    }

    /// Returns a line with a connection between two lanes. `hidden` is a lane that begins or ends with it.
    fn connector(&self, from: usize, to: usize, hidden: Option<usize>) -> String {
        let (left, right) = (from.min(to), from.max(to));
        let slope = if from < to { '\\' } else { '/' };
        self.line(|place, is_lane| {
            if place == 2 * right - 1 {
                Some(slope)
            } else if Some(place) == hidden.map(|lane| 2 * lane) {
                Some(' ')
            } else if place > 2 * left && place < 2 * right && !is_lane {
                Some('_')
            } else {
                None
            }
        })
    }

    fn bars(&self) -> String {
        self.line(|_, _| None)
    }

    /// Returns a line with a bar for each lane in use, except where `mark` returns another character for a place.
    fn line(&self, mark: impl Fn(usize, bool) -> Option<char>) -> String {
        let places = 0..(2 * self.lanes.len()).saturating_sub(1);
        let characters = places.map(|place| {
            let is_lane = place % 2 == 0 && self.lanes[place / 2].is_some();
            mark(place, is_lane).unwrap_or(if is_lane { '|' } else { ' ' })
        });
        characters.collect::<String>().trim_end().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Draws rows of a number and its parents, with the number behind the drawing.
    fn drawn(rows: &[(u64, &[u64])]) -> String {
        let rows: Vec<GraphRow> = rows
            .iter()
            .map(|(number, parents)| GraphRow { number: *number, parents: parents.to_vec(), mark: '*' })
            .collect();
        let mut text = String::from("\n");
        for (row, drawing) in rows.iter().zip(draw(&rows)) {
            text.push_str(&format!("{} {}\n", drawing.line, row.number));
            drawing.connectors.iter().for_each(|line| text.push_str(&format!("{line}\n")));
        }
        text
    }

    #[test]
    fn a_history_is_a_line() {
        assert_eq!(drawn(&[(3, &[2]), (2, &[1]), (1, &[])]), "\n* 3\n* 2\n* 1\n");
    }

    #[test]
    fn a_rollback_leaves_its_branch_beside_it() {
        assert_eq!(
            drawn(&[(6, &[5]), (5, &[2]), (4, &[3]), (3, &[2]), (2, &[1]), (1, &[])]),
            r"
* 6
* 5
| * 4
| * 3
|/
* 2
* 1
"
        );
    }

    #[test]
    fn rollbacks_to_one_place_do_not_widen_the_graph() {
        assert_eq!(
            drawn(&[(7, &[1]), (6, &[5]), (5, &[1]), (4, &[3]), (3, &[1]), (2, &[1]), (1, &[])]),
            r"
* 7
| * 6
| * 5
|/
| * 4
| * 3
|/
| * 2
|/
* 1
"
        );
    }

    #[test]
    fn nested_rollbacks_have_a_lane_each() {
        assert_eq!(
            drawn(&[(6, &[1]), (5, &[2]), (4, &[3]), (3, &[2]), (2, &[1]), (1, &[])]),
            r"
* 6
| * 5
| | * 4
| | * 3
| |/
| * 2
|/
* 1
"
        );
        // The lane that ends is beyond another one.
        assert_eq!(
            drawn(&[(5, &[1]), (4, &[2]), (3, &[1]), (2, &[1]), (1, &[])]),
            r"
* 5
| * 4
| | * 3
|_|/
| * 2
|/
* 1
"
        );
    }

    #[test]
    fn a_fresh_start_begins_a_new_line() {
        assert_eq!(drawn(&[(4, &[3]), (3, &[]), (2, &[1]), (1, &[])]), "\n* 4\n* 3\n* 2\n* 1\n");
    }

    #[test]
    fn a_merge_has_two_parents() {
        assert_eq!(
            drawn(&[(5, &[4]), (4, &[3, 2]), (3, &[1]), (2, &[1]), (1, &[])]),
            r"
* 5
* 4
|\
* | 3
| * 2
|/
* 1
"
        );
        // Its second parent is in a lane already.
        assert_eq!(
            drawn(&[(5, &[2]), (4, &[3, 2]), (3, &[1]), (2, &[1]), (1, &[])]),
            r"
* 5
| * 4
|/|
| * 3
* | 2
|/
* 1
"
        );
    }

    #[test]
    fn what_is_not_shown_stays_open() {
        assert_eq!(drawn(&[(9, &[4]), (8, &[7]), (7, &[6])]), "\n* 9\n| * 8\n| * 7\n");
    }

    proptest! {
        #[test]
        fn every_row_has_one_mark_and_no_line_is_wide(parents in proptest::collection::vec(proptest::collection::vec(0_u64..400, 0..3), 0..300)) {
            let count = parents.len() as u64;
            let rows: Vec<GraphRow> = parents.into_iter().enumerate()
                .map(|(index, parents)| GraphRow { number: count - index as u64, parents, mark: '*' })
                .collect();
            for Drawing { line, connectors } in draw(&rows) {
                prop_assert_eq!(line.matches('*').count(), 1);
                for line in connectors.iter().chain([&line]) {
                    prop_assert!(line.len() <= 2 * MOST_LANES + 1, "{}", line);
                    prop_assert_eq!(line.trim_end(), line);
                }
            }
        }
    }
}
