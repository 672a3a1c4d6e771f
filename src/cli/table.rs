//! Columns of text.

use super::escape::{truncate, width};
use super::page::Page;
use super::style::Style;

/// One cell: safe text and how to set it apart.
#[derive(Debug, Clone)]
pub(crate) struct Cell {
    text: String,
    style: Style,
    right: bool,
}

impl Cell {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), style: Style::Plain, right: false }
    }

    pub(crate) fn styled(text: impl Into<String>, style: Style) -> Self {
        Self { text: text.into(), style, right: false }
    }

    pub(crate) fn right(text: impl Into<String>) -> Self {
        Self { text: text.into(), style: Style::Plain, right: true }
    }
}

/// Puts rows under a heading, two spaces between columns. On a terminal the last column is cut to fit.
pub(crate) fn render(page: &mut Page, heading: &[&str], rows: &[Vec<Cell>]) {
    let mut widths: Vec<usize> = heading.iter().map(|word| width(word)).collect();
    for row in rows {
        for (column, cell) in row.iter().enumerate() {
            widths[column] = widths[column].max(width(&cell.text));
        }
    }
    let head: Vec<Cell> = heading.iter().map(|word| Cell::styled(*word, Style::Dim)).collect();
    for row in std::iter::once(&head).chain(rows) {
        let line = row_line(page, row, &widths);
        page.line(line.trim_end());
    }
}

fn row_line(page: &Page, row: &[Cell], widths: &[usize]) -> String {
    let mut line = String::new();
    let mut used = 0;
    for (column, cell) in row.iter().enumerate() {
        let last = column + 1 == row.len();
        let text = match page.width {
            Some(limit) if last => truncate(&cell.text, limit.saturating_sub(used).max(8)).into_owned(),
            _ => cell.text.clone(),
        };
        let gap = " ".repeat(widths[column].saturating_sub(width(&text)));
        let painted = page.paint(cell.style, &text);
        match (cell.right, last) {
            (true, _) => line.extend([gap.as_str(), &painted]),
            (false, true) => line.push_str(&painted),
            (false, false) => line.extend([painted.as_str(), &gap]),
        }
        if !last {
            line.push_str("  ");
        }
        used += widths[column] + 2;
    }
    line
}
