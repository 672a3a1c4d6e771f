//! Tests of the whole: the store and the program as their users meet them.

#![expect(clippy::disallowed_methods, reason = "tests arrange their own world")]

#[cfg(test)]
mod protocol;
