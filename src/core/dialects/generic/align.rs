//! One phase under several names: `2`, `Phase 2` and `phase_2` are the same where a list has only one that fits.

use std::collections::HashSet;

use super::amounts::{leading_number, numbered, without_noun};
use super::evidence::Evidence;
use super::keys::fold;
use crate::core::dialects::numbers;
use crate::core::dialects::reading::Notes;
use crate::core::finding::{Code, Severity};
use crate::core::phase::PhaseId;
use crate::core::status_word::StatusWord;

impl Evidence {
    /// Calls every phase as the list of phases does, and works out how many are done from how many are left.
    pub(super) fn align(&mut self, notes: &mut Notes<'_>) {
        let known = self.known();
        let listed: HashSet<PhaseId> = known.iter().map(|(id, _)| id.clone()).collect();
        // Without a list, numbers are what a total counts.
        let counted = self.total.is_some() || self.mentions().any(|id| numbers::plain(id).is_some());
        for id in self.mentions_mut().filter(|id| !listed.contains(*id)) {
            let better =
                if known.is_empty() { numbered(id).filter(|_| counted) } else { other_name(id, &known) };
            if let Some(better) = better {
                *id = better;
            }
        }
        self.take_pointer_at_its_word();
        if let (None, Some(left), Some((total, place))) = (&self.count, self.left, &self.total) {
            match total.checked_sub(left) {
                Some(done) => self.count = Some((done, place.clone())),
                None => {
                    let message = format!("there are {total} phases, but {left} are said to be left");
                    notes.doubt_at(Severity::Advice, Code::RecordsDisagree, place, &message);
                    self.vague = true;
                }
            }
        }
    }

    /// `current_phase: COMPLETE` names no phase, unless one is called so.
    fn take_pointer_at_its_word(&mut self) {
        let Some((id, _)) = &self.current else { return };
        let word = StatusWord::understand(id.as_str());
        let halted =
            matches!(fold(id.as_str()).as_str(), "blocked" | "paused" | "halted" | "stopped" | "aborted");
        if (word.is_none() && !halted) || self.known().iter().any(|(known, _)| known == id) {
            return;
        }
        match word {
            Some(StatusWord::Complete) => self.says_complete = true,
            Some(StatusWord::Failed) => self.says_failed = true,
            Some(StatusWord::Pending) => self.not_begun = true,
            Some(StatusWord::InProgress | StatusWord::Skipped) | None => {}
        }
        self.current = None;
    }

    /// The phases that are listed, each with what it is called.
    fn known(&self) -> Vec<(PhaseId, Option<String>)> {
        let records =
            self.records.iter().filter_map(|record| Some((record.id.clone()?, record.name.clone())));
        let declared = self.declared.iter().flat_map(|(ids, _)| ids).map(|id| (id.clone(), None));
        records.chain(declared).collect()
    }

    fn mentions(&self) -> impl Iterator<Item = &PhaseId> {
        let alike = self.alike.iter().flat_map(|(_, ids, _)| ids);
        let pointers = [&self.last_completed, &self.current, &self.resume];
        alike.chain(pointers.into_iter().flatten().map(|(id, _)| id))
    }

    fn mentions_mut(&mut self) -> impl Iterator<Item = &mut PhaseId> {
        let alike = self.alike.iter_mut().flat_map(|(_, ids, _)| ids);
        let pointers = [&mut self.last_completed, &mut self.current, &mut self.resume];
        let pointers = pointers.into_iter().flatten().map(|(id, _)| id);
        let history = self.history.iter_mut().filter_map(|record| record.id.as_mut());
        let tasks = self.tasks.iter_mut().filter_map(|task| task.phase.as_mut());
        alike.chain(pointers).chain(history).chain(tasks)
    }
}

/// The one listed phase that is meant, if there is exactly one.
fn other_name(id: &PhaseId, known: &[(PhaseId, Option<String>)]) -> Option<PhaseId> {
    let spelled = fold(id.as_str());
    let only = |fits: &dyn Fn(&PhaseId, Option<&str>) -> bool| {
        let mut found = known.iter().filter(|(id, name)| fits(id, name.as_deref())).map(|(id, _)| id);
        let first = found.next()?;
        found.all(|other| other == first).then(|| first.clone())
    };
    only(&|listed, _| fold(listed.as_str()) == spelled)
        .or_else(|| only(&|_, name| name.is_some_and(|name| fold(name) == spelled)))
        .or_else(|| {
            let number = number(id)?;
            only(&|listed, _| self::number(listed) == Some(number))
        })
}

/// The number in the name of a phase: `2`, `02-build`, `Phase 2`, `phase2_build`.
fn number(id: &PhaseId) -> Option<u64> {
    let (number, rest) = leading_number(without_noun(id.as_str()))?;
    (!rest.starts_with(|c: char| c.is_alphanumeric() || c == '.')).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meant(id: &str, known: &[&str]) -> Option<String> {
        let known: Vec<_> = known.iter().map(|id| (id.parse().unwrap(), None)).collect();
        other_name(&id.parse().unwrap(), &known).map(|id| id.to_string())
    }

    #[test]
    fn a_phase_is_known_by_its_spelling_its_number_or_its_title() {
        assert_eq!(meant("Build", &["plan", "build"]).as_deref(), Some("build"));
        assert_eq!(meant("2", &["phase_1", "phase_2"]).as_deref(), Some("phase_2"));
        assert_eq!(meant("Phase 2", &["1", "2"]).as_deref(), Some("2"));
        assert_eq!(meant("2", &["01-plan", "02-build"]).as_deref(), Some("02-build"));
        assert_eq!(meant("1", &["phase0_setup", "phase1_base"]).as_deref(), Some("phase1_base"));
        let titled = [("p1".parse().unwrap(), Some("Deep Work".to_owned()))];
        assert_eq!(other_name(&"deep work".parse().unwrap(), &titled).unwrap().as_str(), "p1");
    }

    #[test]
    fn what_could_be_two_is_neither() {
        assert_eq!(meant("2", &["2-a", "2-b"]), None);
        assert_eq!(meant("2", &["plan", "build"]), None);
        assert_eq!(meant("3", &["3A", "3.5"]), None);
    }
}
