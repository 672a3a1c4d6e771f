//! Several writers of one workflow at once: between any two steps of each other, as threads, and as processes.

mod archive;
mod cleanup;
mod exchange;
mod savers;
mod verify;
