//! Commands that are run on behalf of a workflow.

use std::io::Read as _;
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::support::project::World;

fn begun() -> World {
    let world = World::new();
    world.run(&["save", "042", "--phases", "plan,build", "--phase", "plan", "--next", "Write it"]).succeeds();
    world
}

#[test]
fn a_command_gets_the_context_and_its_exit_code_is_ours() {
    let world = begun();
    let script = "echo $CKPT_WORKFLOW $CKPT_HANDLE $CKPT_PHASE \"$CKPT_ACTION\"; head -1; exit 3";
    let outcome =
        world.ckpt(&["resume", "042", "--", "/bin/sh", "-c", script]).env("PATH", "/usr/bin:/bin").run().exits(3);
    assert_eq!(
        outcome.stdout,
        "042 042/1 build Write it\nUnfinished work: 042, checkpoint 042/1 (1m 00s old). Verdict: ready.\n"
    );
    assert!(outcome.stderr.contains("Verdict: ready"), "the verdict is part of the conversation: {outcome}");
}

#[test]
fn a_command_is_not_run_on_a_state_that_is_not_safe() {
    let world = begun();
    world.run(&["save", "042", "--workflow-status", "failed"]).succeeds();
    let touch = ["resume", "042", "--", "/bin/sh", "-c", "echo > ran"];
    world.run(&touch).exits(7);
    assert!(!world.project().join("ran").exists());
    world.run(&["resume", "042", "--yes", "--", "/bin/sh", "-c", "echo > ran"]).succeeds();
    assert!(world.project().join("ran").exists());
}

#[test]
fn a_save_inside_the_command_needs_no_id() {
    let world = begun();
    world.run(&["resume", "042", "--", &crate::support::program::CKPT, "save", "--phase", "build"]).succeeds();
    assert_eq!(world.stored("042", 2)["status"], "complete");
}

#[test]
fn a_command_that_cannot_be_run_is_named() {
    let world = begun();
    let outcome = world.run(&["resume", "042", "--", "/no/such/program"]).exits(1);
    assert!(outcome.stderr.contains("error: `/no/such/program` cannot be run"), "{outcome}");
}

#[test]
fn run_records_begin_end_and_evidence() {
    let world = begun();
    let outcome = world.run(&["run", "042", "--phase", "build", "--", "/bin/sh", "-c", "exit 0"]).succeeds();
    // The workflow is complete, and is cleaned up as after a save.
    assert!(outcome.stderr.contains("Archived 2 checkpoints of 042. Undo with: ckpt restore 042\n"), "{outcome}");
    assert_eq!(world.json(&["show", "042/2"])["checkpoint"]["phases"][1]["status"], "in_progress");
    let phase = world.stored("042", 3)["phases"][1].clone();
    assert_eq!(phase["status"], "complete");
    assert_eq!(phase["data"]["run"]["command"], json!(["/bin/sh", "-c", "exit 0"]));
    assert_eq!(phase["data"]["run"]["exit_code"], 0);
    assert!(phase["data"]["run"]["duration_seconds"].is_u64());
    assert_eq!(world.stored("042", 3)["status"], "complete");
}

#[test]
fn run_says_which_secrets_it_replaced() {
    let world = begun();
    let token = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let outcome = world.run(&["run", "042", "--phase", "build", "--", "/bin/true", token]).succeeds();
    let warning = "warning: replaced what looks like secrets at /data/run/command/1\n";
    assert!(outcome.stderr.contains(warning), "{outcome}");
    assert!(!world.stored("042", 3).to_string().contains(token));
}

#[test]
fn run_records_failure_and_passes_the_exit_code_on() {
    let world = begun();
    world.run(&["run", "042", "--phase", "build", "--", "/bin/sh", "-c", "exit 9"]).exits(9);
    let phase = world.stored("042", 3)["phases"][1].clone();
    assert_eq!((&phase["status"], &phase["data"]["run"]["exit_code"]), (&json!("failed"), &json!(9)));
    assert_eq!(phase["error"], "the command ended with exit code 9");
    world.run(&["run", "042", "--phase", "build", "--", "/no/such"]).exits(1);
    assert_eq!(world.stored("042", 5)["phases"][1]["status"], "failed");
}

#[test]
fn run_refuses_an_unknown_phase_before_it_runs_anything() {
    let world = begun();
    let outcome = world.run(&["--json", "run", "042", "--phase", "tset", "--", "/bin/sh", "-c", "echo > ran"]).exits(2);
    assert_eq!(outcome.failure()["code"], "unknown_phase");
    assert!(!world.project().join("ran").exists());
    assert_eq!(world.numbers("042"), [1]);
}

#[test]
fn an_interrupt_while_it_runs_is_recorded() {
    for (args, seq) in [
        (&["resume", "042", "--", "/bin/sh", "-c", "echo up; exec sleep 60"][..], 2),
        (&["run", "042", "--phase", "build", "--", "/bin/sh", "-c", "echo up; exec sleep 60"], 3),
    ] {
        let world = begun();
        let mut command = world.ckpt(args).env("PATH", "/usr/bin:/bin").command();
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut up = [0; 3];
        child.stdout.as_mut().unwrap().read_exact(&mut up).unwrap();
        kill_process(Pid::from_child(&child), Signal::INT).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(130), "{args:?}");
        let stored = world.stored("042", seq);
        assert_eq!(stored["trigger"], "user_interrupt", "{args:?}");
        assert_ne!(stored["status"], "complete");
    }
}

/// A command that continues after an interrupt and ends well has done the work.
#[test]
fn a_command_that_finishes_in_spite_of_an_interrupt_is_complete() {
    let world = begun();
    let script = "trap '' INT; echo up; sleep 0.3; exit 0";
    let args = ["run", "042", "--phase", "build", "--", "/bin/sh", "-c", script];
    let mut command = world.ckpt(&args).env("PATH", "/usr/bin:/bin").command();
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut up = [0; 3];
    child.stdout.as_mut().unwrap().read_exact(&mut up).unwrap();
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(world.stored("042", 3)["phases"][1]["status"], "complete");
}

#[test]
fn run_is_quiet_if_asked() {
    let world = begun();
    let outcome = world.run(&["run", "042", "--phase", "build", "-q", "--", "/bin/echo", "hello"]).succeeds();
    assert_eq!(outcome.stdout, "hello\n");
    assert!(!outcome.stderr.contains("Saved"), "{outcome}");
}

/// A file that another program wrote may have an action that no variable can hold.
#[test]
fn a_stored_action_never_keeps_a_command_from_running() {
    let long = "x".repeat(300 << 10);
    for (action, exported) in [("a\0b", "a\u{fffd}b"), (long.as_str(), &long[..64 << 10])] {
        let world = begun();
        world.forge("042", 1, |document| {
            document["next"]["action"] = json!(action);
            document["phases"][1]["action"] = json!(action);
        });
        let print = ["--", "/bin/sh", "-c", "printf %s \"$CKPT_ACTION\""];
        for command in [&["resume", "042", "--yes"][..], &["run", "042", "--phase", "build", "-q"]] {
            let outcome = world.run(&[command, &print].concat()).succeeds();
            assert!(outcome.stdout == exported, "{command:?}: {} bytes", outcome.stdout.len());
        }
    }
}

#[test]
fn an_imported_action_has_no_nul() {
    let world = begun();
    world.run(&["export", "042", "--as", "crunch", "--output", "crunch.yaml"]).succeeds();
    let file = world.project().join("crunch.yaml");
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("Write it"), "{text}");
    std::fs::write(&file, text.replace("Write it", "\"Write\\0it\"")).unwrap();
    let imported = world.json(&["import", "crunch.yaml", "--into", "other"]);
    assert_eq!(world.stored("other", 1)["next"]["action"], "Write\u{fffd}it", "{imported}");
    assert_eq!(world.run(&["resume", "--file", "crunch.yaml", "--json"]).document()["action"], "Write\u{fffd}it");
}
