//! Unifying the names of phases: `2`, `Phase 2` and `phase_2` are the same phase if only one in the list matches.

use std::collections::HashSet;

use super::keys::snake_case;
use super::numbers::{id_without_noun, leading_number, without_noun};
use super::stated_progress::StatedProgress;
use crate::core::dialects::numbered_phases;
use crate::core::dialects::read_log::ReadLog;
use crate::core::finding::{Code, Severity};
use crate::core::phase::{PhaseId, PhaseStatus};
use crate::core::status_word::parse_status_word;

impl StatedProgress {
    /// Replaces the ids of phases by those in the list of phases, and computes the number of done phases from the number
    /// of phases that are left.
    pub(super) fn unify_phase_names(&mut self, log: &mut ReadLog<'_>) {
        let listed = self.listed_phases();
        let listed_ids: HashSet<PhaseId> = listed.iter().map(|(id, _)| id.clone()).collect();
        // Without a list, the phases are numbers if there is a total or any other number.
        let are_numbers =
            self.total.is_some() || self.mentions().any(|id| numbered_phases::number_of(id).is_some());
        for id in self.mentions_mut().filter(|id| !listed_ids.contains(*id)) {
            let unified = if !listed.is_empty() {
                listed_id(id, &listed)
            } else if are_numbers {
                id_without_noun(id)
            } else {
                None
            };
            if let Some(unified) = unified {
                *id = unified;
            }
        }
        self.interpret_status_as_current();
        if let (None, Some(left), Some((total, place))) = (&self.done_count, self.left_count, &self.total) {
            match total.checked_sub(left) {
                Some(done) => self.done_count = Some((done, place.clone())),
                None => {
                    let message = format!("there are {total} phases, but {left} are said to be left");
                    log.finding_at(Severity::Advice, Code::RecordsDisagree, place, &message);
                    self.has_unreadable = true;
                }
            }
        }
    }

    /// Interprets a status in the place of the current phase: `current_phase: COMPLETE` names no phase, unless one has
    /// that name.
    fn interpret_status_as_current(&mut self) {
        let Some((id, _)) = &self.current else { return };
        let word = parse_status_word(id.as_str());
        let halted = matches!(
            snake_case(id.as_str()).as_str(),
            "blocked" | "paused" | "halted" | "stopped" | "aborted"
        );
        if (word.is_none() && !halted) || self.listed_phases().iter().any(|(listed, _)| listed == id) {
            return;
        }
        match word {
            Some(PhaseStatus::Complete) => self.says_complete = true,
            Some(PhaseStatus::Failed) => self.says_failed = true,
            Some(PhaseStatus::Pending) => self.not_started = true,
            Some(PhaseStatus::InProgress | PhaseStatus::Skipped) | None => {}
        }
        self.current = None;
    }

    /// Returns the phases that are listed, each with its name.
    fn listed_phases(&self) -> Vec<(PhaseId, Option<String>)> {
        let records =
            self.records.iter().filter_map(|record| Some((record.id.clone()?, record.name.clone())));
        let declared = self.declared.iter().flat_map(|(ids, _)| ids).map(|id| (id.clone(), None));
        records.chain(declared).collect()
    }

    fn mentions(&self) -> impl Iterator<Item = &PhaseId> {
        let status_lists = self.status_lists.iter().flat_map(|list| &list.ids);
        let pointers = [&self.last_completed, &self.current, &self.resume_at];
        status_lists.chain(pointers.into_iter().flatten().map(|(id, _)| id))
    }

    fn mentions_mut(&mut self) -> impl Iterator<Item = &mut PhaseId> {
        let status_lists = self.status_lists.iter_mut().flat_map(|list| &mut list.ids);
        let pointers = [&mut self.last_completed, &mut self.current, &mut self.resume_at];
        let pointers = pointers.into_iter().flatten().map(|(id, _)| id);
        let history = self.history.iter_mut().filter_map(|record| record.id.as_mut());
        let tasks = self.tasks.iter_mut().filter_map(|task| task.phase.as_mut());
        status_lists.chain(pointers).chain(history).chain(tasks)
    }
}

/// Returns the listed phase with the same spelling, name or number, if there is exactly one.
fn listed_id(id: &PhaseId, listed: &[(PhaseId, Option<String>)]) -> Option<PhaseId> {
    let spelling = snake_case(id.as_str());
    let only_match = |matches: &dyn Fn(&PhaseId, Option<&str>) -> bool| {
        let mut matching = listed.iter().filter(|(id, name)| matches(id, name.as_deref())).map(|(id, _)| id);
        let first = matching.next()?;
        matching.all(|other| other == first).then(|| first.clone())
    };
    only_match(&|other, _| snake_case(other.as_str()) == spelling)
        .or_else(|| only_match(&|_, name| name.is_some_and(|name| snake_case(name) == spelling)))
        .or_else(|| {
            let number = number_in(id)?;
            only_match(&|other, _| number_in(other) == Some(number))
        })
}

/// Returns the number in the id of a phase: `2`, `02-build`, `Phase 2`, `phase2_build`.
fn number_in(id: &PhaseId) -> Option<u64> {
    let (number, rest) = leading_number(without_noun(id.as_str()))?;
    (!rest.starts_with(|c: char| c.is_alphanumeric() || c == '.')).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unified(id: &str, listed: &[&str]) -> Option<String> {
        let listed: Vec<_> = listed.iter().map(|id| (id.parse().unwrap(), None)).collect();
        listed_id(&id.parse().unwrap(), &listed).map(|id| id.to_string())
    }

    #[test]
    fn a_phase_is_found_by_its_spelling_its_number_or_its_name() {
        assert_eq!(unified("Build", &["plan", "build"]).as_deref(), Some("build"));
        assert_eq!(unified("2", &["phase_1", "phase_2"]).as_deref(), Some("phase_2"));
        assert_eq!(unified("Phase 2", &["1", "2"]).as_deref(), Some("2"));
        assert_eq!(unified("2", &["01-plan", "02-build"]).as_deref(), Some("02-build"));
        assert_eq!(unified("1", &["phase0_setup", "phase1_base"]).as_deref(), Some("phase1_base"));
        let named = [("p1".parse().unwrap(), Some("Deep Work".to_owned()))];
        assert_eq!(listed_id(&"deep work".parse().unwrap(), &named).unwrap().as_str(), "p1");
    }

    #[test]
    fn an_ambiguous_name_is_not_replaced() {
        assert_eq!(unified("2", &["2-a", "2-b"]), None);
        assert_eq!(unified("2", &["plan", "build"]), None);
        assert_eq!(unified("3", &["3A", "3.5"]), None);
    }
}
