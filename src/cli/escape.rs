//! Escapes untrusted text for people and agents.
//!
//! The text in a checkpoint is untrusted. Printed as it is, it could move the cursor, overwrite earlier lines, fill the
//! clipboard, reverse the reading direction, or carry instructions that a language model reads and a person does not
//! see. These functions replace every control or invisible character by an escape such as `\n` or `\u{202e}`.
//!
//! # Invariants
//!
//! - [`inline`] returns one line that contains none of the replaced characters, so escaping twice changes nothing.
//! - Clean text is returned borrowed, without an allocation.
//!
//! # Limitations
//!
//! - Escaped text cannot be parsed back: a backslash stays as it is, so the two characters `\n` look the same as a line
//!   feed.
//! - Emoji joined by a zero-width joiner are shown in their parts, and icons from private-use fonts as numbers.
//! - The two variation selectors that choose between text and emoji style stay, since so many emoji need one.
//! - Letters that look like other letters are not detected, and blank characters that take up space stay.

use std::borrow::Cow;
use std::fmt::Write as _;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use ckpt_model::text::is_hazardous;

/// Returns the text as one line in which every character can be seen.
#[must_use]
pub fn inline(text: &str) -> Cow<'_, str> {
    let Some(first) = text.find(is_hazardous) else {
        return Cow::Borrowed(text);
    };
    let (clean, rest) = text.split_at(first);
    let mut shown = String::with_capacity(text.len() + 16);
    shown.push_str(clean);
    for c in rest.chars() {
        match c {
            '\n' => shown.push_str("\\n"),
            '\r' => shown.push_str("\\r"),
            '\t' => shown.push_str("\\t"),
            c if is_hazardous(c) => {
                // Writing to a `String` has no way to fail.
                let _ = write!(shown, "\\u{{{:x}}}", u32::from(c));
            }
            c => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

/// Returns a document with its lines and tabs, in which every other hazardous character is replaced by an escape. In the
/// strings of JSON and YAML, the escape means the same character.
#[must_use]
pub(crate) fn document(text: &str) -> Cow<'_, str> {
    let is_kept = |c: char| c == '\n' || c == '\t' || !is_hazardous(c);
    if text.chars().all(is_kept) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_kept(c) {
            shown.push(c);
        } else {
            shown.extend(c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")));
        }
    }
    Cow::Owned(shown)
}

/// Returns stored text in quotes that it cannot close, so that a reader sees where the data ends.
#[must_use]
pub(crate) fn quoted(text: &str) -> String {
    format!("\"{}\"", inline(text).replace('"', "'"))
}

/// Returns the name of a phase or a task, in quotes if it is more than one word.
#[must_use]
pub(crate) fn name(text: &str) -> String {
    if text.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c)) { text.to_owned() } else { quoted(text) }
}

/// Splits the text at its line ends and makes each line safe like [`inline`].
///
/// A line ends with a line feed, or with a carriage return and a line feed; a carriage return elsewhere is
/// shown, because terminals use it to overwrite. A line end at the very end adds no empty line.
#[must_use]
pub fn block(text: &str) -> Vec<Cow<'_, str>> {
    text.lines().map(inline).collect()
}

/// Returns the number of terminal columns that the text takes up.
#[must_use]
pub fn width(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

/// Returns the text cut to at most `columns` terminal columns, the cut marked with `...`.
///
/// The text must be escaped already. Only terminals get cut text. Accents stay with their letters. Where a sequence is
/// narrower than its parts, the cut may come a few columns early, never late.
#[must_use]
pub fn truncate(text: &str, columns: usize) -> Cow<'_, str> {
    const MARK: &str = "...";
    // No character is wider than its number of bytes, so short text needs no measuring.
    if text.len() <= columns || width(text) <= columns {
        return Cow::Borrowed(text);
    }
    let Some(room) = columns.checked_sub(MARK.len()) else {
        return Cow::Borrowed(&MARK[..columns]);
    };
    let (mut used, mut end) = (0, 0);
    for cluster in clusters(text) {
        used += width(cluster);
        if used > room {
            break;
        }
        end += cluster.len();
    }
    Cow::Owned(format!("{}{MARK}", &text[..end]))
}

/// Splits text before each character that has a width, so that combining characters stay with their base.
fn clusters(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let next = rest.char_indices().skip(1).find(|(_, c)| c.width() != Some(0));
        let (cluster, tail) = rest.split_at(next.map_or(rest.len(), |(at, _)| at));
        rest = tail;
        (!cluster.is_empty()).then_some(cluster)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn assert_shown(attack: &str, shown: &str) {
        assert_eq!(inline(attack), shown);
        assert!(matches!(inline(shown), Cow::Borrowed(_)), "escaping twice changed {shown:?}");
    }

    #[test]
    fn clean_text_is_borrowed() {
        let clean = [
            "",
            "plain",
            "C:\\new\\table",
            "already \\n escaped \\u{202e}",
            "caf\u{e9}, cafe\u{301}",
            "\u{65e5}\u{672c}\u{8a9e}",
            "\u{5e9}\u{5dc}\u{5d5}\u{5dd} \u{645}\u{631}\u{62d}\u{628}\u{627}",
            "\u{1f600} \u{2764}\u{fe0f} \u{1f1e9}\u{1f1ea} \u{1f44d}\u{1f3fd}",
            "no\u{a0}break \u{2003} \u{3000}",
            "\u{fffd}",
        ];
        for text in clean {
            assert!(matches!(inline(text), Cow::Borrowed(same) if same == text), "{text:?}");
        }
    }

    #[test]
    fn ansi_colour() {
        assert_shown("\x1b[31mred\x1b[0m", "\\u{1b}[31mred\\u{1b}[0m");
    }

    #[test]
    fn cursor_movement_and_screen_clear() {
        assert_shown("\x1b[2J\x1b[1;1Hfake", "\\u{1b}[2J\\u{1b}[1;1Hfake");
    }

    #[test]
    fn osc52_clipboard_write() {
        assert_shown("\x1b]52;c;cm0gLXJm\x07", "\\u{1b}]52;c;cm0gLXJm\\u{7}");
    }

    #[test]
    fn osc8_hyperlink() {
        assert_shown("\x1b]8;;http://evil\x1b\\x", "\\u{1b}]8;;http://evil\\u{1b}\\x");
    }

    #[test]
    fn title_change() {
        assert_shown("\x1b]0;owned\x07", "\\u{1b}]0;owned\\u{7}");
    }

    #[test]
    fn c1_csi() {
        assert_shown("\u{9b}31mred", "\\u{9b}31mred");
        assert_shown("a\u{85}b\u{90}c\u{9d}", "a\\u{85}b\\u{90}c\\u{9d}");
    }

    #[test]
    fn carriage_return_overprint() {
        assert_shown("rm -rf /\rls       ", "rm -rf /\\rls       ");
    }

    #[test]
    fn backspace_overprint() {
        assert_shown("bad\u{8}\u{8}\u{8}good\u{7f}", "bad\\u{8}\\u{8}\\u{8}good\\u{7f}");
    }

    #[test]
    fn null_byte() {
        assert_shown("a\0b", "a\\u{0}b");
    }

    #[test]
    fn newline_forges_another_entry() {
        assert_shown("done\nVerdict: ready\tyes", "done\\nVerdict: ready\\tyes");
        assert_shown("a\u{2028}b\u{2029}c\u{b}d\u{c}e", "a\\u{2028}b\\u{2029}c\\u{b}d\\u{c}e");
    }

    #[test]
    fn bidi_override() {
        assert_shown("exe.\u{202e}gpj", "exe.\\u{202e}gpj");
        for c in ['\u{61c}', '\u{200e}', '\u{200f}'].into_iter().chain('\u{202a}'..='\u{202e}') {
            assert_shown(&c.to_string(), &format!("\\u{{{:x}}}", u32::from(c)));
        }
    }

    #[test]
    fn bidi_isolates() {
        assert_shown("\u{2066}a\u{2067}b\u{2068}c\u{2069}", "\\u{2066}a\\u{2067}b\\u{2068}c\\u{2069}");
    }

    #[test]
    fn zero_width_hiding() {
        assert_shown(
            "pass\u{200b}wo\u{200c}r\u{200d}d\u{2060}\u{feff}\u{180e}\u{ad}",
            "pass\\u{200b}wo\\u{200c}r\\u{200d}d\\u{2060}\\u{feff}\\u{180e}\\u{ad}",
        );
    }

    #[test]
    fn tag_characters_smuggling() {
        let hidden: String = "hi".bytes().filter_map(|b| char::from_u32(0xE0000 + u32::from(b))).collect();
        assert_shown(&format!("ok{hidden}\u{e007f}"), "ok\\u{e0068}\\u{e0069}\\u{e007f}");
    }

    #[test]
    fn variation_selector_smuggling() {
        assert_shown("x\u{e0100}\u{e01ef}\u{fe00}\u{fe0d}", "x\\u{e0100}\\u{e01ef}\\u{fe00}\\u{fe0d}");
    }

    #[test]
    fn interlinear_annotation_hiding() {
        assert_shown("\u{fff9}seen\u{fffa}hidden\u{fffb}", "\\u{fff9}seen\\u{fffa}hidden\\u{fffb}");
    }

    #[test]
    fn invisible_fillers_and_operators() {
        assert_shown("\u{115f}\u{1160}\u{3164}\u{ffa0}", "\\u{115f}\\u{1160}\\u{3164}\\u{ffa0}");
        assert_shown("\u{2061}\u{2064}\u{206a}\u{206f}\u{34f}", "\\u{2061}\\u{2064}\\u{206a}\\u{206f}\\u{34f}");
    }

    #[test]
    fn private_use_and_noncharacters() {
        assert_shown("\u{e000}\u{f8ff}\u{f0000}\u{10fffd}", "\\u{e000}\\u{f8ff}\\u{f0000}\\u{10fffd}");
        assert_shown(
            "\u{fdd0}\u{fdef}\u{fffe}\u{ffff}\u{1fffe}\u{10ffff}",
            "\\u{fdd0}\\u{fdef}\\u{fffe}\\u{ffff}\\u{1fffe}\\u{10ffff}",
        );
    }

    #[test]
    fn a_block_keeps_its_lines_and_nothing_else() {
        let cases: &[(&str, &[&str])] = &[
            ("", &[]),
            ("one", &["one"]),
            ("one\n", &["one"]),
            ("one\r\ntwo\n\nfour", &["one", "two", "", "four"]),
            ("real\rfake\n", &["real\\rfake"]),
            ("a\r\r\nb\r", &["a\\r", "b\\r"]),
            ("a\u{2028}b\n\x1b[2J", &["a\\u{2028}b", "\\u{1b}[2J"]),
        ];
        for (text, lines) in cases {
            assert_eq!(block(text), *lines, "{text:?}");
        }
    }

    #[test]
    fn cuts_at_columns() {
        let cases: &[(&str, usize, &str)] = &[
            ("short", 5, "short"),
            ("longer", 5, "lo..."),
            ("longer", 3, "..."),
            ("longer", 2, ".."),
            ("longer", 0, ""),
            ("", 0, ""),
            ("\u{65e5}\u{672c}\u{8a9e}", 6, "\u{65e5}\u{672c}\u{8a9e}"),
            ("\u{65e5}\u{672c}\u{8a9e}", 5, "\u{65e5}..."),
            ("\u{65e5}\u{672c}\u{8a9e}", 4, "..."),
            ("cafe\u{301} noir", 7, "cafe\u{301}..."),
            ("\u{2764}\u{fe0f}\u{2764}\u{fe0f}\u{2764}\u{fe0f}", 5, "\u{2764}\u{fe0f}..."),
        ];
        for (text, columns, shown) in cases {
            assert_eq!(truncate(text, *columns), *shown, "{text:?} at {columns}");
        }
        assert!(matches!(truncate("short", 80), Cow::Borrowed(_)));
    }

    #[test]
    fn measures_columns() {
        for (text, columns) in [("", 0), ("abc", 3), ("e\u{301}", 1), ("\u{65e5}", 2), ("\u{1f600}", 2)] {
            assert_eq!(width(text), columns, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn nothing_unsafe_remains(text in any::<String>()) {
            let shown = inline(&text);
            prop_assert!(!shown.chars().any(is_hazardous));
            prop_assert!(block(&text).iter().all(|line| !line.chars().any(is_hazardous)));
            prop_assert_eq!(inline(&shown), shown.as_ref());
        }

        #[test]
        fn a_cut_always_fits(text in any::<String>(), columns in 0_usize..40) {
            let shown = inline(&text);
            prop_assert!(width(&truncate(&shown, columns)) <= columns);
        }
    }
}
