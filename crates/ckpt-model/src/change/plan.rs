//! An agent's own plan, applied to a workflow.
//!
//! In a workflow that has no other phases, the items of the plan are its phases. In any other workflow, whose phases
//! somebody has declared, they are tasks of the current phase. Plans get reordered, renamed and shortened, so nothing here
//! is refused: an item that was begun and is not in the plan any more stays, as skipped unless it was done.

use std::collections::HashSet;

use serde::Serialize;

use super::apply::report;
use super::plan_memory::PlanMemory;
use crate::checkpoint::Content;
use crate::phase::{MAX_PHASES, Phase, PhaseId, PhaseStatus};
use crate::task::{MAX_TASKS, Task, TaskId, TaskStatus};
use crate::text::plain_text;
use crate::time::Timestamp;

/// The pipeline name of phases that were made from an agent's plan.
pub const AGENT_PLAN: &str = "agent-plan";
/// The most characters of a title that is made from a plan.
const TITLE_LENGTH: usize = 100;

/// A report of an agent's plan, or of a part of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlanUpdate {
    /// The session of the agent; the keys of items mean something inside of it only.
    pub session: Option<String>,
    /// The kind of the items.
    pub kind: PlanKind,
    /// The items, in the order of the plan.
    pub items: Vec<PlanItem>,
}

/// The kind of the items of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanKind {
    /// The whole plan.
    Whole,
    /// New items, and items that have changed.
    Part,
    /// The one item that is worked on from now on; what was worked on before it is done.
    Chapter,
    /// The purpose of the whole plan.
    Goal,
}

/// One item of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct PlanItem {
    /// The host's own id of it.
    pub key: Option<String>,
    /// The text; none if only the key is known.
    pub text: Option<String>,
    /// Where it stands; none if that has not changed.
    pub status: Option<PhaseStatus>,
}

/// An item whose phase or task is known.
struct Found {
    id: String,
    text: Option<String>,
    status: Option<PhaseStatus>,
}

/// A phase or task that an item may be about.
struct Known<'a> {
    id: &'a str,
    name: Option<&'a str>,
    is_done: bool,
}

/// Returns true if the phases of a workflow are made from plans, or may be.
#[must_use]
pub fn is_plan_of_agent(content: &Content) -> bool {
    match &content.pipeline {
        Some(name) => name == AGENT_PLAN,
        None => content.phases.is_empty(),
    }
}

impl PlanUpdate {
    /// The texts of the items.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.items.iter().filter_map(|item| item.text.as_deref())
    }

    /// Returns true if an item is one of the phases or tasks of a workflow.
    #[must_use]
    pub fn shares_item(&self, content: &Content) -> bool {
        let of_phases = content.phases.iter().map(|phase| (phase.id.as_str(), phase.name.as_deref()));
        let known: Vec<_> = of_phases.chain(content.tasks.iter().map(|task| (task.id.as_str(), None))).collect();
        let is_known = |text: &str| {
            let phase = PhaseId::from_text(text);
            let task = TaskId::from_text(text);
            known.iter().any(|(id, name)| {
                *name == Some(text)
                    || phase.as_ref().is_some_and(|phase| phase.as_str() == *id)
                    || task.as_ref().is_some_and(|task| task.as_str() == *id)
            })
        };
        let memory = PlanMemory::read(&content.state, self.session.as_deref());
        let is_remembered = |key: &String| memory.ids.contains_key(key);
        self.texts().any(is_known) || self.items.iter().filter_map(|item| item.key.as_ref()).any(is_remembered)
    }

    /// Applies the report to the content of a workflow. `is_other_session` is true if another session saved it before.
    pub(super) fn apply(&self, next: &mut Content, now: Timestamp, is_other_session: bool) {
        // An agent that clears its list says nothing about the work.
        if self.items.is_empty() {
            return;
        }
        let as_phases = is_plan_of_agent(next);
        let has_keys = self.items.iter().any(|item| item.key.is_some());
        let mut memory = if has_keys || !as_phases {
            PlanMemory::read(&next.state, self.session.as_deref())
        } else {
            PlanMemory::default()
        };
        let before = memory.clone();
        if as_phases {
            self.apply_to_phases(next, &mut memory, now, is_other_session);
        } else {
            self.apply_to_tasks(next, &mut memory, now);
        }
        if memory != before {
            memory.write(&mut next.state, self.session.as_deref());
        }
        if next.title.is_none() {
            next.title = self.title();
        }
    }

    fn apply_to_phases(&self, next: &mut Content, memory: &mut PlanMemory, now: Timestamp, is_other_session: bool) {
        let known = next.phases.iter().map(|phase| Known {
            id: phase.id.as_str(),
            name: phase.name.as_deref(),
            is_done: phase.status.is_done(),
        });
        let found =
            self.find(&known.collect::<Vec<_>>(), memory, |text| Some(PhaseId::from_text(text)?.as_str().to_owned()));
        // A goal names the work; only without a plan is it a phase as well.
        let is_named_only = self.kind == PlanKind::Goal
            && !next.phases.is_empty()
            && found.iter().all(|item| next.phases.iter().all(|phase| phase.id.as_str() != item.id));
        if self.kind == PlanKind::Goal && (next.title.is_none() || is_named_only) {
            next.title = self.title().or(next.title.take());
        }
        if is_named_only {
            return;
        }
        if self.kind == PlanKind::Whole {
            arrange(next, &found, now, is_other_session);
        } else {
            let missing = |id: &PhaseId| next.phases.iter().all(|phase| phase.id != *id);
            let ids = found.iter().filter_map(|item| item.id.parse::<PhaseId>().ok());
            let added: Vec<PhaseId> = ids.filter(missing).collect();
            next.phases.extend(added.into_iter().map(Phase::pending));
        }
        next.phases.truncate(MAX_PHASES);
        if self.kind == PlanKind::Chapter {
            for index in 0..next.phases.len() {
                let is_current = found.iter().any(|item| item.id == next.phases[index].id.as_str());
                if next.phases[index].status == PhaseStatus::InProgress && !is_current {
                    report(next, index, PhaseStatus::Complete, now);
                }
            }
        }
        for Found { id, text, status } in found {
            let Some(index) = next.phases.iter().position(|phase| phase.id.as_str() == id) else { continue };
            if let Some(text) = text {
                next.phases[index].name = Some(text).filter(|text| *text != id);
            }
            if let Some(status) = status {
                report(next, index, status, now);
            }
        }
        // A phase that stands before the first one ever begun would count as no part of the run.
        if let Some(first) = next.phases.iter().position(Phase::was_begun) {
            next.phases[..=first].rotate_right(1);
        }
        next.pipeline = Some(AGENT_PLAN.to_owned());
    }

    fn apply_to_tasks(&self, next: &mut Content, memory: &mut PlanMemory, now: Timestamp) {
        if self.kind == PlanKind::Goal {
            return;
        }
        let known =
            next.tasks.iter().map(|task| Known { id: task.id.as_str(), name: None, is_done: task.status.is_done() });
        let found =
            self.find(&known.collect::<Vec<_>>(), memory, |text| Some(TaskId::from_text(text)?.as_str().to_owned()));
        let listed: HashSet<&str> = found.iter().map(|item| item.id.as_str()).collect();
        let is_gone =
            |task: &Task| memory.tasks.iter().any(|id| id == task.id.as_str()) && !listed.contains(task.id.as_str());
        for task in next.tasks.iter_mut().filter(|task| !task.status.is_done() && is_gone(task)) {
            match self.kind {
                PlanKind::Whole => task.enter(TaskStatus::Skipped, now),
                PlanKind::Chapter if task.status == TaskStatus::Running => {
                    task.enter(TaskStatus::Complete, now);
                }
                _ => {}
            }
        }
        if self.kind == PlanKind::Whole {
            memory.tasks.clear();
        }
        for Found { id, status, .. } in found {
            let Ok(task_id) = id.parse::<TaskId>() else { continue };
            let index = match next.tasks.iter().position(|task| task.id == task_id) {
                Some(index) => index,
                None if next.tasks.len() >= MAX_TASKS => continue,
                None => {
                    next.tasks.push(Task::pending(task_id, next.phase.clone()));
                    next.tasks.len() - 1
                }
            };
            if let Some(status) = status {
                next.tasks[index].enter(status.into(), now);
            }
            if !memory.tasks.contains(&id) {
                memory.tasks.push(id);
            }
        }
    }

    /// Finds the phase or task of each item, or makes a new id for it.
    fn find(
        &self,
        known: &[Known<'_>],
        memory: &mut PlanMemory,
        make_id: impl Fn(&str) -> Option<String>,
    ) -> Vec<Found> {
        let mut used: HashSet<String> = HashSet::new();
        let mut found = Vec::new();
        for PlanItem { key, text, status } in &self.items {
            let remembered = key.as_ref().and_then(|key| memory.ids.get(key)).cloned();
            let text = text.as_deref().map(plain_text).filter(|text| !text.is_empty());
            let made = text.as_deref().and_then(&make_id);
            let id = match (remembered, text.as_deref(), made) {
                (Some(id), ..) => id,
                (None, Some(text), Some(made)) => {
                    // A text that was cut is known by all of it.
                    let is_same = |known: &Known<'_>| {
                        known.name == Some(text) || known.id == made && (known.name.is_none() || made == text)
                    };
                    // A new item is another one than an item of the same text that is done.
                    let is_new = self.kind == PlanKind::Part && !status.is_some_and(PhaseStatus::is_done);
                    let is_free = |known: &Known<'_>| !(used.contains(known.id) || is_new && known.is_done);
                    let fitting = known.iter().filter(|known| is_same(known) && is_free(known));
                    let is_taken = |id: &str| used.contains(id) || known.iter().any(|known| known.id == id);
                    // By ids alone, so that the same report finds the same ones again.
                    match fitting.min_by_key(|known| (known.id != made, known.id)) {
                        Some(known) => known.id.to_owned(),
                        None => unique(&made, is_taken),
                    }
                }
                _ => continue,
            };
            if !used.insert(id.clone()) {
                continue;
            }
            if let Some(key) = key {
                memory.ids.insert(key.clone(), id.clone());
            }
            found.push(Found { id, text, status: *status });
        }
        found
    }

    /// Returns a title: what the first items say.
    fn title(&self) -> Option<String> {
        let texts: Vec<String> = self.texts().take(4).map(plain_text).filter(|text| !text.is_empty()).collect();
        let title = texts.join("; ");
        match title.char_indices().nth(TITLE_LENGTH) {
            Some((end, _)) => Some(format!("{}\u{2026}", title[..end].trim_end())),
            None => Some(title).filter(|title| !title.is_empty()),
        }
    }
}

/// Puts the phases in the order of the whole plan. What was begun and is not in it stays in front: as it is if it was done,
/// else as skipped. What was never begun and is not in it leaves, unless it is from the plan of another session.
fn arrange(next: &mut Content, found: &[Found], now: Timestamp, is_other_session: bool) {
    let goal = next.title.as_deref().and_then(PhaseId::from_text);
    let mut left = std::mem::take(&mut next.phases);
    let mut listed = Vec::new();
    for item in found {
        match left.iter().position(|phase| phase.id.as_str() == item.id) {
            Some(index) => listed.push(left.remove(index)),
            None => listed.extend(item.id.parse().ok().map(Phase::pending)),
        }
    }
    for mut phase in left {
        // The phase of a goal stood for the plan that is here now; the title still names it.
        let is_goal = goal.as_ref() == Some(&phase.id) && phase.status == PhaseStatus::InProgress;
        let is_referred = next.tasks.iter().any(|task| task.phase.as_ref() == Some(&phase.id));
        let stays = phase.was_begun() || phase.status.is_done() || is_referred || is_other_session;
        if is_goal || !stays {
            continue;
        }
        if !phase.status.is_done() {
            phase.enter(PhaseStatus::Skipped, now);
        }
        next.phases.push(phase);
    }
    next.phases.append(&mut listed);
}

/// Returns an id that is not taken: the one that was made, or the same with a number.
fn unique(made: &str, is_taken: impl Fn(&str) -> bool) -> String {
    /// Leaves room for a number.
    const LONGEST: usize = 56;
    let short: String = made.chars().take(LONGEST).collect();
    let numbered = (2_u32..).map(|number| format!("{} ({number})", short.trim_end()));
    std::iter::once(made.to_owned()).chain(numbered).find(|id| !is_taken(id)).unwrap_or_default()
}
