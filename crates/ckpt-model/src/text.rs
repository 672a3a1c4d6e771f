//! Characters that are unsafe to show: rejected in names, escaped in output.

use std::fmt;

/// Returns true if a character controls a terminal or the layout of text, or is invisible.
#[must_use]
pub fn is_hazardous(c: char) -> bool {
    if matches!(c, ' '..='~') {
        return false;
    }
    let code = u32::from(c);
    c.is_control() || is_layout_control(code) || is_invisible(code) || is_unassignable(code)
}

/// Returns a text as one line that can be seen as it is: runs of white space and of hazardous characters become one space.
/// A very long text ends in an ellipsis.
pub(crate) fn plain_text(text: &str) -> String {
    const LONGEST: usize = 300;
    let words = text.split(|c: char| c.is_whitespace() || is_hazardous(c)).filter(|word| !word.is_empty());
    let mut plain = String::new();
    for word in words {
        if !plain.is_empty() {
            plain.push(' ');
        }
        plain.push_str(word);
        if let Some((end, _)) = plain.char_indices().nth(LONGEST) {
            plain.truncate(end);
            plain.push('\u{2026}');
            return plain;
        }
    }
    plain
}

/// Replaces each NUL by U+FFFD, as browsers do.
pub(crate) fn replace_nul(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

/// Quotes a word for a shell command.
pub(crate) fn shell_word(word: impl fmt::Display) -> String {
    let word = word.to_string();
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-=/+:@%,".contains(c);
    // zsh replaces `=name` by the path of that program.
    if !word.is_empty() && word.chars().all(plain) && !word.starts_with('=') {
        word
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// Quotes any argument of a shell command so that it is one line that can be seen as it is. Control and invisible
/// characters are written by `printf`. `None` for a text that no shell can pass on in this way.
pub(crate) fn shell_argument(argument: &str) -> Option<String> {
    let (flag, value) = match argument.split_once('=') {
        Some((flag, value)) if flag.starts_with("--") && shell_word(flag) == flag => (&argument[..=flag.len()], value),
        _ => ("", argument),
    };
    if !value.contains(is_hazardous) {
        return Some(format!("{flag}{}", shell_word(value)));
    }
    // The shell removes line feeds at the end of what a command prints.
    if value.ends_with('\n') || value.contains('\0') {
        return None;
    }
    let mut format = String::new();
    for c in value.chars() {
        match c {
            '%' => format.push_str("%%"),
            '\\' => format.push_str("\\\\"),
            '\'' => format.push_str("'\\''"),
            '\n' => format.push_str("\\n"),
            c if is_hazardous(c) => {
                for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                    format.push_str(&format!("\\{byte:03o}"));
                }
            }
            c => format.push(c),
        }
    }
    // A format that begins with a dash would be an option of `printf`.
    let dashes = if format.starts_with('-') { "-- " } else { "" };
    Some(format!("{flag}\"$(printf {dashes}'{format}')\""))
}

/// Returns `1 time`, `2 times`.
pub(crate) fn times(number: impl Into<u64>) -> String {
    match number.into() {
        1 => "1 time".to_owned(),
        number => format!("{number} times"),
    }
}

/// Direction marks, embeddings, overrides and isolates; line and paragraph separators; annotation anchors.
fn is_layout_control(code: u32) -> bool {
    matches!(code,
        0x061C | 0x200E..=0x200F | 0x2028..=0x202E | 0x2066..=0x206F | 0xFFF9..=0xFFFB
        | 0x1BCA0..=0x1BCA3 | 0x1D173..=0x1D17A)
}

/// Characters without a glyph: soft hyphen, joiners, fillers, zero-width spaces and operators, variation
/// selectors (except U+FE0E and U+FE0F), tags, and code points reserved for more of these.
fn is_invisible(code: u32) -> bool {
    matches!(code,
        0x00AD | 0x034F | 0x115F..=0x1160 | 0x17B4..=0x17B5 | 0x180B..=0x180F | 0x200B..=0x200D
        | 0x2060..=0x2065 | 0x3164 | 0xFE00..=0xFE0D | 0xFEFF | 0xFFA0 | 0xFFF0..=0xFFF8
        | 0xE0000..=0xE0FFF)
}

/// Private use code points and noncharacters, which have no agreed glyph.
fn is_unassignable(code: u32) -> bool {
    matches!(code, 0xE000..=0xF8FF | 0xFDD0..=0xFDEF | 0xF_0000..) || code & 0xFFFE == 0xFFFE
}

/// Returns the edit distance, ignoring case; a swap of two neighbours counts as one.
pub(crate) fn distance(a: &str, b: &str) -> usize {
    let (a, b) = (a.to_ascii_lowercase(), b.to_ascii_lowercase());
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut rows = [Vec::new(), (0..=b.len()).collect::<Vec<usize>>(), vec![0; b.len() + 1]];
    for (i, x) in a.iter().enumerate() {
        rows[2][0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let change = rows[1][j] + usize::from(x != y);
            let mut best = change.min(rows[1][j + 1] + 1).min(rows[2][j] + 1);
            if i > 0 && j > 0 && *x == b[j - 1] && a[i - 1] == *y {
                best = best.min(rows[0][j - 1] + 1);
            }
            rows[2][j + 1] = best;
        }
        rows.rotate_left(1);
        rows[2] = vec![0; b.len() + 1];
    }
    rows[1][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_back_what_was_quoted() {
        for text in [
            "plain",
            "two words",
            "it's",
            "$HOME `id` $(id) \\ \"!\" * ? ~ # & | ; < >",
            "",
            "=ls",
            "--next=- write it",
            "--next=a\nb",
            "tab\tand\u{1b}[31m100% \\n 'x'",
            "-\u{202e}n",
            "--a b=c",
        ] {
            let line = shell_argument(text).unwrap();
            assert!(!line.contains(is_hazardous), "{line}");
            let script = format!("printf '%s' {line}");
            let output = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
            assert_eq!(String::from_utf8(output.stdout).unwrap(), text, "{line}");
        }
        assert_eq!(shell_argument("--next=do it").unwrap(), "--next='do it'");
        assert_eq!(shell_argument("a\nb\n"), None);
    }

    #[test]
    fn distances_are_those_of_a_typist() {
        for (a, b, expected) in
            [("auth", "auth", 0), ("auth", "Auht", 1), ("042", "0042", 1), ("abc", "", 3), ("", "", 0)]
        {
            assert_eq!(distance(a, b), expected, "{a} {b}");
        }
    }
}
