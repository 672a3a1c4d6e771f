//! Streams that are closed, full, or no terminal.

use std::process::Stdio;

use crate::support::program::CKPT;
use crate::support::project::World;

/// Every command that only answers.
const READERS: [&[&str]; 9] = [
    &["list"],
    &["list", "--json"],
    &["log", "042"],
    &["show", "042"],
    &["show", "042", "--raw"],
    &["schema"],
    &["completions", "bash"],
    &["man"],
    &["--help"],
];

#[test]
fn a_reader_whose_output_nobody_wants_ends_quietly() {
    let world = World::with_checkpoints(3);
    for args in READERS {
        let (nobody, stdout) = std::io::pipe().unwrap();
        drop(nobody);
        let mut command = world.ckpt(args).command();
        let output = command.stdin(Stdio::null()).stdout(stdout).stderr(Stdio::piped()).output().unwrap();
        let outcome = world.outcome(output.status, output.stdout, output.stderr);
        assert_eq!((outcome.code(), outcome.stderr.as_str()), (0, ""), "{args:?}");
    }
}

#[test]
fn the_first_line_can_be_taken_without_a_complaint() {
    let world = World::with_checkpoints(3);
    let piped = world.ckpt(&["log", "042", "--all"]).in_shell("\"$@\" | head -n 1").env("PATH", "/usr/bin:/bin").run();
    assert_eq!((piped.stdout.lines().count(), piped.stderr.as_str()), (1, ""), "{piped}");
}

#[test]
fn a_reader_whose_output_is_lost_fails() {
    let world = World::with_checkpoints(1);
    for args in READERS {
        let outcome = world.ckpt(args).in_shell("\"$@\" > /dev/full").run().exits(1);
        assert!(outcome.stderr.contains("could not be written to stdout"), "{args:?}: {outcome}");
        assert_eq!(outcome.stderr.lines().count(), 1, "{outcome}");
    }
}

#[test]
fn a_save_whose_answer_is_lost_says_that_it_saved() {
    let world = World::new();
    for (seq, script) in (1..).zip(["\"$@\" > /dev/full", "\"$@\" --json > /dev/full", "\"$@\" -q > /dev/full"]) {
        let outcome = world.ckpt(&["save", "042"]).in_shell(script).run().succeeds();
        let words = format!("saved 042/{seq}, but the answer could not be written to stdout");
        assert!(outcome.stderr.contains(&words), "{script}: {outcome}");
        assert_eq!(world.numbers("042").len(), seq);
    }
}

#[test]
fn a_save_into_a_closed_pipe_says_that_it_saved() {
    let world = World::new();
    let (nobody, stdout) = std::io::pipe().unwrap();
    drop(nobody);
    let mut command = world.ckpt(&["save", "042"]).command();
    let output = command.stdin(Stdio::null()).stdout(stdout).stderr(Stdio::piped()).output().unwrap();
    assert!(output.status.success());
    assert!(String::from_utf8(output.stderr).unwrap().contains("saved 042/1"));
    assert_eq!(world.numbers("042"), [1]);
}

#[test]
fn closed_streams_are_no_obstacle() {
    let world = World::new();
    for (seq, closed) in (1..).zip(["<&-", ">&-", "2>&-", "<&- >&- 2>&-"]) {
        world.ckpt(&["save", "042"]).in_shell(&format!("\"$@\" {closed}")).run().succeeds();
        assert_eq!(world.numbers("042").len(), seq, "{closed}");
    }
    let text = std::fs::read_to_string(world.checkpoint_file("042", 4)).unwrap();
    assert!(text.starts_with("{\n") && text.ends_with("}\n"), "no message went into the file");
}

#[test]
fn a_closed_stdin_is_empty_input() {
    let world = World::new();
    let outcome = world.ckpt(&["save", "042", "--state", "-", "--json"]).in_shell("\"$@\" <&-").run().exits(2);
    assert_eq!(outcome.failure()["code"], "invalid_json");
}

#[test]
fn a_failure_that_nobody_hears_keeps_its_exit_code() {
    let world = World::new();
    world.ckpt(&["list"]).in_shell("\"$@\" 2> /dev/full").run().exits(4);
}

#[test]
fn nothing_waits_for_input_that_was_not_asked_for() {
    let world = World::new();
    for args in [&["save", "042"][..], &["list"], &["show", "042"], &["init"]] {
        // The writing end stays open: a reader would wait for ever.
        let (stdin, held_open) = std::io::pipe().unwrap();
        let mut command = world.ckpt(args).under(&["/usr/bin/timeout", "60"]).command();
        let status = command.stdin(stdin).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
        assert_eq!(status.code(), Some(0), "{args:?} with {}", *CKPT);
        drop(held_open);
    }
}
