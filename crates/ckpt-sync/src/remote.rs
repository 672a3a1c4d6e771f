//! A remote: a place that other stores reach too, with three verbs.
//!
//! Objects are created if their key is free, listed and read. Nothing is changed or deleted, there is no lock and no
//! compare-and-swap, so any object store that has "put if absent" will do, and so do a shared directory and a git ref
//! that is moved from one known commit to the next.
//!
//! # What an implementation promises
//!
//! - Of any number of concurrent creations of one key, one succeeds, and all others fail with [`Failure::Exists`].
//! - Whoever reads or lists after a creation was acknowledged sees the object, whole.
//! - A request that ends without a clear answer fails with [`Failure::Unknown`], never with another kind. It is not
//!   repeated inside of the implementation, because a repetition that finds its own object would answer `Exists`.
//! - A request ends: an implementation has its own time limit.
//! - Messages have no credentials in them.
//!
//! # What an implementation does not do
//!
//! It does not look into objects, retry or wait: that is decided once, in `sync`. It may trust nothing that it
//! reads: keys that [`Key::parse`] refuses are left out of a list, and no more than the limit of a read is kept in memory.

use std::ops::ControlFlow;

pub use ckpt_wire::Failure;

use super::key::Key;

/// An object to be created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewObject {
    /// Its key.
    pub key: Key,
    /// Its content.
    pub bytes: Vec<u8>,
}

/// A line of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// The key of the object.
    pub key: Key,
    /// The size of its content.
    pub size: u64,
}

/// A creation that stopped early.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Incomplete {
    /// The number of objects that were created, from the front. The next one is the one that failed.
    pub created: usize,
    /// The failure of that one.
    pub failure: Failure,
}

/// The verbs of a remote; see the module for the promises.
pub trait Remote {
    /// Creates objects in this order, each only if its key is free, and stops at the first that is not created.
    ///
    /// All keys have the same [`Key::group`], so that a remote with one ref per group needs one request.
    ///
    /// # Errors
    /// Not all of them were created.
    fn create(&mut self, objects: &[NewObject]) -> Result<(), Incomplete>;

    /// Passes the objects whose keys start with `prefix` to `visit`, in the order of the bytes of their keys, until it
    /// breaks off. The prefix ends with `/`, or is empty.
    ///
    /// In a workflow the newest number comes first, so that whoever needs only the newest stops after one page.
    ///
    /// # Errors
    /// The list is incomplete.
    fn list(&mut self, prefix: &str, visit: &mut dyn FnMut(Listed) -> ControlFlow<()>) -> Result<(), Failure>;

    /// Reads an object of at most `limit` bytes; none if there is no such object.
    ///
    /// # Errors
    /// It cannot be read, or is larger.
    fn get(&mut self, key: &Key, limit: u64) -> Result<Option<Vec<u8>>, Failure>;

    /// Reads objects in any order, and passes each to `visit` with its place in `keys`, until it breaks off.
    ///
    /// A remote with slow round trips reads several at a time.
    ///
    /// # Errors
    /// One cannot be read, or is larger than `limit`.
    fn get_each(
        &mut self,
        keys: &[Key],
        limit: u64,
        visit: &mut dyn FnMut(usize, Option<Vec<u8>>) -> ControlFlow<()>,
    ) -> Result<(), Failure> {
        for (place, key) in keys.iter().enumerate() {
            if visit(place, self.get(key, limit)?).is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Replaces the contents of objects of one [`Key::group`] by nothing. Only the janitor of a remote calls it, for content
    /// that is in a bundle of the same remote; others need no permission for it.
    ///
    /// # Errors
    /// Some are not known to be empty.
    fn empty(&mut self, keys: &[Key]) -> Result<(), Failure>;
}
