//! A progress line for long work: on a terminal only, and only after half a second.

use std::time::{Duration, Instant};

use super::ui::Ui;
use super::words::count;
use crate::core::store::ScanProgress;

/// Shorter work shows no progress.
const DELAY: Duration = Duration::from_millis(500);
const INTERVAL: Duration = Duration::from_millis(100);

/// The progress line, cleared on drop.
#[derive(Debug)]
pub(crate) struct Progress<'a> {
    ui: &'a Ui,
    next: Instant,
    shown: bool,
}

impl<'a> Progress<'a> {
    pub(crate) fn new(ui: &'a Ui) -> Self {
        Self { ui, next: Instant::now() + DELAY, shown: false }
    }

    /// Shows how many workflows have been read.
    pub(crate) fn scan(&mut self, scanned: &ScanProgress) {
        self.at(|| format!("Read {} of {}", scanned.done, count(scanned.total, "workflow")));
    }

    /// Shows where the work is, at most ten times a second.
    pub(crate) fn at(&mut self, words: impl FnOnce() -> String) {
        if !self.ui.shows_progress() {
            return;
        }
        let now = Instant::now();
        if now < self.next {
            return;
        }
        self.next = now + INTERVAL;
        self.shown = true;
        self.ui.say_over(&words());
    }
}

impl Drop for Progress<'_> {
    fn drop(&mut self) {
        if self.shown {
            self.ui.say_over("");
        }
    }
}
