//! Where in a document facts are looked for: at the top, and in the objects that commonly wrap them.

use serde_json::Value;

use super::keys::{Noun, Role, classify, fold};
use super::listed::is_list;
use crate::core::dialects::reading::pointer;

/// Objects that hold facts about the whole, by their folded keys.
const WRAPPERS: [&str; 33] = [
    "workflow",
    "checkpoint",
    "checkpoints",
    "state",
    "workflow_state",
    "current_state",
    "context",
    "metadata",
    "meta",
    "progress",
    "session",
    "status",
    "git",
    "git_state",
    "task",
    "run",
    "execution",
    "info",
    "recovery",
    "recovery_info",
    "resume",
    "resume_info",
    "position",
    "project",
    "vcs",
    "pipeline",
    "flow",
    "plan",
    "job",
    "data",
    "payload",
    "result",
    "orchestration",
];
const DEEPEST: usize = 3;

/// A fact and its place.
#[derive(Debug, Clone)]
pub(super) struct Found<'a> {
    pub(super) key: &'a str,
    pub(super) value: &'a Value,
    pub(super) pointer: String,
}

/// A member, with its key in one spelling.
pub(super) struct Member<'a> {
    pub(super) folded: String,
    pub(super) found: Found<'a>,
}

/// One object in which facts are looked for.
pub(super) struct Scope<'a> {
    /// What a key without a noun is about in here.
    pub(super) noun: Noun,
    /// The folded key of the object.
    pub(super) name: String,
    pub(super) members: Vec<Member<'a>>,
}

/// All of them, the outermost first.
pub(super) struct Scopes<'a>(pub(super) Vec<Scope<'a>>);

impl<'a> Scopes<'a> {
    pub(super) fn of(root: &'a Value) -> Self {
        let mut scopes = Vec::new();
        let mut level = vec![(Noun::Bare, String::new(), String::new(), root)];
        for _ in 0..DEEPEST {
            let mut below = Vec::new();
            for (noun, name, place, value) in level {
                let Value::Object(object) = value else { continue };
                let members: Vec<Member<'a>> = object
                    .iter()
                    .map(|(key, value)| Member {
                        folded: fold(key),
                        found: Found { key, value, pointer: format!("{place}{}", pointer(&[key])) },
                    })
                    .collect();
                for member in &members {
                    if let Some(noun) = wraps(member) {
                        let found = &member.found;
                        below.push((noun, member.folded.clone(), found.pointer.clone(), found.value));
                    }
                }
                scopes.push(Scope { noun, name, members });
            }
            level = below;
        }
        Self(scopes)
    }

    /// The first member that has one of these names and says something, the outermost object first.
    pub(super) fn find(&self, names: &[&str]) -> Option<Found<'a>> {
        self.0.iter().find_map(|scope| names.iter().find_map(|name| scope.get(name)))
    }

    /// The member with the best of these names, wherever it is.
    pub(super) fn best(&self, names: &[&str]) -> Option<Found<'a>> {
        names.iter().find_map(|name| self.0.iter().find_map(|scope| scope.get(name)))
    }

    /// The text of the first member that has one of these names.
    pub(super) fn text(&self, names: &[&str]) -> Option<(String, String)> {
        let found = self.find(names)?;
        text(found.value).map(|text| (text, found.pointer))
    }
}

impl<'a> Scope<'a> {
    pub(super) fn get(&self, name: &str) -> Option<Found<'a>> {
        let member =
            self.members.iter().find(|member| member.folded == name && !is_nothing(member.found.value))?;
        Some(member.found.clone())
    }
}

/// What a key without a noun is about inside this member, if facts are looked for there.
fn wraps(member: &Member<'_>) -> Option<Noun> {
    if !member.found.value.is_object() {
        return None;
    }
    match classify(&member.folded) {
        Some((noun, Role::All | Role::Status)) if !is_list(member.found.value) => Some(noun),
        Some((Noun::Bare, Role::Resume)) => Some(Noun::Bare),
        _ => WRAPPERS.contains(&member.folded.as_str()).then_some(Noun::Bare),
    }
}

/// Whether a value says nothing.
pub(super) fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        _ => false,
    }
}

/// A text or a number as text.
pub(super) fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.trim().is_empty() => Some(text.trim().to_owned()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Whether a word stands for nothing: `none`, `idle`.
pub(super) fn is_idle_word(word: &str) -> bool {
    matches!(word.trim().to_lowercase().as_str(), "none" | "idle" | "inactive" | "n/a" | "null" | "-" | "nil")
}
