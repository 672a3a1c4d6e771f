//! What a short name given by people must look like: phases, tasks, labels, keys, artifacts.

use super::text::is_hazardous;

/// The longest name, in characters.
pub const MAX_NAME_LENGTH: usize = 64;

/// Says why a text cannot be the name of something.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` cannot name {what}: {reason}", given.escape_debug())]
pub struct InvalidName {
    /// The text as given.
    pub given: String,
    /// What it was to name: `a phase`.
    pub what: &'static str,
    /// What is wrong with it.
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
