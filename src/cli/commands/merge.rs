//! `ckpt merge`

use clap::Args;

use super::conflict_flags::ConflictFlags;
use super::save::expected;
use crate::cli::args::{CommandSpec, command};
use crate::cli::complete;
use crate::cli::error::{ErrorCode, Failure};
use crate::cli::exit::Exit;
use crate::cli::saving::SaveOptions;
use crate::cli::session::Session;
use crate::cli::views::merge::MergeReport;
use crate::cli::views::save::SaveReport;
use ckpt_model::change::{Change, ChangeError, Merge};
use ckpt_model::checkpoint::Content;
use ckpt_model::merge::merge;
use ckpt_model::selector::Which;
use ckpt_model::{Handle, Selector, WorkflowId};
use ckpt_store::Relation;
use ckpt_store::Store;
use ckpt_store::save::Outcome;

pub(crate) const COMMAND: CommandSpec = command!(MergeArgs, "merge", EXAMPLES, run);

const EXAMPLES: &str = "\
Examples:
  ckpt merge 042 042-redis --dry-run
  ckpt merge 042 042-redis --theirs
  ckpt merge 042 042-redis --ours=/phases/build/status --set /state/port=8080
  ckpt merge 042 042-redis --into 042-redis
  ckpt merge 042";

/// Combine two workflows, or the heads of one that was continued in two places
///
/// The two are compared with the newest checkpoint that both continue. What only one of them has changed since is taken
/// from it: phase by phase, task by task, artifact by artifact, and inside of state and data member by member. The result
/// is one checkpoint of the first workflow, which continues both; the other workflow stays as it is. Without a second one,
/// the newest checkpoint here is merged with the newest one from elsewhere, and `ckpt push` shares the result.
///
/// What both have changed differently is a conflict. All conflicts are listed with both values, and nothing is saved
/// until `--ours`, `--theirs` or `--set` settles each of them. Without a common checkpoint, every difference between the
/// two is a conflict.
#[derive(Debug, Args)]
pub(crate) struct MergeArgs {
    /// The workflow that is merged into
    #[arg(value_name = "ID", add = complete::selector())]
    ours: Selector,
    /// The other workflow, or one of its checkpoints; the other head of the same workflow if not given
    #[arg(value_name = "OTHER", add = complete::selector())]
    theirs: Option<Selector>,
    /// Merge into this one of the two; the first if not given
    #[arg(long, value_name = "ID", requires = "theirs", add = complete::selector())]
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
    let store = &workspace.store;
    let (ours, theirs) = args.sides(store)?;
    let workflow = ours.workflow.clone();
    let head = store.load_content(ours.clone())?;
    let origin = match store.relation(&ours, &theirs)? {
        Relation::Continues => {
            let save = SaveReport::new(store, &workflow, &Outcome::Unchanged(head.seq), Some(&head));
            return session.answer(&MergeReport::nothing_new(save, theirs, !args.dry_run));
        }
        Relation::Common(origin) => Some(origin),
        Relation::Unrelated => None,
    };
    let base = match &origin {
        Some(origin) => store.load_content(origin.clone())?.content,
        None => Content::default(),
    };
    let other = store.load_content(theirs.clone())?;
    // The save does the same again, on top of the checkpoint that is the newest one then.
    let merged = merge(&base, &head.content, &other.content, &resolutions).map_err(ChangeError::from)?;
    let change = Change {
        note: args.note.clone(),
        merge: Some(Box::new(Merge { origin: base, theirs: other, resolutions })),
        ..Change::default()
    };
    let expect = match &args.expect {
        Some(expect) => Some(expected(expect, &workflow)?),
        // What continues this head may have been merged with the other one already.
        None => (theirs.workflow == workflow).then_some(head.seq),
    };
    let options =
        SaveOptions { expect, dry_run: args.dry_run, allow_secrets: args.allow_secrets, ..SaveOptions::default() };
    let save = session.save(&workspace, &workflow, change, &options)?;
    session.answer(&MergeReport::new(save, theirs, origin, merged.settled, !args.dry_run))
}

impl MergeArgs {
    /// Returns the newest checkpoint of the workflow that is merged into, and the other one.
    fn sides(&self, store: &Store) -> Result<(Handle, Handle), Failure> {
        let (mut ours, mut theirs) = (&self.ours, self.theirs.as_ref());
        if let (Some(into), Some(other)) = (&self.into, theirs) {
            let into = store.resolve_workflow(into)?;
            if store.resolve_workflow(&other.workflow)? == into {
                (ours, theirs) = (other, Some(ours));
            } else if store.resolve_workflow(&ours.workflow)? != into {
                let message = format!("`{into}` is neither of the two workflows");
                return Err(Failure::new(ErrorCode::Usage, message)
                    .help(format!("fork it first: `ckpt fork {} --as NEW`", ours.workflow)));
            }
        }
        if ours.which != Which::Newest {
            let message = format!("`{ours}` is a checkpoint, and only a workflow can be merged into");
            let theirs = theirs.map(|theirs| format!(" {theirs}")).unwrap_or_default();
            return Err(Failure::new(ErrorCode::Usage, message)
                .help(format!("write `ckpt merge {}{theirs}`", ours.workflow))
                .help(format!("or fork it first: `ckpt fork {ours} --as NEW`")));
        }
        let ours = store.resolve(ours)?;
        let theirs = match theirs {
            Some(theirs) => store.resolve(theirs)?,
            None => other_head(store, &ours.workflow)?,
        };
        Ok((ours, theirs))
    }
}

/// Returns the head that other stores have saved.
fn other_head(store: &Store, workflow: &WorkflowId) -> Result<Handle, Failure> {
    let heads = store.other_heads(workflow)?;
    match heads.as_slice() {
        [] => Err(Failure::new(ErrorCode::NothingToMerge, format!("`{workflow}` has only one head"))
            .help("`ckpt pull` looks for what other stores have saved")
            .help(format!("`ckpt merge {workflow} OTHER` merges another workflow into it"))),
        [head] => Ok(head.clone()),
        _ => {
            let message = format!("`{workflow}` was continued in {} other places", heads.len());
            let names = heads.iter().map(|head| format!("`{head}`"));
            Err(Failure::new(ErrorCode::Ambiguous, message)
                .help(format!("pass one of them as OTHER: {}", names.collect::<Vec<_>>().join(", ")))
                .context("candidates", heads.iter().map(ToString::to_string).collect::<Vec<_>>()))
        }
    }
}
