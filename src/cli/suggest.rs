//! Corrects a command line that failed to parse.
//!
//! Each step replaces the part of the line that the parser rejects, by the table of [`synonyms`] or by the nearest
//! spelling, and parses again. Only a line that parses as a whole is offered, so where nothing fits, nothing is. All of
//! this runs after a failure: a correct line never pays for it.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgMatches, Command};

use super::args::{self, CommandSpec, GlobalArgs, command_tree};
use super::synonyms::{self, NEWEST};
use super::values::is_document;
use ckpt_model::WorkflowId;
use ckpt_model::status_word::parse_status_word;
use ckpt_model::text::{distance, shell_argument};

/// The most replacements in one line.
const MOST_STEPS: usize = 6;

/// The commands that need a workflow, although the parser does not: it may be in the environment.
const NEED_WORKFLOW: [&str; 4] = ["save", "start", "done", "fail"];

/// A command line, and the text that is piped into it.
#[derive(Debug, Clone, PartialEq)]
struct Line {
    words: Vec<String>,
    stdin: Option<String>,
}

/// Conditions of a line that the parser does not know of.
pub(super) struct Conditions<'a> {
    /// True if the environment names the workflow.
    pub(super) has_workflow: bool,
    /// Returns true if there is work left in a workflow of the store.
    pub(super) is_open: &'a dyn Fn(&WorkflowId, &GlobalArgs) -> bool,
}

impl Conditions<'_> {
    /// Returns true if a line that parses would not be refused for a missing workflow or reason.
    fn admit(&self, spec: &CommandSpec, matches: &ArgMatches, global: &GlobalArgs) -> bool {
        if NEED_WORKFLOW.contains(&spec.name) {
            return self.has_workflow || names_workflow(matches);
        }
        if spec.name == "archive" && !matches.contains_id("reason") {
            let mut ids = matches.get_many::<WorkflowId>("ids").into_iter().flatten();
            return !ids.any(|id| (self.is_open)(id, global));
        }
        true
    }
}

/// Returns a line that can be typed instead of one that failed to parse.
pub(super) fn corrected(args: &[OsString], conditions: &Conditions<'_>) -> Option<String> {
    let words = args.iter().skip(1).map(|word| word.to_str().map(str::to_owned)).collect::<Option<_>>()?;
    let line = correct(Line { words, stdin: None }, conditions, MOST_STEPS)?;
    rendered(&line)
}

/// Returns the line with `newest` in place of a word such as `latest`, if there is one and it parses then.
pub(super) fn with_newest(args: &[OsString], newest: &WorkflowId) -> Option<String> {
    let words = args.iter().skip(1).map(|word| word.to_str().map(str::to_owned)).collect::<Option<_>>()?;
    let line = Line { words, stdin: None };
    let workflow = |word: &str| word.find(['/', '~']).unwrap_or(word.len());
    let mut attempts = line.places(|word| has_word(NEWEST, &word[..workflow(word)])).map(|place| {
        let word = &line.words[place];
        line.replaced(place, 1, &[format!("{newest}{}", &word[workflow(word)..])])
    });
    rendered(&attempts.find(|attempt| attempt.parse().is_ok())?)
}

fn rendered(line: &Line) -> Option<String> {
    let mut shown = match &line.stdin {
        Some(text) => format!("printf '%s' {} | ckpt", shell_argument(text)?),
        None => "ckpt".to_owned(),
    };
    for word in &line.words {
        shown.push(' ');
        shown.push_str(&shell_argument(word)?);
    }
    Some(shown)
}

/// Replaces what the parser rejects until the whole line parses, depth first.
fn correct(line: Line, conditions: &Conditions<'_>, steps: usize) -> Option<Line> {
    let error = match line.parse() {
        Ok((spec, matches, global)) => {
            return conditions.admit(spec, &matches, &global).then_some(line);
        }
        Err(error) => error,
    };
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion if steps < MOST_STEPS => return Some(line),
        _ if steps == 0 => return None,
        _ => {}
    }
    line.attempts(&error).into_iter().find_map(|attempt| correct(attempt, conditions, steps - 1))
}

fn names_workflow(matches: &ArgMatches) -> bool {
    ["id", "from"].iter().any(|name| matches!(matches.try_get_raw(name), Ok(Some(_))))
}

fn context(error: &clap::Error, kind: ContextKind) -> Option<&str> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text),
        _ => None,
    }
}

impl Line {
    fn parse(&self) -> Result<(&'static CommandSpec, ArgMatches, GlobalArgs), clap::Error> {
        let words = self.words.iter().map(OsString::from);
        let args: Vec<OsString> = std::iter::once("ckpt".into()).chain(words).collect();
        args::parse(&args)
    }

    fn command(&self) -> Option<&'static CommandSpec> {
        self.words.iter().find_map(|word| CommandSpec::find(&word.into()))
    }

    /// The places of words in front of `--`, which ends the arguments of `ckpt`.
    fn places(&self, wanted: impl Fn(&str) -> bool) -> impl Iterator<Item = usize> {
        let own = self.words.iter().take_while(|word| *word != "--").enumerate();
        own.filter(move |(_, word)| wanted(word)).map(|(place, _)| place).collect::<Vec<_>>().into_iter()
    }

    fn replaced<S: AsRef<str>>(&self, place: usize, length: usize, words: &[S]) -> Self {
        let mut line = self.clone();
        line.words.splice(place..place + length, words.iter().map(|word| word.as_ref().to_owned()));
        line
    }

    /// Returns the lines in which the rejected part is replaced, the best first.
    fn attempts(&self, error: &clap::Error) -> Vec<Self> {
        let mut attempts = Vec::new();
        match error.kind() {
            ErrorKind::InvalidSubcommand => {
                if let Some(word) = context(error, ContextKind::InvalidSubcommand) {
                    self.replace_command(word, &mut attempts);
                }
            }
            ErrorKind::UnknownArgument => {
                self.join_dashed_value(&mut attempts);
                match context(error, ContextKind::InvalidArg) {
                    Some(flag) if flag.starts_with('-') => self.replace_flag(flag, &mut attempts),
                    Some(word) => self.replace_positional(word, &mut attempts),
                    None => {}
                }
            }
            ErrorKind::InvalidValue | ErrorKind::ValueValidation => {
                let flag = context(error, ContextKind::InvalidArg).unwrap_or_default();
                let legal = match error.get(ContextKind::ValidValue) {
                    Some(ContextValue::Strings(legal)) => legal.as_slice(),
                    _ => &[],
                };
                if let Some(value) = context(error, ContextKind::InvalidValue) {
                    self.replace_value(flag, value, legal, &mut attempts);
                }
            }
            ErrorKind::TooManyValues => {
                let flag = context(error, ContextKind::InvalidArg).unwrap_or_default();
                self.drop_value(flag, &mut attempts);
            }
            _ => {}
        }
        attempts
    }

    fn replace_command(&self, word: &str, attempts: &mut Vec<Self>) {
        for place in self.places(|other| other == word) {
            for (meant, typed) in synonyms::COMMANDS {
                if has_word(typed, word) {
                    attempts.extend(self.filled(place, 1, meant));
                }
            }
            let tree = command_tree();
            let names = tree.get_subcommands().map(Command::get_name);
            attempts.extend(nearest(word, names).map(|name| self.replaced(place, 1, &[name])));
        }
    }

    fn replace_flag(&self, flag: &str, attempts: &mut Vec<Self>) {
        let Some(place) = self.places(|word| word.split('=').next() == Some(flag)).next() else { return };
        let (name, joined) = match self.words[place].split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (self.words[place].as_str(), None),
        };
        let value = joined.or_else(|| self.words.get(place + 1).map(String::as_str));
        let both = if joined.is_some() { 1 } else { 2 };
        let command = self.command();
        for (of, meant, typed) in synonyms::FLAGS {
            if !of.is_empty() && command.is_none_or(|command| command.name != *of) {
                continue;
            }
            if has_word(typed, name) && (meant.contains("{}") || joined.is_none()) {
                attempts.extend(self.filled(place, 1, meant));
            }
            if value.is_some_and(|value| has_word(typed, &format!("{name}={value}"))) {
                attempts.extend(self.filled(place, both, meant));
            }
        }
        let Some(command) = command else { return };
        let command = command.standalone();
        let flags: Vec<String> =
            command.get_arguments().filter_map(|flag| Some(format!("--{}", flag.get_long()?))).collect();
        if let Some(near) = nearest(name, flags.iter().map(String::as_str)) {
            let word = joined.map_or_else(|| near.to_owned(), |value| format!("{near}={value}"));
            attempts.push(self.replaced(place, 1, &[word]));
        }
    }

    fn replace_positional(&self, word: &str, attempts: &mut Vec<Self>) {
        let Some(command) = self.command() else { return };
        for place in self.places(|other| other == word) {
            for (meant, commands) in synonyms::POSITIONALS {
                if has_word(commands, command.name) {
                    attempts.extend(self.filled_with(place, 1, meant, word));
                }
            }
        }
    }

    fn replace_value(&self, flag: &str, value: &str, legal: &[String], attempts: &mut Vec<Self>) {
        let (name, value_name) = flag.split_once(' ').unwrap_or(("", flag));
        let mut meanings = Vec::new();
        if name == "--status" {
            meanings.extend(parse_status_word(value).map(|status| status.word().to_owned()));
        }
        for (meant, typed) in synonyms::VALUES {
            if let Some(meant) = meant.strip_prefix(&format!("{name} "))
                && has_word(typed, value)
            {
                meanings.push(meant.to_owned());
            }
        }
        if value_name == "<SPAN>" && value.parse::<u32>().is_ok() {
            meanings.push(format!("{value}d"));
        }
        meanings.extend(nearest(value, legal.iter().map(String::as_str)).map(str::to_owned));
        let is_archive = self.command().is_some_and(|command| command.name == "archive");
        meanings.extend(selectors(value, !is_archive));
        for place in self.places(|word| word == value || word.ends_with(&format!("={value}"))) {
            let prefix = self.words[place].strip_suffix(value).unwrap_or_default();
            for meant in meanings.iter().filter(|meant| *meant != value) {
                attempts.push(self.replaced(place, 1, &[format!("{prefix}{meant}")]));
            }
            if name == "--from" && is_document(value) {
                let line = self.replaced(place, 1, &[format!("{prefix}-")]);
                attempts.push(Self { stdin: Some(value.to_owned()), ..line });
            }
        }
    }

    /// `--json=true` is `--json`.
    fn drop_value(&self, flag: &str, attempts: &mut Vec<Self>) {
        for place in self.places(|word| word.starts_with(&format!("{flag}="))) {
            let value = &self.words[place][flag.len() + 1..];
            if has_word("true yes on 1", value) {
                attempts.push(self.replaced(place, 1, &[flag]));
            } else if has_word("false no off 0", value) {
                attempts.push(self.replaced::<&str>(place, 1, &[]));
            }
        }
    }

    /// A value that begins with a dash is taken for a flag, unless it is joined with its own.
    fn join_dashed_value(&self, attempts: &mut Vec<Self>) {
        let Some(command) = self.command() else { return };
        let command = command.standalone();
        for place in self.places(|word| takes_value(&command, word)) {
            if let Some(value) = self.words.get(place + 1).filter(|value| value.starts_with('-')) {
                attempts.push(self.replaced(place, 2, &[format!("{}={value}", self.words[place])]));
            }
        }
    }

    /// Replaces words by a replacement of the table, whose value is the word behind them or joined with them.
    fn filled(&self, place: usize, length: usize, meant: &str) -> Option<Self> {
        if !meant.contains("{}") {
            return Some(self.replaced(place, length, &words(meant)));
        }
        if let Some((_, value)) = self.words[place].split_once('=') {
            return self.filled_with(place, 1, meant, value);
        }
        let value = self.words.get(place + 1).filter(|value| *value != "--")?;
        self.filled_with(place, 2, meant, value)
    }

    fn filled_with(&self, place: usize, length: usize, meant: &str, value: &str) -> Option<Self> {
        if let Some(behind) = meant.strip_prefix("ID") {
            let mut line = self.replaced::<&str>(place, length, &[]);
            let workflow = line.first_positional()?;
            line.words[workflow].push_str(&behind.replace("{}", value));
            return Some(line);
        }
        let mut filled: Vec<String> = words(meant).iter().map(|word| word.replace("{}", value)).collect();
        // Behind its flag, such a value would be taken for another flag.
        if value.starts_with('-') && filled.len() == 2 && meant.ends_with(" {}") {
            filled = vec![filled.join("=")];
        }
        Some(self.replaced(place, length, &filled))
    }

    /// The place of the first argument of the command that is no flag and no value of one.
    fn first_positional(&self) -> Option<usize> {
        let spec = self.command()?;
        let command = spec.standalone();
        let start = self.words.iter().position(|word| CommandSpec::find(&word.into()).is_some())? + 1;
        (start..self.words.len())
            .find(|place| !self.words[*place].starts_with('-') && !takes_value(&command, &self.words[*place - 1]))
    }
}

fn takes_value(command: &Command, flag: &str) -> bool {
    let Some(name) = flag.strip_prefix("--") else { return false };
    let argument = command.get_arguments().find(|argument| argument.get_long() == Some(name));
    argument.is_some_and(|argument| argument.get_action().takes_values())
}

fn has_word(list: &str, word: &str) -> bool {
    list.split(' ').any(|other| other.eq_ignore_ascii_case(word))
}

fn words(text: &str) -> Vec<&str> {
    text.split(' ').filter(|word| !word.is_empty()).collect()
}

/// Returns the name that differs by one letter, or by a swap of two.
fn nearest<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if has_word(synonyms::UNRELATED, word) {
        return None;
    }
    let near = names.filter(|name| distance(word, name) <= 1);
    near.min_by_key(|name| (distance(word, name), name.len().abs_diff(word.len())))
}

/// Returns the selectors that a text of another notation may mean, such as `042:7`, `042@7`, `042/latest`, `042^`, or the
/// path of a file in the store. With `or_workflow`, the workflow alone comes last.
pub(crate) fn selectors(text: &str, or_workflow: bool) -> Vec<String> {
    let is_id = |id: &str| id.parse::<WorkflowId>().is_ok();
    if let Some(path) = text.strip_suffix(".json") {
        let mut parts = path.rsplit('/');
        return match (parts.next().map(str::parse::<u64>), parts.next(), parts.next()) {
            (Some(Ok(number)), Some(id), Some("workflows")) if is_id(id) => vec![format!("{id}/{number}")],
            _ => Vec::new(),
        };
    }
    let text = text.trim_start_matches('#');
    if is_id(text) {
        return vec![text.to_owned()];
    }
    let Some((id, behind)) = text.split_once([':', '@', '#', '/', '~', '^', ' ']) else { return Vec::new() };
    if !is_id(id) {
        return Vec::new();
    }
    let back = behind.strip_prefix('{').and_then(|back| back.strip_suffix('}'));
    if let Some(Ok(back)) = back.map(str::parse::<u64>) {
        return vec![format!("{id}~{back}")];
    }
    if text[id.len()..].bytes().all(|byte| byte == b'^') {
        return vec![format!("{id}~{}", behind.len() + 1)];
    }
    let number = behind.trim_start_matches(['v', 'V', '#', 'r', '/', ':']);
    if let Ok(number) = number.parse::<u64>() {
        let sign = if text[id.len()..].starts_with('~') { '~' } else { '/' };
        let mut selectors = vec![format!("{id}{sign}{number}")];
        if or_workflow {
            selectors.push(id.to_owned());
        }
        return selectors;
    }
    if behind.is_empty() || has_word(NEWEST, behind) { vec![id.to_owned()] } else { Vec::new() }
}
