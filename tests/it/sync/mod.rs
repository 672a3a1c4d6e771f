//! Sharing: the plan and its execution on disks and a remote in memory, and the program with real directories and git.

mod always;
mod commands;
mod forks;
mod git;
mod janitor;
mod limits;
mod model;
mod remote;
