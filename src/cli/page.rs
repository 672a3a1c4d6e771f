//! A page of text for a person.

use super::escape;
use super::style::Style;
use crate::core::Timestamp;
use crate::core::span::ago;

/// Room for what is usually said.
const USUAL_BYTES: usize = 1 << 10;

/// A terminal that is narrower breaks words anyway.
const LEAST_ROOM: usize = 16;

/// Text that is being put together for one stream.
#[derive(Debug)]
pub(crate) struct Page {
    text: String,
    pub(crate) color: bool,
    /// The width of the terminal; none if the stream is none, and nothing is cut then.
    pub(crate) width: Option<usize>,
    /// The time, on a terminal.
    now: Option<Timestamp>,
    pub(crate) verbose: bool,
}

impl Page {
    pub(crate) fn new(color: bool, width: Option<usize>, now: Option<Timestamp>, verbose: bool) -> Self {
        Self { text: String::with_capacity(USUAL_BYTES), color, width, now, verbose }
    }

    /// Adds a line of our own words.
    pub(crate) fn line(&mut self, text: impl AsRef<str>) {
        self.text.push_str(text.as_ref());
        self.text.push('\n');
    }

    /// Adds text exactly as it is; for what was asked for raw.
    pub(crate) fn raw(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Adds our own words behind an indent. On a terminal they go on in the next line where one is full, and no word is
    /// broken.
    pub(crate) fn wrapped(&mut self, indent: &str, text: &str) {
        let room = self.width.map_or(usize::MAX, |width| width.saturating_sub(indent.len()).max(LEAST_ROOM));
        let mut line = String::new();
        for word in text.split(' ') {
            if !line.is_empty() && escape::width(&line) + 1 + escape::width(word) > room {
                self.line(format!("{indent}{line}"));
                line.clear();
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        self.line(format!("{indent}{line}"));
    }

    /// Adds a line for each warning. They may quote what came from somewhere else.
    pub(crate) fn warnings(&mut self, warnings: &[String]) {
        for warning in warnings {
            let label = self.paint(Style::Warning, "warning:");
            self.line(format!("{label} {}", self.foreign(warning)));
        }
    }

    /// Words in a style.
    pub(crate) fn paint(&self, style: Style, text: &str) -> String {
        style.paint(text, self.color)
    }

    /// Words that came from somewhere else, made safe to show.
    pub(crate) fn foreign(&self, text: &str) -> String {
        escape::inline(text).into_owned()
    }

    /// A time: relative on a terminal, absolute elsewhere.
    pub(crate) fn time(&self, time: Timestamp) -> String {
        let Some(now) = self.now else { return time.to_string() };
        match u64::try_from(now.seconds_since(time)) {
            Ok(age) => ago(age),
            Err(_) => format!("{time} (in the future)"),
        }
    }

    pub(crate) fn into_text(self) -> String {
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_breaks_lines_between_words_only() {
        let wrapped = |width| {
            let mut page = Page::new(false, width, None, false);
            page.wrapped("  ", "open workflows keep everything, but only the newest three");
            page.into_text()
        };
        assert_eq!(wrapped(Some(26)), "  open workflows keep\n  everything, but only the\n  newest three\n");
        assert_eq!(wrapped(Some(26)).lines().map(escape::width).max(), Some(26));
        assert_eq!(wrapped(None).lines().count(), 1, "nothing is cut where there is no terminal");
        assert_eq!(wrapped(Some(1)).lines().count(), 4, "a word is never broken");
    }
}
