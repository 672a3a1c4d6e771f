//! Windows.

mod account;
mod dir;
mod file;
mod screen_signals;
mod signals;
mod stdin;
mod terminal;
mod volume;

pub(crate) use account::{
    CONFIG_HOME, HOME, SUPERUSER, USER, current_account, host_name, is_same_variable, is_superuser,
};
pub use dir::Dir;

/// The command that opens an address in a browser.
pub(crate) const BROWSER: &[&str] = &["rundll32", "url.dll,FileProtocolHandler"];
pub(crate) use file::{
    canonicalize, is_link, is_out_of_descriptors, lock_until_published, open_file, path_from_bytes,
    read_exactly, stat, stat_target, sync_file,
};
pub(crate) use screen_signals::{Suspension, TerminalGuard};
pub(crate) use signals::{SignalHandler, exit_of};
pub(crate) use stdin::read_stdin;
pub(crate) use terminal::terminal_size;
pub(crate) use volume::volume;
