//! The server of `ckpt ui`: the pages, live, on the loopback interface.
//!
//! It is a loop over the sockets of the standard library with a thread for each connection; `docs/internals/decisions.md`
//! says why. A request is read with limits on its size and its time (`http`), checked (`guard`), and answered (`routes`).
//! `events` tells a browser that the store changed, and `actions` turns a form into a command.
//!
//! # Safety
//!
//! - It listens on a loopback address only.
//! - The `Host` must name that address, so that a name which another site points here leads nowhere, and a request that a
//!   browser sends for another site (`Origin`, `Sec-Fetch-Site`) is refused.
//! - Pages need the token of the printed address, which the first request exchanges for a cookie: other accounts of this
//!   machine can connect, too. Actions need the token in the form as well, and are `POST` only.
//! - Every answer forbids to be framed, sniffed, cached and extended (`Content-Security-Policy`).

mod actions;
mod events;
mod guard;
mod http;
mod routes;

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use self::events::Watcher;
use self::guard::Guard;
use super::invoke::Program;
use ckpt_platform::is_out_of_descriptors;
use ckpt_store::{Disk as _, OsDisk};

/// The most connections at once; each has a thread.
const MAX_CONNECTIONS: usize = 64;
/// How long nothing is accepted if there is no descriptor left.
const PAUSE: Duration = Duration::from_millis(100);

/// The server, before it runs.
pub(crate) struct Server {
    listener: TcpListener,
    site: Arc<Site>,
}

/// Everything that a request needs.
struct Site {
    program: Program,
    guard: Guard,
    watcher: Watcher,
    /// False with `--read-only`.
    has_actions: bool,
    connections: AtomicUsize,
}

impl Server {
    /// Listens on a port of the loopback interface; on any free one if it is 0.
    pub(crate) fn bind(program: Program, port: u16, has_actions: bool) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        let guard = Guard::new(listener.local_addr()?.port())?;
        let watcher = Watcher::default();
        let site = Site { program, guard, watcher, has_actions, connections: AtomicUsize::new(0) };
        Ok(Self { listener, site: Arc::new(site) })
    }

    pub(crate) fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Returns the address with the token.
    pub(crate) fn secret_address(&self) -> String {
        self.site.guard.secret_address()
    }

    /// Returns an address that works once, for the command line of a browser, which others can see.
    pub(crate) fn once_address(&self) -> io::Result<String> {
        self.site.guard.once_address()
    }

    /// Answers requests until the process ends.
    pub(crate) fn run(&self) -> io::Result<()> {
        loop {
            let (stream, peer) = match self.listener.accept() {
                Ok(accepted) => accepted,
                // A connection that ended before it was accepted.
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => continue,
                // The connection waits until others have ended.
                Err(error) if is_out_of_descriptors(&error) => {
                    OsDisk::new(&self.site.program.store).pause(PAUSE);
                    continue;
                }
                Err(error) => return Err(error),
            };
            if !peer.ip().is_loopback() {
                continue;
            }
            let site = Arc::clone(&self.site);
            let connection = Connection::begin(site);
            // Without a thread the connection is closed, and the browser says so.
            let _ = std::thread::Builder::new().spawn(move || connection.serve(stream));
        }
    }
}

/// One connection, counted while it lives.
struct Connection(Arc<Site>, usize);

impl Connection {
    fn begin(site: Arc<Site>) -> Self {
        let others = site.connections.fetch_add(1, Ordering::SeqCst);
        Self(site, others)
    }

    fn serve(&self, mut stream: TcpStream) {
        if self.1 >= MAX_CONNECTIONS {
            let _ = http::Response::refused(503, "Too many connections").write(&mut stream);
            return;
        }
        let Ok(Some(request)) = http::read(&mut stream) else { return };
        let answered = match request {
            Err(refused) => refused.write(&mut stream),
            Ok(request) => match routes::answer(&self.0, &request) {
                routes::Answer::Page(response) => response.write(&mut stream),
                routes::Answer::Events => events::stream(&self.0, &mut stream),
            },
        };
        // The client is gone.
        drop(answered);
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Ordering::SeqCst);
    }
}
