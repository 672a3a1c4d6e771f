//! Bundles: files of the archive, each with the files of many checkpoints of one workflow.
//!
//! A bundle is gzip of JSON Lines, so `zcat BUNDLE | jq` reads it. The first line is the [`Manifest`]; each line
//! after it is one file, the newest first, because that one is read most often:
//!
//! ```text
//! {"format":"ckpt.bundle.v1","workflow":"042","run":1,"first":1,"last":6,"reason":"completed",
//!  "saved_at":"2026-01-16T20:15:00.000Z","entries":[{"seq":6,"bytes":612,"sha256":"..."}, ...]}
//! {"seq":6,"checkpoint":{"version":"1.0",...}}
//! {"seq":5,"text":"..."}
//! {"seq":4,"base64":"..."}
//! ```
//!
//! Every file is restored byte for byte. A checkpoint with the usual formatting is written as compact JSON and formatted
//! again when it is read; any other text, such as a damaged file, is written as a string, and other bytes as base64. The
//! manifest has the size and SHA-256 of each file, and the lines must be exactly those files, in that order.
//!
//! All files of a bundle belong to one run, so a run expires with its bundles.
//!
//! The comment in the gzip header has the SHA-256 of the whole file, computed with its 64 digits replaced by `0`, as
//! in a checkpoint. It is checked before anything is decompressed, so one flipped bit anywhere is found.
//!
//! # Limitations
//!
//! A bundle is compressed in memory before it is written, and its compressed bytes are read into memory. It is
//! decompressed line by line, and no line may be longer than its size in the manifest allows, so a file that was made to
//! expand without bound is refused early.

mod layout;
mod line;
mod manifest;
mod read;
mod write;

pub use ckpt_model::bundle_name::BundleName;
pub use manifest::{Manifest, ManifestEntry};
pub use read::{BadBundle, Bundle};
pub(super) use write::BundleWriter;

/// The largest bundle that is written or read, compressed.
pub const MAX_BUNDLE_BYTES: u64 = 1 << 30;
/// The most files in one bundle.
pub(super) const MAX_BUNDLE_FILES: usize = 500_000;

/// The gzip header: deflate, with a comment, no time, no flags, no operating system.
const HEADER: &[u8] = b"\x1f\x8b\x08\x10\0\0\0\0\0\xff";
const COMMENT: &str = "ckpt.bundle.v1 sha256 ";
const DIGEST_DIGITS: usize = 64;

/// Returns the position of the digest's digits.
const fn digest_place() -> std::ops::Range<usize> {
    let start = HEADER.len() + COMMENT.len();
    start..start + DIGEST_DIGITS
}
