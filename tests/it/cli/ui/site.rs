//! A running `ckpt ui`, and a client that says exactly what a test wants.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::support::project::{Invocation, World};

/// A server, killed at the end.
pub(super) struct Site {
    child: Child,
    pub(super) port: u16,
    pub(super) token: String,
}

/// An answer of the server.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) head: String,
    pub(super) body: String,
}

impl Site {
    pub(super) fn start(world: &World, args: &[&str]) -> Self {
        Self::start_as(&world.ckpt(&[&["ui", "--json"], args].concat()))
    }

    pub(super) fn start_as(invocation: &Invocation<'_>) -> Self {
        let mut child = invocation.command().stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let report: Value = serde_json::from_str(&line).unwrap();
        let address = report["address"].as_str().unwrap().to_owned();
        let token = address.split_once("token=").unwrap().1.to_owned();
        Self { child, port: report["port"].as_u64().unwrap().try_into().unwrap(), token }
    }

    /// The number of descriptors that the server has open; none if it has ended.
    pub(super) fn descriptors(&self) -> Option<usize> {
        let open = std::fs::read_dir(format!("/proc/{}/fd", self.child.id())).ok()?.count();
        (open > 0).then_some(open)
    }

    pub(super) fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// The headers of a browser that has the cookie.
    pub(super) fn trusted(&self) -> String {
        format!("Host: {}\r\nCookie: ckpt-{}={}\r\n", self.host(), self.port, self.token)
    }

    /// Sends these bytes and returns the answer; status 0 if there is none.
    pub(super) fn send(&self, bytes: &str) -> Answer {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        stream.write_all(bytes.as_bytes()).unwrap();
        let mut text = String::new();
        // The server may close the connection before it has read everything.
        let _ = stream.read_to_string(&mut text);
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        Answer { status, head: head.to_owned(), body: body.to_owned() }
    }

    pub(super) fn get_with(&self, path: &str, headers: &str) -> Answer {
        self.send(&format!("GET {path} HTTP/1.1\r\n{headers}\r\n"))
    }

    pub(super) fn get(&self, path: &str) -> Answer {
        self.get_with(path, &self.trusted())
    }

    pub(super) fn post_with(&self, path: &str, headers: &str, form: &str) -> Answer {
        let kind = "Content-Type: application/x-www-form-urlencoded";
        self.send(&format!("POST {path} HTTP/1.1\r\n{headers}{kind}\r\nContent-Length: {}\r\n\r\n{form}", form.len()))
    }

    /// Sends a form as the pages do.
    pub(super) fn post(&self, path: &str, form: &str) -> Answer {
        let headers = format!("{}Origin: http://{}\r\n", self.trusted(), self.host());
        self.post_with(path, &headers, &format!("token={}&{form}", self.token))
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
