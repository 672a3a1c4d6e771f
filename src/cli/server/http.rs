//! As much of HTTP/1.1 as a browser needs here: one request per connection, with limits.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use percent_encoding::percent_decode_str;

use crate::cli::pages::layout::policy;

/// The longest head of a request.
const MAX_HEAD: usize = 16 << 10;
/// The longest body of a request: a form.
const MAX_BODY: usize = 16 << 10;
/// A request that takes longer is not read to its end.
const MAX_TIME: Duration = Duration::from_secs(10);

/// A request.
#[derive(Debug, Default)]
pub(super) struct Request {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) query: Vec<(String, String)>,
    headers: Vec<(String, String)>,
    pub(super) form: Vec<(String, String)>,
}

impl Request {
    /// Returns the value of a header; none if it is missing or there are several.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.headers.iter().filter(|(known, _)| known == name);
        match (found.next(), found.next()) {
            (Some((_, value)), None) => Some(value),
            _ => None,
        }
    }

    pub(super) fn has_header(&self, name: &str) -> bool {
        self.headers.iter().any(|(known, _)| known == name)
    }

    /// Returns a parameter of the address, or an empty text.
    pub(super) fn parameter(&self, name: &str) -> &str {
        value(&self.query, name)
    }

    /// Returns a field of the form, or an empty text.
    pub(super) fn field(&self, name: &str) -> &str {
        value(&self.form, name)
    }
}

fn value<'a>(pairs: &'a [(String, String)], name: &str) -> &'a str {
    pairs.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
}

/// Reads a request: none if the connection ended without one, a refusal if it cannot be understood or is too large.
pub(super) fn read(stream: &mut TcpStream) -> io::Result<Option<Result<Request, Response>>> {
    let deadline = Instant::now() + MAX_TIME;
    stream.set_write_timeout(Some(MAX_TIME))?;
    let mut bytes = Vec::new();
    let head_end = loop {
        if let Some(end) = find(&bytes, b"\r\n\r\n") {
            break end;
        }
        if bytes.len() > MAX_HEAD {
            return Ok(Some(Err(Response::refused(431, "The head of the request is too long"))));
        }
        if !read_some(stream, &mut bytes, deadline)? {
            return Ok(None);
        }
    };
    let Some(mut request) = std::str::from_utf8(&bytes[..head_end]).ok().and_then(parse_head) else {
        return Ok(Some(Err(Response::refused(400, "The request is malformed"))));
    };
    if request.has_header("transfer-encoding") {
        return Ok(Some(Err(Response::refused(411, "The length of the body is missing"))));
    }
    let length = match (request.has_header("content-length"), request.header("content-length")) {
        (false, _) => 0,
        (true, text) => match text.and_then(|text| text.parse::<usize>().ok()) {
            Some(length) if length <= MAX_BODY => length,
            Some(_) => return Ok(Some(Err(Response::refused(413, "The form is too large")))),
            None => return Ok(Some(Err(Response::refused(400, "The length of the body is not a number")))),
        },
    };
    let body = head_end + 4;
    while bytes.len() < body + length {
        if !read_some(stream, &mut bytes, deadline)? {
            return Ok(None);
        }
    }
    if request.method == "POST" {
        let is_form = request.header("content-type").is_some_and(|kind| {
            kind.split(';').next().is_some_and(|kind| kind.trim() == "application/x-www-form-urlencoded")
        });
        if !is_form {
            return Ok(Some(Err(Response::refused(415, "Only forms are understood"))));
        }
        let Ok(text) = std::str::from_utf8(&bytes[body..body + length]) else {
            return Ok(Some(Err(Response::refused(400, "The form is not UTF-8"))));
        };
        request.form = pairs(text);
    }
    Ok(Some(Ok(request)))
}

/// Reads what there is. Returns false at the end, or when the time is over.
fn read_some(stream: &mut TcpStream, bytes: &mut Vec<u8>, deadline: Instant) -> io::Result<bool> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Ok(false);
    }
    stream.set_read_timeout(Some(left))?;
    let mut part = [0; 4096];
    match stream.read(&mut part) {
        Ok(0) => Ok(false),
        Ok(count) => {
            bytes.extend_from_slice(&part[..count]);
            Ok(true)
        }
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(true),
        Err(error) => Err(error),
    }
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

fn parse_head(head: &str) -> Option<Request> {
    let mut lines = head.split("\r\n");
    let mut first = lines.next()?.split(' ');
    let (method, target, version) = (first.next()?, first.next()?, first.next()?);
    if first.next().is_some() || !version.starts_with("HTTP/1.") || !target.starts_with('/') {
        return None;
    }
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut headers = Vec::new();
    for line in lines {
        let (name, value) = line.split_once(':')?;
        if name.is_empty() || name.contains(|c: char| c.is_whitespace() || c.is_control()) {
            return None;
        }
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    Some(Request { method: method.to_owned(), path: decoded(path), query: pairs(query), headers, form: Vec::new() })
}

/// Parses `a=1&b=2`.
fn pairs(text: &str) -> Vec<(String, String)> {
    let pair = |pair: &str| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        (decoded(&name.replace('+', " ")), decoded(&value.replace('+', " ")))
    };
    text.split('&').filter(|pair| !pair.is_empty()).map(pair).collect()
}

fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

/// An answer.
#[derive(Debug)]
pub(super) struct Response {
    status: u16,
    kind: &'static str,
    /// Beside those that every answer has.
    headers: Vec<(&'static str, String)>,
    body: String,
}

impl Response {
    pub(super) fn html(status: u16, body: String) -> Self {
        Self { status, kind: "text/html; charset=utf-8", headers: Vec::new(), body }
    }

    pub(super) fn refused(status: u16, why: &str) -> Self {
        Self { status, kind: "text/plain; charset=utf-8", headers: Vec::new(), body: format!("{why}.\n") }
    }

    pub(super) fn redirect(to: &str) -> Self {
        let headers = vec![("Location", to.to_owned())];
        Self { status: 303, kind: "text/plain; charset=utf-8", headers, body: String::new() }
    }

    pub(super) fn with_header(mut self, name: &'static str, value: String) -> Self {
        self.headers.push((name, value));
        self
    }

    pub(super) fn write(&self, stream: &mut TcpStream) -> io::Result<()> {
        let Self { status, kind, headers, body } = self;
        let mut head = head(*status, kind);
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str(&format!("Content-Length: {}\r\n\r\n", body.len()));
        stream.write_all(head.as_bytes())?;
        stream.write_all(body.as_bytes())?;
        stream.flush()
    }
}

/// Returns the head that every answer begins with.
pub(super) fn head(status: u16, kind: &str) -> String {
    let word = match status {
        200 => "OK",
        303 => "See Other",
        404 => "Not Found",
        405 => "Method Not Allowed",
        409 => "Conflict",
        500.. => "Error",
        _ => "Refused",
    };
    format!(
        "HTTP/1.1 {status} {word}\r\nContent-Type: {kind}\r\nContent-Security-Policy: {}\r\n\
         X-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\nReferrer-Policy: same-origin\r\n\
         Cross-Origin-Opener-Policy: same-origin\r\nCross-Origin-Resource-Policy: same-origin\r\n\
         Cache-Control: no-store\r\nConnection: close\r\n",
        policy(true)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_parsed_and_nonsense_is_refused() {
        let request = parse_head("GET /w/042?q=a+b%3C&x HTTP/1.1\r\nHost: h\r\nX: 1").unwrap();
        assert_eq!((request.path.as_str(), request.parameter("q"), request.parameter("x")), ("/w/042", "a b<", ""));
        assert_eq!((request.header("host"), request.header("y")), (Some("h"), None));
        for nonsense in [
            "",
            "GET",
            "GET /",
            "GET / HTTP/2",
            "GET http://x/ HTTP/1.1",
            "GET /  HTTP/1.1",
            "GET / HTTP/1.1\r\nno colon",
        ] {
            assert!(parse_head(nonsense).is_none(), "{nonsense:?}");
        }
    }

    #[test]
    fn a_header_that_is_given_twice_has_no_value() {
        let request = parse_head("GET / HTTP/1.1\r\nHost: a\r\nHost: b").unwrap();
        assert_eq!(request.header("host"), None);
    }
}
