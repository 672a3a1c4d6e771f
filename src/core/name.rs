//! Rules for the names of phases, tasks, labels, keys and pipelines.

use super::text::is_hazardous;

/// The maximum length of a name, in characters.
const MAX_NAME_LENGTH: usize = 64;

/// A text that cannot be used as a name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` cannot name {what}: {reason}", given.escape_debug())]
pub struct InvalidName {
    /// The text.
    pub given: String,
    /// The named thing: `a phase`.
    pub what: &'static str,
    /// The problem.
    pub reason: String,
}

/// Accepts one to 64 visible characters, none of them `forbidden`, without white space at the ends.
pub(crate) fn check_name(what: &'static str, given: &str, forbidden: &[char]) -> Result<(), InvalidName> {
    let length = given.chars().count();
    let reason = if length == 0 {
        "it is empty".to_owned()
    } else if length > MAX_NAME_LENGTH {
        format!("it has {length} characters, at most {MAX_NAME_LENGTH} are allowed")
    } else if given.trim() != given {
        "it starts or ends with white space".to_owned()
    } else if let Some(c) = given.chars().find(|c| forbidden.contains(c)) {
        format!("it contains `{c}`")
    } else if given.chars().any(is_hazardous) {
        "it contains a character that cannot be seen".to_owned()
    } else {
        return Ok(());
    };
    Err(InvalidName { given: given.chars().take(2 * MAX_NAME_LENGTH).collect(), what, reason })
}
