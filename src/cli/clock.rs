//! The clock, read when somebody asks for the time, and once.

use std::cell::OnceCell;

use super::env::Environment;
use super::error::{ErrorCode, Failure};
use crate::core::Timestamp;

/// What time it is for this run of the program.
#[derive(Debug, Clone, Default)]
pub(crate) struct Clock {
    now: OnceCell<Timestamp>,
}

impl Clock {
    /// The clock of the system, or the time in `CKPT_NOW`, which makes transcripts and tests repeatable.
    pub(crate) fn new(env: &Environment) -> Result<Self, Failure> {
        let Some(given) = env.var("CKPT_NOW") else { return Ok(Self::default()) };
        Timestamp::parse(&given).map(Self::at).ok_or_else(|| {
            Failure::new(
                ErrorCode::BadTime,
                format!("`CKPT_NOW` is `{}`, which is not an RFC 3339 time", given.escape_debug()),
            )
            .help("write it as in `CKPT_NOW=2026-01-30T14:30:00Z`")
        })
    }

    /// A clock that stands still.
    fn at(now: Timestamp) -> Self {
        Self { now: now.into() }
    }

    /// The time, which is the same whenever it is asked for.
    #[expect(clippy::disallowed_methods, reason = "this is where the clock is read")]
    pub(crate) fn now(&self) -> Timestamp {
        *self.now.get_or_init(|| std::time::SystemTime::now().into())
    }
}
