//! The console.

use std::io::IsTerminal;

use winapi_util::AsHandleRef;
use winapi_util::console;

const ENABLE_VIRTUAL_TERMINAL_PROCESSING: u32 = 0x0004;

/// Returns the width of the console that a stream is connected to; none if it is something else. The console interprets
/// escape sequences from now on, as every terminal on Unix does.
pub(crate) fn terminal_width(stream: &(impl AsHandleRef + IsTerminal)) -> Option<usize> {
    if !stream.is_terminal() {
        return None;
    }
    if let Ok(mode) = console::mode(stream) {
        let _ = console::set_mode(stream, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
    }
    let window = console::screen_buffer_info(stream).map(|info| info.window_rect());
    let width = window.map(|window| i32::from(window.right) - i32::from(window.left) + 1);
    match width.map(usize::try_from) {
        Ok(Ok(width)) if width > 0 => Some(width),
        _ => Some(80),
    }
}
