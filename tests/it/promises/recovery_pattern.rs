//! Checkpoint recovery: failures, retries and replanning.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::support::project::World;
use crate::support::terminal::Terminal;

const QUESTION: &str = "(r)etry the phase, (s)kip it, (a)bort the workflow, (q)uit [q]: ";

/// Fails with exit code 3 until it has been run three times.
const FLAKY: &str = "echo x >> tries; [ \"$(wc -l < tries)\" -ge 3 ] || exit 3";

fn begun() -> World {
    let world = World::new();
    world.run(&["save", "042", "--phases", "plan,build,test", "--phase", "plan"]).succeeds();
    world
}

fn run(world: &World, flags: &[&str], script: &str) -> crate::support::project::Outcome {
    let command = [&["run", "042", "--phase", "build"], flags, &["--", "/bin/sh", "-c", script]].concat();
    world.ckpt(&command).env("PATH", "/usr/bin:/bin").run()
}

#[test]
fn transient_failures_resume_automatically_and_each_attempt_is_recorded() {
    let world = begun();
    let outcome = run(&world, &["--retries", "4", "--backoff", "0s"], FLAKY).succeeds();
    insta::assert_snapshot!(outcome, @"
    exit 0
    --- stderr
    Saved 042/3: phase build failed, exit code 3
    Attempt 2 of 5 in 0s.
    Saved 042/5: phase build failed, exit code 3
    Attempt 3 of 5 in 0s.
    Saved 042/7: phase build complete, exit code 0
    --- end
    ");
    let phase = world.stored("042", 7)["phases"][1].clone();
    assert_eq!((&phase["status"], &phase["attempts"]), (&json!("complete"), &json!(3)));
    assert_eq!(phase["data"]["run"]["exit_codes"], json!([3, 3, 0]));
    let failed = world.stored("042", 3)["phases"][1].clone();
    assert_eq!((&failed["status"], &failed["data"]["run"]["exit_code"]), (&json!("failed"), &json!(3)));
}

#[test]
fn the_exit_code_is_that_of_the_last_attempt() {
    let world = begun();
    run(&world, &["--retries", "1", "--backoff", "0s"], "echo x >> tries; exit $(wc -l < tries)").exits(2);
    let phase = world.stored("042", 5)["phases"][1].clone();
    assert_eq!((&phase["status"], &phase["attempts"]), (&json!("failed"), &json!(2)));
    assert_eq!(phase["error"], "the command ended with exit code 2");
}

#[test]
fn a_command_that_cannot_be_run_is_not_tried_again() {
    let world = begun();
    world.run(&["run", "042", "--phase", "build", "--retries", "3", "--", "/no/such"]).exits(1);
    assert_eq!(world.stored("042", 3)["phases"][1]["attempts"], 1);
    assert_eq!(world.numbers("042"), [1, 2, 3]);
}

#[test]
fn retries_have_limits() {
    let world = begun();
    for flags in [&["--retries", "101"][..], &["--retries", "1", "--backoff", "2d"], &["--backoff", "1s"]] {
        run(&world, flags, "exit 0").exits(2);
    }
    world.run(&["resume", "042", "--retries", "2"]).exits(2);
    assert_eq!(world.numbers("042"), [1]);
}

#[test]
fn a_wait_between_attempts_can_be_interrupted() {
    let world = begun();
    let args = ["run", "042", "--phase", "build", "--retries", "1", "--backoff", "1h", "--", "/bin/false"];
    let mut command = world.ckpt(&args).command();
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.starts_with("Attempt 2 of 2 in 1h") {
        line.clear();
        assert_ne!(stderr.read_line(&mut line).unwrap(), 0);
    }
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(143));
    let stored = world.stored("042", 4);
    assert_eq!(
        (&stored["trigger"], &stored["phases"][1]["status"]),
        (&json!("session_end"), &json!("failed"))
    );
}

#[test]
fn a_resumed_command_is_retried_with_what_it_has_saved_by_then() {
    let world = begun();
    let script = "head -1; echo x >> tries; [ $(wc -l < tries) -ge 2 ] || exit 3";
    let outcome = world
        .ckpt(&["resume", "042", "--retries", "2", "--backoff", "0s", "--", "/bin/sh", "-c", script])
        .env("PATH", "/usr/bin:/bin")
        .run()
        .succeeds();
    let handles: Vec<&str> = outcome.stdout.lines().map(|line| line.split(' ').nth(4).unwrap()).collect();
    assert_eq!(handles, ["042/1", "042/3"], "{outcome}");
    let (failed, begun) = (world.stored("042", 2), world.stored("042", 3));
    assert_eq!(failed["phases"][1]["data"]["run"]["exit_code"], 3);
    assert_eq!(
        (&begun["phases"][1]["status"], &begun["phases"][1]["attempts"]),
        (&json!("in_progress"), &json!(2))
    );
}

#[test]
fn a_resumed_command_that_finished_the_work_is_not_run_again() {
    let world = begun();
    let script =
        format!("echo x >> tries; {} done 042 -q > /dev/null; exit 3", crate::support::project::CKPT);
    world
        .ckpt(&["resume", "042", "--retries", "2", "--backoff", "0s", "--", "/bin/sh", "-c", &script])
        .env("PATH", "/usr/bin:/bin")
        .run()
        .exits(3);
    assert_eq!(std::fs::read_to_string(world.project().join("tries")).unwrap(), "x\n");
}

#[test]
fn ask_user_retry_phase_skip_phase_or_abort_workflow() {
    let cases = [
        ("s\n", 0, "skipped", "in_progress"),
        ("a\n", 3, "failed", "abandoned"),
        ("\n", 3, "failed", "in_progress"),
    ];
    for (answer, code, phase, workflow) in cases {
        let world = begun();
        let args = ["run", "042", "--phase", "build", "--", "/bin/sh", "-c", "exit 3"];
        let mut terminal = Terminal::open(&world, &args, &[]);
        terminal.expect(QUESTION, 1);
        terminal.answer(answer);
        let (ended, screen) = terminal.exit();
        assert_eq!(ended, code, "{screen}");
        let newest = *world.numbers("042").last().unwrap();
        let stored = world.stored("042", newest);
        assert_eq!(
            (&stored["phases"][1]["status"], &stored["status"]),
            (&json!(phase), &json!(workflow)),
            "{screen}"
        );
    }
}

#[test]
fn a_person_can_retry_until_it_works() {
    let world = begun();
    let invocation = world
        .ckpt(&["run", "042", "--phase", "build", "--", "/bin/sh", "-c", FLAKY])
        .env("PATH", "/usr/bin:/bin");
    let mut terminal = Terminal::of(&invocation);
    for times in 1..=2 {
        terminal.expect(QUESTION, times);
        terminal.answer("r\n");
    }
    let (code, screen) = terminal.exit();
    assert_eq!(code, 0, "{screen}");
    assert_eq!(world.stored("042", 7)["phases"][1]["attempts"], 3);
}

#[test]
fn control_c_at_the_question_ends_the_program() {
    let world = begun();
    let args = ["run", "042", "--phase", "build", "--", "/bin/sh", "-c", "exit 3"];
    let mut terminal = Terminal::open(&world, &args, &[]);
    terminal.expect(QUESTION, 1);
    terminal.answer("\u{3}");
    assert_eq!(terminal.signal(), Some(2));
    assert_eq!(world.stored("042", 3)["phases"][1]["status"], "failed");
}

#[test]
fn resume_of_a_failed_phase_asks_to_retry_skip_or_abort() {
    let question = QUESTION.replace(", (q)uit", ", (o)ther choices, (q)uit");
    let cases = [
        ("r\n", 0, "failed", "in_progress"),
        ("s\n", 0, "skipped", "in_progress"),
        ("a\n", 4, "failed", "abandoned"),
        ("\n", 7, "failed", "in_progress"),
        ("o\nr\n", 0, "failed", "in_progress"),
    ];
    for (answer, code, phase, workflow) in cases {
        let world = begun();
        world.run(&["fail", "042", "--phase", "build", "--error", "no"]).succeeds();
        let mut terminal = Terminal::open(&world, &["resume", "042"], &[]);
        terminal.expect(&question, 1);
        terminal.answer(answer);
        let (ended, screen) = terminal.exit();
        assert_eq!(ended, code, "{answer:?}: {screen}");
        let stored = world.stored("042", *world.numbers("042").last().unwrap());
        assert_eq!(
            (&stored["phases"][1]["status"], &stored["status"]),
            (&json!(phase), &json!(workflow)),
            "{answer:?}: {screen}"
        );
    }
}
