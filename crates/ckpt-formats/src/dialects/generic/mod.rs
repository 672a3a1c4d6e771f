//! The generic reader: any other checkpoint file, read by its shape.
//!
//! Where the document does not decide where to continue, the draft does not either, and `resume` answers that it cannot
//! tell.
//!
//! 1. [`vocabulary`] has the words and the names of keys, as tables.
//! 2. [`values`] says what a value is by itself: a number, a name, a thing with its status, a list of things.
//! 3. [`collect`] lists what the document says about its progress, with places and without conclusions: lists of things,
//!    pointers to one of them, counts, and the status of the whole.
//! 4. [`arrange`] brings together what is said of one kind of things: phases first, then steps, milestones and the like,
//!    tasks, and whatever else has statuses.
//! 5. [`decide`] has the rules about one kind of things, in the order in which they are tried.
//! 6. [`details`] writes the answer into the draft, and everything else that the document says: the workflow, its title,
//!    times, git, files.

mod arrange;
mod collect;
mod decide;
mod details;
mod values;
mod vocabulary;

use serde_json::Value;

use super::document::Notation;
use super::draft::Draft;
use super::format::Format;
use super::read_log::ReadLog;
use collect::Claim;

pub(super) fn read(main: &Value, log: &mut ReadLog<'_>) -> Draft {
    let mut draft = Draft::default();
    // In a log, the last state counts. A log of events is a history: the last word about each thing counts.
    let lines = if log.notation() == Notation::JsonLines { main.as_array() } else { None };
    let newest = lines.and_then(|lines| lines.last()).unwrap_or(main);
    let sections = details::Sections::of(newest);
    details::read_head(&sections, &mut draft, log);
    let statements = match lines {
        Some(_) if values::are_events(main) => collect::collect_events(main, log),
        _ => collect::collect(newest, log),
    };
    // Many files have a status or a time; only a file about work says anything else.
    draft.mentions_work =
        statements.iter().any(|statement| !matches!(statement.claim, Claim::Overall(_) | Claim::Finished));
    decide::decide(statements, &mut draft, log);
    let phase_times = draft.content.phases.iter().flat_map(|phase| [phase.started_at, phase.completed_at]).flatten();
    draft.recorded_at = draft.recorded_at.or(phase_times.max());
    details::read_rest(&sections, &mut draft, log);
    draft
}

/// The reader for any other document.
pub(super) static FORMAT: Format = Format {
    word: "generic",
    text: "any other file about work in phases",
    places: &[],
    recognises: |_| true,
    read: |main, _, log| read(main, log),
    ..Format::ONLY_READ
};

#[cfg(test)]
mod tests {
    #[test]
    fn the_documentation_tells_the_rules_in_their_order() {
        let page = include_str!("../../../../docs/systems/generic.md");
        let listed: Vec<&str> = page.lines().filter(|line| line.contains(". **")).collect();
        let rules = super::decide::RULES.iter().enumerate();
        let rules = rules.map(|(index, rule)| format!("{}. **{}**: {}", index + 1, rule.name, rule.says));
        assert_eq!(listed, rules.collect::<Vec<_>>());
    }
}
