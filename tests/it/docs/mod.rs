//! The README and the examples, executed.

mod examples;
mod readme;
