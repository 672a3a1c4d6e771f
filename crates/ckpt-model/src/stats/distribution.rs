//! The distribution of durations, in memory that does not grow with their number.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// So many values are kept as they are.
const MAX_EXACT: usize = 512;
/// The bits of a value, below its highest one, that tell its bucket.
const BITS: u32 = 6;

/// The distribution of durations in seconds.
///
/// Up to 512 values the quartiles are exact. Above that, values are counted in buckets whose width is at most 1/64 of
/// their values, and the middle of a bucket is taken: a quartile is off by less than 1 %. The least, the greatest, the sum
/// and the count are always exact, and the order of the values does not matter.
#[derive(Debug, Clone, Default)]
pub struct Distribution {
    count: u64,
    sum: u64,
    least: Option<u64>,
    greatest: Option<u64>,
    exact: Vec<u64>,
    /// The number of values by bucket; empty while all of them are kept.
    buckets: BTreeMap<u32, u64>,
}

/// The figures of a distribution, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spread {
    /// How many values there are.
    pub count: u64,
    /// A quarter of the values is lower.
    pub lower_quartile: u64,
    /// Half of the values is lower.
    pub median: u64,
    /// A quarter of the values is higher.
    pub upper_quartile: u64,
    /// The highest value.
    pub slowest: u64,
    /// All values together.
    pub total: u64,
}

impl Distribution {
    /// Adds a value.
    pub fn add(&mut self, value: u64) {
        self.count += 1;
        self.sum = self.sum.saturating_add(value);
        self.least = Some(self.least.map_or(value, |least| least.min(value)));
        self.greatest = self.greatest.max(Some(value));
        if self.buckets.is_empty() {
            self.exact.push(value);
            if self.exact.len() > MAX_EXACT {
                for value in std::mem::take(&mut self.exact) {
                    *self.buckets.entry(bucket(value)).or_default() += 1;
                }
            }
        } else {
            *self.buckets.entry(bucket(value)).or_default() += 1;
        }
    }

    /// Returns the figures; none without values.
    #[must_use]
    pub fn spread(&self) -> Option<Spread> {
        let (least, greatest) = (self.least?, self.greatest?);
        let mut sorted = self.exact.clone();
        sorted.sort_unstable();
        let quartile = |quarters: u64| {
            let rank = (self.count - 1) * quarters / 4;
            let kept = usize::try_from(rank).ok().and_then(|rank| sorted.get(rank)).copied();
            kept.unwrap_or_else(|| self.in_buckets(rank).clamp(least, greatest))
        };
        Some(Spread {
            count: self.count,
            lower_quartile: quartile(1),
            median: quartile(2),
            upper_quartile: quartile(3),
            slowest: greatest,
            total: self.sum,
        })
    }

    /// Returns about the value of that rank, counted from 0.
    fn in_buckets(&self, rank: u64) -> u64 {
        let mut below = 0;
        for (bucket, count) in &self.buckets {
            below += count;
            if below > rank {
                return middle(*bucket);
            }
        }
        u64::MAX
    }
}

/// Returns the bucket of a value: small values have one each, and each power of two is divided into 64.
fn bucket(value: u64) -> u32 {
    let shift = (u64::BITS - value.leading_zeros()).saturating_sub(BITS + 1);
    let step = u32::try_from(value >> shift).unwrap_or(u32::MAX);
    (shift << BITS) + step
}

/// Returns the value in the middle of a bucket.
fn middle(bucket: u32) -> u64 {
    let shift = (bucket >> BITS).saturating_sub(1);
    let step = u64::from(bucket - (shift << BITS));
    (step << shift) + (1 << shift) / 2
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn spread(values: &[u64]) -> Spread {
        let mut distribution = Distribution::default();
        values.iter().for_each(|value| distribution.add(*value));
        distribution.spread().unwrap()
    }

    #[test]
    fn few_values_are_exact() {
        assert_eq!(
            spread(&[50, 10, 40, 20, 30]),
            Spread { count: 5, lower_quartile: 20, median: 30, upper_quartile: 40, slowest: 50, total: 150 }
        );
        assert_eq!(spread(&[7]).median, 7);
        assert_eq!(Distribution::default().spread(), None);
    }

    #[test]
    fn a_bucket_holds_its_own_middle() {
        for value in (0..200).chain([1 << 20, (1 << 20) + 1, u64::MAX / 3, u64::MAX]) {
            assert_eq!(bucket(middle(bucket(value))), bucket(value), "{value}");
        }
    }

    #[test]
    fn memory_does_not_grow_with_the_values() {
        let mut distribution = Distribution::default();
        (0..200_000_u64).for_each(|n| distribution.add(n * 7919 % 1_000_000));
        assert!(distribution.exact.is_empty() && distribution.buckets.len() < 1200);
    }

    proptest! {
        #[test]
        fn quartiles_of_many_values_are_within_one_percent(
            values in proptest::collection::vec(0..4_000_000_u64, 1..2000),
        ) {
            let found = spread(&values);
            let mut sorted = values;
            sorted.sort_unstable();
            let exact = |quarters: usize| sorted[(sorted.len() - 1) * quarters / 4];
            for (found, exact) in
                [(found.lower_quartile, exact(1)), (found.median, exact(2)), (found.upper_quartile, exact(3))]
            {
                prop_assert!(found.abs_diff(exact) * 100 <= exact, "{found} for {exact}");
            }
            prop_assert_eq!(found.slowest, *sorted.last().unwrap());
        }
    }
}
