//! Lines of a bounded length.

use std::io::{self, BufRead};

/// The longest line that is read, as long as the longest document that `ckpt save --from` takes.
const MAX_LINE: usize = 16 << 20;

/// A line without its end, or the news that it was too long and has been passed over.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    Complete(Vec<u8>),
    TooLong,
}

/// The lines of a stream. An error ends them like the end of the stream: the other side is gone.
pub(super) struct Lines<R> {
    input: R,
    longest: usize,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(input: R) -> Self {
        Self { input, longest: MAX_LINE }
    }

    /// Reads the next line and keeps at most `longest` bytes of it in memory.
    fn read(&mut self) -> io::Result<Option<Line>> {
        let mut line = Vec::new();
        let (mut has_begun, mut is_too_long) = (false, false);
        loop {
            let available = match self.input.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                available => available?,
            };
            if available.is_empty() && !has_begun {
                return Ok(None);
            }
            has_begun = true;
            let end = available.iter().position(|byte| *byte == b'\n');
            let part = &available[..end.unwrap_or(available.len())];
            if is_too_long || line.len() + part.len() > self.longest {
                is_too_long = true;
                line = Vec::new();
            } else {
                line.extend_from_slice(part);
            }
            let is_last = available.is_empty() || end.is_some();
            let used = end.map_or(available.len(), |end| end + 1);
            self.input.consume(used);
            if is_last {
                return Ok(Some(if is_too_long { Line::TooLong } else { Line::Complete(line) }));
            }
        }
    }
}

impl<R: BufRead> Iterator for Lines<R> {
    type Item = Line;

    fn next(&mut self) -> Option<Line> {
        self.read().ok().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<Line> {
        // A buffer of three bytes: lines arrive in parts.
        let input = io::BufReader::with_capacity(3, text.as_bytes());
        Lines { input, longest: 5 }.collect()
    }

    #[test]
    fn a_line_that_is_too_long_is_passed_over_and_the_next_one_is_read() {
        let whole = |text: &str| Line::Complete(text.as_bytes().to_vec());
        assert_eq!(lines("12345\n123456\n\nabc"), [whole("12345"), Line::TooLong, whole(""), whole("abc")]);
        assert_eq!(lines("1234567890"), [Line::TooLong]);
        assert_eq!(lines("a\n"), [whole("a")]);
        assert_eq!(lines(""), []);
    }
}
