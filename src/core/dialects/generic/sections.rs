//! The objects of a document in which facts about the whole are looked up: the document itself, and objects that
//! commonly wrap them.

use serde_json::Value;

use super::keys::{Noun, Role, classify, snake_case};
use super::phase_records::is_list;
use crate::core::dialects::members::{pointer, text_or_number};

/// Objects that hold facts about the whole, by their keys in snake case.
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
/// The deepest level of wrapping objects, the document included.
const MAX_LEVELS: usize = 3;

/// A member of a section.
#[derive(Debug)]
pub(super) struct Member<'a> {
    pub(super) key: &'a str,
    /// The key in snake case.
    pub(super) snake_key: String,
    pub(super) value: &'a Value,
    pub(super) pointer: String,
}

/// One object in which facts are looked up.
pub(super) struct Section<'a> {
    /// The noun that keys without one refer to.
    pub(super) noun: Noun,
    /// The key of the object in snake case.
    pub(super) name: String,
    pub(super) members: Vec<Member<'a>>,
}

/// All sections of a document, the outermost first.
pub(super) struct Sections<'a>(pub(super) Vec<Section<'a>>);

impl<'a> Sections<'a> {
    pub(super) fn of(root: &'a Value) -> Self {
        let mut sections = Vec::new();
        let mut level = vec![(Noun::Unspecified, String::new(), String::new(), root)];
        for _ in 0..MAX_LEVELS {
            let mut next_level = Vec::new();
            for (noun, name, place, value) in level {
                let Value::Object(object) = value else { continue };
                let mut members = Vec::new();
                for (key, value) in object {
                    let member = Member {
                        key,
                        snake_key: snake_case(key),
                        value,
                        pointer: format!("{place}{}", pointer(&[key])),
                    };
                    if let Some(noun) = section_noun(&member) {
                        next_level.push((noun, member.snake_key.clone(), member.pointer.clone(), value));
                    }
                    members.push(member);
                }
                sections.push(Section { noun, name, members });
            }
            level = next_level;
        }
        Self(sections)
    }

    /// Returns the first member with one of these names that is not blank; outer sections take precedence over the
    /// order of the names.
    pub(super) fn find(&self, names: &[&str]) -> Option<&Member<'a>> {
        self.0.iter().find_map(|section| names.iter().find_map(|name| section.get(name)))
    }

    /// Returns the first member with one of these names that is not blank; the order of the names takes precedence.
    pub(super) fn find_by_rank(&self, names: &[&str]) -> Option<&Member<'a>> {
        names.iter().find_map(|name| self.find(&[name]))
    }

    /// Returns the text and the place of the member that [`Self::find`] finds.
    pub(super) fn text(&self, names: &[&str]) -> Option<(String, String)> {
        let member = self.find(names)?;
        text_or_number(member.value).map(|text| (text, member.pointer.clone()))
    }
}

impl<'a> Section<'a> {
    /// Returns the member with this name in snake case, unless it is blank.
    pub(super) fn get(&self, name: &str) -> Option<&Member<'a>> {
        self.members.iter().find(|member| member.snake_key == name && !is_blank(member.value))
    }
}

/// Returns the noun that keys without one refer to inside this member, if it is a section.
fn section_noun(member: &Member<'_>) -> Option<Noun> {
    if !member.value.is_object() {
        return None;
    }
    match classify(&member.snake_key) {
        Some((noun, Role::All | Role::Status)) if !is_list(member.value) => Some(noun),
        Some((Noun::Unspecified, Role::Resume)) => Some(Noun::Unspecified),
        _ if WRAPPERS.contains(&member.snake_key.as_str()) => Some(Noun::Unspecified),
        _ => None,
    }
}

/// True if a value is null or a blank text.
pub(super) fn is_blank(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        _ => false,
    }
}

/// True if a word in the place of a value means that there is none: `none`, `idle`.
pub(super) fn is_idle_word(word: &str) -> bool {
    matches!(word.trim().to_lowercase().as_str(), "none" | "idle" | "inactive" | "n/a" | "null" | "-" | "nil")
}
