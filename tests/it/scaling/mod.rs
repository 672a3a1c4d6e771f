//! How the cost of an operation grows with its input.
//!
//! Cost is counted, never timed by the clock on the wall: steps that are asked of the disk, allocations, or the CPU time
//! of the thread for the same operation on an input and on one four times as large. Linear work costs four times as
//! much then, quadratic work sixteen times.

mod cpu;
mod disk;
mod documents;
mod imports_and_exports;
mod index;
mod redaction;
