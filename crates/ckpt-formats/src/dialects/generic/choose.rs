//! Which list of a document is the work: one that is named so, or the only one. Nothing is chosen where two lists would
//! give different answers.

use super::entry::Entry;
use super::facts::Facts;
use super::lists::{Index, Kind, List};
use super::words::{Noun, Role};
use crate::dialects::numbered_phases;
use ckpt_model::phase::{PhaseId, PhaseStatus};

/// The most entries that a number alone makes; a greater one counts something else.
const MAX_COUNTED: u64 = 300;

/// The list that is the work, and why somebody has to confirm that.
pub(super) struct Choice {
    pub(super) list: List,
    pub(super) doubts: Vec<String>,
}

/// Chooses the list. `Ok(None)` if there is none; an error says why none of them is the one.
pub(super) fn choose(facts: &Facts) -> Result<Option<Choice>, String> {
    let mut lists: Vec<Choice> = facts.lists.iter().map(|list| settle(list.clone(), facts)).collect();
    let named: Vec<&Choice> = lists.iter().filter(|it| it.list.noun.is_work()).collect();
    if named.is_empty() {
        lists.retain(|it| it.list.noun == Noun::Other && it.list.kind != Kind::OnlyDone);
        return only(lists);
    }
    // Names without any status say less than another list that has them.
    let has_statuses = |it: &&Choice| it.list.entries.iter().any(|entry| entry.word().is_some());
    let coarsest = named.iter().copied().filter(has_statuses).map(|it| it.list.noun).min();
    let coarsest = coarsest.unwrap_or(named[0].list.noun);
    let top: Vec<&Choice> =
        named.iter().copied().filter(|it| it.list.noun == coarsest && (has_statuses(it) || named.len() == 1)).collect();
    if let Some(Choice { list, .. }) = top.iter().find(|it| !it.list.is_understood()) {
        return Err(why_unclear(list));
    }
    let open: Vec<&Choice> = top.iter().copied().filter(|it| !it.list.are_all_done()).collect();
    let depth = |it: &Choice| it.list.place.matches('/').count();
    let outermost = open.iter().map(|it| depth(it)).min();
    let outer: Vec<&Choice> = open.iter().copied().filter(|it| Some(depth(it)) == outermost).collect();
    let chosen = match (&outer[..], &top[..]) {
        ([one], _) | ([], [one, ..]) => *one,
        ([one, other, ..], _) => {
            return Err(format!("{} and {} both have open entries", at(&one.list), at(&other.list)));
        }
        ([], []) => return Err(why_unclear(&named[0].list)),
    };
    // Names without a status beside it are left too, unless they are its own entries.
    let own = Index::of(&chosen.list.entries);
    let is_other = |entry: &Entry| own.find(entry.id.as_str()).is_none();
    let is_left = |it: &&&Choice| {
        if has_statuses(it) {
            return !it.list.are_all_done();
        }
        it.list.noun == chosen.list.noun && it.list.entries.iter().any(is_other)
    };
    if let (true, Some(other)) = (chosen.list.are_all_done(), named.iter().find(is_left)) {
        return Err(format!("all of {} is done, and {} has more entries", at(&chosen.list), at(&other.list)));
    }
    let mut doubts = chosen.doubts.clone();
    if top.len() > 1 && !open.is_empty() {
        doubts.push(format!("there are {} lists of this kind; this is the outermost one that is not done", top.len()));
    }
    Ok(Some(Choice { list: chosen.list.clone(), doubts }))
}

/// Takes a list whose name says nothing: the only one, with something done and something left.
fn only(mut lists: Vec<Choice>) -> Result<Option<Choice>, String> {
    let Some(mut only) = lists.pop() else { return Ok(None) };
    if let Some(other) = lists.pop() {
        return Err(format!("neither {} nor {} is named as work", at(&other.list), at(&only.list)));
    }
    if !only.list.is_understood() {
        return Err(why_unclear(&only.list));
    }
    let done = only.list.entries.iter().filter(|entry| entry.is_done()).count();
    if done == 0 || only.list.are_all_done() {
        return Err(format!("{} is not named as work", at(&only.list)));
    }
    only.doubts.push(format!("{} is taken as the work because it is the only list; nothing says so", at(&only.list)));
    Ok(Some(only))
}

/// Returns the place of a list for a message.
pub(super) fn at(list: &List) -> String {
    if list.place.is_empty() { "the document".to_owned() } else { list.place.clone() }
}

/// Says how many statuses of a list are not understood.
pub(super) fn why_unclear(list: &List) -> String {
    let word = list.entries.iter().find_map(|entry| match &entry.said {
        super::entry::Said::Unknown(word) => {
            Some(format!(", such as \"{}\"", word.chars().take(40).collect::<String>()))
        }
        _ => None,
    });
    let (unclear, all) = (list.unclear(), list.entries.len());
    if unclear == all && word.is_none() {
        return format!("no entry of {} has a status", at(list));
    }
    format!("the status of {unclear} of {all} entries of {} is not understood{}", at(list), word.unwrap_or_default())
}

/// Adds statuses to a list of names, by what the document says of its entries: a count, the last one that is done, the
/// current one. Completes a list of numbers up to their total.
fn settle(mut list: List, facts: &Facts) -> Choice {
    let mut doubts = Vec::new();
    let count =
        |is_total| facts.counts.iter().find(|it| it.noun == list.noun && it.is_total == is_total).map(|it| it.number);
    if list.kind == Kind::Grouped {
        // `completed`, `current`, `remaining`: the current one is in neither list.
        let index = Index::of(&list.entries);
        let mut current = facts.pointers.iter().filter(|it| it.role == Role::Current && it.noun == Some(list.noun));
        if let Some(pointer) = current.next().filter(|pointer| index.find(pointer.id.as_str()).is_none()) {
            let first_left = list.entries.iter().position(|entry| !entry.is_done()).unwrap_or(list.entries.len());
            let entry = Entry::named(pointer.id.clone(), &pointer.place).with_status(PhaseStatus::InProgress);
            list.entries.insert(first_left, entry);
            doubts.push(format!("{} names {}, which is in no list", pointer.place, pointer.id));
        }
    }
    if list.kind == Kind::OnlyDone
        && let Some(total) = count(true)
    {
        if list.entries.len() as u64 == total {
            list.kind = Kind::Grouped;
        } else if let Some(all) = counted(&list.entries, total) {
            (list.entries, list.kind) = (all, Kind::Counted);
            doubts.push("the others are known by their number only".to_owned());
        }
    }
    if list.kind == Kind::Named {
        let index = Index::of(&list.entries);
        let mut by_pointer =
            facts.pointers.iter().filter(|pointer| pointer.noun == Some(list.noun)).filter_map(|pointer| {
                let position = match pointer.role {
                    Role::Index => usize::try_from(pointer.id.as_str().parse::<u64>().ok()?).ok(),
                    _ => index.find(pointer.id.as_str()),
                }?;
                let is_done = pointer.role == Role::LastDone || is_said_done(list.noun, facts);
                (position < list.entries.len() && pointer.role != Role::Next).then(|| position + usize::from(is_done))
            });
        let by_count =
            count(false).and_then(|count| usize::try_from(count).ok()).filter(|count| *count <= list.entries.len());
        if let Some(done) = by_pointer.next().or(by_count) {
            for (position, entry) in list.entries.iter_mut().enumerate() {
                let status = if position < done { PhaseStatus::Complete } else { PhaseStatus::Pending };
                *entry = entry.clone().with_status(status);
            }
            doubts
                .push("nothing says which entries are done; those before the current one are taken as done".to_owned());
            list.kind = Kind::Counted;
        }
    }
    Choice { list, doubts }
}

/// True if a status beside a pointer says that what it names is done: `phase: 2`, `phase_status: complete`.
pub(super) fn is_said_done(noun: Noun, facts: &Facts) -> bool {
    facts.pointer_statuses.iter().any(|(about, said, _)| {
        *about == noun && matches!(said, super::entry::Said::Is(word, _) if word.status().is_done())
    })
}

/// Returns the entries of a list of numbers, up to their total; those that are not in it are left.
fn counted(known: &[Entry], total: u64) -> Option<Vec<Entry>> {
    let ids: Vec<&PhaseId> = known.iter().map(|entry| &entry.id).collect();
    if total > MAX_COUNTED {
        return None;
    }
    let all = numbered_phases::range(ids, Some(total))?;
    let entry = |id: PhaseId| {
        let own = known.iter().find(|entry| entry.id == id).cloned();
        own.unwrap_or_else(|| Entry::named(id, "").with_status(PhaseStatus::Pending))
    };
    (all.len() as u64 == total).then(|| all.into_iter().map(entry).collect())
}

/// Makes a list of numbers of which the first ones are done.
pub(super) fn of_numbers(noun: Noun, done: u64, total: u64, place: &str) -> Option<List> {
    let status = |number| if number <= done { PhaseStatus::Complete } else { PhaseStatus::Pending };
    let entry = |number: u64| Some(Entry::named(number.to_string().parse().ok()?, place).with_status(status(number)));
    let entries = if total > MAX_COUNTED { None } else { (1..=total).map(entry).collect::<Option<Vec<_>>>() }?;
    Some(List { place: place.to_owned(), scope: String::new(), noun, kind: Kind::Counted, entries })
}
