//! Other systems' checkpoint files: what is read out of them, and what `import` makes of them.

mod collisions;
mod command;
mod concurrent;
mod discover;
mod hostile;
mod like_a_save;
pub(crate) mod mutations;
mod order;
mod table;
