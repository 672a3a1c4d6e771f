//! `ckpt rollback`

use clap::Args;

use super::resume::restore_artifacts;
use super::save::expected;
use crate::cli::args::{CommandSpec, command};
use crate::cli::complete;
use crate::cli::error::{ErrorCode, Failure};
use crate::cli::exit::Exit;
use crate::cli::saving::SaveOptions;
use crate::cli::session::Session;
use crate::cli::views::rollback::RollbackReport;
use ckpt_model::change::Change;
use ckpt_model::selector::Which;
use ckpt_model::{Handle, Selector};
use ckpt_store::Head;

pub(crate) const COMMAND: CommandSpec = command!(RollbackArgs, "rollback", EXAMPLES, run);

const EXAMPLES: &str = "\
Examples:
  ckpt rollback 042~1 --dry-run
  ckpt rollback 042/3 --restore-artifacts --force
  ckpt rollback 042/3 --note \"The second approach leads nowhere\"";

/// Continue from an earlier checkpoint
///
/// Its content is saved once more, as the newest checkpoint. Nothing is removed: what came in between stays in the
/// history, and the answer says how to get back to it. Only the checkpoint is taken back, not the files of the project;
/// `ckpt resume` says which of them are no longer what the checkpoint says. `--restore-artifacts` brings back those whose
/// contents were kept.
#[derive(Debug, Args)]
pub(crate) struct RollbackArgs {
    /// The checkpoint to continue from: `042/3` that one, `042~1` the one before the newest
    #[arg(value_name = "SELECTOR", add = complete::selector())]
    selector: Selector,
    /// A remark about why
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
    /// Bring back the artifacts that are missing and whose contents were kept
    #[arg(long)]
    restore_artifacts: bool,
    /// With `--restore-artifacts`, those that have changed too; what is there is renamed to `NAME.orig`
    #[arg(long, requires = "restore_artifacts")]
    force: bool,
    /// Say what would be saved, and do nothing
    #[arg(short = 'n', long)]
    dry_run: bool,
    /// Fail if the newest checkpoint is another one than this
    #[arg(long, value_name = "HANDLE")]
    expect: Option<Handle>,
}

fn run(args: &RollbackArgs, session: &Session) -> Result<Exit, Failure> {
    let selector = &args.selector;
    let workspace = session.workspace()?;
    let store = &workspace.store;
    if selector.which == Which::Newest {
        let workflow = store.resolve_workflow(&selector.workflow)?;
        let message = format!("`{workflow}` does not say which of its checkpoints to continue from");
        return Err(Failure::new(ErrorCode::NoCheckpointNamed, message)
            .help(format!("`ckpt rollback {workflow}~1` goes back by one"))
            .help(format!("`ckpt log {workflow}` lists them")));
    }
    let asked = store.resolve(selector)?;
    let workflow = &asked.workflow.clone();
    let earlier = store.load_content(asked)?;
    let change = Change { note: args.note.clone(), back_to: Some(earlier.clone()), ..Change::default() };
    let options = SaveOptions {
        expect: args.expect.as_ref().map(|expect| expected(expect, workflow)).transpose()?,
        // Repeating a rollback saves nothing, but a rollback of an archived workflow continues it.
        if_changed: !matches!(store.head(workflow)?, Some(Head::Seal(_))),
        dry_run: args.dry_run,
        ..SaveOptions::default()
    };
    let save = session.save(&workspace, workflow, change, &options)?;
    let mut report = RollbackReport::new(save, &earlier, !args.dry_run, session.store_words());
    if args.restore_artifacts {
        let steps = restore_artifacts(&workspace, &earlier, args.force, !args.dry_run)?;
        report = report.with_restored(steps);
    }
    session.answer(&report)
}
