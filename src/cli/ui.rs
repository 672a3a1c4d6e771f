//! The streams: stdout is the answer, stderr is the conversation.

use std::io::{self, IsTerminal};
use std::os::fd::BorrowedFd;

use rustix::io::Errno;

use super::args::GlobalArgs;
use super::clock::Clock;
use super::env::Environment;
use super::error::{ErrorCode, Failure};
use super::escape::truncate;
use super::page::Page;
use super::report::{Document, Report};
use super::style::Style;

/// How this run talks.
#[derive(Debug, Clone)]
pub(crate) struct Ui {
    json: bool,
    quiet: bool,
    verbose: bool,
    out: Stream,
    err: Stream,
}

/// One of the two streams.
#[derive(Debug, Clone, Copy)]
struct Stream {
    color: bool,
    width: Option<usize>,
}

#[expect(clippy::disallowed_methods, reason = "this is where the streams are")]
fn stdout() -> BorrowedFd<'static> {
    rustix::stdio::stdout()
}

#[expect(clippy::disallowed_methods, reason = "this is where the streams are")]
fn stderr() -> BorrowedFd<'static> {
    rustix::stdio::stderr()
}

impl Ui {
    pub(crate) fn new(global: &GlobalArgs, env: &Environment) -> Self {
        let stream = |terminal: bool, width: fn() -> Option<usize>| Stream {
            color: global.color.decide(env, terminal),
            width: terminal.then(|| width().unwrap_or(80)),
        };
        Self {
            json: global.json,
            quiet: global.quiet,
            verbose: global.verbose,
            out: stream(stdout().is_terminal(), || width_of(stdout())),
            err: stream(stderr().is_terminal(), || width_of(stderr())),
        }
    }

    /// The streams before any argument has been understood.
    pub(crate) fn early(env: &Environment) -> Self {
        let json = env.args.iter().skip(1).take_while(|arg| *arg != "--").any(|arg| arg == "--json");
        Self::new(&GlobalArgs { json, ..GlobalArgs::default() }, env)
    }

    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// Whether only the essential is wanted.
    pub(crate) fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Writes the answer, and what is to be said about it.
    pub(crate) fn answer<R: Report>(&self, report: &R, clock: &Clock) -> Result<(), Failure> {
        let text = if self.json {
            let document = Document { format: R::FORMAT, report };
            let mut text = serde_json::to_string(&document).map_err(|error| {
                Failure::new(ErrorCode::Output, format!("the answer cannot be written as JSON: {error}"))
            })?;
            text.push('\n');
            text
        } else if self.quiet {
            report.essential()
        } else {
            let mut page = self.page(self.out, clock);
            report.answer(&mut page);
            page.into_text()
        };
        let written = self.write_answer(text.as_bytes());
        if !self.json {
            let mut page = self.page(self.err, clock);
            report.failures(&mut page);
            if !self.quiet {
                report.remarks(&mut page);
            }
            self.say(&page.into_text());
        }
        match (written, report.already_done()) {
            (Ok(()), _) => Ok(()),
            // Nothing to ask again for: what was to be done is done, only the answer is lost.
            (Err(error), Some(done)) => {
                self.say(&format!(
                    "warning: {done}, but the answer could not be written to stdout: {error}\n"
                ));
                Ok(())
            }
            // A reader that has seen enough, as in `| head -1`.
            (Err(error), None) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            (Err(error), None) => Err(Failure::new(
                ErrorCode::Output,
                format!("the answer could not be written to stdout: {error}"),
            )),
        }
    }

    /// A page for a stream. Only people want to know how long ago something was.
    fn page(&self, stream: Stream, clock: &Clock) -> Page {
        Page::new(stream.color, stream.width, stream.width.map(|_| clock.now()), self.verbose)
    }

    /// Shows an answer on the terminal in the place of the one before.
    pub(crate) fn redraw<R: Report>(&self, report: &R, clock: &Clock) -> Result<(), Failure> {
        let mut page = self.page(self.out, clock);
        report.answer(&mut page);
        // Home, then each line cleared as it is written: no flicker, and nothing of the last picture is left.
        let text = page.into_text().replace('\n', "\u{1b}[K\n");
        self.answer_bytes(format!("\u{1b}[H{text}\u{1b}[J").as_bytes())
    }

    /// Waits before the next picture.
    #[expect(clippy::disallowed_methods, reason = "a person is looking")]
    pub(crate) fn pause(&self, duration: std::time::Duration) {
        std::thread::sleep(duration);
    }

    /// Writes bytes that were asked for as they are.
    pub(crate) fn answer_bytes(&self, bytes: &[u8]) -> Result<(), Failure> {
        match self.write_answer(bytes) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::new(
                ErrorCode::Output,
                format!("the answer could not be written to stdout: {error}"),
            )),
            _ => Ok(()),
        }
    }

    fn write_answer(&self, bytes: &[u8]) -> io::Result<()> {
        write_all(stdout(), bytes)
    }

    /// Says something on stderr. If nobody can hear it, there is nobody to tell.
    pub(crate) fn say(&self, text: &str) {
        let _ = write_all(stderr(), text.as_bytes());
    }

    /// Whether somebody is watching the conversation on a terminal.
    pub(crate) fn shows_progress(&self) -> bool {
        self.err.width.is_some() && !self.json && !self.quiet
    }

    /// Puts words in the place of the line that was said last, without ending it.
    pub(crate) fn say_over(&self, words: &str) {
        let limit = self.err.width.unwrap_or(80).saturating_sub(1);
        self.say(&format!("\r\u{1b}[K{}", truncate(words, limit)));
    }

    /// Says what went wrong, for people or as one line of JSON.
    pub(crate) fn fail(&self, failure: &Failure) {
        if self.json {
            let line = serde_json::to_string(failure).unwrap_or_default();
            self.say(&format!("{line}\n"));
            return;
        }
        let mut page = Page::new(self.err.color, self.err.width, None, false);
        let label = page.paint(Style::Bad, "error:");
        let message = failure.message.replace('\n', "\n       ");
        page.line(format!("{label} {message}"));
        for help in &failure.help {
            let label = page.paint(Style::Good, "help:");
            page.line(format!("  {label} {help}"));
        }
        self.say(&page.into_text());
    }

    /// Says an answer on stderr, where it is part of the conversation.
    pub(crate) fn converse<R: Report>(&self, report: &R, clock: &Clock) {
        if self.json || self.quiet {
            return;
        }
        let mut page = self.page(self.err, clock);
        report.answer(&mut page);
        report.failures(&mut page);
        report.remarks(&mut page);
        self.say(&page.into_text());
    }

    /// Whether both sides of a conversation are terminals, and it is held in words.
    pub(crate) fn is_conversation(&self) -> bool {
        io::stdin().is_terminal() && self.err.width.is_some() && !self.json
    }

    /// Whether the answer goes to a terminal.
    pub(crate) fn shows_answer(&self) -> bool {
        self.out.width.is_some() && !self.json
    }
}

/// Writes to a stream at once. An answer is put together before it is written, so there is nothing to buffer.
fn write_all(stream: BorrowedFd<'_>, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match rustix::io::write(stream, bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => bytes = &bytes[written..],
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok(())
}

fn width_of(stream: BorrowedFd<'_>) -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(stream).ok()?;
    Some(usize::from(size.ws_col)).filter(|width| *width > 0)
}
