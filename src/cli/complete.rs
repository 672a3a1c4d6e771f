//! Shell completion. The script of the shell calls the program with `COMPLETE` set; candidates come from the store.
//!
//! Some shells, such as bash, put a candidate on the command line as it is. A phase, a pipeline or a file named
//! `$(command)` in somebody else's project would then run that command, so only plain words are offered.

use std::ffi::OsStr;
use std::path::PathBuf;

use clap::{Arg, Command, ValueHint};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter as _};
use clap_complete::env::CompleteEnv;

use super::args::command_tree;
use super::env::Environment;
use super::escape::inline;
use super::session::Session;
use ckpt_formats::dialects::Dialect;
use ckpt_model::text::is_hazardous;
use ckpt_model::{Handle, Selector, Trigger, WorkflowId};
use ckpt_store::Head;

/// The variable that the completion script sets.
pub(crate) const VARIABLE: &str = "COMPLETE";

/// A longer list of ids helps nobody who presses Tab.
const MOST_CANDIDATES: usize = 500;

/// The length of a description, in characters.
const MOST_DESCRIPTION: usize = 60;

/// Prints completions and returns true, if the completion script made this call.
///
/// It calls without arguments, or with `--` as the first one. Anything else is a command, even if a variable with such a
/// common name is set: it must not be swallowed with exit code 0.
pub(crate) fn respond(env: &Environment) -> bool {
    if !env.is_set(VARIABLE) || env.args.get(1).is_some_and(|word| word != "--") {
        return false;
    }
    let is_flag = env.args.last().is_some_and(|word| word.as_encoded_bytes().starts_with(b"-"));
    let tree = || {
        let tree = with_plain_paths(command_tree());
        if is_flag { tree } else { with_hidden_flags(tree) }
    };
    let completed =
        CompleteEnv::with_factory(tree).var(VARIABLE).try_complete(env.args.iter().cloned(), env.cwd.as_deref().ok());
    completed.unwrap_or(false)
}

/// Returns the ids of the workflows in the store.
pub(crate) fn workflow_ids() -> Vec<CompletionCandidate> {
    let store = session().store().ok();
    let mut ids = store.and_then(|store| store.workflow_ids().ok()).unwrap_or_default();
    ids.sort();
    ids.iter().take(MOST_CANDIDATES).filter_map(|id| candidate(id, "workflow")).collect()
}

/// Returns the ids that begin with `prefix`; once that is an id, its checkpoints too, the newest first.
fn checkpoints(prefix: &OsStr) -> Vec<CompletionCandidate> {
    let Some(prefix) = prefix.to_str() else { return Vec::new() };
    let mut offered = workflow_ids();
    let store = session().store().ok();
    let id = prefix.split_once('/').map_or(prefix, |(id, _)| id).parse::<WorkflowId>();
    if let (Some(store), Ok(id)) = (store, id)
        && let Ok(Some(newest)) = store.head_number(&id)
    {
        let numbers = (1..=newest).rev().take(MOST_CANDIDATES);
        offered.extend(numbers.filter_map(|seq| candidate(&Handle::new(&id, seq), "checkpoint")));
    }
    offered.retain(|word| word.get_value().to_str().is_some_and(|word| word.starts_with(prefix)));
    offered
}

/// Completes a selector.
pub(crate) fn selector() -> ArgValueCompleter {
    ArgValueCompleter::new(checkpoints)
}

/// Returns the phases of the workflow that an earlier argument names.
pub(crate) fn phases() -> Vec<CompletionCandidate> {
    let session = session();
    let Ok(store) = session.store() else { return Vec::new() };
    let words = session.env.args.iter().skip_while(|word| *word != "--").skip(3);
    let mut selectors = words.filter_map(|word| word.to_str()?.parse::<Selector>().ok());
    let head = selectors.find_map(|selector| store.head(&selector.workflow).ok().flatten());
    let Some(Head::Checkpoint(head) | Head::Seal(head)) = head else { return Vec::new() };
    let phases = head.content.phases.into_iter();
    phases.filter_map(|phase| candidate(&phase.id, phase.name.as_deref().unwrap_or("phase"))).collect()
}

/// Returns the configured and the built-in pipelines.
pub(crate) fn pipelines() -> Vec<CompletionCandidate> {
    let config = session().workspace().map(|workspace| workspace.config).unwrap_or_default();
    config.pipeline_names().filter_map(|name| candidate(&name, "pipeline")).collect()
}

/// Returns all triggers.
pub(crate) fn triggers() -> Vec<CompletionCandidate> {
    Trigger::OF_SAVES.iter().filter_map(|trigger| candidate(trigger, "trigger")).collect()
}

/// Returns the dialects that `export` writes.
pub(crate) fn export_dialects() -> Vec<CompletionCandidate> {
    Dialect::writable().iter().filter_map(|dialect| candidate(dialect, "dialect")).collect()
}

/// Returns a candidate with a description; `None` if it is not a plain word.
fn candidate(word: &impl ToString, description: &str) -> Option<CompletionCandidate> {
    let word = word.to_string();
    let description: String = inline(description).chars().take(MOST_DESCRIPTION).collect();
    is_plain(&word).then(|| CompletionCandidate::new(word).help(Some(description.into())))
}

/// Returns true for one word that is text or a path in every shell, and not an option.
fn is_plain(word: &str) -> bool {
    let plain = |c: char| (c.is_alphanumeric() && !is_hazardous(c)) || "_-.,+@%/~".contains(c);
    !word.is_empty() && !word.starts_with('-') && word.chars().all(plain)
}

/// Replaces the completion of paths by one that offers only plain words.
fn with_plain_paths(command: Command) -> Command {
    let offers_paths = |arg: &Arg| !matches!(arg.get_value_hint(), ValueHint::Unknown | ValueHint::Other);
    let restricted = |arg: Arg| if offers_paths(&arg) { arg.add(ArgValueCompleter::new(plain_paths)) } else { arg };
    command.mut_args(restricted).mut_subcommands(with_plain_paths)
}

/// Hides flags, which are then offered only if there is nothing else: behind no dash, a value is typed.
fn with_hidden_flags(command: Command) -> Command {
    let hidden = |arg: Arg| if arg.is_positional() { arg } else { arg.hide(true) };
    let command = command.disable_help_flag(true).disable_version_flag(true);
    command.mut_args(hidden).mut_subcommands(with_hidden_flags)
}

fn plain_paths(prefix: &OsStr) -> Vec<CompletionCandidate> {
    let mut paths = PathCompleter::any().complete(prefix);
    paths.retain(|path| path.get_value().to_str().is_some_and(is_plain));
    paths
}

/// Returns the session that the command being typed will have.
fn session() -> Session {
    let env = Environment::read();
    let store = store(&env);
    Session::silent(env, store)
}

/// Returns the value of `--store` on the line that is being typed.
fn store(env: &Environment) -> Option<PathBuf> {
    let mut words = env.args.iter().skip(1);
    while let Some(word) = words.next() {
        if word == "--store" {
            return words.next().map(PathBuf::from);
        }
        if let Some(path) = word.to_str().and_then(|word| word.strip_prefix("--store=")) {
            return Some(PathBuf::from(path));
        }
    }
    None
}
