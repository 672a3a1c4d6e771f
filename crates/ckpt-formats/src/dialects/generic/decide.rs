//! Where the work stands, by the statements of a document: one table of rules, tried in order.

use super::arrange::{Extent, Stand, Subject};
use super::collect::{Claim, Pointer, Statement};
use super::details::conclude;
use super::values::{Names, Standing, Thing, number_in};
use super::vocabulary::{Noun, Word, has};
use crate::dialects::draft::Draft;
use crate::dialects::read_log::ReadLog;
use ckpt_model::finding::{Code, Severity};
use ckpt_model::phase::{PhaseId, PhaseStatus};

/// The conclusion from a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Answer {
    /// To continue with this one.
    Resume(PhaseId),
    /// To continue with this one, and to take those before it as done.
    ResumeAfterOthers(PhaseId),
    Complete,
    Idle,
    Unknown,
}

/// A rule: its name, what it says, and the function that answers if it applies.
pub(super) struct Rule {
    #[cfg_attr(not(test), expect(dead_code, reason = "the tests compare it with the documentation"))]
    pub(super) name: &'static str,
    #[cfg_attr(not(test), expect(dead_code, reason = "the tests compare it with the documentation"))]
    pub(super) says: &'static str,
    answer: fn(&Subject, &Whole, &mut ReadLog<'_>) -> Option<Answer>,
}

/// The rules about the things of one kind. The first one that applies gives the answer.
pub(super) const RULES: [Rule; 7] = [
    Rule {
        name: "idle",
        says: "A word such as `idle` or `none` means that there is no work, unless something is in progress.",
        answer: idle,
    },
    Rule {
        name: "open",
        says: "What is in progress or failed comes first: what the file stands at, else what is in progress.",
        answer: open,
    },
    Rule { name: "next", says: "Else what the file names as the next one, unless that is done.", answer: named_next },
    Rule {
        name: "complete",
        says: "Else, if the file says that it is complete and nothing is left, it is.",
        answer: said_complete,
    },
    Rule {
        name: "current",
        says: "Else what the file stands at, unless that is done. Whether it is done is not said: somebody has to confirm.",
        answer: current,
    },
    Rule {
        name: "left",
        says: "Else the first one that is not done, behind the one that the file stands at.",
        answer: first_left,
    },
    Rule {
        name: "all done",
        says: "Else, if a list of all of them is done, the work is complete, unless the file says that it goes on.",
        answer: all_done,
    },
];

/// The statement of a document about the work as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Whole {
    Unsaid,
    Is(Word),
    /// A word that is no status: the state of a state machine, and its place.
    State(PhaseId, String),
}

impl Whole {
    /// Returns the status of the whole: the outermost word that is known, else the outermost word.
    fn of(statements: &[Statement], log: &mut ReadLog<'_>) -> Self {
        let words = statements.iter().filter_map(|statement| match &statement.claim {
            Claim::Overall(standing) => Some((statement, standing)),
            _ => None,
        });
        let outermost = words.clone().map(|(statement, _)| statement.level).min();
        let mut outer: Vec<_> = words.filter(|(statement, _)| Some(statement.level) == outermost).collect();
        outer.sort_by_key(|(_, standing)| standing.word().is_none());
        let finished = statements.iter().find(|statement| matches!(statement.claim, Claim::Finished));
        match (outer.first(), finished) {
            (Some((statement, Standing::Said(word, text))), _) => {
                log.origin("status", word.status().word(), &statement.place);
                // `verifying` names a state, and `in_progress` does not.
                let names_state = word.status() == PhaseStatus::InProgress
                    && text.ends_with("ing")
                    && !has("running working ongoing processing pending", text);
                if names_state { Self::state(text, &statement.place) } else { Self::Is(*word) }
            }
            (Some((statement, Standing::Unknown(text))), _) if text.split_whitespace().count() <= 3 => {
                Self::state(text, &statement.place)
            }
            (Some(_), _) => Self::Is(Word::Is(PhaseStatus::InProgress)),
            (None, Some(finished)) => {
                log.origin("status", "complete", &finished.place);
                Self::Is(Word::Is(PhaseStatus::Complete))
            }
            (None, None) => Self::Unsaid,
        }
    }

    fn state(text: &str, place: &str) -> Self {
        let state = text.parse().map(|id| Self::State(id, place.to_owned()));
        state.unwrap_or(Self::Is(Word::Is(PhaseStatus::InProgress)))
    }

    pub(super) fn is_idle(&self) -> bool {
        *self == Self::Is(Word::Idle)
    }

    /// Returns the status of the work, if one is said.
    pub(super) fn status(&self) -> Option<PhaseStatus> {
        match self {
            Self::Is(word) if !self.is_idle() => Some(word.status()),
            _ => None,
        }
    }

    fn is(&self, status: PhaseStatus) -> bool {
        self.status() == Some(status)
    }
}

/// Adds phases, tasks and the next phase to the draft.
pub(super) fn decide(mut statements: Vec<Statement>, draft: &mut Draft, log: &mut ReadLog<'_>) {
    adopt_unnamed(&mut statements);
    let statements = &statements[..];
    let whole = Whole::of(statements, log);
    let mut first: Option<Subject> = None;
    for noun in Noun::ALL {
        if !statements.iter().any(|statement| statement.noun == noun && is_about_things(&statement.claim)) {
            continue;
        }
        let mut subject = Subject::of(noun, statements, log);
        if let Some(Stand { id, place, .. }) = &subject.current {
            log.origin("phase", id, place);
        }
        let whole = of_one_phase(&mut subject, &whole);
        if let Some(answer) = RULES.iter().find_map(|rule| (rule.answer)(&subject, &whole, log)) {
            return conclude(&answer, subject, &whole, statements, draft, log);
        }
        first.get_or_insert(subject);
    }
    let is_empty = first.as_ref().is_none_or(|it| it.things.is_empty() && it.current.is_none());
    let says = |claim: fn(&Claim) -> bool| statements.iter().any(|statement| claim(&statement.claim));
    let is_nowhere = says(|claim| matches!(claim, Claim::Nowhere)) && !says(|claim| matches!(claim, Claim::Action));
    let answer = match &whole {
        whole if whole.is(PhaseStatus::Complete) && is_empty => Answer::Complete,
        whole if whole.is_idle() => Answer::Idle,
        Whole::Unsaid if is_nowhere && is_empty => Answer::Idle,
        // Any file may have a state; that of a named one is the state of its work.
        Whole::State(id, place) if is_empty && draft.workflow.is_some() => alone(id, place, log),
        _ => Answer::Unknown,
    };
    let subject = first.unwrap_or_else(|| Subject::empty(Noun::Phase));
    conclude(&answer, subject, &whole, statements, draft, log);
}

/// Takes `current`, `total` and `completed: [..]`, which name no things, as statements about those that the document names.
fn adopt_unnamed(statements: &mut [Statement]) {
    let named = statements.iter().filter(|statement| is_about_things(&statement.claim));
    let Some(noun) = named.map(|statement| statement.noun).min().filter(|noun| *noun != Noun::Other) else {
        return;
    };
    let mut names = Names::default();
    for statement in statements.iter().filter(|statement| statement.noun == noun) {
        match &statement.claim {
            Claim::Things(items) => items.iter().for_each(|it| names.add(0, &it.id, it.name.as_deref())),
            Claim::Pointer(_, id) => names.add(0, id, None),
            _ => {}
        }
    }
    for statement in statements.iter_mut().filter(|statement| statement.noun == Noun::Other) {
        let is_meant = match &statement.claim {
            Claim::Pointer(..) | Claim::Count(..) => true,
            Claim::Group(_, items) => items.iter().any(|item| names.find(&item.id).is_some()),
            _ => false,
        };
        if is_meant {
            statement.noun = noun;
        }
    }
}

fn is_about_things(claim: &Claim) -> bool {
    !matches!(claim, Claim::Overall(_) | Claim::Finished | Claim::Action | Claim::Mention | Claim::Nowhere)
}

/// Takes a status beside the only phase that is named as the status of that phase: of `{"phase": "build", "status": "done"}`
/// it is unknown whether others follow.
fn of_one_phase(subject: &mut Subject, whole: &Whole) -> Whole {
    let Some(current) = &subject.current else { return whole.clone() };
    if !subject.things.is_empty() {
        return whole.clone();
    }
    let names_next = subject.next.as_ref().is_some_and(|next| current.id != next.id);
    let is_of_phase = current.pointer == Pointer::About || names_next;
    if whole.is(PhaseStatus::Complete) && is_of_phase {
        subject.add_current(PhaseStatus::Complete);
        return Whole::Unsaid;
    }
    if whole.is(PhaseStatus::Failed) {
        subject.add_current(PhaseStatus::Failed);
    }
    whole.clone()
}

fn idle(subject: &Subject, whole: &Whole, _: &mut ReadLog<'_>) -> Option<Answer> {
    let says_idle = whole.is_idle() || subject.word == Some(Word::Idle);
    let stands_somewhere = subject.current.is_some() || subject.things.iter().any(Thing::is_open);
    (says_idle && !stands_somewhere).then_some(Answer::Idle)
}

fn open(subject: &Subject, _: &Whole, log: &mut ReadLog<'_>) -> Option<Answer> {
    let is_in_progress = |thing: &&Thing| thing.status == Some(PhaseStatus::InProgress);
    let current = subject.current_index().map(|index| &subject.things[index]);
    let free = || subject.things.iter().filter(|thing| thing.is_open() && !thing.is_blocked());
    // What is blocked is passed over, unless the others have to wait for it.
    let blocked = || subject.things.iter().find(|thing| thing.is_open() && is_sequence(subject.noun));
    let chosen = current
        .filter(|thing| thing.is_open())
        .or_else(|| free().find(is_in_progress))
        .or_else(|| free().next())
        .or_else(blocked)?;
    confirm(chosen, subject, log);
    Some(Answer::Resume(chosen.id.clone()))
}

/// True for things that follow each other; the others can be done in any order.
fn is_sequence(noun: Noun) -> bool {
    matches!(noun, Noun::Phase | Noun::Step)
}

/// Adds findings about a thing to continue with: a status that is not known, things before it that were never begun, and a
/// list that was recognised by its values only.
fn confirm(thing: &Thing, subject: &Subject, log: &mut ReadLog<'_>) {
    confirm_status(thing, log);
    confirm_gap(thing, subject, log);
    confirm_kind(subject, log);
}

fn confirm_status(thing: &Thing, log: &mut ReadLog<'_>) {
    let (id, place) = (&thing.id, &thing.place);
    if let Standing::Unknown(_) = thing.standing {
        let message = format!("whether {id} is done cannot be told: its status is not known");
        log.finding(Severity::Confirm, Code::StatusUnknown, message);
    } else if thing.status.is_none() {
        let message = format!("whether {id} is done is not said");
        log.finding_at(Severity::Confirm, Code::PhasesUnknown, place, &message);
    }
    if thing.is_blocked() {
        let message = format!("{id} is recorded as blocked");
        log.finding_at(Severity::Confirm, Code::CannotResume, place, &message);
    }
}

fn confirm_gap(thing: &Thing, subject: &Subject, log: &mut ReadLog<'_>) {
    let id = &thing.id;
    let before = subject.things.iter().take_while(|before| before.id != *id);
    let left: Vec<&Thing> = before.filter(|before| !before.is_done() && !before.is_open()).collect();
    if let [first, others @ ..] = &left[..] {
        let others = if others.is_empty() { String::new() } else { format!(" and {} more", others.len()) };
        let message = format!("{}{others} before {id} was never begun", first.id);
        log.finding(Severity::Confirm, Code::Gap, message);
    }
}

fn confirm_kind(subject: &Subject, log: &mut ReadLog<'_>) {
    if let (Noun::Other, Some(thing)) = (subject.noun, subject.things.first()) {
        let message = "this list is taken as the work because its entries have statuses; nothing says so";
        log.finding_at(Severity::Confirm, Code::PhasesImplied, &thing.place, message);
    }
}

fn named_next(subject: &Subject, _: &Whole, log: &mut ReadLog<'_>) -> Option<Answer> {
    let Stand { id, place, .. } = subject.next.as_ref()?;
    let Some(thing) = subject.find(id) else { return unlisted_next(subject, id, place, log) };
    if thing.is_done() {
        let message = format!("{id} is named as the next one, but it is done");
        log.finding_at(Severity::Advice, Code::NextDisagrees, place, &message);
        return None;
    }
    log.origin("next phase", id, place);
    if !subject.has_any_status() {
        confirm_gap(thing, subject, log);
        confirm_kind(subject, log);
        return Some(implied(id, place, log));
    }
    confirm(thing, subject, log);
    Some(Answer::Resume(id.clone()))
}

/// A next value that is in no list creates no phase there, and neither does an instruction.
fn unlisted_next(subject: &Subject, id: &PhaseId, place: &str, log: &mut ReadLog<'_>) -> Option<Answer> {
    let is_number = number_in(id.as_str()).is_some();
    let is_instruction = id.as_str().split(['_', '-', ' ']).count() > 3 && !is_number;
    let is_left = subject.is_listed && !subject.all_done();
    let is_behind = subject.all_done() && subject.extent == Extent::All && is_number;
    if is_instruction || is_left || is_behind {
        return None;
    }
    log.origin("next phase", id, place);
    if subject.is_listed || !subject.has_any_status() {
        let message = format!("the file names {id} as the next one, and lists no such phase");
        log.finding_at(Severity::Confirm, Code::PhasesUnknown, place, &message);
    }
    Some(Answer::Resume(id.clone()))
}

/// Answers with a place of which nothing but a pointer is known, in a list without statuses.
fn implied(id: &PhaseId, place: &str, log: &mut ReadLog<'_>) -> Answer {
    let message = format!("nothing says which phases are done; those before {id} are taken as done");
    log.finding_at(Severity::Confirm, Code::PhasesImplied, place, &message);
    Answer::ResumeAfterOthers(id.clone())
}

fn said_complete(subject: &Subject, whole: &Whole, _: &mut ReadLog<'_>) -> Option<Answer> {
    let whole_is_complete = whole.is(PhaseStatus::Complete);
    let says_complete = whole_is_complete || subject.word == Some(Word::Is(PhaseStatus::Complete));
    let is_given_up = whole.is(PhaseStatus::Failed) || whole.is(PhaseStatus::Skipped);
    let has_left = subject.has_any_status() && !subject.all_done();
    let is_contradicted = is_given_up || has_left && (subject.is_listed || !whole_is_complete);
    (says_complete && !is_contradicted).then_some(Answer::Complete)
}

fn current(subject: &Subject, whole: &Whole, log: &mut ReadLog<'_>) -> Option<Answer> {
    let Stand { id, place, .. } = subject.current.as_ref()?;
    let Some(thing) = subject.find(id) else { return unlisted_current(subject, whole, id, place, log) };
    if thing.is_done() {
        return None;
    }
    if !subject.has_any_status() {
        let is_first = subject.position(id) == Some(0);
        return Some(if is_first { alone(id, place, log) } else { implied(id, place, log) });
    }
    confirm(thing, subject, log);
    Some(Answer::Resume(id.clone()))
}

/// Behind a list of which all are done, a number is the end, unless the file says that the work goes on.
fn unlisted_current(
    subject: &Subject,
    whole: &Whole,
    id: &PhaseId,
    place: &str,
    log: &mut ReadLog<'_>,
) -> Option<Answer> {
    let is_number = number_in(id.as_str()).is_some();
    let has_left = subject.has_any_status() && !subject.all_done();
    let goes_on = whole.is(PhaseStatus::InProgress) || whole.is(PhaseStatus::Pending);
    if subject.is_listed && subject.all_done() && is_number && !goes_on {
        return None;
    }
    if subject.is_listed && (has_left || is_number && !subject.all_done()) {
        let message = format!("{id} is none of the phases that are known");
        log.finding_at(Severity::Confirm, Code::RecordsDisagree, place, &message);
        return if has_left { None } else { Some(Answer::Unknown) };
    }
    Some(alone(id, place, log))
}

/// Answers with a place of which nothing but a pointer is known.
fn alone(id: &PhaseId, place: &str, log: &mut ReadLog<'_>) -> Answer {
    let message = format!("the file stands at {id}; whether {id} is done is not said");
    log.finding_at(Severity::Confirm, Code::PhasesUnknown, place, &message);
    Answer::Resume(id.clone())
}

fn first_left(subject: &Subject, whole: &Whole, log: &mut ReadLog<'_>) -> Option<Answer> {
    let not_begun = PhaseStatus::Pending;
    let begins = whole.is(not_begun) || subject.word == Some(Word::Is(not_begun));
    // Work that goes on, and lists one thing, goes on with that.
    let is_only = whole.is(PhaseStatus::InProgress) && subject.things.len() == 1;
    if !(subject.has_any_status() || (begins || is_only) && subject.is_listed) {
        return None;
    }
    let current = subject.current_index().filter(|index| subject.things[*index].is_done());
    let (before, behind) = subject.things.split_at(current.map_or(0, |index| index + 1));
    let is_left = |thing: &&Thing| !thing.is_done() && !thing.is_blocked();
    let left = || behind.iter().filter(is_left);
    let chosen = left()
        .find(|thing| is_sequence(subject.noun) || is_free(thing, subject))
        .or_else(|| left().next())
        .or_else(|| before.iter().find(is_left))
        .or_else(|| subject.things.iter().find(|thing| !thing.is_done()))?;
    confirm_status(chosen, log);
    if before.iter().any(|thing| !thing.is_done()) {
        confirm_gap(chosen, subject, log);
    }
    confirm_kind(subject, log);
    Some(Answer::Resume(chosen.id.clone()))
}

/// True if everything that a thing depends on is done.
fn is_free(thing: &Thing, subject: &Subject) -> bool {
    let found = |id: &String| subject.find(&id.parse().ok()?);
    thing.depends_on.iter().filter_map(found).all(Thing::is_done)
}

fn all_done(subject: &Subject, whole: &Whole, log: &mut ReadLog<'_>) -> Option<Answer> {
    if !subject.all_done() || subject.extent != Extent::All {
        return None;
    }
    let goes_on = !(*whole == Whole::Unsaid || whole.is_idle() || whole.is(PhaseStatus::Complete))
        || subject.word.is_some_and(|word| matches!(word, Word::Is(PhaseStatus::Failed | PhaseStatus::Pending)));
    if goes_on {
        let message = "everything that is listed is done, but the work is not said to be complete";
        log.finding(Severity::Confirm, Code::StatusDisagrees, message);
        return Some(Answer::Unknown);
    }
    Some(Answer::Complete)
}
