//! A kill, and every kind of error, at every system call of the commands that write.
//!
//! Whatever happens: the end is one that is documented, exit 0 means that it was done, what was there before is still
//! there, and the same command once more completes it.

mod archive;
mod cleanup;
mod export;
mod import;
mod init;
mod injection;
mod repair;
mod restore;
mod reversible;
mod rollback;
mod run;
mod save;
