//! Running the command of `ckpt run` or `ckpt resume` as a child process.

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::process::{Pid, Signal};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
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
    let signals = Signals::new([SIGINT, SIGTERM, SIGHUP]).map_err(failed)?;
    let mut child = Command::new(program);
    child.args(args).env("CKPT_WORKFLOW", &environment.workflow).env("CKPT_HANDLE", &environment.handle);
    for (name, value) in [("CKPT_PHASE", &environment.phase), ("CKPT_ACTION", &environment.action)] {
        match value {
            Some(value) => child.env(name, exportable(value)),
            None => child.env_remove(name),
        };
    }
    child.stdin(if stdin.is_some() { Stdio::piped() } else { Stdio::inherit() });
    let mut child = child.spawn().map_err(failed)?;

    let interrupted = Arc::new(AtomicBool::new(false));
    let handle = signals.handle();
    let forwarder = forward(signals, &child, Arc::clone(&interrupted));
    if let (Some(text), Some(mut pipe)) = (stdin, child.stdin.take()) {
        // A command that does not read its stdin is no error.
        let _ = pipe.write_all(text);
    }
    let status = child.wait().map_err(failed);
    handle.close();
    let _ = forwarder.join();
    use std::os::unix::process::ExitStatusExt;
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

/// Forwards signals to the child. An interrupt typed at a terminal has reached it already.
fn forward(mut signals: Signals, child: &Child, interrupted: Arc<AtomicBool>) -> std::thread::JoinHandle<()> {
    let pid = Pid::from_child(child);
    let terminal = io::stdin().is_terminal();
    std::thread::spawn(move || {
        for signal in signals.forever() {
            interrupted.store(true, Ordering::SeqCst);
            let forwarded = match signal {
                SIGINT if terminal => None,
                SIGINT => Some(Signal::INT),
                SIGHUP => Some(Signal::HUP),
                _ => Some(Signal::TERM),
            };
            if let Some(signal) = forwarded {
                let _ = rustix::process::kill_process(pid, signal);
            }
        }
    })
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
