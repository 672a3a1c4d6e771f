//! `ckpt merge`

use clap::Args;

use super::conflict_flags::ConflictFlags;
use super::save::expected;
use crate::cli::args::{CommandSpec, parsed};
use crate::cli::complete;
use crate::cli::error::{ErrorCode, Failure};
use crate::cli::exit::Exit;
use crate::cli::save::SaveOptions;
use crate::cli::session::{Session, Workspace};
use crate::cli::views::merge::MergeReport;
use crate::cli::views::save::SaveReport;
use crate::core::change::{Change, ChangeError, Merge};
use crate::core::checkpoint::Content;
use crate::core::merge::{Conflict, Resolutions, merge};
use crate::core::save::Outcome;
use crate::core::selector::Which;
use crate::core::store::Relation;
use crate::core::{Checkpoint, Handle, Selector, WorkflowId};

pub(crate) const COMMAND: CommandSpec = CommandSpec {
    name: "merge",
    alias: None,
    augment_args: MergeArgs::augment_args,
    examples: EXAMPLES,
    run: |matches, session| run(&parsed(matches)?, session),
};

const EXAMPLES: &str = "\
Examples:
  ckpt merge 042 042-redis --dry-run
  ckpt merge 042 042-redis --theirs
  ckpt merge 042 042-redis --ours=/phases/build/status --set /state/port=8080
  ckpt merge 042 042-redis --into 042-redis";

/// Combine two workflows, such as a fork with what it was forked from
///
/// The two are compared with the newest checkpoint that both continue. What only one of them has changed since is taken
/// from it: phase by phase, task by task, artifact by artifact, and inside of state and data member by member. The result
/// is one checkpoint of the first workflow, which continues both; the other workflow stays as it is.
///
/// What both have changed differently is a conflict. All conflicts are listed with both values, and nothing is saved
/// until `--ours`, `--theirs` or `--set` settles each of them. Without a common checkpoint, everything that the two say
/// differently is a conflict.
#[derive(Debug, Args)]
pub(crate) struct MergeArgs {
    /// The workflow that is merged into
    #[arg(value_name = "A", add = complete::selector())]
    ours: Selector,
    /// The other workflow, or one of its checkpoints
    #[arg(value_name = "B", add = complete::selector())]
    theirs: Selector,
    /// Merge into this one of the two; the first if not given
    #[arg(long, value_name = "ID", add = complete::selector())]
    into: Option<WorkflowId>,
    #[command(flatten)]
    conflicts: ConflictFlags,
    /// A remark about why
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
    /// Say what would be saved, and do nothing
    #[arg(short = 'n', long)]
    dry_run: bool,
    /// Fail if the newest checkpoint is another one than this
    #[arg(long, value_name = "HANDLE")]
    expect: Option<Handle>,
    /// Write secrets as they are instead of replacing them
    #[arg(long)]
    allow_secrets: bool,
}

fn run(args: &MergeArgs, session: &Session) -> Result<Exit, Failure> {
    let workspace = session.workspace()?;
    let resolutions = args.conflicts.resolutions(session)?;
    let (ours, theirs) = args.sides(&workspace)?;
    let workflow = ours.workflow.clone();
    let store = &workspace.store;
    let origin = match store.relation(&ours.handle(), &theirs.handle())? {
        Relation::Continues => {
            let save = SaveReport::new(store, &workflow, &Outcome::Unchanged(ours.seq), Some(&ours));
            return session.answer(&MergeReport::nothing_new(save, &theirs, !args.dry_run));
        }
        Relation::Common(origin) => Some(store.load_content(origin)?),
        Relation::Unrelated => None,
    };
    let base = origin.as_ref().map(|origin| origin.content.clone()).unwrap_or_default();
    let settled = settled(&base, &ours, &theirs, &resolutions)?;
    let change = Change {
        note: args.note.clone(),
        merge: Some(Box::new(Merge { origin: base, theirs: theirs.clone(), resolutions })),
        ..Change::default()
    };
    let options = SaveOptions {
        expect: args.expect.as_ref().map(|expect| expected(expect, &workflow)).transpose()?,
        dry_run: args.dry_run,
        allow_secrets: args.allow_secrets,
        ..SaveOptions::default()
    };
    let save = session.save(&workspace, &workflow, change, &options)?;
    let origin = origin.map(|origin| origin.handle());
    session.answer(&MergeReport::new(save, &theirs, origin, settled, !args.dry_run))
}

/// Returns the conflicts that the resolutions settle; fails if one is left. The save does the same again, on top of
/// whatever is the newest checkpoint then.
fn settled(
    origin: &Content,
    ours: &Checkpoint,
    theirs: &Checkpoint,
    resolutions: &Resolutions,
) -> Result<Vec<Conflict>, Failure> {
    let merged = merge(origin, &ours.content, &theirs.content, resolutions).map_err(ChangeError::from)?;
    Ok(merged.settled)
}

impl MergeArgs {
    /// Returns the newest checkpoint of the workflow that is merged into, and the other one.
    fn sides(&self, workspace: &Workspace) -> Result<(Box<Checkpoint>, Box<Checkpoint>), Failure> {
        let store = &workspace.store;
        let (mut ours, mut theirs) = (&self.ours, &self.theirs);
        if let Some(into) = &self.into {
            let into = store.resolve_workflow(into)?;
            if store.resolve_workflow(&theirs.workflow)? == into {
                (ours, theirs) = (theirs, ours);
            } else if store.resolve_workflow(&ours.workflow)? != into {
                let message = format!("`{into}` is neither of the two workflows");
                return Err(Failure::new(ErrorCode::Usage, message)
                    .help(format!("fork it first: `ckpt fork {} --as NEW`", ours.workflow)));
            }
        }
        if ours.which != Which::Newest {
            let message = format!("`{ours}` is a checkpoint, and only a workflow can be merged into");
            return Err(Failure::new(ErrorCode::Usage, message)
                .help(format!("write `ckpt merge {} {theirs}`", ours.workflow))
                .help(format!("or fork it first: `ckpt fork {ours} --as NEW`")));
        }
        let load =
            |selector: &Selector| store.resolve(selector).and_then(|handle| store.load_content(handle));
        Ok((load(ours)?, load(theirs)?))
    }
}
