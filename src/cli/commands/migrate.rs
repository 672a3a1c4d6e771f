//! `ckpt migrate`

use clap::Args;

use crate::cli::args::{CommandSpec, parsed};
use crate::cli::error::Failure;
use crate::cli::exit::Exit;
use crate::cli::mirror::update_mirrors;
use crate::cli::session::{Session, Workspace};
use crate::cli::views::migrate::MigrateReport;
use crate::core::migrate::STEPS;

pub(crate) const COMMAND: CommandSpec = CommandSpec {
    name: "migrate",
    alias: None,
    augment_args: MigrateArgs::augment_args,
    examples: EXAMPLES,
    run: |matches, session| run(&parsed(matches)?, session),
};

const EXAMPLES: &str = "\
Examples:
  ckpt migrate --dry-run
  ckpt migrate

Exit codes: 0 everything has the present format, 3 some could not be brought forward, 6 none could";

/// Bring checkpoints of older formats forward
///
/// Older files are understood whenever they are read, and never rewritten. This appends the newest checkpoint of each such
/// workflow once more, in the present format. What a newer version wrote is left to that version.
#[derive(Debug, Args)]
pub(crate) struct MigrateArgs {
    /// Show what would be done; write nothing
    #[arg(short = 'n', long)]
    dry_run: bool,
}

fn run(args: &MigrateArgs, session: &Session) -> Result<Exit, Failure> {
    let workspace = session.workspace()?;
    let plan = workspace.store.plan_migration(STEPS)?;
    let mut report = MigrateReport::new(&plan, args.dry_run);
    for (handle, version) in &plan.older {
        if args.dry_run {
            report.add(handle, *version, None);
            continue;
        }
        let stamp = session.stamp(&workspace.place, &workspace.config)?;
        match workspace.store.migrate(&handle.workflow, STEPS, &stamp) {
            Ok(new) => {
                report.add(handle, *version, new);
                let Workspace { place, store, config, .. } = &workspace;
                report.warnings.extend(update_mirrors(store, config, &place.cwd, &handle.workflow));
            }
            Err(error) => report.fail(handle, error),
        }
    }
    session.answer(&report)?;
    Ok(report.exit())
}
