//! Dialects: reading and writing the checkpoint files of other systems.
//!
//! # From a file to a checkpoint, and back
//!
//! 1. [`Document::parse`] parses the text of a file: JSON, YAML or `KEY=VALUE` lines.
//! 2. [`Dialect::detect`] finds the dialect whose `recognises` function accepts the document; any other document is
//!    [`Dialect::Generic`].
//! 3. [`Dialect::read`] calls the reader of the dialect and adds the embedded ckpt data. The result is a [`Reading`]: a
//!    [`Draft`] of a checkpoint, the [`Origin`] of each value, and findings about contradictions. Readers look at the
//!    document only, never at the disk or the clock. Where a document does not decide something, nothing is decided.
//! 4. [`Draft::assemble`] makes a checkpoint of the draft. [`Dialect::imported_state`] keeps the original files in its
//!    state.
//! 5. [`Dialect::write`] renders a checkpoint as [`DialectFiles`]. It merges the changes into the original files, and
//!    embeds what the dialect cannot express. [`Dialect::left_out`] names the parts that are lost even so.
//!
//! # Files
//!
//! | module | content |
//! |---|---|
//! | `document`, `key_values`, `yaml_parse`, `yaml_write` | notations |
//! | `dialect` | the names of the dialects |
//! | `codec` | the dispatch to each dialect, and the export of an imported checkpoint |
//! | `reading`, `draft`, `read_log` | what a reader produces, and the log it keeps |
//! | `ckpt`, `kamiflow`, `dotagent`, `claude_dir`, `claude_plan`, `crunch` | one dialect each |
//! | `generic` | the reader for any other document |
//! | `native_state` | members of the state that a dialect has too |
//! | `embedded` | ckpt data inside the files of other systems |
//! | `checkpoint_part` | the parts of a checkpoint, and the check that an export preserves them |
//! | `merge` | the three-way merge of JSON values |
//! | `reconcile` | taking over what a system has changed in files that were written for it |
//! | `members`, `phase_list`, `numbered_phases`, `times` | helpers for readers |
//! | `testing` | helpers for tests |
//!
//! # How to add a dialect
//!
//! 1. Add a variant to [`Dialect`], with its word, and to `ALL`, `FOREIGN` and `WRITABLE`. `ALL` is the order of detection:
//!    the dialect with the most specific `recognises` comes first.
//! 2. Add a module with `recognises`, `read` and `write`, and their tests, and call them in `codec`: in `detect`, `read`
//!    and `render`. A dialect with a fixed list of phases gets a built-in pipeline of the same name.
//! 3. If it keeps a second file, name its key in `Dialect::companion_key`.
//! 4. If it has a member for the data of its users, name it in `embedded/container.rs`, and the members that users save as
//!    their state in `native_state`.
//! 5. Add the names of its files to `core/export`, and the name of its companion to `core/import`.

mod checkpoint_part;
mod ckpt;
mod claude_dir;
mod claude_plan;
mod codec;
mod crunch;
mod dialect;
mod document;
mod dotagent;
mod draft;
mod embedded;
mod generic;
mod kamiflow;
mod key_values;
mod members;
mod merge;
mod native_state;
mod numbered_phases;
mod phase_list;
mod read_log;
mod reading;
mod reconcile;
#[cfg(test)]
mod testing;
mod times;
mod yaml_parse;
mod yaml_write;

pub use checkpoint_part::CheckpointPart;
pub use dialect::{Dialect, UnknownDialect};
pub use document::{Document, MAX_SOURCE_BYTES, MAX_SOURCE_DEPTH, Notation};
pub use draft::{Draft, WatchedPath};
pub use reading::{DialectFiles, Origin, Reading};
pub use yaml_write::to_yaml;
