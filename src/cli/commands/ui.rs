//! `ckpt ui`

use std::process::{Command, Stdio};

use clap::Args;

use crate::cli::args::{CommandSpec, command};
use crate::cli::error::{ErrorCode, Failure};
use crate::cli::exit::Exit;
use crate::cli::invoke::Program;
use crate::cli::server::Server;
use crate::cli::session::Session;
use crate::cli::views::ui::UiReport;
use ckpt_platform::BROWSER;

pub(crate) const COMMAND: CommandSpec = command!(UiArgs, "ui", EXAMPLES, run);

const EXAMPLES: &str = "\
Examples:
  ckpt ui --open
  ckpt ui --port 8137 --read-only";

/// Serve the store as web pages on this machine, live, until Ctrl-C
///
/// The pages show workflows, phases, checkpoints, differences and analytics, and follow every save. Approve, roll back,
/// revise, archive, restore and clean up after a look at the plan. Only this machine can connect, and only with the
/// printed address.
#[derive(Debug, Args)]
pub(crate) struct UiArgs {
    /// The port to listen on; any free one if not given
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    port: u16,
    /// Open the pages in a browser
    #[arg(long)]
    open: bool,
    /// Only show; no actions
    #[arg(long)]
    read_only: bool,
}

fn run(args: &UiArgs, session: &Session) -> Result<Exit, Failure> {
    let place = session.place()?;
    session.store()?;
    let program = Program { env: session.env.clone(), store: place.located().root.clone() };
    let failed = |error: std::io::Error| {
        Failure::new(ErrorCode::Output, format!("the pages cannot be served: {error}"))
            .help("another program may use the port; without `--port` a free one is chosen")
    };
    let server = Server::bind(program, args.port, !args.read_only).map_err(failed)?;
    let port = server.address().map_err(failed)?.port();
    session.answer(&UiReport::new(server.secret_address(), port, args.read_only))?;
    if args.open
        && let Err(error) = open(&server.once_address().map_err(failed)?)
    {
        session.output.say(&format!("warning: no browser was opened: {error}\n"));
    }
    server.run().map_err(failed)?;
    Ok(Exit::Ok)
}

/// Opens an address in a browser, and does not wait for it.
fn open(address: &str) -> std::io::Result<()> {
    let [program, args @ ..] = BROWSER else { return Ok(()) };
    let mut command = Command::new(program);
    command.args(args).arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().map(drop)
}
