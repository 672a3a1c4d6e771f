//! `ckpt schema`

use clap::Args;

use crate::cli::args::{CommandSpec, command};
use crate::cli::error::{ErrorCode, Failure};
use crate::cli::exit::Exit;
use crate::cli::session::Session;
use crate::cli::views::schema::SchemaReport;
use ckpt_model::schema;

pub(crate) const COMMAND: CommandSpec = command!(SchemaArgs, "schema", EXAMPLES, run);

const EXAMPLES: &str = "\
Examples:
  ckpt schema > checkpoint.schema.json
  ckpt schema list
  ckpt schema --list";

/// Print the JSON Schema of checkpoints, or of another document
#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    /// The name of the schema; `checkpoint.v1` if not given
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// Print the names of all schemas
    #[arg(long, conflicts_with = "name")]
    list: bool,
}

fn run(args: &SchemaArgs, session: &Session) -> Result<Exit, Failure> {
    if args.list {
        return session.answer(&SchemaReport::names());
    }
    let name = args.name.as_deref().unwrap_or(schema::CHECKPOINT);
    let Some(schema) = schema::find(name) else {
        return Err(Failure::new(ErrorCode::NoSuchSchema, format!("there is no schema `{name}`"))
            .help("`ckpt schema --list` prints the names"));
    };
    session.answer(&SchemaReport::one(schema)?)
}
