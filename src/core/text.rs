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

/// Replaces each NUL by U+FFFD, as browsers do.
pub(crate) fn replace_nul(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

/// Quotes a word for a shell command.
pub(crate) fn shell_word(word: impl fmt::Display) -> String {
    let word = word.to_string();
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-=/+:@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
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
