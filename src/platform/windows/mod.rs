//! Windows.

mod account;
mod dir;
mod file;
mod signals;
mod terminal;

pub(crate) use account::{CONFIG_HOME, HOME, SUPERUSER, USER, current_account, host_name, is_superuser};
pub use dir::Dir;
pub(crate) use file::{
    canonicalize, is_link, lock_until_published, open_file, path_from_bytes, read_exactly, stat, stat_target,
    sync_file,
};
pub(crate) use signals::{SignalHandler, exit_of};
pub(crate) use terminal::terminal_size;
