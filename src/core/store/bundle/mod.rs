//! Bundles: files of the archive, each with the files of many checkpoints of one workflow.
//!
//! A bundle is gzip of JSON Lines, so `zcat BUNDLE | jq` reads it. The first line is the [`Manifest`]; each line
//! behind it is one file, the newest first, because the newest is asked for most:
//!
//! ```text
//! {"format":"ckpt.bundle.v1","workflow":"042","first":1,"last":6,"reason":"completed",
//!  "created_at":"2026-01-16T20:15:00.000Z","entries":[{"seq":7,"bytes":612,"sha256":"..."}, ...]}
//! {"seq":7,"checkpoint":{"version":"1.0",...}}
//! {"seq":6,"text":"..."}
//! {"seq":5,"base64":"..."}
//! ```
//!
//! Every file comes back byte for byte. A checkpoint whose layout is the ordinary one is written as compact JSON and
//! laid out again when it is read; anything else, such as a damaged file, is written as text, and what is not even
//! text as base64. The manifest has the size and SHA-256 of each file, and the lines must be exactly those files, in
//! that order.
//!
//! When the bundle is that of a whole workflow, its first file is the seal that closes the workflow: number `last` + 1.
//!
//! The comment in the gzip header has the SHA-256 of the whole file, computed with its 64 digits replaced by `0`, as
//! in a checkpoint. It is checked before anything is decompressed, so one flipped bit anywhere is found.
//!
//! # Limitations
//!
//! A bundle is made in memory before it is written, and read into memory in its compressed form. What is inside is
//! read line by line, and no line may be longer than the manifest's size for it allows, so a file made to expand
//! without bound is refused early.

mod layout;
mod line;
mod manifest;
mod read;
mod write;

pub use crate::core::bundle_name::BundleName;
pub use manifest::{Manifest, ManifestEntry};
pub use read::{BadBundle, Bundle};
pub(super) use write::Writer;

/// The largest bundle that is written or read, compressed.
pub const MAX_BUNDLE_BYTES: u64 = 1 << 30;
/// The most files in one bundle.
pub const MAX_BUNDLE_FILES: usize = 500_000;

/// How a bundle begins: gzip, deflate, with a comment, no time, no hint, no operating system.
const HEADER: &[u8] = b"\x1f\x8b\x08\x10\0\0\0\0\0\xff";
const COMMENT: &str = "ckpt.bundle.v1 sha256 ";
const DIGEST_DIGITS: usize = 64;

/// Where the digits of the digest are.
const fn digest_place() -> std::ops::Range<usize> {
    let start = HEADER.len() + COMMENT.len();
    start..start + DIGEST_DIGITS
}
