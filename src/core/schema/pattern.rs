//! The size of a regular expression, before it is compiled.

use regex_syntax::hir::{Class, Hir, HirKind};

/// The longest pattern, in bytes.
const MAX_PATTERN_BYTES: usize = 4 << 10;

/// The size of a pattern with all of its repetitions written out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PatternSize {
    /// The number of characters it compares one character of a text with at most.
    pub(super) states: u64,
    /// The number of ranges of characters in it, which the memory of the compiled pattern grows with.
    pub(super) ranges: u64,
}

/// Returns the size of a pattern. Only patterns that are matched in linear time have one.
pub(super) fn measure(pattern: &str) -> Result<PatternSize, String> {
    if pattern.len() > MAX_PATTERN_BYTES {
        return Err(format!("the pattern is longer than {MAX_PATTERN_BYTES} bytes"));
    }
    let invalid = || "the pattern is not a regular expression without look-around and back-references";
    let translated = jsonschema_regex::to_rust_regex(pattern).map_err(|()| invalid())?;
    let parsed = regex_syntax::parse(&translated).map_err(|_| invalid())?;
    Ok(PatternSize { states: size(&parsed, &|_| 1), ranges: size(&parsed, &ranges) })
}

fn size(hir: &Hir, class_size: &impl Fn(&Class) -> u64) -> u64 {
    let of_all =
        |parts: &[Hir]| parts.iter().fold(1, |sum: u64, part| sum.saturating_add(size(part, class_size)));
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => 1,
        HirKind::Literal(literal) => literal.0.len() as u64,
        HirKind::Class(class) => class_size(class),
        HirKind::Capture(capture) => size(&capture.sub, class_size),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => of_all(parts),
        HirKind::Repetition(repetition) => {
            let times = repetition.max.unwrap_or_else(|| repetition.min.saturating_add(1)).max(1);
            size(&repetition.sub, class_size).saturating_mul(u64::from(times))
        }
    }
}

fn ranges(class: &Class) -> u64 {
    let ranges = match class {
        Class::Unicode(class) => class.ranges().len(),
        Class::Bytes(class) => class.ranges().len(),
    };
    ranges.max(1) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetitions_are_written_out() {
        let states = |pattern| measure(pattern).unwrap().states;
        assert_eq!(states("abc"), 3);
        assert!((36..60).contains(&states("^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$")));
        assert_eq!(states("(a{1000}){1000}"), 1_000_000);
        assert_eq!(states("((((a{1000}){1000}){1000}){1000}){1000}"), 10_u64.pow(15));
        assert!(measure(r"\p{L}").unwrap().ranges > 500);
        for pattern in ["(a)\\1", "^(?!x)", "(", &"a".repeat(5000)] {
            assert!(measure(pattern).is_err(), "{pattern}");
        }
        for pattern in
            [r"^\d{4}-\d\d-\d\d$", r"^[\w.-]+@[\w-]+\.\w+$", r"^a\/b$", r"^\S+$", r"^(?<year>\d+)$", ""]
        {
            measure(pattern).unwrap_or_else(|why| panic!("{pattern}: {why}"));
        }
    }
}
