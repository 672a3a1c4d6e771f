//! External facts: JSON documents from outside that the work relies on, such as an issue. A save remembers them; a resume
//! compares them with what they are now.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::checkpoint::Fact;
use super::finding::Severity;
use super::json::below;
use super::redact::redact_value;

/// The most external facts of a workflow. All of them are in each of its checkpoints.
pub const MAX_FACTS: usize = 16;

/// The longest document of an external fact, in bytes.
pub const MAX_FACT_BYTES: usize = 256 << 10;

/// The most changes of one fact that are listed.
pub const MAX_CHANGES: usize = 20;

/// How much of a value a change shows, in characters.
const SHOWN: usize = 60;

/// The most elements of an array that a change shows.
const SHOWN_ELEMENTS: usize = 5;

/// A change of an external fact since it was recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FactChange {
    /// The place, as a JSON pointer; empty for all of the document.
    pub pointer: String,
    /// The change in words.
    pub change: String,
    /// The weight of the change.
    pub severity: Severity,
}

/// An external fact, and what is known about it now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComparedFact {
    /// Its name.
    pub name: String,
    /// The result of the comparison.
    pub comparison: Comparison,
}

/// The result of the comparison of an external fact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Comparison {
    /// It was recorded, and its present document was not given.
    NotCompared,
    /// Its present document was given, and it was not recorded.
    NotRecorded,
    /// Both were there. At most [`MAX_CHANGES`] changes are listed, the heaviest first; `left_out` counts the others.
    Compared {
        /// The changes.
        changes: Vec<FactChange>,
        /// The number of changes that are not listed.
        left_out: usize,
    },
}

/// The severity of a change of something outside, as the settings have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeSeverity {
    /// A change does not matter.
    Ignore,
    /// See [`Severity::Info`].
    Info,
    /// See [`Severity::Advice`].
    Advice,
    /// See [`Severity::Confirm`].
    Confirm,
    /// See [`Severity::Blocker`].
    Blocker,
}

impl ChangeSeverity {
    /// Returns the severity of a finding; `None` if there is to be none.
    #[must_use]
    pub fn severity(self) -> Option<Severity> {
        match self {
            Self::Ignore => None,
            Self::Info => Some(Severity::Info),
            Self::Advice => Some(Severity::Advice),
            Self::Confirm => Some(Severity::Confirm),
            Self::Blocker => Some(Severity::Blocker),
        }
    }
}

/// The severities of changes by place: the name of a fact, or the name and a JSON pointer, such as `issue/labels`.
pub type FactSeverities = BTreeMap<String, ChangeSeverity>;

/// Compares the recorded facts with the documents that they have now.
#[must_use]
pub fn compare(recorded: &[Fact], current: &[(String, Value)], severities: &FactSeverities) -> Vec<ComparedFact> {
    let mut compared = Vec::new();
    for fact in recorded {
        let document = current.iter().find(|(name, _)| *name == fact.name).map(|(_, document)| document);
        let comparison = match document {
            Some(document) => compare_documents(fact, document, severities),
            None => Comparison::NotCompared,
        };
        compared.push(ComparedFact { name: fact.name.clone(), comparison });
    }
    for (name, _) in current {
        if !recorded.iter().any(|fact| fact.name == *name) {
            compared.push(ComparedFact { name: name.clone(), comparison: Comparison::NotRecorded });
        }
    }
    compared
}

fn compare_documents(fact: &Fact, current: &Value, severities: &FactSeverities) -> Comparison {
    // A save replaces secrets, unless it was told not to; so they are replaced in both.
    let clean = |mut document: Value| {
        redact_value(&mut document, "", &mut Vec::new());
        document
    };
    let recorded = clean(fact.document.to_value().unwrap_or_default());
    let mut walk = Walk { name: &fact.name, severities, changes: Vec::new() };
    walk.values(String::new(), Some(&recorded), Some(&clean(current.clone())));
    let mut changes = walk.changes;
    changes.sort_by_key(|change| std::cmp::Reverse(change.severity));
    let left_out = changes.len().saturating_sub(MAX_CHANGES);
    changes.truncate(MAX_CHANGES);
    Comparison::Compared { changes, left_out }
}

struct Walk<'a> {
    name: &'a str,
    severities: &'a FactSeverities,
    changes: Vec<FactChange>,
}

impl Walk<'_> {
    fn values(&mut self, pointer: String, before: Option<&Value>, after: Option<&Value>) {
        let change = match (before, after) {
            (before, after) if before == after => return,
            (Some(Value::Object(before)), Some(Value::Object(after))) => {
                let added = after.keys().filter(|key| !before.contains_key(*key));
                for key in before.keys().chain(added) {
                    self.values(below(&pointer, key), before.get(key), after.get(key));
                }
                return;
            }
            (Some(Value::Array(before)), Some(Value::Array(after))) => {
                let missing_in = |list: &[Value], other: &[Value]| -> Vec<Value> {
                    list.iter().filter(|element| !other.contains(element)).cloned().collect()
                };
                elements(&missing_in(after, before), &missing_in(before, after))
            }
            (Some(Value::String(before)), Some(Value::String(after))) => lines(before, after),
            (Some(before), Some(after)) => format!("{} is now {}", shown(before), shown(after)),
            (None, Some(after)) => format!("{} is new", shown(after)),
            (Some(before), None) => format!("{} is gone", shown(before)),
            (None, None) => return,
        };
        if let Some(severity) = self.severity(&pointer) {
            self.changes.push(FactChange { pointer, change, severity });
        }
    }

    /// Returns the severity of the longest configured place at or above the pointer; `None` if it is ignored.
    fn severity(&self, pointer: &str) -> Option<Severity> {
        let mut place = format!("{}{pointer}", self.name);
        loop {
            if let Some(severity) = self.severities.get(&place) {
                return severity.severity();
            }
            match place.rfind('/') {
                Some(end) => place.truncate(end),
                None => return Some(Severity::Advice),
            }
        }
    }
}

/// The change of an array, whose order does not matter.
fn elements(added: &[Value], removed: &[Value]) -> String {
    let list = |word: &str, values: &[Value]| {
        let mut words: Vec<String> = values.iter().take(SHOWN_ELEMENTS).map(shown).collect();
        if values.len() > SHOWN_ELEMENTS {
            words.push(format!("{} more", values.len() - SHOWN_ELEMENTS));
        }
        (!values.is_empty()).then(|| format!("{word} {}", words.join(", ")))
    };
    let parts: Vec<String> = [list("added", added), list("removed", removed)].into_iter().flatten().collect();
    if parts.is_empty() { "the order or the number of its elements".to_owned() } else { parts.join("; ") }
}

/// The change of a text: its first line that differs.
fn lines(before: &str, after: &str) -> String {
    if !before.contains('\n') && !after.contains('\n') {
        return format!("{} is now {}", shown_text(before), shown_text(after));
    }
    let (old, new): (Vec<&str>, Vec<&str>) = (before.split('\n').collect(), after.split('\n').collect());
    let line = old.iter().zip(&new).position(|(old, new)| old != new).unwrap_or(old.len().min(new.len()));
    let text = |lines: &[&str]| lines.get(line).map_or_else(|| "nothing".to_owned(), |line| shown_text(line));
    format!("line {} was {} and is now {}", line + 1, text(&old), text(&new))
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => shown_text(text),
        other => cut(other.to_string()),
    }
}

fn shown_text(text: &str) -> String {
    cut(Value::from(text).to_string())
}

fn cut(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(SHOWN) {
        text.truncate(end);
        text.push_str("...");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn changes(before: Value, after: Value, severities: &[(&str, ChangeSeverity)]) -> Vec<(String, String, Severity)> {
        let severities = severities.iter().map(|(place, severity)| ((*place).to_owned(), *severity)).collect();
        let compared = compare(&[Fact::new("issue", before)], &[("issue".to_owned(), after)], &severities);
        match &compared[..] {
            [ComparedFact { comparison: Comparison::Compared { changes, left_out: 0 }, .. }] => {
                changes.iter().map(|change| (change.pointer.clone(), change.change.clone(), change.severity)).collect()
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn changes_are_listed_by_pointer_with_the_severity_of_their_place() {
        let before = json!({"labels": ["a", "b"], "body": "one\ntwo", "n": {"x/y": 1, "z": 2}, "at": 1});
        let after = json!({"labels": ["b", "c"], "body": "one\n2", "n": {"x/y": null}, "at": 2, "new": [1]});
        let severities = [
            ("issue/body", ChangeSeverity::Confirm),
            ("issue/at", ChangeSeverity::Ignore),
            ("issue/n", ChangeSeverity::Info),
        ];
        let list = changes(before, after, &severities);
        let list: Vec<_> = list.iter().map(|(at, change, severity)| (&**at, &**change, *severity)).collect();
        assert_eq!(
            list,
            [
                ("/body", "line 2 was \"two\" and is now \"2\"", Severity::Confirm),
                ("/labels", "added \"c\"; removed \"a\"", Severity::Advice),
                ("/new", "[1] is new", Severity::Advice),
                ("/n/x~1y", "1 is now null", Severity::Info),
                ("/n/z", "2 is gone", Severity::Info),
            ]
        );
    }

    #[test]
    fn a_secret_is_neither_shown_nor_taken_for_a_change() {
        let token = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
        assert_eq!(changes(json!({"t": "[REDACTED:github-token]"}), json!({"t": token}), &[]), []);
        let list = changes(json!({"t": "x"}), json!({"t": token}), &[]);
        assert!(!format!("{list:?}").contains(token), "{list:?}");
    }

    #[test]
    fn long_values_and_many_changes_are_cut() {
        let list = changes(json!("x".repeat(1000)), json!("y".repeat(1000)), &[]);
        assert!(list[0].1.len() < 200, "{list:?}");
        let object = |value: u32| (0..100).map(|key| (key.to_string(), json!(value))).collect::<Value>();
        let compared = compare(&[Fact::new("f", object(1))], &[("f".to_owned(), object(2))], &Default::default());
        let Comparison::Compared { changes, left_out } = &compared[0].comparison else { panic!("{compared:?}") };
        assert_eq!((changes.len(), *left_out), (MAX_CHANGES, 80));
    }
}
