//! The index: a cache of the summaries of all workflows, in the file `.ckpt/index`.
//!
//! `list`, `stats` and the commands that look for the unfinished workflow depend on one head per workflow. To read 100,000
//! heads of 10 KB takes 1.4 seconds if they are in the page cache, and eight if they are not. To compare 100,000 directories
//! with the index takes 0.2 and up to two seconds, and about 250 bytes of memory for each. A store with fewer than
//! [`LEAST_WORKFLOWS`] has no index.
//!
//! # Validity
//!
//! The summary of a workflow depends on nothing but the files in its directory, and published files do not change. So a
//! line of the index is valid as long as the inode and the status change time (ctime) of that directory are those in the
//! line. The kernel sets the ctime at every change of a name, and no call sets it to a chosen value.
//!
//! The clock of a file system ticks every few milliseconds, so a directory may change twice at the same ctime, once
//! before and once after it was read. Therefore a line is written only for a directory whose ctime is before that of a
//! file created in the store before the head was read: any later change has a later ctime. The local clock is not used;
//! the file system may be on another machine.
//!
//! A head that is damaged, and one that was found in the archive because its file was removed by hand, have no line. They
//! are read each time.
//!
//! # Who writes it
//!
//! A reader that had to read more than one workflow in [`REWRITE_SHARE`], best effort: under a temporary name, without a
//! sync, then renamed over the old file. A failure is ignored, so a store that cannot be written is only slower. Of two
//! readers at once, the last one wins, and both files are right. Saves do not touch the index: a save costs the same in
//! every store.
//!
//! # Trust
//!
//! The index may be deleted at any time. Its bytes are untrusted: their size is bounded by the number of workflows, and
//! a wrong digest or a line that cannot be parsed means that the workflows are read. It is used to select, order and count
//! workflows only. What is shown of a workflow is read from its files, and everything that changes the store, a cleanup
//! above all, does not use the index. Whoever can write a valid line can write to the store, and could as well replace a
//! head: in a copy or a clone of a store no inode and ctime match. Files edited in place are not noticed here, as the
//! directory does not change; they are when they are shown or verified.
//!
//! `.ckpt/.gitignore` excludes it from version control, as everything but the settings.

mod file;
mod line;

pub(super) use file::{IndexFile, LEAST_WORKFLOWS, REWRITE_SHARE};
pub(super) use line::{DirectoryStamp, Index, write_line};
