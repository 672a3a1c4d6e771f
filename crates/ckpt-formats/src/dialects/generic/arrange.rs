//! The statements about one kind of things, arranged: which there are, the status of each, and where the work stands.

use std::collections::HashMap;

use super::collect::{Claim, Counted, Pointer, Statement};
use super::values::{Names, Standing, Thing, number_in};
use super::vocabulary::{Noun, Word, pointer_word};
use crate::dialects::numbered_phases;
use crate::dialects::read_log::{ReadLog, with_original_word};
use ckpt_model::finding::{Code, Severity};
use ckpt_model::phase::{MAX_PHASES, PhaseId, PhaseStatus};

/// The most things that a number alone makes; a greater one counts words, files or rows.
const MAX_NUMBERED: u64 = 300;

/// Applies a second status of a thing: the more cautious of both counts, and that they differ is a finding.
fn agree(thing: &mut Thing, second: PhaseStatus, place: &str, log: &mut ReadLog<'_>) {
    let first = *thing.status.get_or_insert(second);
    let rank = |status| MOST_CAUTIOUS_FIRST.iter().position(|listed| *listed == status);
    if first != second {
        let (id, words) = (&thing.id, (first.word(), second.word()));
        let message = format!("{id} is recorded as {} and as {}; the more careful word counts", words.0, words.1);
        log.finding_at(Severity::Confirm, Code::RecordsDisagree, place, &message);
        thing.status = Some(if rank(first) < rank(second) { first } else { second });
    }
}

const MOST_CAUTIOUS_FIRST: [PhaseStatus; 5] =
    [PhaseStatus::Failed, PhaseStatus::InProgress, PhaseStatus::Pending, PhaseStatus::Skipped, PhaseStatus::Complete];

/// The order of things that are listed by their status only.
const IN_ORDER: [PhaseStatus; 5] =
    [PhaseStatus::Complete, PhaseStatus::Skipped, PhaseStatus::Failed, PhaseStatus::InProgress, PhaseStatus::Pending];

/// A place where the work is said to stand.
#[derive(Debug, Clone)]
pub(super) struct Stand {
    pub(super) id: PhaseId,
    pub(super) place: String,
    pub(super) pointer: Pointer,
}

/// How many of the things are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    Some,
    All,
}

/// The things of one kind, and where the work stands among them.
pub(super) struct Subject {
    pub(super) noun: Noun,
    pub(super) things: Vec<Thing>,
    names: Names,
    /// True if they are from a list, and not only mentioned one by one.
    pub(super) is_listed: bool,
    pub(super) extent: Extent,
    pub(super) current: Option<Stand>,
    pub(super) next: Option<Stand>,
    /// The word that stands in the place of the current thing.
    pub(super) word: Option<Word>,
}

impl Subject {
    pub(super) fn empty(noun: Noun) -> Self {
        let (things, names) = (Vec::new(), Names::default());
        let (is_listed, extent) = (false, Extent::Some);
        Self { noun, things, names, is_listed, extent, current: None, next: None, word: None }
    }

    /// Arranges the statements about things of this kind: a record of a thing counts more than a group, that more than
    /// what happened, and that more than a number.
    pub(super) fn of(noun: Noun, statements: &[Statement], log: &mut ReadLog<'_>) -> Self {
        let about: Vec<&Statement> = statements.iter().filter(|statement| statement.noun == noun).collect();
        let mut subject = Self::empty(noun);
        subject.find_stands(&about);
        subject.add_lists(&about, log);
        subject.add_groups(&about, log);
        subject.add_history(&about);
        subject.unify_stands(&about);
        subject.add_numbered(&about, log);
        subject.apply_last_done(&about, log);
        subject.apply_counts(&about, log);
        subject.apply_pointer_status(&about, log);
        subject.finish_what_was_passed();
        subject.leave_the_others(&about);
        subject.limit(log);
        subject
    }

    pub(super) fn position(&self, id: &PhaseId) -> Option<usize> {
        self.names.find(id)
    }

    pub(super) fn find(&self, id: &PhaseId) -> Option<&Thing> {
        self.position(id).map(|index| &self.things[index])
    }

    /// Returns the current thing, if it is in the list.
    pub(super) fn current_index(&self) -> Option<usize> {
        self.current.as_ref().and_then(|stand| self.position(&stand.id))
    }

    /// True if the status of any thing is known.
    pub(super) fn has_any_status(&self) -> bool {
        self.things.iter().any(|thing| thing.status.is_some())
    }

    pub(super) fn all_done(&self) -> bool {
        !self.things.is_empty() && self.things.iter().all(Thing::is_done)
    }

    pub(super) fn complete_first(&mut self, count: usize) {
        for thing in self.things.iter_mut().take(count).filter(|thing| !thing.is_done()) {
            thing.status = Some(PhaseStatus::Complete);
        }
    }

    /// Takes what the work stands at as one of the things, unless there is a list that lacks it.
    pub(super) fn add_current(&mut self, status: PhaseStatus) {
        if let Some(Stand { id, place, .. }) = self.current.clone()
            && !self.is_listed
        {
            self.push(Thing { status: Some(status), ..Thing::named(id, &place) });
        }
    }

    fn push(&mut self, thing: Thing) {
        self.names.add(self.things.len(), &thing.id, thing.name.as_deref());
        self.things.push(thing);
    }

    fn find_stands(&mut self, about: &[&Statement]) {
        let mut qualified = None;
        for statement in about {
            let Claim::Pointer(pointer, id) = &statement.claim else { continue };
            let slot = match pointer {
                Pointer::Current | Pointer::About | Pointer::Position => &mut self.current,
                Pointer::Qualified => &mut qualified,
                Pointer::Next => &mut self.next,
                Pointer::LastDone => continue,
            };
            let (id, place) = (id.clone(), statement.place.clone());
            slot.get_or_insert(Stand { id, place, pointer: *pointer });
        }
        self.current = self.current.take().or(qualified);
    }

    /// Adds the lists: those with statuses, of the outermost level that has any, and bare ones beside or around them.
    fn add_lists(&mut self, about: &[&Statement], log: &mut ReadLog<'_>) {
        let lists = about.iter().filter_map(|statement| match &statement.claim {
            Claim::Things(items) if !items.is_empty() => Some((*statement, items)),
            _ => None,
        });
        let has_status =
            |items: &[Thing]| items.iter().any(|it| it.status.is_some() || it.standing != Standing::Unsaid);
        let level = |(statement, _): (&Statement, _)| statement.level;
        let outermost = lists.clone().filter(|(_, items)| has_status(items)).map(level).min();
        let Some(outermost) = outermost.or_else(|| lists.clone().map(level).min()) else { return };
        let lists: Vec<_> = lists.filter(|(statement, _)| statement.level <= outermost).collect();
        self.is_listed = true;
        // Of several lists whose names say nothing, it is unknown whether they are all.
        let is_all = self.noun != Noun::Other || lists.len() < 2;
        self.extent = if is_all { Extent::All } else { Extent::Some };
        let parent =
            |statement: &Statement| statement.place.rsplit_once('/').map_or("", |(parent, _)| parent).to_owned();
        let first = lists.first().map(|(statement, _)| parent(statement)).unwrap_or_default();
        for (statement, items) in lists {
            let own = parent(statement);
            let prefix = if own == first { None } else { own.rsplit('/').next() };
            self.add_list(items, prefix, log);
        }
    }

    /// Adds a list. A thing that is there already is the same one, unless the list belongs to another object.
    fn add_list(&mut self, items: &[Thing], prefix: Option<&str>, log: &mut ReadLog<'_>) {
        let first_new = self.things.len();
        for item in items {
            log_standing(item, log);
            let mut item = item.clone();
            let is_other = self.names.find_spelling(&item.id).is_some_and(|known| known < first_new);
            if let Some(prefix) = prefix
                && is_other
            {
                item.id = format!("{prefix}/{}", item.id).parse().unwrap_or(item.id);
            }
            let Some(index) = self.names.find_spelling(&item.id) else {
                self.push(item);
                continue;
            };
            let thing = &mut self.things[index];
            if let Some(status) = item.status {
                if thing.status.is_none() {
                    (thing.standing, thing.place) = (item.standing.clone(), item.place.clone());
                }
                agree(thing, status, &item.place, log);
            }
            thing.complete_by(item);
        }
    }

    /// Adds things that are listed by their status. Those that are in no list stand in the order done, current, pending.
    fn add_groups(&mut self, about: &[&Statement], log: &mut ReadLog<'_>) {
        let groups = groups(about);
        let has = |wanted: fn(PhaseStatus) -> bool| {
            groups.iter().any(|(status, items, _)| wanted(*status) && !items.is_empty())
        };
        let says_what_is_left = groups.iter().any(|(status, ..)| *status == PhaseStatus::Pending);
        if has(PhaseStatus::is_done) && says_what_is_left {
            self.extent = Extent::All;
        }
        for status in IN_ORDER {
            if status == PhaseStatus::Pending && !groups.is_empty() {
                self.add_current_beside_groups(count(about, Counted::Total));
            }
            for (_, items, place) in groups.iter().filter(|(group, ..)| *group == status) {
                for item in *items {
                    self.add_grouped(item, status, place, log);
                }
            }
        }
    }

    fn add_grouped(&mut self, item: &Thing, group: PhaseStatus, place: &str, log: &mut ReadLog<'_>) {
        // In a list of those that are done, a word for done adds nothing.
        let own = item.standing.word().map(Word::status).filter(|own| !(own.is_done() && group.is_done()));
        let status = own.unwrap_or(group);
        log.origin(format!("phases/{}/status", item.id), status.word(), place);
        let Some(index) = self.position(&item.id) else {
            return self.push(Thing { status: Some(status), ..item.clone() });
        };
        let thing = &mut self.things[index];
        if thing.status.is_none_or(|known| known.is_done() != status.is_done()) {
            agree(thing, status, place, log);
        }
    }

    fn add_current_beside_groups(&mut self, total: Option<(u64, String)>) {
        let named = self.current.clone().filter(|stand| stand.pointer != Pointer::Position);
        let Some(stand) = named else { return };
        let number = numbered_phases::number_of(&stand.id);
        let is_behind = number.zip(total).is_some_and(|(number, (total, _))| number > total);
        let is_phase = !is_behind && pointer_word(stand.id.as_str()).is_none();
        let is_new = !self.is_listed && !self.things.is_empty() && self.position(&stand.id).is_none();
        if is_phase && is_new {
            self.push(Thing::named(stand.id, &stand.place));
        }
    }

    /// Adds what happened: the last word about a thing counts, and only where nothing else is said.
    fn add_history(&mut self, about: &[&Statement]) {
        let is_said: Vec<bool> = self.things.iter().map(|thing| thing.status.is_some()).collect();
        let happened = about.iter().filter_map(|statement| match &statement.claim {
            Claim::History(items) => Some(items),
            _ => None,
        });
        for (item, status) in happened.flatten().filter_map(|item| Some((item, item.status?))) {
            match self.position(&item.id) {
                Some(index) if is_said.get(index) == Some(&true) => {}
                Some(index) => self.things[index].status = Some(status),
                None if !self.is_listed => self.push(item.clone()),
                None => {}
            }
        }
    }

    /// Makes the pointers name things of the list, and takes a word in the place of the current one for what it says.
    fn unify_stands(&mut self, about: &[&Statement]) {
        let is_number = |thing: &Thing| numbered_phases::number_of(&thing.id).is_some();
        let are_numbers =
            !self.is_listed && (count(about, Counted::Total).is_some() || self.things.iter().any(is_number));
        if let Some(stand) = self.current.clone()
            && (self.current_index().is_none() || !self.is_listed)
        {
            let index = number_in(stand.id.as_str()).and_then(|number| usize::try_from(number).ok());
            if let Some(thing) = index.and_then(|index| self.things.get(index))
                && stand.pointer == Pointer::Position
                && self.is_listed
            {
                self.current = Some(Stand { id: thing.id.clone(), ..stand });
            } else if let Some(word) = pointer_word(stand.id.as_str()) {
                (self.word, self.current) = (Some(word), None);
            }
        }
        for stand in [&mut self.current, &mut self.next].into_iter().flatten() {
            let number = if are_numbers { number_in(stand.id.as_str()) } else { None };
            if let Some(index) = self.names.find(&stand.id) {
                stand.id = self.things[index].id.clone();
            } else if let Some(Ok(id)) = number.map(|number| number.to_string().parse()) {
                stand.id = id;
            }
        }
    }

    /// Completes a list of numbers: up to the total, and to the numbers that are mentioned.
    fn add_numbered(&mut self, about: &[&Statement], log: &mut ReadLog<'_>) {
        let Some((total, place)) = count(about, Counted::Total) else { return };
        // `{"total": 100, "current": "src/a.ts"}` counts something else.
        let is_other = self.noun == Noun::Other && about.iter().any(|it| matches!(it.claim, Claim::Mention));
        if is_other || total > MAX_NUMBERED {
            return;
        }
        self.check_within(total, log);
        let known: Vec<PhaseId> = self.things.iter().map(|thing| thing.id.clone()).collect();
        let highest = if known.iter().any(|id| id.as_str() == "0") { total.saturating_sub(1) } else { total };
        let is_within = |id: &&PhaseId| numbered_phases::number_of(id).is_none_or(|number| number <= highest);
        let stands = [&self.current, &self.next].into_iter().flatten().map(|stand| &stand.id);
        let stands = stands.chain(last_done(about).map(|(id, _)| id)).filter(is_within);
        if let Some(ids) = numbered_phases::range(known.iter().chain(stands), Some(total)) {
            let things = std::mem::take(&mut self.things).into_iter();
            let mut things: HashMap<PhaseId, Thing> = things.map(|it| (it.id.clone(), it)).collect();
            self.names = Names::default();
            for id in ids {
                self.push(things.remove(&id).unwrap_or_else(|| Thing::named(id, &place)));
            }
            self.extent = Extent::All;
        }
        let known = self.things.len() as u64;
        if self.is_listed && known != total && known > 0 {
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
            let is_beyond = |number| number > total || total == 0;
            self.names.find(&stand.id).is_none() && numbered_phases::number_of(&stand.id).is_some_and(is_beyond)
        };
        if let Some(stand) = self.current.take_if(is_beyond)
            && !self.has_any_status()
        {
            let message = format!("there is no {} of {total}; nothing is concluded from it", stand.id);
            log.finding_at(Severity::Confirm, Code::RecordsDisagree, &stand.place, &message);
        }
    }

    /// Applies the last one that is done: those before it are done too, if nothing else is known.
    fn apply_last_done(&mut self, about: &[&Statement], log: &mut ReadLog<'_>) {
        let Some((id, place)) = last_done(about) else { return };
        let Some(index) = self.position(id) else {
            if self.things.is_empty() {
                let status = Some(PhaseStatus::Complete);
                return self.push(Thing { status, ..Thing::named(id.clone(), place) });
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
            let message = format!("{id} is said to be the last completed one, but it is recorded as {status}");
            log.finding_at(Severity::Advice, Code::RecordsDisagree, place, &message);
        }
    }

    /// Applies the number of done things where no status is known, and compares it where one is.
    fn apply_counts(&mut self, about: &[&Statement], log: &mut ReadLog<'_>) {
        let left = count(about, Counted::Left).zip(count(about, Counted::Total));
        let without_left = left.and_then(|((left, place), (total, _))| Some((total.checked_sub(left)?, place)));
        let Some((count, place)) = count(about, Counted::Done).or(without_left) else { return };
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        let (known, done) = (self.things.len(), self.things.iter().filter(|thing| thing.is_done()).count());
        let is_number = |thing: &Thing| numbered_phases::number_of(&thing.id).is_some();
        let mut disagree = |severity, message: String| {
            log.finding_at(severity, Code::RecordsDisagree, &place, &message);
        };
        if self.has_any_status() {
            if done != count {
                let message = format!("{count} are counted as done, but {done} are recorded; the record counts");
                disagree(Severity::Advice, message);
            }
        } else if count > known && known > 0 {
            disagree(Severity::Confirm, format!("{count} are counted as done, but only {known} are known"));
            self.extent = Extent::Some;
        } else if self.is_listed || self.things.iter().any(is_number) {
            for thing in &mut self.things {
                thing.status = Some(PhaseStatus::Pending);
            }
            self.complete_first(count);
            log.origin("phases done", count, &place);
        }
    }

    /// Applies the status that is said of the current thing.
    fn apply_pointer_status(&mut self, about: &[&Statement], log: &mut ReadLog<'_>) {
        let said = about.iter().find_map(|statement| match &statement.claim {
            Claim::PointerStatus(Standing::Said(word, _)) => Some((word.status(), &statement.place)),
            _ => None,
        });
        let Some((status, place)) = said else { return };
        log.origin("phase status", status.word(), place);
        let Some(index) = self.current_index() else { return self.add_current(status) };
        let thing = &mut self.things[index];
        if thing.status.is_none_or(|known| status == PhaseStatus::Failed && known.is_done()) {
            agree(thing, status, place, log);
        }
    }

    /// Takes a thing as done that is still said to be in progress, if it has a time of completion and the work stands
    /// further on.
    fn finish_what_was_passed(&mut self) {
        let Some(current) = self.current_index() else { return };
        for thing in self.things.iter_mut().take(current) {
            if thing.status == Some(PhaseStatus::InProgress) && thing.completed_at.is_some() {
                thing.status = Some(PhaseStatus::Complete);
            }
        }
    }

    /// Takes things as not done of which nothing is said, where all are known, and those that are done are named.
    fn leave_the_others(&mut self, about: &[&Statement]) {
        let names_done =
            last_done(about).is_some() || groups(about).iter().any(|(status, ..)| *status == PhaseStatus::Complete);
        if names_done && self.extent == Extent::All {
            for thing in self.things.iter_mut().filter(|thing| thing.standing == Standing::Unsaid) {
                thing.status.get_or_insert(PhaseStatus::Pending);
            }
        }
    }

    fn limit(&mut self, log: &mut ReadLog<'_>) {
        if self.things.len() > MAX_PHASES {
            let message = format!("there are {} phases; the first {MAX_PHASES} are taken", self.things.len());
            log.finding(Severity::Confirm, Code::PhaseUnreadable, message);
            let things = std::mem::take(&mut self.things);
            (self.extent, self.names) = (Extent::Some, Names::default());
            things.into_iter().take(MAX_PHASES).for_each(|thing| self.push(thing));
        }
    }
}

/// Returns the groups of things with the same status, each with its place.
fn groups<'s>(about: &[&'s Statement]) -> Vec<(PhaseStatus, &'s [Thing], &'s str)> {
    let groups = about.iter().filter_map(|statement| match &statement.claim {
        Claim::Group(status, items) => Some((*status, items.as_slice(), statement.place.as_str())),
        _ => None,
    });
    groups.collect()
}

/// Logs the status of a thing with its place, a word that is not known, and remarks.
fn log_standing(item: &Thing, log: &mut ReadLog<'_>) {
    let fact = format!("phases/{}/status", item.id);
    match &item.standing {
        Standing::Unknown(word) => log.unknown_status(Severity::Advice, word, &item.place),
        Standing::Unsaid => {
            if let Some(status) = item.status {
                log.origin(fact, status.word(), &item.place);
            }
        }
        Standing::Said(word, text) => {
            log.origin(fact, with_original_word(word.status(), &text.as_str().into()), &item.place);
            let open = |part: &&Thing| part.status.is_some_and(|status| !status.is_done());
            let open = item.parts.iter().filter(open).count();
            let is_complete = word.status() == PhaseStatus::Complete;
            if *word == Word::DoneWithRemarks {
                let message = format!("{} is done, with remarks: {text}", item.id);
                log.finding_at(Severity::Advice, Code::StatusUnknown, &item.place, &message);
            }
            if is_complete && (open > 0 || item.error.is_some()) {
                let what =
                    if open > 0 { format!("but {open} of its tasks are not") } else { "but with an error".to_owned() };
                let message = format!("phase {} is recorded as complete, {what}", item.id);
                log.finding_at(Severity::Advice, Code::RecordsDisagree, &item.place, &message);
            }
        }
    }
}

/// Returns what is said to be the last one that is done.
fn last_done<'s>(about: &[&'s Statement]) -> Option<(&'s PhaseId, &'s str)> {
    about.iter().find_map(|statement| match &statement.claim {
        Claim::Pointer(Pointer::LastDone, id) => Some((id, statement.place.as_str())),
        _ => None,
    })
}

/// Returns a number, and its place.
fn count(about: &[&Statement], counted: Counted) -> Option<(u64, String)> {
    about.iter().find_map(|statement| match statement.claim {
        Claim::Count(what, count) if what == counted => Some((count, statement.place.clone())),
        _ => None,
    })
}
