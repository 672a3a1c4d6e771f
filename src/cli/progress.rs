//! A line that says how far long work has come: on a terminal only, and only if it takes a while.

use std::time::{Duration, Instant};

use super::ui::Ui;

/// Shorter work is done before anybody wonders.
const PATIENCE: Duration = Duration::from_millis(500);
const INTERVAL: Duration = Duration::from_millis(100);

/// The line. It vanishes with the value.
#[derive(Debug)]
pub(crate) struct Progress<'a> {
    ui: &'a Ui,
    next: Instant,
    shown: bool,
}

impl<'a> Progress<'a> {
    pub(crate) fn new(ui: &'a Ui) -> Self {
        Self { ui, next: Instant::now() + PATIENCE, shown: false }
    }

    /// Says where the work is, if it is time to say something.
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
