//! The signals of this process while it runs commands: they are passed on to the command, and the first that asks for an
//! end is remembered.

use std::collections::HashSet;
use std::io::{self, IsTerminal};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::process::{Pid, Signal, getpgrp, getpid, kill_process, kill_process_group};
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP};
use signal_hook::flag::register_usize;
use signal_hook::iterator::{Handle, Signals};
use signal_hook::low_level::emulate_default_handler;

use super::screen_signals::leave_signals;
use crate::Interruption;

/// Handles the signals of this process until it is dropped. Afterwards they are ignored: what happened is yet to be saved.
pub struct SignalHandler {
    shared: Arc<Shared>,
    handle: Handle,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    group: ProcessGroup,
    state: Mutex<State>,
    interrupted: Condvar,
    /// The number of a signal that asked for an end, stored by the signal handler itself: the child may end before the
    /// thread has seen the signal.
    received: Arc<AtomicUsize>,
}

#[derive(Default)]
struct State {
    /// The running child.
    child: Option<Pid>,
    /// The first signal that asked for an end.
    interruption: Option<Interruption>,
    /// True while a signal ends this process at once, as if it were not handled.
    is_released: bool,
}

impl SignalHandler {
    pub fn install() -> io::Result<Self> {
        Self::install_in(ProcessGroup::of_this_process())
    }

    /// Handles the signals of a process that runs no command, and decides itself when to stop.
    pub fn install_for_screen() -> io::Result<Self> {
        Self::install_in(ProcessGroup::Terminal { leader: false })
    }

    fn install_in(group: ProcessGroup) -> io::Result<Self> {
        leave_signals();
        let signals = Signals::new(group.signals())?;
        let handle = signals.handle();
        let received = Arc::new(AtomicUsize::new(0));
        for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] {
            register_usize(signal, Arc::clone(&received), usize::try_from(signal).unwrap_or_default())?;
        }
        let state = Mutex::default();
        let shared = Arc::new(Shared { group, state, interrupted: Condvar::new(), received });
        let thread = Some(std::thread::spawn({
            let shared = Arc::clone(&shared);
            move || shared.handle(signals)
        }));
        Ok(Self { shared, handle, thread })
    }

    /// Starts a child that signals are passed on to; refused if a signal has asked for an end before.
    pub fn start(&self, command: &mut Command) -> io::Result<Result<Child, Interruption>> {
        if self.shared.group == ProcessGroup::Own {
            command.process_group(0);
        }
        // Locked until the child is known, so that no signal is received in between and lost.
        let mut state = self.shared.lock();
        if let Some(interruption) = state.interruption.or_else(|| self.shared.received()) {
            return Ok(Err(interruption));
        }
        let child = command.spawn()?;
        state.child = Some(Pid::from_child(&child));
        Ok(Ok(child))
    }

    /// Stops passing signals on, after the child has ended.
    pub fn child_ended(&self) {
        self.shared.lock().child = None;
    }

    /// Returns the first signal so far that asked for an end.
    pub fn interruption(&self) -> Option<Interruption> {
        self.shared.lock().interruption.or_else(|| self.shared.received())
    }

    /// Waits for the time to pass, or for a signal that asks for an end, which is returned.
    pub fn wait(&self, time: Duration) -> Option<Interruption> {
        let state = self.shared.lock();
        let waiting = |state: &mut State| state.interruption.is_none();
        let waited = self.shared.interrupted.wait_timeout_while(state, time, waiting);
        waited.map_or_else(|poisoned| poisoned.into_inner().0.interruption, |(state, _)| state.interruption)
    }

    /// Calls `ask`, during which a signal ends this process at once: a person who types Ctrl-C at a question means it.
    pub fn released<T>(&self, ask: impl FnOnce() -> T) -> T {
        self.shared.lock().is_released = true;
        let answer = ask();
        self.shared.lock().is_released = false;
        answer
    }
}

impl Drop for SignalHandler {
    fn drop(&mut self) {
        self.handle.close();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn received(&self) -> Option<Interruption> {
        match i32::try_from(self.received.load(Ordering::SeqCst)) {
            Ok(signal @ 1..) => Some(interruption(signal)),
            _ => None,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn handle(&self, mut signals: Signals) {
        // A signal to the group of this process comes back once.
        let mut returning = HashSet::new();
        for number in signals.forever() {
            let child = {
                let mut state = self.lock();
                if state.is_released {
                    let _ = emulate_default_handler(number);
                }
                if !matches!(number, SIGTSTP | SIGCONT) {
                    state.interruption.get_or_insert(interruption(number));
                    self.interrupted.notify_all();
                }
                state.child
            };
            let Some(signal) = Signal::from_named_raw(number) else { continue };
            match self.group {
                ProcessGroup::Own => {
                    if let Some(child) = child {
                        let _ = kill_process_group(child, signal);
                    }
                    if signal == Signal::TSTP {
                        // Until it is continued, which the child is told then.
                        let _ = kill_process(getpid(), Signal::STOP);
                    }
                }
                // Typed at the terminal, so the child has it already.
                ProcessGroup::Terminal { .. } if matches!(number, SIGINT | SIGQUIT) => {}
                ProcessGroup::Terminal { leader: true } => {
                    if child.is_some() && !returning.remove(&number) {
                        returning.insert(number);
                        let _ = kill_process_group(getpgrp(), signal);
                    }
                }
                ProcessGroup::Terminal { leader: false } => {
                    if let Some(child) = child {
                        let _ = kill_process(child, signal);
                    }
                }
            }
        }
    }
}

/// Returns the exit code of a child, 128 plus the number of the signal that killed it, and the interruption that did so, if
/// a person typed it. The terminal sends Ctrl-C to all processes of the foreground group, and this one may learn of it
/// later.
pub fn exit_of(status: ExitStatus) -> (u8, Option<Interruption>) {
    let signal = status.signal();
    let code = status.code().or(signal.map(|signal| 128 + signal)).unwrap_or(1);
    let typed = signal.filter(|signal| *signal == SIGINT).map(interruption);
    (u8::try_from(code).unwrap_or(1), typed)
}

/// A person types SIGINT and SIGQUIT; the system sends SIGTERM and SIGHUP when it ends the session.
fn interruption(signal: i32) -> Interruption {
    let is_typed = !matches!(signal, SIGTERM | SIGHUP);
    Interruption { code: u8::try_from(128 + signal).unwrap_or(1), is_typed }
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
    ///
    /// Otherwise, as in a script, the group has processes of others too. A signal for this process alone is passed on
    /// to the child, and to nothing that the child started, as `timeout --foreground` does.
    Terminal { leader: bool },
    /// A process group of its own.
    Own,
}

impl ProcessGroup {
    fn of_this_process() -> Self {
        let group = getpgrp();
        let stdin = io::stdin();
        if stdin.is_terminal() && rustix::termios::tcgetpgrp(&stdin).is_ok_and(|foreground| foreground == group) {
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
