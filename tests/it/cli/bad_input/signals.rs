//! Signals: old or new, never neither, and the next save continues.

use std::os::unix::process::ExitStatusExt as _;

use rustix::process::{Pid, Signal, kill_process};

use crate::support::project::World;

#[test]
fn terminated_or_interrupted_at_any_point_leaves_old_or_new() {
    let world = World::with_checkpoints(1);
    let mut terminated = 0;
    for round in 0..60_u32 {
        let before = world.numbers("042").len() as u64;
        let child = world.ckpt(&["save", "042", "--note", "n"]).spawn();
        // Spinning spreads the signals over the life of the process; where exactly they hit does not matter.
        for _ in 0..round * 4_000 {
            std::hint::spin_loop();
        }
        let signal = if round % 2 == 0 { Signal::TERM } else { Signal::INT };
        let _ = kill_process(Pid::from_child(&child), signal);
        let output = child.wait_with_output().unwrap();
        let after = world.numbers("042").len() as u64;
        match output.status.signal() {
            Some(number) => {
                assert_eq!(number, signal.as_raw());
                terminated += 1;
                assert!(after == before || after == before + 1, "{before} -> {after}");
            }
            None => {
                assert_eq!(output.status.code(), Some(0));
                assert_eq!(output.stdout, format!("042/{after}\n").into_bytes());
            }
        }
        assert_eq!(world.json(&["show", "042"])["handle"], format!("042/{after}"));
    }
    assert!(terminated > 0, "no signal came in time");
}

#[test]
fn waiting_for_input_can_be_ended() {
    let world = World::with_checkpoints(1);
    let before = world.tree();
    let mut child = world.ckpt(&["save", "042", "--state", "-"]).spawn();
    let stdin = child.stdin.take();
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().signal(), Some(Signal::TERM.as_raw()));
    drop(stdin);
    assert_eq!(before.changes(&world.tree()), Vec::<String>::new());
}
