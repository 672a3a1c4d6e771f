//! Rules for the names of phases, tasks, labels, keys and pipelines, and names made from free text.

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

/// Makes a name of a text that somebody wrote as a sentence; none if nothing of it can be seen. Forbidden and invisible
/// characters become spaces, and a long text ends in an ellipsis.
pub(crate) fn name_from_text(text: &str, forbidden: &[char]) -> Option<String> {
    let is_space = |c: char| c.is_whitespace() || forbidden.contains(&c) || is_hazardous(c);
    let mut name = String::new();
    let mut length = 0;
    for word in text.split(is_space).filter(|word| !word.is_empty()) {
        let added = word.chars().count() + usize::from(length > 0);
        if length + added > MAX_NAME_LENGTH {
            let room = MAX_NAME_LENGTH - 1;
            // A word that begins late is left out; the only one, or a very long one, is cut.
            if length < room / 2 {
                let space = if length > 0 { " " } else { "" };
                name.extend(space.chars().chain(word.chars()).take(room - length));
            }
            if length > room {
                name.pop();
            }
            name.push('\u{2026}');
            return Some(name);
        }
        if length > 0 {
            name.push(' ');
        }
        name.push_str(word);
        length += added;
    }
    (length > 0).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_from_text_is_always_a_name() {
        for (text, name) in [
            ("Plan the parser", Some("Plan the parser")),
            ("  Read, then\twrite\n", Some("Read then write")),
            ("a\u{202e}b\u{1b}[0m", Some("a b [0m")),
            (" ,\u{200b}, ", None),
            ("", None),
        ] {
            assert_eq!(name_from_text(text, &[',']).as_deref(), name, "{text:?}");
        }
        for text in ["word ".repeat(40), "x".repeat(200), format!("ab {}", "\u{8a2d}".repeat(90))] {
            let name = name_from_text(&text, &[',']).unwrap();
            assert_eq!(check_name("a phase", &name, &[',']), Ok(()), "{name}");
            assert!(name.ends_with('\u{2026}') && name.chars().count() > 30, "{name}");
        }
    }
}
