//! Running `ckpt` under `strace`: which system calls it makes, and what it does when one of them fails.

use std::path::{Path, PathBuf};

use ckpt::project::{Invocation, Outcome, World, find_program, skip};

/// A system call of a recorded run.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    /// Its name.
    pub(crate) name: String,
    /// How many calls of that name the process has made by then, this one included.
    pub(crate) nth: usize,
    /// The line `strace` wrote about it.
    pub(crate) line: String,
}

/// The tracer, if it is installed.
pub(crate) fn strace() -> Option<PathBuf> {
    let found = find_program("strace");
    if found.is_none() {
        skip("strace is not installed");
    }
    found
}

/// The calls that a command makes from the moment it first looks for the store.
pub(crate) fn calls(strace: &Path, world: &World, args: &[&str]) -> Vec<Call> {
    let log = world.temp().join("strace.log");
    let tracer = [strace.as_os_str(), "-f".as_ref(), "-qq".as_ref(), "-o".as_ref(), log.as_os_str()];
    world.ckpt(args).under(&tracer).run().succeeds();
    let text = String::from_utf8_lossy(&std::fs::read(&log).unwrap()).into_owned();
    let mut counts = std::collections::BTreeMap::<String, usize>::new();
    let mut calls = Vec::new();
    let mut process = None;
    for line in text.lines() {
        // `1234  openat(3, ".ckpt", ...) = 4`
        let Some((id, rest)) = line.split_once(' ') else { continue };
        // `strace` counts the calls of each process apart.
        if *process.get_or_insert(id) != id {
            continue;
        }
        let Some((name, _)) = rest.trim_start().split_once('(') else { continue };
        let nth = counts.entry(name.to_owned()).or_default();
        *nth += 1;
        calls.push(Call { name: name.to_owned(), nth: *nth, line: line.to_owned() });
    }
    let first = calls.iter().position(|call| call.line.contains("/.ckpt\"")).expect("it looks for the store");
    calls.split_off(first)
}

/// Lets the nth call of a name fail or kill.
pub(crate) fn with_fault<'a>(call: Invocation<'a>, strace: &Path, at: &Call, fault: &str) -> Invocation<'a> {
    let trace = format!("trace={}", at.name);
    let inject = format!("inject={}:{fault}:when={}", at.name, at.nth);
    // With this, calls of other names do not even stop, which halves the time; but signals are not delivered then.
    let filter = if fault.starts_with("error") { "--seccomp-bpf" } else { "-f" };
    let tracer = [
        strace.as_os_str(),
        filter.as_ref(),
        "-f".as_ref(),
        "-qq".as_ref(),
        "-o".as_ref(),
        "/dev/null".as_ref(),
        "-e".as_ref(),
        trace.as_ref(),
        "-e".as_ref(),
        inject.as_ref(),
    ];
    call.under(&tracer)
}

/// True if the process was ended by `SIGKILL`; `strace` ends itself the same way.
pub(crate) fn was_killed(outcome: &Outcome) -> bool {
    use std::os::unix::process::ExitStatusExt as _;
    outcome.status.signal() == Some(9) || outcome.status.code() == Some(137)
}
