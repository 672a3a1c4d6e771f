//! Phases that are numbers: which there are when only some are mentioned.

use crate::core::phase::MAX_PHASES;
use crate::core::phase::PhaseId;

/// All phases of a numbered list, in order: from 0 or 1 to the highest that is mentioned, or to the total.
/// `None` if the mentioned ones are not all plain numbers, or beyond all limits.
pub(super) fn range<'a>(
    mentioned: impl IntoIterator<Item = &'a PhaseId>,
    total: Option<u64>,
) -> Option<Vec<PhaseId>> {
    let numbers: Option<Vec<u64>> = mentioned.into_iter().map(plain).collect();
    let numbers = numbers?;
    let first = u64::from(!numbers.contains(&0));
    let last = numbers.iter().copied().max();
    let declared =
        total.map(|total| first.saturating_add(total).saturating_sub(1)).filter(|_| total > Some(0));
    let last = last.max(declared)?;
    let count = usize::try_from(last.checked_sub(first)?).ok()?;
    (count < MAX_PHASES)
        .then(|| (first..=last).filter_map(|number| number.to_string().parse().ok()).collect())
}

/// The number that an id is, if it is written like one: `7`, not `07`.
pub(super) fn plain(id: &PhaseId) -> Option<u64> {
    let number: u64 = id.as_str().parse().ok()?;
    (number.to_string() == id.as_str()).then_some(number)
}

/// A phase as these systems write it: a number if it is one.
pub(super) fn to_json(id: &PhaseId) -> serde_json::Value {
    plain(id).map_or_else(|| id.as_str().into(), Into::into)
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
