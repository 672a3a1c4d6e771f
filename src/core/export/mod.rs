//! Exporting checkpoints as the files of other systems, under the names those systems expect.
//!
//! [`files()`] returns the files, and [`write()`] writes one. Nothing is written outside the target directory, not even
//! through a link in it.

mod error;
mod index;
mod layout;
mod write;

pub use error::ExportError;
pub use layout::{Export, ExportFile, FileContent, files, is_history};
pub use write::{Placed, is_unchanged, read_shared, write};
