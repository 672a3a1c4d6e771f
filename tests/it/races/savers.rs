//! Many processes at once: everything acknowledged is there, the numbers are dense, and nobody waits for the dead.

use std::collections::BTreeSet;
use std::fs::File;
use std::process::Child;

use ckpt_model::Handle;
use ckpt_store::Located;
use ckpt_store::Store;
use rustix::fs::{FlockOperation, flock};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::support::project::World;

const WRITERS: u64 = 64;

/// Starts all at once, waits for all, and returns the handles they were given.
fn all_at_once(world: &World, saves: &[Vec<String>]) -> Vec<String> {
    let children: Vec<Child> = saves.iter().map(|args| world.ckpt(args).spawn()).collect();
    let outcome = |child: Child| {
        let output = child.wait_with_output().unwrap();
        world.outcome(output.status, output.stdout, output.stderr).succeeds()
    };
    children.into_iter().map(|child| outcome(child).stdout.trim().to_owned()).collect()
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn assert_consecutive(handles: &[String], from: u64) {
    let distinct: BTreeSet<_> = handles.iter().cloned().collect();
    let expected: BTreeSet<_> = (from..from + handles.len() as u64).map(|seq| format!("042/{seq}")).collect();
    assert_eq!(distinct, expected);
}

/// The document under a number, wherever it is by now.
fn loaded(world: &World, workflow: &str, seq: u64) -> Value {
    let store = Store::at(&Located { root: world.store(), project: world.project() }).unwrap();
    let stored = store.load(&Handle::new(&workflow.parse().unwrap(), seq)).unwrap();
    serde_json::from_slice(&stored.bytes).unwrap()
}

/// The numbers are dense, every file is whole, and each names the one before it.
fn assert_sound(world: &World, workflow: &str) {
    let numbers = world.numbers(workflow);
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>());
    let list = world.json(&["list", workflow, "--all"]);
    assert_eq!(list["damaged"], Value::Array(Vec::new()));
    for pair in numbers.windows(2) {
        let (before, after) = (loaded(world, workflow, pair[0]), loaded(world, workflow, pair[1]));
        assert_eq!(after["parent"]["sha256"], before["sha256"], "{workflow}/{}", pair[1]);
    }
}

#[test]
fn sixty_four_processes_complete_sixty_four_phases() {
    let world = World::on_disk();
    world.run(&["save", "042", "--total", "64"]).succeeds();
    let save = |phase: u64| words(&["save", "042", "--phase", &phase.to_string()]);
    let handles = all_at_once(&world, &(1..=WRITERS).map(save).collect::<Vec<_>>());
    assert_consecutive(&handles, 2);
    let newest = world.stored("042", 1 + WRITERS);
    let phases = newest["phases"].as_array().unwrap();
    assert!(phases.iter().all(|phase| phase["status"] == "complete"), "{newest}");
    assert_eq!((phases.len(), &newest["status"]), (64, &Value::from("complete")));
    assert_sound(&world, "042");
}

#[test]
fn sixty_four_processes_complete_sixty_four_tasks_of_a_new_workflow() {
    let world = World::on_disk();
    let save =
        |task: u64| words(&["save", "042", "--task", &format!("t{task}=done"), "--set", &format!("s{task}={task}")]);
    let handles = all_at_once(&world, &(1..=WRITERS).map(save).collect::<Vec<_>>());
    assert_consecutive(&handles, 1);
    let newest = world.stored("042", WRITERS);
    let tasks: BTreeSet<_> = newest["tasks"].as_array().unwrap().iter().map(|task| task["id"].to_string()).collect();
    assert_eq!((tasks.len(), newest["state"].as_object().unwrap().len()), (64, 64));
    assert_sound(&world, "042");
}

#[test]
fn of_many_retries_under_one_key_one_saves() {
    let world = World::on_disk();
    let save = || words(&["save", "042", "--phase", "a", "--key", "once"]);
    let handles = all_at_once(&world, &(0..16).map(|_| save()).collect::<Vec<_>>());
    assert!(handles.iter().all(|handle| handle == "042/1"), "{handles:?}");
    assert_eq!(world.numbers("042"), [1]);
}

#[test]
fn of_many_that_expect_the_same_one_wins() {
    let world = World::with_checkpoints(1);
    let spawn = |_| world.ckpt(&["save", "042", "--expect", "042/1"]).spawn();
    let children: Vec<_> = (0..16).map(spawn).collect();
    let codes: Vec<_> = children.into_iter().map(|child| child.wait_with_output().unwrap().status.code()).collect();
    assert_eq!(codes.iter().filter(|code| **code == Some(0)).count(), 1, "{codes:?}");
    assert!(codes.iter().all(|code| matches!(code, Some(0 | 8))), "{codes:?}");
    assert_eq!(world.numbers("042"), [1, 2]);
}

#[test]
fn a_lock_that_is_never_released_blocks_nobody() {
    let world = World::with_checkpoints(1);
    let directory = File::open(world.workflow_dir("042")).unwrap();
    flock(&directory, FlockOperation::LockExclusive).unwrap();
    assert_eq!(world.json(&["save", "042"])["handle"], "042/2");
    drop(directory);
}

fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

#[test]
fn stopped_savers_block_nobody() {
    let world = World::with_checkpoints(1);
    // Stopped wherever they happen to be: before, while, or after holding the lock.
    let stopped: Vec<Child> = (0..8)
        .map(|_| {
            let child = world.ckpt(&["save", "042", "--note", "stopped"]).spawn();
            signal(&child, Signal::STOP);
            child
        })
        .collect();
    world.run(&["save", "042", "--phase", "x"]).succeeds();
    for child in &stopped {
        signal(child, Signal::CONT);
    }
    for child in stopped {
        assert!(child.wait_with_output().unwrap().status.success(), "it continues where it stopped");
    }
    assert_eq!(world.numbers("042").len(), 10);
    assert_sound(&world, "042");
}

#[test]
fn what_was_acknowledged_survives_random_kills() {
    let world = World::with_checkpoints(1);
    let mut acknowledged = BTreeSet::new();
    let mut killed = 0;
    for round in 0..3_u32 {
        let mut children: Vec<Child> = (0..30).map(|_| world.ckpt(&["save", "042", "--note", "n"]).spawn()).collect();
        // No clock and no generator: which of them are hit depends on how far each has come.
        for child in children.iter_mut().skip(round as usize).step_by(3) {
            let _ = child.kill();
        }
        for child in children {
            let output = child.wait_with_output().unwrap();
            match output.status.code() {
                Some(code) => {
                    assert_eq!(code, 0, "{}", String::from_utf8_lossy(&output.stderr));
                    acknowledged.insert(String::from_utf8(output.stdout).unwrap().trim().to_owned());
                }
                None => killed += 1,
            }
        }
    }
    assert!(killed > 0, "nobody was killed in time");
    let present: BTreeSet<_> = world.numbers("042").iter().map(|seq| format!("042/{seq}")).collect();
    let lost: Vec<_> = acknowledged.difference(&present).collect();
    assert!(lost.is_empty(), "{lost:?}");
    assert_sound(&world, "042");
    world.run(&["save", "042"]).succeeds();
}
