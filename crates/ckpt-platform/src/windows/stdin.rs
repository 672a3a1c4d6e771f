//! Reading stdin without waiting for a caller that never writes.

use std::io::{self, Read};
use std::sync::mpsc;
use std::time::Duration;

/// Reads stdin until its end, or until `patience` is over. Returns none if that is more than `limit` bytes. A pipe cannot be
/// polled here, so a thread reads it; it ends with the process.
pub fn read_stdin(
    limit: usize,
    patience: Duration,
    is_complete: impl Fn(&[u8]) -> bool,
) -> io::Result<Option<Vec<u8>>> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut stdin = io::stdin().lock();
        let mut chunk = vec![0; 64 << 10];
        while let Ok(count) = stdin.read(&mut chunk) {
            if sender.send(chunk[..count].to_vec()).is_err() || count == 0 {
                break;
            }
        }
    });
    let mut bytes = Vec::new();
    while let Ok(chunk) = receiver.recv_timeout(patience) {
        if chunk.is_empty() {
            break;
        }
        if bytes.len() + chunk.len() > limit {
            return Ok(None);
        }
        bytes.extend(chunk);
        if bytes.trim_ascii_end().ends_with(b"}") && is_complete(&bytes) {
            break;
        }
    }
    Ok(Some(bytes))
}
