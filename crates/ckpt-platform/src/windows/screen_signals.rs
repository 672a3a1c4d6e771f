//! Signals while the terminal is in a state of our own. The console stops no process, and gives its mode back by itself.

use std::io;

/// Notices that this process is to be stopped, which the console never asks for.
pub struct Suspension;

impl Suspension {
    pub fn install() -> io::Result<Self> {
        Ok(Self)
    }

    pub fn is_requested(&self) -> bool {
        false
    }

    pub fn stop(&self) {}
}

/// Guards the mode of the terminal, which needs nothing here.
pub struct TerminalGuard;

impl TerminalGuard {
    pub fn install() -> Self {
        Self
    }

    pub fn await_end(&self) {}
}
