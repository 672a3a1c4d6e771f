//! The names of the objects of a remote.
//!
//! ```text
//! FORMAT                                            the version of this layout
//! wf/042/18446744073709551608-7.json                entry 042/7 on main; with zero bytes, a filler or a tombstone
//! wf/042/18446744073709551607-8@3fa9c2d1.json       side checkpoint 042/8@3fa9c2d1
//! objects/ab/abcdef…                                the content of an artifact, named by its SHA-256
//! wf/042/archive/00000001-00000006.jsonl.gz         a bundle
//! ```
//!
//! A list is sorted by the bytes of the keys. The inverted number stands first, so the newest entry of a workflow does.

use std::fmt;

use ckpt_model::digest::{Digest, ShortDigest};
use ckpt_model::workflow_id::WorkflowId;

/// The object that says which layout a remote has.
pub const FORMAT_KEY: &str = "FORMAT";
/// The beginning of the keys of all workflows.
pub const WORKFLOWS_PREFIX: &str = "wf/";

const ARCHIVE: &str = "archive/";
const MAX_KEY_LENGTH: usize = 512;
/// The digits of an inverted number.
const INVERTED_DIGITS: usize = 20;

/// The key of an object, relative to the prefix of the remote.
///
/// It consists of parts with `/` between them; a part has letters, digits and `._-@!%`, and does not start with a dot. So a
/// key is safe as a path on every disk, in a URL, and on the command line of a program.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(String);

impl Key {
    /// Parses a key; none if it is not safe.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let is_legal = |c: char| c.is_ascii_alphanumeric() || "._-@!%".contains(c);
        let is_part = |part: &str| !part.is_empty() && !part.starts_with(['.', '-']) && part.chars().all(is_legal);
        (text.len() <= MAX_KEY_LENGTH && text.split('/').all(is_part)).then(|| Self(text.to_owned()))
    }

    /// Returns the key of the object that says which layout the remote has.
    #[must_use]
    pub fn format() -> Self {
        Self(FORMAT_KEY.to_owned())
    }

    /// Returns the key of the content of an artifact.
    #[must_use]
    pub fn content(digest: &Digest) -> Self {
        let digits = digest.to_hex();
        Self(format!("objects/{}/{digits}", &digits[..2]))
    }

    /// Returns the key as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the part of the key that all objects of a workflow share: `wf/042`. Of any other key, its first part.
    #[must_use]
    pub fn group(&self) -> &str {
        let parts = if self.0.starts_with(WORKFLOWS_PREFIX) { 2 } else { 1 };
        self.0.match_indices('/').nth(parts - 1).map_or(&self.0, |(end, _)| &self.0[..end])
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The meaning of the key of an object of a workflow.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ObjectName {
    /// An entry of the main line.
    Main(u64),
    /// A side checkpoint, by its number and the first digits of its digest.
    Side(u64, ShortDigest),
    /// A file of the archive, by its name.
    Archive(String),
}

impl ObjectName {
    /// Names a side checkpoint.
    #[must_use]
    pub fn side(seq: u64, digest: &Digest) -> Self {
        Self::Side(seq, digest.short())
    }

    /// Returns the key of an object of a workflow.
    #[must_use]
    pub fn key(&self, workflow: &WorkflowId) -> Key {
        let mut key = workflow_prefix(workflow);
        match self {
            Self::Main(seq) => key += &numbered(*seq, ""),
            Self::Side(seq, digits) => key += &numbered(*seq, &format!("@{digits}")),
            Self::Archive(name) => {
                key += ARCHIVE;
                key += name;
            }
        }
        Key(key)
    }

    /// Reads a key back; none if it is not that of an object of a workflow. One object has one key.
    #[must_use]
    pub fn parse(key: &Key) -> Option<(WorkflowId, Self)> {
        let (directory, name) = key.0.strip_prefix(WORKFLOWS_PREFIX)?.split_once('/')?;
        let workflow = WorkflowId::from_directory(directory)?;
        let parsed = match name.strip_prefix(ARCHIVE) {
            Some(name) => Self::Archive(name.to_owned()),
            None => {
                let (_, name) = name.strip_suffix(".json")?.split_once('-')?;
                match name.split_once('@') {
                    None => Self::Main(name.parse().ok()?),
                    Some((seq, digits)) => Self::Side(seq.parse().ok()?, digits.parse().ok()?),
                }
            }
        };
        let is_whole = match &parsed {
            Self::Main(seq) | Self::Side(seq, _) => *seq > 0,
            Self::Archive(name) => !name.contains('/'),
        };
        (is_whole && parsed.key(&workflow) == *key).then_some((workflow, parsed))
    }
}

/// Returns the beginning of the keys of a workflow: `wf/042/`.
#[must_use]
pub fn workflow_prefix(workflow: &WorkflowId) -> String {
    format!("{WORKFLOWS_PREFIX}{}/", workflow.directory())
}

fn numbered(seq: u64, mark: &str) -> String {
    format!("{:0INVERTED_DIGITS$}-{seq}{mark}.json", u64::MAX - seq)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_back() {
        let workflow: WorkflowId = "Auth.2".parse().unwrap();
        let digest = Digest::of(b"x");
        let names = [
            ObjectName::Main(1),
            ObjectName::Main(u64::MAX),
            ObjectName::side(8, &digest),
            ObjectName::Archive("00000001-00000006.jsonl.gz".to_owned()),
        ];
        for name in names {
            let key = name.key(&workflow);
            assert_eq!(Key::parse(key.as_str()).as_ref(), Some(&key));
            assert_eq!(ObjectName::parse(&key), Some((workflow.clone(), name)), "{key}");
            assert_eq!(key.group(), "wf/!auth.2");
        }
        assert_eq!(Key::format().group(), "FORMAT");
    }

    #[test]
    fn the_newest_number_sorts_first() {
        let workflow: WorkflowId = "042".parse().unwrap();
        let keys: Vec<Key> = [10_000_000_000, 101, 100, 10, 9, 1].map(|n| ObjectName::Main(n).key(&workflow)).into();
        assert!(keys.is_sorted(), "{keys:?}");
    }

    #[test]
    fn unsafe_keys_are_refused() {
        let long = "a".repeat(MAX_KEY_LENGTH + 1);
        for key in
            ["", "/", "/a", "a/", "a//b", "../a", "a/..", "a/.git", "-o", "a/-o", "a b", "a\nb", "ä", "a\\b", &long]
        {
            assert_eq!(Key::parse(key), None, "{key:?}");
        }
    }

    #[test]
    fn keys_that_name_no_object_are_refused() {
        for key in [
            "FORMAT",
            "wf/042",
            "wf/042/x.json",
            "wf/042/18446744073709551608-8.json",
            "wf/042/8446744073709551608-7.json",
            "wf/042/18446744073709551608-07.json",
            "wf/042/18446744073709551608-7@3fa9c2d.json",
            "wf/042/18446744073709551608-7@3FA9C2D1.json",
            "wf/042/18446744073709551615-0.json",
            "wf/AUTH/18446744073709551608-7.json",
            "wf/042/archive/a/b",
        ] {
            assert_eq!(ObjectName::parse(&Key::parse(key).unwrap()), None, "{key}");
        }
    }
}
