//! `ckpt join`

use clap::Args;

use super::conflict_flags::ConflictFlags;
use crate::cli::args::{CommandSpec, parsed};
use crate::cli::complete;
use crate::cli::error::{ErrorCode, Failure};
use crate::cli::exit::Exit;
use crate::cli::save::SaveOptions;
use crate::cli::session::{Session, Workspace};
use crate::cli::views::merge::MergeReport;
use crate::core::change::{Change, ChangeError, Merge};
use crate::core::merge::merge;
use crate::core::{Handle, Selector, WorkflowId};

pub(crate) const COMMAND: CommandSpec = CommandSpec {
    name: "join",
    alias: None,
    augment_args: JoinArgs::augment_args,
    examples: EXAMPLES,
    run: |matches, session| run(&parsed(matches)?, session),
};

const EXAMPLES: &str = "\
Examples:
  ckpt join 042 --dry-run
  ckpt join 042 --theirs
  ckpt join 042 --onto 042/8@3fa9c2d1 --ours=/phases/build/status";

/// Bring a workflow together that was continued in two places
///
/// The newest checkpoint here is merged with the newest one from elsewhere, as by `ckpt merge`: what only one of them has
/// changed is taken from it, and what both have changed differently is a conflict, which `--ours`, `--theirs` or `--set`
/// settles. The result is one checkpoint that continues both; `ckpt push` shares it.
#[derive(Debug, Args)]
pub(crate) struct JoinArgs {
    /// The workflow
    #[arg(value_name = "ID", add = complete::selector())]
    workflow: WorkflowId,
    /// The checkpoint to join with, if the workflow was continued in more than two places
    #[arg(long, value_name = "SELECTOR")]
    onto: Option<Selector>,
    #[command(flatten)]
    conflicts: ConflictFlags,
    /// A remark about why
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
    /// Say what would be saved, and do nothing
    #[arg(short = 'n', long)]
    dry_run: bool,
    /// Write secrets as they are instead of replacing them
    #[arg(long)]
    allow_secrets: bool,
}

fn run(args: &JoinArgs, session: &Session) -> Result<Exit, Failure> {
    let workspace = session.workspace()?;
    let store = &workspace.store;
    let workflow = store.resolve_workflow(&args.workflow)?;
    let other = args.other(&workspace, &workflow)?;
    let newest = store.head_number(&workflow)?.unwrap_or_default();
    let ours = store.load_content(Handle::new(&workflow, newest))?;
    let theirs = store.load_content(other.clone())?;
    let origin = store.common_origin(&workflow, &ours, &theirs)?;
    let base = match &origin {
        Some(origin) => store.load_content(origin.clone())?.content,
        None => Default::default(),
    };
    let resolutions = args.conflicts.resolutions(session)?;
    let merged = merge(&base, &ours.content, &theirs.content, &resolutions).map_err(ChangeError::from)?;
    let change = Change {
        note: args.note.clone(),
        merge: Some(Box::new(Merge { origin: base, theirs: theirs.clone(), resolutions })),
        ..Change::default()
    };
    let options = SaveOptions {
        expect: Some(newest),
        dry_run: args.dry_run,
        allow_secrets: args.allow_secrets,
        ..SaveOptions::default()
    };
    let save = session.save(&workspace, &workflow, change, &options)?;
    session.answer(&MergeReport::joined(save, &other, origin, merged.settled, !args.dry_run))
}

impl JoinArgs {
    /// Returns the head to join with.
    fn other(&self, workspace: &Workspace, workflow: &WorkflowId) -> Result<Handle, Failure> {
        let store = &workspace.store;
        let heads = store.other_heads(workflow)?;
        let names = || heads.iter().map(|head| format!("`{head}`")).collect::<Vec<_>>().join(", ");
        if let Some(onto) = &self.onto {
            let onto = store.resolve(onto)?;
            return if heads.contains(&onto) {
                Ok(onto)
            } else {
                Err(Failure::new(
                    ErrorCode::NothingToJoin,
                    format!("`{onto}` is no other head of `{workflow}`"),
                )
                .help(format!("its other heads are {}", names())))
            };
        }
        match heads.as_slice() {
            [] => Err(Failure::new(ErrorCode::NothingToJoin, format!("`{workflow}` has only one head"))
                .help("`ckpt pull` looks for what other stores have saved")),
            [head] => Ok(head.clone()),
            _ => {
                let message = format!("`{workflow}` was continued in {} other places", heads.len());
                Err(Failure::new(ErrorCode::Ambiguous, message)
                    .help(format!("name one with `--onto`: {}", names()))
                    .context("candidates", heads.iter().map(ToString::to_string).collect::<Vec<_>>()))
            }
        }
    }
}
