//! Charts of the figures.

use maud::{Markup, html};

use ckpt_model::span::humane;
use ckpt_model::stats::{Spread, WeekStats};

const WIDTH: u64 = 600;
const HEIGHT: u64 = 140;

/// Draws columns for each week: complete runs, and on top of them failed and abandoned ones.
pub(super) fn weeks(weeks: &[WeekStats]) -> Markup {
    let total = |week: &WeekStats| week.complete.saturating_add(week.given_up);
    let highest = weeks.iter().map(total).max().unwrap_or_default().max(1);
    let count = u64::try_from(weeks.len()).unwrap_or(1).max(1);
    let step = WIDTH / count.max(8);
    let scale = |number: u64| number.saturating_mul(HEIGHT) / highest;
    let [first, last] = [weeks.first(), weeks.last()].map(|week| week.map(|week| week.starts_on.as_str()));
    html! {
        figure {
            svg.chart viewBox={ "0 0 " (WIDTH) " " (HEIGHT + 1) } role="img"
                aria-label={ "Finished runs by week, at most " (highest) " a week" } {
                line.axis x1="0" y1=(HEIGHT) x2=(WIDTH) y2=(HEIGHT) {}
                @for (place, week) in (0u64..).zip(weeks) {
                    @let (good, bad) = (scale(week.complete), scale(week.given_up));
                    g {
                        title {
                            "Week of " (week.starts_on) ": " (week.complete) " complete, " (week.given_up) " failed or abandoned"
                            @if let Some(median) = week.median_seconds { ", median " (humane(median)) }
                        }
                        rect.good x=(place * step + 1) y=(HEIGHT.saturating_sub(good)) width=(step.saturating_sub(3).max(2)) height=(good) {}
                        rect.bad x=(place * step + 1) y=(HEIGHT.saturating_sub(good + bad)) width=(step.saturating_sub(3).max(2)) height=(bad) {}
                    }
                }
            }
            figcaption {
                "Weeks of " (first.unwrap_or_default())
                @if weeks.len() > 1 { " to " (last.unwrap_or_default()) }
                ", at most " (highest) " a week: " span.key.good { "complete" } ", " span.key.bad { "failed or abandoned" }
            }
        }
    }
}

/// Draws the spread of a duration on a common scale: the middle half as a box, the median as a line, up to the slowest.
pub(super) fn spread(seconds: &Spread, greatest: u64) -> Markup {
    let Spread { lower_quartile, median, upper_quartile, slowest, .. } = seconds;
    let x = |seconds: &u64| seconds.saturating_mul(200) / greatest.max(1);
    let (low, middle, high, end) = (x(lower_quartile), x(median), x(upper_quartile), x(slowest));
    html! {
        svg.spread viewBox="0 0 204 16" role="img"
            aria-label={ "median " (humane(*median)) ", slowest " (humane(*slowest)) } {
            line.edge x1=(low) y1="8" x2=(end.max(1)) y2="8" {}
            rect.box x=(low) y="3" width=(high.saturating_sub(low).max(2)) height="10" rx="2" {}
            line.median x1=(middle) y1="2" x2=(middle) y2="14" {}
        }
    }
}
