//! The programs that run agents: `hosts` knows their payloads, `setup` installs hooks and a skill into them, and undoes it.

pub mod hosts;
pub mod setup;
