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
mod platform;

// The tests, benchmarks and fuzzers of this repository reach the internals; nobody else does.
#[cfg(not(feature = "testing"))]
#[expect(unused_imports, reason = "some re-exports serve the tests only")]
mod core;
#[cfg(feature = "testing")]
pub mod core;

#[cfg(not(feature = "testing"))]
mod sync;
#[cfg(feature = "testing")]
pub mod sync;

#[doc(hidden)]
pub mod cli;

pub use crate::core::change::{Change, ChangeError, Edit, TaskChange};
pub use crate::core::checkpoint::{Artifact, Checkpoint, Content, WorkflowStatus, Writer};
pub use crate::core::finding::{Code, Finding, Severity};
pub use crate::core::phase::{Phase, PhaseId, PhaseStatus};
pub use crate::core::resume::{Resume, Verdict};
pub use crate::core::save::Outcome;
pub use crate::core::selector::{Handle, Selector};
pub use crate::core::store::{Error as StoreError, WorkflowRow};
pub use crate::core::task::{Task, TaskId, TaskStatus};
pub use crate::core::time::Timestamp;
pub use crate::core::trigger::Trigger;
pub use crate::core::workflow_id::WorkflowId;
pub use library::{Error, SaveBuilder, Store};

/// Compiles and runs the example of the book.
#[cfg(doctest)]
#[doc = include_str!("../docs/reference/library.md")]
struct LibraryPage;
