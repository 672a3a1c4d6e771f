//! The generic reader: any other file about work, read by its shape.
//!
//! It answers only where a careful person would not ask back. Everything else is [`Undecided`]: the lists that were found,
//! and why none of them is the answer.
//!
//! | step | rule |
//! |---|---|
//! | [find lists](lists) | An array or object of which at least half of the entries have a status; members such as `phase_1` and `step_2_status`; `completed` beside `remaining`. |
//! | [read a status](entry) | A known word, a flag, a check box, a time of completion, or the statuses of the parts. A planned date is none. |
//! | [collect facts](facts) | Pointers (`current_phase`), totals, the status of the whole, at any depth down to six. |
//! | [choose the list](choose) | The one that is named as work; of several, the largest parts, phases before tasks. An unnamed one only if it is the only one, with something done and something left. |
//! | understood | The status of every entry; in a list of ten or more, of nine of ten. |
//! | not contradicted | A pointer names an entry of its list. The whole is not complete while an entry is open, nor open when all are done. A total is not greater than a list of which all are done. No other list of work is open when this one is done. |
//! | `decide` | The current one unless it is done, else what has begun or failed, else what is named as next, else the first one that nothing holds up. |
//! | without a list | `2 of 5`, else what a pointer names, unless the file says somewhere that it is done. |
//! | `ready` | Only for a list that is named as work, with a status for every entry, where one entry at most has begun, none before it was left out, and pointers and totals agree. All else has to be confirmed. |

mod choose;
mod decide;
mod entry;
mod facts;
mod head;
mod lists;
mod words;

use std::collections::HashSet;

use serde_json::Value;

use super::document::Notation;
use super::draft::{Draft, ListCandidate, Undecided};
use super::format::Format;
use super::phase_list::phase_with_status;
use super::read_log::{ReadLog, with_original_word};
use ckpt_model::checkpoint::{CUSTOM_PIPELINE, Next, WorkflowStatus};
use ckpt_model::finding::{Code, Severity};
use ckpt_model::phase::{MAX_PHASES, Phase, PhaseStatus};
use ckpt_model::task::{MAX_TASKS, Task, TaskId, TaskStatus};
use decide::{Answer, Decision};
use entry::{Entry, Said};
use facts::Facts;
use lists::{Kind, List};
use words::{Noun, Word};

/// The reader for any other document.
pub(super) static FORMAT: Format = Format {
    word: "generic",
    text: "any other file about work in phases",
    places: &[],
    recognises: |_| true,
    read: |main, _, log| read(main, None, log),
    ..Format::ONLY_READ
};

/// Reads a document. `list` is the JSON pointer of the list that a person has chosen.
pub(super) fn read(main: &Value, list: Option<&str>, log: &mut ReadLog<'_>) -> Draft {
    let mut draft = Draft::default();
    let lines = if log.notation() == Notation::JsonLines { main.as_array() } else { None };
    let newest = lines.and_then(|lines| lines.last()).unwrap_or(main);
    head::read(newest, &mut draft, log);
    let mut facts = Facts::of(main, log.notation());
    let decided = match list {
        None => decide::decide(&facts),
        Some(place) => facts.only(main, place).and_then(|()| decide::decide(&facts)),
    };
    draft.mentions_work = facts.mentions_work || !facts.lists.is_empty() || !facts.pointers.is_empty();
    let action = head::next_action(newest);
    match decided {
        Ok(decision) if decision.list.as_ref().is_none_or(|list| list.entries.len() <= MAX_PHASES) => {
            conclude(decision, &mut draft, log);
        }
        Ok(_) => undecided(format!("a list has more than {MAX_PHASES} entries"), &facts, &mut draft, log),
        Err(why) => undecided(why, &facts, &mut draft, log),
    }
    if let (Some((action, place)), false) = (action, draft.content.status == WorkflowStatus::Complete) {
        log.origin("next action", &action, &place);
        draft.content.next.get_or_insert_default().action = Some(action);
    }
    draft
}

/// Notes why there is no answer, and which lists there are.
fn undecided(why: String, facts: &Facts, draft: &mut Draft, log: &mut ReadLog<'_>) {
    log.finding(Severity::Confirm, Code::PhasesUnknown, why.clone());
    for entry in facts.lists.iter().flat_map(|list| &list.entries).take(MAX_PHASES) {
        if let Said::Unknown(word) = &entry.said {
            log.unknown_status(Severity::Advice, word, &entry.place);
        }
    }
    let candidate = |list: &List| ListCandidate {
        place: list.place.clone(),
        entries: list.entries.len(),
        why: match list {
            list if !list.is_understood() => choose::why_unclear(list),
            list if list.noun == Noun::Aside => "its name does not mean work".to_owned(),
            list if list.noun == Noun::Other => "its name does not say what it lists".to_owned(),
            list if list.are_all_done() => "all of it is done".to_owned(),
            list => {
                let left = list.entries.iter().filter(|entry| !entry.is_done()).count();
                format!("{left} of {} left", list.entries.len())
            }
        },
    };
    let lists = facts.lists.iter().filter(|list| list.kind != Kind::OnlyDone).map(candidate).collect();
    draft.undecided = Some(Undecided { why, lists });
}

/// Writes the decision into the draft, so that `resume` gives the same answer.
fn conclude(decision: Decision, draft: &mut Draft, log: &mut ReadLog<'_>) {
    let Decision { answer, list, current, doubts, whole } = decision;
    if answer != Answer::Complete {
        for doubt in doubts {
            log.finding(Severity::Confirm, Code::PhasesImplied, doubt);
        }
        if log.is_cut() {
            let message = "the file does not end with a line break; it may have been cut off";
            log.finding(Severity::Confirm, Code::IncompleteWrite, message);
        }
    }
    draft.content.status = match (&answer, whole) {
        (Answer::Complete | Answer::Idle, _) => WorkflowStatus::Complete,
        (_, Some(Word::Is(PhaseStatus::Failed))) => WorkflowStatus::Failed,
        (_, Some(Word::Abandoned | Word::Is(PhaseStatus::Skipped))) => WorkflowStatus::Abandoned,
        _ => WorkflowStatus::InProgress,
    };
    if let (None, Answer::Complete) = (&list, &answer) {
        log.origin("status", WorkflowStatus::Complete.word(), "");
    }
    if answer == Answer::Idle {
        log.finding(Severity::Info, Code::Idle, "the file says that there is nothing to be done");
        draft.idle = true;
        return;
    }
    if let Answer::Resume(id) = &answer {
        log.origin("next phase", id, "");
        draft.content.next = Some(Next { phase: Some(id.clone()), explicit: true, ..Next::default() });
    }
    draft.content.phase = current;
    let Some(list) = list else { return };
    if list.kind != Kind::OnlyDone {
        draft.content.pipeline = Some(CUSTOM_PIPELINE.to_owned());
    }
    let mut used = HashSet::new();
    for entry in &list.entries {
        let phase = phase_of(entry, &answer, log);
        add_tasks(entry, &mut used, &mut draft.content.tasks);
        draft.content.phases.push(phase);
    }
    let times = draft.content.phases.iter().flat_map(|phase| [phase.started_at, phase.completed_at]);
    draft.recorded_at = draft.recorded_at.or(times.flatten().max());
}

fn phase_of(entry: &Entry, answer: &Answer, log: &mut ReadLog<'_>) -> Phase {
    let status = entry.status().unwrap_or_default();
    if let Said::Is(_, text) = &entry.said {
        let fact = format!("phases/{}/status", entry.id);
        log.origin(fact, with_original_word(status, &text.as_str().into()), &entry.place);
    }
    let mut phase = phase_with_status(entry.id.clone(), status);
    phase.name.clone_from(&entry.name);
    phase.started_at = entry.started_at;
    phase.completed_at = if status.is_done() { entry.completed_at } else { None };
    phase.recency = u32::from(*answer == Answer::Resume(entry.id.clone()) && entry.is_open());
    phase
}

/// Adds the parts of an entry as tasks. One whose id is in use is prefixed with its phase.
fn add_tasks(entry: &Entry, used: &mut HashSet<TaskId>, tasks: &mut Vec<Task>) {
    for part in &entry.parts {
        let phase = &entry.id;
        let own = part.id.as_str().parse::<TaskId>().ok().filter(|id| !used.contains(id));
        let Some(id) = own.or_else(|| format!("{phase}/{}", part.id).parse().ok()) else { continue };
        if tasks.len() >= MAX_TASKS || !used.insert(id.clone()) {
            continue;
        }
        let mut task = Task::pending(id, Some(phase.clone()));
        task.status = TaskStatus::from(part.status().unwrap_or_default());
        task.attempts = u32::from(!matches!(task.status, TaskStatus::Pending | TaskStatus::Skipped));
        tasks.push(task);
    }
}
