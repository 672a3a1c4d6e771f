//! Shell completion. The script of the shell calls the program with `COMPLETE` set; candidates come from the store.

use std::path::PathBuf;

use clap::builder::StyledStr;
use clap_complete::engine::CompletionCandidate;
use clap_complete::env::CompleteEnv;

use super::args::{GlobalArgs, command_tree};
use super::clock::Clock;
use super::env::Environment;
use super::session::Session;
use super::ui::Ui;
use crate::core::dialects::Dialect;
use crate::core::store::Head;
use crate::core::{Selector, Trigger};

/// The variable that the completion script sets.
pub(crate) const VARIABLE: &str = "COMPLETE";

/// A longer list of ids helps nobody who presses Tab.
const MOST_CANDIDATES: usize = 500;

/// Prints completions and returns true, if the completion script made this call.
///
/// It calls without arguments, or with `--` as the first one. Anything else is a command, even if a variable with such a
/// common name is set: it must not be swallowed with exit code 0.
pub(crate) fn respond(env: &Environment) -> bool {
    if !env.is_set(VARIABLE) || env.args.get(1).is_some_and(|word| word != "--") {
        return false;
    }
    let completed = CompleteEnv::with_factory(command_tree)
        .var(VARIABLE)
        .try_complete(env.args.iter().cloned(), env.cwd.as_deref().ok());
    completed.unwrap_or(false)
}

/// Returns the ids of the workflows in the store.
pub(crate) fn workflow_ids() -> Vec<CompletionCandidate> {
    let store = session().store().ok();
    let mut ids = store.and_then(|store| store.workflow_ids().ok()).unwrap_or_default();
    ids.sort();
    ids.iter().take(MOST_CANDIDATES).map(|id| candidate(id, "workflow")).collect()
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
    phases.map(|phase| candidate(&phase.id, phase.name.as_deref().unwrap_or("phase"))).collect()
}

/// Returns the configured and the built-in pipelines.
pub(crate) fn pipelines() -> Vec<CompletionCandidate> {
    let config = session().workspace().map(|workspace| workspace.config).unwrap_or_default();
    config.pipeline_names().map(|name| candidate(&name, "pipeline")).collect()
}

/// Returns all triggers.
pub(crate) fn triggers() -> Vec<CompletionCandidate> {
    Trigger::KNOWN.iter().map(|trigger| candidate(trigger, "trigger")).collect()
}

/// Returns the dialects that a mirror can be kept in.
pub(crate) fn mirror_dialects() -> Vec<CompletionCandidate> {
    Dialect::FOREIGN.iter().map(|dialect| candidate(dialect, "dialect")).collect()
}

/// Returns the dialects that `export` writes.
pub(crate) fn export_dialects() -> Vec<CompletionCandidate> {
    Dialect::WRITABLE.iter().map(|dialect| candidate(dialect, "dialect")).collect()
}

fn candidate(word: &impl ToString, what: &str) -> CompletionCandidate {
    CompletionCandidate::new(word.to_string()).help(Some(StyledStr::from(what.to_owned())))
}

/// Returns the session that the command being typed will have.
fn session() -> Session {
    let env = Environment::read();
    let global = GlobalArgs { store: store(&env), ..GlobalArgs::default() };
    let ui = Ui::new(&global, &env);
    Session { env, ui, global, clock: Clock::default() }
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
