//! Columns of text.

use std::borrow::Cow;
use std::iter::repeat_n;

use super::escape::{truncate, width};
use super::page::Page;
use super::style::Style;

/// One cell: safe text and how to set it apart.
#[derive(Debug, Clone)]
pub(crate) struct Cell {
    text: Cow<'static, str>,
    style: Style,
    right: bool,
}

impl Cell {
    pub(crate) fn new(text: impl Into<Cow<'static, str>>) -> Self {
        Self { text: text.into(), style: Style::Plain, right: false }
    }

    pub(crate) fn styled(text: impl Into<Cow<'static, str>>, style: Style) -> Self {
        Self { text: text.into(), style, right: false }
    }

    pub(crate) fn right(text: impl Into<Cow<'static, str>>) -> Self {
        Self { text: text.into(), style: Style::Plain, right: true }
    }
}

/// Puts rows under a heading, two spaces between columns. On a terminal the last column is cut to fit.
pub(crate) fn render(page: &mut Page, heading: &[&'static str], rows: &[Vec<Cell>]) {
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
            Some(limit) if last => truncate(&cell.text, limit.saturating_sub(used).max(8)),
            _ => Cow::Borrowed(&*cell.text),
        };
        let gap = repeat_n(' ', widths[column].saturating_sub(width(&text)));
        if cell.right {
            line.extend(gap.clone());
        }
        cell.style.paint_onto(&mut line, &text, page.color);
        if !cell.right && !last {
            line.extend(gap);
        }
        if !last {
            line.push_str("  ");
        }
        used += widths[column] + 2;
    }
    line
}
