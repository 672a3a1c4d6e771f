//! A hook waits for nobody: not for other writers, not for other events of its session.

use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use ckpt_store::{Disk, SessionKey};
use serde_json::json;

use crate::support::audit::{save, store_on};
use crate::support::memory::MemoryDisk;
use crate::support::project::World;
use crate::support::store;
use crate::support::strace::strace;
use crate::support::tap::{Step, Tap, Tapped};
use ckpt::{SESSION, assert_silent, payload, phases, silent, todos};

#[test]
fn a_hook_never_waits_for_a_lock() {
    let Some(strace) = strace() else { return };
    let world = World::new();
    world.configure("[agents]\ngate = true\n");
    silent(&world, "claude", "PostToolUse", &todos(&world, SESSION, &[("A", "in_progress")]));
    let held: Vec<File> = ["", "sessions", "workflows", "workflows/a"]
        .iter()
        .map(|below| {
            let directory = File::open(world.store().join(below)).unwrap();
            directory.lock().unwrap();
            directory
        })
        .collect();
    let log = world.temp().join("strace.log");
    let trace = "trace=flock,fcntl,nanosleep,clock_nanosleep,pause,select,pselect6";
    for (event, payload) in [
        ("SessionStart", payload(&world, SESSION, json!({"source": "startup"}))),
        ("PostToolUse", todos(&world, SESSION, &[("A", "completed"), ("B", "in_progress")])),
        ("PreCompact", payload(&world, SESSION, json!({"trigger": "auto"}))),
        ("SessionEnd", payload(&world, SESSION, json!({"reason": "other"}))),
    ] {
        let tracer = [strace.as_os_str(), "-f".as_ref(), "-qq".as_ref(), "-e".as_ref(), trace.as_ref()];
        let to = ["-o".as_ref(), log.as_os_str()];
        let tracer = [&tracer[..], &to].concat();
        let outcome = world.ckpt(&["hook", "claude", event]).stdin(payload.to_string()).under(&tracer).run();
        if event != "SessionStart" {
            assert_silent(&outcome, event);
        }
        let calls = std::fs::read_to_string(&log).unwrap();
        let is_wait = |call: &&str| {
            let is_look = call.contains("LOCK_NB") || call.contains("F_GETFD") || call.contains("LOCK_UN");
            !is_look && !call.contains("F_SETFD") && call.contains('(')
        };
        let waits: Vec<&str> = calls.lines().filter(is_wait).collect();
        assert!(waits.is_empty(), "{event}: {waits:#?}");
    }
    drop(held);
    // Nothing was lost for it.
    assert_eq!(phases(&world, "a"), ["A=complete", "B=in_progress"]);
    assert_eq!(world.numbers("a").len(), 4);
    world.run(&["verify"]).succeeds();
}

#[test]
fn a_start_looks_through_the_workflows_once() {
    let Some(strace) = strace() else { return };
    let world = World::new();
    for name in ["one", "two", "three"] {
        world.run(&["start", name, "--phase", "plan"]).succeeds();
    }
    let log = world.temp().join("strace.log");
    let tracer = [strace.as_os_str(), "-f".as_ref(), "-qq".as_ref(), "-e".as_ref(), "trace=openat".as_ref()];
    let tracer = [&tracer[..], &["-o".as_ref(), log.as_os_str()]].concat();
    let start = payload(&world, SESSION, json!({"source": "startup"})).to_string();
    let outcome = world.ckpt(&["hook", "claude", "SessionStart"]).stdin(start).under(&tracer).run();
    assert!(outcome.stdout.contains("You have 3 unfinished workflows"), "{outcome}");
    let calls = std::fs::read_to_string(&log).unwrap();
    let reads = calls.lines().filter(|call| call.contains("00000001.json")).count();
    // All are read to find the open ones and to tell of them, two more to know their branch.
    assert_eq!(reads, 3 + 2, "{calls}");
}

#[test]
fn a_hook_leaves_the_remote_alone_and_a_command_shares_what_it_saved() {
    for (push, status, command) in
        [("always", "in_progress", &["save", "a", "--set", "n=1"][..]), ("end", "completed", &["push"])]
    {
        let world = World::new();
        let shared = world.temp().join("shared");
        std::fs::create_dir(&shared).unwrap();
        let url = format!("file://{}", shared.display());
        world.configure_user(&format!("[remote]\nurl = \"{url}\"\npush = \"{push}\"\n"));
        for first in ["in_progress", "completed"] {
            let plan = todos(&world, SESSION, &[("A", first), ("B", status)]);
            silent(&world, "claude", "PostToolUse", &plan);
        }
        assert_eq!(std::fs::read_dir(&shared).unwrap().count(), 0, "{push}");
        assert!(!world.store().join("hook.log").exists());
        world.run(command).succeeds();
        assert!(std::fs::read_dir(shared.join("wf/a")).unwrap().count() >= 2, "{push}");
    }
}

#[test]
fn every_change_of_a_note_counts_however_many_come_at_once() {
    let world = store::World::with(1);
    let store = world.store();
    let key = SessionKey::new("claude-code", SESSION);
    let (changers, changes) = (8, 25);
    std::thread::scope(|scope| {
        for changer in 0..changers {
            let (store, key) = (&store, &key);
            scope.spawn(move || {
                for change in 0..changes {
                    let name = format!("{changer}-{change}");
                    store
                        .change_session_note(key, &format!("note-{name}"), |note| {
                            if !note.files.contains(&name) {
                                note.files.push(name.clone());
                            }
                        })
                        .unwrap();
                    assert!(store.session_note(key).unwrap().files.contains(&name));
                }
            });
        }
    });
    assert_eq!(store.session_note(&key).unwrap().files.len(), changers * changes);
    assert_eq!(std::fs::read_dir(world.dir.path().join(".ckpt/sessions")).unwrap().count(), 1);
}

/// Replaces the first version of a note just before it is read, and lets a late event take its number again.
struct LateEvent {
    key: SessionKey,
    is_over: AtomicBool,
}

impl Tap<MemoryDisk> for LateEvent {
    fn before(&self, disk: &MemoryDisk, step: Step, name: &str) -> io::Result<()> {
        if step == Step::Read && name.ends_with(".1.json") && !self.is_over.swap(true, Ordering::Relaxed) {
            add_file(&store_on(disk.clone()), &self.key, "newer");
            let dir = disk.reach(&[".ckpt", "sessions"])?;
            disk.stage_unsynced(dir, "late", br#"{"files":["late"]}"#)?;
            disk.publish(&dir, "late", name)?;
        }
        Ok(())
    }
}

fn add_file<D: Disk>(store: &ckpt_store::Store<D>, key: &SessionKey, file: &str) {
    store.change_session_note(key, file, |note| note.files.push(file.to_owned())).unwrap();
}

#[test]
fn a_version_that_was_replaced_while_it_was_read_does_not_count() {
    let disk = MemoryDisk::new();
    let key = SessionKey::new("claude-code", SESSION);
    save(&store_on(disk.clone()), "somebody").unwrap();
    add_file(&store_on(disk.clone()), &key, "first");
    let tap = LateEvent { key: key.clone(), is_over: AtomicBool::new(false) };
    let store = store_on(Tapped { disk, tap: &tap });
    assert_eq!(store.session_note(&key).unwrap().files, ["first", "newer"]);
    assert!(tap.is_over.into_inner());
}
