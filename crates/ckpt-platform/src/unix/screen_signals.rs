//! Signals while the terminal is in a state of our own: it must be as it was before when this process stops or ends.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, mpsc};
use std::time::Duration;

use rustix::process::{Signal, getpid, kill_process};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP};
use signal_hook::flag;
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

/// Notices Ctrl-Z, so that the screen can be given back before this process stops.
pub struct Suspension {
    requested: Arc<AtomicBool>,
}

impl Suspension {
    /// Handles the signals until it is dropped.
    ///
    /// # Errors
    /// The system refuses.
    pub fn install() -> io::Result<Self> {
        let requested = Arc::default();
        flag::register(SIGTSTP, Arc::clone(&requested))?;
        Ok(Self { requested })
    }

    /// Returns true once for each time that a stop was asked for.
    pub fn is_requested(&self) -> bool {
        self.requested.swap(false, Ordering::SeqCst)
    }

    /// Stops this process until it is continued.
    pub fn stop(&self) {
        let _ = kill_process(getpid(), Signal::STOP);
    }
}

/// The mode of the terminal while a [`TerminalGuard`] exists.
static GUARDED: Mutex<Option<Termios>> = Mutex::new(None);
/// True once a [`SignalHandler`](super::SignalHandler) decides about the signals.
static HANDLED: AtomicBool = AtomicBool::new(false);
/// How long it may take until a signal has ended this process.
const PATIENCE: Duration = Duration::from_secs(5);
/// Set by the signal handler itself: the thread learns of a signal later.
static RECEIVED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);
static IS_INSTALLED: AtomicBool = AtomicBool::new(false);

/// Leaves the signals to a handler from now on.
pub fn leave_signals() {
    HANDLED.store(true, Ordering::SeqCst);
}

/// Gives the terminal its mode back if a signal ends this process while a key is awaited.
pub struct TerminalGuard;

impl TerminalGuard {
    /// Remembers the present mode. Without a terminal, or without signals, nothing is guarded.
    pub fn install() -> Self {
        if let Ok(mode) = tcgetattr(io::stdin()) {
            *GUARDED.lock().unwrap_or_else(PoisonError::into_inner) = Some(mode);
        }
        // A handler cannot be removed again, so the thread stays: without a guard, signals have their default effect.
        if !IS_INSTALLED.swap(true, Ordering::SeqCst)
            && let Ok(mut signals) = Signals::new([SIGINT, SIGTERM, SIGHUP, SIGQUIT])
        {
            for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] {
                let _ = flag::register(signal, Arc::clone(&RECEIVED));
            }
            std::thread::spawn(move || {
                for signal in signals.forever() {
                    if let Some(mode) = &*GUARDED.lock().unwrap_or_else(PoisonError::into_inner) {
                        let _ = tcsetattr(io::stdin(), OptionalActions::Now, mode);
                    }
                    if !HANDLED.load(Ordering::SeqCst) {
                        let _ = emulate_default_handler(signal);
                    }
                }
            });
        }
        Self
    }

    /// Waits for the end of this process, if a signal asks for it.
    pub fn await_end(&self) {
        if RECEIVED.load(Ordering::SeqCst) && !HANDLED.load(Ordering::SeqCst) {
            // Parking would end at once where a thread of earlier work has left its token.
            let (_sender, receiver) = mpsc::channel::<()>();
            let _ = receiver.recv_timeout(PATIENCE);
        }
    }
}

impl Drop for TerminalGuard {
    fn drop(&mut self) {
        *GUARDED.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}
