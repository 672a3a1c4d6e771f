//! `ckpt` keeps the state of long, multi-phase work on disk, so that any process, on any day, can find out exactly
//! where to continue.
//!
//! This library is what the program `ckpt` is made of: open a [`Store`], [save](Store::save) to it and
//! [resume](Store::resume) from it. It reads no environment and prints nothing.
//!
//! # The promise on disk
//!
//! - **Atomic**: a checkpoint is visible whole or not at all.
//! - **Durable on acknowledgement**: when a save returns, it survives a power loss.
//! - **Never overwritten**: number `n` of a workflow has one content for ever.
//! - **Archive before remove**: nothing leaves before a bundle of it is durable, read back and hashed again.
//! - **Ordered and dense**: a save that starts after another was acknowledged gets a higher number; there are no gaps.
//! - **Never blocked**: a killed or stopped process never blocks another.
//! - **Detected**: a flipped bit, a truncation or a hand edit is reported before the content is used.
//!
//! Not promised: anything on a disk that lies about `fsync`, protection from root, confidentiality beyond file modes.
//!
//! # Example
//!
//! ```
//! use ckpt::{Store, Verdict};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let project = tempfile::tempdir()?;
//! # let project = project.path();
//! let store = Store::open(project.join(".ckpt"))?;
//! store.save("042").phases(["plan", "build"]).phase("plan").next("Write the parser").write()?;
//!
//! let resume = store.resume("042")?;
//! assert_eq!(resume.verdict, Verdict::Ready);
//! assert_eq!(resume.phase, Some("build".parse()?));
//! assert_eq!(resume.action.as_deref(), Some("Write the parser"));
//! # Ok(())
//! # }
//! ```

mod library;

#[doc(hidden)]
pub mod cli;

pub use ckpt_model::change::{Change, ChangeError, Edit, TaskChange};
pub use ckpt_model::checkpoint::{Artifact, Checkpoint, Content, WorkflowStatus, Writer};
pub use ckpt_model::finding::{Code, Finding, Severity};
pub use ckpt_model::phase::{Phase, PhaseId, PhaseStatus};
pub use ckpt_model::resume::{Resume, Verdict};
pub use ckpt_model::selector::{Handle, Selector};
pub use ckpt_model::task::{Task, TaskId, TaskStatus};
pub use ckpt_model::time::Timestamp;
pub use ckpt_model::trigger::Trigger;
pub use ckpt_model::workflow_id::WorkflowId;
pub use ckpt_store::save::Outcome;
pub use ckpt_store::{Error as StoreError, WorkflowRow};
pub use library::{Error, SaveBuilder, Store};

/// Compiles and runs the example of the book.
#[cfg(doctest)]
#[doc = include_str!("../docs/reference/library.md")]
struct LibraryPage;
