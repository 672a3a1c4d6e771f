//! The owner of files that root creates.
//!
//! `sudo ckpt save` works in the store of another user, who must be able to use what it creates. So root gives every new
//! file and directory to the owner of the directory that it is in.

use std::os::fd::AsFd;

use rustix::fs::{Gid, Uid, fchown, fstat};

/// Gives a new file or directory to the owner of the directory `dir`, if it belongs to root.
///
/// By descriptor, before others can use it: the owner of `dir` may exchange names in it for files that belong to root.
///
/// # Errors
/// The file system refuses.
pub(crate) fn give_to_owner_of(dir: impl AsFd, new: impl AsFd) -> rustix::io::Result<()> {
    if !rustix::process::geteuid().is_root() {
        return Ok(());
    }
    let (owner, new_stat) = (fstat(dir)?, fstat(&new)?);
    // On some file systems all files belong to one user.
    if owner.st_uid == new_stat.st_uid || new_stat.st_uid != Uid::ROOT.as_raw() {
        return Ok(());
    }
    fchown(&new, Some(Uid::from_raw(owner.st_uid)), Some(Gid::from_raw(owner.st_gid)))
}
