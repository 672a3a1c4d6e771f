//! The bytes of a checkpoint file, format 1.
//!
//! A file is JSON, indented by two spaces, with a newline at the end. Its first two keys are `version` and `sha256`, on
//! lines 2 and 3. The digest is the SHA-256 of the whole file with those 64 digits replaced by `0`, so it can be checked
//! without this program:
//!
//! ```sh
//! sed '3s/[0-9a-f]\{64\}/0000000000000000000000000000000000000000000000000000000000000000/' 00000007.json | sha256sum
//! ```
//!
//! It is checked before the content is parsed. Canonical JSON is not needed.

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::cause::Cause;
use super::checkpoint::{Checkpoint, CheckpointRef, Content, Replan, Sealed, WorkflowStatus};
use super::digest::{Digest, Hasher};
use super::finding::Code;
use super::json::{InvalidJson, Json};
use super::next_phase::{RunProgress, RunState};
use super::phase::{Approval, Phase, PhaseId, PhaseStatus};
use super::time::Timestamp;
use super::trigger::Trigger;
use super::version::{CURRENT, Version};
use super::workflow_id::WorkflowId;

/// The maximum size of a file.
pub const MAX_FILE_BYTES: u64 = 64 << 20;

/// Room for the file of an ordinary checkpoint, so that it is not moved while it is written.
const USUAL_BYTES: usize = 16 << 10;

const PREFIX: &[u8] = b"{\n  \"version\": \"";
const DIGEST_KEY: &[u8] = b"\",\n  \"sha256\": \"";
const DIGEST_DIGITS: usize = 64;

/// A file that cannot be used as a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// It has no bytes.
    #[error("is empty")]
    Empty,
    /// The content has changed since it was written.
    #[error("does not match its checksum")]
    Checksum,
    /// Lines 2 and 3 are not those of a checkpoint file.
    #[error("is not a checkpoint file: its checksum line is missing")]
    NoChecksum,
    /// Its version is malformed.
    #[error("has a version that cannot be read")]
    BadVersion,
    /// It was written by a newer program.
    #[error("has format {0}; this program reads up to {major}.x", major = CURRENT.major)]
    Newer(Version),
    /// It was written by an older program; no released format is older than [`CURRENT`].
    #[error("has format {0}, which this program cannot read")]
    Older(Version),
    /// It is not valid JSON, or lacks a field.
    #[error("cannot be parsed: {0}")]
    Syntax(#[source] InvalidJson),
    /// It holds another checkpoint than its path says.
    #[error("says it is `{found}`, not `{expected}`")]
    Misplaced {
        /// The handle in the file.
        found: String,
        /// The handle of its path.
        expected: String,
    },
    /// It is larger than [`MAX_FILE_BYTES`].
    #[error("is larger than {} MiB", MAX_FILE_BYTES >> 20)]
    TooLarge,
    /// It is a link, a directory, a pipe or a device.
    #[error("is not a regular file")]
    NotAFile,
    /// It cannot be read.
    #[error("cannot be read: {0}")]
    Unreadable(#[source] Cause),
    /// It does not exist, and its number is lower than the newest one.
    #[error("is missing, although newer checkpoints exist")]
    Missing,
}

impl Unusable {
    /// Returns its code.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::Empty => Code::Empty,
            Self::Checksum => Code::Checksum,
            Self::NoChecksum => Code::NoChecksum,
            Self::BadVersion => Code::BadVersion,
            Self::Newer(_) => Code::FormatNewer,
            Self::Older(_) => Code::FormatOlder,
            Self::Syntax(_) => Code::Syntax,
            Self::Misplaced { .. } => Code::Misplaced,
            Self::TooLarge => Code::TooLarge,
            Self::NotAFile => Code::NotAFile,
            Self::Unreadable(_) => Code::Unreadable,
            Self::Missing => Code::Missing,
        }
    }
}

/// Returns the bytes of the file of a checkpoint, and sets its digest.
///
/// # Errors
/// A value cannot be written as JSON.
pub fn encode(checkpoint: &mut Checkpoint) -> Result<Vec<u8>, serde_json::Error> {
    checkpoint.version = CURRENT;
    checkpoint.sha256 = Digest::ZERO;
    let mut bytes = Vec::with_capacity(USUAL_BYTES);
    serde_json::to_writer_pretty(&mut bytes, &*checkpoint)?;
    bytes.push(b'\n');
    checkpoint.sha256 = Digest::of(&bytes);
    let place = PREFIX.len() + checkpoint.version.to_string().len() + DIGEST_KEY.len();
    if let Some(digits) = bytes.get_mut(place..place + DIGEST_DIGITS) {
        digits.copy_from_slice(checkpoint.sha256.to_hex().as_bytes());
    }
    Ok(bytes)
}

/// Checks the digest and parses the checkpoint. A later version converts older formats here.
///
/// # Errors
/// The bytes cannot be used.
pub fn decode(bytes: &[u8]) -> Result<Box<Checkpoint>, Unusable> {
    let version = check(bytes)?;
    if version < CURRENT {
        return Err(Unusable::Older(version));
    }
    parse(bytes)
}

/// Checks the digest and parses only the header. A newer format is accepted if it still has these fields.
///
/// # Errors
/// The bytes cannot be used.
pub fn decode_header(bytes: &[u8]) -> Result<Header, Unusable> {
    decode_part(bytes)
}

/// Checks the digest and parses the fields of `T`, none of which is the state. A newer format is accepted if it still has
/// these fields.
///
/// # Errors
/// The bytes cannot be used.
pub fn decode_part<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Unusable> {
    match check(bytes) {
        Err(newer @ Unusable::Newer(_)) => parse(bytes).map_err(|_| newer),
        checked => checked.and_then(|_| parse_before_state(bytes).map_or_else(|| parse(bytes), Ok)),
    }
}

/// Parses a part of a file up to its state, which is the last key and most of the file: a list of 10,000 workflows
/// takes a seventh less time. Strings in JSON have no line breaks, so a line that starts like this is that key, or the
/// file has another layout and is parsed whole.
fn parse_before_state<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    const STATE: &[u8] = b"  \"state\": ";
    let mut end = 0;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        if line.starts_with(STATE) {
            break;
        }
        end += line.len();
    }
    let header = [bytes[..end].strip_suffix(b",\n")?, b"}"].concat();
    serde_json::from_slice(&header).ok()
}

fn parse<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, Unusable> {
    serde_json::from_slice(bytes).map_err(|error| Unusable::Syntax(InvalidJson::from_serde(&error)))
}

/// Checks the digest and returns the version.
///
/// # Errors
/// The digest does not match, or the version is newer than this program.
pub fn check(bytes: &[u8]) -> Result<Version, Unusable> {
    if bytes.is_empty() {
        return Err(Unusable::Empty);
    }
    let Some((version, place)) = locate_digest(bytes) else {
        return Err(without_digest(bytes));
    };
    let digits = &bytes[place..place + DIGEST_DIGITS];
    let mut hasher = Hasher::default();
    hasher.update(&bytes[..place]);
    hasher.update(&[b'0'; DIGEST_DIGITS]);
    hasher.update(&bytes[place + DIGEST_DIGITS..]);
    if Digest::from_hex(digits) != Some(hasher.finish()) {
        return Err(Unusable::Checksum);
    }
    let text = std::str::from_utf8(version).unwrap_or_default();
    match Version::parse(text).or_else(|| Version::of_later_major(text)) {
        None => Err(Unusable::BadVersion),
        Some(version) if version.major > CURRENT.major => Err(Unusable::Newer(version)),
        Some(version) => Ok(version),
    }
}

/// Returns the version, and the offset of the 64 digits.
fn locate_digest(bytes: &[u8]) -> Option<(&[u8], usize)> {
    let rest = bytes.strip_prefix(PREFIX)?;
    let quote = rest.iter().take(16).position(|b| *b == b'"')?;
    let place = PREFIX.len() + quote + DIGEST_KEY.len();
    let here = rest[quote..].starts_with(DIGEST_KEY) && bytes.len() >= place + DIGEST_DIGITS;
    here.then(|| (&rest[..quote], place))
}

/// Returns the error for a file without a digest on line 3. A newer program may keep it elsewhere.
fn without_digest(bytes: &[u8]) -> Unusable {
    #[derive(Deserialize)]
    struct Peek {
        version: String,
    }
    match serde_json::from_slice::<Peek>(bytes).ok().and_then(|peek| Version::parse(&peek.version)) {
        Some(version) if version.major > CURRENT.major => Unusable::Newer(version),
        _ => Unusable::NoChecksum,
    }
}

/// The fields of a checkpoint that a list needs.
#[derive(Debug, Clone, Deserialize)]
#[expect(missing_docs, reason = "the same fields as in `Checkpoint`")]
pub struct Header {
    pub version: Version,
    pub workflow: WorkflowId,
    pub seq: u64,
    pub saved_at: Timestamp,
    pub trigger: Trigger,
    pub status: WorkflowStatus,
    #[serde(default)]
    pub note: Option<String>,
    #[serde(default)]
    pub phase: Option<PhaseId>,
    #[serde(default)]
    pub title: Option<String>,
    #[serde(default)]
    pub labels: Vec<String>,
    #[serde(default)]
    pub pipeline: Option<String>,
    #[serde(default)]
    pub phases: Vec<PhaseLine>,
    #[serde(default)]
    pub replans: Vec<Replan>,
    #[serde(default)]
    pub run: Option<u64>,
    #[serde(default)]
    pub pinned: bool,
    #[serde(default)]
    pub sealed: Option<Sealed>,
    #[serde(default)]
    pub imported: Option<ImportSource>,
    #[serde(default)]
    pub origin: Option<CheckpointRef>,
}

impl Header {
    /// Returns the number of the first checkpoint of its run.
    #[must_use]
    pub fn first_of_run(&self) -> u64 {
        self.run.unwrap_or(1)
    }

    /// Returns the phases that have failed.
    pub fn failed(&self) -> impl Iterator<Item = &PhaseId> {
        let failed = self.phases.iter().filter(|phase| phase.status == PhaseStatus::Failed);
        failed.map(|phase| &phase.id)
    }

    /// Counts the phases of its run that are done, as the whole checkpoint would.
    #[must_use]
    pub fn progress(&self) -> RunProgress {
        let content = Content {
            pipeline: self.pipeline.clone(),
            phases: self.phases.iter().map(PhaseLine::phase).collect(),
            replans: self.replans.clone(),
            ..Content::default()
        };
        RunState::recorded(&content).progress()
    }
}

/// The fields of a checkpoint that link it to others of its workflow.
#[derive(Debug, Clone, Deserialize)]
#[expect(missing_docs, reason = "the same fields as in `Checkpoint`")]
pub struct Links {
    pub sha256: Digest,
    pub workflow: WorkflowId,
    pub seq: u64,
    #[serde(default)]
    pub parent: Option<CheckpointRef>,
    #[serde(default)]
    pub merged: Option<CheckpointRef>,
}

impl Links {
    /// Returns the digests of the checkpoints of its workflow that it continues.
    pub fn parents(&self) -> impl Iterator<Item = Digest> {
        let is_own =
            |parent: &&CheckpointRef| parent.workflow.as_ref().is_none_or(|workflow| *workflow == self.workflow);
        self.parent.iter().chain(&self.merged).filter(is_own).map(|parent| parent.sha256)
    }
}

/// The fields of a phase that a list needs.
#[derive(Debug, Clone, Deserialize)]
#[expect(missing_docs, reason = "the same fields as in `Phase`")]
pub struct PhaseLine {
    pub id: PhaseId,
    pub status: PhaseStatus,
    #[serde(default)]
    pub attempts: u32,
    #[serde(default)]
    pub approval: Option<Approval>,
    #[serde(default)]
    pub gate: Option<String>,
    #[serde(default)]
    pub data: Option<Json>,
}

impl PhaseLine {
    fn phase(&self) -> Phase {
        Phase {
            status: self.status,
            attempts: self.attempts,
            approval: self.approval.clone(),
            gate: self.gate.clone(),
            data: self.data.clone(),
            ..Phase::pending(self.id.clone())
        }
    }
}

/// The file that a checkpoint was imported from.
#[derive(Debug, Clone, Deserialize)]
#[expect(missing_docs, reason = "the same field as in `Imported`")]
pub struct ImportSource {
    #[serde(default)]
    pub source: String,
    pub sha256: Digest,
}
