//! Attacks on the save protocol, all through the seam that the store itself uses, [`Disk`](ckpt_store::Disk).
//!
//! Every harness ends in the same [`audit`](crate::support::audit::audit): what was acknowledged is there, whole, once,
//! in order. What each harness would miss if a protection were absent is shown by `mutants`.

mod gaps;
mod keys;
mod model;
mod mutants;
mod object_mutants;
mod order;
mod power_loss;
mod remembered;
mod schedule;
mod temporary;
