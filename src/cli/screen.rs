//! A screen of its own on the terminal, for a report that is kept up to date.

use super::answer::Report;
use super::clock::Clock;
use super::error::Failure;
use super::output::Output;

/// Switches to the alternate screen and hides the cursor.
const OPEN: &str = "\u{1b}[?1049h\u{1b}[?25l";
/// Shows the cursor and switches back to the screen and the scrollback of before.
const CLOSE: &str = "\u{1b}[?25h\u{1b}[?1049l";

/// The alternate screen of the terminal. When it is dropped, the terminal is as it was before.
pub(crate) struct Screen<'u> {
    output: &'u Output,
}

impl<'u> Screen<'u> {
    pub(crate) fn open(output: &'u Output) -> Result<Self, Failure> {
        let screen = Self { output };
        output.answer_bytes(OPEN.as_bytes())?;
        Ok(screen)
    }

    /// Replaces the report on the screen by a newer one.
    pub(crate) fn show<R: Report>(
        &self,
        report: &R,
        clock: &Clock,
        (columns, rows): (usize, usize),
    ) -> Result<(), Failure> {
        // The last column stays free: where it does not, some terminals clear it together with the rest of the line.
        let text = self.output.render_sized(report, clock, (columns.saturating_sub(1), rows));
        // From the top left, and each line is cleared behind its text: no flicker, and no old text remains. A line end
        // behind the last row would scroll.
        let lines: Vec<&str> = text.lines().take(rows).collect();
        let text = lines.join("\u{1b}[K\r\n");
        self.output.answer_bytes(format!("\u{1b}[H{text}\u{1b}[K\u{1b}[J").as_bytes())
    }
}

impl Drop for Screen<'_> {
    fn drop(&mut self) {
        let _ = self.output.answer_bytes(CLOSE.as_bytes());
    }
}
