//! A progress line for long work: on a terminal only, and only after half a second.

use std::time::{Duration, Instant};

use super::output::Output;
use super::words::count;
use ckpt_store::ScanProgress;

/// Shorter work shows no progress.
const DELAY: Duration = Duration::from_millis(500);
const INTERVAL: Duration = Duration::from_millis(100);

/// The progress line, cleared on drop.
#[derive(Debug)]
pub(crate) struct Progress<'a> {
    output: &'a Output,
    next: Instant,
    shown: bool,
}

impl<'a> Progress<'a> {
    pub(crate) fn new(output: &'a Output) -> Self {
        Self { output, next: Instant::now() + DELAY, shown: false }
    }

    /// Shows how many workflows have been read.
    pub(crate) fn scan(&mut self, scanned: &ScanProgress) {
        self.at(|| format!("Read {} of {}", scanned.done, count(scanned.total, "workflow")));
    }

    /// Shows where the work is, at most ten times a second.
    pub(crate) fn at(&mut self, words: impl FnOnce() -> String) {
        if !self.output.shows_progress() {
            return;
        }
        let now = Instant::now();
        if now < self.next {
            return;
        }
        self.next = now + INTERVAL;
        self.shown = true;
        self.output.say_over(&words());
    }
}

impl Drop for Progress<'_> {
    fn drop(&mut self) {
        if self.shown {
            self.output.say_over("");
        }
    }
}
