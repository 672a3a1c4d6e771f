//! Reading of everything that a judgement needs: the checkpoint, and the world around it.
//!
//! [`Selected`] is the checkpoint to resume from. [`gather()`] and [`sharing()`] collect [`Facts`](ckpt_model::resume::Facts)
//! about the files, the git checkout and the other heads. They read, change nothing and judge nothing:
//! [`resume`](ckpt_model::resume) does.

mod gather;
mod select;
mod sharing;

pub use gather::{KeptContents, Observer, gather};
pub(crate) use gather::{observed_run, reconcile_tasks};
pub use select::Selected;
pub use sharing::sharing;
