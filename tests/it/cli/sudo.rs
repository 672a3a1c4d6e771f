//! Root works in the store of another user: the files it creates belong to that user, who can continue with them.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::path::{Path, PathBuf};

use crate::support::program::CKPT;
use crate::support::project::{Invocation, Outcome, World, find_program, is_root, skip};
use crate::support::strace::{calls, strace, with_fault};

const USER: u32 = 12345;

/// Everything in a directory, and the directory itself.
fn walk(path: &Path) -> Vec<PathBuf> {
    let mut paths = vec![path.to_owned()];
    if path.symlink_metadata().unwrap().is_dir() {
        let entries = std::fs::read_dir(path).unwrap();
        paths.extend(entries.flat_map(|entry| walk(&entry.unwrap().path())));
    }
    paths
}

/// A project of the user, with one checkpoint.
fn project_of_user() -> Option<World> {
    if !is_root() {
        skip("only root can act for another user");
        return None;
    }
    let world = World::with_checkpoints(1);
    std::fs::set_permissions(world.temp(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let others_may_enter = |path: &Path| path.metadata().unwrap().mode() & 0o001 != 0;
    if !world.temp().ancestors().all(others_may_enter) {
        skip("another user cannot enter the temporary directory");
        return None;
    }
    // The program itself may be where the user must not look.
    std::fs::copy(CKPT.as_str(), world.temp().join("ckpt")).unwrap();
    for path in walk(&world.project()) {
        chown(path, Some(USER), Some(USER)).unwrap();
    }
    Some(world)
}

fn sudo<'a>(world: &'a World, args: &[&str]) -> Invocation<'a> {
    world.ckpt(args).env("SUDO_UID", USER.to_string())
}

/// Runs the program as the user.
fn as_user(world: &World, args: &[&str]) -> Outcome {
    let setpriv = find_program("setpriv").expect("setpriv is part of every Linux system");
    let ckpt = world.temp().join("ckpt");
    let become_user = format!("--reuid={USER} --regid={USER} --clear-groups");
    let script = format!("shift; exec {} {become_user} {} \"$@\"", setpriv.display(), ckpt.display());
    world.ckpt(args).in_shell(&script).run()
}

/// The paths that belong to somebody else.
fn foreign(world: &World) -> Vec<PathBuf> {
    let mut paths = walk(&world.project());
    paths.retain(|path| {
        let found = path.symlink_metadata().unwrap();
        !found.is_symlink() && (found.uid(), found.gid()) != (USER, USER)
    });
    paths
}

#[test]
fn whatever_root_creates_belongs_to_the_owner_of_the_store() {
    let Some(world) = project_of_user() else { return };
    let commands: &[&[&str]] = &[
        &["init"],
        &["save", "042", "--phase", "2"],
        &["save", "new-one"],
        &["archive", "042", "--as", "completed"],
        &["restore", "042"],
        &["save", "042", "--phase", "3"],
        &["cleanup", "--keep-last", "1"],
        &["cleanup", "--keep-last", "1", "--purge", "--yes"],
        &["export", "042", "--as", "claude-plan"],
    ];
    for args in commands {
        sudo(&world, args).run().succeeds();
        assert_eq!(foreign(&world), Vec::<PathBuf>::new(), "{args:?}");
        as_user(&world, &["verify"]).succeeds();
        as_user(&world, &["save", "042"]).succeeds();
    }
    world.replace_checkpoint("new-one", 1, b"damaged");
    chown(world.checkpoint_file("new-one", 1), Some(USER), Some(USER)).unwrap();
    sudo(&world, &["verify", "--repair"]).run().succeeds();
    assert_eq!(foreign(&world), Vec::<PathBuf>::new(), "a repair");
    as_user(&world, &["verify"]).succeeds();
}

#[test]
fn the_store_that_root_creates_for_itself_stays_usable_for_root() {
    let Some(world) = project_of_user() else { return };
    std::fs::remove_dir_all(world.store()).unwrap();
    for _ in 0..2 {
        world.run(&["save", "042"]).succeeds();
    }
    assert_eq!(world.store().metadata().unwrap().uid(), 0);
}

#[test]
fn a_file_that_cannot_be_given_to_its_owner_is_not_saved() {
    let Some(world) = project_of_user() else { return };
    let Some(strace) = strace() else { return };
    let store = world.store();
    let args = ["--store", store.to_str().unwrap(), "save", "042"];
    let calls = calls(&strace, &world.copy(), &["save", "042"]);
    assert!(calls.iter().all(|call| call.name != "fchown"), "root in its own store gives nothing away");
    let at = crate::support::strace::Call { name: "fchown".into(), nth: 1, line: String::new() };
    let refused = with_fault(world.ckpt(&args), &strace, &at, "error=EPERM").run().exits(10);
    assert!(refused.stderr.contains("cannot write"), "{refused}");
    assert_eq!((world.numbers("042"), foreign(&world)), (vec![1], Vec::new()));
}
