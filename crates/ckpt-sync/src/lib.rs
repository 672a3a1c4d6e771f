//! Sharing: the same workflows in several stores, by way of a remote.
//!
//! A save is local and needs no network. A remote holds the same immutable entries under keys that are created once and
//! never changed, so that sync is the exchange of what one side has and the other lacks.
//!
//! - `transports`: the kinds of remote, side by side.
//! - `key`: the names of objects. `remote`: the verbs that every kind of remote has, and the ways in which they fail.
//! - `plan`: what goes where, as a function of what both sides have. `exchange` carries it out; `retry` makes the requests.
//! - `gather`: what both sides have. `ledger`: what the ledger says and learns. `bundles`: entries that were emptied, read
//!   from the bundle that holds them. `janitor`: emptying them.
//! - `claim`: saves that are claimed on the remote first, so that stores that are online never fork.
//! - `contents`: the contents of artifacts, which travel with the checkpoints that need them.
//! - `probe`: whether a place can be a remote, tried out. `layout`: whether it is one. `settings`: its address in the settings
//!   of a store.
//!
//! # Rules
//!
//! 1. A number is one more than the highest that its checkpoint continues; it and the bytes never change.
//! 2. The main line of the remote is a dense chain. What does not continue its newest checkpoint has a name of its own,
//!    with the first digits of its digest.
//! 3. A merge of heads continues both. It is published first, then the numbers that the main line lacks below it are filled. If a
//!    save takes one of them first, the merge does not continue what is below it, and is a side checkpoint for a store that has that.
//! 4. On "exists" or no clear answer, the object is read: ours is done, absent is created under the same key again, and
//!    another's means that the plan is made again.
//! 5. Heads follow from what checkpoints continue, never from clocks.
//!
//! `tests/it/sync/model.rs` tries every order of the steps of two stores, with lost answers and crashes.

mod bundles;
mod claim;
mod contents;
mod error;
mod exchange;
mod gather;
mod janitor;
mod key;
mod layout;
mod ledger;
mod plan;
mod probe;
mod remote;
mod retry;
mod settings;
pub(crate) mod transports;

pub use claim::ClaimingDisk;
pub use error::Error;
pub use exchange::{Exchange, Pulled, Pushed};
pub use janitor::{Emptied, RemoteCleanup};
pub use key::{Key, WORKFLOWS_PREFIX};
pub use probe::{ProbeFailure, RACERS, probe};
pub use remote::{Failure, Incomplete, Listed, NewObject, Remote};
pub use retry::{Names, Retrying};
pub use settings::{with_remote, without_remote};
#[cfg(feature = "testing")]
pub use {key::ObjectName, probe::Capabilities, transports::ObjectStoreRemote};
