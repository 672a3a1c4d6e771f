//! The words of the generic reader, as tables: statuses, the names of work, and the parts that keys play.

use heck::ToSnakeCase as _;

use ckpt_model::phase::PhaseStatus;
use ckpt_model::status_word::parse_status_word;

/// The meaning of a status word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Word {
    /// A status that phases have here too.
    Is(PhaseStatus),
    /// Not done, and waiting for somebody or something.
    Blocked,
    /// The work was given up.
    Abandoned,
    /// There is no work.
    Idle,
}

impl Word {
    /// Returns the status of a phase for the word.
    pub(super) fn status(self) -> PhaseStatus {
        match self {
            Self::Is(status) => status,
            Self::Blocked | Self::Idle => PhaseStatus::Pending,
            Self::Abandoned => PhaseStatus::Skipped,
        }
    }
}

/// Status words besides the common ones ([`parse_status_word`]): in lower case, without blanks, `_` and `-`.
const STATUS_WORDS: &[(Word, &str)] = &[
    (
        Word::Is(PhaseStatus::Complete),
        "accepted achieved archived closed committed complete100% delivered deployed fixed fullycomplete green integrated \
     landed live passing published released shipped successful 🟢 🎉 completo completado completada concluído concluido hecho terminado terminé fertig \
     erledigt abgeschlossen 完成 已完成 完了 완료 готово",
    ),
    (
        Word::Is(PhaseStatus::InProgress),
        "building coding current designing developing doing drafting executing fixing implementing inreview inflight \
     indevelopment iterating needsreview partial partiallycomplete paused pendingreview processing readyforreview \
     researching review reviewing running stopped suspended interrupted testing underreview underway validating \
     verifying writing 🚧 🟡 🏃 ▶ emandamento encurso encours inarbeit 进行中 進行中 진행중 вработе",
    ),
    (
        Word::Is(PhaseStatus::Pending),
        "backlog draft future incomplete later new next notdone notrun notyet notyetstarted open planning proposed ready \
     readyfordev readytostart scheduled tbd unstarted upcoming 📋 ⚪ ○ pendente pendiente offen enattente 待办 未开始 未着手 대기",
    ),
    (
        Word::Is(PhaseStatus::Failed),
        "broken changesrequested crashed needsfix needsfixes needsrevision needswork rejected timeout timedout 🔴",
    ),
    (
        Word::Is(PhaseStatus::Skipped),
        "deferred dropped duplicate notneeded obsolete outofscope removed wontdo wontfix ⏭",
    ),
    (Word::Blocked, "blocked stuck halted onhold awaitingapproval awaitingreview waitingforuser 🚫"),
    (Word::Abandoned, "abandoned aborted canceled cancelled killed"),
    (Word::Idle, "idle inactive none nothing null noactivetask standby dormant"),
];

/// Words in the place of a pointer that say that everything is done. `success` and `approved` may be about one thing.
const ALL_DONE: &str =
    "complete completed done finished all_complete all_completed all_done shipped released closed archived";

/// The things that work consists of, from those that divide the whole to the smallest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Noun {
    Phase,
    Step,
    /// Other parts of the whole, such as milestones and features.
    Unit,
    Task,
    /// The name says nothing.
    Other,
    /// The name means something else, not work.
    Aside,
}

impl Noun {
    /// True for a name of work.
    pub(super) fn is_work(self) -> bool {
        self < Self::Other
    }

    /// True for things that follow each other; the others may be done in any order.
    pub(super) fn is_sequence(self) -> bool {
        self <= Self::Step
    }
}

/// Nouns in the singular.
const NOUNS: &[(Noun, &str)] = &[
    (Noun::Phase, "phase stage fase etapa"),
    (Noun::Step, "step"),
    (
        Noun::Unit,
        "chapter deliverable epic feature increment iteration lesson milestone module slice sprint story track wave \
     workstream",
    ),
    (Noun::Task, "checklist goal job objective subtask task ticket todo"),
];

/// Words that mean something else, not work.
const ASIDES: &str = "activity activities agents alerts approaches archive artifacts assets assignments attempts audit branches \
     bugs changelog changes checks cache comments commits config configuration context criteria decisions defaults definition definitions \
     dependencies deployments deviations diagnostics docs entries environments errors events example examples experiments files \
     findings gates health history hooks ideas incidents instances integrations issues journal learnings lessons_learned log \
     logs memories messages metrics notes options packages patterns permissions plugins prs pulls pull questions releases \
     requests resources results reviews risks roles rules runs sample samples schema scripts servers services sessions settings \
     skills snapshots sources stats statistics suites template templates tests timeline tools transitions users validations \
     versions workers";

/// The part that a value plays, by its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// All of them: `phases`.
    All,
    /// The one that the work is at: `phase`, `current_step`.
    Current,
    /// Its position, counted from 0: `step_index`.
    Index,
    /// Those that have this status: `completed_tasks`, `remaining`.
    Are(PhaseStatus),
    /// Their number: `total_phases`.
    Total,
    /// The one to continue with: `next_phase`, `resume_from`.
    Next,
    /// The last one that is done.
    LastDone,
    /// Their statuses, or that of the current one: `phase_status`.
    Status,
    /// Something else.
    Other,
}

/// What is left of a key without nouns and fillers.
const ROLES: &[(Role, &str)] = &[
    (
        Role::Are(PhaseStatus::Complete),
        "completed complete done finished closed shipped completed_count done_count total_completed concluidos concluidas",
    ),
    (Role::Are(PhaseStatus::Failed), "failed failing"),
    (Role::Are(PhaseStatus::Skipped), "skipped cancelled canceled deferred"),
    (
        Role::Are(PhaseStatus::Pending),
        "pending remaining outstanding queued left not_started todo open queue pendentes pendientes",
    ),
    (Role::Are(PhaseStatus::InProgress), "active running in_progress doing ongoing wip in_flight"),
    (Role::Total, "total count total_count"),
    (Role::Current, "current"),
    (
        Role::Next,
        "next upcoming next_up next_available next_recommended resume resume_from resume_at resume_point restart_from \
     continue_from continue_at",
    ),
    (Role::LastDone, "last_completed latest_completed last_done last_finished last_successful last_complete"),
    (Role::Status, "status statuses progress current_status states"),
];

/// Words of a key that change nothing.
const FILLERS: &str = "num number id ids key list numbers slug workflow pipeline of the user";

/// Keys for the status of the whole.
pub(super) const OVERALL: &str = "status state overall_status workflow_status project_status plan_status pipeline_status run_status \
     completed complete is_complete is_completed done finished all_complete all_done";
/// Objects at the top whose status is that of the whole.
pub(super) const WHOLES: &str = "checkpoint meta metadata orchestration pipeline plan progress project run state status workflow \
     workflow_state";

/// True if a table has a word.
pub(super) fn has(words: &str, word: &str) -> bool {
    words.split_ascii_whitespace().any(|known| known == word)
}

fn find<T: Copy>(table: &[(T, &str)], word: &str) -> Option<T> {
    table.iter().find(|(_, words)| has(words, word)).map(|(meaning, _)| *meaning)
}

/// Returns the meaning of a status: a word, a mark with a word, or a word with a remark behind it, `done (3 warnings)`.
pub(super) fn status_word(text: &str) -> Option<Word> {
    let text = text.trim();
    if let Some(word) = single_word(text) {
        return Some(word);
    }
    let is_mark = |part: &str| !part.contains(char::is_alphanumeric) && !part.is_ascii();
    let without_mark = match (text.split_once(' '), text.rsplit_once(' ')) {
        (Some((first, rest)), _) if is_mark(first) => Some((first, rest)),
        (_, Some((rest, last))) if is_mark(last) => Some((last, rest)),
        _ => None,
    };
    if let Some((mark, rest)) = without_mark {
        let word = status_word(rest)?;
        // A mark that says something else makes both doubtful.
        return single_word(mark).is_none_or(|mark| mark == word).then_some(word);
    }
    let signs = [" (", ", ", "; ", ": ", " - ", " \u{2014} ", " \u{2013} ", ". ", " with ", "_with_", "_WITH_"];
    let end = signs.iter().filter_map(|sign| text.find(sign)).min()?;
    single_word(&text[..end])
}

fn single_word(text: &str) -> Option<Word> {
    if let Some(status) = parse_status_word(text) {
        return Some(Word::Is(status));
    }
    let is_separator = |c: char| matches!(c, ' ' | '_' | '-' | '\u{fe0f}');
    let folded: String = text.trim().to_lowercase().chars().filter(|c| !is_separator(*c)).collect();
    find(STATUS_WORDS, &folded)
}

/// True for a word in the place of a pointer, or of the status of the whole, that says that everything is done.
pub(super) fn is_all_done(text: &str) -> bool {
    has(ALL_DONE, &text.to_snake_case())
}

/// The meaning of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Key {
    /// The things it is about; `None` if it does not say.
    pub(super) noun: Option<Noun>,
    pub(super) role: Role,
}

/// Classifies a key in snake case. The last noun decides: `phase_tasks` are tasks.
pub(super) fn classify(snake: &str) -> Key {
    let (mut noun, mut is_plural, mut rest) = (None, false, Vec::new());
    let tokens: Vec<&str> = snake.split('_').collect();
    for (index, token) in tokens.iter().enumerate() {
        let singular = singular(token);
        // `todo` is a status.
        let known = if *token == "todo" { None } else { find(NOUNS, &singular) };
        if let Some(known) = known {
            (noun, is_plural) = (Some(known), *token != singular || *token == "checklist");
        } else if index == 0 || !has(FILLERS, token) {
            rest.push(*token);
        }
    }
    let is_index = matches!(tokens.last(), Some(&("index" | "idx")));
    let words = rest.join("_");
    let role = match find(ROLES, &words) {
        Some(role) => role,
        None if is_index && noun.is_some() => Role::Index,
        None if noun.is_some() && is_plural => Role::All,
        // `task: Dark mode` is a title.
        None if noun.is_some_and(Noun::is_sequence) && rest.is_empty() => Role::Current,
        None => Role::Other,
    };
    let is_aside = || tokens.iter().any(|token| has(ASIDES, token));
    Key { noun: if noun.is_none() && is_aside() { Some(Noun::Aside) } else { noun }, role }
}

fn singular(token: &str) -> String {
    match token.strip_suffix("ies") {
        Some(stem) => format!("{stem}y"),
        None => token.strip_suffix('s').filter(|stem| !stem.ends_with('s')).unwrap_or(token).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_a_word_perhaps_with_a_mark_or_a_remark() {
        let done = Some(Word::Is(PhaseStatus::Complete));
        for text in
            ["done", "Completed", "\u{2705}", "\u{2705} Done", "DONE (3 warnings)", "PASS_WITH_NOTES", "shipped"]
        {
            assert_eq!(status_word(text), done, "{text}");
        }
        assert_eq!(status_word("in review"), Some(Word::Is(PhaseStatus::InProgress)));
        assert_eq!(status_word("blocked: no key"), Some(Word::Blocked));
        for unknown in ["phase-4-completed", "complete-ish", "\u{2705} pending", "not quite done", "v2"] {
            assert_eq!(status_word(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn a_key_says_what_it_is_about_and_which_part_its_value_plays() {
        let done = Role::Are(PhaseStatus::Complete);
        for (key, noun, role) in [
            ("phases", Some(Noun::Phase), Role::All),
            ("user_stories", Some(Noun::Unit), Role::All),
            ("phase", Some(Noun::Phase), Role::Current),
            ("current_step", Some(Noun::Step), Role::Current),
            ("current_step_index", Some(Noun::Step), Role::Index),
            ("step_index", Some(Noun::Step), Role::Index),
            ("completed_tasks", Some(Noun::Task), done),
            ("completed", None, done),
            ("total_phases", Some(Noun::Phase), Role::Total),
            ("phase_status", Some(Noun::Phase), Role::Status),
            ("last_completed_step", Some(Noun::Step), Role::LastDone),
            ("next_phase", Some(Noun::Phase), Role::Next),
            ("phase_tasks", Some(Noun::Task), Role::All),
            ("sessions", Some(Noun::Aside), Role::Other),
            ("event_log", Some(Noun::Aside), Role::Other),
            ("title", None, Role::Other),
        ] {
            assert_eq!(classify(key), Key { noun, role }, "{key}");
        }
    }
}
