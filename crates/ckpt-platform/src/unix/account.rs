//! Accounts, and the owner of files that root creates.
//!
//! `sudo ckpt save` works in the store of another user, who must be able to use what it creates. So root gives every new
//! file and directory to the owner of the directory that it is in.

use std::ffi::OsStr;
use std::io;
use std::os::fd::AsFd;

use rustix::fs::{Gid, Uid, fchown, fstat};

/// The variable that names the home directory.
pub const HOME: &str = "HOME";
/// A variable that names the directory of the settings of all programs, and a path below it.
pub const CONFIG_HOME: (&str, &str) = (HOME, ".config");
/// The variables that name the user.
pub const USER: &[&str] = &["USER", "LOGNAME"];

/// The account that may do everything.
pub const SUPERUSER: Option<u32> = Some(0);

/// Returns the number of the account that this process runs under.
pub fn current_account() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// True if this process may do everything, and so owns what it creates in the directories of others.
pub fn is_superuser() -> bool {
    Some(current_account()) == SUPERUSER
}

/// Returns the name of this machine.
pub fn host_name() -> Option<String> {
    rustix::system::uname().nodename().to_str().ok().map(str::to_owned)
}

/// Gives a new file or directory to the owner of the directory `dir`, if it belongs to root.
///
/// By descriptor, before others can use it: the owner of `dir` may exchange names in it for files that belong to root.
pub fn give_to_owner_of(dir: impl AsFd, new: impl AsFd) -> io::Result<()> {
    if !is_superuser() {
        return Ok(());
    }
    let (owner, new_stat) = (fstat(dir)?, fstat(&new)?);
    // On some file systems all files belong to one user.
    if owner.st_uid == new_stat.st_uid || new_stat.st_uid != Uid::ROOT.as_raw() {
        return Ok(());
    }
    Ok(fchown(&new, Some(Uid::from_raw(owner.st_uid)), Some(Gid::from_raw(owner.st_gid)))?)
}

/// True if a variable has this name.
pub fn is_same_variable(set: &OsStr, name: &str) -> bool {
    set == name
}
