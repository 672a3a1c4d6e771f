//! The meaning of a key, whatever its spelling: `completedPhases`, `phases-completed`, `PHASES_DONE`.

/// The things that a list, a counter or a pointer refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Noun {
    /// Phases, steps or stages.
    Phase,
    /// Units of work inside phases.
    Task,
    /// Other units, such as milestones and features. They are taken as phases if there is nothing else.
    Unit,
    /// The key has no noun: `completed`, `remaining`.
    Unspecified,
}

/// The role of a value for these things.
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

/// Converts a key to snake case.
pub(super) fn snake_case(key: &str) -> String {
    if is_snake_case(key) {
        return key.to_owned();
    }
    let mut snake_key = String::with_capacity(key.len() + 4);
    let mut previous = ' ';
    let mut chars = key.chars().peekable();
    while let Some(c) = chars.next() {
        if matches!(c, '-' | ' ' | '.' | '_') {
            if !snake_key.is_empty() && !snake_key.ends_with('_') {
                snake_key.push('_');
            }
        } else {
            let next_is_lower = chars.peek().is_some_and(|next| next.is_lowercase());
            let word_begins =
                c.is_uppercase() && (previous.is_lowercase() || (previous.is_uppercase() && next_is_lower));
            if word_begins && !snake_key.is_empty() && !snake_key.ends_with('_') {
                snake_key.push('_');
            }
            snake_key.extend(c.to_lowercase());
        }
        previous = c;
    }
    snake_key
}

/// True if a key is `name` in snake case.
pub(super) fn has_name(key: &str, name: &str) -> bool {
    key == name || (!is_snake_case(key) && snake_case(key) == name)
}

/// True if a key is in snake case already, as most are.
fn is_snake_case(key: &str) -> bool {
    let plain = key.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'));
    plain && !key.starts_with('_') && !key.contains("__")
}

/// Classifies a key in snake case; `None` if it has nothing to do with progress.
pub(super) fn classify(snake_key: &str) -> Option<(Noun, Role)> {
    let mut noun = Noun::Unspecified;
    let mut rest: Vec<&str> = Vec::new();
    for (index, token) in snake_key.split('_').enumerate() {
        match singular(token) {
            "phase" | "step" | "stage" => noun = Noun::Phase,
            "task" | "item" | "objective" | "todo" | "subtask" if noun == Noun::Unspecified => {
                noun = Noun::Task;
            }
            "milestone" | "wave" | "sprint" | "batch" | "epic" | "story" | "feature" | "module"
            | "chapter" | "section" | "job" | "goal" | "deliverable"
                if noun == Noun::Unspecified && token != singular(token) =>
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
    // `ids`, `names` and the like mean nothing in particular.
    (noun != Noun::Unspecified || role != Role::All).then_some((noun, role))
}

/// True if a key in snake case is a plural: `completed_steps`, `phases`.
pub(super) fn is_plural(snake_key: &str) -> bool {
    snake_key.split('_').any(|token| {
        let one = singular(token);
        token != one && !matches!(one, "number" | "id" | "name" | "key")
    })
}

/// A key for one phase: `STEP_3_STATUS`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SinglePhaseKey<'a> {
    /// The id of the phase.
    pub(super) id: &'a str,
    /// The property of the phase: `status`, `done`, `failed`; empty for the phase itself.
    pub(super) property: &'static str,
    /// True if the key has no other meaning: `phase_1`, but not `phase_1_build`.
    pub(super) is_certain: bool,
}

/// Parses a key for one phase: `STEP_3_STATUS`, `phase_1`, `phase2_done`.
pub(super) fn parse_single_phase_key(key: &str) -> Option<SinglePhaseKey<'_>> {
    const PROPERTIES: [&str; 6] = ["status", "completed", "complete", "done", "failed", "skipped"];
    let lower = key.to_ascii_lowercase();
    let noun = ["phase", "step", "stage"].into_iter().find(|noun| lower.starts_with(noun))?;
    let rest = key.get(noun.len()..)?;
    for property in PROPERTIES {
        let cut = rest.len().checked_sub(property.len());
        let Some((id, end)) = cut.and_then(|cut| rest.split_at_checked(cut)) else { continue };
        if !end.eq_ignore_ascii_case(property) {
            continue;
        }
        let id = match id.strip_suffix(['_', '-']) {
            Some(id) => id,
            None if end.starts_with(char::is_uppercase) => id,
            None => return None,
        };
        let id = match id.strip_prefix(['_', '-']) {
            Some(id) => id,
            None if id.starts_with(|c: char| c.is_ascii_digit()) => id,
            None => return None,
        };
        return (!id.is_empty()).then_some(SinglePhaseKey { id, property, is_certain: true });
    }
    let number = rest.strip_prefix(['_', '-']).unwrap_or(rest);
    if !number.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let is_certain = number.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    Some(SinglePhaseKey { id: key, property: "", is_certain })
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
    fn all_spellings_of_a_key_are_equal() {
        for key in
            ["completedPhases", "completed_phases", "COMPLETED-PHASES", "CompletedPhases", "completed phases"]
        {
            assert_eq!(snake_case(key), "completed_phases", "{key}");
        }
        assert_eq!(snake_case("currentPhaseID"), "current_phase_id");
        assert_eq!(snake_case("HTTPStatus"), "http_status");
        assert_eq!(snake_case("_x__y"), "x_y");
        assert_eq!(snake_case("x_"), "x_");
        for (key, name) in
            [("currentPhase", "current_phase"), ("a", "a"), ("_x", "x"), ("X", "x"), ("x", "y"), ("", "")]
        {
            assert_eq!(has_name(key, name), snake_case(key) == name, "{key}");
        }
    }

    #[test]
    fn keys_are_classified_by_noun_and_role() {
        use Noun::{Phase, Task, Unspecified};
        for (key, context) in [
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
            ("completed", Some((Unspecified, Role::Completed))),
            ("resume_from", Some((Unspecified, Role::Resume))),
            ("not_started", Some((Unspecified, Role::Pending))),
            ("milestone_num", None),
            ("max_cycles", None),
            ("tests_passed", None),
            ("issue_nums", None),
            ("ids", None),
            ("milestones", Some((Noun::Unit, Role::All))),
            ("completed_features", Some((Noun::Unit, Role::Completed))),
            ("feature", None),
        ] {
            assert_eq!(classify(key), context, "{key}");
        }
    }

    #[test]
    fn a_key_may_be_for_one_phase() {
        for (key, id, property, is_certain) in [
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
            assert_eq!(
                parse_single_phase_key(key),
                Some(SinglePhaseKey { id, property, is_certain }),
                "{key}"
            );
        }
        for key in
            ["phase_status", "step_count", "phases", "steps_done", "statuses", "stagecoach", "phase_done"]
        {
            assert_eq!(parse_single_phase_key(key), None, "{key}");
        }
    }
}
