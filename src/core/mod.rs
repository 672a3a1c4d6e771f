//! The domain, the decisions and the store. Nothing here prints, asks, exits, reads the environment or looks at a
//! clock: the time is a parameter.

pub mod artifact;
pub mod builtin;
pub mod change;
pub mod checkpoint;
pub mod config;
pub mod digest;
pub mod error;
pub mod files;
pub mod format;
pub mod git;
pub mod json;
pub mod name;
pub mod phase;
pub mod pipeline;
pub mod progress;
pub mod reason;
pub mod record;
pub mod redact;
pub mod resume;
pub mod retention;
pub mod save;
pub mod schema;
pub mod selector;
pub mod size;
pub mod span;
pub mod stats;
pub mod status_word;
pub mod store;
pub mod task;
pub mod text;
pub mod time;
pub mod trigger;
pub mod workflow_id;

pub use change::Change;
pub use checkpoint::{Checkpoint, WorkflowStatus};
pub use config::Config;
pub use error::{Error, Result};
pub use phase::{PhaseId, PhaseStatus};
pub use reason::ArchiveReason;
pub use selector::{Handle, Selector};
pub use store::Store;
pub use task::{TaskId, TaskStatus};
pub use time::Timestamp;
pub use trigger::Trigger;
pub use workflow_id::{InvalidId, WorkflowId};
