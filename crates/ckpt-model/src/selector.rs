//! Handles and selectors: how a checkpoint is named and asked for.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::digest::ShortDigest;
use super::workflow_id::{InvalidId, WorkflowId};

/// Names one checkpoint for ever: `042/7`, or `042/8@3fa9c2d1` if it is a side checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Handle {
    /// The workflow.
    pub workflow: WorkflowId,
    /// The number of the checkpoint, counted from 1.
    pub seq: u64,
    /// The first digits of its digest, if it is a side checkpoint.
    pub side: Option<ShortDigest>,
}

impl Handle {
    /// Puts the two parts together.
    #[must_use]
    pub fn new(workflow: &WorkflowId, seq: u64) -> Self {
        Self { workflow: workflow.clone(), seq, side: None }
    }

    /// Names a side checkpoint.
    #[must_use]
    pub fn side(workflow: &WorkflowId, seq: u64, digest: ShortDigest) -> Self {
        Self { side: Some(digest), ..Self::new(workflow, seq) }
    }
}

impl fmt::Display for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.workflow, self.seq)?;
        self.side.map_or(Ok(()), |digest| write!(f, "@{digest}"))
    }
}

impl Serialize for Handle {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Handle {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

impl FromStr for Handle {
    type Err = SelectorError;

    fn from_str(given: &str) -> Result<Self, SelectorError> {
        match given.parse()? {
            Selector { workflow, which: Which::Number(seq) } => Ok(Self { workflow, seq, side: None }),
            Selector { workflow, which: Which::Digest(seq, digest) } => Ok(Self { workflow, seq, side: Some(digest) }),
            _ => Err(SelectorError::NotAHandle(given.to_owned())),
        }
    }
}

/// Asks for a checkpoint: `042` (the newest), `042/7` (that one), `042/8@3fa9c2d1` (that one of several), `042~1` (one
/// before the newest).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selector {
    /// The workflow, as typed: `42` may still mean `042`.
    pub workflow: WorkflowId,
    /// Which of its checkpoints.
    pub which: Which,
}

/// The part of a [`Selector`] behind the workflow id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// The newest one.
    Newest,
    /// The one with this number.
    Number(u64),
    /// The one with this number and digest, where several stores have used the number.
    Digest(u64, ShortDigest),
    /// The one this many before the newest.
    Before(u64),
}

/// Says why a text is no selector.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SelectorError {
    /// The part that names the workflow is no id.
    #[error(transparent)]
    Id(#[from] InvalidId),
    /// The part behind `/` is no number.
    #[error("`{0}` is not a checkpoint number; numbers start at 1, as in `042/7`")]
    Number(String),
    /// The part behind `~` is no number.
    #[error("`~{0}` is not a number of checkpoints to go back, as in `042~1`")]
    Back(String),
    /// The workflow is followed by a separator that selectors do not have.
    #[error("`{0}` does not name a checkpoint; a selector is written as in `042/7`")]
    Notation(String),
    /// A handle is needed and only a workflow was named.
    #[error("`{0}` does not name one checkpoint; write its handle, as in `042/7`")]
    NotAHandle(String),
}

impl FromStr for Selector {
    type Err = SelectorError;

    fn from_str(given: &str) -> Result<Self, SelectorError> {
        if let Some((id, number)) = given.split_once('/') {
            let workflow = id.parse()?;
            let wrong = || SelectorError::Number(number.to_owned());
            let (digits, digest) = match number.split_once('@') {
                Some((digits, digest)) => (digits, Some(digest.parse().map_err(|_| wrong())?)),
                None => (number, None),
            };
            let is_number = digits.bytes().all(|b| b.is_ascii_digit());
            let seq = if is_number { digits.parse().ok() } else { None };
            let seq = seq.ok_or_else(wrong)?;
            let which = digest.map_or(Which::Number(seq), |digest| Which::Digest(seq, digest));
            return Ok(Self { workflow, which });
        }
        if let Some((id, back)) = given.split_once('~') {
            let back = match back {
                "" => 1,
                back if back.bytes().all(|b| b.is_ascii_digit()) => {
                    back.parse().map_err(|_| SelectorError::Back(back.to_owned()))?
                }
                back => return Err(SelectorError::Back(back.to_owned())),
            };
            return Ok(Self { workflow: id.parse()?, which: Which::Before(back) });
        }
        if let Some((id, _)) = given.split_once([':', '@', '#', '^', ' '])
            && id.parse::<WorkflowId>().is_ok()
        {
            return Err(SelectorError::Notation(given.to_owned()));
        }
        Ok(Self { workflow: given.parse()?, which: Which::Newest })
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.which {
            Which::Newest => write!(f, "{}", self.workflow),
            Which::Number(seq) => write!(f, "{}/{seq}", self.workflow),
            Which::Digest(seq, digest) => write!(f, "{}/{seq}@{digest}", self.workflow),
            Which::Before(back) => write!(f, "{}~{back}", self.workflow),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_three_forms_parse_and_print_back() {
        for (text, which) in [
            ("042", Which::Newest),
            ("042/7", Which::Number(7)),
            ("042/8@3fa9c2d1", Which::Digest(8, "3fa9c2d1".parse().unwrap())),
            ("042~1", Which::Before(1)),
            ("a.b-c/12", Which::Number(12)),
        ] {
            let selector: Selector = text.parse().unwrap();
            assert_eq!(selector.which, which);
            assert_eq!(selector.to_string(), text);
        }
        assert_eq!("042~".parse::<Selector>().unwrap().which, Which::Before(1));
    }

    #[test]
    fn everything_else_is_refused() {
        for text in [
            "",
            "/7",
            "042/",
            "042/x",
            "042/-1",
            "042:1",
            "042@1",
            "042/latest",
            "042/8@",
            "042/8@3FA9C2D1",
            "042/8@3fa9c2d",
            "042~x",
            "042~-1",
            "a/b/1",
            "042/99999999999999999999",
            "~1",
        ] {
            assert!(text.parse::<Selector>().is_err(), "{text}");
        }
        assert!(matches!("042".parse::<Handle>(), Err(SelectorError::NotAHandle(_))));
    }
}
