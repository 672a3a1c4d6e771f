//! Text for people, put together for one stream before it is written.

use super::escape;
use super::style::Style;
use ckpt_model::Timestamp;
use ckpt_model::span::ago;

/// Wrapped text keeps at least this width; a narrower terminal breaks words anyway.
const LEAST_ROOM: usize = 16;

/// Text that is being put together for one stream.
#[derive(Debug)]
pub(crate) struct TextPage {
    text: String,
    color: bool,
    /// The width of the terminal; `None` if the stream is not a terminal, where nothing is ever cut.
    pub(crate) width: Option<usize>,
    /// The rows of the screen, if the text must fit on one.
    pub(crate) height: Option<usize>,
    /// The present time, on a terminal.
    now: Option<Timestamp>,
    pub(crate) verbose: bool,
}

impl TextPage {
    pub(crate) fn new(color: bool, width: Option<usize>, now: Option<Timestamp>, verbose: bool) -> Self {
        Self { text: String::new(), color, width, height: None, now, verbose }
    }

    /// Adds a line that is safe to show.
    pub(crate) fn line(&mut self, text: impl AsRef<str>) {
        self.text.push_str(text.as_ref());
        self.text.push('\n');
    }

    /// Adds content that was requested raw: exactly as it is, except on a terminal, where it is made safe to show.
    pub(crate) fn raw(&mut self, text: &str) {
        let shown = if self.width.is_some() { escape::document(text) } else { text.into() };
        self.text.push_str(&shown);
    }

    /// Adds a key/value block, without the keys that have no value.
    pub(crate) fn fields(&mut self, fields: impl IntoIterator<Item = (&'static str, String)>) {
        for (name, value) in fields {
            if !value.is_empty() {
                self.line(format!("  {name:<10} {}", escape::inline(&value)));
            }
        }
    }

    /// Adds a line that begins with a label, such as `failed:`, and continues with stored text.
    pub(crate) fn labelled(&mut self, style: Style, label: &str, text: &str) {
        self.line(format!("{} {}", self.paint(style, label), escape::inline(text)));
    }

    /// Adds a line for each thing to do.
    pub(crate) fn help(&mut self, help: &[String]) {
        for line in help {
            self.line(format!("  help: {}", escape::inline(line)));
        }
    }

    /// Adds a line for each warning.
    pub(crate) fn warnings(&mut self, warnings: &[String]) {
        for warning in warnings {
            self.labelled(Style::Warning, "warning:", warning);
        }
    }

    /// Adds indented text that is safe to show, wrapped between words on a terminal.
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

    /// Returns the text in a style.
    pub(crate) fn paint(&self, style: Style, text: &str) -> String {
        style.paint(text, self.color)
    }

    /// Returns stored text, made safe to show.
    pub(crate) fn escape(&self, text: &str) -> String {
        escape::inline(text).into_owned()
    }

    /// Returns optional stored text with a space in front, made safe to show.
    pub(crate) fn suffix(&self, text: Option<&str>) -> String {
        text.map(|text| format!(" {}", escape::inline(text))).unwrap_or_default()
    }

    /// Returns a time: relative on a terminal, absolute elsewhere.
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
            let mut page = TextPage::new(false, width, None, false);
            page.wrapped("  ", "open workflows keep everything, but only the newest three");
            page.into_text()
        };
        assert_eq!(wrapped(Some(26)), "  open workflows keep\n  everything, but only the\n  newest three\n");
        assert_eq!(wrapped(Some(26)).lines().map(escape::width).max(), Some(26));
        assert_eq!(wrapped(None).lines().count(), 1, "nothing is cut where there is no terminal");
        assert_eq!(wrapped(Some(1)).lines().count(), 4, "a word is never broken");
    }
}
