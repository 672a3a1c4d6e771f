//! The line that says how far long work is. To be long, it is slowed down.

use std::path::Path;

use crate::support::project::{Invocation, World};
use crate::support::strace::strace;
use crate::support::terminal::Terminal;

/// A world with one workflow of enough checkpoints to see something move.
fn world() -> World {
    World::with_checkpoints(12)
}

/// Makes the opening of every file take so many milliseconds.
fn slowed<'a>(call: Invocation<'a>, strace: &Path, milliseconds: u32) -> Invocation<'a> {
    let delay = format!("inject=openat:delay_enter={milliseconds}ms");
    let tracer = ["-f", "-qq", "-o", "/dev/null", "-e", "trace=openat", "-e", delay.as_str()];
    let tracer: Vec<_> = [strace.as_os_str()].into_iter().chain(tracer.map(AsRef::as_ref)).collect();
    call.under(&tracer)
}

/// Returns the progress messages without repetitions.
fn said(screen: &str, begins: &str) -> Vec<String> {
    let lines = screen.split("\r\u{1b}[K").filter(|line| line.starts_with(begins)).map(str::to_owned);
    let mut lines: Vec<String> = lines.collect();
    lines.dedup();
    lines
}

const ARCHIVE: [&str; 5] = ["archive", "042", "--as", "completed", "--color=never"];

/// One test for all of them: they wait, and several at once would leave the processors idle.
#[test]
fn long_work_is_seen_to_move_and_then_vanishes() {
    let Some(strace) = strace() else { return };
    archiving_one_large_workflow(&strace);
    a_cleanup_and_a_restore(&strace);
    verifying_one_large_workflow(&strace);
    reading_many_workflows(&strace);
}

fn archiving_one_large_workflow(strace: &Path) {
    let world = world();
    let (code, screen) = Terminal::of(&slowed(world.ckpt(&ARCHIVE), strace, 30)).exit();
    assert_eq!(code, 0, "{screen}");
    let said = said(&screen, "Archiving 042, 1 of 1: replacing ");
    assert!(said.len() > 3, "{screen:?}");
    assert!(said.iter().all(|line| line.ends_with(" of 12 checkpoints")), "{screen:?}");
    // Nothing of it is left where the answer stands.
    let answer = screen.rsplit("\r\u{1b}[K").next().unwrap();
    assert!(answer.starts_with("042  archived as completed"), "{screen:?}");
}

fn a_cleanup_and_a_restore(strace: &Path) {
    let world = world();
    let plan = ["cleanup", "--keep-last", "1", "--yes", "--color=never"];
    let (code, screen) = Terminal::of(&slowed(world.ckpt(&plan), strace, 60)).exit();
    assert_eq!(code, 0, "{screen}");
    let cleaned = said(&screen, "Cleaning up 042, 1 of 1: replacing ");
    assert!(cleaned.len() > 3 && cleaned[0].ends_with(" of 11 checkpoints"), "{screen:?}");
    assert!(screen.rsplit("\r\u{1b}[K").next().unwrap().contains("Undo: ckpt restore --plan"), "{screen:?}");
    let (code, screen) = Terminal::of(&slowed(world.ckpt(&["restore", "042"]), strace, 80)).exit();
    assert_eq!(code, 0, "{screen}");
    assert!(said(&screen, "Restoring 042, 1 of 1: ").len() > 3, "{screen:?}");
}

fn verifying_one_large_workflow(strace: &Path) {
    let world = world();
    let (code, screen) = Terminal::of(&slowed(world.ckpt(&["verify"]), strace, 60)).exit();
    assert_eq!(code, 0, "{screen}");
    assert!(said(&screen, "Checked ").len() > 3, "{screen:?}");
}

fn reading_many_workflows(strace: &Path) {
    let world = World::new();
    for number in 0..12 {
        world.run(&["save", &format!("w{number}"), "--phase", "plan"]).succeeds();
    }
    // A cleanup opens one file of each workflow, the others more.
    for (args, answer, milliseconds) in
        [(&["list"][..], "NEWEST", 45), (&["stats"], "workflows", 45), (&["cleanup", "-n"], "Nothing to clean up", 60)]
    {
        let args = [args, &["--color=never"]].concat();
        let (code, screen) = Terminal::of(&slowed(world.ckpt(&args), strace, milliseconds)).exit();
        assert_eq!(code, 0, "{screen}");
        let said = said(&screen, "Read ");
        assert!(said.len() > 3, "{args:?}: {screen:?}");
        assert!(said.iter().all(|line| line.ends_with(" of 12 workflows")), "{args:?}: {screen:?}");
        let shown = screen.rsplit("\r\u{1b}[K").next().unwrap();
        assert!(shown.starts_with(answer), "{args:?}: {screen:?}");
    }
}

#[test]
fn short_work_says_nothing() {
    // In memory, where nothing waits for a disk that is busy.
    let model = World::with_checkpoints(1).copy();
    let is_silent = |args: &[&str]| {
        let (code, screen) = Terminal::open(&model.copy(), args, &[]).exit();
        assert_eq!(code, 0, "{screen}");
        !screen.contains("\u{1b}[K")
    };
    for args in [&["verify"][..], &["list"], &["stats"], &ARCHIVE] {
        // On a busy machine short work may take long, but not every time.
        assert!((0..10).any(|_| is_silent(args)), "{args:?}");
    }
}

#[test]
fn nothing_is_said_in_a_pipe_nor_to_whoever_wants_it_short() {
    let Some(strace) = strace() else { return };
    let model = World::with_checkpoints(4);
    let world = model.copy();
    let outcome = slowed(world.ckpt(&ARCHIVE), &strace, 20).run().succeeds();
    assert_eq!(outcome.stderr, "Bring it back with: ckpt restore 042\n");
    let world = model.copy();
    let piped = slowed(world.ckpt(&["cleanup", "--keep-last", "1"]), &strace, 20).run().succeeds();
    assert_eq!(piped.stderr, "");
    for flag in ["--json", "--quiet"] {
        let world = model.copy();
        let args = [&ARCHIVE[..], &[flag]].concat();
        let (code, screen) = Terminal::of(&slowed(world.ckpt(&args), &strace, 20)).exit();
        assert_eq!(code, 0, "{screen}");
        assert!(!screen.contains("Archiving"), "{screen:?}");
    }
}
