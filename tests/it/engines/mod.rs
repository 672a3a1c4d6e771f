//! Object stores: the program `ckpt-remote`, and real engines behind it.
//!
//! `tests/engines/run.sh` starts the engines, builds with the feature `remote`, and runs all of this.

mod helper;
#[cfg(feature = "remote")]
mod killed;
#[cfg(feature = "remote")]
mod real;
#[cfg(feature = "remote")]
mod storm;
#[cfg(feature = "remote")]
mod surroundings;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Writes a shell script that plays or wraps `ckpt-remote`.
fn script(dir: &Path, name: &str, text: &str) -> PathBuf {
    let path = dir.join(name);
    fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}
