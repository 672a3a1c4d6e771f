//! The clock, read once.

use super::env::Environment;
use super::error::Failure;
use crate::core::Timestamp;

/// The present time, or the one in `CKPT_NOW`, which makes transcripts and tests repeatable.
pub(crate) fn now(env: &Environment) -> Result<Timestamp, Failure> {
    let Some(given) = env.var("CKPT_NOW") else {
        #[expect(clippy::disallowed_methods, reason = "this is where the clock is read")]
        return Ok(std::time::SystemTime::now().into());
    };
    Timestamp::parse(&given).ok_or_else(|| {
        Failure::usage(
            "bad_time",
            format!("`CKPT_NOW` is `{}`, which is not an RFC 3339 time", given.escape_debug()),
        )
        .help("write it as in `CKPT_NOW=2026-01-30T14:30:00Z`")
    })
}
