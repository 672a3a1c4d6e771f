//! A request to end.

/// A signal, or Ctrl-C on Windows, that asked a process for an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Interruption {
    /// The exit code that shells give for it.
    pub(crate) code: u8,
    /// True if a person typed it; false if the system ends the session.
    pub(crate) is_typed: bool,
}
