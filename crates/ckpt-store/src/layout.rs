//! The names in a store.

use ckpt_model::digest::Digest;

/// The name of a store's directory.
pub const STORE_NAME: &str = ".ckpt";
/// The directory of all workflows.
pub(super) const WORKFLOWS: &str = "workflows";
/// The directory of all bundles.
pub(super) const ARCHIVE: &str = "archive";
/// The contents of artifacts.
pub(super) const OBJECTS: &str = "objects";
/// The directory of damaged files.
pub(super) const QUARANTINE: &str = "quarantine";
/// The directory of undo records.
pub(super) const UNDO: &str = "undo";
/// The cache of the summaries of all workflows.
pub(super) const INDEX: &str = "index";
/// The notes of sessions.
pub(super) const SESSIONS: &str = "sessions";
/// The side checkpoints of all workflows.
pub(super) const SIDES: &str = "sides";
/// The ledgers of the remote.
pub(super) const REMOTE: &str = "remote";
/// The log of hooks.
pub(super) const HOOK_LOG: &str = "hook.log";
/// The settings.
pub(super) const CONFIG: &str = "config.toml";
/// Keeps a store out of version control, except for its settings.
pub(super) const GITIGNORE: &str = ".gitignore";
pub(super) const GITIGNORE_TEXT: &[u8] = b"*\n!.gitignore\n!config.toml\n";

const STAGED: &str = ".tmp-";
const KEY_MARKER: &str = "key-";
/// The number of digits of the digest of a key that its marker has.
const KEY_DIGITS: usize = 32;
/// The least number of digits in a file name.
const DIGITS: usize = 8;

/// The name of a file in the directory of a workflow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EntryName {
    /// A numbered entry: a checkpoint, a seal or a tombstone.
    Number(u64),
    /// A temporary file.
    Staged,
    /// The marker of a key.
    KeyMarker,
    /// Not a file of the store.
    Unknown,
}

impl EntryName {
    /// Parses a name.
    pub(super) fn parse(name: &str) -> Self {
        if name.starts_with(STAGED) {
            return Self::Staged;
        }
        if is_key_marker(name) {
            return Self::KeyMarker;
        }
        // One number has one name: `7.json` beside `00000007.json` is not a second checkpoint 7.
        let is_number = |digits: &&str| {
            let padded = digits.len() == DIGITS || digits.len() > DIGITS && !digits.starts_with('0');
            padded && digits.bytes().all(|b| b.is_ascii_digit())
        };
        let number = name.strip_suffix(".json").filter(is_number).and_then(|digits| digits.parse().ok());
        number.filter(|seq| *seq > 0).map_or(Self::Unknown, Self::Number)
    }
}

/// Returns true for the name of a temporary file.
pub(super) fn is_staged(name: &str) -> bool {
    name.starts_with(STAGED)
}

/// Returns the name of the marker of a key.
pub(super) fn key_marker(key: &str) -> String {
    let mut name = Digest::of(key.as_bytes()).to_hex();
    name.truncate(KEY_DIGITS);
    name.insert_str(0, KEY_MARKER);
    name
}

fn is_key_marker(name: &str) -> bool {
    let is_digit = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
    name.strip_prefix(KEY_MARKER).is_some_and(|digits| digits.len() == KEY_DIGITS && digits.bytes().all(is_digit))
}

/// Returns the file name of a number.
pub(super) fn checkpoint_file(seq: u64) -> String {
    format!("{seq:0DIGITS$}.json")
}

/// Returns a temporary name that no other save uses, and no other attempt of the same save.
pub(super) fn staged_file(save_id: &str, attempt: u32) -> String {
    format!("{STAGED}{save_id}-{attempt}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_mean_one_thing() {
        assert_eq!(EntryName::parse("00000007.json"), EntryName::Number(7));
        assert_eq!(EntryName::parse("123456789.json"), EntryName::Number(123_456_789));
        assert_eq!(EntryName::parse(&checkpoint_file(u64::MAX)), EntryName::Number(u64::MAX));
        assert_eq!(EntryName::parse(&staged_file("ab", 0)), EntryName::Staged);
        assert_eq!(EntryName::parse(&key_marker("deploy-17")), EntryName::KeyMarker);
        for other in [
            "7.json",
            "000000007.json",
            "00000000.json",
            "0000000.json",
            "99999999999999999999.json",
            "00000007.json.bak",
            "+0000007.json",
            "key-7",
            "key-0123456789abcdef0123456789ABCDEF",
            "README",
        ] {
            assert_eq!(EntryName::parse(other), EntryName::Unknown, "{other}");
        }
    }
}
