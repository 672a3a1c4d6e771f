//! Counts, fractions, phase numbers and lists of names in the values of a document.

use serde_json::Value;

use crate::core::phase::PhaseId;

/// Parses a count: a number or a text. `3.0` is a count, `2.5` is not.
pub(super) fn parse_count(value: &Value) -> Option<u64> {
    let text = match value {
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.trim().to_owned(),
        _ => return None,
    };
    let (digits, fraction) = text.split_once('.').unwrap_or((&text, ""));
    if fraction.bytes().all(|b| b == b'0') { digits.parse().ok() } else { None }
}

/// Parses the two numbers of `3/7`, `3 of 7` or `Step 3 out of 7 (43%)`, if the first is not the greater.
pub(super) fn parse_fraction(text: &str) -> Option<(u64, u64)> {
    let (first, rest) = leading_number(without_noun(text.trim()))?;
    let rest = rest.trim_start();
    let rest = ["/", "out of ", "of "].iter().find_map(|word| rest.strip_prefix(word))?;
    let (second, rest) = leading_number(rest.trim_start())?;
    let ends = rest.is_empty() || rest.starts_with([' ', ',', '(', ':']);
    (ends && first <= second && second > 0).then_some((first, second))
}

/// Returns the number in a phase id that is a noun and a number: `Phase 3`, `step-3`, `phase_3`, `Stage 3: Build`.
pub(super) fn id_without_noun(id: &PhaseId) -> Option<PhaseId> {
    let bare = without_noun(id.as_str());
    if bare.len() == id.as_str().len() {
        return None;
    }
    let (number, rest) = leading_number(bare)?;
    if rest.is_empty() || rest.starts_with([':', ' ']) { number.to_string().parse().ok() } else { None }
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

/// Splits a text with several names: at commas, or at blanks if `split_at_blanks` or if all names are numbers.
pub(super) fn split_names(text: &str, split_at_blanks: bool) -> Option<Vec<Value>> {
    let has_commas = text.contains([',', ';']);
    let names: Vec<&str> = if has_commas {
        text.split([',', ';']).map(str::trim).filter(|name| !name.is_empty()).collect()
    } else {
        text.split_whitespace().collect()
    };
    let all_numbers = names.iter().all(|name| name.bytes().all(|b| b.is_ascii_digit()));
    let is_list = names.len() > 1 && (has_commas || all_numbers);
    if is_list || (split_at_blanks && !names.is_empty()) {
        Some(names.into_iter().map(Value::from).collect())
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn counts_are_read_however_they_are_written() {
        for (value, number) in [(json!(3), 3), (json!("3"), 3), (json!(3.0), 3), (json!(" 12 "), 12)] {
            assert_eq!(parse_count(&value), Some(number), "{value}");
        }
        for value in [json!(-1), json!(2.5), json!("three"), json!(1e300), json!(null), json!("")] {
            assert_eq!(parse_count(&value), None, "{value}");
        }
    }

    #[test]
    fn two_numbers_in_a_text_are_a_count_and_a_total() {
        for text in ["3/7", "3 / 7", "3 of 7", "Phase 3 of 7", "step 3/7 (43%)", "Stage 3 out of 7: build"] {
            assert_eq!(parse_fraction(text), Some((3, 7)), "{text}");
        }
        for text in ["7/3", "3", "2026/01/02", "3/7/2026", "a/b", "3 of", "0/0", "Phase three of 7"] {
            assert_eq!(parse_fraction(text), None, "{text}");
        }
    }

    #[test]
    fn a_phase_may_be_named_by_its_number() {
        let number = |text: &str| id_without_noun(&text.parse().unwrap()).map(|id| id.to_string());
        for text in ["Phase 3", "phase_3", "step-3", "STAGE3", "Phase 3: Build"] {
            assert_eq!(number(text).as_deref(), Some("3"), "{text}");
        }
        for text in ["3", "phase", "phase_3a", "3 little pigs", "phase3_build"] {
            assert_eq!(number(text), None, "{text}");
        }
    }

    #[test]
    fn a_text_may_hold_several_names() {
        assert_eq!(split_names("a, b,c", false), Some(vec![json!("a"), json!("b"), json!("c")]));
        assert_eq!(split_names("1 2 3", false), Some(vec![json!("1"), json!("2"), json!("3")]));
        assert_eq!(split_names("fetch build", true), Some(vec![json!("fetch"), json!("build")]));
        assert_eq!(split_names("All of them", false), None);
        assert_eq!(split_names("build", false), None);
    }
}
