//! Columns of text.

use super::escape::{truncate, width};
use super::style::Style;
use super::text_page::TextPage;

/// The space between two columns.
const GAP: usize = 2;
/// No cell is cut to less than this.
const LEAST: usize = 8;

/// A column: its heading, and what may happen to it on a narrow terminal.
#[derive(Debug)]
pub(crate) struct Column {
    heading: &'static str,
    /// The width that is enough for its cells, if they may be cut.
    enough: Option<usize>,
    /// Set if it may be left out; the column of the lowest rank goes first.
    rank: Option<u8>,
}

impl Column {
    /// A column that is always shown in full.
    pub(crate) fn new(heading: &'static str) -> Self {
        Self { heading, enough: None, rank: None }
    }

    /// Lets its cells be cut: to this width first, and if the rest of the line is too long, to less.
    pub(crate) fn shrinks_to(self, enough: usize) -> Self {
        Self { enough: Some(enough), ..self }
    }

    /// Lets it be left out if the columns that may be cut would get less than enough. The lowest rank goes first.
    pub(crate) fn optional(self, rank: u8) -> Self {
        Self { rank: Some(rank), ..self }
    }
}

/// Returns columns of which only the last one is cut.
pub(crate) fn columns<const N: usize>(headings: [&'static str; N]) -> [Column; N] {
    let mut columns = headings.map(Column::new);
    if let Some(last) = columns.last_mut() {
        last.enough = Some(LEAST);
    }
    columns
}

/// One cell: text that is safe to show, and its style.
#[derive(Debug)]
pub(crate) struct Cell {
    text: String,
    style: Style,
    right: bool,
}

impl Cell {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self::styled(text, Style::Plain)
    }

    pub(crate) fn styled(text: impl Into<String>, style: Style) -> Self {
        Self { text: text.into(), style, right: false }
    }

    /// A cell aligned to the right.
    pub(crate) fn right(text: impl Into<String>) -> Self {
        Self { right: true, ..Self::new(text) }
    }

    /// A cell with a hyphen in place of a missing value.
    pub(crate) fn or_hyphen(text: Option<String>) -> Self {
        Self::new(text.unwrap_or_else(|| "-".to_owned()))
    }
}

/// Renders the lines of a table.
pub(crate) fn render(page: &mut TextPage, columns: &[Column], rows: &[Vec<Cell>]) {
    lines(page, columns, rows).iter().for_each(|line| page.line(line));
}

/// Returns rows under a heading, or without one if no column has any. A row may have fewer cells than there are columns. An
/// optional column without any text is left out.
///
/// On a terminal that is too narrow, optional columns are left out, and cells are cut, from the last column to the
/// first. Elsewhere nothing is.
pub(crate) fn lines(page: &TextPage, columns: &[Column], rows: &[Vec<Cell>]) -> Vec<String> {
    let head: Vec<Cell> = columns.iter().map(|column| Cell::styled(column.heading, Style::Dim)).collect();
    let mut widths = vec![0; columns.len()];
    for row in std::iter::once(&head).chain(rows) {
        for (column, cell) in widths.iter_mut().zip(row) {
            *column = width(&cell.text).max(*column);
        }
    }
    let has_text = |index: usize| rows.iter().filter_map(|row| row.get(index)).any(|cell| !cell.text.is_empty());
    let is_shown = |index: usize| columns[index].rank.is_none() || has_text(index);
    let widths: Vec<Option<usize>> =
        widths.into_iter().enumerate().map(|(index, width)| is_shown(index).then_some(width)).collect();
    let widths = match page.width {
        Some(room) => fit(columns, widths, room),
        None => widths,
    };
    let has_head = columns.iter().any(|column| !column.heading.is_empty());
    let shown = has_head.then_some(&head).into_iter().chain(rows);
    shown.map(|row| row_line(page, row, &widths).trim_end().to_owned()).collect()
}

/// Returns the widths of columns in a room of this width; `None` for those that are left out.
fn fit(columns: &[Column], widths: Vec<Option<usize>>, room: usize) -> Vec<Option<usize>> {
    let mut fitted = widths;
    let mut optional: Vec<(u8, usize)> = Vec::new();
    for (index, column) in columns.iter().enumerate() {
        optional.extend(column.rank.map(|rank| (rank, index)));
    }
    optional.sort_unstable();
    for (_, index) in optional {
        if cut(columns, &fitted, room, |enough| enough).1 > 0 {
            fitted[index] = None;
        }
    }
    let (fitted, excess) = cut(columns, &fitted, room, |enough| enough);
    if excess == 0 { fitted } else { cut(columns, &fitted, room, |enough| enough.min(LEAST)).0 }
}

/// Cuts columns to a least width, from the last to the first, until they fit. Also returns by how much they do not.
fn cut(
    columns: &[Column],
    widths: &[Option<usize>],
    room: usize,
    least: impl Fn(usize) -> usize,
) -> (Vec<Option<usize>>, usize) {
    let used: usize = widths.iter().flatten().map(|width| width + GAP).sum();
    let mut excess = used.saturating_sub(GAP + room);
    let mut cut = widths.to_vec();
    for (column, width) in columns.iter().zip(&mut cut).rev() {
        if let (Some(enough), Some(width)) = (column.enough, width) {
            let spare = width.saturating_sub(least(enough)).min(excess);
            *width -= spare;
            excess -= spare;
        }
    }
    (cut, excess)
}

fn row_line(page: &TextPage, row: &[Cell], widths: &[Option<usize>]) -> String {
    let mut line = String::new();
    for (Cell { text, style, right }, column) in row.iter().zip(widths) {
        let Some(column) = *column else { continue };
        let text = truncate(text, column);
        let gap = " ".repeat(column.saturating_sub(width(&text)));
        let painted = page.paint(*style, &text);
        line.push_str(&if *right { gap + &painted } else { painted + &gap });
        line.push_str(&" ".repeat(GAP));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(room: Option<usize>) -> Vec<String> {
        let columns = [
            Column::new("ID"),
            Column::new("PHASE").shrinks_to(10),
            Column::new("NOTE").shrinks_to(12).optional(1),
            Column::new("TITLE").shrinks_to(12),
        ];
        let row = ["042/7", "implementation", "a note of the last save", "The title of a workflow"];
        let mut page = TextPage::new(false, room, None, false);
        render(&mut page, &columns, &[row.map(Cell::new).into(), vec![Cell::new("|/")]]);
        page.into_text().lines().map(str::to_owned).collect()
    }

    #[test]
    fn what_is_last_is_cut_first_and_nothing_is_cut_elsewhere() {
        let lines = |room| rendered(room)[1].clone();
        let whole = "042/7  implementation  a note of the last save  The title of a workflow";
        assert_eq!(lines(None), whole);
        assert_eq!(lines(Some(80)), whole);
        assert_eq!(lines(Some(60)), "042/7  implementation  a note of the last save  The title...");
        assert_eq!(lines(Some(50)), "042/7  implementation  a note of ...  The title...");
        assert_eq!(lines(Some(40)), "042/7  implementation  The title of a...");
        assert_eq!(lines(Some(30)), "042/7  impleme...  The titl...");
        assert_eq!(lines(Some(10)), "042/7  imple...  The t...");
        assert_eq!(rendered(Some(30))[2], "|/", "a row may have fewer cells");
    }
}
