//! Telling a browser that the store changed: server-sent events over a digest of the store's directories.
//!
//! It is taken twice in a second at most, for all browsers together, and only while one listens: a stat for each workflow.
//! inotify would need a watch for each workflow, of which a user has 8,192 by default, and misses network file systems.

use std::io::{self, Write};
use std::net::TcpStream;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use super::Site;
use super::http::head;
use crate::cli::invoke::Program;
use ckpt_model::digest::Digest;

/// The time between two looks at the store. A large store is looked at less often, so that a tenth of a core is enough.
const INTERVAL: Duration = Duration::from_millis(400);
const MOST_SHARE: u32 = 10;

/// The last look at the store.
#[derive(Debug, Default)]
pub(super) struct Watcher(Mutex<Option<Look>>);

#[derive(Debug, Clone, Copy)]
struct Look {
    digest: Digest,
    /// The time of the next one.
    next: Instant,
}

impl Watcher {
    /// Returns a digest of the store that is at most an interval old.
    fn look(&self, program: &Program) -> Option<Digest> {
        let mut last = self.0.lock().ok()?;
        let begun = Instant::now();
        if let Some(look) = last.filter(|look| begun < look.next) {
            return Some(look.digest);
        }
        let digest = program.fingerprint()?;
        let next = Instant::now() + INTERVAL.max(begun.elapsed() * MOST_SHARE);
        *last = Some(Look { digest, next });
        Some(digest)
    }
}

/// Writes an event whenever the store has changed, until the browser is gone.
pub(super) fn stream(site: &Site, stream: &mut TcpStream) -> io::Result<()> {
    stream.write_all(head(200, "text/event-stream").as_bytes())?;
    stream.write_all(b"\r\nretry: 2000\n\n")?;
    stream.flush()?;
    stream.set_read_timeout(Some(INTERVAL))?;
    let mut seen = site.watcher.look(&site.program);
    while is_connected(stream) {
        let now = site.watcher.look(&site.program);
        if now != seen {
            seen = now;
            stream.write_all(b"event: changed\ndata: 1\n\n")?;
            stream.flush()?;
        }
    }
    Ok(())
}

/// Waits for an interval, or until the browser closes the connection. It has nothing more to say, so anything else ends it.
fn is_connected(stream: &TcpStream) -> bool {
    let waited = stream.peek(&mut [0]);
    waited.is_err_and(|error| matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut))
}
