//! Shell completion. The shell calls the program back with `COMPLETE` set; candidates come from the store.

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
use crate::core::{Selector, Trigger};

/// The variable that says that the shell is asking.
pub(crate) const VARIABLE: &str = "COMPLETE";

/// More ids than this are of no use to anybody pressing Tab.
const MOST_CANDIDATES: usize = 500;

/// Answers the shell, if it is the one asking.
///
/// A shell calls with no words, for the script, or with `--` in front of them. Anything else is a command, whatever a
/// variable of so common a name is set to: it must not be swallowed with exit code 0.
pub(crate) fn answer(env: &Environment) -> bool {
    if !env.is_set(VARIABLE) || env.args.get(1).is_some_and(|word| word != "--") {
        return false;
    }
    let completed = CompleteEnv::with_factory(command_tree)
        .var(VARIABLE)
        .try_complete(env.args.iter().cloned(), env.cwd.as_deref().ok());
    completed.unwrap_or(false)
}

/// The ids of the workflows in the store, for an argument that takes one.
pub(crate) fn workflow_ids() -> Vec<CompletionCandidate> {
    let store = session().store().ok();
    let mut ids = store.and_then(|store| store.workflow_ids().ok()).unwrap_or_default();
    ids.sort();
    ids.iter().take(MOST_CANDIDATES).map(|id| candidate(id, "workflow")).collect()
}

/// The phases of the workflow that is named before, for an argument that takes one of them.
pub(crate) fn phases() -> Vec<CompletionCandidate> {
    let session = session();
    let Ok(store) = session.store() else { return Vec::new() };
    let words = session.env.args.iter().skip_while(|word| *word != "--").skip(3);
    let named = words.filter_map(|word| word.to_str()?.parse::<Selector>().ok());
    let newest = |selector: Selector| store.newest(&selector.workflow).ok().flatten();
    let Some(found) = named.filter_map(newest).next() else { return Vec::new() };
    let phases = found.checkpoint.content.phases.into_iter();
    phases.map(|phase| candidate(&phase.id, phase.name.as_deref().unwrap_or("phase"))).collect()
}

/// The pipelines there are.
pub(crate) fn pipelines() -> Vec<CompletionCandidate> {
    let config = session().workspace().map(|workspace| workspace.config).unwrap_or_default();
    config.pipeline_names().map(|name| candidate(&name, "pipeline")).collect()
}

/// Why a checkpoint can be taken.
pub(crate) fn triggers() -> Vec<CompletionCandidate> {
    Trigger::KNOWN.iter().map(|trigger| candidate(trigger, "trigger")).collect()
}

/// The systems that can read a copy.
pub(crate) fn dialects() -> Vec<CompletionCandidate> {
    Dialect::FOREIGN.iter().map(|dialect| candidate(dialect, "dialect")).collect()
}

/// The systems whose files can be written, and our own.
pub(crate) fn writable() -> Vec<CompletionCandidate> {
    Dialect::WRITABLE.iter().map(|dialect| candidate(dialect, "dialect")).collect()
}

fn candidate(word: &impl ToString, what: &str) -> CompletionCandidate {
    CompletionCandidate::new(word.to_string()).help(Some(StyledStr::from(what.to_owned())))
}

/// The session of the command that is being typed.
fn session() -> Session {
    let env = Environment::read();
    let global = GlobalArgs { store: store(&env), ..GlobalArgs::default() };
    let ui = Ui::new(&global, &env);
    Session { env, ui, global, clock: Clock::default() }
}

/// The store that is named on the line.
fn store(env: &Environment) -> Option<PathBuf> {
    let mut words = env.args.iter().skip(1);
    while let Some(word) = words.next() {
        if word == "--store" {
            return words.next().map(PathBuf::from);
        }
        if let Some(named) = word.to_str().and_then(|word| word.strip_prefix("--store=")) {
            return Some(PathBuf::from(named));
        }
    }
    None
}
