//! Spec Kit's `tasks.md`: numbered tasks with check boxes below the headings of phases.

use serde_json::Value;

use super::checklist::{CheckBox, check_boxes, read_phases, split_id, title};
use super::draft::Draft;
use super::format::Format;
use super::read_log::ReadLog;

pub(super) static FORMAT: Format = Format {
    word: "spec-kit",
    text: "Spec Kit, tasks with check boxes",
    places: &["specs/*/tasks.md", ".specify/specs/*/tasks.md"],
    recognises,
    read,
    ..Format::ONLY_READ
};

fn recognises(main: &Value) -> bool {
    let Some(text) = main.get("markdown").and_then(Value::as_str) else { return false };
    check_boxes(text).iter().filter(|found| task_of(found).is_some()).count() > 1
}

fn read(main: &Value, _: Option<&Value>, log: &mut ReadLog<'_>) -> Draft {
    let text = main.get("markdown").and_then(Value::as_str).unwrap_or_default();
    let id = |found: &CheckBox<'_>, _: &str, _| task_of(found).map(|(id, _)| id.to_owned());
    let mut content = read_phases(&check_boxes(text), id, log);
    content.title = title(text);
    Draft { content, ..Draft::default() }
}

/// Returns the id and the text of a task: `T001` with three digits or more.
fn task_of<'t>(found: &CheckBox<'t>) -> Option<(&'t str, &'t str)> {
    let (id, text) = split_id(found.text)?;
    let digits = id.strip_prefix('T')?;
    (digits.len() >= 3 && digits.bytes().all(|byte| byte.is_ascii_digit())).then_some((id, text))
}
