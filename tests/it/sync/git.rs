//! A git repository as remote, with real processes.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::project::World;

fn git(dir: &Path, args: &[&str]) -> String {
    let output = Command::new("git").current_dir(dir).args(args).output().unwrap();
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// A bare repository, and machines whose projects have it as `origin`.
fn machines(world: &World, count: usize) -> Vec<World> {
    let origin = world.temp().join("origin.git");
    git(world.temp(), &["init", "--quiet", "--bare", "origin.git"]);
    (0..count)
        .map(|n| {
            let parent = world.temp().join(format!("machine{n}"));
            fs::create_dir(&parent).unwrap();
            let machine = World::inside(&parent);
            git(&machine.project(), &["init", "--quiet"]);
            git(&machine.project(), &["remote", "add", "origin", origin.to_str().unwrap()]);
            machine.configure_user("[remote]\nurl = \"git:origin\"\n");
            machine
        })
        .collect()
}

#[test]
fn a_repository_carries_checkpoints_and_nothing_else_of_it_changes() {
    let world = World::new();
    let machines = machines(&world, 2);
    let [a, b] = machines.as_slice() else { unreachable!() };
    a.run(&["save", "042", "--set", "n=1"]).succeeds();
    a.run(&["save", "Auth..x", "--set", "n=1"]).succeeds();
    a.run(&["push"]).succeeds();
    b.run(&["pull"]).succeeds();
    assert_eq!(b.stored("Auth..x", 1), a.stored("Auth..x", 1));
    b.run(&["save", "042", "--set", "b=1"]).succeeds();
    b.run(&["push"]).succeeds();
    a.run(&["save", "042", "--set", "a=1"]).succeeds();
    a.run(&["sync"]).succeeds();
    a.run(&["join", "042"]).succeeds();
    a.run(&["push"]).succeeds();
    b.run(&["sync"]).succeeds();
    for machine in [a, b] {
        assert_eq!(machine.json(&["verify"])["ok"], true);
        assert_eq!(machine.stored("042", 3), a.stored("042", 3));
        assert_eq!(git(&machine.project(), &["for-each-ref"]), "");
        assert!(
            git(&machine.project(), &["status", "--porcelain"]).lines().all(|line| line.ends_with(".ckpt/"))
        );
    }
    let refs = git(&world.temp().join("origin.git"), &["for-each-ref", "--format=%(refname)"]);
    assert_eq!(refs, "refs/ckpt/FORMAT\nrefs/ckpt/wf/!auth%2e%2ex\nrefs/ckpt/wf/042\n");
}

#[test]
fn concurrent_pushes_lose_nothing() {
    const MACHINES: usize = 4;
    let world = World::new();
    let machines = machines(&world, MACHINES);
    machines[0].run(&["save", "042", "--set", "n=0"]).succeeds();
    machines[0].run(&["push"]).succeeds();
    for machine in &machines[1..] {
        machine.run(&["pull"]).succeeds();
    }
    for round in 0..2 {
        for (n, machine) in machines.iter().enumerate() {
            machine.run(&["save", "042", "--set", &format!("m{n}={round}")]).succeeds();
        }
        let children: Vec<_> = machines.iter().map(|machine| machine.ckpt(&["push"]).spawn()).collect();
        for child in children {
            let output = child.wait_with_output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
    }
    for machine in machines.iter().chain(&machines) {
        machine.run(&["sync"]).succeeds();
    }
    let listed = git(&world.temp().join("origin.git"), &["ls-tree", "--name-only", "refs/ckpt/wf/042"]);
    assert_eq!(listed.lines().count(), 1 + 2 * MACHINES, "{listed}");
    for machine in &machines {
        let sides = fs::read_dir(machine.store().join("sides/042")).unwrap().count();
        assert_eq!(machine.numbers("042").len() + sides, 1 + 2 * MACHINES);
        assert_eq!(machine.json(&["verify"])["ok"], true);
    }
    // Four heads become one.
    for _ in 1..MACHINES {
        let resumed = machines[0].json(&["sync"]);
        let onto = resumed["workflows"][0]["heads"][0].as_str().unwrap().to_owned();
        machines[0].run(&["join", "042", "--onto", &onto, "--ours"]).succeeds();
    }
    for machine in machines.iter().chain(&machines) {
        let synced = machine.json(&["sync"]);
        let heads =
            synced["workflows"].as_array().unwrap().iter().flat_map(|w| w["heads"].as_array().unwrap());
        assert_eq!(heads.count(), 0, "{synced}");
    }
}

#[test]
fn hostile_addresses_run_nothing() {
    let world = World::new();
    let machines = machines(&world, 1);
    let machine = &machines[0];
    machine.run(&["save", "042", "--set", "n=1"]).succeeds();
    let proof = world.temp().join("proof");
    let touch = format!("touch {}", proof.display());
    for url in [format!("git:ext::sh -c {touch}"), format!("git:--upload-pack={touch}"), "git:-x".to_owned()]
    {
        machine.ckpt(&["pull"]).env("CKPT_REMOTE", &url).refused(2, "invalid_remote");
    }
    git(&machine.project(), &["config", "remote.origin.url", &format!("ext::sh -c {touch}")]);
    machine.refuses(&["pull"], 9, "remote_refused");
    assert!(!proof.exists());
}
