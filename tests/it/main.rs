//! The integration tests.
#![expect(clippy::disallowed_methods, reason = "tests arrange their own world")]

mod readme;
mod resume;
