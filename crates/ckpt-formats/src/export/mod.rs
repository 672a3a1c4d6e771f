//! Writing checkpoints as the files of other systems, under the names those systems expect.
//!
//! [`checkpoints()`] reads what is exported of a workflow, [`files()`] returns the files of some checkpoints without
//! looking at the disk, and [`place`](ckpt_store::place) writes them where there are none. Nothing is read, written or removed outside
//! the target directory, not even through a link in it.

mod error;
mod files;
mod select;

pub use error::ExportError;
pub use files::{Export, files};
pub use select::checkpoints;
