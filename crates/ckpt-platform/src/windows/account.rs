//! Accounts. Windows has no numbers for them, and no account that bypasses permissions, so every store is trusted.

use std::ffi::OsStr;

use winapi_util::sysinfo::{ComputerNameKind, get_computer_name};

/// The variable that names the home directory.
pub const HOME: &str = "USERPROFILE";
/// A variable that names the directory of the settings of all programs, and a path below it.
pub const CONFIG_HOME: (&str, &str) = ("APPDATA", "");
/// The variables that name the user.
pub const USER: &[&str] = &["USERNAME"];
/// The account that may do everything.
pub const SUPERUSER: Option<u32> = None;

/// Returns 0, which is the owner of every file.
pub fn current_account() -> u32 {
    0
}

/// Returns false: what an administrator creates in the directory of a user inherits its permissions.
pub fn is_superuser() -> bool {
    false
}

/// Returns the name of this machine.
pub fn host_name() -> Option<String> {
    get_computer_name(ComputerNameKind::PhysicalDnsHostname).ok()?.into_string().ok()
}

/// True if a variable has this name, in any case: `Path` is `PATH`.
pub fn is_same_variable(set: &OsStr, name: &str) -> bool {
    set.eq_ignore_ascii_case(name)
}
