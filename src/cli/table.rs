//! Columns of text.

use std::borrow::Cow;

use super::escape::{truncate, width};
use super::page::Page;
use super::style::Style;

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

/// Renders rows under a heading, two spaces between columns. On a terminal the last column is cut to fit.
pub(crate) fn render(page: &mut Page, heading: &[&str], rows: &[Vec<Cell>]) {
    let head: Vec<Cell> = heading.iter().map(|word| Cell::styled(*word, Style::Dim)).collect();
    let mut widths = vec![0; heading.len()];
    for row in std::iter::once(&head).chain(rows) {
        for (column, cell) in widths.iter_mut().zip(row) {
            *column = width(&cell.text).max(*column);
        }
    }
    for row in std::iter::once(&head).chain(rows) {
        let line = row_line(page, row, &widths);
        page.line(line.trim_end());
    }
}

fn row_line(page: &Page, row: &[Cell], widths: &[usize]) -> String {
    let mut line = String::new();
    let mut used = 0;
    for (column, Cell { text, style, right }) in row.iter().enumerate() {
        let text = match page.width {
            Some(limit) if column + 1 == row.len() => truncate(text, limit.saturating_sub(used).max(8)),
            _ => Cow::Borrowed(text.as_str()),
        };
        let gap = " ".repeat(widths[column].saturating_sub(width(&text)));
        let painted = page.paint(*style, &text);
        line.push_str(&if *right { gap + &painted } else { painted + &gap });
        line.push_str("  ");
        used += widths[column] + 2;
    }
    line
}
