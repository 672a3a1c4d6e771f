//! The many words for where something stands.

use super::phase::PhaseStatus;
use super::task::TaskStatus;

/// What a status word means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatusWord {
    /// Finished.
    Complete,
    /// Begun.
    InProgress,
    /// Not begun.
    Pending,
    /// Tried and not achieved.
    Failed,
    /// Left out on purpose.
    Skipped,
}

impl StatusWord {
    /// Understands a word, whatever its case and separators; `None` for a word that could mean anything.
    #[must_use]
    pub fn understand(word: &str) -> Option<Self> {
        let folded: String = word
            .trim()
            .to_lowercase()
            .chars()
            .filter(|c| !matches!(c, ' ' | '_' | '-' | '\u{fe0f}'))
            .collect();
        Some(match folded.as_str() {
            "complete" | "completed" | "done" | "implemented" | "success" | "succeeded" | "passed"
            | "pass" | "ok" | "finished" | "approved" | "validated" | "verified" | "merged" | "resolved"
            | "\u{2705}" | "\u{2714}" | "\u{2713}" | "\u{2611}" => Self::Complete,
            "inprogress" | "active" | "running" | "started" | "working" | "ongoing" | "wip" | "\u{1f504}" => {
                Self::InProgress
            }
            "pending" | "notstarted" | "todo" | "notexecuted" | "queued" | "waiting" | "planned"
            | "\u{23f3}" | "\u{2b1c}" | "\u{2610}" => Self::Pending,
            "failed" | "error" | "failure" | "fail" | "errored" | "\u{274c}" | "\u{2717}" | "\u{2718}" => {
                Self::Failed
            }
            "skipped" | "superseded" | "n/a" | "na" | "skip" | "notapplicable" => Self::Skipped,
            _ => return None,
        })
    }
}

impl From<StatusWord> for PhaseStatus {
    fn from(word: StatusWord) -> Self {
        match word {
            StatusWord::Complete => Self::Complete,
            StatusWord::InProgress => Self::InProgress,
            StatusWord::Pending => Self::Pending,
            StatusWord::Failed => Self::Failed,
            StatusWord::Skipped => Self::Skipped,
        }
    }
}

impl From<StatusWord> for TaskStatus {
    fn from(word: StatusWord) -> Self {
        match word {
            StatusWord::Complete => Self::Complete,
            StatusWord::InProgress => Self::Running,
            StatusWord::Pending => Self::Pending,
            StatusWord::Failed => Self::Failed,
            StatusWord::Skipped => Self::Skipped,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_words_mean_the_same() {
        for (words, meaning) in [
            (
                &["complete", "Completed", "done", "implemented", "SUCCESS", "\u{2705}", "\u{2714}\u{fe0f}"]
                    [..],
                StatusWord::Complete,
            ),
            (&["in_progress", "in-progress", "active", "running", "started"], StatusWord::InProgress),
            (
                &["pending", "not_started", "not started", "not-started", "todo", "NOT_EXECUTED"],
                StatusWord::Pending,
            ),
            (&["failed", "error", "\u{274c}", "\u{2718}"], StatusWord::Failed),
            (&["skipped", "superseded", "n/a"], StatusWord::Skipped),
        ] {
            for word in words {
                assert_eq!(StatusWord::understand(word), Some(meaning), "{word}");
            }
        }
        for unknown in ["", "green", "completed?", "0", "true"] {
            assert_eq!(StatusWord::understand(unknown), None, "{unknown}");
        }
    }
}
