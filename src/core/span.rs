//! Lengths of time as people write them: `7d`, `36h`, `1d12h`, `"2 weeks"`.
//!
//! A [`Span`] is a whole number of seconds, at most [`Span::MAX`]. The limit keeps sums of spans and
//! timestamps far away from overflow, so callers may add them without a second thought.
//!
//! # Grammar
//!
//! One or more parts, each a whole number and a unit; the units strictly descend, so each appears at most
//! once. Spaces may stand around and between all of these.
//!
//! Units are `w`, `d`, `h`, `min` and `s`, or their English words in lower case, such as `hrs` and `hours`.
//!
//! # Limitations
//!
//! A day is always 24 hours: there is no calendar here, hence neither months nor years. `m` is refused rather
//! than guessed, because a retention rule that takes months for minutes destroys data. Zero is a legal span;
//! whether it makes sense is for the caller to decide.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// Holds a length of time in whole seconds, at most [`Span::MAX`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(u64);

impl Span {
    /// The longest span: 36500 days, about a century.
    pub const MAX: Self = Self(36_500 * DAY);

    /// Makes a span of so many seconds; more than [`Span::MAX`] becomes [`Span::MAX`].
    #[must_use]
    pub const fn from_seconds(count: u64) -> Self {
        Self::saturating(count, 1)
    }

    /// Makes a span of so many minutes; more than [`Span::MAX`] becomes [`Span::MAX`].
    #[must_use]
    pub const fn from_minutes(count: u64) -> Self {
        Self::saturating(count, MINUTE)
    }

    /// Makes a span of so many hours; more than [`Span::MAX`] becomes [`Span::MAX`].
    #[must_use]
    pub const fn from_hours(count: u64) -> Self {
        Self::saturating(count, HOUR)
    }

    /// Makes a span of so many days; more than [`Span::MAX`] becomes [`Span::MAX`].
    #[must_use]
    pub const fn from_days(count: u64) -> Self {
        Self::saturating(count, DAY)
    }

    /// Returns the length in seconds.
    #[must_use]
    pub const fn seconds(self) -> u64 {
        self.0
    }

    /// Converts to the type that the standard library computes with.
    #[must_use]
    pub const fn to_duration(self) -> Duration {
        Duration::from_secs(self.0)
    }

    const fn saturating(count: u64, unit: u64) -> Self {
        let seconds = count.saturating_mul(unit);
        if seconds > Self::MAX.0 { Self::MAX } else { Self(seconds) }
    }
}

/// A span in a settings file, written as text.
#[derive(Debug, Clone, Copy, serde::Deserialize)]
#[serde(try_from = "String")]
pub(super) struct SpanEntry(pub(super) Span);

impl TryFrom<String> for SpanEntry {
    type Error = SpanError;

    fn try_from(text: String) -> Result<Self, SpanError> {
        text.parse().map(Self)
    }
}

/// Says why a text is not a span, and what to write instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SpanError {
    /// There is nothing but spaces.
    #[error("the duration is empty: write a number and a unit, such as `7d`")]
    Empty,
    /// A number stands alone.
    #[error("`{number}` has no unit: add a unit: `{number}d`")]
    MissingUnit {
        /// The number as written.
        number: String,
    },
    /// A unit stands alone.
    #[error("`{unit}` has no number: write one before it, such as `1{unit}`")]
    MissingNumber {
        /// The word as written.
        unit: String,
    },
    /// A part starts with a sign.
    #[error("a duration has no sign: remove the `{sign}`")]
    Sign {
        /// The sign as written.
        sign: char,
    },
    /// A number has a decimal point or a comma.
    #[error(
        "only whole numbers are allowed, found `{number}{mark}`: use a smaller unit, `1d12h` for a day and a half"
    )]
    Fraction {
        /// The digits before the mark.
        number: String,
        /// The decimal point or comma.
        mark: char,
    },
    /// The unit is `m`, which people use for two very different things.
    #[error("`{number}{unit}`: minutes or months? write `{number}min`; months are not supported, write days")]
    MinutesOrMonths {
        /// The number as written.
        number: String,
        /// `m` or `M`.
        unit: String,
    },
    /// The unit's length depends on the calendar.
    #[error("`{unit}` is not supported because its length varies: write days, such as `{instead}`")]
    Calendar {
        /// The unit as written.
        unit: String,
        /// An example of the usual replacement.
        instead: &'static str,
    },
    /// A unit appears twice.
    #[error("`{unit}` appears twice: add the two numbers up")]
    Repeated {
        /// The short name of the unit.
        unit: &'static str,
    },
    /// A larger unit follows a smaller one.
    #[error("`{unit}` comes after `{previous}`: write the larger unit first, such as `1{unit}1{previous}`")]
    OutOfOrder {
        /// The short name of the unit that comes too late.
        unit: &'static str,
        /// The short name of the unit before it.
        previous: &'static str,
    },
    /// A word is no unit.
    #[error("`{unit}` is not a unit: use s, min, h, d or w")]
    UnknownUnit {
        /// The word as written.
        unit: String,
    },
    /// A character has no place in a duration.
    #[error("unexpected `{}`: write numbers and units only, such as `1d12h`", .found.escape_debug())]
    Unexpected {
        /// The character.
        found: char,
    },
    /// The sum is larger than [`Span::MAX`].
    #[error("the duration is too long: the longest is `36500d`")]
    TooLong,
}

struct Unit {
    name: &'static str,
    seconds: u64,
    spellings: &'static [&'static str],
}

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;
const WEEK: u64 = 7 * DAY;

/// The units from the largest to the smallest, the order in which a duration names them.
#[rustfmt::skip]
const UNITS: [Unit; 5] = [
    Unit { name: "w", seconds: WEEK, spellings: &["w", "week", "weeks"] },
    Unit { name: "d", seconds: DAY, spellings: &["d", "day", "days"] },
    Unit { name: "h", seconds: HOUR, spellings: &["h", "hr", "hrs", "hour", "hours"] },
    Unit { name: "min", seconds: MINUTE, spellings: &["min", "mins", "minute", "minutes"] },
    Unit { name: "s", seconds: 1, spellings: &["s", "sec", "secs", "second", "seconds"] },
];

/// Finds the place of a unit in [`UNITS`]; the number before it only serves the error message.
fn find_unit(number: &str, word: &str) -> Result<usize, SpanError> {
    UNITS.iter().position(|unit| unit.spellings.contains(&word)).ok_or_else(|| match word {
        "m" | "M" => SpanError::MinutesOrMonths { number: clip(number), unit: clip(word) },
        "mo" | "mos" | "mon" | "month" | "months" => SpanError::Calendar { unit: clip(word), instead: "30d" },
        "y" | "yr" | "yrs" | "year" | "years" => SpanError::Calendar { unit: clip(word), instead: "365d" },
        _ => SpanError::UnknownUnit { unit: clip(word) },
    })
}

impl FromStr for Span {
    type Err = SpanError;

    fn from_str(text: &str) -> Result<Self, SpanError> {
        let mut rest = text.trim_matches(' ');
        if rest.is_empty() {
            return Err(SpanError::Empty);
        }
        let mut total = 0_u64;
        let mut seen: Vec<usize> = Vec::new();
        while !rest.is_empty() {
            let (number, after_number) = split_while(rest, |c| c.is_ascii_digit());
            if number.is_empty() {
                return Err(missing_number(rest));
            }
            if let Some(mark @ ('.' | ',')) = after_number.chars().next() {
                return Err(SpanError::Fraction { number: clip(number), mark });
            }
            let after_number = after_number.trim_start_matches(' ');
            let (word, after_word) = split_while(after_number, char::is_alphabetic);
            if word.is_empty() {
                return Err(missing_unit(number, after_number));
            }
            let place = find_unit(number, word)?;
            let unit = &UNITS[place];
            if seen.contains(&place) {
                return Err(SpanError::Repeated { unit: unit.name });
            }
            if let Some(previous) = seen.last().filter(|previous| **previous > place) {
                return Err(SpanError::OutOfOrder { unit: unit.name, previous: UNITS[*previous].name });
            }
            seen.push(place);
            // Digits only, so the one way for this to fail is a number beyond 64 bits.
            let count: u64 = number.parse().map_err(|_| SpanError::TooLong)?;
            total = count
                .checked_mul(unit.seconds)
                .and_then(|seconds| total.checked_add(seconds))
                .filter(|total| *total <= Self::MAX.0)
                .ok_or(SpanError::TooLong)?;
            rest = after_word.trim_start_matches(' ');
        }
        Ok(Self(total))
    }
}

/// Writes the canonical form, which parses back to the same span.
///
/// Weeks appear only as a whole number of at least two, because people think of `7d` and `30d` in days and
/// `4w2d` helps nobody; everything else is days, hours, minutes and seconds without the zero parts.
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

/// Formats a measured duration for a table: `45s`, `3m 00s`, `2h 05m`, `3d 04h`.
///
/// Two neighbouring units at most; what is smaller is cut off, not rounded. The result is for people only:
/// its `m` is exactly what [`Span`] refuses to read.
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

/// Formats an age in one unit: `just now`, `12 minutes ago`, `1 hour ago`, `5 weeks ago`.
///
/// Days go up to 13 and weeks up to 104, since a unit says little before there are two of it; beyond that
/// come years of 365 days.
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

fn split_while(text: &str, accept: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(|c| !accept(c)).unwrap_or(text.len()))
}

/// Explains what stands where a number should.
fn missing_number(rest: &str) -> SpanError {
    let (word, _) = split_while(rest, char::is_alphabetic);
    match rest.chars().next() {
        Some(sign @ ('+' | '-' | '\u{2212}')) => SpanError::Sign { sign },
        Some(mark @ ('.' | ',')) if rest[1..].starts_with(|c: char| c.is_ascii_digit()) => {
            SpanError::Fraction { number: String::new(), mark }
        }
        Some(found) if word.is_empty() => SpanError::Unexpected { found },
        Some(_) => match find_unit("1", word) {
            Ok(_) => SpanError::MissingNumber { unit: clip(word) },
            Err(error) => error,
        },
        None => SpanError::Empty,
    }
}

/// Explains what stands where a unit should.
fn missing_unit(number: &str, rest: &str) -> SpanError {
    match rest.chars().next() {
        Some(found) if !found.is_ascii_digit() => SpanError::Unexpected { found },
        _ => SpanError::MissingUnit { number: clip(number) },
    }
}

/// Shortens what an error message repeats, so that a huge argument does not become a huge message.
fn clip(text: &str) -> String {
    const LONGEST: usize = 24;
    match text.char_indices().nth(LONGEST) {
        Some((cut, _)) => format!("{}...", &text[..cut]),
        None => text.to_owned(),
    }
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
        let cases: &[(&str, &str)] = &[
            ("", "the duration is empty: write a number and a unit, such as `7d`"),
            ("   ", "the duration is empty: write a number and a unit, such as `7d`"),
            ("7", "`7` has no unit: add a unit: `7d`"),
            ("1d12", "`12` has no unit: add a unit: `12d`"),
            ("1 2d", "`1` has no unit: add a unit: `1d`"),
            ("-7d", "a duration has no sign: remove the `-`"),
            ("+7d", "a duration has no sign: remove the `+`"),
            ("1d -2h", "a duration has no sign: remove the `-`"),
            ("\u{2212}7d", "a duration has no sign: remove the `\u{2212}`"),
            (
                "1.5d",
                "only whole numbers are allowed, found `1.`: use a smaller unit, `1d12h` for a day and a half",
            ),
            (
                ".5d",
                "only whole numbers are allowed, found `.`: use a smaller unit, `1d12h` for a day and a half",
            ),
            (
                "1,5d",
                "only whole numbers are allowed, found `1,`: use a smaller unit, `1d12h` for a day and a half",
            ),
            ("5m", "`5m`: minutes or months? write `5min`; months are not supported, write days"),
            ("5 M", "`5M`: minutes or months? write `5min`; months are not supported, write days"),
            ("1h5m", "`5m`: minutes or months? write `5min`; months are not supported, write days"),
            ("3 months", "`months` is not supported because its length varies: write days, such as `30d`"),
            ("3mo", "`mo` is not supported because its length varies: write days, such as `30d`"),
            ("1y", "`y` is not supported because its length varies: write days, such as `365d`"),
            ("2 years", "`years` is not supported because its length varies: write days, such as `365d`"),
            ("1d1d", "`d` appears twice: add the two numbers up"),
            ("1d2h3day", "`d` appears twice: add the two numbers up"),
            ("1h1d", "`d` comes after `h`: write the larger unit first, such as `1d1h`"),
            ("7D", "`D` is not a unit: use s, min, h, d or w"),
            ("5ms", "`ms` is not a unit: use s, min, h, d or w"),
            ("5 fortnights", "`fortnights` is not a unit: use s, min, h, d or w"),
            ("d", "`d` has no number: write one before it, such as `1d`"),
            ("1h min", "`min` has no number: write one before it, such as `1min`"),
            ("forever", "`forever` is not a unit: use s, min, h, d or w"),
            ("1d, 2h", "unexpected `,`: write numbers and units only, such as `1d12h`"),
            ("7\td", "unexpected `\\t`: write numbers and units only, such as `1d12h`"),
            ("7d\n", "unexpected `\\n`: write numbers and units only, such as `1d12h`"),
            ("7\u{202e}d", "unexpected `\\u{202e}`: write numbers and units only, such as `1d12h`"),
            ("\u{667}d", "unexpected `\u{667}`: write numbers and units only, such as `1d12h`"),
            ("36501d", "the duration is too long: the longest is `36500d`"),
            ("36500d1s", "the duration is too long: the longest is `36500d`"),
            ("18446744073709551615w", "the duration is too long: the longest is `36500d`"),
            ("99999999999999999999999s", "the duration is too long: the longest is `36500d`"),
        ];
        for (text, message) in cases {
            let error = text.parse::<Span>().expect_err(text);
            assert_eq!(error.to_string(), *message, "{text:?}");
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
        assert_eq!(Span::from_days(1), Span::from_hours(24));
        assert_eq!(Span::from_minutes(1), Span::from_seconds(60));
        assert_eq!(Span::from_seconds(90).to_duration(), Duration::from_secs(90));
        assert_eq!(Span::from_days(36_500), Span::MAX);
        for make in [Span::from_seconds, Span::from_minutes, Span::from_hours, Span::from_days] {
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
