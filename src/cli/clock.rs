//! The clock, read at the first use and then fixed.

use std::cell::OnceCell;

use super::env::Environment;
use super::error::{ErrorCode, Failure};
use ckpt_model::Timestamp;

/// The time of this run of the program.
#[derive(Debug, Clone, Default)]
pub(crate) struct Clock {
    now: OnceCell<Timestamp>,
}

impl Clock {
    /// Uses the clock of the system, or the time in `CKPT_NOW`, which makes transcripts repeatable.
    pub(crate) fn new(env: &Environment) -> Result<Self, Failure> {
        let Some(text) = env.var("CKPT_NOW") else { return Ok(Self::default()) };
        Timestamp::parse(&text).map(|now| Self { now: now.into() }).ok_or_else(|| {
            Failure::new(
                ErrorCode::BadTime,
                format!("`CKPT_NOW` is `{}`, which is not an RFC 3339 time", text.escape_debug()),
            )
            .help("write it as in `CKPT_NOW=2026-01-30T14:30:00Z`")
        })
    }

    /// Returns the same time at every call.
    #[expect(clippy::disallowed_methods, reason = "this is where the clock is read")]
    pub(crate) fn now(&self) -> Timestamp {
        *self.now.get_or_init(|| std::time::SystemTime::now().into())
    }
}
