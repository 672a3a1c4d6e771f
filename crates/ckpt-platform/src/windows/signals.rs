//! Ctrl-C while this process runs commands. The console sends it to all processes that are attached to it, so nothing is
//! passed on.

use std::io;
use std::process::{Child, Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use signal_hook::consts::SIGINT;
use signal_hook::flag;

use crate::Interruption;

/// The exit code of a process that Ctrl-C ended: `STATUS_CONTROL_C_EXIT`.
const CONTROL_C_EXIT: u32 = 0xC000_013A;
/// The exit code is the one of such a process on Unix.
const CONTROL_C: Interruption = Interruption { code: 130, is_typed: true };
const POLL: Duration = Duration::from_millis(20);

/// Handles Ctrl-C. It stays handled when this is dropped: what happened is yet to be saved.
pub struct SignalHandler {
    interrupted: Arc<AtomicBool>,
    /// True while Ctrl-C ends this process at once.
    is_released: Arc<AtomicBool>,
}

impl SignalHandler {
    pub fn install() -> io::Result<Self> {
        let handler = Self { interrupted: Arc::default(), is_released: Arc::default() };
        let code = i32::from(CONTROL_C.code);
        flag::register_conditional_shutdown(SIGINT, code, Arc::clone(&handler.is_released))?;
        flag::register(SIGINT, Arc::clone(&handler.interrupted))?;
        Ok(handler)
    }

    /// Handles Ctrl-C of a process that runs no command.
    pub fn install_for_screen() -> io::Result<Self> {
        Self::install()
    }

    /// Starts a child; refused if Ctrl-C was typed before.
    pub fn start(&self, command: &mut Command) -> io::Result<Result<Child, Interruption>> {
        match self.interruption() {
            Some(interruption) => Ok(Err(interruption)),
            None => command.spawn().map(Ok),
        }
    }

    /// Does nothing: there is nothing to pass on.
    pub fn child_ended(&self) {}

    /// Returns the interruption so far.
    pub fn interruption(&self) -> Option<Interruption> {
        self.interrupted.load(Ordering::SeqCst).then_some(CONTROL_C)
    }

    /// Waits for the time to pass, or for an interruption, which is returned.
    #[expect(clippy::disallowed_methods, reason = "there is no signal to wait for")]
    pub fn wait(&self, time: Duration) -> Option<Interruption> {
        let mut left = time;
        while self.interruption().is_none() && !left.is_zero() {
            std::thread::sleep(POLL.min(left));
            left = left.saturating_sub(POLL);
        }
        self.interruption()
    }

    /// Calls `ask`, during which Ctrl-C ends this process at once: a person who types it at a question means it.
    pub fn released<T>(&self, ask: impl FnOnce() -> T) -> T {
        self.is_released.store(true, Ordering::SeqCst);
        let answer = ask();
        self.is_released.store(false, Ordering::SeqCst);
        answer
    }
}

/// Returns the exit code of a child, and the interruption that killed it.
pub fn exit_of(status: ExitStatus) -> (u8, Option<Interruption>) {
    let code = status.code().unwrap_or(1);
    if code.cast_unsigned() == CONTROL_C_EXIT {
        return (CONTROL_C.code, Some(CONTROL_C));
    }
    (u8::try_from(code).unwrap_or(1), None)
}
