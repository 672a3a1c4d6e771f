//! Lists of things to do, as many systems keep them: stories, features, tasks. Each becomes a phase.
//!
//! Such a list is not a sequence: its items may be done in any order that their dependencies allow. So what comes next is
//! always said: the item in progress, else the one with the highest priority of those whose dependencies are done.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::members::{first_member, text_or_number};
use super::phase_list::{phase_id, set_status};
use super::read_log::{ReadLog, with_original_word};
use ckpt_model::checkpoint::{CUSTOM_PIPELINE, Content, Next, WorkflowStatus};
use ckpt_model::finding::{Code, Severity};
use ckpt_model::phase::{MAX_PHASES, Phase, PhaseId, PhaseStatus};
use ckpt_model::status_word::parse_status_word;

/// One thing to do.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) phase: Phase,
    pub(super) depends_on: Vec<PhaseId>,
    /// The order among those that can be done now; the lowest comes first.
    pub(super) rank: u64,
}

/// The things to do, in the order of the document.
#[derive(Debug, Default)]
pub(super) struct Worklist {
    items: Vec<Item>,
    ids: HashSet<PhaseId>,
}

impl Worklist {
    /// Adds an item, unless its name cannot be used or is there already; that is logged.
    pub(super) fn add(
        &mut self,
        id: &Value,
        status: PhaseStatus,
        word: &Value,
        place: &str,
        log: &mut ReadLog<'_>,
    ) -> Option<&mut Item> {
        let id = log.phase_id(id, place)?;
        if self.items.len() >= MAX_PHASES || !self.ids.insert(id.clone()) {
            log.unreadable_phase(place);
            return None;
        }
        log.origin(format!("phases/{id}/status"), with_original_word(status, word), place);
        let mut phase = Phase::pending(id);
        set_status(&mut phase, status);
        self.items.push(Item { phase, depends_on: Vec::new(), rank: 0 });
        self.items.last_mut()
    }

    /// Returns the content: a declared list of phases, and what comes next.
    pub(super) fn into_content(self) -> Content {
        let statuses: HashMap<&PhaseId, PhaseStatus> =
            self.items.iter().map(|item| (&item.phase.id, item.phase.status)).collect();
        let is_free =
            |item: &&Item| item.depends_on.iter().all(|id| statuses.get(id).is_none_or(|status| status.is_done()));
        let open = || self.items.iter().filter(|item| !item.phase.status.is_done());
        let begun = open().find(|item| item.phase.status.is_open());
        let next = begun.or_else(|| open().filter(is_free).min_by_key(|item| item.rank)).or_else(|| open().next());
        let next = next.map(|item| item.phase.id.clone());
        let last_done = self.items.iter().rfind(|item| item.phase.status.is_done());
        let phase = begun.or(last_done).map(|item| item.phase.id.clone());
        let is_complete = !self.items.is_empty() && next.is_none();
        Content {
            status: if is_complete { WorkflowStatus::Complete } else { WorkflowStatus::InProgress },
            phase,
            next: next.map(|phase| Next { phase: Some(phase), explicit: true, ..Next::default() }),
            pipeline: if self.items.is_empty() { None } else { Some(CUSTOM_PIPELINE.to_owned()) },
            phases: self.items.into_iter().map(|item| item.phase).collect(),
            ..Content::default()
        }
    }
}

/// Returns the status of an item: of its word, with the words of its system first, or of a boolean.
pub(super) fn item_status(
    value: &Value,
    place: &str,
    words: &[(&str, PhaseStatus)],
    log: &mut ReadLog<'_>,
) -> PhaseStatus {
    match value {
        Value::Bool(true) => PhaseStatus::Complete,
        Value::String(word) => {
            let known = meaning(word, words);
            if known.is_none() {
                let message = format!("the status \"{}\" is not known; it is taken as not done", word.trim());
                log.finding_at(Severity::Confirm, Code::StatusUnknown, place, &message);
            }
            known.unwrap_or_default()
        }
        _ => PhaseStatus::Pending,
    }
}

/// Returns the ids in a list, or a single one.
pub(super) fn ids(value: Option<&Value>) -> Vec<PhaseId> {
    let values = match value {
        Some(Value::Array(values)) => values.as_slice(),
        Some(value) => std::slice::from_ref(value),
        None => &[],
    };
    values.iter().filter_map(phase_id).collect()
}

/// Returns the first of these members that is a text or a number, cut to what a title may have.
pub(super) fn name(item: &Value, keys: &[&'static str]) -> Option<String> {
    Some(title(&text_or_number(first_member(item, keys)?.1)?))
}

/// Returns the first line of a text, shortened to what a title may have.
pub(super) fn title(text: &str) -> String {
    const MAX: usize = 200;
    let line = text.lines().next().unwrap_or_default().trim_end();
    if line.chars().count() <= MAX {
        return line.to_owned();
    }
    // It ends behind a whole word, unless that would leave little of it.
    let end = line.char_indices().nth(MAX - 3).map_or(line.len(), |(end, _)| end);
    let is_whole = line[end..].starts_with(char::is_whitespace);
    let word = if is_whole { Some(end) } else { line[..end].rfind(char::is_whitespace) };
    let end = word.filter(|word| *word >= end / 2).unwrap_or(end);
    format!("{}...", line[..end].trim_end())
}

/// True if an array has objects, and most of them satisfy a condition.
pub(super) fn mostly(items: Option<&Value>, condition: impl Fn(&Value) -> bool) -> bool {
    let Some(items) = items.and_then(Value::as_array).filter(|items| !items.is_empty()) else { return false };
    let sample = &items[..items.len().min(50)];
    2 * sample.iter().filter(|item| item.is_object() && condition(item)).count() > sample.len()
}

/// Returns the meaning of a word, with the words of its system first.
pub(super) fn meaning(word: &str, words: &[(&str, PhaseStatus)]) -> Option<PhaseStatus> {
    let own = words.iter().find(|(own, _)| own.eq_ignore_ascii_case(word.trim())).map(|(_, status)| *status);
    own.or_else(|| parse_status_word(word))
}
