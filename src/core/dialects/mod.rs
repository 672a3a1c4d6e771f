//! The checkpoint files that people already have: read by dialect or by shape, written back as they were.
//!
//! A file becomes a [`Document`], is recognised ([`Dialect::detect`]) and read into a [`Reading`]: a [`Draft`] of a
//! checkpoint, the place that each fact came from, and findings about whatever does not fit together. Reading looks at
//! nothing but the document: no disk, no clock. A file that is none of the known dialects is read by its shape, and
//! where its facts do not decide something, nothing is decided.

mod assemble;
mod carried;
mod claude_dir;
mod claude_plan;
mod convert;
mod crunch;
mod dialect;
mod dotagent;
mod generic;
mod kamiflow;
mod key_values;
mod known_phases;
mod members;
mod merge;
mod numbers;
mod own;
mod reading;
mod source;
#[cfg(test)]
mod testing;
mod times;
mod topic;
mod yaml;
mod yaml_out;

pub use dialect::{Dialect, UnknownDialect};
pub use reading::{Draft, Origin, Papers, Reading, Watch};
pub use source::{Document, MAX_SOURCE_BYTES, MAX_SOURCE_DEPTH, Notation};
pub use topic::Topic;
pub use yaml_out::to_yaml;
