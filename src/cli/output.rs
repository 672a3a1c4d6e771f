//! The streams: stdout is the answer, stderr is the conversation. Nothing else in the program writes to them.

use std::borrow::Cow;
use std::cell::Cell;
use std::io::{self, IsTerminal, Write};
use std::path::Path;

use super::answer::{Report, ReportDocument};
use super::args::GlobalArgs;
use super::clock::Clock;
use super::env::Environment;
use super::error::{ErrorCode, Failure};
use super::escape::{document, inline, truncate};
use super::streams::Streams;
use super::style::Style;
use super::text_page::TextPage;
use ckpt_platform::terminal_size;

/// How this run writes to the streams.
#[derive(Debug, Clone)]
pub(crate) struct Output {
    json: bool,
    quiet: bool,
    verbose: bool,
    out: Stream,
    err: Stream,
    /// True once the store has been named on stderr.
    has_named_store: Cell<bool>,
    streams: Streams,
}

/// The properties of one of the two streams.
#[derive(Debug, Clone, Copy)]
struct Stream {
    color: bool,
    /// The width of the terminal, if it is one.
    width: Option<usize>,
}

impl Stream {
    /// Returns text that contains stored text as it is; on a terminal, made safe to show.
    fn raw(self, text: &str) -> Cow<'_, str> {
        if self.width.is_some() { document(text) } else { Cow::Borrowed(text) }
    }
}

#[expect(clippy::disallowed_methods, reason = "the home of the streams")]
fn stdout() -> io::Stdout {
    io::stdout()
}

#[expect(clippy::disallowed_methods, reason = "the home of the streams")]
fn stderr() -> io::Stderr {
    io::stderr()
}

impl Output {
    pub(crate) fn new(global: &GlobalArgs, env: &Environment) -> Self {
        let stream = |size: Option<(usize, usize)>| Stream {
            color: global.color.decide(env, size.is_some()),
            width: size.map(|(columns, _)| columns),
        };
        let (out, err) = match env.streams {
            Streams::Process => (terminal_size(&stdout()), terminal_size(&stderr())),
            Streams::Memory(_) => (None, None),
        };
        Self {
            json: global.json,
            quiet: global.quiet,
            verbose: global.verbose,
            out: stream(out),
            err: stream(err),
            has_named_store: Cell::new(false),
            streams: env.streams.clone(),
        }
    }

    /// Returns the streams before the arguments have been parsed.
    pub(crate) fn early(env: &Environment) -> Self {
        let json = env.args.iter().skip(1).take_while(|arg| *arg != "--").any(|arg| arg == "--json");
        Self::new(&GlobalArgs { json, ..GlobalArgs::default() }, env)
    }

    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    pub(crate) fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// True if progress may be shown: a person watches stderr on a terminal.
    pub(crate) fn shows_progress(&self) -> bool {
        self.err.width.is_some() && !self.json && !self.quiet
    }

    /// True if the answer goes to a terminal as text.
    pub(crate) fn shows_answer(&self) -> bool {
        self.out.width.is_some() && !self.json
    }

    /// True if a question can be asked and answered: stdin and stderr are terminals.
    pub(crate) fn is_conversation(&self) -> bool {
        self.err.width.is_some() && !self.json && io::stdin().is_terminal()
    }

    /// Writes a report to stdout, and its failures and remarks to stderr.
    pub(crate) fn answer<R: Report>(&self, report: &R, clock: &Clock) -> Result<(), Failure> {
        let text = if self.json {
            let document = ReportDocument { format: R::FORMAT, report };
            let text = serde_json::to_string(&document).map_err(|error| {
                Failure::new(ErrorCode::Output, format!("the answer cannot be written as JSON: {error}"))
            })?;
            self.out.raw(&(text + "\n")).into_owned()
        } else if self.quiet {
            self.out.raw(&report.essential()).into_owned()
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
        let Err(error) = written else { return Ok(()) };
        // Failing now would make the caller repeat a command that has done its work.
        if let Some(done) = report.already_done() {
            self.say(&format!("warning: {done}, but the answer could not be written to stdout: {error}\n"));
            return Ok(());
        }
        unwritten_answer(&error)
    }

    /// Writes a report to stderr, as part of the conversation.
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

    /// Returns the present columns and rows of the terminal that gets the answer.
    pub(crate) fn answer_size(&self) -> (usize, usize) {
        terminal_size(&stdout()).unwrap_or((80, 24))
    }

    /// Returns the present columns and rows of the terminal that has the conversation.
    pub(crate) fn conversation_size(&self) -> (usize, usize) {
        terminal_size(&stderr()).unwrap_or((80, 24))
    }

    /// Renders a report for a screen of this size.
    pub(crate) fn render_sized<R: Report>(&self, report: &R, clock: &Clock, size: (usize, usize)) -> String {
        let (columns, rows) = size;
        let mut page = self.page(Stream { width: Some(columns), ..self.out }, clock);
        page.height = Some(rows);
        report.answer(&mut page);
        page.into_text()
    }

    /// Writes stored bytes to stdout: as they are, except to a terminal, where they are made safe to show.
    pub(crate) fn answer_raw(&self, bytes: &[u8]) -> Result<(), Failure> {
        if self.out.width.is_none() {
            return self.answer_bytes(bytes);
        }
        self.answer_bytes(self.out.raw(&String::from_utf8_lossy(bytes)).as_bytes())
    }

    /// Writes bytes of the program itself to stdout.
    pub(crate) fn answer_bytes(&self, bytes: &[u8]) -> Result<(), Failure> {
        self.write_answer(bytes).or_else(|error| unwritten_answer(&error))
    }

    fn write_answer(&self, bytes: &[u8]) -> io::Result<()> {
        match self.streams.in_memory() {
            Some(mut memory) => memory.out.write_all(bytes),
            None => write_stdout(bytes),
        }
    }

    /// Writes text to stderr. An error is ignored: there is no other stream to report it on.
    pub(crate) fn say(&self, text: &str) {
        match self.streams.in_memory() {
            Some(mut memory) => memory.err.push_str(text),
            None => drop(stderr().write_all(text.as_bytes())),
        }
    }

    /// Names on stderr, once, a store that the user may not expect.
    pub(crate) fn name_store(&self, root: &Path) {
        if !self.json && !self.quiet && !self.has_named_store.replace(true) {
            self.say(&format!("Using the store {}\n", inline(&root.display().to_string())));
        }
    }

    /// Replaces the last, unfinished line on stderr.
    pub(crate) fn say_over(&self, words: &str) {
        let limit = self.err.width.unwrap_or(80).saturating_sub(1);
        self.say(&format!("\r\u{1b}[K{}", truncate(words, limit)));
    }

    /// Writes a failure to stderr, as text or as one line of JSON.
    pub(crate) fn fail(&self, failure: &Failure) {
        if self.json {
            let line = serde_json::to_string(failure).unwrap_or_default();
            self.say(&format!("{}\n", self.err.raw(&line)));
            return;
        }
        let mut page = TextPage::new(self.err.color, self.err.width, None, false);
        let label = page.paint(Style::Bad, "error:");
        let message = failure.message.replace('\n', "\n       ");
        page.line(format!("{label} {message}"));
        for help in &failure.help {
            let label = page.paint(Style::Good, "help:");
            page.line(format!("  {label} {help}"));
        }
        self.say(&page.into_text());
    }

    /// Returns an empty page for a stream. Times are relative on terminals only.
    fn page(&self, stream: Stream, clock: &Clock) -> TextPage {
        TextPage::new(stream.color, stream.width, stream.width.map(|_| clock.now()), self.verbose)
    }
}

fn write_stdout(bytes: &[u8]) -> io::Result<()> {
    let mut stdout = stdout().lock();
    stdout.write_all(bytes)?;
    stdout.flush()
}

/// A closed pipe is not a failure: the reader has seen enough, as in `| head -1`.
fn unwritten_answer(error: &io::Error) -> Result<(), Failure> {
    if error.kind() == io::ErrorKind::BrokenPipe {
        return Ok(());
    }
    Err(Failure::new(ErrorCode::Output, format!("the answer could not be written to stdout: {error}")))
}
