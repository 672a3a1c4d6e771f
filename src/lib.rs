//! `ckpt` keeps the state of long, multi-phase work on disk, so that any process, on any day, can find out exactly
//! where to continue.
//!
//! The command line is a thin layer over [`core`], which is enough to embed: it reads no environment, asks no clock
//! and prints nothing.
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
//! use ckpt::core::change::{Change, Stamp};
//! use ckpt::core::checkpoint::Writer;
//! use ckpt::core::save::Save;
//! use ckpt::core::store::Located;
//! use ckpt::core::{Config, Handle, Store, Timestamp, WorkflowId};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = tempfile::tempdir()?;
//! # let project = directory.path().to_owned();
//! let store = Store::at(&Located { root: project.join(".ckpt"), project })?;
//!
//! let workflow: WorkflowId = "042".parse()?;
//! let change = Change { phase: Some("plan".parse()?), note: Some("first draft".into()), ..Change::default() };
//! let stamp = Stamp {
//!     now: Timestamp::from(std::time::SystemTime::now()),
//!     save_id: "any unique text".into(),
//!     writer: Writer::default(),
//!     git: None,
//!     watched: Vec::new(),
//! };
//! let config = Config::default();
//! let outcome = Save::new(&workflow, &change, &stamp, &config).key("first").to(&store)?;
//!
//! assert_eq!(outcome.seq(), Some(1));
//! let stored = store.load(&Handle::new(&workflow, 1))?;
//! assert_eq!(stored.checkpoint.note.as_deref(), Some("first draft"));
//! # Ok(())
//! # }
//! ```

#[cfg(not(feature = "testing"))]
mod core;
#[cfg(feature = "testing")]
pub mod core;

#[doc(hidden)]
pub mod cli;
