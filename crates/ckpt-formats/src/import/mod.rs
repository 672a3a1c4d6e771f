//! Importing the checkpoint files of other systems: find them, order them, append them to the store.
//!
//! A [`ForeignFile`] is a file that was parsed, redacted and read in its dialect. A [`Batch`] reads many of them and
//! groups them by workflow, oldest first. An [`Importer`] appends them one by one; a file that the workflow was made from
//! before is not appended again, and one that was changed since is another save.

mod batch;
mod checkpoint_index;
mod collect;
mod discover;
mod error;
mod files;
mod foreign_file;
mod importer;
mod order;
mod settings;

pub use batch::{Batch, Refusal, Refused, Sorted};
pub use collect::{Companions, Found, Source, collect};
pub use discover::{Discovered, discover};
pub use error::{ImportError, SourceError};
pub use foreign_file::{ForeignFile, ReadOptions};
pub use importer::{ImportOutcome, Importer};
pub use order::{Candidate, Ordered, Rejected, order};
pub use settings::import_settings;
