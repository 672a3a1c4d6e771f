//! Writing checkpoints as the files of other systems, under the names those systems expect.
//!
//! [`files()`] returns the files of some checkpoints, and [`projection()`] all files that a system would have of what the
//! store holds of a workflow. Both are pure. [`write()`] writes one file. Nothing is read, written or removed outside the
//! target directory, not even through a link in it.

mod error;
mod files;
mod projection;
mod write;

pub use error::ExportError;
pub use files::{EarlierFile, Export, ExportFile, FileContent, files, files_after, has_history};
pub use projection::{current_run, directory, previous_runs, projection, slot_projection, whole_run};
pub use write::{Placed, Present, place, present, remove, write};
