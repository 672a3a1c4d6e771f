//! What a key is about, whatever its spelling: `completedPhases`, `phases-completed`, `PHASES_DONE`.

/// What a list, a counter or a pointer is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Noun {
    /// The steps of the whole work.
    Phase,
    /// Units of work inside them.
    Task,
    /// The key does not say: `completed`, `remaining`.
    Bare,
}

/// What is said about them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    All,
    Completed,
    LastCompleted,
    Failed,
    Skipped,
    Pending,
    Active,
    Total,
    Current,
    Next,
    Resume,
    Status,
    History,
}

/// Brings a key into one spelling: lower case, words joined by `_`.
pub(super) fn fold(key: &str) -> String {
    let mut folded = String::with_capacity(key.len() + 4);
    let mut before = ' ';
    let mut chars = key.chars().peekable();
    while let Some(c) = chars.next() {
        if matches!(c, '-' | ' ' | '.' | '_') {
            if !folded.is_empty() && !folded.ends_with('_') {
                folded.push('_');
            }
        } else {
            let next_is_small = chars.peek().is_some_and(|next| next.is_lowercase());
            let word_begins =
                c.is_uppercase() && (before.is_lowercase() || (before.is_uppercase() && next_is_small));
            if word_begins && !folded.is_empty() && !folded.ends_with('_') {
                folded.push('_');
            }
            folded.extend(c.to_lowercase());
        }
        before = c;
    }
    folded
}

/// Says what a folded key is about; `None` if it is about something else.
pub(super) fn classify(folded: &str) -> Option<(Noun, Role)> {
    let mut noun = Noun::Bare;
    let mut rest: Vec<&str> = Vec::new();
    for (index, token) in folded.split('_').enumerate() {
        match singular(token) {
            "phase" | "step" | "stage" => noun = Noun::Phase,
            "task" | "item" | "objective" | "todo" | "subtask" if noun == Noun::Bare => noun = Noun::Task,
            "num" | "number" | "id" | "index" | "name" | "key" | "list" if index > 0 => {}
            "workflow" | "pipeline" | "of" | "the" => {}
            _ => rest.push(token),
        }
    }
    let role = match rest.as_slice() {
        [] => Role::All,
        ["last" | "latest", "completed" | "complete" | "done" | "finished" | "successful"] => {
            Role::LastCompleted
        }
        ["completed" | "complete" | "done" | "finished" | "executed"]
        | ["completed" | "done" | "finished", "count" | "total"]
        | ["total" | "count" | "num", "completed" | "done" | "finished"] => Role::Completed,
        ["failed" | "failing" | "errored"] => Role::Failed,
        ["skipped" | "superseded"] => Role::Skipped,
        ["pending" | "remaining" | "upcoming" | "outstanding" | "queued" | "left"] | ["not", "started"] => {
            Role::Pending
        }
        ["active" | "running"] | ["in", "progress"] => Role::Active,
        ["total" | "count" | "num"] => Role::Total,
        ["current"] => Role::Current,
        ["next"] => Role::Next,
        ["resume"] | ["resume", "from" | "at" | "point"] => Role::Resume,
        ["status" | "statuses" | "progress"] => Role::Status,
        ["history" | "log"] => Role::History,
        _ => return None,
    };
    // `ids`, `names` and the like are about nothing in particular.
    (noun != Noun::Bare || role != Role::All).then_some((noun, role))
}

/// The id in a key that is about one phase alone: `STEP_3_STATUS`, `phase_1`, `phase2`.
pub(super) fn single(key: &str) -> Option<&str> {
    let trimmed = key.strip_suffix("_STATUS").or_else(|| key.strip_suffix("_status"));
    let lower = key.to_ascii_lowercase();
    let noun = ["phase", "step", "stage"].into_iter().find(|noun| lower.starts_with(noun))?;
    let rest = key.get(noun.len()..)?;
    match trimmed {
        Some(_) => rest.strip_suffix("_STATUS").or_else(|| rest.strip_suffix("_status"))?.strip_prefix('_'),
        None => {
            let number = rest.strip_prefix(['_', '-']).unwrap_or(rest);
            number.starts_with(|c: char| c.is_ascii_digit()).then_some(key)
        }
    }
}

fn singular(token: &str) -> &str {
    match token {
        "phases" => "phase",
        "steps" => "step",
        "stages" => "stage",
        "tasks" => "task",
        "items" => "item",
        "objectives" => "objective",
        "todos" => "todo",
        "subtasks" => "subtask",
        "numbers" | "nums" => "number",
        "ids" => "id",
        "names" => "name",
        "keys" => "key",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_fold_together() {
        for key in
            ["completedPhases", "completed_phases", "COMPLETED-PHASES", "CompletedPhases", "completed phases"]
        {
            assert_eq!(fold(key), "completed_phases", "{key}");
        }
        assert_eq!(fold("currentPhaseID"), "current_phase_id");
        assert_eq!(fold("HTTPStatus"), "http_status");
        assert_eq!(fold("_x__y"), "x_y");
    }

    #[test]
    fn keys_are_about_what_they_say() {
        use Noun::{Bare, Phase, Task};
        for (key, about) in [
            ("phases", Some((Phase, Role::All))),
            ("current_phase_id", Some((Phase, Role::Current))),
            ("phases_completed", Some((Phase, Role::Completed))),
            ("completed_steps", Some((Phase, Role::Completed))),
            ("last_completed_step", Some((Phase, Role::LastCompleted))),
            ("total_phases", Some((Phase, Role::Total))),
            ("phase_count", Some((Phase, Role::Total))),
            ("phase_number", Some((Phase, Role::All))),
            ("phase_status", Some((Phase, Role::Status))),
            ("phase_history", Some((Phase, Role::History))),
            ("task_numbers", Some((Task, Role::All))),
            ("failed_tasks", Some((Task, Role::Failed))),
            ("current_task_step", Some((Phase, Role::Current))),
            ("completed", Some((Bare, Role::Completed))),
            ("resume_from", Some((Bare, Role::Resume))),
            ("not_started", Some((Bare, Role::Pending))),
            ("milestone_num", None),
            ("max_cycles", None),
            ("tests_passed", None),
            ("issue_nums", None),
            ("ids", None),
        ] {
            assert_eq!(classify(key), about, "{key}");
        }
    }

    #[test]
    fn some_keys_are_about_one_phase() {
        assert_eq!(single("STEP_3_STATUS"), Some("3"));
        assert_eq!(single("phase_build_status"), Some("build"));
        assert_eq!(single("phase_1"), Some("phase_1"));
        assert_eq!(single("phase2"), Some("phase2"));
        for key in ["phase_status", "step_count", "phases", "steps_done", "statuses", "stagecoach"] {
            assert_eq!(single(key), None, "{key}");
        }
    }
}
