//! Running the command of `ckpt run` or `ckpt resume` as a child process.

use std::collections::HashSet;
use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::process::{Pid, Signal, getpgrp, getpid, kill_process, kill_process_group};
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP};
use signal_hook::iterator::Signals;

use super::error::{ErrorCode, Failure};
use super::exit::Exit;
use super::save::SaveOptions;
use super::session::{Session, Workspace};
use crate::core::change::{Change, MAX_TEXT_BYTES};
use crate::core::text::replace_nul;
use crate::core::{Trigger, WorkflowId};

/// The variables that are set in the environment of the child.
pub(crate) struct ChildEnvironment {
    pub(crate) workflow: String,
    pub(crate) handle: String,
    pub(crate) phase: Option<String>,
    pub(crate) action: Option<String>,
}

/// The end of a child process.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ended {
    /// The exit code; 128 plus the number of the signal that killed it.
    pub(crate) code: u8,
    /// True if this process or the child got an interrupt, hangup or termination signal.
    pub(crate) interrupted: bool,
}

impl Ended {
    /// Returns the exit code of the child as that of this process.
    pub(crate) fn exit(self) -> Exit {
        Exit::Child(self.code)
    }
}

/// Runs a command and waits for it. The child reads `stdin`, or inherits the stdin of this process.
///
/// Signals are forwarded to the child; this process survives them, so that it can save how the child ended.
pub(crate) fn run(
    command: &[OsString],
    environment: &ChildEnvironment,
    stdin: Option<&[u8]>,
) -> Result<Ended, Failure> {
    let [program, args @ ..] = command else {
        return Err(Failure::new(ErrorCode::Usage, "no command was given").help("write it behind `--`"));
    };
    let shown = program.to_string_lossy().into_owned();
    let failed = |error: io::Error| {
        let failure = Failure::new(ErrorCode::Command, format!("`{shown}` cannot be run: {error}"));
        match error.kind() {
            io::ErrorKind::NotFound => failure.help("check its name, or write its full path"),
            _ => failure,
        }
    };
    let group = ProcessGroup::of_this_process();
    let signals = Signals::new(group.signals()).map_err(failed)?;
    let mut child = Command::new(program);
    child.args(args).env("CKPT_WORKFLOW", &environment.workflow).env("CKPT_HANDLE", &environment.handle);
    for (name, value) in [("CKPT_PHASE", &environment.phase), ("CKPT_ACTION", &environment.action)] {
        match value {
            Some(value) => child.env(name, exportable(value)),
            None => child.env_remove(name),
        };
    }
    child.stdin(if stdin.is_some() { Stdio::piped() } else { Stdio::inherit() });
    if group == ProcessGroup::Own {
        child.process_group(0);
    }
    let mut child = child.spawn().map_err(failed)?;

    let interrupted = Arc::new(AtomicBool::new(false));
    let handle = signals.handle();
    let forwarder =
        Forwarder { group, child: Pid::from_child(&child), interrupted: Arc::clone(&interrupted) };
    let forwarder = std::thread::spawn(move || forwarder.run(signals));
    if let (Some(text), Some(mut pipe)) = (stdin, child.stdin.take()) {
        // A command that does not read its stdin is no error.
        let _ = pipe.write_all(text);
    }
    let status = child.wait().map_err(failed);
    // From here on, further signals are ignored: the end of the child is yet to be saved.
    handle.close();
    let _ = forwarder.join();
    let status = status?;
    let signal = status.signal();
    let code = status.code().or(signal.map(|signal| 128 + signal)).unwrap_or(1);
    let interrupted = interrupted.load(Ordering::SeqCst) || signal == Some(SIGINT);
    Ok(Ended { code: u8::try_from(code).unwrap_or(1), interrupted })
}

/// Returns a stored text as the value of a variable. Saves refuse a NUL and longer texts; a file that something else
/// wrote may have both, and the operating system would start no command with them.
fn exportable(text: &str) -> String {
    let end = text.floor_char_boundary(MAX_TEXT_BYTES);
    replace_nul(&text[..end])
}

/// The process group of the child.
///
/// At a terminal the child stays in the group of this process, the foreground group, as with `time` or `env`. The terminal
/// signals all processes of it, so Ctrl-C and Ctrl-Z work, an editor can read from the terminal, and this process learns
/// of an interrupt that the child handles. Everywhere else the child gets a group of its own, so that a signal for this
/// process reaches the processes that the child started too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ProcessGroup {
    /// The foreground job of a terminal. `leader` is true if nothing but this process and its children is in it, or is
    /// connected to them by a pipe.
    Terminal { leader: bool },
    /// A process group of its own.
    Own,
}

impl ProcessGroup {
    fn of_this_process() -> Self {
        let group = getpgrp();
        let stdin = io::stdin();
        if stdin.is_terminal()
            && rustix::termios::tcgetpgrp(&stdin).is_ok_and(|foreground| foreground == group)
        {
            Self::Terminal { leader: group == getpid() }
        } else {
            Self::Own
        }
    }

    /// Returns the signals to handle. Those that stop a job are the terminal's business, if there is one.
    fn signals(self) -> &'static [i32] {
        match self {
            Self::Terminal { .. } => &[SIGINT, SIGTERM, SIGHUP, SIGQUIT],
            Self::Own => &[SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT],
        }
    }
}

/// Passes signals on to a child.
struct Forwarder {
    group: ProcessGroup,
    child: Pid,
    interrupted: Arc<AtomicBool>,
}

impl Forwarder {
    fn run(self, mut signals: Signals) {
        // A signal to the group of this process comes back once.
        let mut returning = HashSet::new();
        for number in signals.forever() {
            if !matches!(number, SIGTSTP | SIGCONT) {
                self.interrupted.store(true, Ordering::SeqCst);
            }
            let Some(signal) = Signal::from_named_raw(number) else { continue };
            match self.group {
                ProcessGroup::Own => {
                    let _ = kill_process_group(self.child, signal);
                    if signal == Signal::TSTP {
                        // Until it is continued, which the child is told then.
                        let _ = kill_process(getpid(), Signal::STOP);
                    }
                }
                // Typed at the terminal, so the child has it already.
                ProcessGroup::Terminal { .. } if matches!(number, SIGINT | SIGQUIT) => {}
                ProcessGroup::Terminal { leader: true } => {
                    if !returning.remove(&number) {
                        returning.insert(number);
                        let _ = kill_process_group(getpgrp(), signal);
                    }
                }
                ProcessGroup::Terminal { leader: false } => {
                    let _ = kill_process(self.child, signal);
                }
            }
        }
    }
}

/// Saves that the work was interrupted.
pub(crate) fn save_interrupt(
    session: &Session,
    workspace: &Workspace,
    workflow: &WorkflowId,
) -> Result<(), Failure> {
    let change = Change {
        trigger: Some(Trigger::UserInterrupt),
        note: Some("interrupted while a command was running".to_owned()),
        ..Change::default()
    };
    let report = session.save(workspace, workflow, change, &SaveOptions::default())?;
    if let Some(handle) = report.handle
        && report.created
    {
        session.ui.say(&format!("Saved {handle}: interrupted. Resume with: ckpt resume {workflow}\n"));
    }
    Ok(())
}
