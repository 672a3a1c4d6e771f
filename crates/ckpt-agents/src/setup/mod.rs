//! Setting up an agent: the hooks, the skill and the switches that `ckpt setup` writes into the files of a host.
//!
//! - `hooks`, `skill` and `instructions` are what is written; `packages` puts the same into a folder to distribute.
//! - `parts` says which files that concerns, for a host and a level. `edit` puts a part into the text of a file, or takes
//!   it out again, and leaves every other byte as it is.
//! - `gather` reads the files, `plan` decides without I/O, and `apply` carries out exactly that: each file is replaced
//!   in one step, and what it was before is kept, so that taking everything out again restores the same bytes.
//! - `condition` judges what is there.

mod apply;
mod codex_settings;
mod condition;
mod edit;
mod error;
mod gather;
mod hooks;
mod instructions;
mod json_edit;
mod packages;
mod parts;
mod plan;
mod skill;

pub use apply::{apply, write_private};
pub use condition::{Condition, condition};
pub use error::SetupError;
pub use gather::{Found, Record, gather};
pub use hooks::{Hook, wanted_hooks};
pub use packages::Package;
#[cfg(any(test, feature = "testing"))]
pub use packages::packages;
pub use parts::{Level, Options, Part, PartKind, Places, parts};
pub use plan::{FileChange, plan_addition, plan_removal};
pub use skill::{SKILL, SKILL_NAME};

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests arrange their own world")]
mod tests;
