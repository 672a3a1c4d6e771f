//! The programs that run agents, and what their hooks tell and understand.
//!
//! Without I/O: the bytes of a payload in, what it says about the work out; an answer in, the line for the host out. What is
//! done at an event is in `cli::hook`.

mod answer;
mod host;
mod payload;
mod tools;

pub use answer::HookAnswer;
pub use host::{HookEvent, Host, UnknownWord};
pub use payload::{BadPayload, MAX_PAYLOAD_BYTES, Payload, ToolUse};
pub use tools::PlanReport;
