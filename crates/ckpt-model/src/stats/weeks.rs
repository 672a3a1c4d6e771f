//! The trend: finished runs by week.

use std::collections::BTreeMap;

use chrono::DateTime;
use serde::{Deserialize, Serialize};

use super::distribution::Distribution;
use crate::checkpoint::WorkflowStatus;
use crate::time::Timestamp;

/// The most weeks of a trend; earlier ones are left out.
pub const MAX_WEEKS: usize = 26;
const DAY: i64 = 86_400;

/// One week of a trend.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WeekStats {
    /// Its Monday, in UTC: `2026-01-05`.
    pub starts_on: String,
    /// The runs that were completed in it.
    pub complete: u64,
    /// The runs that failed or were abandoned in it.
    pub given_up: u64,
    /// The median time of work of the completed ones.
    pub median_seconds: Option<u64>,
}

/// The weeks of a trend, by the number of weeks since 1970.
#[derive(Debug, Default)]
pub(super) struct Weeks(BTreeMap<i64, Week>);

#[derive(Debug, Default)]
struct Week {
    complete: u64,
    given_up: u64,
    seconds: Distribution,
}

impl Weeks {
    /// Counts a run that ended at a time and took so many seconds of work, if that is known.
    pub(super) fn add(&mut self, ended_at: Timestamp, status: WorkflowStatus, seconds: Option<u64>) {
        if status == WorkflowStatus::InProgress {
            return;
        }
        let week = self.0.entry(number(ended_at)).or_default();
        if status == WorkflowStatus::Complete {
            week.complete += 1;
            if let Some(seconds) = seconds {
                week.seconds.add(seconds);
            }
        } else {
            week.given_up += 1;
        }
        while self.0.len() > MAX_WEEKS {
            self.0.pop_first();
        }
    }

    /// Returns the last weeks without gaps, the newest last.
    pub(super) fn finish(&self) -> Vec<WeekStats> {
        let Some((newest, _)) = self.0.last_key_value() else { return Vec::new() };
        let span = i64::try_from(MAX_WEEKS).unwrap_or(i64::MAX);
        let first = self.0.keys().copied().find(|week| newest - week < span).unwrap_or(*newest);
        let nothing = Week::default();
        let week = |number: i64| {
            let week = self.0.get(&number).unwrap_or(&nothing);
            WeekStats {
                starts_on: monday(number),
                complete: week.complete,
                given_up: week.given_up,
                median_seconds: week.seconds.spread().map(|spread| spread.median),
            }
        };
        (first..=*newest).map(week).collect()
    }
}

/// Returns the number of a time's week. 1970-01-01 was a Thursday.
fn number(time: Timestamp) -> i64 {
    (time.to_chrono().timestamp().div_euclid(DAY) + 3).div_euclid(7)
}

fn monday(week: i64) -> String {
    let start = DateTime::from_timestamp((week * 7 - 3) * DAY, 0).unwrap_or_default();
    start.format("%Y-%m-%d").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(day: &str) -> Timestamp {
        Timestamp::parse(&format!("{day}T12:00:00Z")).unwrap()
    }

    #[test]
    fn weeks_begin_on_monday_and_have_no_gaps() {
        let mut weeks = Weeks::default();
        weeks.add(at("2026-01-04"), WorkflowStatus::Complete, Some(60));
        weeks.add(at("2026-01-19"), WorkflowStatus::Failed, None);
        weeks.add(at("2026-01-19"), WorkflowStatus::InProgress, None);
        let rows: Vec<_> =
            weeks.finish().into_iter().map(|week| (week.starts_on, week.complete, week.given_up)).collect();
        let row = |day: &str, complete, given_up| (day.to_owned(), complete, given_up);
        assert_eq!(
            rows,
            [row("2025-12-29", 1, 0), row("2026-01-05", 0, 0), row("2026-01-12", 0, 0), row("2026-01-19", 0, 1)]
        );
    }

    #[test]
    fn only_the_last_weeks_are_kept() {
        let mut weeks = Weeks::default();
        for year in 1900..2100 {
            weeks.add(at(&format!("{year}-06-01")), WorkflowStatus::Complete, None);
        }
        assert_eq!(weeks.0.len(), MAX_WEEKS);
        assert_eq!(weeks.finish().len(), 1, "the weeks of half a year, which has one run");
    }
}
