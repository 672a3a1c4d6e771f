//! Storms and power cuts on real file systems, made in image files.
//!
//! Each test runs a second time in a mount namespace of its own, so that mounts and loop devices go away with its
//! process. The ordinary tests run the short form; `tests/proof.sh` sets `CKPT_PROOF=full`, which repeats more.

mod file_system;
mod power_cut;
mod shutdown;
mod storm;

use std::process::Command;

use crate::support::project::{can_mount, find_program, skip};

/// Programs that make and break the file systems.
const PROGRAMS: [&str; 4] = ["mkfs.ext4", "mkfs.xfs", "mkfs.btrfs", "xfs_io"];

/// Runs an ignored test of this binary in a mount namespace of its own.
fn in_mount_namespace(test: &str) {
    if !can_mount() {
        return skip("mounting needs rights that are not there");
    }
    if let Some(missing) = PROGRAMS.iter().find(|name| find_program(name).is_none()) {
        return skip(&format!("{missing} is not installed"));
    }
    let output = Command::new("unshare")
        .arg("-m")
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", test, "--ignored", "--test-threads=1", "--nocapture"])
        .output()
        .unwrap();
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{}\n{stdout}\n{stderr}", output.status);
    assert!(stdout.contains("1 passed"), "{stdout}");
    print!("{stdout}");
}

#[test]
fn storms_on_every_file_system() {
    in_mount_namespace("proof::storm::on_every_file_system");
}

#[test]
fn power_cuts_on_every_journal() {
    in_mount_namespace("proof::power_cut::on_every_journal");
}

#[test]
fn shutdowns_of_every_journal() {
    in_mount_namespace("proof::shutdown::of_every_journal");
}
