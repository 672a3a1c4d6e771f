//! Writing a bundle.

use std::io::{self, Write as _};

use flate2::write::GzEncoder;
use flate2::{Compression, GzBuilder};

use super::manifest::{Manifest, ManifestEntry};
use super::{COMMENT, DIGEST_DIGITS, MAX_BUNDLE_BYTES, digest_place, line};
use ckpt_model::digest::Digest;

/// A bundle that is being written: first the manifest, then the files in its order.
pub(crate) struct BundleWriter<'a> {
    gzip: GzEncoder<Vec<u8>>,
    left: std::slice::Iter<'a, ManifestEntry>,
}

impl<'a> BundleWriter<'a> {
    /// Begins a bundle of the files that `manifest` lists.
    ///
    /// # Errors
    /// The manifest is inconsistent.
    pub(crate) fn new(manifest: &'a Manifest) -> io::Result<Self> {
        manifest.check().map_err(io::Error::other)?;
        let comment = format!("{COMMENT}{}", "0".repeat(DIGEST_DIGITS));
        let mut gzip = GzBuilder::new().comment(comment).write(Vec::new(), Compression::default());
        serde_json::to_writer(&mut gzip, manifest)?;
        gzip.write_all(b"\n")?;
        Ok(Self { gzip, left: manifest.entries.iter() })
    }

    /// Adds the next file.
    ///
    /// # Errors
    /// It is not the next file of the manifest.
    pub(crate) fn add(&mut self, seq: u64, bytes: &[u8]) -> io::Result<()> {
        if self.left.next() != Some(&ManifestEntry::of(seq, bytes)) {
            return Err(io::Error::other(format!("checkpoint {seq} changed while it was being archived")));
        }
        let mut line = line::encode(seq, bytes);
        line.push('\n');
        self.gzip.write_all(line.as_bytes())
    }

    /// Returns the bytes of the bundle.
    ///
    /// # Errors
    /// A file of the manifest was not added, or the bundle is larger than [`MAX_BUNDLE_BYTES`].
    pub(crate) fn finish(mut self) -> io::Result<Vec<u8>> {
        if let Some(entry) = self.left.next() {
            return Err(io::Error::other(format!("checkpoint {} is missing", entry.seq)));
        }
        let mut bytes = self.gzip.finish()?;
        if bytes.len() as u64 > MAX_BUNDLE_BYTES {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        stamp(&mut bytes);
        Ok(bytes)
    }
}

/// Writes the digest of the whole file into the header.
pub(super) fn stamp(bytes: &mut [u8]) {
    let digest = Digest::of(bytes).to_hex();
    if let Some(digits) = bytes.get_mut(digest_place()) {
        digits.copy_from_slice(digest.as_bytes());
    }
}
