//! Content that is printed as it is stored: raw in a pipe, and safe to show on a terminal.

use ckpt_model::text::is_hazardous;
use serde_json::{Value, json};

use crate::support::project::World;
use crate::support::terminal::Terminal;

/// Reverses the reading direction, and begins a terminal sequence in one character.
const HOSTILE: &str = "a\u{202e}b\u{9b}31mc";

fn hostile() -> World {
    let world = World::new();
    let document = json!({"title": HOSTILE, "state": {"k": HOSTILE}, "phases": ["plan", "build"], "phase": "plan"});
    world.ckpt(&["save", "042", "--from", "-"]).stdin(document.to_string()).run().succeeds();
    world
}

fn on_terminal(world: &World, args: &[&str]) -> String {
    let (code, screen) = Terminal::open(world, args, &[("NO_COLOR", "1")]).exit();
    assert_eq!(code, 0, "{args:?}: {screen}");
    // A terminal adds the carriage returns itself.
    screen.replace("\r\n", "\n")
}

#[test]
fn nothing_that_controls_a_terminal_reaches_one() {
    let world = hostile();
    let commands: &[&[&str]] = &[
        &["show", "042", "--raw"],
        &["show", "042", "--pointer", "/title"],
        &["show", "042", "--state"],
        &["show", "042", "--json"],
        &["show", "042", "--state", "--quiet"],
        &["list", "--json"],
        &["resume", "042", "--json"],
        &["brief", "042"],
        &["export", "042", "--as", "ckpt", "-o", "-"],
        &["export", "042", "--as", "kamiflow", "-o", "-"],
        &["export", "042", "--as", "dotagent", "-o", "-"],
        &["export", "042", "--as", "claude-plan", "-o", "-"],
        &["export", "042", "--as", "ckpt", "-o", "-", "--quiet"],
        &["export", "042", "--as", "ckpt", "-o", "-", "--json"],
        &["schema"],
        &["man"],
        &["completions", "bash"],
        &["completions", "fish"],
    ];
    for args in commands {
        let screen = on_terminal(&world, args);
        let hazards: Vec<char> = screen.chars().filter(|c| !"\n\t".contains(*c) && is_hazardous(*c)).collect();
        assert!(hazards.is_empty(), "{args:?}: {hazards:?} in {screen}");
    }
}

#[test]
fn a_document_on_a_terminal_has_the_same_values() {
    let world = hostile();
    for args in [&["show", "042", "--raw"][..], &["export", "042", "--as", "ckpt", "-o", "-"]] {
        let shown: Value = serde_json::from_str(&on_terminal(&world, args)).unwrap();
        assert_eq!(shown, world.stored("042", 1), "{args:?}");
    }
    let shown: Value = serde_json::from_str(&on_terminal(&world, &["show", "042", "--json"])).unwrap();
    assert_eq!(shown["checkpoint"]["title"], HOSTILE);
}

#[test]
fn a_failure_on_a_terminal_is_safe_too() {
    let world = World::new();
    let no_such = format!("/{HOSTILE}/.ckpt");
    for more in [&[][..], &["--json"]] {
        let args = [&["--store", &no_such, "list"][..], more].concat();
        let (code, screen) = Terminal::open(&world, &args, &[("NO_COLOR", "1")]).exit();
        assert_eq!(code, 4, "{screen}");
        let screen = screen.replace("\r\n", "\n");
        assert!(!screen.chars().any(|c| c != '\n' && is_hazardous(c)), "{screen:?}");
    }
}

#[test]
fn a_pipe_gets_the_bytes() {
    let world = hostile();
    let bytes = std::fs::read_to_string(world.checkpoint_file("042", 1)).unwrap();
    assert!(bytes.contains(HOSTILE));
    assert_eq!(world.run(&["show", "042", "--raw"]).succeeds().stdout, bytes);
    assert_eq!(world.run(&["export", "042", "--as", "ckpt", "-o", "-"]).succeeds().stdout, bytes);
}

#[test]
fn a_page_on_stdout_is_no_json_document() {
    let world = World::with_checkpoints(1);
    world.run(&["report", "-o", "-", "--json"]).exits(2);
    assert!(world.run(&["report", "-o", "-"]).succeeds().stdout.starts_with("<!DOCTYPE html>"));
}
