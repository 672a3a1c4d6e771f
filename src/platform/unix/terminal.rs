//! The terminal.

use std::io::IsTerminal;
use std::os::fd::AsFd;

/// Returns the width of the terminal that a stream is connected to; none if it is something else.
pub(crate) fn terminal_width(stream: &(impl AsFd + IsTerminal)) -> Option<usize> {
    if !stream.is_terminal() {
        return None;
    }
    match rustix::termios::tcgetwinsize(stream) {
        Ok(size) if size.ws_col > 0 => Some(usize::from(size.ws_col)),
        _ => Some(80),
    }
}
