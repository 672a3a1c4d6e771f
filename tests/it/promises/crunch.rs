//! Checkpoints of an issue: triggers, retention, external changes.

use std::io::Read as _;
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};

use crate::support::project::World;

fn begun() -> World {
    let world = World::new();
    world.run(&["save", "42", "--pipeline", "crunch", "--phase", "enrich"]).succeeds();
    world
}

/// Sends a signal to a command once it has printed `up`, and returns its exit code.
fn interrupt(world: &World, args: &[&str], signal: Signal) -> i32 {
    let mut command = world.ckpt(args).env("PATH", "/usr/bin:/bin").command();
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut up = [0; 3];
    child.stdout.as_mut().unwrap().read_exact(&mut up).unwrap();
    kill_process(Pid::from_child(&child), signal).unwrap();
    child.wait().unwrap().code().unwrap()
}

#[test]
fn user_interrupt_is_saved_on_ctrl_c_and_session_end_before_the_session_terminates() {
    for (signal, code, trigger) in [
        (Signal::INT, 130, "user_interrupt"),
        (Signal::TERM, 143, "session_end"),
        (Signal::HUP, 129, "session_end"),
    ] {
        for (args, seq) in [(&["run", "42", "--phase", "ready"][..], 3), (&["resume", "42"], 2)] {
            let world = begun();
            let args = [args, &["--", "/bin/sh", "-c", "echo up; exec sleep 60"]].concat();
            assert_eq!(interrupt(&world, &args, signal), code, "{signal:?} {args:?}");
            assert_eq!(world.stored("42", seq)["trigger"], trigger, "{signal:?} {args:?}");
        }
    }
}

#[test]
fn a_run_says_that_nothing_was_saved_when_checkpoint_triggers_phase_transition_is_false() {
    let world = begun();
    world.configure("[save.triggers]\nphase_transition = false\n");
    let outcome = world.run(&["run", "42", "--phase", "ready", "--", "/bin/true"]);
    insta::assert_snapshot!(outcome, @"
    exit 0
    --- stderr
    Not saved: phase ready complete, exit code 0
    Nothing saved: the trigger phase_transition is switched off in the configuration
    --- end
    ");
    assert_eq!(world.numbers("42"), [1]);
}
