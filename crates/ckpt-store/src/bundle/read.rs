//! Reading a bundle line by line. Nothing in it is trusted.

use std::io::{self, BufRead as _, BufReader, Read as _};

use flate2::bufread::GzDecoder;

use super::manifest::{Manifest, ManifestEntry};
use super::{COMMENT, DIGEST_DIGITS, HEADER, digest_place, line};
use ckpt_model::cause::Cause;
use ckpt_model::digest::{Digest, Hasher};

/// The longest manifest.
const MAX_MANIFEST_BYTES: u64 = 64 << 20;

/// The reason why a file cannot be used as a bundle.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadBundle {
    /// It does not begin like a bundle.
    #[error("is not a bundle: its checksum is missing")]
    NotABundle,
    /// The digest does not match the content.
    #[error("does not match its checksum")]
    Checksum,
    /// It cannot be decompressed.
    #[error("cannot be decompressed: {0}")]
    Compression(#[source] Cause),
    /// Its manifest cannot be parsed or is inconsistent.
    #[error("has no manifest that can be used: {0}")]
    Manifest(#[source] Cause),
    /// A file does not match its manifest entry.
    #[error("does not hold what it lists: checkpoint {seq} {why}")]
    File {
        /// The number of the checkpoint.
        seq: u64,
        /// The problem.
        why: &'static str,
    },
    /// It has more content than the manifest lists.
    #[error("holds more than it lists")]
    Surplus,
    /// Its manifest is that of another workflow or name.
    #[error("says it is `{found}`")]
    Misplaced {
        /// The workflow and name in the manifest.
        found: String,
    },
    /// It is larger than this program reads.
    #[error("is larger than {} MiB", super::MAX_BUNDLE_BYTES >> 20)]
    TooLarge,
    /// It is a link, a directory, a pipe or a device.
    #[error("is not a regular file")]
    NotAFile,
    /// It cannot be read; it may be undamaged.
    #[error("cannot be read: {0}")]
    Unreadable(#[source] Cause),
}

impl BadBundle {
    /// Returns the stable word for it.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotABundle => "not_a_bundle",
            Self::Checksum => "checksum",
            Self::Compression(_) => "compression",
            Self::Manifest(_) => "manifest",
            Self::File { .. } => "file",
            Self::Surplus => "surplus",
            Self::Misplaced { .. } => "misplaced",
            Self::TooLarge => "too_large",
            Self::NotAFile => "not_a_file",
            Self::Unreadable(_) => "unreadable",
        }
    }
}

impl From<io::Error> for BadBundle {
    fn from(error: io::Error) -> Self {
        Self::Compression(Cause::new(error))
    }
}

/// A bundle that is being read. Its digest and its manifest have been checked.
#[derive(Debug)]
pub struct Bundle<'a> {
    manifest: Manifest,
    lines: BufReader<GzDecoder<&'a [u8]>>,
    next: usize,
}

impl<'a> Bundle<'a> {
    /// Checks the digest and reads the manifest.
    ///
    /// # Errors
    /// It cannot be used.
    pub fn open(bytes: &'a [u8]) -> Result<Self, BadBundle> {
        check(bytes)?;
        let mut lines = BufReader::new(GzDecoder::new(bytes));
        let line = read_line(&mut lines, MAX_MANIFEST_BYTES)?;
        let line = line.ok_or_else(|| BadBundle::Manifest(Cause::new("it is too long or does not end")))?;
        let manifest: Manifest =
            serde_json::from_slice(&line).map_err(|error| BadBundle::Manifest(Cause::new(error)))?;
        manifest.check().map_err(|why| BadBundle::Manifest(Cause::new(why)))?;
        Ok(Self { manifest, lines, next: 0 })
    }

    /// Returns its manifest.
    #[must_use]
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Reads and checks the next file. Returns none at the end, which has been checked too.
    ///
    /// # Errors
    /// The bundle cannot be used.
    pub fn next_file(&mut self) -> Result<Option<(ManifestEntry, Vec<u8>)>, BadBundle> {
        let Some((entry, line)) = self.next_line()? else { return Ok(None) };
        self.file(entry, &line).map(|bytes| Some((entry, bytes)))
    }

    /// Finds the file of a number; none if there is none. The files after it are not read.
    ///
    /// # Errors
    /// The bundle cannot be used.
    pub fn find(mut self, seq: u64) -> Result<Option<Vec<u8>>, BadBundle> {
        if self.manifest.entry(seq).is_none() {
            return Ok(None);
        }
        while let Some((entry, line)) = self.next_line()? {
            if entry.seq == seq {
                return self.file(entry, &line).map(Some);
            }
        }
        Ok(None)
    }

    /// Reads all of it, checks every file, and returns the manifest. Calls `each` after every file.
    ///
    /// # Errors
    /// The bundle cannot be used.
    pub fn verify(mut self, each: &mut dyn FnMut()) -> Result<Manifest, BadBundle> {
        while self.next_file()?.is_some() {
            each();
        }
        Ok(self.manifest)
    }

    fn next_line(&mut self) -> Result<Option<(ManifestEntry, Vec<u8>)>, BadBundle> {
        let Some(entry) = self.manifest.entries.get(self.next).copied() else {
            return self.end().map(|()| None);
        };
        self.next += 1;
        let wrong = BadBundle::File { seq: entry.seq, why: "is missing, or longer than it says" };
        let line = read_line(&mut self.lines, line::longest(entry.bytes))?.ok_or(wrong)?;
        Ok(Some((entry, line)))
    }

    fn file(&self, entry: ManifestEntry, line: &[u8]) -> Result<Vec<u8>, BadBundle> {
        let seq = entry.seq;
        let bytes = line::decode(line, seq, entry.bytes).map_err(|why| BadBundle::File { seq, why })?;
        if ManifestEntry::of(seq, &bytes) == entry {
            Ok(bytes)
        } else {
            Err(BadBundle::File { seq, why: "does not match its checksum" })
        }
    }

    /// Checks that nothing follows the last line, neither compressed nor after the gzip data.
    fn end(&mut self) -> Result<(), BadBundle> {
        let mut one = [0];
        // Only at the end does the decoder check the CRC.
        let surplus = self.lines.read(&mut one)? > 0 || !self.lines.get_ref().get_ref().is_empty();
        if surplus { Err(BadBundle::Surplus) } else { Ok(()) }
    }
}

/// Reads a line of at most `limit` bytes without its newline; none if it is longer or does not end.
fn read_line(lines: &mut impl io::BufRead, limit: u64) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    lines.take(limit.saturating_add(1)).read_until(b'\n', &mut line)?;
    Ok((line.pop() == Some(b'\n')).then_some(line))
}

/// Checks the digest of the whole file.
fn check(bytes: &[u8]) -> Result<(), BadBundle> {
    let place = digest_place();
    let begins = bytes.strip_prefix(HEADER).is_some_and(|rest| rest.starts_with(COMMENT.as_bytes()));
    let (Some(digits), true) = (bytes.get(place.clone()), begins) else { return Err(BadBundle::NotABundle) };
    let mut hasher = Hasher::default();
    hasher.update(&bytes[..place.start]);
    hasher.update(&[b'0'; DIGEST_DIGITS]);
    hasher.update(&bytes[place.end..]);
    if Digest::from_hex(digits) == Some(hasher.finish()) { Ok(()) } else { Err(BadBundle::Checksum) }
}

#[cfg(test)]
mod tests;
