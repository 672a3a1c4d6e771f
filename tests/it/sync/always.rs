//! Saves that are shared at once.

use std::fs;

use crate::support::project::World;
use ckpt::commands::{machine, shared};

fn settings(world: &World, url: &str, push: &str) {
    world.configure_user(&format!("[remote]\nurl = \"{url}\"\npush = \"{push}\"\n"));
}

#[test]
fn stores_that_are_online_never_fork() {
    const MACHINES: usize = 4;
    const SAVES: usize = 5;
    let (world, url) = shared();
    let machines: Vec<World> = (0..MACHINES).map(|n| machine(&world, &format!("m{n}"), &url)).collect();
    for machine in &machines {
        settings(machine, &url, "always");
    }
    let loops: Vec<_> = machines
        .iter()
        .enumerate()
        .map(|(n, machine)| {
            let numbers: Vec<String> = (1..=SAVES).map(|i| i.to_string()).collect();
            let save = format!("\"$1\" save 042 --set \"m{n}_$i=true\" || exit 1");
            let line = format!("for i in {}; do {save}; done", numbers.join(" "));
            machine.ckpt(&["--version"]).in_shell(&line).spawn()
        })
        .collect();
    for child in loops {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let total = (MACHINES * SAVES) as u64;
    for machine in &machines {
        machine.run(&["sync"]).succeeds();
        assert_eq!(machine.numbers("042"), (1..=total).collect::<Vec<_>>());
        assert!(!machine.store().join("sides").exists());
        assert_eq!(machine.stored("042", total), machines[0].stored("042", total));
        assert_eq!(machine.json(&["verify"])["ok"], true);
    }
    let state = machines[0].stored("042", total)["state"].clone();
    assert_eq!(state.as_object().unwrap().len(), MACHINES * SAVES, "nothing acknowledged is lost: {state}");
}

#[test]
fn a_save_that_the_remote_does_not_have_is_said_to_be_so() {
    let (world, url) = shared();
    settings(&world, &url, "always");
    world.run(&["save", "042", "--set", "n=1"]).succeeds();
    fs::rename(world.temp().join("shared"), world.temp().join("away")).unwrap();
    let failure = world.run(&["save", "042", "--set", "n=2", "--json"]).exits(11).failure();
    assert_eq!(failure["code"], "not_shared");
    assert!(
        failure["message"].as_str().unwrap().starts_with("saved locally as `042/2`, not on the remote"),
        "{failure}"
    );
    assert_eq!(world.numbers("042"), [1, 2]);
    fs::rename(world.temp().join("away"), world.temp().join("shared")).unwrap();
    world.run(&["save", "042", "--set", "n=3"]).succeeds();
    assert_eq!(fs::read_dir(world.temp().join("shared/wf/042")).unwrap().count(), 3);
}

#[test]
fn a_secret_stays_in_the_store() {
    let (world, url) = shared();
    settings(&world, &url, "always");
    world.run(&["save", "042", "--set", "n=1"]).succeeds();
    let token = format!("token=\"ghp_{}\"", "a1B2c3D4e5F6".repeat(3));
    let refused = world.run(&["save", "042", "--set", &token, "--allow-secrets", "--json"]).exits(11).failure();
    assert_eq!(refused["context"]["cause"], "secret_to_push", "{refused}");
    // The state of the next save still has it.
    world.run(&["save", "042", "--set", "n=2"]).exits(11);
    let names = || fs::read_dir(world.temp().join("shared/wf/042")).unwrap().count();
    assert_eq!((world.numbers("042").len(), names()), (3, 1));
    world.run(&["push", "--allow-secrets"]).succeeds();
    assert_eq!(names(), 3);
}

#[test]
fn the_end_of_a_phase_is_pushed_and_a_failure_is_a_warning() {
    let (world, url) = shared();
    settings(&world, &url, "end");
    world.run(&["start", "042", "--phases", "a,b", "--phase", "a"]).succeeds();
    assert!(!world.temp().join("shared/wf").exists());
    world.run(&["done", "042", "--phase", "a"]).succeeds();
    assert_eq!(fs::read_dir(world.temp().join("shared/wf/042")).unwrap().count(), 2);
    fs::rename(world.temp().join("shared"), world.temp().join("away")).unwrap();
    let saved = world.run(&["done", "042", "--phase", "b"]).succeeds();
    assert!(saved.stderr.contains("`ckpt push 042` tries again"), "{saved}");
}

#[test]
fn a_remote_that_only_a_cloned_store_names_is_not_contacted_unasked() {
    let (world, url) = shared();
    world.run(&["init"]).succeeds();
    world.configure(&format!("[remote]\nurl = \"{url}\"\npush = \"always\"\n"));
    let saved = world.run(&["save", "042", "--set", "n=1"]).succeeds();
    assert!(saved.stderr.contains("ckpt remote add"), "{saved}");
    assert!(!world.temp().join("shared/FORMAT").exists());
    world.run(&["remote", "add", &url]).succeeds();
    world.run(&["save", "042", "--set", "n=2"]).succeeds();
    assert_eq!(fs::read_dir(world.temp().join("shared/wf/042")).unwrap().count(), 2);
}
