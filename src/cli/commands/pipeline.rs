//! `ckpt pipeline`

use clap::{Args, Subcommand};

use crate::cli::args::{CommandSpec, command};
use crate::cli::error::{ErrorCode, Failure};
use crate::cli::exit::Exit;
use crate::cli::session::Session;
use crate::cli::views::pipeline::{PipelineReport, PipelinesReport};
use crate::cli::words::and;
use ckpt_model::pipeline::{Pipeline, PipelineError};
use ckpt_model::{Config, builtin};
use ckpt_store::Store;

pub(crate) const COMMAND: CommandSpec = command!(PipelineArgs, "pipeline", EXAMPLES, run);

const EXAMPLES: &str = "\
Examples:
  ckpt pipeline list
  ckpt pipeline show kamiflow
  ckpt pipeline show claude-plan --total 8";

/// Show the pipelines that workflows can follow
#[derive(Debug, Args)]
pub(crate) struct PipelineArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List all pipelines: those of the configuration, then those that come with ckpt
    List,
    /// Show the phases of one pipeline
    Show {
        /// Its name
        name: String,
        /// The number of phases of a numbered one
        #[arg(long, value_name = "N")]
        total: Option<u32>,
    },
}

fn run(args: &PipelineArgs, session: &Session) -> Result<Exit, Failure> {
    // Works without a store.
    let store = Store::at(session.place()?.located())?;
    let config: Config = session.config(&store)?;
    match &args.action {
        Action::List => session.answer(&PipelinesReport::new(&config)),
        Action::Show { name, total } => {
            let numbered = builtin::find(name).is_some_and(builtin::Builtin::is_numbered);
            if numbered && total.is_none() && !config.is_configured(name) {
                session.answer(&PipelineReport::numbered(name))
            } else {
                session.answer(&PipelineReport::new(find(&config, name, *total)?))
            }
        }
    }
}

/// Finds a pipeline. An unknown one is "not found" here, and a usage error in `save`.
fn find(config: &Config, name: &str, total: Option<u32>) -> Result<Pipeline, Failure> {
    config.pipeline(name, total).map_err(|error| match error {
        PipelineError::Unknown { ref known, .. } => {
            let names: Vec<_> = known.iter().map(|name| format!("`{name}`")).collect();
            Failure::new(ErrorCode::NoSuchPipeline, error.to_string())
                .help(format!("the pipelines are {}", and(&names)))
                .context("known", known.clone())
        }
        error => error.into(),
    })
}
