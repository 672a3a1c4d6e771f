//! What a key is about, whatever its spelling: `completedPhases`, `phases-completed`, `PHASES_DONE`.

/// What a list, a counter or a pointer is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Noun {
    /// The steps of the whole work.
    Phase,
    /// Units of work inside them.
    Task,
    /// Units that some call their steps by: milestones, features. They count where there is nothing else.
    Unit,
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
    if is_folded(key) {
        return key.to_owned();
    }
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

/// Whether a key, brought into one spelling, is `name`.
pub(super) fn is_spelled(key: &str, name: &str) -> bool {
    key == name || (!is_folded(key) && fold(key) == name)
}

/// Whether a key has that spelling already, as most have.
fn is_folded(key: &str) -> bool {
    let plain = key.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'));
    plain && !key.starts_with('_') && !key.contains("__")
}

/// Says what a folded key is about; `None` if it is about something else.
pub(super) fn classify(folded: &str) -> Option<(Noun, Role)> {
    let mut noun = Noun::Bare;
    let mut rest: Vec<&str> = Vec::new();
    for (index, token) in folded.split('_').enumerate() {
        match singular(token) {
            "phase" | "step" | "stage" => noun = Noun::Phase,
            "task" | "item" | "objective" | "todo" | "subtask" if noun == Noun::Bare => noun = Noun::Task,
            "milestone" | "wave" | "sprint" | "batch" | "epic" | "story" | "feature" | "module"
            | "chapter" | "section" | "job" | "goal" | "deliverable"
                if noun == Noun::Bare && token != singular(token) =>
            {
                noun = Noun::Unit;
            }
            "num" | "number" | "id" | "index" | "idx" | "name" | "key" | "list" if index > 0 => {}
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
        ["status" | "statuses" | "progress" | "states" | "results" | "records"] => Role::Status,
        ["history" | "log"] => Role::History,
        _ => return None,
    };
    // `ids`, `names` and the like are about nothing in particular.
    (noun != Noun::Bare || role != Role::All).then_some((noun, role))
}

/// Whether a folded key speaks of several: `completed_steps`, `phases`.
pub(super) fn is_plural(folded: &str) -> bool {
    folded.split('_').any(|token| {
        let one = singular(token);
        token != one && !matches!(one, "number" | "id" | "name" | "key")
    })
}

/// What a key says that is about one phase alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Single<'a> {
    /// The phase.
    pub(super) id: &'a str,
    /// What is said of it: `status`, `done`, `failed`; nothing for the phase itself.
    pub(super) aspect: &'static str,
    /// Whether the key is sure to be about a phase: `phase_1`, and not `phase_1_build`.
    pub(super) sure: bool,
}

/// Reads a key that is about one phase alone: `STEP_3_STATUS`, `phase_1`, `phase2_done`.
pub(super) fn single(key: &str) -> Option<Single<'_>> {
    const ASPECTS: [&str; 6] = ["status", "completed", "complete", "done", "failed", "skipped"];
    let lower = key.to_ascii_lowercase();
    let noun = ["phase", "step", "stage"].into_iter().find(|noun| lower.starts_with(noun))?;
    let rest = key.get(noun.len()..)?;
    for aspect in ASPECTS {
        let cut = rest.len().checked_sub(aspect.len());
        let Some((id, end)) = cut.and_then(|cut| rest.split_at_checked(cut)) else { continue };
        if !end.eq_ignore_ascii_case(aspect) {
            continue;
        }
        let parted = id.strip_suffix(['_', '-']);
        let id = parted.or_else(|| Some(id).filter(|_| end.starts_with(|c: char| c.is_uppercase())))?;
        let id = id
            .strip_prefix(['_', '-'])
            .or_else(|| Some(id).filter(|id| id.starts_with(|c: char| c.is_ascii_digit())))?;
        return (!id.is_empty()).then_some(Single { id, aspect, sure: true });
    }
    let number = rest.strip_prefix(['_', '-']).unwrap_or(rest);
    let sure = number.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    number.starts_with(|c: char| c.is_ascii_digit()).then_some(Single { id: key, aspect: "", sure })
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
        "milestones" => "milestone",
        "waves" => "wave",
        "sprints" => "sprint",
        "batches" => "batch",
        "epics" => "epic",
        "stories" => "story",
        "features" => "feature",
        "modules" => "module",
        "chapters" => "chapter",
        "sections" => "section",
        "jobs" => "job",
        "goals" => "goal",
        "deliverables" => "deliverable",
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
        assert_eq!(fold("x_"), "x_");
        for (key, name) in
            [("currentPhase", "current_phase"), ("a", "a"), ("_x", "x"), ("X", "x"), ("x", "y"), ("", "")]
        {
            assert_eq!(is_spelled(key, name), fold(key) == name, "{key}");
        }
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
            ("milestones", Some((Noun::Unit, Role::All))),
            ("completed_features", Some((Noun::Unit, Role::Completed))),
            ("feature", None),
        ] {
            assert_eq!(classify(key), about, "{key}");
        }
    }

    #[test]
    fn some_keys_are_about_one_phase() {
        for (key, id, aspect, sure) in [
            ("STEP_3_STATUS", "3", "status", true),
            ("phase_build_status", "build", "status", true),
            ("phase_1_complete", "1", "complete", true),
            ("phase2_done", "2", "done", true),
            ("step3Status", "3", "status", true),
            ("stage_4_failed", "4", "failed", true),
            ("phase_1", "phase_1", "", true),
            ("phase2", "phase2", "", true),
            ("phase_1_output", "phase_1_output", "", false),
        ] {
            assert_eq!(single(key), Some(Single { id, aspect, sure }), "{key}");
        }
        for key in
            ["phase_status", "step_count", "phases", "steps_done", "statuses", "stagecoach", "phase_done"]
        {
            assert_eq!(single(key), None, "{key}");
        }
    }
}
