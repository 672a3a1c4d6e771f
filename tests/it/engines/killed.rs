//! `kill -9` of the engine and of clients, at any moment, while machines save with `push = "always"`.
//!
//! Only engines that keep what they acknowledged have a command for it: `tests/engines/nightly.sh` starts one.

use std::collections::BTreeSet;
use std::process::Command;

use crate::support::project::World;
use ckpt::real::{Engine, suitable_engines};
use ckpt::storm::{ckpt, machine};

const MACHINES: usize = 8;
const SAVES: usize = 30;
const SERVER_KILLS: usize = 3;

/// A loop that saves, and kills about every fifth save. It prints the mark of each save that was acknowledged: by exit code
/// 0, or by 11 if only the own store has it.
const LOOP: &str = r#"
for i in $(seq SAVES); do
  if [ $((i % 5)) = 0 ]; then
    "$1" save 042 --set "MACHINE_$i=true" >/dev/null 2>&1 & pid=$!
    sleep 0.0$((i % 10))
    kill -9 $pid 2>/dev/null
    wait $pid
  else
    "$1" save 042 --set "MACHINE_$i=true" >/dev/null 2>&1
  fi
  code=$?
  case $code in 0|11) echo "MACHINE_$i";; 137) ;; *) echo "exit $code" >&2; exit 1;; esac
done"#;

#[test]
#[ignore = "run by tests/engines/run.sh"]
fn a_killed_engine_and_killed_clients_lose_and_double_nothing() {
    for engine in suitable_engines() {
        let Some(kill) = engine.kill.clone() else { continue };
        let around = World::new().with_processes();
        let url = engine.fresh_url();
        let machines: Vec<World> = (0..MACHINES).map(|n| machine(&around, &format!("m{n}"), &url)).collect();
        let loops: Vec<_> = machines
            .iter()
            .enumerate()
            .map(|(n, machine)| {
                let line = LOOP.replace("SAVES", &SAVES.to_string()).replace("MACHINE", &format!("m{n}"));
                ckpt(&engine, machine, &["--version"]).in_shell(&line).env("PATH", "/usr/bin:/bin").spawn()
            })
            .collect();
        for _ in 0..SERVER_KILLS {
            let killed = Command::new("sh").args(["-c", &kill]).status().unwrap();
            assert!(killed.success(), "{}: {kill}", engine.name);
        }
        let mut acknowledged = BTreeSet::new();
        for child in loops {
            let output = child.wait_with_output().unwrap();
            assert!(output.status.success(), "{}: {}", engine.name, String::from_utf8_lossy(&output.stderr));
            acknowledged.extend(String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned));
        }
        assert!(acknowledged.len() > MACHINES * SAVES / 2, "{}: {}", engine.name, acknowledged.len());
        let new = machine(&around, "new", &url);
        for machine in machines.iter().chain([&new]) {
            ckpt(&engine, machine, &["sync"]).run().succeeds();
        }
        let marks = merged(&engine, &new);
        let lost: Vec<&String> = acknowledged.difference(&marks).collect();
        assert!(lost.is_empty(), "{}: acknowledged and lost: {lost:?}", engine.name);
        for machine in &machines {
            ckpt(&engine, machine, &["sync"]).run().succeeds();
            assert_eq!(machine.numbers("042"), new.numbers("042"), "{}", engine.name);
            assert_eq!(machine.json(&["verify"])["ok"], true, "{}", engine.name);
        }
        println!("{}: {} saves acknowledged, 0 lost", engine.name, acknowledged.len());
    }
}

/// Merges all heads of a store, and returns the marks in the one that is left.
fn merged(engine: &Engine, machine: &World) -> BTreeSet<String> {
    for _ in 0..MACHINES * SAVES {
        let merged = ckpt(engine, machine, &["merge", "042"]).run();
        // With more than two heads, it says which there are; with one, it has nothing to do.
        let named = merged.stderr.split('`').find(|word| word.starts_with("042/") && word.contains('@'));
        match named {
            _ if merged.code() == 0 => {}
            Some(head) => drop(ckpt(engine, machine, &["merge", "042", head]).run().succeeds()),
            None => break,
        }
    }
    ckpt(engine, machine, &["sync"]).run().succeeds();
    let newest = *machine.numbers("042").last().unwrap();
    machine.stored("042", newest)["state"].as_object().unwrap().keys().cloned().collect()
}
