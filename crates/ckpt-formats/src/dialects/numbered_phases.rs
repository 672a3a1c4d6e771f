//! Phases whose ids are numbers: completing a list of which only some are mentioned.

use serde_json::Value;

use super::phase_list::phase_id;
use super::read_log::ReadLog;
use ckpt_model::phase::{MAX_PHASES, PhaseId};

/// Returns all phases of a numbered list: from 0 or 1 to the highest number that is mentioned, or to the total.
/// `None` if not all ids are plain numbers, or if the list is longer than a checkpoint may have.
pub(super) fn range<'a>(mentioned: impl IntoIterator<Item = &'a PhaseId>, total: Option<u64>) -> Option<Vec<PhaseId>> {
    let numbers: Vec<u64> = mentioned.into_iter().map(number_of).collect::<Option<_>>()?;
    let first = u64::from(!numbers.contains(&0));
    let highest = numbers.iter().copied().max();
    let last_of_total = match total {
        None | Some(0) => None,
        Some(total) => Some(first.saturating_add(total).saturating_sub(1)),
    };
    let last = highest.max(last_of_total)?;
    let length = usize::try_from(last.checked_sub(first)?).ok()?;
    if length >= MAX_PHASES {
        return None;
    }
    Some((first..=last).filter_map(|number| number.to_string().parse().ok()).collect())
}

/// Returns the number that an id is, in its normal form: `7`, not `07`.
pub(super) fn number_of(id: &PhaseId) -> Option<u64> {
    let number: u64 = id.as_str().parse().ok()?;
    (number.to_string() == id.as_str()).then_some(number)
}

/// Writes an id as a JSON number if it is one.
pub(super) fn to_json(id: &PhaseId) -> Value {
    number_of(id).map_or_else(|| id.as_str().into(), Into::into)
}

/// Parses the id of a phase; `phase_3` is 3. A value that is no id is a finding.
pub(super) fn logged_phase_id(value: &Value, place: &str, log: &mut ReadLog<'_>) -> Option<PhaseId> {
    log.phase_id(value, place).map(without_prefix)
}

/// Parses the id of a phase without a finding.
pub(super) fn parse_phase_id(value: &Value) -> Option<PhaseId> {
    phase_id(value).map(without_prefix)
}

/// Returns the number in `phase_3`, `Phase 3` or `phase-3`; any other id as it is.
fn without_prefix(id: PhaseId) -> PhaseId {
    if let Some((prefix, rest)) = id.as_str().split_at_checked("phase".len())
        && prefix.eq_ignore_ascii_case("phase")
        && let Ok(number) = rest.trim_start_matches([' ', '_', '-']).parse()
        && number_of(&number).is_some()
    {
        return number;
    }
    id
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(texts: &[&str]) -> Vec<PhaseId> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn gaps_are_filled_and_the_total_counts() {
        assert_eq!(range(&ids(&["1", "2", "4"]), Some(5)), Some(ids(&["1", "2", "3", "4", "5"])));
        assert_eq!(range(&ids(&["0", "1"]), Some(3)), Some(ids(&["0", "1", "2"])));
        assert_eq!(range(&ids(&["2"]), None), Some(ids(&["1", "2"])));
        assert_eq!(range(&ids(&["7"]), Some(5)), Some(ids(&["1", "2", "3", "4", "5", "6", "7"])));
        assert_eq!(range(&ids(&[]), Some(2)), Some(ids(&["1", "2"])));
        assert_eq!(range(&ids(&[]), None), None);
        assert_eq!(range(&ids(&[]), Some(0)), None);
        assert_eq!(range(&ids(&["1", "3A"]), Some(5)), None);
        assert_eq!(range(&ids(&["06"]), None), None);
        assert_eq!(range(&ids(&["18446744073709551615"]), None), None);
        assert_eq!(range(&[], Some(u64::MAX)), None);
    }
}
