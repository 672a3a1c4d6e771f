//! Where the work stands, by the facts of a document. See the table in the documentation of [the reader](super).

use super::choose::{Choice, at, choose, is_said_done, of_numbers};
use super::entry::{Entry, Said, number_in};
use super::facts::{Count, Facts, Pointer};
use super::lists::{Index, Kind, List};
use super::words::{Noun, Role, Word, is_all_done};
use ckpt_model::phase::{PhaseId, PhaseStatus};

/// Where the work stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Answer {
    Resume(PhaseId),
    Complete,
    Idle,
}

/// The answer about a document.
#[derive(Debug)]
pub(super) struct Decision {
    pub(super) answer: Answer,
    pub(super) list: Option<List>,
    /// The entry that the file names as the current one.
    pub(super) current: Option<PhaseId>,
    /// Why somebody has to confirm the answer.
    pub(super) doubts: Vec<String>,
    /// The status of the whole, if it says more than the list.
    pub(super) whole: Option<Word>,
}

/// Decides, or says why it cannot be decided.
pub(super) fn decide(facts: &Facts) -> Result<Decision, String> {
    match choose(facts) {
        Ok(Some(choice)) => with_list(choice, facts),
        Ok(None) => without_list(facts),
        // A pointer may still say more than a list that cannot be used, unless that one is named as work.
        Err(why) if facts.lists.iter().any(|list| list.noun.is_work()) => Err(why),
        Err(why) => without_list(facts).map_err(|_| why),
    }
}

/// The status of the whole, as far as it is said around a place.
#[derive(Default)]
struct Whole {
    complete: Option<String>,
    goes_on: Option<String>,
    idle: bool,
    other: Option<Word>,
}

impl Whole {
    fn around(place: &str, facts: &Facts) -> Self {
        let mut whole = Self::default();
        let is_around =
            |scope: &str| scope.is_empty() || place.strip_prefix(scope).is_some_and(|rest| rest.starts_with('/'));
        for overall in facts.overall.iter().filter(|overall| is_around(&overall.scope)) {
            let place = Some(overall.place.clone());
            match &overall.said {
                Said::Is(Word::Is(PhaseStatus::Complete), text) if is_all_done(text) || text == "true" => {
                    whole.complete = place;
                }
                // `approved` and `passed` may be about anything.
                Said::Is(Word::Is(PhaseStatus::Complete), _) | Said::Nothing => {}
                Said::Is(Word::Idle, _) => whole.idle = true,
                Said::Is(word, _) => {
                    if *word != Word::Is(PhaseStatus::InProgress) {
                        whole.other = Some(*word);
                    }
                    whole.goes_on = place;
                }
                Said::Unknown(_) => whole.goes_on = place,
            }
        }
        whole
    }
}

fn with_list(Choice { list, mut doubts }: Choice, facts: &Facts) -> Result<Decision, String> {
    let whole = Whole::around(&format!("{}/", list.place), facts);
    let index = Index::of(&list.entries);
    let about: Vec<&Pointer> = facts.pointers.iter().filter(|pointer| is_about(pointer, &list)).collect();
    let larger = facts
        .pointers
        .iter()
        .find(|pointer| pointer.noun.is_some_and(|noun| noun < list.noun) && pointer.role == Role::Current);
    if list.kind == Kind::OnlyDone && whole.complete.is_none() {
        return after_done(list, &index, &about, doubts);
    }
    check_counts(&list, facts, &mut doubts)?;
    if list.are_all_done() {
        if let Some(place) = whole.goes_on {
            return Err(format!("all of {} is done, and {place} does not say that the work is complete", at(&list)));
        }
        if let Some(revised) = list.entries.iter().find(|entry| entry.is_revised) {
            return Err(format!("{} is recorded both as done and as not done", revised.id));
        }
        check_end(&list, &index, &about, facts)?;
        if let (Some(larger), None) = (larger, &whole.complete) {
            return Err(format!(
                "all of {} is done, and {} names {}, of which it may be a part",
                at(&list),
                larger.place,
                larger.id
            ));
        }
        return Ok(Decision { answer: Answer::Complete, list: Some(list), current: None, doubts, whole: None });
    }
    if let Some(place) = whole.complete {
        return Err(format!("{place} says that the work is complete, and {} has open entries", at(&list)));
    }
    let found = |role: Role| match about.iter().find(|pointer| pointer.role == role) {
        Some(pointer) => index
            .find(pointer.id.as_str())
            .map(Some)
            .ok_or_else(|| format!("{} names {}, which is not in {}", pointer.place, pointer.id, at(&list))),
        None => Ok(None),
    };
    let (current, next) = (found(Role::Current)?, found(Role::Next)?);
    let chosen = select(&list, current, next);
    let entry = &list.entries[chosen];
    if let (false, Some(begun)) = (entry.is_open(), list.entries.iter().find(|entry| entry.is_open())) {
        return Err(format!("the file names {}, and {} has begun", entry.id, begun.id));
    }
    if facts.says_next && ![current, next].contains(&Some(chosen)) && !entry.is_open() {
        return Err("the file names the next entry in a sentence".to_owned());
    }
    if let Some(larger) = larger {
        doubts.push(format!("{} names {}; that {} belongs to it is not said", larger.place, larger.id, at(&list)));
    }
    if whole.idle || whole.other == Some(Word::Blocked) {
        doubts.push("the status of the whole says that nobody is at work".to_owned());
    }
    if current == Some(chosen) && is_said_done(list.noun, facts) && list.kind != Kind::Counted {
        return Err(format!("{} has two statuses", entry.id));
    }
    doubt(&list, chosen, current, next, &index, &mut doubts);
    let (answer, current) = (Answer::Resume(entry.id.clone()), current.map(|current| list.entries[current].id.clone()));
    Ok(Decision { answer, list: Some(list), current, doubts, whole: whole.other })
}

/// True if a pointer names an entry of a list: it is about the same things.
fn is_about(pointer: &Pointer, list: &List) -> bool {
    let is_near = pointer.noun.is_none()
        && (pointer.scope == list.scope || pointer.scope == list.place || pointer.scope.is_empty());
    pointer.noun == Some(list.noun) || is_near
}

/// Selects the entry to continue with: the current one, else what has begun or failed, else what is named as the next one,
/// else the first one after the current one that nothing holds up.
fn select(list: &List, current: Option<usize>, next: Option<usize>) -> usize {
    let index = Index::of(&list.entries);
    let is_left = |at: &usize| !list.entries[*at].is_done() && list.entries[*at].word().is_some();
    let is_free = |at: &usize| {
        let found = list.entries[*at].depends_on.iter().filter_map(|id| index.find(id));
        is_left(at) && !list.entries[*at].is_blocked() && found.into_iter().all(|at| list.entries[at].is_done())
    };
    let all = || 0..list.entries.len();
    current
        .filter(|at| !list.entries[*at].is_done())
        .or_else(|| all().find(|at| list.entries[*at].is_open()))
        .or_else(|| next.filter(|at| !list.entries[*at].is_done()))
        .or_else(|| all().skip(current.map_or(0, |at| at + 1)).find(is_free))
        .or_else(|| all().find(is_free))
        .or_else(|| all().find(is_left))
        .or_else(|| all().find(|at| !list.entries[*at].is_done()))
        .unwrap_or_default()
}

/// Adds the reasons why the answer has to be confirmed.
fn doubt(
    list: &List,
    chosen: usize,
    current: Option<usize>,
    next: Option<usize>,
    index: &Index,
    doubts: &mut Vec<String>,
) {
    let entry = &list.entries[chosen];
    let id = &entry.id;
    if entry.word().is_none() {
        doubts.push(format!("whether {id} is done is not understood"));
    } else if list.unclear() > 0 {
        doubts.push(super::choose::why_unclear(list));
    }
    let begun: Vec<&str> = list.entries.iter().filter(|entry| entry.is_open()).map(|entry| entry.id.as_str()).collect();
    if begun.len() > 1 {
        doubts.push(format!("{} of {} have begun or failed: {}", begun.len(), list.entries.len(), first_few(&begun)));
    }
    if let Some(revised) = list.entries.iter().find(|entry| entry.is_revised) {
        doubts.push(format!("{} is recorded more than once; the last record counts", revised.id));
    }
    let is_blocked_before = list.noun.is_sequence() && list.entries[..chosen].iter().any(Entry::is_blocked);
    if entry.is_blocked() || is_blocked_before {
        doubts.push(format!("{id}, or what comes before it, is recorded as blocked"));
    }
    let waits = |id: &String| index.find(id).is_some_and(|at| !list.entries[at].is_done());
    if entry.depends_on.iter().any(waits) {
        doubts.push(format!("{id} depends on what is not done"));
    }
    let is_left = |entry: &&Entry| !entry.is_done() && !entry.is_open();
    let before: Vec<&str> = list.entries[..chosen].iter().filter(is_left).map(|entry| entry.id.as_str()).collect();
    if !before.is_empty() && (list.noun.is_sequence() || current.is_some()) {
        doubts.push(format!("{} before {id} was never begun", first_few(&before)));
    }
    if let Some(next) = next.filter(|next| *next != chosen) {
        doubts.push(format!("the file names {} as the next one", list.entries[next].id));
    }
    let is_half =
        |entry: &&Entry| entry.is_done() && entry.parts.iter().any(|part| part.word().is_some() && !part.is_done());
    let half: Vec<&str> = list.entries.iter().filter(is_half).map(|entry| entry.id.as_str()).collect();
    if !half.is_empty() {
        doubts.push(format!("{} is recorded as done, and has open tasks", first_few(&half)));
    }
}

fn first_few(ids: &[&str]) -> String {
    let more = ids.len().saturating_sub(3);
    let shown = ids[..ids.len() - more].join(", ");
    if more > 0 { format!("{shown} and {more} more") } else { shown }
}

/// Compares a list with what is counted. A difference that may hide what is left is an error.
fn check_counts(list: &List, facts: &Facts, doubts: &mut Vec<String>) -> Result<(), String> {
    let done = list.entries.iter().filter(|entry| entry.is_done()).count() as u64;
    for count in facts.counts.iter().filter(|count| count.noun == list.noun) {
        let (known, what) =
            if count.is_total { (list.entries.len() as u64, "listed") } else { (done, "recorded as done") };
        if count.number == known {
            continue;
        }
        let message = format!("{}: {} are counted, and {known} are {what}", count.place, count.number);
        if list.are_all_done() && (!count.is_total || count.number > known) {
            return Err(message);
        }
        doubts.push(message);
    }
    Ok(())
}

/// Checks that no pointer leads out of a list of which all are done. A number right after it is the end.
fn check_end(list: &List, index: &Index, about: &[&Pointer], facts: &Facts) -> Result<(), String> {
    let mut statuses = facts.pointer_statuses.iter().filter(|(noun, ..)| *noun == list.noun);
    let is_open = |said: &Said| matches!(said, Said::Is(word, _) if !word.status().is_done());
    if let Some((_, _, place)) = statuses.find(|(_, said, _)| is_open(said)) {
        return Err(format!("all of {} is done, and {place} says something else", at(list)));
    }
    for pointer in about.iter().filter(|pointer| pointer.role != Role::Index) {
        let is_end = number_in(pointer.id.as_str()) == Some(list.entries.len() as u64 + 1);
        if is_open(&pointer.said) || (index.find(pointer.id.as_str()).is_none() && !is_end) {
            return Err(format!("all of {} is done, and {} names {}", at(list), pointer.place, pointer.id));
        }
    }
    Ok(())
}

/// Answers where only those that are done are listed: with what the file names, if that is not one of them.
fn after_done(list: List, index: &Index, about: &[&Pointer], mut doubts: Vec<String>) -> Result<Decision, String> {
    let named = about.iter().find(|pointer| pointer.role == Role::Next);
    let Some(pointer) = named.or_else(|| about.iter().find(|pointer| pointer.role == Role::Current)) else {
        return Err(format!("{} lists what is done; what is left is not listed", at(&list)));
    };
    let id = &pointer.id;
    if !list.noun.is_work() || index.find(id.as_str()).is_some() {
        return Err(format!("{} names {id}, which {} lists as done", pointer.place, at(&list)));
    }
    doubts.push(format!("{} names {id}, which is in no list", pointer.place));
    let answer = Answer::Resume(id.clone());
    Ok(Decision { answer, current: Some(id.clone()), list: Some(list), doubts, whole: None })
}

/// Answers by counts, a pointer or the status of the whole.
fn without_list(facts: &Facts) -> Result<Decision, String> {
    let whole = Whole::around("", facts);
    let plain = |answer| Ok(Decision { answer, list: None, current: None, doubts: Vec::new(), whole: whole.other });
    let mut doubts =
        vec!["nothing says which entries are done; those before the current one are taken as done".to_owned()];
    let mut current: Vec<&Pointer> = facts.pointers.iter().filter(|pointer| pointer.role == Role::Current).collect();
    current.sort_by_key(|pointer| pointer.noun);
    let next = facts.pointers.iter().find(|pointer| pointer.role == Role::Next);
    let count = |is_total, noun| facts.counts.iter().find(|count| count.is_total == is_total && count.noun == noun);
    if let Some(total) = facts.counts.iter().find(|count| count.is_total && count.number > 0) {
        let pointer = current.iter().find(|pointer| pointer.noun == Some(total.noun));
        let at_number = pointer.and_then(|pointer| number_in(pointer.id.as_str()));
        let done = match (count(false, total.noun), at_number) {
            (Some(done), _) => done.number,
            (None, Some(number)) if number > 0 && whole.complete.is_none() => {
                number - 1 + u64::from(is_said_done(total.noun, facts))
            }
            (None, Some(number)) if number == total.number => number,
            (None, Some(_)) => {
                return Err(format!(
                    "{} is not the last of {}, and the work is said to be complete",
                    pointer_id(&current),
                    total.number
                ));
            }
            (None, None) => return by_pointer(&current, next, &whole, facts),
        };
        let is_end = count(false, total.noun).is_some() && done == total.number;
        let is_beyond = |number: u64| number > total.number + u64::from(is_end);
        if done > total.number || at_number.is_some_and(is_beyond) {
            return Err(format!("{}: there are {} in all, and more are counted", total.place, total.number));
        }
        if done < total.number && whole.complete.is_some() || done == total.number && whole.goes_on.is_some() {
            return Err(format!(
                "{done} of {} are done, and the status of the whole says something else",
                total.number
            ));
        }
        let Some(list) = of_numbers(total.noun, done, total.number, &total.place) else {
            return Err(format!("{}: {} are too many to be named by their number", total.place, total.number));
        };
        if done == total.number {
            return Ok(Decision {
                answer: Answer::Complete,
                list: Some(list),
                current: None,
                doubts: Vec::new(),
                whole: None,
            });
        }
        let answer = list.entries.iter().find(|entry| !entry.is_done()).map(|entry| entry.id.clone());
        if at_number.is_some_and(|number| number != done + 1) {
            doubts.push(format!("{} names {}, and {done} are done", total.place, pointer_id(&current)));
        }
        let Some(answer) = answer else { return plain(Answer::Complete) };
        return Ok(Decision {
            answer: Answer::Resume(answer),
            list: Some(list),
            current: None,
            doubts,
            whole: whole.other,
        });
    }
    by_pointer(&current, next, &whole, facts)
}

fn pointer_id(current: &[&Pointer]) -> String {
    current.first().map(|pointer| pointer.id.to_string()).unwrap_or_default()
}

/// Answers with what a pointer names. Whether that is done is not said.
fn by_pointer(current: &[&Pointer], next: Option<&Pointer>, whole: &Whole, facts: &Facts) -> Result<Decision, String> {
    let decision = |answer, doubts| Decision { answer, list: None, current: None, doubts, whole: whole.other };
    let is_done = |pointer: &Pointer| {
        matches!(&pointer.said, Said::Is(word, _) if word.status().is_done())
            || pointer.role == Role::Current
                && (whole.complete.is_some() || pointer.noun.is_some_and(|noun: Noun| is_said_done(noun, facts)))
            || facts.done.contains(&pointer.id)
    };
    let not_done = current.first().copied().filter(|pointer| !is_done(pointer));
    let Some(first) = not_done.or(next).or_else(|| current.first().copied()) else {
        return match whole {
            Whole { complete: Some(_), goes_on: None, .. } => Ok(decision(Answer::Complete, Vec::new())),
            Whole { idle: true, .. } => Ok(decision(Answer::Idle, Vec::new())),
            Whole { goes_on: None, complete: None, .. } if facts.says_none => Ok(decision(Answer::Idle, Vec::new())),
            _ => {
                Err("no list of work has statuses that are understood, and nothing names the current entry".to_owned())
            }
        };
    };
    let same = |pointer: &&&Pointer| pointer.noun == first.noun && pointer.id != first.id;
    if let (Role::Current, Some(next)) = (first.role, next.filter(|next| next.noun == first.noun)) {
        return Err(format!("{} names {}, and {} names {}", first.place, first.id, next.place, next.id));
    }
    if let (Role::Current, Some(other)) = (first.role, current.iter().find(same)) {
        return Err(format!("{} names {}, and {} names {}", first.place, first.id, other.place, other.id));
    }
    let of_none = |count: &Count| count.is_total && count.number == 0 && Some(count.noun) == first.noun;
    if is_done(first) || facts.counts.iter().any(of_none) {
        return Err(format!("{} names {}, which may be done", first.place, first.id));
    }
    let doubts = vec![format!("the file names {} and has no list; whether it is done is not said", first.id)];
    Ok(decision(Answer::Resume(first.id.clone()), doubts))
}
