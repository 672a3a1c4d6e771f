//! A page of text for a person.

use super::escape;
use super::style::Style;
use crate::core::Timestamp;
use crate::core::span::ago;

/// Room for what is usually said.
const USUAL_BYTES: usize = 1 << 10;

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
