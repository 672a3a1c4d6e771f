//! Shell completion. The shell calls the program back with `COMPLETE` set; candidates come from the store.

use clap::builder::StyledStr;
use clap_complete::engine::CompletionCandidate;
use clap_complete::env::CompleteEnv;

use super::args::{GlobalArgs, command_tree};
use super::clock::Clock;
use super::env::Environment;
use super::session::Session;
use super::ui::Ui;

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
    let env = Environment::read();
    let global = GlobalArgs::default();
    let ui = Ui::new(&global, &env);
    let session = Session { env, ui, global, clock: Clock::default() };
    let store = session.store().ok();
    let live = store.as_ref().and_then(|store| store.workflow_ids().ok());
    let compacted = store.as_ref().and_then(|store| store.compacted_workflows().ok());
    let mut ids: Vec<_> = [live, compacted].into_iter().flatten().flatten().collect();
    ids.sort();
    let candidate = |id: &crate::core::WorkflowId| {
        CompletionCandidate::new(id.as_str()).help(Some(StyledStr::from("workflow")))
    };
    ids.iter().take(MOST_CANDIDATES).map(candidate).collect()
}
