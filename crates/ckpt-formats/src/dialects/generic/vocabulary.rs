//! The words of the generic reader: what people and their agents call things. Every table can be read and extended
//! without knowing the rest; nothing is concluded here.

use heck::ToSnakeCase as _;

use ckpt_model::phase::PhaseStatus;
use ckpt_model::status_word::parse_status_word;

/// The meaning of a status word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Word {
    /// A status that phases have here too.
    Is(PhaseStatus),
    /// Done, and somebody should look at what was left: `PASS_WITH_WARNINGS`.
    DoneWithRemarks,
    /// Begun, and waiting for somebody or something.
    Blocked,
    /// Given up.
    Abandoned,
    /// There is no work.
    Idle,
}

impl Word {
    /// Returns the status of a phase for the word.
    pub(super) fn status(self) -> PhaseStatus {
        match self {
            Self::Is(status) => status,
            Self::DoneWithRemarks => PhaseStatus::Complete,
            Self::Blocked => PhaseStatus::InProgress,
            Self::Abandoned => PhaseStatus::Skipped,
            Self::Idle => PhaseStatus::Pending,
        }
    }
}

/// Status words, besides those that the whole program knows ([`parse_status_word`]): without case, blanks, `_` and `-`.
const STATUS_WORDS: &[(Word, &str)] = &[
    (
        Word::Is(PhaseStatus::Complete),
        "accepted achieved approve alldone allcomplete allcompleted allpassed archived checkpointed closed \
     committed complete100% consensuscomplete delivered deployed fixed fullycomplete go green integrated \
     landed live passing production published released shipped signedoff successful successfully 🟢 🎉 \
     completo completado completada concluído concluido concluída hecho terminado terminé fertig erledigt \
     abgeschlossen 完成 已完成 完了 완료 готово",
    ),
    (
        Word::Is(PhaseStatus::InProgress),
        "analyzing assigned begun building claimed coding current debugging designing developing doing \
     drafting executing fixing implementing indev indevelopment inflight inprogresspartial inreview \
     iterating needsreview onhold partial partiallycomplete partiallycompleted partiallydone paused \
     pendingreview processing readyforreview refactoring researching resumed review reviewing running \
     stopped suspended interrupted testing underreview underway validating verifying writing 🚧 🟡 🏃 ▶ [~] \
     emandamento encurso encours inarbeit 进行中 進行中 진행중 вработе",
    ),
    (
        Word::Is(PhaseStatus::Pending),
        "backlog draft future incomplete later new next notbegun notdone notrun notyet notyetstarted open \
     planning pool proposed ready readyfordev readyforimplementation readytostart required scheduled \
     specified tbd unstarted upcoming 📋 ⚪ ○ ⏸ pendente pendiente offen enattente 待办 未开始 未着手 대기",
    ),
    (
        Word::Is(PhaseStatus::Failed),
        "broken changesrequested crashed needsfix needsfixes needsrevision needswork regressed rejected \
     timeout timedout 🔴",
    ),
    (
        Word::Is(PhaseStatus::Skipped),
        "bypassed conditional deferred dropped duplicate excluded notneeded notrequired obsolete optional \
     outofscope recommended removed waived wontdo wontfix ⏭",
    ),
    (Word::Blocked, "blocked stuck halted awaitingapproval awaitingreview waitingforuser 🚫"),
    (Word::Abandoned, "abandoned aborted canceled cancelled killed"),
    (Word::Idle, "idle inactive - nil none null nothing noactivetask notactive standby dormant"),
];

/// The words that follow `done with` if somebody should look at it.
const REMARKS: &str = "warning note issue concern caveat error remark deviation followup";

/// The things that lists, counters and pointers refer to, from those that divide the whole work to the smallest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Noun {
    Phase,
    Step,
    /// Other parts of the whole, such as milestones and features.
    Unit,
    Task,
    /// Things whose name says nothing, recognised by the statuses that they have.
    Other,
}

impl Noun {
    pub(super) const ALL: [Self; 5] = [Self::Phase, Self::Step, Self::Unit, Self::Task, Self::Other];
}

/// Nouns in the singular. The plural is formed as in English.
const NOUNS: &[(Noun, &str)] = &[
    (Noun::Phase, "phase stage fase etapa etape"),
    (Noun::Step, "step paso passo"),
    (
        Noun::Unit,
        "batch bloco block book chapter course deliverable epic episode exercise experiment feature goal \
     historia increment lane lesson level marco milestone module quest scene section slice sprint story topic track \
     unit wave week workstream",
    ),
    (Noun::Task, "checklist item job objective subtask tarea tarefa task ticket todo workitem"),
];

/// The part that a value plays for the things that its key names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// All of them, or the current one if the key is in the singular.
    All,
    /// Those that have this status.
    Are(PhaseStatus),
    /// The number of all.
    Total,
    /// The one that the work stands at.
    Current,
    /// Its position, counted from 0: `step_index`.
    Position,
    /// One of some kind, perhaps the current one: `build_phase`.
    Qualified,
    /// The one to continue with.
    Next,
    /// The last one that is done.
    LastDone,
    /// One that was worked on before.
    Previous,
    /// Their statuses.
    Status,
    /// Events, in order of time.
    History,
    /// Something else than the progress of the work.
    Aside,
    /// Nothing in particular.
    Unknown,
}

/// The words of a key that are left without nouns and fillers, joined by `_`.
const ROLES: &[(Role, &str)] = &[
    (
        Role::Are(PhaseStatus::Complete),
        "completed complete done finished executed closed shipped merged succeeded confirmed approved \
     validated verified passed completed_count done_count finished_count completed_total total_completed \
     count_completed num_completed completos completas completados completadas concluidos concluidas",
    ),
    (Role::Are(PhaseStatus::Failed), "failed failing errored"),
    (Role::Are(PhaseStatus::Skipped), "skipped superseded cancelled canceled deferred"),
    (
        Role::Are(PhaseStatus::Pending),
        "pending remaining outstanding queued left not_started planned backlog todo open queue pool \
     pendente pendentes pendiente pendientes",
    ),
    (
        Role::Are(PhaseStatus::InProgress),
        "active running in_progress doing ongoing wip inflight in_flight em_andamento en_curso",
    ),
    (Role::Total, "total count num total_count"),
    (Role::Current, "current present currently_on in_focus atual actual aktuell actuelle"),
    (
        Role::Next,
        "next upcoming next_up next_available next_recommended next_suggested recommended_next suggested_next \
     resume resume_from resume_at resume_point resume_state resume_with restart_from continue_from \
     continue_at continue_with",
    ),
    (
        Role::LastDone,
        "last_completed latest_completed last_complete last_done last_finished last_successful last_passed",
    ),
    (Role::Previous, "previous prev last last_type latest active_plan current_plan plan_name"),
    (Role::Status, "status statuses progress states tracking tracker snapshot"),
    (Role::History, "history log transitions timeline state_history history_log results records runs"),
];

/// Roles that a key has only together with a noun.
const ROLES_WITH_NOUN: &str = "approved confirmed passed validated verified";

/// Words of a key that change nothing.
const FILLERS: &str = "num number id ids index idx name key list numbers names slug";
const LEADING_FILLERS: &str = "workflow pipeline of the";

/// Words of the keys of objects that are about something else than the progress of the work.
const ASIDES: &str = "agent approval architecture artifact audit bug check ci command commit config configuration \
     constraint coverage criteria decision definition dependency deployment doc environment env error \
     event evidence file finding flag gate git health hook infrastructure integration issue lint metric \
     migration note option permission policy pr pull quality question repository result review reviewer \
     risk role rule schema server service setting spec stat statistic summary template test token tool \
     validation vcs verification worker";

/// Words before `phase` that make it the name of another phase than the current one.
const OTHER_PHASES: &str =
    "default end entry error final first from initial last max min start starting target to until";

/// Keys for the status of the whole, in snake case.
pub(super) const OVERALL_STATUS: &str = "status state workflow_status overall_status current_status current_state project_status run_status \
     pipeline_status task_status session_status terminal_state estado";
/// Flags that say that the whole is complete.
pub(super) const OVERALL_COMPLETE: &str =
    "completed is_complete is_completed complete finished done all_complete all_done workflow_complete";
/// Objects whose status is that of the whole.
pub(super) const WHOLES: &str = "checkpoint current_state execution flow job main meta metadata orchestration pipeline progress \
     project run session state status workflow workflow_state";
/// Objects that hold other facts about the whole.
pub(super) const WRAPPERS: &str = "checkpoint checkpoints context current_state data execution flow git git_state info job main meta \
     metadata orchestration payload pipeline plan position progress project recovery recovery_info result \
     resume resume_info run session state status task vcs workflow workflow_state feature current blocker";

/// Keys of an entry of a list, by what they mean. The first one that the entry has counts.
pub(super) const ENTRY_ID: &str = "id phase_id step_id stage_id task_id story_id feature_id item_id key slug phase step stage n number \
     num code issue issue_number name title task feature milestone story content text label description project";
/// Keys of an entry of a history: the thing comes before the id of the entry.
pub(super) const HISTORY_ID: &str = "phase stage step to phase_id step_id task task_id name id";
pub(super) const ENTRY_NAME: &str = "name title label titulo nombre description content text summary task";
pub(super) const ENTRY_STATUS: &str = "status state phase_status step_status stage_status task_status item_status story_status \
     completion_status estado";
/// Keys whose value may be a status, or anything else.
pub(super) const ENTRY_RESULT: &str = "result outcome conclusion verdict";
/// Flags for an entry that is done.
pub(super) const ENTRY_DONE: &str = "passes completed done complete finished checked passing implemented passed ok success succeeded \
     successful is_completed is_complete is_done is_finished is_checked merged";
/// Flags for the outcome of an attempt: false means that it failed.
pub(super) const ENTRY_SUCCESS: &str = "ok success succeeded successful";
pub(super) const ENTRY_FAILED: &str = "failed is_failed errored";
pub(super) const ENTRY_PERCENT: &str =
    "progress percent percentage percent_complete completion_percentage progress_percent";
pub(super) const ENTRY_STARTED: &str = "started_at start_time started begun_at start_date";
pub(super) const ENTRY_FINISHED: &str =
    "completed_at finished_at ended_at completed_on completed_date completion_date end_time end_date completed";
pub(super) const ENTRY_ERROR: &str = "error last_error error_message failure_reason";
pub(super) const ENTRY_OUTPUT: &str = "output_file output_path output artifact";
pub(super) const ENTRY_DEPENDS_ON: &str = "depends_on dependencies after blocked_by";
pub(super) const ENTRY_TASKS: &str = "tasks items objectives steps subtasks todos checklist sub_steps stories features user_stories \
     substeps sub_tasks plans phases stages";

/// Keys about the whole work, by what they mean.
pub(super) const WORKFLOW_ID: &str = "workflow_id workflow_run_id run_id flow_id pipeline_id task_id id task_number issue_number ticket \
     checkpoint_id project_name project slug feature_name";
pub(super) const TITLE: &str = "title workflow_description task_description description request goal objective name summary \
     current_task feature";
/// Times of the newest change; the latest of them counts.
pub(super) const SAVED_AT: &str = "updated_at last_updated last_updated_at updated saved_at last_saved last_modified modified_at \
     timestamp last_checkpoint checkpoint_time saved last_activity last_run_at last_run last_save \
     last_session last_sync ts completed_at finished_at completed_utc state_set_at date";
/// Times that count if there is no other.
pub(super) const CREATED_AT: &str = "created_at created started_at started start_time generated start_timestamp";
pub(super) const NEXT_ACTION: &str = "next_action next_actions next_step next_steps next next_action_hint resume_action pending_actions \
     what_next next_task next_command resume_instructions";
pub(super) const LAST_ERROR: &str = "last_error error error_message failure_reason errors blockers blocked_reason";
pub(super) const FILES: &str = "artifacts artifact_paths artifact_registry outputs output_files output_file";
pub(super) const BRANCH: &str = "git_branch branch current_branch branch_name";
pub(super) const COMMIT: &str = "git_commit commit last_commit commit_hash commit_sha head git_sha";

/// True if a table has a word.
pub(super) fn has(words: &str, word: &str) -> bool {
    words.split_ascii_whitespace().any(|known| known == word)
}

/// Returns what a table says of a word.
fn find<T: Copy>(table: &[(T, &str)], word: &str) -> Option<T> {
    table.iter().find(|(_, words)| has(words, word)).map(|(meaning, _)| *meaning)
}

/// Returns the meaning of a status word: alone, with a mark before or behind it, or with a remark behind it.
pub(super) fn status_word(text: &str) -> Option<Word> {
    let text = text.trim();
    if let Some(word) = single_word(text) {
        return Some(word);
    }
    let mark = |part: &str| if part.contains(char::is_alphanumeric) { None } else { single_word(part) };
    if let Some((first, rest)) = text.split_once(' ')
        && let Some(meaning) = mark(first)
    {
        return status_word(rest).filter(|word| *word == meaning);
    }
    if let Some((rest, last)) = text.rsplit_once(' ')
        && let Some(meaning) = mark(last)
    {
        return single_word(rest).filter(|word| *word == meaning);
    }
    let (word, rest) = split_remark(text)?;
    let word = single_word(word)?;
    let rest = rest.to_lowercase();
    let has_remark = REMARKS.split(' ').any(|remark| rest.contains(remark));
    match word {
        Word::Is(PhaseStatus::Complete) if has_remark => Some(Word::DoneWithRemarks),
        word => Some(word),
    }
}

/// Splits `done (3 warnings)`, `PASS_WITH_NOTES`, `Complete - all tests pass` or `COMPLETE WARNINGS` behind the word.
fn split_remark(text: &str) -> Option<(&str, &str)> {
    let signs = ["(", ",", ";", ":", "|", " - ", " \u{2014} ", " \u{2013} ", ". "];
    let lower = text.to_ascii_lowercase();
    let with = ["_with_", " with ", "-with-"].into_iter().chain([" warning", "_warning"]);
    let end = signs.iter().filter_map(|sign| text.find(sign)).chain(with.filter_map(|sign| lower.find(sign))).min()?;
    let (word, rest) = text.split_at(end);
    (!word.trim().is_empty()).then_some((word, rest))
}

fn single_word(text: &str) -> Option<Word> {
    if let Some(status) = parse_status_word(text) {
        return Some(Word::Is(status));
    }
    let folded: String = text.trim().to_lowercase().chars().filter(|c| !matches!(c, ' ' | '_' | '\u{fe0f}')).collect();
    // A lone dash is a word of its own.
    let folded = if folded.len() > 1 { folded.replace('-', "") } else { folded };
    find(STATUS_WORDS, &folded)
}

/// True if a word in the place of a value means that there is none.
pub(super) fn is_idle_word(text: &str) -> bool {
    status_word(text) == Some(Word::Idle) || text.eq_ignore_ascii_case("n/a")
}

/// The meaning of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Key {
    /// The things it refers to; `None` if it does not say.
    pub(super) noun: Option<Noun>,
    pub(super) role: Role,
    pub(super) is_plural: bool,
}

/// Classifies a key in snake case.
pub(super) fn classify(snake_key: &str) -> Key {
    let mut key = Key { noun: None, role: Role::Unknown, is_plural: false };
    let mut rest: Vec<&str> = Vec::new();
    for (index, token) in snake_key.split('_').enumerate() {
        let singular = singular(token);
        if let Some(noun) = find(NOUNS, &singular)
            && token != "todo"
        {
            // `task_step` is about steps, and `feature_tasks` about tasks; `plan_phase` is about phases.
            let widest = |known: Noun| if noun == Noun::Phase { noun } else { known.max(noun) };
            key.noun = Some(key.noun.map_or(noun, widest));
            key.is_plural |= token != singular || token == "checklist";
        } else if !has(LEADING_FILLERS, token) && (index == 0 || !has(FILLERS, token)) {
            rest.push(token);
        }
    }
    let words = rest.join("_");
    let is_index = snake_key.ends_with("_index") || snake_key.ends_with("_idx");
    let needs_noun = has(ROLES_WITH_NOUN, &words);
    let listed = if needs_noun && key.noun.is_none() { None } else { find(ROLES, &words) };
    let qualifier = words.strip_prefix("current_").unwrap_or(&words);
    let is_qualified = !key.is_plural && !qualifier.contains('_') && !has(OTHER_PHASES, qualifier);
    let is_aside = || rest.iter().any(|token| has(ASIDES, &singular(token)));
    key.role = match (listed, key.noun) {
        (Some(Role::Current), _) if is_index => Role::Position,
        (Some(role), _) => role,
        (None, Some(_)) if rest.is_empty() => {
            if is_index {
                Role::Position
            } else {
                Role::All
            }
        }
        // A noun decides: `test_phases` are phases.
        (None, Some(Noun::Phase)) if is_qualified => Role::Qualified,
        (None, None) if is_aside() => Role::Aside,
        (None, _) => Role::Unknown,
    };
    key
}

pub(super) fn singular(token: &str) -> String {
    if let Some(stem) = token.strip_suffix("ies") {
        return format!("{stem}y");
    }
    let is_es = ["ches", "shes", "sses", "xes"].iter().any(|end| token.ends_with(end));
    let stem = if is_es { token.strip_suffix("es") } else { token.strip_suffix('s') };
    stem.filter(|stem| !stem.ends_with('s') && stem.len() > 1).unwrap_or(token).to_owned()
}

/// Converts a key to snake case.
pub(super) fn snake_case(key: &str) -> String {
    key.to_snake_case()
}

/// Words in the place of a phase that say something instead of naming one. Other status words may be phases there:
/// `review`, `testing`, `approved`.
const POINTER_WORDS: &[(Word, &str)] = &[
    (
        Word::Is(PhaseStatus::Complete),
        "all_complete all_done archived closed complete completed consensus_complete deployed done finished \
     fully_complete implemented merged published released resolved shipped success succeeded verified",
    ),
    (Word::Is(PhaseStatus::Failed), "failed error failure errored aborted cancelled canceled abandoned"),
    (Word::Is(PhaseStatus::Pending), "not_started pending todo unstarted not_begun queued"),
    (Word::Is(PhaseStatus::InProgress), "active blocked halted in_progress ongoing paused running started stopped wip"),
];
/// Ends of words for something that is complete, where it is not said whether that is everything: `v2-complete`.
const PART_COMPLETE: &str = "_complete _completed _done _finished";

/// Returns what a text says in the place of a phase; `None` if it may name one.
pub(super) fn pointer_word(text: &str) -> Option<Word> {
    if is_idle_word(text) {
        return Some(Word::Idle);
    }
    let snake = snake_case(text);
    let is_part = || PART_COMPLETE.split(' ').any(|end| snake.ends_with(end));
    find(POINTER_WORDS, &snake).or_else(|| is_part().then_some(Word::Is(PhaseStatus::InProgress)))
}
