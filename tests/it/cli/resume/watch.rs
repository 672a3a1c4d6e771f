//! `status --watch`, tried in a real pseudo-terminal.

use rustix::process::{Signal, kill_process};

use crate::support::project::World;
use crate::support::terminal::Terminal;

const OPEN: &str = "\u{1b}[?1049h";
const CLOSE: &str = "\u{1b}[?25h\u{1b}[?1049l";

/// A workflow of twelve phases, in the sixth of them.
fn begun() -> World {
    let world = World::new();
    let phases: Vec<String> = (1..=12).map(|number| format!("phase-{number}")).collect();
    let title = "A title that is too long for a small screen";
    let declare = ["start", "042", "--phases", &phases.join(","), "--phase", "phase-1", "--title", title];
    world.run(&declare).succeeds();
    for phase in &phases[..5] {
        world.run(&["save", "042", "--phase", phase]).succeeds();
    }
    let tasks = ["--task", "parser=running", "--task", "lexer=pending", "--task", "printer=pending"];
    world.run(&[&["start", "042", "--phase", "phase-6"][..], &tasks].concat()).succeeds();
    world
}

fn watch(world: &World, columns: u16, rows: u16) -> Terminal {
    Terminal::of_size(&world.ckpt(&["status", "042", "--watch"]).env("NO_COLOR", "1"), columns, rows)
}

/// The lines of the last whole frame on the screen.
fn frame(seen: &str) -> Vec<String> {
    let frames: Vec<&str> = seen.split("\u{1b}[H").filter(|frame| frame.contains("\u{1b}[J")).collect();
    let frame = frames.last().unwrap().split("\u{1b}[J").next().unwrap();
    frame.split('\n').map(|line| line.trim_end_matches('\r').trim_end_matches("\u{1b}[K").to_owned()).collect()
}

#[test]
fn a_small_screen_keeps_the_title_and_the_current_phase() {
    let world = begun();
    for (columns, rows) in [(40, 8), (40, 2), (20, 5), (40, 4), (60, 10)] {
        let mut terminal = watch(&world, columns, rows);
        terminal.expect("\u{1b}[J", 1);
        let lines = frame(&terminal.seen);
        assert!(lines.len() <= rows.into(), "{columns}x{rows}: {lines:?}");
        assert!(lines.iter().all(|line| line.chars().count() < columns.into()), "{columns}x{rows}: {lines:?}");
        assert!(lines[0].starts_with("042 A") && (columns < 30 || lines[0].ends_with("41%")), "{lines:?}");
        assert!(lines.iter().any(|line| line.starts_with("> phase-6")), "{columns}x{rows}: {lines:?}");
        terminal.answer("\u{3}");
        assert_eq!(terminal.exit().0, 130);
    }
    let mut terminal = watch(&world, 40, 8);
    terminal.expect("\u{1b}[J", 1);
    let expected = [
        "042 A title that is too ...  5 of 12, 41%",
        "  phase-3   done         1m 00s",
        "  phase-4   done         1m 00s",
        "  phase-5   done         1m 00s",
        "> phase-6   in progress  8m 00s, 0 of...",
        "      parser  running   lexer  to do ...",
        "  phase-7   to do",
        "elapsed",
    ];
    let lines = frame(&terminal.seen);
    for (line, expected) in lines.iter().zip(expected) {
        assert!(line.starts_with(&expected[..expected.len().min(12)]), "{line:?} is not {expected:?}: {lines:#?}");
    }
    assert_eq!(lines.len(), expected.len(), "{lines:#?}");
    assert!(!lines[7].contains(','), "no sentence that is cut: {lines:#?}");
    terminal.answer("\u{3}");
    terminal.exit();
}

#[test]
fn the_terminal_is_restored_whatever_ends_it() {
    let world = begun();
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
        let mut terminal = watch(&world, 80, 24);
        terminal.expect("phase-12", 1);
        assert!(terminal.seen.starts_with(OPEN), "{}", terminal.seen);
        assert_eq!(terminal.seen.matches(CLOSE).count(), 0);
        kill_process(terminal.pid(), signal).unwrap();
        let (exit, seen) = terminal.exit();
        assert_eq!(exit, code, "{signal:?}: {seen}");
        assert!(seen.ends_with(CLOSE), "{signal:?}: {seen}");
    }
    // An error is printed on the screen that stays.
    let mut terminal = watch(&world, 80, 24);
    terminal.expect("phase-12", 1);
    std::fs::rename(world.store().join("workflows"), world.store().join("gone")).unwrap();
    let (exit, seen) = terminal.exit();
    assert_eq!(exit, 4, "{seen}");
    let behind = seen.split(CLOSE).nth(1).unwrap();
    assert!(behind.contains("error: there is no workflow `042`"), "{seen}");
}

#[test]
fn the_result_stays_when_the_work_is_complete() {
    let world = World::new();
    world.run(&["save", "042", "--phases", "plan,build", "--phase", "plan"]).succeeds();
    let mut terminal = watch(&world, 80, 24);
    terminal.expect("1 of 2, 50%", 1);
    world.run(&["save", "042", "--phase", "build"]).succeeds();
    let (exit, seen) = terminal.exit();
    assert_eq!(exit, 0, "{seen}");
    let behind = seen.split(CLOSE).nth(1).unwrap();
    assert!(behind.contains("2 of 2, 100%"), "{seen}");
}

#[test]
fn a_resized_screen_is_drawn_again() {
    let world = begun();
    let mut terminal = watch(&world, 80, 24);
    terminal.expect("phase-12", 1);
    terminal.resize(40, 8);
    // The title is cut.
    terminal.expect("...  5 of 12", 1);
    // To the end of that frame, or of the next one.
    let frames = terminal.seen.matches("\u{1b}[J").count();
    terminal.expect("\u{1b}[J", frames + 1);
    assert!(frame(&terminal.seen).len() <= 8, "{}", terminal.seen);
    terminal.answer("\u{3}");
    assert_eq!(terminal.exit().0, 130);
}

#[test]
fn a_terminal_without_escape_sequences_gets_it_once() {
    let world = begun();
    let invocation = world.ckpt(&["status", "042", "--watch"]).env("TERM", "dumb");
    let (exit, seen) = Terminal::of(&invocation).exit();
    assert_eq!(exit, 0, "{seen}");
    assert!(!seen.contains('\u{1b}') && seen.contains("phase-12"), "{seen}");
}

#[test]
fn ctrl_z_gives_the_screen_back_until_the_program_goes_on() {
    let world = begun();
    let mut terminal = watch(&world, 60, 20);
    terminal.expect("\u{1b}[J", 1);
    assert_eq!(terminal.seen.matches(OPEN).count(), 1);
    terminal.answer("\u{1a}");
    terminal.expect(CLOSE, 1);
    terminal.wait_until_stopped();
    kill_process(terminal.pid(), Signal::CONT).unwrap();
    terminal.expect(OPEN, 2);
    let drawn = terminal.seen.matches("\u{1b}[J").count();
    terminal.expect("\u{1b}[J", drawn + 1);
    terminal.answer("\u{3}");
    let (code, seen) = terminal.exit();
    assert_eq!((code, seen.matches(CLOSE).count()), (130, 2), "{seen:?}");
}
