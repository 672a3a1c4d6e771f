//! The promises of the systems that people move from, one file per document. The names quote the promise in words.

mod checkpoints_directory;
mod crunch;
mod dotagent;
mod kamiflow;
mod recovery_pattern;
