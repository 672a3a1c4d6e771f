//! The console.

use std::io::IsTerminal;

use winapi_util::AsHandleRef;
use winapi_util::console;

const ENABLE_VIRTUAL_TERMINAL_PROCESSING: u32 = 0x0004;

/// Returns the columns and rows of the console that a stream is connected to; none if it is something else. The console
/// interprets escape sequences from now on, as every terminal on Unix does.
pub fn terminal_size(stream: &(impl AsHandleRef + IsTerminal)) -> Option<(usize, usize)> {
    if !stream.is_terminal() {
        return None;
    }
    if let Ok(mode) = console::mode(stream) {
        let _ = console::set_mode(stream, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
    }
    let length = |from: i16, to: i16| usize::try_from(i32::from(to) - i32::from(from) + 1).unwrap_or_default();
    let window = console::screen_buffer_info(stream).map(|info| info.window_rect());
    match window.map(|window| (length(window.left, window.right), length(window.top, window.bottom))) {
        Ok((columns, rows)) if columns > 0 && rows > 0 => Some((columns, rows)),
        _ => Some((80, 24)),
    }
}
