//! Reading stdin without waiting for a caller that never writes.

use std::io;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, read};

/// How long a complete text waits for more of it.
const SETTLING: Duration = Duration::from_millis(2);
/// A payload is seldom larger.
const CHUNK: usize = 8 << 10;

/// Reads stdin until its end, until it is silent for `patience`, or until what came in is complete. Returns none if that is
/// more than `limit` bytes.
pub fn read_stdin(
    limit: usize,
    patience: Duration,
    is_complete: impl Fn(&[u8]) -> bool,
) -> io::Result<Option<Vec<u8>>> {
    let stdin = rustix::stdio::stdin();
    let mut bytes = Vec::new();
    let mut chunk = vec![0; CHUNK];
    loop {
        let may_be_complete = bytes.trim_ascii_end().ends_with(b"}");
        if may_be_complete && !is_readable(stdin, SETTLING)? && is_complete(&bytes) {
            return Ok(Some(bytes));
        }
        if !is_readable(stdin, patience)? {
            return Ok(Some(bytes));
        }
        match read(stdin, chunk.as_mut_slice()) {
            Ok(0) => return Ok(Some(bytes)),
            Ok(count) if bytes.len() + count > limit => return Ok(None),
            Ok(count) => bytes.extend_from_slice(&chunk[..count]),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

fn is_readable(stdin: impl std::os::fd::AsFd, patience: Duration) -> io::Result<bool> {
    let timeout = Timespec::try_from(patience).map_err(io::Error::other)?;
    loop {
        match poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&timeout)) {
            Err(Errno::INTR) => {}
            ready => return Ok(ready? > 0),
        }
    }
}
