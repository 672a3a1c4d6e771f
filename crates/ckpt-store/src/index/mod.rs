//! The index: a cache of the summaries of all workflows, in the file `.ckpt/index`.
//!
//! `list` and the commands that look for the unfinished workflow depend on one head per workflow. To read 100,000
//! heads of 10 KB takes 1.4 seconds if they are in the page cache, and eight if they are not. With an index it takes one
//! stat per workflow, and memory for one block of lines. A store with fewer than [`LEAST_WORKFLOWS`] has no index.
//!
//! # Validity
//!
//! The index has a line for every workflow, in the order of the names of their directories.
//!
//! The summary of a workflow depends on nothing but the files in its directory, and published files do not change. So a
//! line of the index is valid as long as the inode and the status change time (ctime) of that directory are those in the
//! line. The kernel sets the ctime at every change of a name, and no call sets it to a chosen value. In the same way, the
//! names in the index are those of all workflows as long as the inodes and ctimes of the two directories that hold them
//! are those in its first block: then nothing is listed. Else the names are listed and sorted, which takes memory for
//! each, and a new index is written.
//!
//! The clock of a file system ticks every few milliseconds, so a directory may change twice at the same ctime, once
//! before and once after it was read. Therefore a stamp is written only for a directory whose ctime is before that of a
//! file created in the store before the directory was read: any later change has a later ctime. The local clock is not
//! used; the file system may be on another machine. If creating that file did not change the ctime of the store's
//! directory, the file system keeps no such times and there is no index.
//!
//! A head that is damaged, and one that was found in the archive because its file was removed by hand, have no summary in
//! the index. They are read each time.
//!
//! # Who writes it
//!
//! A reader that found workflows added or removed, or more than one line in [`REWRITE_SHARE`] outdated, best effort: under a
//! temporary name, without a sync, then renamed over the old file. A failure is ignored, so a store that cannot be written
//! is only slower. Of two readers at once, the last one wins, and both files are right. Saves do not touch the index: a
//! save costs the same in every store.
//!
//! # Trust
//!
//! The index may be deleted at any time. Its bytes are untrusted: the size of a block is bounded, every block has a digest,
//! and behind a wrong one, a line out of order or a missing one the workflows are listed and read. It is used to select
//! and order workflows only. What is shown of a workflow is read from its files, and everything that changes the
//! store, a cleanup above all, does not use the index. Whoever can write a valid index can write to the store, and could
//! as well replace a head: in a copy or a clone of a store no inode and ctime match. Files edited in place are not noticed
//! here, as the directory does not change; they are when they are shown or verified.
//!
//! `.ckpt/.gitignore` excludes it from version control, as everything but the settings.

mod block;
mod file;
mod line;

pub(super) use block::{BLOCK_LINES, Block, IndexReader, Line};
pub(super) use file::{IndexFile, IndexWriter, LEAST_WORKFLOWS, REWRITE_SHARE, SetStamp};
pub(super) use line::{Cached, members, parse_line};
