//! Status words as people and other systems write them.

use super::phase::PhaseStatus;

/// Parses a status word of any case and with any separators; `None` for an ambiguous or unknown word.
#[must_use]
pub fn parse_status_word(word: &str) -> Option<PhaseStatus> {
    let folded: String =
        word.trim().to_lowercase().chars().filter(|c| !matches!(c, ' ' | '_' | '-' | '\u{fe0f}')).collect();
    Some(match folded.as_str() {
        "complete" | "completed" | "done" | "implemented" | "success" | "succeeded" | "passed" | "pass" | "ok"
        | "finished" | "approved" | "validated" | "verified" | "merged" | "resolved" | "\u{2705}" | "\u{2714}"
        | "\u{2713}" | "\u{2611}" => PhaseStatus::Complete,
        "inprogress" | "active" | "running" | "started" | "working" | "ongoing" | "wip" | "\u{1f504}" => {
            PhaseStatus::InProgress
        }
        "pending" | "notstarted" | "todo" | "notexecuted" | "queued" | "waiting" | "planned" | "\u{23f3}"
        | "\u{2b1c}" | "\u{2610}" => PhaseStatus::Pending,
        "failed" | "error" | "failure" | "fail" | "errored" | "\u{274c}" | "\u{2717}" | "\u{2718}" => {
            PhaseStatus::Failed
        }
        "skipped" | "superseded" | "n/a" | "na" | "skip" | "notapplicable" => PhaseStatus::Skipped,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_words_mean_the_same() {
        for (words, meaning) in [
            (
                &["complete", "Completed", "done", "implemented", "SUCCESS", "\u{2705}", "\u{2714}\u{fe0f}"][..],
                PhaseStatus::Complete,
            ),
            (&["in_progress", "in-progress", "active", "running", "started"], PhaseStatus::InProgress),
            (&["pending", "not_started", "not started", "not-started", "todo", "NOT_EXECUTED"], PhaseStatus::Pending),
            (&["failed", "error", "\u{274c}", "\u{2718}"], PhaseStatus::Failed),
            (&["skipped", "superseded", "n/a"], PhaseStatus::Skipped),
        ] {
            for word in words {
                assert_eq!(parse_status_word(word), Some(meaning), "{word}");
            }
        }
        for unknown in ["", "green", "completed?", "0", "true"] {
            assert_eq!(parse_status_word(unknown), None, "{unknown}");
        }
    }
}
