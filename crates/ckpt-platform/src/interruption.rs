//! A request to end.

/// A signal, or Ctrl-C on Windows, that asked a process for an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interruption {
    /// The exit code that shells give for it.
    pub code: u8,
    /// True if a person typed it; false if the system ends the session.
    pub is_typed: bool,
}
