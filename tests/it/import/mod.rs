//! Other systems' checkpoint files: what is read out of them, and what `import` makes of them.

mod collisions;
mod command;
mod concurrent;
mod hostile;
mod like_a_save;
mod mutations;
mod order;
mod table;
