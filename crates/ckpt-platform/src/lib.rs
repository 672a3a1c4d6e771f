//! Everything that differs between operating systems: files and directories, accounts, child processes, the terminal.
//!
//! `unix` serves Linux and macOS, which differ in `unix/linux.rs` and `unix/macos.rs`; `windows` serves Windows. Both
//! export the same names, listed below, and the rest of the program has no other code for one platform.
//! `docs/platforms.md` says what is promised on each.

mod directories;
mod interruption;
mod stat;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

pub use directories::{make_directories, missing_directories};
pub use interruption::Interruption;
pub use stat::Volume;
pub use stat::{FileId, FileKind, Stat};
pub use system::Dir;
pub use system::{
    BROWSER, CONFIG_HOME, HOME, SUPERUSER, SignalHandler, Suspension, TerminalGuard, USER, canonicalize,
    current_account, exit_of, host_name, is_link, is_out_of_descriptors, is_same_variable, is_superuser,
    lock_until_published, open_file, path_from_bytes, read_exactly, read_stdin, stat, stat_target, sync_file,
    terminal_size, volume,
};
