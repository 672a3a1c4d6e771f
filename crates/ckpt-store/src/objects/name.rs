//! The names of objects.

use crate::layout;
use ckpt_model::digest::Digest;

const OBJECT: &str = ".gz";
const LEAVING: &str = ".leaving-";
const LOST: &str = ".lost";

/// The name of a file in a directory of objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ObjectName {
    /// An object.
    Object(Digest),
    /// An object whose name a cleanup has taken away.
    Leaving(Digest),
    /// The record that an object is gone.
    Lost(Digest),
    /// A temporary file.
    Staged,
    /// Not a file of the store.
    Unknown,
}

impl ObjectName {
    /// Parses a name in the directory `shard`.
    pub(crate) fn parse(shard: &str, name: &str) -> Self {
        if layout::is_staged(name) {
            return Self::Staged;
        }
        let Some((digits, rest)) = name.split_at_checked(64) else { return Self::Unknown };
        match Digest::from_hex(digits.as_bytes()) {
            Some(digest) if digits.starts_with(shard) => match rest {
                OBJECT => Self::Object(digest),
                LOST => Self::Lost(digest),
                rest if rest.starts_with(LEAVING) => Self::Leaving(digest),
                _ => Self::Unknown,
            },
            _ => Self::Unknown,
        }
    }
}

/// Returns the directory of an object: the first two digits.
pub(crate) fn shard(digest: &Digest) -> String {
    let mut hex = digest.to_hex();
    hex.truncate(2);
    hex
}

/// Returns true for the name of a directory of objects.
pub(crate) fn is_shard(name: &str) -> bool {
    name.len() == 2 && name.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

/// Returns the file name of an object.
pub(crate) fn object_file(digest: &Digest) -> String {
    format!("{digest}{OBJECT}")
}

/// Returns the name that an object has while the cleanup `id` makes sure that nothing refers to it.
pub(super) fn leaving_file(digest: &Digest, id: &str) -> String {
    format!("{digest}{LEAVING}{id}")
}

/// Returns the name of the record that an object is gone.
pub(crate) fn lost_file(digest: &Digest) -> String {
    format!("{digest}{LOST}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_mean_one_thing() {
        let digest = Digest::of(b"");
        let shard = shard(&digest);
        let parse = |name: &str| ObjectName::parse(&shard, name);
        assert!(is_shard(&shard) && shard == "e3");
        assert_eq!(parse(&object_file(&digest)), ObjectName::Object(digest));
        assert_eq!(parse(&leaving_file(&digest, "x")), ObjectName::Leaving(digest));
        assert_eq!(parse(&lost_file(&digest)), ObjectName::Lost(digest));
        assert_eq!(parse(&layout::staged_file("x", 0)), ObjectName::Staged);
        assert_eq!(ObjectName::parse("e4", &object_file(&digest)), ObjectName::Unknown, "elsewhere");
        for other in ["", "e3", &digest.to_hex(), &format!("{}.gz", digest.to_hex().to_uppercase()), "\u{e9}"] {
            assert_eq!(parse(other), ObjectName::Unknown, "{other}");
        }
        for other in ["e", "e3b", "E3", "g0", "\u{e9}"] {
            assert!(!is_shard(other), "{other}");
        }
    }
}
