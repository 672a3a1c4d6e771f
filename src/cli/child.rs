//! Running the command of `ckpt run` or `ckpt resume` as a child process.

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::{Command, Stdio};

use super::error::{ErrorCode, Failure};
use super::exit::Exit;
use super::saving::SaveOptions;
use super::session::{Session, Workspace};
use ckpt_model::change::{Change, MAX_TEXT_BYTES};
use ckpt_model::text::replace_nul;
use ckpt_model::{Trigger, WorkflowId};
use ckpt_platform::{Interruption, SignalHandler, exit_of};

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
    /// The signal that asked this process or the child for an end, unless the child succeeded in spite of it.
    pub(crate) interruption: Option<Interruption>,
}

impl Ended {
    /// Returns the exit code of the child as that of this process.
    pub(crate) fn exit(self) -> Exit {
        Exit::Child(self.code)
    }
}

/// Installs the signal handler that [`run`] needs.
pub(crate) fn handle_signals() -> Result<SignalHandler, Failure> {
    SignalHandler::install()
        .map_err(|error| Failure::new(ErrorCode::Command, format!("signals cannot be handled: {error}")))
}

/// Runs a command and waits for it. The child reads `stdin`, or inherits the stdin of this process.
///
/// Signals are passed on to the child; this process survives them, so that it can save how the child ended.
pub(crate) fn run(
    command: &[OsString],
    environment: &ChildEnvironment,
    stdin: Option<&[u8]>,
    signals: &SignalHandler,
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
    let mut child = Command::new(program);
    child.args(args).env("CKPT_WORKFLOW", &environment.workflow).env("CKPT_HANDLE", &environment.handle);
    for (name, value) in [("CKPT_PHASE", &environment.phase), ("CKPT_ACTION", &environment.action)] {
        match value {
            Some(value) => child.env(name, exportable(value)),
            None => child.env_remove(name),
        };
    }
    child.stdin(if stdin.is_some() { Stdio::piped() } else { Stdio::inherit() });
    let mut child = match signals.start(&mut child).map_err(failed)? {
        Ok(child) => child,
        Err(interruption) => {
            return Ok(Ended { code: interruption.code, interruption: Some(interruption) });
        }
    };
    if let (Some(text), Some(mut pipe)) = (stdin, child.stdin.take()) {
        // A command that does not read its stdin is no error.
        let _ = pipe.write_all(text);
    }
    let status = child.wait().map_err(failed);
    signals.child_ended();
    let (code, killed_by) = exit_of(status?);
    let interruption = if code == 0 { None } else { signals.interruption().or(killed_by) };
    Ok(Ended { code, interruption })
}

/// Returns a stored text as the value of a variable. Saves refuse a NUL and longer texts; a file that something else
/// wrote may have both, and the operating system would start no command with them.
fn exportable(text: &str) -> String {
    let end = text.floor_char_boundary(MAX_TEXT_BYTES);
    replace_nul(&text[..end])
}

/// Saves that the work was interrupted.
pub(crate) fn save_interruption(
    session: &Session,
    workspace: &Workspace,
    workflow: &WorkflowId,
    interruption: Interruption,
) -> Result<(), Failure> {
    let trigger = if interruption.is_typed { Trigger::UserInterrupt } else { Trigger::SessionEnd };
    let change = Change {
        trigger: Some(trigger),
        note: Some("interrupted while a command was running".to_owned()),
        ..Change::default()
    };
    let report = session.save(workspace, workflow, change, &SaveOptions::default())?;
    session.output.say(&report.summary(&format!("interrupted. Resume with: ckpt resume {workflow}")));
    Ok(())
}
