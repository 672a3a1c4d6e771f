//! `ckpt verify`

use clap::Args;
use clap_complete::engine::ArgValueCandidates;

use crate::cli::args::{CommandSpec, command};
use crate::cli::complete;
use crate::cli::error::Failure;
use crate::cli::exit::Exit;
use crate::cli::progress::Progress;
use crate::cli::session::Session;
use crate::cli::views::verify::VerifyReport;
use crate::cli::words::count;
use ckpt_model::finding::Code;
use ckpt_model::{Config, WorkflowId};
use ckpt_store::Checked;

pub(crate) const COMMAND: CommandSpec = command!(VerifyArgs, "verify", EXAMPLES, run);

const EXAMPLES: &str = "\
Examples:
  ckpt verify
  ckpt verify 042
  ckpt verify --json | jq '.findings[]'
  ckpt verify --repair
  ckpt verify --secrets --json | jq '.secrets[]'

Exit codes: 0 nothing is wrong, 6 something is damaged, lost, or contradicts itself, or a secret is stored";

/// Check everything that is stored
///
/// Checksums, schemas, numbers, parents, tombstones, bundles, the settings, and whatever else lies in the store. Nothing
/// is changed, nothing is followed, and it works on a read-only store, unless `--repair` is asked for. That moves what is
/// damaged to quarantine, restores what a bundle holds, and deletes nothing.
#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// Only these workflows
    #[arg(value_name = "ID", add = ArgValueCandidates::new(complete::workflow_ids))]
    ids: Vec<WorkflowId>,
    /// Move damage to quarantine, restore from the archive, and make every workflow usable again
    #[arg(long)]
    repair: bool,
    /// Look for secrets too, in every checkpoint, live or archived; says where they are, never what they are
    #[arg(long)]
    secrets: bool,
}

fn run(args: &VerifyArgs, session: &Session) -> Result<Exit, Failure> {
    let place = session.place()?;
    let store = session.store()?;
    let only = args.ids.iter().map(|id| store.resolve_workflow(id)).collect::<Result<Vec<_>, _>>()?;
    let mut progress = Progress::new(&session.output);
    let mut tell = |checked: &Checked| {
        progress.at(|| {
            let bundles = count(checked.bundles, "bundle");
            format!("Checked {} and {bundles}", count(checked.checkpoints, "checkpoint"))
        });
    };
    // Invalid settings must not prevent a check or a repair.
    let config = session.config(&store);
    let repaired = if args.repair {
        let stamp = session.stamp(&place, config.as_ref().unwrap_or(&Config::default()))?;
        Some(store.repair(&only, &stamp, &mut tell)?)
    } else {
        None
    };
    let verification =
        if args.secrets { store.verify_secrets(&only, &mut tell)? } else { store.verify(&only, &mut tell)? };
    drop(progress);
    let ok = verification.is_ok();
    // A full check reports invalid settings of the store as a finding; one of some workflows does not.
    let reported = verification.findings.iter().any(|finding| finding.code == Code::InvalidConfig);
    let warnings = match config {
        Err(failure) if !reported => vec![failure.message],
        _ => Vec::new(),
    };
    session.answer(&VerifyReport::new(verification, repaired, warnings))?;
    Ok(if ok { Exit::Ok } else { Exit::Invalid })
}
