//! Signals while a command runs on behalf of a workflow: they reach all of its processes, and are recorded.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::support::project::World;
use crate::support::terminal::{Terminal, is_stopped};

fn begun() -> World {
    let world = World::new();
    world.run(&["save", "042", "--phases", "plan,build", "--phase", "plan", "--next", "Write it"]).succeeds();
    world
}

const RUN: [&str; 5] = ["run", "042", "--phase", "build", "--"];

/// A shell that waits for another one, which prints its process id and waits.
const NESTED: &str = "/bin/sh -c 'echo pid $$; exec sleep 300'; exit 5";

/// Returns true once a process has ended, also if nobody has waited for it yet.
fn ends(pid: &str) -> bool {
    let stat = PathBuf::from("/proc").join(pid).join("stat");
    let deadline = Instant::now() + Duration::from_secs(10);
    while Instant::now() < deadline {
        match std::fs::read_to_string(&stat) {
            Ok(text) if !text.contains(") Z ") => std::thread::sleep(Duration::from_millis(20)),
            _ => return true,
        }
    }
    false
}

/// Starts a command without a terminal, and returns the first line that it prints.
fn start(world: &World, args: &[&str]) -> (Child, String) {
    let mut command = world.ckpt(args).env("PATH", "/usr/bin:/bin").command();
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    (child, line.trim().to_owned())
}

#[test]
fn a_signal_reaches_the_children_of_the_command_and_is_recorded() {
    for (signal, code, trigger) in [
        (Signal::TERM, 143, "session_end"),
        (Signal::INT, 130, "user_interrupt"),
        (Signal::HUP, 129, "session_end"),
        (Signal::QUIT, 131, "user_interrupt"),
    ] {
        for (args, seq) in [(&RUN[..], 3), (&["resume", "042", "--"], 2)] {
            let world = begun();
            let (mut child, line) = start(&world, &[args, &["/bin/sh", "-c", NESTED]].concat());
            let grandchild = line.strip_prefix("pid ").unwrap();
            kill_process(Pid::from_child(&child), signal).unwrap();
            assert_eq!(child.wait().unwrap().code(), Some(code), "{signal:?} {args:?}");
            assert!(ends(grandchild), "{signal:?} {args:?}: {grandchild} is left");
            assert_eq!(world.stored("042", seq)["trigger"], trigger, "{signal:?} {args:?}");
        }
    }
}

#[test]
fn a_second_signal_does_not_lose_the_record() {
    let world = begun();
    let script = "trap 'trap \"\" TERM; sleep 0.3; exit 1' TERM; echo up; while :; do sleep 0.05; done";
    let (mut child, _) = start(&world, &[&RUN[..], &["/bin/sh", "-c", script]].concat());
    let pid = Pid::from_child(&child);
    kill_process(pid, Signal::TERM).unwrap();
    // Until the record is written, and beyond.
    while child.try_wait().unwrap().is_none() {
        let _ = kill_process(pid, Signal::TERM);
        std::thread::sleep(Duration::from_millis(2));
    }
    assert_eq!(child.wait().unwrap().code(), Some(1));
    assert_eq!(world.stored("042", 3)["trigger"], "session_end");
}

#[test]
fn a_stopped_command_is_continued() {
    let world = begun();
    let (mut child, line) = start(&world, &[&RUN[..], &["/bin/sh", "-c", "echo pid $$; exec sleep 1"]].concat());
    let (own, command) = (child.id().to_string(), line.strip_prefix("pid ").unwrap());
    let wait_for = |wanted: bool| {
        let deadline = Instant::now() + Duration::from_secs(10);
        while (is_stopped(&own) != wanted || is_stopped(command) != wanted) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(20));
        }
        assert_eq!((is_stopped(&own), is_stopped(command)), (wanted, wanted));
    };
    kill_process(Pid::from_child(&child), Signal::TSTP).unwrap();
    wait_for(true);
    kill_process(Pid::from_child(&child), Signal::CONT).unwrap();
    wait_for(false);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(world.stored("042", 3)["phases"][1]["status"], "complete");
}

#[test]
fn control_c_at_a_terminal_reaches_the_command_once() {
    let world = begun();
    let script = "trap 'echo caught; exit 1' INT; echo up; while :; do sleep 0.05; done";
    let invocation = world.ckpt(&[&RUN[..], &["/bin/sh", "-c", script]].concat()).env("PATH", "/usr/bin:/bin");
    let mut terminal = Terminal::of(&invocation);
    terminal.expect("up", 1);
    terminal.answer("\u{3}");
    let (code, screen) = terminal.exit();
    assert_eq!((code, screen.matches("caught").count()), (1, 1), "{screen}");
    assert_eq!(world.stored("042", 3)["trigger"], "user_interrupt");
}

#[test]
fn a_command_can_use_the_terminal() {
    let world = begun();
    let script = "stty -echo && echo ready && read -r line && stty echo && echo \"got $line\"";
    let invocation = world.ckpt(&[&RUN[..], &["/bin/sh", "-c", script]].concat()).env("PATH", "/usr/bin:/bin");
    let mut terminal = Terminal::of(&invocation);
    terminal.expect("ready", 1);
    terminal.answer("words\n");
    let (code, screen) = terminal.exit();
    assert!(code == 0 && screen.contains("got words"), "{code}: {screen}");
    assert_eq!(world.stored("042", 3)["phases"][1]["status"], "complete");
}

#[test]
fn a_termination_at_a_terminal_reaches_the_children_of_the_command() {
    let world = begun();
    let invocation = world.ckpt(&[&RUN[..], &["/bin/sh", "-c", NESTED]].concat()).env("PATH", "/usr/bin:/bin");
    let mut terminal = Terminal::of(&invocation);
    terminal.expect("pid ", 1);
    terminal.expect("\n", 1);
    let line = terminal.seen.lines().find(|line| line.contains("pid ")).unwrap().to_owned();
    let grandchild = line.split("pid ").nth(1).unwrap().trim().to_owned();
    kill_process(terminal.pid(), Signal::TERM).unwrap();
    let (code, screen) = terminal.exit();
    assert_eq!(code, 143, "{screen}");
    assert!(ends(&grandchild), "{grandchild} is left: {screen}");
    assert_eq!(world.stored("042", 3)["trigger"], "session_end");
}
