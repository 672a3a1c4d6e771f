//! Importing the checkpoint files of other systems: find them, order them, append them to the store.
//!
//! A [`ForeignFile`] is a file that was parsed, redacted and read in its dialect. [`order()`] groups many of them by
//! workflow, oldest first. An [`Importer`] appends them one by one; a file that the workflow was made from before is
//! not appended again. A file that was written for its system, and changed by it since, is merged with the newest
//! checkpoint.

mod checkpoint_index;
mod collect;
mod discover;
mod error;
mod files;
mod foreign_file;
mod importer;
mod mirrored_file;
mod order;

pub use collect::{Companions, Found, Source, collect};
pub use discover::{Discovered, discover};
pub use error::{ImportError, SourceError};
pub use foreign_file::{ForeignFile, ReadOptions};
pub use importer::{ImportOutcome, Importer};
pub use order::{Candidate, Rejected, order};
