//! A failure or a crash at every step that an operation asks of the disk.

mod archive;
mod cleanup;
mod save;
