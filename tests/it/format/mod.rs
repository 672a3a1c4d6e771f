//! The format of a checkpoint file: the golden file, what is read back after any change, and damage to every bit.

mod bit_rot;
mod changes;
mod golden;
