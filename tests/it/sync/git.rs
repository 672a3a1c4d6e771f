//! A git repository as remote, with real processes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

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
            let machine = World::inside(&parent).with_processes();
            git(&machine.project(), &["init", "--quiet"]);
            git(&machine.project(), &["remote", "add", "origin", origin.to_str().unwrap()]);
            machine.configure_user("[remote]\nurl = \"git:origin\"\n");
            machine
        })
        .collect()
}

#[test]
fn a_repository_carries_checkpoints_and_nothing_else_of_it_changes() {
    let world = World::on_disk().with_processes();
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
    a.run(&["merge", "042"]).succeeds();
    a.run(&["push"]).succeeds();
    b.run(&["sync"]).succeeds();
    for machine in [a, b] {
        assert_eq!(machine.json(&["verify"])["ok"], true);
        assert_eq!(machine.stored("042", 3), a.stored("042", 3));
        assert_eq!(git(&machine.project(), &["for-each-ref"]), "");
        assert!(git(&machine.project(), &["status", "--porcelain"]).lines().all(|line| line.ends_with(".ckpt/")));
    }
    let refs = git(&world.temp().join("origin.git"), &["for-each-ref", "--format=%(refname)"]);
    assert_eq!(refs, "refs/ckpt/FORMAT\nrefs/ckpt/wf/!auth%2e%2ex\nrefs/ckpt/wf/042\n");
}

#[test]
fn concurrent_pushes_lose_nothing() {
    const MACHINES: usize = 4;
    let world = World::on_disk().with_processes();
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
        machines[0].run(&["merge", "042", &onto, "--ours"]).succeeds();
    }
    for machine in machines.iter().chain(&machines) {
        let synced = machine.json(&["sync"]);
        let heads = synced["workflows"].as_array().unwrap().iter().flat_map(|w| w["heads"].as_array().unwrap());
        assert_eq!(heads.count(), 0, "{synced}");
    }
}

/// A loop of saves, of which every third is killed. It prints the mark of each one that was acknowledged: by exit code 0, or
/// by 11 if only the own store has it.
const KILLING_LOOP: &str = r#"
for i in 1 2 3 4 5; do
  "$1" save 042 --set "MACHINE_$i=true" >/dev/null 2>&1 & pid=$!
  if [ $((i % 3)) = 2 ]; then sleep 0.$((i * 7 % 10)); kill -9 $pid 2>/dev/null; fi
  wait $pid; code=$?
  case $code in 0|11) echo "MACHINE_$i";; 137) ;; *) echo "exit $code" >&2; exit 1;; esac
done"#;

#[test]
fn saves_that_are_shared_at_once_and_killed_clients_lose_and_double_nothing() {
    const MACHINES: usize = 3;
    let world = World::on_disk().with_processes();
    let machines = machines(&world, MACHINES + 1);
    let (new, saving) = machines.split_last().unwrap();
    for machine in saving {
        machine.configure_user("[remote]\nurl = \"git:origin\"\npush = \"always\"\n");
    }
    let loops: Vec<_> = saving
        .iter()
        .enumerate()
        .map(|(n, machine)| {
            let line = KILLING_LOOP.replace("MACHINE", &format!("m{n}"));
            machine.ckpt(&["--version"]).in_shell(&line).env("PATH", "/usr/bin:/bin").spawn()
        })
        .collect();
    let mut acknowledged = BTreeSet::new();
    for child in loops {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        acknowledged.extend(String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned));
    }
    assert!(acknowledged.len() >= MACHINES * 3, "{acknowledged:?}");
    for machine in machines.iter().chain(&machines) {
        machine.run(&["sync"]).succeeds();
    }
    let replicas: Vec<BTreeMap<String, Value>> = machines.iter().map(replica).collect();
    let all: BTreeMap<_, _> = replicas.iter().flatten().collect();
    for (n, replica) in replicas.iter().enumerate() {
        let missing = all.iter().filter(|(digest, _)| !replica.contains_key(**digest));
        let missing: Vec<_> = missing.map(|(_, saved)| (&saved["seq"], &saved["state"])).collect();
        assert!(missing.is_empty(), "machine {n} lacks {missing:#?}");
    }
    let saves: BTreeSet<&str> = replicas[0].values().filter_map(|saved| saved["save_id"].as_str()).collect();
    assert_eq!(saves.len(), replicas[0].len(), "one save is one checkpoint");
    // A save that was killed after it was in its store may have been continued elsewhere.
    while let Some(head) = new.json(&["sync"])["workflows"][0]["heads"][0].as_str() {
        new.run(&["merge", "042", head, "--ours"]).succeeds();
    }
    let newest = new.stored("042", *new.numbers("042").last().unwrap());
    let lost: Vec<&String> = acknowledged.iter().filter(|mark| newest["state"].get(mark).is_none()).collect();
    assert!(lost.is_empty(), "acknowledged and lost: {lost:?}");
    for machine in &machines {
        machine.run(&["sync"]).succeeds();
        assert_eq!(machine.json(&["verify"])["ok"], true);
        assert_eq!(replica(machine), replica(new));
    }
}

/// Returns all checkpoints of a store by their digests, without the temporary files that killed saves have left.
fn replica(machine: &World) -> BTreeMap<String, Value> {
    let files = ["workflows/042", "sides/042"].map(|dir| fs::read_dir(machine.store().join(dir)));
    let entries = files.into_iter().flatten().flatten().map(Result::unwrap);
    let published = entries.filter(|entry| !entry.file_name().as_encoded_bytes().starts_with(b"."));
    let bytes = published.map(|entry| fs::read(entry.path()).unwrap());
    let checkpoints = bytes.filter_map(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
    checkpoints.map(|saved| (saved["sha256"].to_string(), saved)).collect()
}

#[test]
fn the_path_of_a_remote_may_be_relative() {
    let world = World::on_disk().with_processes();
    let machines = machines(&world, 1);
    let machine = &machines[0];
    machine.run(&["save", "042", "--set", "n=1"]).succeeds();
    let origin = world.temp().join("origin.git");
    let up = "../".repeat(machine.project().components().count());
    let relative = format!("{up}{}", origin.to_str().unwrap().trim_start_matches('/'));
    git(&machine.project(), &["remote", "set-url", "origin", &relative]);
    machine.run(&["push"]).succeeds();
    assert!(git(&origin, &["for-each-ref"]).contains("refs/ckpt/wf/042"));
}

#[test]
fn unencrypted_connections_lead_to_this_machine_only() {
    let world = World::on_disk().with_processes();
    let machines = machines(&world, 1);
    let machine = &machines[0];
    machine.run(&["save", "042", "--set", "n=1"]).succeeds();
    let push = |url: &str| machine.ckpt(&["push"]).env("CKPT_REMOTE", url).env("PATH", "/usr/bin:/bin");
    for url in ["git:http://ckpt.invalid/a.git", "git:git://ckpt.invalid/a.git"] {
        push(url).refused(9, "remote_refused");
    }
    git(&machine.project(), &["remote", "set-url", "origin", "http://ckpt.invalid/a.git"]);
    push("git:origin").refused(9, "remote_refused");
    // Nobody listens there.
    let unreachable = push("git:http://127.0.0.1:1/a.git").run().exits(1);
    assert!(unreachable.stderr.contains("was not reached"), "{unreachable}");
}

#[test]
fn hostile_addresses_run_nothing() {
    let world = World::on_disk().with_processes();
    let machines = machines(&world, 1);
    let machine = &machines[0];
    machine.run(&["save", "042", "--set", "n=1"]).succeeds();
    let proof = world.temp().join("proof");
    let touch = format!("touch {}", proof.display());
    for url in [format!("git:ext::sh -c {touch}"), format!("git:--upload-pack={touch}"), "git:-x".to_owned()] {
        machine.ckpt(&["pull"]).env("CKPT_REMOTE", &url).refused(2, "invalid_remote");
    }
    git(&machine.project(), &["config", "remote.origin.url", &format!("ext::sh -c {touch}")]);
    machine.refuses(&["pull"], 9, "remote_refused");
    assert!(!proof.exists());
}

#[test]
fn contents_of_artifacts_travel_both_ways() {
    let world = World::on_disk().with_processes();
    let machines = machines(&world, 2);
    let [a, b] = machines.as_slice() else { unreachable!() };
    for (machine, file) in [(a, "a.md"), (b, "b.md")] {
        machine.run(&["sync"]).succeeds();
        machine.write(file, file);
        machine.run(&["save", "042", "--artifact", file, "--capture"]).succeeds();
        machine.run(&["push"]).succeeds();
    }
    a.run(&["pull"]).succeeds();
    for machine in [a, b] {
        fs::remove_file(machine.project().join("a.md")).ok();
        fs::remove_file(machine.project().join("b.md")).ok();
        machine.ckpt(&["resume", "042", "--restore-artifacts"]).run();
        for file in ["a.md", "b.md"] {
            assert_eq!(fs::read_to_string(machine.project().join(file)).unwrap(), file);
        }
    }
}

#[test]
fn a_repository_that_a_stranger_has_put_into_the_store_runs_nothing() {
    use std::os::unix::fs::PermissionsExt as _;

    let world = World::on_disk().with_processes();
    let machines = machines(&world, 2);
    let [a, b] = machines.as_slice() else { unreachable!() };
    a.run(&["save", "042", "--set", "n=1"]).succeeds();
    a.run(&["push"]).succeeds();
    let proof = world.temp().join("proof");
    let hook = format!("#!/bin/sh\ntouch {}\n", proof.display());
    fs::create_dir_all(b.store().join("remote")).unwrap();
    git(&b.store().join("remote"), &["init", "--quiet", "--bare", "git"]);
    let git_dir = b.project().join(".git");
    for repository in [b.store().join("remote/git"), git_dir] {
        let path = repository.join("hooks/reference-transaction");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, &hook).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        git(&repository, &["config", "core.hooksPath", path.parent().unwrap().to_str().unwrap()]);
    }
    b.run(&["pull"]).succeeds();
    b.run(&["save", "042", "--set", "n=2"]).succeeds();
    b.run(&["push"]).succeeds();
    assert!(!proof.exists());
}
