//! Running a command again after it failed.

use std::time::Duration;

use clap::Args;

use super::output::Output;
use ckpt_model::span::{Span, humane};
use ckpt_platform::{Interruption, SignalHandler};

/// The longest wait between two attempts, unless `--backoff` is longer.
const MAX_WAIT: u64 = 60 * 60;

/// The wait before the first retry, in seconds.
const DEFAULT_BACKOFF: u64 = 1;

#[derive(Debug, Args)]
pub(crate) struct RetryFlags {
    /// Run the command again if it fails, at most N times (100 at most); each attempt is recorded
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true, requires = "command",
        value_parser = clap::value_parser!(u32).range(..=100))]
    pub(crate) retries: u32,
    /// Wait this long before the first retry (1s by default); the wait doubles each time, up to an hour
    #[arg(long, value_name = "SPAN", requires = "retries", value_parser = backoff)]
    backoff: Option<Span>,
}

fn backoff(text: &str) -> Result<Span, String> {
    let span: Span = text.parse().map_err(|error: ckpt_model::span::InvalidSpan| error.to_string())?;
    if span > Span::from_days(1) {
        return Err("the longest wait is `1d`".to_owned());
    }
    Ok(span)
}

impl RetryFlags {
    /// Returns the number of attempts.
    pub(crate) fn attempts(&self) -> u32 {
        self.retries + 1
    }

    /// Waits before another attempt, of which `failed` have failed. A signal that asks for an end is returned.
    pub(crate) fn wait(&self, failed: u32, signals: &SignalHandler, output: &Output) -> Option<Interruption> {
        let seconds = self.seconds_before_retry(failed);
        if !output.is_quiet() {
            let (attempt, attempts, wait) = (failed + 1, self.attempts(), humane(seconds));
            output.say(&format!("Attempt {attempt} of {attempts} in {wait}.\n"));
        }
        signals.wait(Duration::from_secs(seconds))
    }

    fn seconds_before_retry(&self, failed: u32) -> u64 {
        let first = self.backoff.map_or(DEFAULT_BACKOFF, Span::seconds);
        let doubled = first.saturating_mul(1_u64.checked_shl(failed.saturating_sub(1)).unwrap_or(u64::MAX));
        doubled.min(MAX_WAIT.max(first))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_doubles_up_to_a_limit() {
        let flags =
            |backoff: Option<&str>| RetryFlags { retries: 100, backoff: backoff.map(|text| text.parse().unwrap()) };
        let waits = |flags: RetryFlags| [1, 2, 3, 13, 100].map(|failed| flags.seconds_before_retry(failed));
        assert_eq!(waits(flags(None)), [1, 2, 4, 3600, 3600]);
        assert_eq!(waits(flags(Some("10s"))), [10, 20, 40, 3600, 3600]);
        assert_eq!(waits(flags(Some("2h"))), [7200; 5]);
        assert_eq!(waits(flags(Some("0s"))), [0; 5]);
        assert!(backoff("25h").is_err() && backoff("5").is_err());
    }
}
