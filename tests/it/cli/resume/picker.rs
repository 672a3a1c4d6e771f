//! Picking one of several unfinished workflows, tried in a real pseudo-terminal.

use rustix::process::{Signal, kill_process};

use crate::support::project::World;
use crate::support::terminal::{Terminal, is_cooked};

const QUESTION: &str = "3 workflows are unfinished. Which one?";
const DOWN: &str = "\u{1b}[B";

/// Three unfinished workflows; `c` is the newest.
fn several() -> World {
    let world = World::new();
    for (id, title) in [("a", "First"), ("b", "Bad \u{1b}[2J\u{202e} title"), ("c", "Third")] {
        world.run(&["save", id, "--phases", "plan,build", "--phase", "plan", "--title", title]).succeeds();
    }
    world
}

fn open(world: &World, args: &[&str]) -> Terminal {
    let mut terminal = Terminal::of_size(&world.ckpt(args).env("NO_COLOR", "1"), 60, 12);
    terminal.expect("q leaves", 1);
    terminal
}

#[test]
fn arrows_and_enter_pick_one_and_name_the_command() {
    let world = several();
    for (keys, id) in [("\r", "c"), (DOWN, "b"), ("\u{1b}[B\u{1b}[B", "a"), ("jj", "a"), ("\u{1b}[A", "a")] {
        let mut terminal = open(&world, &["resume"]);
        assert!(terminal.seen.contains(QUESTION), "{}", terminal.seen);
        for key in keys.split_inclusive(['A', 'B', 'j']).filter(|key| *key != "\r") {
            let drawn = terminal.seen.matches("q leaves").count();
            terminal.press(key);
            terminal.expect("q leaves", drawn + 1);
        }
        terminal.press("\r");
        terminal.expect(&format!("Picked: ckpt resume {id}\r\n"), 1);
        terminal.expect("[r]: ", 1);
        assert!(terminal.is_cooked());
        terminal.answer("r\n");
        let (code, seen) = terminal.exit();
        assert_eq!(code, 0, "{seen}");
    }
}

#[test]
fn the_newest_come_first_and_titles_are_escaped() {
    let world = several();
    let terminal = open(&world, &["resume"]);
    let lines: Vec<&str> = terminal.seen.lines().map(str::trim_end).collect();
    assert!(lines[1].starts_with("> c  ") && lines[1].ends_with("Third"), "{lines:?}");
    assert!(lines[2].starts_with("  b  ") && lines[2].ends_with(r"Bad \u{1b}[2J\u{202e} title"), "{lines:?}");
    assert!(!terminal.seen.contains("\u{1b}[2J") && !terminal.seen.contains('\u{202e}'), "{lines:?}");
    let mut terminal = terminal;
    terminal.press("q");
    let (_, seen) = terminal.exit();
    assert!(!seen.contains("\u{1b}[2J") && !seen.contains('\u{202e}'), "{seen}");
}

#[test]
fn leaving_has_the_exit_code_of_several_and_restores_the_terminal() {
    let world = several();
    for key in ["q", "\u{1b}", "\u{3}", "\u{4}"] {
        let mut terminal = open(&world, &["resume"]);
        terminal.press(key);
        terminal.expect("help: ckpt resume a", 1);
        assert!(terminal.is_cooked(), "{key:?}");
        let (code, seen) = terminal.exit();
        assert_eq!(code, 5, "{key:?}: {seen}");
        assert!(seen.contains("error: 3 workflows are unfinished"), "{seen}");
        assert!(!seen.contains("\u{1b}[?25l"), "the cursor is never hidden: {seen}");
    }
}

#[test]
fn status_and_log_offer_it_too() {
    let world = several();
    for command in ["status", "log"] {
        let mut terminal = open(&world, &[command]);
        terminal.press("\r");
        let (code, seen) = terminal.exit();
        assert_eq!(code, 0, "{seen}");
        assert!(seen.contains(&format!("Picked: ckpt {command} c\r\n")), "{seen}");
    }
}

#[test]
fn nobody_is_asked_where_no_person_is() {
    let world = several();
    for args in
        [&["resume", "-q"][..], &["resume", "--json"], &["resume", "--no-input"], &["resume", "--context", "-q"]]
    {
        let (code, seen) = Terminal::open(&world, args, &[]).exit();
        assert_eq!(code, 5, "{args:?}: {seen}");
        assert!(!seen.contains("Which one?"), "{args:?}: {seen}");
    }
    for (name, value) in [("CLAUDECODE", "1"), ("CI", "true"), ("CKPT_NO_INPUT", "1"), ("TERM", "dumb")] {
        let (code, seen) = Terminal::open(&world, &["resume"], &[(name, value)]).exit();
        assert_eq!(code, 5, "{name}: {seen}");
        assert!(!seen.contains("Which one?"), "{name}: {seen}");
    }
    world.refuses(&["resume"], 5, "ambiguous");
}

#[test]
fn a_signal_that_ends_the_program_gives_the_terminal_its_mode_back() {
    let world = several();
    let mut terminal = open(&world, &["resume"]);
    // A key that changes nothing: afterwards the next one is awaited.
    terminal.press("x");
    terminal.expect("q leaves", 2);
    while terminal.is_cooked() {
        std::thread::yield_now();
    }
    kill_process(terminal.pid(), Signal::TERM).unwrap();
    let keyboard = terminal.keyboard();
    assert_eq!(terminal.signal(), Some(15));
    assert!(is_cooked(&keyboard));
}
