//! Things that are known by their numbers: how many there are, how many are done, and the last one that is.

use std::collections::HashMap;

use super::{Extent, Stand, Subject, Thing};
use crate::core::dialects::generic::collect::{Claim, Counted, Pointer, Statement};
use crate::core::dialects::generic::entry::Item;
use crate::core::dialects::generic::shapes::Names;
use crate::core::dialects::generic::vocabulary::Noun;
use crate::core::dialects::numbered_phases;
use crate::core::dialects::read_log::ReadLog;
use crate::core::finding::{Code, Severity};
use crate::core::phase::{PhaseId, PhaseStatus};

/// The most things that a number alone makes; a greater one counts words, files or rows.
const MAX_NUMBERED: u64 = 300;

impl Subject {
    /// Completes a list of numbers: up to the total, and to the numbers that are mentioned.
    pub(super) fn add_numbered(&mut self, about: &[&Statement], log: &mut ReadLog<'_>) {
        let Some((total, place)) = count(about, Counted::Total) else { return };
        // `{"total": 100, "current": "src/a.ts"}` counts something else.
        let is_other = self.noun == Noun::Other && about.iter().any(|it| matches!(it.claim, Claim::Mention));
        if is_other || total > MAX_NUMBERED {
            return;
        }
        self.check_within(total, log);
        let known: Vec<PhaseId> = self.things.iter().map(|thing| thing.item.id.clone()).collect();
        let highest = if known.iter().any(|id| id.as_str() == "0") { total.saturating_sub(1) } else { total };
        let is_within = |id: &&PhaseId| numbered_phases::number_of(id).is_none_or(|number| number <= highest);
        let stands = [&self.current, &self.next].into_iter().flatten().map(|stand| &stand.id);
        let stands = stands.chain(last_done(about).map(|(id, _)| id)).filter(is_within);
        if let Some(ids) = numbered_phases::range(known.iter().chain(stands), Some(total)) {
            let things = std::mem::take(&mut self.things).into_iter();
            let mut things: HashMap<PhaseId, Thing> = things.map(|it| (it.item.id.clone(), it)).collect();
            self.names = Names::default();
            for id in ids {
                let known = things.remove(&id).map(|thing| (thing.item, thing.status));
                let (item, status) = known.unwrap_or_else(|| (Item::named(id, &place), None));
                self.push(item, status);
            }
            self.extent = Extent::All;
        }
        let known = self.things.len() as u64;
        if self.is_listed() && known != total && known > 0 {
            let message = format!("{total} are counted, but {known} are known; those count");
            log.finding_at(Severity::Advice, Code::RecordsDisagree, &place, &message);
        }
        if known > 0 {
            self.extent = if known >= total { Extent::All } else { Extent::Some };
        }
    }

    /// Drops a pointer to a number beyond the total, and any number of none. If nothing else is known, that is a finding.
    fn check_within(&mut self, total: u64, log: &mut ReadLog<'_>) {
        let is_beyond = |stand: &mut Stand| {
            let number =
                numbered_phases::number_of(&stand.id).filter(|_| self.names.find(&stand.id).is_none());
            number.is_some_and(|number| number > total || total == 0)
        };
        if let Some(stand) = self.current.take_if(is_beyond)
            && !self.has_any_status()
        {
            let message = format!("there is no {} of {total}; nothing is concluded from it", stand.id);
            log.finding_at(Severity::Confirm, Code::RecordsDisagree, &stand.place, &message);
        }
    }

    /// Applies the last one that is done: those before it are done too, if nothing else is known.
    pub(super) fn apply_last_done(&mut self, about: &[&Statement], log: &mut ReadLog<'_>) {
        let Some((id, place)) = last_done(about) else { return };
        let Some(index) = self.position(id) else {
            if self.things.is_empty() {
                return self.push(Item::named(id.clone(), place), Some(PhaseStatus::Complete));
            }
            let message = format!("{id} is said to be the last completed one, but it is not listed");
            log.finding_at(Severity::Confirm, Code::RecordsDisagree, place, &message);
            self.extent = Extent::Some;
            return;
        };
        if !self.has_any_status() {
            self.complete_first(index + 1);
            log.origin("phases done", index + 1, place);
        } else if !self.things[index].is_done() {
            let status = self.things[index].status.unwrap_or_default().word();
            let message =
                format!("{id} is said to be the last completed one, but it is recorded as {status}");
            log.finding_at(Severity::Advice, Code::RecordsDisagree, place, &message);
        }
    }

    /// Applies the number of done things where no status is known, and compares it where one is.
    pub(super) fn apply_counts(&mut self, about: &[&Statement], log: &mut ReadLog<'_>) {
        let left = count(about, Counted::Left).zip(count(about, Counted::Total));
        let without_left =
            left.and_then(|((left, place), (total, _))| Some((total.checked_sub(left)?, place)));
        let Some((count, place)) = count(about, Counted::Done).or(without_left) else { return };
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        let (known, done) = (self.things.len(), self.things.iter().filter(|thing| thing.is_done()).count());
        let is_number = |thing: &Thing| numbered_phases::number_of(&thing.item.id).is_some();
        let mut disagree = |severity, message: String| {
            log.finding_at(severity, Code::RecordsDisagree, &place, &message);
        };
        if self.has_any_status() {
            if done != count {
                let message =
                    format!("{count} are counted as done, but {done} are recorded; the record counts");
                disagree(Severity::Advice, message);
            }
        } else if count > known && known > 0 {
            disagree(Severity::Confirm, format!("{count} are counted as done, but only {known} are known"));
            self.extent = Extent::Some;
        } else if self.is_listed() || self.things.iter().any(is_number) {
            for thing in &mut self.things {
                thing.status = Some(PhaseStatus::Pending);
            }
            self.complete_first(count);
            log.origin("phases done", count, &place);
        }
    }
}

/// Returns what is said to be the last one that is done.
pub(super) fn last_done<'s>(about: &[&'s Statement]) -> Option<(&'s PhaseId, &'s str)> {
    about.iter().find_map(|statement| match &statement.claim {
        Claim::Pointer(Pointer::LastDone, id) => Some((id, statement.place.as_str())),
        _ => None,
    })
}

/// Returns a number, and its place.
pub(super) fn count(about: &[&Statement], counted: Counted) -> Option<(u64, String)> {
    about.iter().find_map(|statement| match statement.claim {
        Claim::Count(what, count) if what == counted => Some((count, statement.place.clone())),
        _ => None,
    })
}
