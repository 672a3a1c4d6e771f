//! The git checkout around the work: recorded with every save, and how worktrees share a store.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use crate::support::project::{World, find_program, skip};

fn git(dir: &Path, args: &[&str]) -> Option<String> {
    let Some(program) = find_program("git") else {
        skip("git is not installed");
        return None;
    };
    let mut command = Command::new(program);
    command.args(["-c", "user.name=t", "-c", "user.email=t@t", "-c", "init.defaultBranch=trunk"]).args(args);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let output = command.current_dir(dir).env_clear().env("PATH", path).env("HOME", dir).output().unwrap();
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap().trim().to_owned())
}

/// A repository with one commit, and that commit.
fn repository(world: &World) -> Option<String> {
    git(&world.project(), &["init", "-q"])?;
    git(&world.project(), &["commit", "-q", "--allow-empty", "-m", "first"])?;
    git(&world.project(), &["rev-parse", "HEAD"])
}

#[test]
fn branch_and_commit_are_recorded() {
    let world = World::new();
    let Some(commit) = repository(&world) else { return };
    world.run(&["save", "042"]).succeeds();
    assert_eq!(world.stored("042", 1)["context"]["git"], json!({"branch": "trunk", "commit": commit}));
}

#[test]
fn packed_references_and_detached_heads_are_understood() {
    let world = World::new();
    let Some(commit) = repository(&world) else { return };
    git(&world.project(), &["switch", "-q", "-c", "feature/login"]);
    git(&world.project(), &["pack-refs", "--all"]);
    world.run(&["save", "042"]).succeeds();
    assert_eq!(world.stored("042", 1)["context"]["git"], json!({"branch": "feature/login", "commit": commit}));
    git(&world.project(), &["checkout", "-q", "--detach"]);
    world.run(&["save", "042"]).succeeds();
    assert_eq!(world.stored("042", 2)["context"]["git"], json!({"branch": null, "commit": commit}));
}

#[test]
fn without_git_nothing_is_recorded() {
    let world = World::with_checkpoints(1);
    assert_eq!(world.stored("042", 1)["context"]["git"], json!(null));
}

#[test]
fn the_store_is_made_at_the_root_of_the_checkout_and_found_from_below() {
    let world = World::new();
    let Some(_) = repository(&world) else { return };
    std::fs::create_dir_all(world.project().join("src/deep")).unwrap();
    world.ckpt(&["save", "042"]).dir("src/deep").run().succeeds();
    assert_eq!(world.numbers("042"), [1]);
    assert_eq!(world.ckpt(&["save", "042"]).dir("src").json()["handle"], "042/2");
}

#[test]
fn the_store_stays_out_of_version_control() {
    let world = World::new();
    let Some(_) = repository(&world) else { return };
    world.run(&["init"]).succeeds();
    world.run(&["save", "042"]).succeeds();
    let seen = git(&world.project(), &["status", "--porcelain", "-uall"]).unwrap();
    assert_eq!(seen, "?? .ckpt/.gitignore\n?? .ckpt/config.toml");
}

fn worktree(world: &World) -> Option<PathBuf> {
    repository(world)?;
    let tree = world.temp().join("tree");
    git(&world.project(), &["worktree", "add", "-q", "-b", "side", tree.to_str().unwrap()])?;
    Some(tree)
}

#[test]
fn a_worktree_uses_the_store_beside_the_main_checkout() {
    let world = World::new();
    let Some(tree) = worktree(&world) else { return };
    world.ckpt(&["save", "042"]).dir(&tree).run().succeeds();
    assert_eq!(world.numbers("042"), [1], "made beside the main checkout");
    assert_eq!(world.ckpt(&["save", "042"]).dir(&tree).json()["handle"], "042/2");
    assert_eq!(world.json(&["save", "042"])["handle"], "042/3", "and found from there");
    assert_eq!(world.stored("042", 2)["context"]["git"]["branch"], "side");
}

#[test]
fn artifacts_of_a_worktree_are_those_beside_it() {
    let world = World::new();
    let Some(tree) = worktree(&world) else { return };
    world.run(&["init"]).succeeds();
    std::fs::write(tree.join("spec.md"), "hello").unwrap();
    world.ckpt(&["save", "042", "--artifact", "spec.md"]).dir(&tree).run().succeeds();
    assert_eq!(world.stored("042", 1)["artifacts"][0]["path"], "spec.md");
}

#[test]
fn what_version_control_keeps_of_a_store_is_no_store_of_a_worktree() {
    let world = World::new();
    if repository(&world).is_none() {
        return;
    }
    world.run(&["init"]).succeeds();
    world.run(&["save", "042"]).succeeds();
    let project = world.project();
    git(&project, &["add", "-A"]);
    git(&project, &["commit", "-q", "-m", "with settings"]);
    // Beside the main checkout, and inside it.
    for (seq, tree) in [(2, world.temp().join("tree")), (3, project.join("trees/inside"))] {
        let branch = format!("side-{seq}");
        git(&project, &["worktree", "add", "-q", "-b", &branch, tree.to_str().unwrap()]);
        assert!(tree.join(".ckpt/config.toml").exists() && !tree.join(".ckpt/workflows").exists());
        assert_eq!(world.ckpt(&["save", "042"]).dir(&tree).json()["seq"], seq);
    }
    assert_eq!(world.numbers("042"), [1, 2, 3]);
}

#[test]
fn a_git_file_that_the_main_checkout_does_not_know_leads_to_no_other_store() {
    let world = World::new();
    let Some(tree) = worktree(&world) else { return };
    world.run(&["save", "042"]).succeeds();
    let planted = world.temp().join("planted");
    std::fs::create_dir(&planted).unwrap();
    std::fs::copy(tree.join(".git"), planted.join(".git")).unwrap();
    assert_eq!(world.ckpt(&["save", "042"]).dir(&planted).json()["handle"], "042/1");
    assert!(planted.join(".ckpt/workflows/042/00000001.json").exists());
    assert_eq!(world.numbers("042"), [1], "the store of the other project is as it was");

    // A worktree that was moved finds its store again once git knows where it is.
    let moved = world.temp().join("moved");
    std::fs::rename(&tree, &moved).unwrap();
    world.ckpt(&["list"]).dir(&moved).refused(4, "no_store");
    git(&moved, &["worktree", "repair"]);
    assert_eq!(world.ckpt(&["save", "042"]).dir(&moved).json()["handle"], "042/2");
}

#[test]
fn a_submodule_has_a_store_of_its_own() {
    let world = World::new();
    if repository(&world).is_none() {
        return;
    }
    world.run(&["save", "042"]).succeeds();
    let library = world.temp().join("library");
    std::fs::create_dir(&library).unwrap();
    git(&library, &["init", "-q"]);
    git(&library, &["commit", "-q", "--allow-empty", "-m", "first"]);
    let add = ["-c", "protocol.file.allow=always", "submodule", "add", "-q", "../library", "sub"];
    git(&world.project(), &add);
    assert_eq!(world.ckpt(&["save", "042"]).dir("sub").json()["handle"], "042/1");
    assert!(world.project().join("sub/.ckpt/workflows/042/00000001.json").exists());
    assert_eq!(world.numbers("042"), [1]);
}
