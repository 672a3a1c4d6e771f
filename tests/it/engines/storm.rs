//! Many machines that save to one workflow at once, with `push = "always"`: all is acknowledged, nothing is lost or doubled.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use crate::support::project::{Invocation, World};
use ckpt::real::{Engine, suitable_engines};

const WRITERS: usize = 16;
const SAVES: usize = 20;
/// With faults, each save takes longer, and there are as many storms as kinds of faults.
const SAVES_WITH_FAULTS: usize = 5;

/// Makes a machine with a store of its own, whose saves are shared at once.
pub(super) fn machine(around: &World, name: &str, url: &str) -> World {
    let parent = around.temp().join(name);
    fs::create_dir(&parent).unwrap();
    let machine = World::inside(&parent).with_processes();
    machine.configure_user(&format!("[remote]\nurl = \"{url}\"\npush = \"always\"\n"));
    machine
}

/// Runs `ckpt` on a machine that reaches the engine.
pub(super) fn ckpt<'a>(engine: &Engine, machine: &'a World, args: &[&str]) -> Invocation<'a> {
    engine.env.iter().fold(machine.ckpt(args), |invocation, (name, value)| invocation.env(name, value))
}

/// Lets as many loops save at once, on so many machines, and checks what a new machine pulls then. Returns the requests, by
/// method and status, if the engine counts them.
fn storm(engine: &Engine, machines: usize, saves: usize) -> Option<BTreeMap<String, u64>> {
    let around = World::new().with_processes();
    let url = engine.fresh_url();
    let machines: Vec<World> = (0..machines).map(|n| machine(&around, &format!("m{n}"), &url)).collect();
    let loops: Vec<_> = machines
        .iter()
        .cycle()
        .take(WRITERS)
        .enumerate()
        .map(|(n, machine)| {
            let line = format!("for i in $(seq {saves}); do \"$1\" save 042 --set \"m{n}_$i=true\" || exit 1; done");
            ckpt(engine, machine, &["--version"]).in_shell(&line).env("PATH", "/usr/bin:/bin").spawn()
        })
        .collect();
    for child in loops {
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{}: not acknowledged: {said}", engine.name);
    }
    let total = (WRITERS * saves) as u64;
    let counts = engine.control.as_ref().map(|_| engine.control("GET", ""));
    let new = machine(&around, "new", &url);
    ckpt(engine, &new, &["pull"]).run().succeeds();
    assert_eq!(new.numbers("042"), (1..=total).collect::<Vec<_>>(), "{}: no gap, no double", engine.name);
    let keys =
        |seq| -> BTreeSet<String> { new.stored("042", seq)["state"].as_object().unwrap().keys().cloned().collect() };
    for seq in 1..=total {
        assert_eq!(
            keys(seq).len() as u64,
            seq,
            "{}: each checkpoint has one save more than the one before",
            engine.name
        );
    }
    let expected: BTreeSet<String> = (0..WRITERS).flat_map(|n| (1..=saves).map(move |i| format!("m{n}_{i}"))).collect();
    assert_eq!(keys(total), expected, "{}: nothing acknowledged is lost", engine.name);
    assert_eq!(new.json(&["verify"])["ok"], true, "{}", engine.name);
    for machine in [&machines[0], &machines[machines.len() - 1]] {
        ckpt(engine, machine, &["sync"]).run().succeeds();
        for seq in 1..=total {
            let read = |world: &World| fs::read(world.checkpoint_file("042", seq)).unwrap();
            assert_eq!(read(machine), read(&new), "{}: replicas are equal", engine.name);
        }
    }
    counts
}

/// Returns the number of requests whose method and status start with a text, for each save.
fn per_save(counts: &BTreeMap<String, u64>, start: &str) -> f64 {
    let requests: u64 = counts.iter().filter(|(name, _)| name.starts_with(start)).map(|(_, count)| count).sum();
    requests as f64 / (WRITERS * SAVES) as f64
}

#[test]
#[ignore = "run by tests/engines/run.sh"]
fn sixteen_machines_at_once_lose_and_double_nothing_on_any_engine() {
    for engine in suitable_engines() {
        if engine.control.is_some() {
            engine.control("PUT", "{}");
        }
        if let Some(counts) = storm(&engine, WRITERS, SAVES) {
            let [tries, lists, misses] = ["PUT", "LIST", "GET 404"].map(|start| per_save(&counts, start));
            let all = per_save(&counts, "");
            println!(
                "{}: {tries:.2} tries, {lists:.2} lists and {misses:.2} reads of nothing per save of 16 machines at once, {all:.2} requests with what each reads",
                engine.name
            );
            // Without the wait after a loss, there are nine.
            assert!(tries + lists + misses <= 3.0, "{counts:?}");
            // Each machine has every checkpoint in the end, and read each foreign one once; the layout.
            let foreign = WRITERS * (WRITERS - 1) * SAVES;
            let reads = counts.get("GET 200").copied().unwrap_or_default();
            assert!(reads <= (foreign + 4 * WRITERS) as u64, "{counts:?}");
        }
    }
}

#[test]
#[ignore = "run by tests/engines/run.sh"]
fn sixteen_processes_of_one_machine_lose_and_double_nothing() {
    let Some(engine) = suitable_engines().into_iter().find(|engine| engine.control.is_some()) else { return };
    engine.control("PUT", "{}");
    let counts = storm(&engine, 1, SAVES).unwrap();
    let all = per_save(&counts, "");
    println!("{}: {all:.2} requests per save of 16 processes of one machine", engine.name);
    assert!(all <= 3.0, "{counts:?}");
}

#[test]
#[ignore = "run by tests/engines/run.sh"]
fn sixteen_machines_at_once_survive_every_fault() {
    let Some(engine) = suitable_engines().into_iter().find(|engine| engine.control.is_some()) else { return };
    for fault in ["lost_ack", "drop_after", "err503", "conflict409", "drop_before"] {
        engine.control("PUT", &format!(r#"{{"fault": "{fault}", "share": 0.3, "method": "PUT"}}"#));
        let engine = Engine { name: format!("{} with {fault}", engine.name), ..engine.clone() };
        storm(&engine, WRITERS, SAVES_WITH_FAULTS);
        let counts = engine.control("PUT", "{}");
        assert!(counts.get(&format!("PUT {fault}")).is_some_and(|count| *count > 5), "{fault}: {counts:?}");
    }
}

#[test]
#[ignore = "run by tests/engines/run.sh"]
fn a_warm_save_is_one_request() {
    let Some(engine) = suitable_engines().into_iter().find(|engine| engine.control.is_some()) else { return };
    let around = World::new().with_processes();
    let url = engine.fresh_url();
    let alone = machine(&around, "alone", &url);
    ckpt(&engine, &alone, &["save", "042", "--set", "n=0"]).run().succeeds();
    engine.control("PUT", "{}");
    for n in 1..=10 {
        ckpt(&engine, &alone, &["save", "042", "--set", &format!("n={n}")]).run().succeeds();
    }
    let counts = engine.control("PUT", "{}");
    assert_eq!(counts, BTreeMap::from([("PUT 200".to_owned(), 10)]));
    println!("{}: 1.00 requests per save of one store alone", engine.name);
}
