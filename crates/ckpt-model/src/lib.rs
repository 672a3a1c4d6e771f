//! The model: what a checkpoint is, and every decision about it.
//!
//! Nothing here does any input or output: the time, the environment and what files contain are parameters.

pub mod builtin;
pub mod bundle_name;
pub mod cause;
pub mod change;
pub mod checkpoint;
pub mod config;
pub mod diff;
pub mod digest;
pub mod external;
pub mod finding;
pub mod format;
pub mod gate;
pub mod json;
pub mod log;
pub mod merge;
pub mod messages;
pub mod name;
pub mod next_phase;
pub mod paths;
pub mod phase;
pub mod phase_name;
pub mod pipeline;
pub mod progress;
pub mod reason;
pub mod record;
pub mod redact;
pub mod resume;
pub mod retention;
pub mod run_summary;
pub mod schema;
pub mod selector;
pub mod session_note;
pub mod size;
pub mod span;
pub mod stats;
pub mod status_word;
pub mod task;
pub mod text;
pub mod text_diff;
pub mod three_way;
pub mod time;
pub mod trigger;
pub mod version;
pub mod workflow_id;

pub use change::Change;
pub use checkpoint::{Checkpoint, WorkflowStatus};
pub use config::Config;
pub use phase::{PhaseId, PhaseStatus};
pub use reason::ArchiveReason;
pub use selector::{Handle, Selector};
pub use task::{TaskId, TaskStatus};
pub use time::Timestamp;
pub use trigger::Trigger;
pub use workflow_id::{InvalidId, WorkflowId};
