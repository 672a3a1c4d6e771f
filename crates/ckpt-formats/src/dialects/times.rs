//! Parsing times in the formats that people and programs use.

use std::time::Duration;

use chrono::{DateTime, NaiveDate, NaiveDateTime, TimeDelta, Utc};
use serde_json::Value;

use ckpt_model::phase::Phase;
use ckpt_model::time::Timestamp;

/// The result of parsing a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ParsedTime {
    /// A point in time.
    At(Timestamp),
    /// A point in time under an assumption.
    Assumed(Timestamp, Assumption),
    /// A value that is not a plausible time.
    Unreadable,
    /// Null or a blank text.
    Absent,
}

/// An assumption that was needed to interpret a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Assumption {
    /// There is no time zone; UTC is assumed.
    Zone,
    /// There is only a date; midnight UTC is assumed.
    Midnight,
}

impl Assumption {
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Zone => "names no time zone; it is taken as UTC",
            Self::Midnight => "is a date only; it is taken as midnight UTC",
        }
    }
}

impl ParsedTime {
    /// Parses RFC 3339 with any offset, the same without a zone or with `UTC` behind it, a date, `20251003_184530`, and
    /// seconds or milliseconds since 1970 as a number or text.
    pub(super) fn parse(value: &Value) -> Self {
        match value {
            Value::Null => Self::Absent,
            Value::String(text) if text.trim().is_empty() => Self::Absent,
            Value::String(text) => Self::from_text(text.trim()),
            Value::Number(number) => parse_epoch(&number.to_string()),
            _ => Self::Unreadable,
        }
    }

    /// Returns the point in time, if there is one.
    pub(super) fn timestamp(self) -> Option<Timestamp> {
        match self {
            Self::At(time) | Self::Assumed(time, _) => Some(time),
            Self::Unreadable | Self::Absent => None,
        }
    }

    fn from_text(text: &str) -> Self {
        if let Ok(time) = DateTime::parse_from_rfc3339(text) {
            return plausible(time.with_timezone(&Utc)).map_or(Self::Unreadable, Self::At);
        }
        // `+0100`, and a blank before the offset, are not RFC 3339, but common.
        for format in ["%Y-%m-%dT%H:%M:%S%.f%z", "%Y-%m-%d %H:%M:%S%.f %z", "%Y-%m-%d %H:%M:%S%.f%z"] {
            if let Ok(time) = DateTime::parse_from_str(text, format) {
                return plausible(time.with_timezone(&Utc)).map_or(Self::Unreadable, Self::At);
            }
        }
        let without_zone = ["UTC", "GMT", "Z"].iter().find_map(|zone| text.strip_suffix(zone));
        if let Some(time) = parse_without_zone(without_zone.unwrap_or(text).trim_end()) {
            return match (plausible(time.and_utc()), without_zone) {
                (None, _) => Self::Unreadable,
                (Some(time), Some(_)) => Self::At(time),
                (Some(time), None) => Self::Assumed(time, Assumption::Zone),
            };
        }
        let date = ["%Y-%m-%d", "%Y/%m/%d", "%Y%m%d"]
            .iter()
            .find_map(|format| NaiveDate::parse_from_str(text, format).ok())
            .and_then(|date| date.and_hms_opt(0, 0, 0));
        match date.and_then(|date| plausible(date.and_utc())) {
            Some(date) => Self::Assumed(date, Assumption::Midnight),
            None => parse_epoch(text),
        }
    }
}

/// Returns the time that is this many seconds earlier.
pub(super) fn earlier(time: Timestamp, seconds: f64) -> Option<Timestamp> {
    let length = TimeDelta::from_std(Duration::try_from_secs_f64(seconds).ok()?).ok()?;
    plausible(time.to_chrono().checked_sub_signed(length)?)
}

/// Returns the seconds that a phase took, if it was begun and is done.
pub(super) fn duration(phase: &Phase) -> Option<f64> {
    let length = phase.completed_at?.to_chrono() - phase.started_at?.to_chrono();
    length.to_std().ok().map(|length| length.as_secs_f64())
}

/// Parses a length of time in seconds: a number, `320`, `320s`, `5m 20s`, `1.5h`.
pub(super) fn parse_duration(value: &Value) -> Option<f64> {
    let text = match value {
        Value::Number(number) => return number.as_f64(),
        value => value.as_str()?.trim(),
    };
    let mut seconds = 0.0;
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let number: f64 = rest[..digits].parse().ok()?;
        let unit = rest[digits..].trim_start();
        let end = unit.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(unit.len());
        seconds += number
            * match unit[..end].to_ascii_lowercase().as_str() {
                "" | "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
                "ms" => 0.001,
                "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
                "h" | "hr" | "hrs" | "hour" | "hours" => 3600.0,
                _ => return None,
            };
        rest = unit[end..].trim_start_matches([' ', ',']);
    }
    if text.is_empty() { None } else { Some(seconds) }
}

fn parse_without_zone(text: &str) -> Option<NaiveDateTime> {
    const FORMATS: [&str; 7] = [
        "%Y-%m-%dT%H:%M:%S%.f",
        "%Y-%m-%d %H:%M:%S%.f",
        "%Y-%m-%dT%H:%M",
        "%Y-%m-%d %H:%M",
        "%Y/%m/%d %H:%M:%S",
        "%Y%m%d_%H%M%S",
        "%Y%m%dT%H%M%S",
    ];
    FORMATS.iter().find_map(|format| NaiveDateTime::parse_from_str(text, format).ok())
}

/// Parses seconds, or from twelve digits on milliseconds, since 1970.
fn parse_epoch(text: &str) -> ParsedTime {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty() || whole.len() > 15 || !digits(whole) || !digits(fraction) {
        return ParsedTime::Unreadable;
    }
    let Ok(number) = whole.parse::<i64>() else { return ParsedTime::Unreadable };
    let millis = match whole.len() {
        ..=11 => {
            let thousandths: String = fraction.chars().chain("000".chars()).take(3).collect();
            number * 1000 + thousandths.parse::<i64>().unwrap_or(0)
        }
        _ => number,
    };
    DateTime::from_timestamp_millis(millis).and_then(plausible).map_or(ParsedTime::Unreadable, ParsedTime::At)
}

/// Returns a time unless it is before 2000: then it is from a clock that was never set, or a zero for no time. Such a
/// checkpoint would count as decades old.
fn plausible(time: DateTime<Utc>) -> Option<Timestamp> {
    let year = chrono::Datelike::year(&time);
    (2000..=9999).contains(&year).then(|| Timestamp::new(time))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn parsed(value: &Value) -> String {
        match ParsedTime::parse(value) {
            ParsedTime::At(time) => time.to_string(),
            ParsedTime::Assumed(time, assumption) => format!("{time} ({assumption:?})"),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn every_format_is_parsed() {
        for (written, expected) in [
            (json!("2025-10-03T18:45:30Z"), "2025-10-03T18:45:30.000Z"),
            (json!("2026-01-16T15:15:00-05:00"), "2026-01-16T20:15:00.000Z"),
            (json!("2026-01-07T03:31:52.884847Z"), "2026-01-07T03:31:52.884Z"),
            (json!("2026-01-07T03:34:37.487566+00:00"), "2026-01-07T03:34:37.487Z"),
            (json!("2026-01-07T03:34:37+0100"), "2026-01-07T02:34:37.000Z"),
            (json!("2026-07-15 11:40 UTC"), "2026-07-15T11:40:00.000Z"),
            (json!("2025-12-18 01:23:09"), "2025-12-18T01:23:09.000Z (Zone)"),
            (json!("2025-12-18T01:23:09.5"), "2025-12-18T01:23:09.500Z (Zone)"),
            (json!("20251003_184530"), "2025-10-03T18:45:30.000Z (Zone)"),
            (json!("2026-01-16"), "2026-01-16T00:00:00.000Z (Midnight)"),
            (json!(1_760_394_631), "2025-10-13T22:30:31.000Z"),
            (json!("1760394631"), "2025-10-13T22:30:31.000Z"),
            (json!(1_760_394_631_250_i64), "2025-10-13T22:30:31.250Z"),
            (json!(1_781_610_488.517_656), "2026-06-16T11:48:08.517Z"),
        ] {
            assert_eq!(parsed(&written), expected, "{written}");
        }
    }

    #[test]
    fn other_values_are_not_times() {
        for written in [
            json!(0),
            json!("0"),
            json!("1970-01-01T00:00:00Z"),
            json!("yesterday"),
            json!("2026-13-40T00:00:00Z"),
            json!(-5),
            json!("99999999999999999999"),
            json!(true),
            json!(["2026-01-01"]),
            json!("ISO-8601"),
        ] {
            assert_eq!(ParsedTime::parse(&written), ParsedTime::Unreadable, "{written}");
        }
        for nothing in [json!(null), json!(""), json!("  ")] {
            assert_eq!(ParsedTime::parse(&nothing), ParsedTime::Absent);
        }
    }

    #[test]
    fn lengths_of_time_are_parsed() {
        for (written, seconds) in [
            (json!(90), Some(90.0)),
            (json!("320s"), Some(320.0)),
            (json!("5m 20s"), Some(320.0)),
            (json!("1.5h"), Some(5400.0)),
            (json!("2 hours, 1 min"), Some(7260.0)),
            (json!("soon"), None),
            (json!("3 fortnights"), None),
            (json!(""), None),
            (json!(["1s"]), None),
        ] {
            assert_eq!(parse_duration(&written), seconds, "{written}");
        }
        let noon = Timestamp::parse("2026-01-01T12:00:00Z").unwrap();
        assert_eq!(earlier(noon, 0.5).unwrap().to_string(), "2026-01-01T11:59:59.500Z");
        assert_eq!([f64::NAN, -1.0, 1e300].map(|seconds| earlier(noon, seconds)), [None; 3]);
    }
}
