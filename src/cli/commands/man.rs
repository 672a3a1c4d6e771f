//! `ckpt man`

use clap::Args;
use clap::builder::Resettable;

use crate::cli::args::{CommandSpec, command_tree, parsed};
use crate::cli::error::{ErrorCode, Failure};
use crate::cli::exit::Exit;
use crate::cli::session::Session;
use crate::cli::views::text::TextReport;

pub(crate) const COMMAND: CommandSpec = CommandSpec {
    name: "man",
    alias: None,
    augment_args: ManArgs::augment_args,
    examples: EXAMPLES,
    run: |matches, session| run(&parsed(matches)?, session),
};

const EXAMPLES: &str = "\
Examples:
  ckpt man | man -l -
  ckpt man save > ckpt-save.1";

/// Print the manual page of ckpt, or of one of its commands
#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// The page of this command
    #[arg(value_name = "COMMAND")]
    command: Option<String>,
}

fn run(args: &ManArgs, session: &Session) -> Result<Exit, Failure> {
    let mut tree = command_tree();
    tree.build();
    let command = match &args.command {
        None => tree,
        Some(name) => {
            let command = tree.find_subcommand(name).cloned().ok_or_else(|| {
                Failure::new(ErrorCode::NoSuchCommand, format!("there is no command `{name}`"))
                    .help("`ckpt --help` lists the commands")
            })?;
            let title = format!("ckpt-{}", command.get_name());
            command.display_name(title)
        }
    };
    let examples = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let mut page = Vec::new();
    let rendered = clap_mangen::Man::new(command.after_help(Resettable::Reset)).render(&mut page);
    rendered.map_err(|error| Failure::new(ErrorCode::Output, format!("the page cannot be made: {error}")))?;
    session
        .answer(&TextReport::new(String::from_utf8_lossy(&page).into_owned() + &examples_section(&examples)))
}

/// Renders the examples without filling and hyphenation, so that they can be copied.
fn examples_section(examples: &str) -> String {
    let lines = examples.lines().skip(1).map(|line| {
        let line = line.strip_prefix("  ").unwrap_or(line);
        format!("\\&{}\n", line.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq"))
    });
    format!(".SH EXAMPLES\n.nf\n{}.fi\n", lines.collect::<String>())
}
