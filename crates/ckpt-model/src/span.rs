//! Lengths of time as people write them: `7d`, `36h`, `1d12h`, `"2 weeks"`.
//!
//! A span is one or more parts, each a whole number and a unit, the larger unit first. Spaces are allowed between them.
//! Units are `w`, `d`, `h`, `min` and `s`, or their English words in lower case, such as `hrs` and `hours`.
//!
//! A day has 24 hours. Months and years are rejected because their length varies, and so is `m`: a retention rule that
//! took months for minutes would delete data.

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;

/// A length of time in whole seconds, at most [`Span::MAX`], so that sums of spans and timestamps cannot overflow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(try_from = "String")]
pub struct Span(u64);

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;
const WEEK: u64 = 7 * DAY;

impl Span {
    /// The longest span: 36500 days, about a century.
    pub const MAX: Self = Self(36_500 * DAY);

    /// Returns a span of this many minutes, at most [`Span::MAX`].
    #[must_use]
    pub const fn from_minutes(count: u64) -> Self {
        let seconds = count.saturating_mul(MINUTE);
        if seconds > Self::MAX.0 { Self::MAX } else { Self(seconds) }
    }

    /// Returns a span of this many days, at most [`Span::MAX`].
    #[must_use]
    pub const fn from_days(count: u64) -> Self {
        Self::from_minutes(count.saturating_mul(DAY / MINUTE))
    }

    /// Returns the length in seconds.
    #[must_use]
    pub const fn seconds(self) -> u64 {
        self.0
    }
}

/// A text that is not a span: what is wrong, and what to write instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidSpan(String);

struct Unit {
    name: &'static str,
    seconds: u64,
    spellings: &'static [&'static str],
}

/// The units, largest first.
#[rustfmt::skip]
const UNITS: [Unit; 5] = [
    Unit { name: "w", seconds: WEEK, spellings: &["w", "week", "weeks"] },
    Unit { name: "d", seconds: DAY, spellings: &["d", "day", "days"] },
    Unit { name: "h", seconds: HOUR, spellings: &["h", "hr", "hrs", "hour", "hours"] },
    Unit { name: "min", seconds: MINUTE, spellings: &["min", "mins", "minute", "minutes"] },
    Unit { name: "s", seconds: 1, spellings: &["s", "sec", "secs", "second", "seconds"] },
];

impl TryFrom<String> for Span {
    type Error = InvalidSpan;

    fn try_from(text: String) -> Result<Self, InvalidSpan> {
        text.parse()
    }
}

impl FromStr for Span {
    type Err = InvalidSpan;

    fn from_str(text: &str) -> Result<Self, InvalidSpan> {
        parse(text).map(Self).map_err(InvalidSpan)
    }
}

fn parse(text: &str) -> Result<u64, String> {
    let too_long = || "the duration is too long: the longest is `36500d`".to_owned();
    let invalid = || {
        let shown = clip(&text.escape_debug().to_string());
        format!("`{shown}` is not a duration: write numbers and units, the larger first, such as `7d` or `1d12h`")
    };
    let mut rest = text.trim_matches(' ');
    if rest.is_empty() {
        return Err("the duration is empty: write a number and a unit, such as `7d`".to_owned());
    }
    let mut total = 0_u64;
    // A unit is used once, and after the larger ones.
    let mut units = UNITS.iter();
    while !rest.is_empty() {
        let (number, after_number) = split_while(rest, |c| c.is_ascii_digit());
        let (word, after_word) = split_while(after_number.trim_start_matches(' '), char::is_alphabetic);
        if number.is_empty() && word.is_empty() || word.is_empty() && !after_word.is_empty() {
            return Err(invalid());
        }
        if word.is_empty() {
            let number = clip(number);
            return Err(format!("`{number}` has no unit: add a unit: `{number}d`"));
        }
        check_unit(number, word)?;
        let unit = units.find(|unit| unit.spellings.contains(&word)).ok_or_else(invalid)?;
        if number.is_empty() {
            return Err(invalid());
        }
        let count: u64 = number.parse().map_err(|_| too_long())?;
        total = count.saturating_mul(unit.seconds).saturating_add(total);
        if total > Span::MAX.0 {
            return Err(too_long());
        }
        rest = after_word.trim_start_matches(' ');
    }
    Ok(total)
}

/// Refuses a word that is not a unit. The number is only for the error message.
fn check_unit(number: &str, word: &str) -> Result<(), String> {
    if UNITS.iter().any(|unit| unit.spellings.contains(&word)) {
        return Ok(());
    }
    let (number, shown) = (clip(number), clip(word));
    Err(match word {
        "m" | "M" => {
            format!("`{number}{shown}`: minutes or months? write `{number}min`; months are not supported, write days")
        }
        _ => format!("`{shown}` is not a unit: use s, min, h, d or w"),
    })
}

/// Shortens a text for an error message.
fn clip(text: &str) -> String {
    const LONGEST: usize = 24;
    match text.char_indices().nth(LONGEST) {
        Some((cut, _)) => format!("{}...", &text[..cut]),
        None => text.to_owned(),
    }
}

fn split_while(text: &str, accept: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(|c| !accept(c)).unwrap_or(text.len()))
}

/// Writes a form that parses back to the same span. Weeks are used only for two or more whole weeks: `7d` and `30d` are
/// easier to read than `1w` and `4w2d`.
impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 {
            return f.write_str("0s");
        }
        if self.0 > WEEK && self.0.is_multiple_of(WEEK) {
            return write!(f, "{}w", self.0 / WEEK);
        }
        let mut rest = self.0;
        for unit in &UNITS[1..] {
            let count = rest / unit.seconds;
            rest %= unit.seconds;
            if count > 0 {
                write!(f, "{count}{}", unit.name)?;
            }
        }
        Ok(())
    }
}

/// Formats a measured duration for people, in at most two units, rounded down: `45s`, `3m 00s`, `2h 05m`, `3d 04h`.
/// The result does not parse as a [`Span`], which rejects `m`.
#[must_use]
pub fn humane(seconds: u64) -> String {
    let (minutes, hours, days) = (seconds / MINUTE, seconds / HOUR, seconds / DAY);
    if days > 0 {
        format!("{days}d {:02}h", hours % 24)
    } else if hours > 0 {
        format!("{hours}h {:02}m", minutes % 60)
    } else if minutes > 0 {
        format!("{minutes}m {:02}s", seconds % 60)
    } else {
        format!("{seconds}s")
    }
}

/// Formats an age in one unit: `just now`, `12 minutes ago`, `1 hour ago`, `5 weeks ago`. Days go up to 13, weeks up to
/// 104, and a year has 365 days.
#[must_use]
pub fn ago(seconds: u64) -> String {
    let (count, unit) = match seconds {
        0..5 => return "just now".to_owned(),
        5..MINUTE => (seconds, "second"),
        MINUTE..HOUR => (seconds / MINUTE, "minute"),
        HOUR..DAY => (seconds / HOUR, "hour"),
        _ => match seconds / DAY {
            days @ ..14 => (days, "day"),
            days @ 14..730 => (days / 7, "week"),
            days => (days / 365, "year"),
        },
    };
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {unit}{plural} ago")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_every_spelling() {
        let cases: &[(&str, u64)] = &[
            ("7d", 7 * DAY),
            ("36h", 36 * 3600),
            ("2w", 14 * DAY),
            ("90min", 5400),
            ("1d12h", 36 * 3600),
            ("2 weeks", 14 * DAY),
            ("1 week", 7 * DAY),
            ("1 day 12 hours", 36 * 3600),
            ("  1w2d3h4min5s  ", 9 * DAY + 3 * 3600 + 4 * 60 + 5),
            ("1 w 2   d", 9 * DAY),
            ("1minutes", 60),
            ("2mins", 120),
            ("3 minute", 180),
            ("1hr", 3600),
            ("2hrs", 7200),
            ("5 hour", 5 * 3600),
            ("1sec", 1),
            ("2secs", 2),
            ("3second", 3),
            ("4 seconds", 4),
            ("0d", 0),
            ("0s", 0),
            ("007d", 7 * DAY),
            ("36500d", 36_500 * DAY),
        ];
        for (text, seconds) in cases {
            assert_eq!(text.parse(), Ok(Span(*seconds)), "{text:?}");
        }
    }

    #[test]
    fn refuses_and_names_the_fix() {
        let cases: &[(&[&str], &str)] = &[
            (&["", "   "], "the duration is empty: write a number and a unit, such as `7d`"),
            (&["7", "1d7"], "`7` has no unit: add a unit: `7d`"),
            (&["5m", "5 M", "1h5m"], ": minutes or months? write `5min`; months are not supported, write days"),
            (&["3 months", "3mo", "2 years", "7D", "5ms", "forever"], "is not a unit: use s, min, h, d or w"),
            (&["36501d", "36500d1s", "18446744073709551615w"], "too long: the longest is `36500d`"),
            (&["-7d", "+7d", "1d -2h", "\u{2212}7d", "1.5d", ".5d", "1,5d", "1d, 2h"], "is not a duration"),
            (&["1d1d", "1d2h3day", "1h1d", "d", "1h min", "1 2d"], "is not a duration"),
            (&["7\td", "7d\n", "7\u{202e}d", "\u{667}d"], "is not a duration"),
            (&["7\td"], "`7\\td` is not a duration: write numbers and units, the larger first"),
        ];
        for (texts, message) in cases {
            for text in *texts {
                let error = text.parse::<Span>().expect_err(text).to_string();
                assert!(error.contains(message), "{text:?}: {error}");
            }
        }
    }

    #[test]
    fn a_huge_argument_does_not_become_a_huge_message() {
        for text in ["9".repeat(100_000), "x".repeat(100_000), format!("1{}", "\u{e9}".repeat(50_000))] {
            let error = text.parse::<Span>().expect_err("not a duration");
            assert!(error.to_string().len() < 200);
        }
    }

    #[test]
    fn shows_the_canonical_form() {
        let cases: &[(&str, &str)] = &[
            ("7d", "7d"),
            ("1w", "7d"),
            ("2w", "2w"),
            ("14d", "2w"),
            ("15d", "15d"),
            ("30 days", "30d"),
            ("36h", "1d12h"),
            ("90min", "1h30min"),
            ("3600s", "1h"),
            ("86399s", "23h59min59s"),
            ("0w", "0s"),
            ("36500d", "36500d"),
        ];
        for (text, shown) in cases {
            assert_eq!(text.parse::<Span>().expect(text).to_string(), *shown);
        }
    }

    #[test]
    fn constructors_stop_at_the_limit() {
        assert_eq!(Span::from_days(1), Span::from_minutes(24 * 60));
        assert_eq!(Span::from_days(36_500), Span::MAX);
        for make in [Span::from_minutes, Span::from_days] {
            assert_eq!(make(u64::MAX), Span::MAX);
        }
    }

    #[test]
    fn shows_measured_durations() {
        let cases: &[(u64, &str)] = &[
            (0, "0s"),
            (45, "45s"),
            (59, "59s"),
            (60, "1m 00s"),
            (180, "3m 00s"),
            (320, "5m 20s"),
            (575, "9m 35s"),
            (3599, "59m 59s"),
            (7500, "2h 05m"),
            (DAY - 1, "23h 59m"),
            (3 * DAY + 4 * 3600 + 59, "3d 04h"),
            (u64::MAX, "213503982334601d 07h"),
        ];
        for (seconds, shown) in cases {
            assert_eq!(humane(*seconds), *shown);
        }
    }

    #[test]
    fn shows_ages() {
        let cases: &[(u64, &str)] = &[
            (0, "just now"),
            (4, "just now"),
            (5, "5 seconds ago"),
            (59, "59 seconds ago"),
            (60, "1 minute ago"),
            (12 * 60 + 59, "12 minutes ago"),
            (3600, "1 hour ago"),
            (DAY - 1, "23 hours ago"),
            (DAY, "1 day ago"),
            (3 * DAY, "3 days ago"),
            (14 * DAY - 1, "13 days ago"),
            (14 * DAY, "2 weeks ago"),
            (36 * DAY, "5 weeks ago"),
            (730 * DAY - 1, "104 weeks ago"),
            (730 * DAY, "2 years ago"),
            (u64::MAX, "584942417355 years ago"),
        ];
        for (seconds, shown) in cases {
            assert_eq!(ago(*seconds), *shown);
        }
    }

    proptest! {
        #[test]
        fn what_is_shown_parses_back(seconds in 0..=Span::MAX.0) {
            let span = Span(seconds);
            prop_assert_eq!(span.to_string().parse(), Ok(span));
        }

        #[test]
        fn nothing_panics(text in any::<String>(), near in "[0-9 .,+-]{0,4}[a-zA-Z]{0,4}[0-9 ]{0,25}[a-z]{0,8}") {
            for text in [text, near] {
                if let Ok(span) = text.parse::<Span>() {
                    prop_assert!(span <= Span::MAX);
                }
            }
        }
    }
}
