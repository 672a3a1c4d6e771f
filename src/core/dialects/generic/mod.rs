//! The generic reader: any other checkpoint file, read by its shape.
//!
//! It looks for phases (an object of objects, an array of objects, an array of ids, counters, keys such as
//! `STEP_3_STATUS`), for where the work is and what comes next, for tasks, files, times, git and errors, under their many
//! spellings. It says what it recognised and where, and what does not agree. Where the facts do not decide where to go
//! on, the draft does not either, and the judgement is "cannot tell".

mod align;
mod amounts;
mod board;
mod claim;
mod decide;
mod evidence;
mod facts;
mod keys;
mod listed;
mod read;
mod scope;
mod status;
#[cfg(test)]
mod tests;

pub(super) use read::read;
