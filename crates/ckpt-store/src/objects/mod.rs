//! Objects: the contents of artifacts that a save keeps.
//!
//! ```text
//! .ckpt/objects/ab/abcdef….gz                gzip of a content, named by the SHA-256 of the content
//! .ckpt/objects/ab/abcdef….leaving-0123…     the same, while a cleanup makes sure that nothing refers to it
//! .ckpt/objects/ab/abcdef….lost              the content is gone, and a repair has recorded that
//! .ckpt/objects/size                         a cache: the size of all objects; may be deleted at any time
//! .ckpt/objects/seen                         a cache: the digests of captured files; may be deleted at any time
//! ```
//!
//! `Store::has_object`, `Store::read_object` and `Store::store_object` are all that others need. An object is
//! immutable, and one content is stored once, however many checkpoints refer to it. A checkpoint refers to an object by
//! the digest of an artifact that is marked as captured. Bundles do not repeat objects: an object stays as long as any
//! checkpoint refers to it, live or in a bundle. So whatever is archived can be restored whole, and a file that is the
//! same in a hundred runs takes room once.
//!
//! # A save
//!
//! 1. The content is read once, and the digest that the checkpoint records is that of exactly these bytes. A file that
//!    was captured before and has not changed is not read: one stat tells (see `seen`).
//! 2. The checkpoint is staged (see `append`): from now on its file refers to the object.
//! 3. If the head refers to the same content, its object was durable before the head was published: one stat, to see
//!    that it is there. Otherwise an object that is missing is staged, synced and published, and the directories from
//!    it up to the store are synced, also for one that is there, because its writer may have been killed before that.
//!    If the object of a file that was not read is missing, the file is read now.
//! 4. Only then the checkpoint is published.
//!
//! # A cleanup
//!
//! It removes the objects that are older than a day and that nothing refers to (see `sweep`):
//!
//! 1. It looks for references in every checkpoint: staged, live and archived, in this order, so that one that moves
//!    meanwhile is seen.
//! 2. It takes the name of each object away, and gives it another that only this cleanup uses, in one step.
//! 3. It looks for references again.
//! 4. What is referred to after all gets its name back. The rest is removed.
//!
//! # Why no save loses an object to a cleanup
//!
//! Let a save stage its checkpoint (S) and look up its object after that (L), and a cleanup take the name away (T) and
//! look for references after that (R). Either T comes before L: the save finds no object, and stores it again. Or T comes
//! after L, hence S before L before T before R: the cleanup sees the staged or published checkpoint, and gives the name
//! back. The save publishes after L, so this holds wherever it is killed: no published checkpoint lacks its object. Only
//! names that this cleanup took are removed, so what another cleanup saw does not matter; of two cleanups, the one that
//! took the name last decides. No clock and no lock is part of this: the day of grace only spares work. An object whose
//! name is taken is still found by readers, so a cleanup that is killed loses nothing; the next one takes over what it
//! left.
//!
//! References are found as text: every word of 64 hexadecimal digits in the file of a checkpoint counts. So a damaged
//! file or one of a newer format refers to what it names, too. If something cannot be read, nothing is removed.
//!
//! # Limitations
//!
//! - A content is held in memory, and its object too, while it is stored or read.
//! - Permissions, owner and times of a file are not kept.
//! - A rollback, a fork or a merge refers to objects without having their content. If the checkpoint that it continues
//!   is deleted for good at the same moment, and a cleanup is at work too, the object may be gone. The same goes for a
//!   checkpoint that is pulled, if its object was there, a day old, and nothing else refers to it. `verify` reports it.

mod keep;
mod name;
mod read;
mod references;
mod seen;
mod size;
mod sweep;

pub use keep::ObjectContent;
pub(super) use keep::objects_of;
pub(super) use name::{ObjectName, is_shard, lost_file, shard};
pub use read::{BadObject, ObjectTotals};
pub(super) use seen::SEEN;
pub use seen::SeenFiles;
pub(super) use size::SIZE;

/// The largest content that is stored or read.
pub const MAX_OBJECT_BYTES: u64 = 1 << 30;
