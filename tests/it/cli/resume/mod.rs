//! `resume` and what stands on it: `status`, `brief`, `run`, `approve`, `revise`, `pipeline`.

mod approvals;
mod brief;
mod command;
mod command_signals;
mod picker;
mod question;
mod status;
mod verdicts;
mod watch;
