//! Numbers in a document that count phases, or say where among them the work is.

use serde_json::Value;

use crate::core::phase::PhaseId;

/// A whole number that is not negative, as a number or in text. `3.0` is one, `2.5` is none.
pub(super) fn whole(value: &Value) -> Option<u64> {
    let text = match value {
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.trim().to_owned(),
        _ => return None,
    };
    let (digits, fraction) = text.split_once('.').unwrap_or((&text, ""));
    fraction.bytes().all(|b| b == b'0').then(|| digits.parse().ok()).flatten()
}

/// `3/7`, `3 of 7`, `Step 3 out of 7 (43%)`: the two numbers, if the first is not the greater.
pub(super) fn fraction(text: &str) -> Option<(u64, u64)> {
    let (first, rest) = leading_number(without_noun(text.trim()))?;
    let rest = rest.trim_start();
    let rest = ["/", "out of ", "of "].iter().find_map(|word| rest.strip_prefix(word))?;
    let (second, rest) = leading_number(rest.trim_start())?;
    let ends = rest.is_empty() || rest.starts_with([' ', ',', '(', ':']);
    (ends && first <= second && second > 0).then_some((first, second))
}

/// The number of a phase that is called by it: `Phase 3`, `step-3`, `phase_3`, `Stage 3: Build`.
pub(super) fn numbered(id: &PhaseId) -> Option<PhaseId> {
    let bare = without_noun(id.as_str());
    let (number, rest) = leading_number(bare).filter(|_| bare.len() < id.as_str().len())?;
    let ends = rest.is_empty() || rest.starts_with([':', ' ']);
    ends.then(|| number.to_string().parse().ok()).flatten()
}

pub(super) fn without_noun(text: &str) -> &str {
    let noun = ["phase", "step", "stage", "task"]
        .into_iter()
        .find(|noun| text.get(..noun.len()).is_some_and(|start| start.eq_ignore_ascii_case(noun)));
    let rest = noun.and_then(|noun| text.get(noun.len()..)).unwrap_or(text);
    rest.trim_start_matches([' ', '_', '-', '#'])
}

pub(super) fn leading_number(text: &str) -> Option<(u64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    Some((text.get(..end)?.parse().ok()?, text.get(end..)?))
}

/// The names in a text that holds several: divided by commas, or by blanks where `blanks` divide.
pub(super) fn names(text: &str, blanks: bool) -> Option<Vec<Value>> {
    let parts: Vec<&str> = if text.contains([',', ';']) {
        text.split([',', ';']).map(str::trim).filter(|part| !part.is_empty()).collect()
    } else {
        text.split_whitespace().collect()
    };
    let several = parts.len() > 1 && text.contains([',', ';']);
    let numbers = parts.len() > 1 && parts.iter().all(|part| part.bytes().all(|b| b.is_ascii_digit()));
    (several || numbers || (blanks && !parts.is_empty()))
        .then(|| parts.into_iter().map(Value::from).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn whole_numbers_are_read_however_they_are_written() {
        for (value, number) in [(json!(3), 3), (json!("3"), 3), (json!(3.0), 3), (json!(" 12 "), 12)] {
            assert_eq!(whole(&value), Some(number), "{value}");
        }
        for value in [json!(-1), json!(2.5), json!("three"), json!(1e300), json!(null), json!("")] {
            assert_eq!(whole(&value), None, "{value}");
        }
    }

    #[test]
    fn two_numbers_in_a_text_are_a_part_and_the_whole() {
        for text in ["3/7", "3 / 7", "3 of 7", "Phase 3 of 7", "step 3/7 (43%)", "Stage 3 out of 7: build"] {
            assert_eq!(fraction(text), Some((3, 7)), "{text}");
        }
        for text in ["7/3", "3", "2026/01/02", "3/7/2026", "a/b", "3 of", "0/0", "Phase three of 7"] {
            assert_eq!(fraction(text), None, "{text}");
        }
    }

    #[test]
    fn a_phase_may_be_called_by_its_number() {
        let number = |text: &str| numbered(&text.parse().unwrap()).map(|id| id.to_string());
        for text in ["Phase 3", "phase_3", "step-3", "STAGE3", "Phase 3: Build"] {
            assert_eq!(number(text).as_deref(), Some("3"), "{text}");
        }
        for text in ["3", "phase", "phase_3a", "3 little pigs", "phase3_build"] {
            assert_eq!(number(text), None, "{text}");
        }
    }

    #[test]
    fn a_text_may_hold_several_names() {
        assert_eq!(names("a, b,c", false), Some(vec![json!("a"), json!("b"), json!("c")]));
        assert_eq!(names("1 2 3", false), Some(vec![json!("1"), json!("2"), json!("3")]));
        assert_eq!(names("fetch build", true), Some(vec![json!("fetch"), json!("build")]));
        assert_eq!(names("All of them", false), None);
        assert_eq!(names("build", false), None);
    }
}
