//! `ckpt restore`

use clap::Args;
use clap_complete::engine::ArgValueCandidates;

use crate::cli::args::{CommandSpec, parsed};
use crate::cli::complete;
use crate::cli::error::{ErrorCode, Failure};
use crate::cli::exit::Exit;
use crate::cli::mirror::update_mirrors;
use crate::cli::session::Session;
use crate::cli::views::restore::RestoreReport;
use crate::core::selector::Which;
use crate::core::{Handle, Selector};

pub(crate) const COMMAND: CommandSpec = CommandSpec {
    name: "restore",
    alias: None,
    augment_args: RestoreArgs::augment_args,
    examples: EXAMPLES,
    run: |matches, session| run(&parsed(matches)?, session),
};

const EXAMPLES: &str = "\
Examples:
  ckpt restore 042
  ckpt restore 042/7";

/// Bring archived checkpoints back, byte for byte
///
/// A whole workflow goes on where it stood before it was archived; one checkpoint is put back into its place and
/// nothing else. What is live is never overwritten, and bundles stay where they are.
#[derive(Debug, Args)]
pub(crate) struct RestoreArgs {
    /// The workflow, or one checkpoint of it
    #[arg(value_name = "ID[/N]", add = ArgValueCandidates::new(complete::workflow_ids))]
    selector: Selector,
}

fn run(args: &RestoreArgs, session: &Session) -> Result<Exit, Failure> {
    let selector = &args.selector;
    let workspace = session.workspace()?;
    let store = &workspace.store;
    let (workflow, only) = match selector.which {
        Which::Newest => (store.resolve_workflow(&selector.workflow)?, None),
        Which::Number(_) | Which::Before(_) => {
            let Handle { workflow, seq } = store.resolve(selector)?;
            (workflow, Some(seq))
        }
    };
    let stamp = session.stamp(&workspace.place, &workspace.config)?;
    let done = store.restore(&workflow, only, &stamp)?;
    if let (Some(seq), true) = (only, done.restored.is_empty()) {
        // The checkpoint is live. If its file is damaged, this fails: a live file is never overwritten.
        let handle = Handle::new(&workflow, seq);
        store.load(&handle)?;
        let bundles = store.list_bundles(&workflow)?;
        if !bundles.iter().any(|bundle| (bundle.name.first..=bundle.name.last).contains(&seq)) {
            return Err(already_live(&handle, store.head_number(&workflow)?));
        }
    }
    let newest = Handle::new(&workflow, store.head_number(&workflow)?.unwrap_or_default());
    let deletions = store.deletions(&workflow).unwrap_or_default();
    let warnings = update_mirrors(store, &workspace.config, &workspace.place.cwd, &workflow);
    let report = RestoreReport::new(newest, &done, &deletions, warnings);
    session.answer(&report)?;
    Ok(if report.is_partial() { Exit::Partial } else { Exit::Ok })
}

/// The failure for a checkpoint that never left the live store. Most people want to continue from it.
fn already_live(handle: &Handle, newest: Option<u64>) -> Failure {
    let failure = Failure::new(ErrorCode::AlreadyLive, format!("`{handle}` is live; it was not archived"));
    if newest == Some(handle.seq) {
        return failure.help(format!("it is the newest one: `ckpt resume {}`", handle.workflow));
    }
    failure.help(format!("did you mean `ckpt rollback {handle}`, which continues from it?"))
}
