//! The generic reader: any other checkpoint file, read by its shape.
//!
//! It looks for phases (an object of objects, an array of objects, an array of ids, counters, keys such as
//! `STEP_3_STATUS`), for the current and the next phase, for tasks, files, times, git and errors, under their many
//! names. Where the document does not decide where to continue, the draft does not either, and `resume` answers that it
//! cannot tell.
//!
//! The steps, in the order of [`read()`]:
//!
//! 1. [`sections`] finds the objects with facts about the whole: the document, and objects that commonly wrap them.
//! 2. [`overall_status`] reads the status of the work as a whole.
//! 3. [`stated_progress`] collects everything that is stated about phases, before any conclusion. [`keys`] classifies the
//!    key of a member, [`interpret`] its value, [`phase_records`] and [`status_words`] read lists with statuses, and
//!    [`phase_names`] unifies the names of phases.
//! 4. [`decide`] draws the conclusions, in a [`status_table`]: first from statuses, then from progress [`counters`].

mod counters;
mod decide;
mod interpret;
mod keys;
mod numbers;
mod overall_status;
mod phase_names;
mod phase_records;
mod read;
mod sections;
mod stated_progress;
mod status_table;
mod status_words;
#[cfg(test)]
mod tests;

pub(super) use read::read;
