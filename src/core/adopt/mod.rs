//! Adopting other systems' checkpoint files: finding them, putting them in order, and appending them to the store.
//!
//! A file is [opened](Opened::read): parsed, freed of secrets, recognised and read. [`Queue`] sorts many of them into
//! workflows, each in the order its files were saved in, and refuses what cannot stand together. [`Adoption`] appends
//! one after another by the save protocol. A file whose digest a workflow knows already is not appended again.

mod append;
mod collect;
mod opened;
mod problem;
mod queue;
mod world;

pub use append::{Adopted, Adoption, Known};
pub use collect::{Collected, Found, Shelf, collect};
pub use opened::{Opened, Terms};
pub use problem::{ImportError, SourceProblem};
pub use queue::{Queue, Queued, Refused};
