//! Dialects: reading and writing the checkpoint files of other systems.
//!
//! # From a file to a checkpoint, and back
//!
//! 1. [`Document::parse`] parses the text of a file: JSON, JSON Lines, YAML, Markdown or `KEY=VALUE` lines.
//! 2. [`Dialect::detect`] finds the first dialect that recognises the document; any other document is
//!    [`Dialect::Generic`].
//! 3. [`Dialect::read`] calls the reader of the dialect. The result is a [`Reading`]: a [`Draft`] of a checkpoint, the
//!    [`Origin`] of each value, and findings about contradictions. Readers look at the document only, never at the disk or the clock. Where a document does not
//!    decide something, nothing is decided.
//! 4. [`Draft::assemble`] makes a checkpoint of the draft. [`Dialect::imported_state`] keeps the original files in its
//!    state.
//! 5. [`Dialect::write`] renders a checkpoint as [`DialectFiles`]. It writes what the format can say from the checkpoint,
//!    and adds the members of an imported file that the reader does not know.
//!
//! # Files
//!
//! | module | content |
//! |---|---|
//! | `dialect` | the table of all dialects |
//! | `format` | what a dialect consists of |
//! | `codec` | reading and writing in any dialect |
//! | `document`, `key_values`, `markdown`, `yaml_parse`, `yaml_write` | notations |
//! | `reading`, `draft`, `read_log` | what a reader produces, and the log it keeps |
//! | `plausibility` | checks of what any document says |
//! | `generic` | the reader for any other document |
//! | `worklist`, `passes`, `checklist`, `replans`, `members`, `phase_list`, `numbered_phases`, `times` | helpers for readers |
//! | all others | one dialect each |
//!
//! # How to add a dialect
//!
//! 1. Write a file with a `Format`: its name, its places, `recognises` and `read` are enough; `write` and `layout` if it
//!    can be written. A list of things to do is read with `worklist`, check boxes with `checklist`.
//! 2. Add it to the table in `dialect`. The order there is the order of detection: the most specific comes first.
//! 3. Add files of it to `tests/fixtures/dialects/NAME/`, run `UPDATE_FIXTURES=1 cargo test --test it dialects`, and read what
//!    it wrote beside them. What can be written is tried on variants of these files, without a test of its own.
//! 4. Add a line to `docs/systems/index.md`.

mod bmad;
mod boulder;
mod checklist;
mod ckpt;
mod claude_dir;
mod claude_plan;
mod codec;
mod conductor;
mod crunch;
mod dialect;
mod document;
mod dotagent;
mod draft;
mod feature_list;
mod format;
mod generic;
mod gsd;
mod kamiflow;
mod key_values;
mod kiro;
mod markdown;
mod members;
mod numbered_phases;
mod passes;
mod phase_list;
mod plausibility;
mod ralph;
mod read_log;
mod reading;
mod replans;
mod spec_kit;
mod task_master;
mod times;
mod worklist;
mod yaml_parse;
mod yaml_write;

pub use dialect::{Dialect, UnknownDialect};
pub use document::{Document, MAX_SOURCE_BYTES, MAX_SOURCE_DEPTH, Notation};
pub use draft::{Draft, ListCandidate, Undecided, WatchedPath};
pub use format::{Companion, Derive, Derived, FilePer, Layout};
pub use reading::{DialectFiles, Origin, Reading};
pub use yaml_write::to_yaml;
