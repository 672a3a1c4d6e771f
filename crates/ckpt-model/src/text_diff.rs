//! Unified diffs of two contents.
//!
//! The contents are untrusted: both are bounded before they are compared, the algorithm has no quadratic case, and lines
//! are cut. Escaping is left to whoever prints the lines.

use std::ops::Range;

use imara_diff::{Algorithm, Diff, Hunk, InternedInput, Token};
use serde::Serialize;

/// The largest content that is compared.
pub const MAX_COMPARED_BYTES: u64 = 4 << 20;
/// The longest line, in characters.
const MAX_LINE: usize = 500;

/// The difference between two texts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TextDiff {
    /// The lines of a unified diff, without those that name the files.
    pub lines: Vec<String>,
    /// How many more lines there are.
    pub left_out: usize,
}

/// Compares two contents, and shows the lines that differ with `context` lines around them. Returns none if one of them is
/// not text or is too large, or if they are equal.
#[must_use]
pub fn unified(before: &[u8], after: &[u8], context: u32, max_lines: usize) -> Option<TextDiff> {
    let [before, after] = [text(before)?, text(after)?];
    if before == after {
        return None;
    }
    let input = InternedInput::new(before, after);
    let mut diff = Diff::compute(Algorithm::Histogram, &input);
    diff.postprocess_lines(&input);
    let line = |sign: char, side: &[Token], place: u32| {
        let text = side.get(place as usize).map_or("", |token| input.interner[*token]);
        format!("{sign}{}", cut(text))
    };
    let mut lines = Vec::new();
    for group in groups(&diff, context) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
        let lead = context.min(first.before.start);
        let tail = context.min(lines_of(&input.before) - last.before.end);
        let old = first.before.start - lead..last.before.end + tail;
        let new = first.after.start - lead..last.after.end + tail;
        lines.push(format!("@@ -{} +{} @@", range(&old), range(&new)));
        let mut place = old.start;
        for Hunk { before, after } in &group {
            lines.extend((place..before.start).map(|place| line(' ', &input.before, place)));
            lines.extend(before.clone().map(|place| line('-', &input.before, place)));
            lines.extend(after.clone().map(|place| line('+', &input.after, place)));
            place = before.end;
        }
        lines.extend((place..old.end).map(|place| line(' ', &input.before, place)));
    }
    let left_out = lines.len().saturating_sub(max_lines);
    lines.truncate(max_lines);
    Some(TextDiff { lines, left_out })
}

/// Joins the hunks whose surroundings touch.
fn groups(diff: &Diff, context: u32) -> Vec<Vec<Hunk>> {
    let mut groups: Vec<Vec<Hunk>> = Vec::new();
    for hunk in diff.hunks() {
        match groups.last_mut() {
            Some(group) if group.last().is_some_and(|last| hunk.before.start - last.before.end <= 2 * context) => {
                group.push(hunk);
            }
            _ => groups.push(vec![hunk]),
        }
    }
    groups
}

fn lines_of(side: &[Token]) -> u32 {
    u32::try_from(side.len()).unwrap_or(u32::MAX)
}

/// `4,7`: the first line and the number of lines. An empty range names the line before it.
fn range(lines: &Range<u32>) -> String {
    let length = lines.end - lines.start;
    format!("{},{length}", lines.start + u32::from(length > 0))
}

/// Returns a content as text, unless it is something else or too large.
fn text(bytes: &[u8]) -> Option<&str> {
    let is_small = bytes.len() as u64 <= MAX_COMPARED_BYTES;
    if is_small && !bytes.contains(&0) { std::str::from_utf8(bytes).ok() } else { None }
}

fn cut(line: &str) -> String {
    let line = line.strip_suffix('\n').unwrap_or(line);
    let line = line.strip_suffix('\r').unwrap_or(line);
    match line.char_indices().nth(MAX_LINE) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lines_that_differ_have_their_surroundings() {
        let before = "1\n2\n3\n4\n5\n6\n7\n8\n";
        let diff = unified(before.as_bytes(), before.replace('5', "five").as_bytes(), 3, 100).unwrap();
        assert_eq!(diff.lines, ["@@ -2,7 +2,7 @@", " 2", " 3", " 4", "-5", "+five", " 6", " 7", " 8"]);
        let short = unified(before.as_bytes(), b"", 1, 3).unwrap();
        assert_eq!((short.lines.join(" ").as_str(), short.left_out), ("@@ -1,8 +0,0 @@ -1 -2", 6));
        let far = before.replace('1', "one").replace('8', "eight");
        let far = unified(before.as_bytes(), far.as_bytes(), 1, 100).unwrap();
        assert_eq!(far.lines, ["@@ -1,2 +1,2 @@", "-1", "+one", " 2", "@@ -7,2 +7,2 @@", " 7", "-8", "+eight"]);
    }

    #[test]
    fn what_is_no_text_or_too_large_or_equal_is_not_compared() {
        let large = vec![b'x'; usize::try_from(MAX_COMPARED_BYTES).unwrap() + 1];
        for (before, after) in [(&b"a"[..], &b"a"[..]), (b"a", b"\0"), (b"\xff", b"a"), (&large, b"a")] {
            assert_eq!(unified(before, after, 3, 10), None);
        }
        let long = unified(b"", "\u{e9}".repeat(2_000).as_bytes(), 3, 10).unwrap();
        assert_eq!(long.lines[1].chars().count(), MAX_LINE + "+...".len());
    }

    proptest! {
        #[test]
        fn removed_and_added_lines_turn_one_into_the_other(
            before in "([ab]\n){0,12}", after in "([abc]\n){0,12}"
        ) {
            let diff = unified(before.as_bytes(), after.as_bytes(), 1, usize::MAX);
            let lines = diff.map(|diff| diff.lines).unwrap_or_default();
            let count = |sign: char| lines.iter().filter(|line| line.starts_with(sign)).count();
            let (old, new) = (before.lines().count(), after.lines().count());
            prop_assert_eq!(old + count('+'), new + count('-'));
            for line in lines.iter().filter(|line| !line.starts_with('@')) {
                let side = if line.starts_with('+') { &after } else { &before };
                prop_assert!(side.lines().any(|known| known == &line[1..]), "{}", line);
            }
        }
    }
}
