//! The name of a workflow, and how it becomes a directory name.
//!
//! An id is safe everywhere it goes: in a shell without quoting, in a path on any operating system, on a disk that
//! does not tell `Auth` from `auth`. Everything else is refused at the edge, so nothing behind this type escapes
//! or checks again.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::text::distance;

/// The longest id, in characters (which are bytes, because ids are ASCII).
pub const MAX_ID_LENGTH: usize = 64;

/// Names a workflow: `042`, `oauth-integration`, `Auth`.
///
/// The form is `[A-Za-z0-9][A-Za-z0-9._-]{0,63}` without a trailing dot, and not a Windows device name.
///
/// ```
/// use ckpt_model::WorkflowId;
///
/// let id: WorkflowId = "042".parse()?;
/// assert_eq!(id.as_str(), "042");
/// assert!("../../etc/passwd".parse::<WorkflowId>().is_err());
/// # Ok::<(), ckpt_model::InvalidId>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct WorkflowId(String);

/// Says why a text is no workflow id, and what the nearest legal spelling is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct InvalidId {
    /// The text as given.
    pub given: String,
    /// The problem.
    pub reason: IdProblem,
    /// A legal id that looks like it, if there is one.
    pub suggestion: Option<String>,
}

/// The problem with an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum IdProblem {
    #[error("a workflow id cannot be empty")]
    Empty,
    #[error("a workflow id has at most {MAX_ID_LENGTH} characters, this one has {0}")]
    TooLong(usize),
    #[error("a workflow id starts with a letter or a digit")]
    BadStart,
    #[error("a workflow id consists of the letters a to z, digits, `.`, `_` and `-`")]
    BadCharacter,
    #[error("a workflow id cannot end with a dot")]
    TrailingDot,
    #[error("this name is reserved by Windows")]
    DeviceName,
}

impl WorkflowId {
    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The directory that holds the workflow: upper-case letters become `!` and the lower-case letter, so that two
    /// ids never share a directory on a disk that folds case.
    #[must_use]
    pub fn directory(&self) -> String {
        let mut name = String::with_capacity(self.0.len());
        for c in self.0.chars() {
            if c.is_ascii_uppercase() {
                name.push('!');
            }
            name.push(c.to_ascii_lowercase());
        }
        name
    }

    /// Reads a directory name back; `None` if no id is stored under that name.
    #[must_use]
    pub fn from_directory(name: &str) -> Option<Self> {
        WorkflowIdRef::from_directory(name).map(|id| id.to_id())
    }

    /// The other ids that are the same number, shortest first: `042` for `42`. Empty unless the id is all digits.
    pub fn same_number(&self) -> impl Iterator<Item = Self> + '_ {
        let digits = self.0.bytes().all(|b| b.is_ascii_digit());
        let bare = match self.0.trim_start_matches('0') {
            "" => "0",
            bare => bare,
        };
        let widths = bare.len()..=if digits { MAX_ID_LENGTH } else { 0 };
        widths.map(move |width| Self(format!("{bare:0>width$}"))).filter(move |other| other != self)
    }
}

impl WorkflowId {
    /// Returns true if one of two ids may be a misspelling of the other: one letter is wrong, missing, swapped or in
    /// another case. Ids that differ in a digit or only at the end, such as `auth-1` and `auth-2` or `fix-a` and
    /// `fix-b`, are a series.
    #[must_use]
    pub fn is_near_miss(&self, other: &Self) -> bool {
        let (a, b) = (self.as_str(), other.as_str());
        let longest = a.len().max(b.len());
        let common = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
        let digits = |id: &str| id.chars().filter(char::is_ascii_digit).collect::<String>();
        longest > 3 && common + 1 < longest && digits(a) == digits(b) && distance(a, b) <= 1
    }
}

impl WorkflowId {
    /// Makes an id of the first words of a sentence; none if they have no ASCII letters or digits.
    #[must_use]
    pub fn from_text(text: &str) -> Option<Self> {
        const LONGEST: usize = 40;
        let mut id = String::new();
        let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
        for word in words {
            let dash = usize::from(!id.is_empty());
            if id.len() + dash + word.len() > LONGEST {
                if id.is_empty() {
                    id.push_str(&word[..LONGEST]);
                }
                break;
            }
            if dash > 0 {
                id.push('-');
            }
            id.push_str(word);
        }
        if id.is_empty() {
            return None;
        }
        // A reserved name becomes one that is not.
        let id = id.to_ascii_lowercase();
        id.parse().or_else(|_| format!("{id}-1").parse()).ok()
    }
}

/// The id of a workflow, borrowed from the name of its directory unless that spells it differently.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct WorkflowIdRef<'a>(Cow<'a, str>);

impl<'a> WorkflowIdRef<'a> {
    /// Reads a directory name back; `None` if no id is stored under that name.
    #[must_use]
    pub fn from_directory(name: &'a str) -> Option<Self> {
        Self::from_checked_directory(name).filter(|id| problem(&id.0).is_none())
    }

    /// Does the same for a name that [`from_directory`](Self::from_directory) has accepted before.
    pub fn from_checked_directory(name: &'a str) -> Option<Self> {
        let is_spelled_differently = name.bytes().any(|b| b == b'!' || b.is_ascii_uppercase());
        let id = if is_spelled_differently { Cow::Owned(with_upper_case(name)?) } else { Cow::Borrowed(name) };
        Some(Self(id))
    }

    /// Copies the id.
    #[must_use]
    pub fn to_id(&self) -> WorkflowId {
        WorkflowId(self.0.clone().into_owned())
    }
}

impl<'a> From<&'a WorkflowId> for WorkflowIdRef<'a> {
    fn from(id: &'a WorkflowId) -> Self {
        Self(Cow::Borrowed(&id.0))
    }
}

/// Replaces `!` and the letter behind it by the upper-case letter; `None` if there is none, or an upper-case letter without
/// the `!`.
fn with_upper_case(name: &str) -> Option<String> {
    let mut id = String::with_capacity(name.len());
    let mut chars = name.chars();
    while let Some(c) = chars.next() {
        match c {
            '!' => id.push(chars.next().filter(char::is_ascii_lowercase)?.to_ascii_uppercase()),
            c if c.is_ascii_uppercase() => return None,
            c => id.push(c),
        }
    }
    Some(id)
}

impl FromStr for WorkflowId {
    type Err = InvalidId;

    fn from_str(given: &str) -> Result<Self, InvalidId> {
        given.to_owned().try_into()
    }
}

impl TryFrom<String> for WorkflowId {
    type Error = InvalidId;

    fn try_from(given: String) -> Result<Self, InvalidId> {
        match problem(&given) {
            None => Ok(Self(given)),
            Some(reason) => Err(InvalidId { suggestion: nearest(&given), given, reason }),
        }
    }
}

impl From<WorkflowId> for String {
    fn from(id: WorkflowId) -> Self {
        id.0
    }
}

impl fmt::Display for WorkflowId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

fn problem(id: &str) -> Option<IdProblem> {
    let first = id.bytes().next();
    let legal = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-');
    match first {
        None => Some(IdProblem::Empty),
        _ if !id.bytes().all(legal) => Some(IdProblem::BadCharacter),
        Some(first) if !first.is_ascii_alphanumeric() => Some(IdProblem::BadStart),
        _ if id.len() > MAX_ID_LENGTH => Some(IdProblem::TooLong(id.len())),
        _ if id.ends_with('.') => Some(IdProblem::TrailingDot),
        _ if is_device_name(id) => Some(IdProblem::DeviceName),
        _ => None,
    }
}

/// Windows opens the device for these names with any extension, in any case.
fn is_device_name(id: &str) -> bool {
    const LONGEST: usize = "com1".len();
    let length = id.bytes().take(LONGEST + 1).take_while(|b| *b != b'.').count();
    if length > LONGEST {
        return false;
    }
    let stem = &id[..length];
    let is = |name: &str| stem.eq_ignore_ascii_case(name);
    let is_numbered = |prefix: &str| {
        let unnumbered = stem.strip_suffix(|last: char| last.is_ascii_digit());
        unnumbered.is_some_and(|stem| stem.eq_ignore_ascii_case(prefix))
    };
    ["con", "prn", "aux", "nul"].into_iter().any(is) || ["com", "lpt"].into_iter().any(is_numbered)
}

fn nearest(given: &str) -> Option<String> {
    let mut candidate = String::new();
    for c in given.chars().take(MAX_ID_LENGTH * 4) {
        let legal = c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        match c {
            c if legal => candidate.push(c),
            _ if candidate.ends_with('-') => {}
            _ => candidate.push('-'),
        }
    }
    let trimmed = candidate.trim_start_matches(['.', '_', '-']).trim_end_matches(['.', '-']);
    let mut candidate: String = trimmed.chars().take(MAX_ID_LENGTH).collect();
    if is_device_name(&candidate) {
        candidate.insert_str(0, "wf-");
    }
    problem(&candidate).is_none().then_some(candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_near_miss_is_one_slip_away_and_no_part_of_a_series() {
        let is_near_miss = |a: &str, b: &str| {
            let (a, b): (WorkflowId, WorkflowId) = (a.parse().unwrap(), b.parse().unwrap());
            assert_eq!(a.is_near_miss(&b), b.is_near_miss(&a));
            a.is_near_miss(&b)
        };
        for (a, b) in [("auht", "auth"), ("Auth", "auth"), ("oath-fix", "oauth-fix"), ("bild-ui", "build-ui")] {
            assert!(is_near_miss(a, b), "{a} {b}");
        }
        for (a, b) in [
            ("auth", "auth"),
            ("041", "042"),
            ("auth-1", "auth-2"),
            ("1-auth", "2-auth"),
            ("fix-a", "fix-b"),
            ("auth", "auths"),
            ("ab", "ba"),
            ("plan", "main"),
        ] {
            assert!(!is_near_miss(a, b), "{a} {b}");
        }
    }

    #[test]
    fn legal_ids_are_kept_as_given() {
        for id in ["042", "a", "Auth", "auth_system", "v1.2-rc", &"x".repeat(64), "console", "com", "nulled.txt"] {
            assert_eq!(id.parse::<WorkflowId>().unwrap().as_str(), id);
        }
    }

    #[test]
    fn illegal_ids_are_refused_with_a_reason_and_the_nearest_legal_spelling() {
        let cases: &[(&str, IdProblem, Option<&str>)] = &[
            ("", IdProblem::Empty, None),
            ("../../etc/x", IdProblem::BadCharacter, Some("etc-x")),
            ("/abs", IdProblem::BadCharacter, Some("abs")),
            ("a/b", IdProblem::BadCharacter, Some("a-b")),
            ("a\\b", IdProblem::BadCharacter, Some("a-b")),
            (".", IdProblem::BadStart, None),
            ("..", IdProblem::BadStart, None),
            (".hidden", IdProblem::BadStart, Some("hidden")),
            ("-rf", IdProblem::BadStart, Some("rf")),
            ("a\0b", IdProblem::BadCharacter, Some("a-b")),
            ("a\nb", IdProblem::BadCharacter, Some("a-b")),
            ("\u{1b}[31mred", IdProblem::BadCharacter, Some("31mred")),
            ("CON", IdProblem::DeviceName, Some("wf-CON")),
            ("nul.txt", IdProblem::DeviceName, Some("wf-nul.txt")),
            ("com1", IdProblem::DeviceName, Some("wf-com1")),
            ("foo.", IdProblem::TrailingDot, Some("foo")),
            ("foo ", IdProblem::BadCharacter, Some("foo")),
            ("caf\u{e9}", IdProblem::BadCharacter, Some("caf")),
            ("cafe\u{301}", IdProblem::BadCharacter, Some("cafe")),
            ("\u{1f980}", IdProblem::BadCharacter, None),
        ];
        for (given, reason, suggestion) in cases {
            let error = given.parse::<WorkflowId>().unwrap_err();
            assert_eq!(error.reason, *reason, "{given:?}");
            assert_eq!(error.suggestion.as_deref(), *suggestion, "{given:?}");
        }
        assert_eq!("x".repeat(65).parse::<WorkflowId>().unwrap_err().reason, IdProblem::TooLong(65));
        assert_eq!("x".repeat(10_000).parse::<WorkflowId>().unwrap_err().suggestion, Some("x".repeat(64)));
    }

    #[test]
    fn directories_keep_case_apart_and_read_back() {
        let auth: WorkflowId = "Auth".parse().unwrap();
        assert_eq!(auth.directory(), "!auth");
        assert_eq!(WorkflowId::from_directory("!auth"), Some(auth));
        for foreign in ["Auth", "!", "!1", "a!", ".tmp", "lost+found", ""] {
            assert_eq!(WorkflowId::from_directory(foreign), None, "{foreign}");
        }
    }

    #[test]
    fn equal_numbers_are_found_whatever_the_padding() {
        let id: WorkflowId = "42".parse().unwrap();
        let others: Vec<_> = id.same_number().take(2).map(String::from).collect();
        assert_eq!(others, ["042", "0042"]);
        let padded: WorkflowId = "042".parse().unwrap();
        assert_eq!(padded.same_number().next().map(String::from), Some("42".to_owned()));
        assert_eq!("auth".parse::<WorkflowId>().unwrap().same_number().count(), 0);
        assert_eq!("000".parse::<WorkflowId>().unwrap().same_number().next().map(String::from), Some("0".into()));
    }
}
