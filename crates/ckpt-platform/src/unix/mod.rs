//! Linux and macOS.

mod account;
mod dir;
mod file;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;
mod screen_signals;
mod signals;
mod stdin;
mod terminal;
mod volume;

#[cfg(target_os = "linux")]
use linux as system;
#[cfg(target_os = "macos")]
use macos as system;

pub use account::{CONFIG_HOME, HOME, SUPERUSER, USER, current_account, host_name, is_same_variable, is_superuser};
pub use dir::Dir;
pub use file::{
    canonicalize, is_link, is_out_of_descriptors, lock_until_published, open_file, path_from_bytes, read_exactly, stat,
    stat_target, sync_file,
};
pub use screen_signals::{Suspension, TerminalGuard};
pub use signals::{SignalHandler, exit_of};
pub use stdin::read_stdin;
pub use system::BROWSER;
pub use terminal::terminal_size;
pub use volume::volume;
