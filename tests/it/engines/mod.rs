//! Object stores: the program `ckpt-remote`, and real engines that it talks to.
//!
//! `tests/engines/run.sh` builds `ckpt-remote`, starts the engines, and runs all of this. Elsewhere only the tests that
//! play `ckpt-remote` run; the others are ignored.

mod helper;
mod killed;
mod real;
mod storm;
mod surroundings;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Returns the program `ckpt-remote`, which `tests/engines/run.sh` builds beside `ckpt`.
fn ckpt_remote() -> PathBuf {
    let program = Path::new(env!("CARGO_BIN_EXE_ckpt")).with_file_name("ckpt-remote");
    assert!(program.exists(), "there is no {}: tests/engines/run.sh builds it", program.display());
    program
}

/// Writes a shell script that plays or wraps `ckpt-remote`.
fn script(dir: &Path, name: &str, text: &str) -> PathBuf {
    let path = dir.join(name);
    fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}
