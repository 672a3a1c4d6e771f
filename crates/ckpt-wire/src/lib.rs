//! The protocol between `ckpt` and `ckpt-remote`, over the stdin and stdout of the second.
//!
//! Both directions are sequences of frames:
//!
//! ```text
//! 4 bytes   the length of the header, big-endian
//! 4 bytes   the length of the body, big-endian
//! header    JSON: Greeting, Open, Request or Answer
//! body      the content of an object, as it is; empty where there is none
//! ```
//!
//! `ckpt-remote` sends a [`Greeting`], `ckpt` sends [`Open`] with the URL, and gets an [`Answer`] with the id 0. After that,
//! each [`Request`] gets one [`Answer`] with the same id, in any order, so that several can be under way. The end of stdin
//! ends `ckpt-remote`, whatever is under way.
//!
//! Both programs are built from one version of this file; the greeting refuses any other. So there are no optional
//! members, and an unknown one is an error.

use std::io::{self, Read, Write};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The version of this protocol: any change of this file that the other side could notice increases it.
pub const PROTOCOL: u32 = 2;
/// The name of the program, without the suffix of the platform.
pub const PROGRAM: &str = "ckpt-remote";
/// The maximum length of a header. A list of [`MAX_LISTED`] keys fits.
pub const MAX_HEADER: usize = 4 << 20;
/// The maximum length of a body, and so of an object.
pub const MAX_BODY: usize = 256 << 20;
/// The maximum number of keys in one answer, which is also the limit of S3.
pub const MAX_LISTED: usize = 1000;
/// The maximum number of requests under way.
pub const MAX_IN_FLIGHT: usize = 16;
/// Seconds after which a request times out, if it moves no content.
pub const REQUEST_SECONDS: u64 = 10;
/// The slowest useful transfer, in bytes per second: content adds to the time of its request.
const SLOWEST: u64 = 256 << 10;

/// Returns the seconds after which a request that moves at most `bytes` of content times out.
#[must_use]
pub fn time_limit(bytes: u64) -> u64 {
    REQUEST_SECONDS + bytes.min(MAX_BODY as u64) / SLOWEST
}

/// Returns true if a URL leads to this machine: the only place where unencrypted connections go unasked.
#[must_use]
pub fn is_loopback(url: &str) -> bool {
    let Some((_, rest)) = url.split_once("://") else { return false };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let authority = authority.rsplit('@').next().unwrap_or_default();
    let host = match authority.strip_prefix('[') {
        Some(address) => address.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    };
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// The first frame, from `ckpt-remote`.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Greeting {
    /// The version of the program, for messages.
    pub version: String,
    /// Its [`PROTOCOL`].
    pub protocol: u32,
}

/// The first frame from `ckpt`: the remote to speak to.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Open {
    /// `s3://bucket/prefix`, `az://container/prefix` or `gs://bucket/prefix`.
    pub url: String,
    /// Allows unencrypted connections to other machines. Only the settings of the user say so.
    pub allow_http: bool,
}

/// A request; the body is the content of an object that is created.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// Repeated by the answer. The id 0 belongs to [`Open`].
    pub id: u64,
    /// The work to do.
    pub verb: Verb,
}

/// The verbs. Keys and prefixes are relative to the prefix of the remote.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Verb {
    /// Creates an object if its key is free.
    Create {
        /// Its key.
        key: String,
    },
    /// Replaces the content of an object by nothing.
    Empty {
        /// Its key.
        key: String,
    },
    /// Reads an object of at most `limit` bytes.
    Get {
        /// Its key.
        key: String,
        /// The maximum size.
        limit: u64,
    },
    /// Lists the keys that start with `prefix` and are greater than `after`, in order, [`MAX_LISTED`] at most.
    List {
        /// The beginning of the keys.
        prefix: String,
        /// The last key of the answer before; empty at the start.
        after: String,
        /// The number of keys that are wanted.
        limit: usize,
    },
}

/// The answer to a request; the body is the content of an object that was read.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// The id of the request.
    pub id: u64,
    /// How it ended.
    pub outcome: Outcome,
}

/// The end of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Outcome {
    /// It was carried out; for `get`, the body is the object.
    Done,
    /// There is no such object.
    Absent,
    /// The keys and sizes of a list.
    Listed {
        /// Keys, relative to the prefix of the remote, and sizes.
        objects: Vec<(String, u64)>,
        /// True if there are more.
        more: bool,
    },
    /// It was not carried out, or that is not known.
    Failed(Failure),
}

/// The reason why a request was not carried out, or not known to be. Messages have no credentials in them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum Failure {
    /// The key is taken; nothing was written.
    #[error("the name is taken")]
    Exists,
    /// The request may or may not have been carried out: no answer in time, a broken connection, a server error.
    #[error("it gave no clear answer: {0}")]
    Unknown(String),
    /// The remote was not reached; nothing was written. It may work later.
    #[error("it was not reached: {0}")]
    Unreachable(String),
    /// The remote does not allow it, or cannot do it; it will not work later either. Nothing was written.
    #[error("it refuses: {0}")]
    Refused(String),
    /// The remote answered with something that cannot be used, such as an object beyond the limit.
    #[error("it gave an unusable answer: {0}")]
    Unusable(String),
}

/// Writes a frame.
///
/// # Errors
/// The frame is too large, or the pipe is closed.
pub fn write_frame(pipe: &mut impl Write, header: &impl Serialize, body: &[u8]) -> io::Result<()> {
    let header = serde_json::to_vec(header)?;
    if header.len() > MAX_HEADER || body.len() > MAX_BODY {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "a frame is too large"));
    }
    for part in [&header[..], body] {
        let length = u32::try_from(part.len()).map_err(io::Error::other)?;
        pipe.write_all(&length.to_be_bytes())?;
    }
    pipe.write_all(&header)?;
    pipe.write_all(body)?;
    pipe.flush()
}

/// Reads a frame; none at the end of the pipe. Memory is taken as bytes arrive, not as lengths promise.
///
/// # Errors
/// The pipe ends inside a frame, or something else than a frame was read.
pub fn read_frame<T: DeserializeOwned>(pipe: &mut impl Read) -> io::Result<Option<(T, Vec<u8>)>> {
    let mut lengths = [0; 8];
    let first = loop {
        match pipe.read(&mut lengths) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => break result?,
        }
    };
    if first == 0 {
        return Ok(None);
    }
    pipe.read_exact(&mut lengths[first..])?;
    let [a, b, c, d, e, f, g, h] = lengths;
    let header = read_part(pipe, u32::from_be_bytes([a, b, c, d]), MAX_HEADER)?;
    let body = read_part(pipe, u32::from_be_bytes([e, f, g, h]), MAX_BODY)?;
    Ok(Some((serde_json::from_slice(&header)?, body)))
}

fn read_part(pipe: &mut impl Read, length: u32, limit: usize) -> io::Result<Vec<u8>> {
    if u64::from(length) > limit as u64 {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "a frame is too large"));
    }
    let mut part = Vec::new();
    pipe.take(u64::from(length)).read_to_end(&mut part)?;
    if part.len() as u64 != u64::from(length) {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn framed(header: &impl Serialize, body: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        write_frame(&mut bytes, header, body).unwrap();
        bytes
    }

    #[test]
    fn frames_are_read_back_one_after_the_other() {
        let create = Request { id: 1, verb: Verb::Create { key: "wf/042/x".to_owned() } };
        let list = Request { id: u64::MAX, verb: Verb::List { prefix: "wf/".into(), after: String::new(), limit: 7 } };
        let bytes = [framed(&create, b"{}"), framed(&list, b"")].concat();
        let mut pipe = &bytes[..];
        assert_eq!(read_frame(&mut pipe).unwrap(), Some((create, b"{}".to_vec())));
        assert_eq!(read_frame(&mut pipe).unwrap(), Some((list, Vec::new())));
        assert_eq!(read_frame::<Request>(&mut pipe).unwrap(), None);
    }

    #[test]
    fn answers_are_read_back() {
        let listed = Outcome::Listed { objects: vec![("wf/042/x".to_owned(), u64::MAX)], more: true };
        let failed = Outcome::Failed(Failure::Unknown("no answer".to_owned()));
        for outcome in [Outcome::Done, Outcome::Absent, listed, failed] {
            let answer = Answer { id: 3, outcome };
            let bytes = framed(&answer, b"content");
            assert_eq!(read_frame(&mut &bytes[..]).unwrap(), Some((answer, b"content".to_vec())));
        }
    }

    #[test]
    fn a_frame_that_ends_early_is_an_error_at_every_length() {
        let whole = framed(&Greeting { version: "1".to_owned(), protocol: PROTOCOL }, b"body");
        for length in 1..whole.len() {
            assert!(read_frame::<Greeting>(&mut &whole[..length]).is_err(), "{length} bytes");
        }
    }

    #[test]
    fn foreign_bytes_are_refused_without_taking_memory() {
        for bytes in [&b"HTTP/1.1 400 Bad Request"[..], &[0xff; 64], &[0, 0, 0, 2, 0, 0, 0, 0, b'[', b']']] {
            assert!(read_frame::<Request>(&mut &bytes[..]).is_err(), "{bytes:?}");
        }
        let unknown = framed(&serde_json::json!({"id": 1, "verb": {"delete": {"key": "a"}}}), b"");
        assert!(read_frame::<Request>(&mut &unknown[..]).is_err());
    }

    #[test]
    fn only_addresses_of_this_machine_are_loopback() {
        for url in ["http://localhost/a", "http://127.0.0.1:9000", "http://[::1]:9000/x", "git://me@127.0.0.2/a"] {
            assert!(is_loopback(url), "{url}");
        }
        for url in
            ["http://127.0.0.1.example.com", "http://127.0.0.1:80@example.com/", "http://10.0.0.1", "x", "http://"]
        {
            assert!(!is_loopback(url), "{url}");
        }
    }

    #[test]
    fn too_large_a_frame_is_not_written() {
        let mut sink = io::sink();
        assert!(write_frame(&mut sink, &"x".repeat(MAX_HEADER), b"").is_err());
        assert!(write_frame(&mut sink, &"x", &vec![0; MAX_BODY + 1]).is_err());
    }
}
