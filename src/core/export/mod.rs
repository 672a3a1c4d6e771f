//! Writing checkpoints as the files of other systems, under the names those systems look for.
//!
//! [`files()`] decides what is to be written, and [`write()`] writes it. Nothing is written outside the directory that was
//! asked for, not even through a link that somebody has put there.

mod index;
mod layout;
mod problem;
mod write;

pub use layout::{Content, Export, ExportFile, files, is_history};
pub use problem::ExportProblem;
pub use write::{Placed, is_there, write};
