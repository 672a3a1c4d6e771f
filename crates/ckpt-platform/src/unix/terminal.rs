//! The terminal.

use std::io::IsTerminal;
use std::os::fd::AsFd;

/// Returns the columns and rows of the terminal that a stream is connected to; none if it is something else.
pub fn terminal_size(stream: &(impl AsFd + IsTerminal)) -> Option<(usize, usize)> {
    if !stream.is_terminal() {
        return None;
    }
    match rustix::termios::tcgetwinsize(stream) {
        Ok(size) if size.ws_col > 0 && size.ws_row > 0 => Some((size.ws_col.into(), size.ws_row.into())),
        _ => Some((80, 24)),
    }
}
