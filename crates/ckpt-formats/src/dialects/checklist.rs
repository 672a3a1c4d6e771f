//! Check boxes in Markdown, with the headings above them.

use std::collections::HashSet;

use serde_json::Value;

use super::read_log::ReadLog;
use super::worklist::{self, Worklist};
use ckpt_model::checkpoint::Content;
use ckpt_model::phase::{PhaseId, PhaseStatus};
use ckpt_model::task::{MAX_TASKS, Task, TaskStatus};

/// A line with a check box.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CheckBox<'t> {
    /// The nearest heading above it; empty if there is none.
    pub(super) heading: &'t str,
    pub(super) mark: Mark,
    /// The text behind the box.
    pub(super) text: &'t str,
    /// True if the line is indented, so that the box is part of the one above.
    pub(super) is_nested: bool,
    /// The number of the line, counted from 1.
    pub(super) line: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    Open,
    Begun,
    Done,
    /// Struck out, left out or optional.
    Dropped,
}

/// Finds all check boxes of a text. Those in blocks of code are examples.
pub(super) fn check_boxes(text: &str) -> Vec<CheckBox<'_>> {
    let mut boxes = Vec::new();
    let (mut heading, mut in_code) = ("", false);
    for (index, line) in text.lines().enumerate() {
        let content = line.trim_start();
        if content.starts_with("```") || content.starts_with("~~~") {
            in_code = !in_code;
        } else if in_code {
        } else if line.starts_with('#') {
            heading = line.trim_matches(['#', ' ', '*']);
        } else if let Some((mark, text)) = check_box(content)
            && !content.starts_with('[')
        {
            let is_nested = line.len() > content.len();
            boxes.push(CheckBox { heading, mark, text, is_nested, line: index + 1 });
        }
    }
    boxes
}

/// Splits `- [x] text`, `1. [ ] text` or `[x] text` into mark and text. An open box with a star, `[ ]* text`, is optional.
pub(super) fn check_box(line: &str) -> Option<(Mark, &str)> {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_bullet =
        |bullet: &str| matches!(bullet, "-" | "*" | "+") || bullet.strip_suffix(['.', ')']).is_some_and(is_number);
    let item = line.split_once(' ').filter(|(bullet, _)| is_bullet(bullet)).map_or(line, |(_, rest)| rest);
    let inside = item.trim_start().strip_prefix('[')?;
    let (mark, text) = inside.split_once(']')?;
    let mark = match mark {
        " " | "" => Mark::Open,
        "x" | "X" | "\u{2713}" | "\u{2714}" | "\u{2705}" => Mark::Done,
        "~" | "/" | ">" => Mark::Begun,
        "-" => Mark::Dropped,
        _ => return None,
    };
    let is_optional = mark == Mark::Open && text.starts_with("* ");
    let mark = if is_optional { Mark::Dropped } else { mark };
    Some((mark, text.trim().trim_matches('*').trim()))
}

impl Mark {
    pub(super) fn status(self) -> PhaseStatus {
        match self {
            Self::Open => PhaseStatus::Pending,
            Self::Begun => PhaseStatus::InProgress,
            Self::Done => PhaseStatus::Complete,
            Self::Dropped => PhaseStatus::Skipped,
        }
    }

    /// Returns the box as it is commonly written.
    pub(super) fn sign(self) -> &'static str {
        match self {
            Self::Open => "[ ]",
            Self::Begun => "[~]",
            Self::Done => "[x]",
            Self::Dropped => "[-]",
        }
    }
}

/// Returns the first title of a text.
pub(super) fn title(text: &str) -> Option<String> {
    text.lines().find_map(|line| line.strip_prefix("# ")).map(|title| worklist::title(title.trim()))
}

/// Reads check boxes below the headings of phases: each heading is a phase, and its boxes are its tasks. `task_id` returns
/// the id of a task, from the id of its phase and its number there; a box without one is no task.
pub(super) fn read_phases(
    boxes: &[CheckBox<'_>],
    task_id: impl Fn(&CheckBox<'_>, &str, usize) -> Option<String>,
    log: &mut ReadLog<'_>,
) -> Content {
    let mut worklist = Worklist::default();
    let (mut tasks, mut known) = (Vec::new(), HashSet::new());
    for of_phase in boxes.chunk_by(|one, other| one.heading == other.heading) {
        let (id, name) = phase_of(of_phase[0].heading);
        let ids = of_phase.iter().enumerate().map(|(index, found)| task_id(found, &id, index + 1));
        let own: Vec<(&CheckBox<'_>, String)> =
            of_phase.iter().zip(ids).filter_map(|(found, id)| Some((found, id?))).collect();
        let Some((first, _)) = own.first() else { continue };
        let statuses = || own.iter().map(|(found, _)| found.mark.status());
        let status = if statuses().all(PhaseStatus::is_done) {
            PhaseStatus::Complete
        } else if statuses().all(|status| status == PhaseStatus::Pending) {
            PhaseStatus::Pending
        } else {
            PhaseStatus::InProgress
        };
        let place = format!("line {}", first.line);
        let Some(item) = worklist.add(&id.into(), status, &Value::Null, &place, log) else { continue };
        item.phase.name = name.map(worklist::title);
        let phase = item.phase.id.clone();
        for (found, id) in own.into_iter().take(MAX_TASKS - tasks.len()) {
            tasks.extend(task(&id, found.mark, &phase).filter(|task| known.insert(task.id.clone())));
        }
    }
    Content { tasks, ..worklist.into_content() }
}

/// Reads the check boxes at the top level as phases. A box below one of them is its task if it has a number, and else one of
/// its criteria.
pub(super) fn read_boxes(text: &str, line: &str, log: &mut ReadLog<'_>) -> Content {
    let mut worklist = Worklist::default();
    let boxes = check_boxes(text);
    let has_ids = boxes.iter().any(|found| !found.is_nested && split_id(found.text).is_some());
    let (mut count, mut tasks) = (0, Vec::new());
    for with_parts in boxes.chunk_by(|_, behind| behind.is_nested) {
        let (found, parts) = (&with_parts[0], &with_parts[1..]);
        // Where tasks have numbers, a box without one is a criterion.
        let Some((id, name)) = split_id(found.text).or_else(|| (!has_ids).then_some(("", found.text))) else {
            continue;
        };
        count += 1;
        let id = if id.is_empty() { count.to_string() } else { id.to_owned() };
        let parts = parts.iter().filter_map(|part| Some((split_id(part.text)?.0, part.mark)));
        let is_begun = found.mark == Mark::Open && parts.clone().any(|(_, mark)| mark == Mark::Done);
        let mark = if is_begun { Mark::Begun } else { found.mark };
        let place = format!("{line} {}", found.line);
        let Some(item) = worklist.add(&id.into(), mark.status(), &Value::Null, &place, log) else { continue };
        item.phase.name = Some(worklist::title(name));
        let phase = &item.phase.id;
        tasks.extend(parts.filter_map(|(id, mark)| task(id, mark, phase)));
    }
    tasks.truncate(MAX_TASKS);
    Content { tasks, ..worklist.into_content() }
}

fn task(id: &str, mark: Mark, phase: &PhaseId) -> Option<Task> {
    let status = TaskStatus::from(mark.status());
    let attempts = u32::from(!matches!(status, TaskStatus::Pending | TaskStatus::Skipped));
    Some(Task { status, attempts, ..Task::pending(id.parse().ok()?, Some(phase.clone())) })
}

/// Returns the id and the name of a phase from its heading: `Phase 3.1: Setup` is `3.1`.
fn phase_of(heading: &str) -> (String, Option<&str>) {
    if let Some(rest) = heading.strip_prefix("Phase ") {
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '.').unwrap_or(rest.len());
        let id = rest[..end].trim_end_matches('.');
        if !id.is_empty() {
            let name = rest[end..].trim_start_matches([':', ' ', '-', '\u{2013}', '\u{2014}', '.']);
            return (id.to_owned(), Some(name).filter(|name| !name.is_empty()));
        }
    }
    if heading.is_empty() { ("tasks".to_owned(), None) } else { (heading.to_owned(), None) }
}

/// Splits `T001 [P] Create the schema` or `1. Create the schema` into id and text.
pub(super) fn split_id(text: &str) -> Option<(&str, &str)> {
    let (id, rest) = text.split_once(char::is_whitespace)?;
    let id = id.trim_matches(['*', '.', ':', ')', '[', ']', '`']);
    let has_digit = id.bytes().any(|byte| byte.is_ascii_digit());
    let is_id = id.len() <= 12 && id.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_'));
    (has_digit && is_id).then_some((id, rest.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_are_found_with_their_headings() {
        let text = "# Plan\n- [x] 1. one\n  - [ ] part\n  - [ ]* optional\n```\n- [ ] code\n```\n## Then\n* [~] **two**\n1. [-] no\n- [y] odd\n";
        let found: Vec<_> =
            check_boxes(text).into_iter().map(|b| (b.heading, b.mark, b.text, b.is_nested, b.line)).collect();
        let expected = [
            ("Plan", Mark::Done, "1. one", false, 2),
            ("Plan", Mark::Open, "part", true, 3),
            ("Plan", Mark::Dropped, "optional", true, 4),
            ("Then", Mark::Begun, "two", false, 9),
            ("Then", Mark::Dropped, "no", false, 10),
        ];
        assert_eq!(found, expected);
        assert_eq!(split_id("T001 [P] Create"), Some(("T001", "[P] Create")));
        assert_eq!(split_id("**F1.** Check"), Some(("F1", "Check")));
        assert_eq!(split_id("Create 2 tables"), None);
    }
}
