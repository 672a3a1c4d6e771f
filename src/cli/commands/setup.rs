//! `ckpt setup`

use std::path::PathBuf;

use clap::Args;

use crate::cli::args::{CommandSpec, command};
use crate::cli::error::{ErrorCode, Failure};
use crate::cli::exit::Exit;
use crate::cli::installed_agents::{Agents, Installation};
use crate::cli::question::confirm;
use crate::cli::session::Session;
use crate::cli::views::setup::{CheckReport, HostSetup, SetupReport};
use ckpt_agents::hosts::Host;
use ckpt_agents::setup::{
    FileChange, Found, Level, Options, SetupError, apply, gather, parts, plan_addition, plan_removal,
};

pub(crate) const COMMAND: CommandSpec = command!(SetupArgs, "setup", EXAMPLES, run);

const EXAMPLES: &str = "\
Examples:
  ckpt setup claude
  ckpt setup codex --plan
  ckpt setup claude gemini --project --print
  ckpt setup --check
  ckpt setup claude --remove

Exit codes: 0 done, 6 with `--check` if something needs attention";

/// Install hooks and a skill into Claude Code, Codex or Gemini CLI
///
/// After that, work is checkpointed while the agent works, and every session begins with a brief of what is unfinished. The
/// agent's own files are edited in place; what else is in them stays as it is, and `--remove` makes them what they were.
/// Without a host: all that are installed. On a terminal the plan is shown and you are asked.
#[derive(Debug, Args)]
pub(crate) struct SetupArgs {
    /// The agent: claude, codex or gemini
    #[arg(value_name = "HOST", value_parser = host)]
    hosts: Vec<Host>,
    /// For all projects of this user, in the home directory; this is the default
    #[arg(long, conflicts_with = "project")]
    user: bool,
    /// For everybody who works in this project, in files to commit
    #[arg(long)]
    project: bool,
    /// Also switch on the agent's plan tool where newer models do not get it, so that its plan becomes phases
    #[arg(long)]
    plan: bool,
    /// Also add a paragraph to CLAUDE.md, AGENTS.md or GEMINI.md, between markers
    #[arg(long)]
    instructions: bool,
    /// Change nothing, and say for each agent what is installed, trusted and effective
    #[arg(long, conflicts_with_all = ["remove", "print", "plan", "instructions"])]
    check: bool,
    /// Take everything out again
    #[arg(long, conflicts_with_all = ["plan", "instructions"])]
    remove: bool,
    /// Change nothing, and print the lines that would be added and removed
    #[arg(long)]
    print: bool,
}

fn host(word: &str) -> Result<Host, &'static str> {
    word.parse().map_err(|_| "the agents are claude, codex and gemini")
}

impl SetupArgs {
    fn level(&self) -> Level {
        if self.project { Level::Project } else { Level::User }
    }

    /// The level as a flag, for the command that is offered to undo this one.
    fn level_flag(&self) -> &'static str {
        if self.project { " --project" } else { "" }
    }
}

fn run(args: &SetupArgs, session: &Session) -> Result<Exit, Failure> {
    let agents = Agents::locate(session)?;
    if args.check {
        let level = (args.user || args.project).then(|| args.level());
        let report = CheckReport::new(agents.check(&args.hosts, level));
        session.answer(&report)?;
        return Ok(if report.is_ok() { Exit::Ok } else { Exit::Invalid });
    }
    // What was set up for an agent can be taken out also when the agent is gone.
    let is_concerned =
        |host: &Host| agents.find(*host).is_there() || args.remove && agents.has_hooks(*host, args.level());
    let hosts: Vec<Host> = match args.hosts.as_slice() {
        [] => Host::ALL.into_iter().filter(is_concerned).collect(),
        named => Host::ALL.into_iter().filter(|host| named.contains(host)).collect(),
    };
    if hosts.is_empty() {
        let message = "no agent was found: neither its program nor its directory in your home";
        return Err(Failure::new(ErrorCode::NoAgent, message).help("name one, as in `ckpt setup claude`"));
    }
    // Agents share a skill: it is written once, and stays as long as one of them needs it.
    let mut settled = if args.remove { needed_by_others(args, &hosts, &agents) } else { Vec::new() };
    let mut plans = Vec::new();
    for host in hosts {
        let mut changes = plan(args, host, &agents)?;
        changes.retain(|change| !settled.contains(&change.path));
        settled.extend(changes.iter().map(|change| change.path.clone()));
        plans.push((agents.find(host), changes));
    }
    let mut report = report(args, &agents, &plans);
    let has_changes = plans.iter().any(|(_, changes)| !changes.is_empty());
    if args.print || !has_changes {
        session.answer(&report)?;
        return Ok(Exit::Ok);
    }
    if session.is_interactive() {
        session.output.converse(&report, &session.clock);
        if !confirm(&session.output, "Write this?") {
            return Err(Failure::new(ErrorCode::ConfirmationNeeded, "nothing was changed"));
        }
    }
    for change in plans.iter().flat_map(|(_, changes)| changes) {
        apply(change, &agents.places)?;
    }
    report.applied = true;
    session.answer(&report)
}

/// Returns the files of the agents that stay set up.
fn needed_by_others(args: &SetupArgs, hosts: &[Host], agents: &Agents) -> Vec<PathBuf> {
    let stays = |host: &Host| !hosts.contains(host) && agents.has_hooks(*host, args.level());
    let parts_of = |host| parts(host, args.level(), Options::default(), &agents.places);
    Host::ALL.into_iter().filter(stays).flat_map(parts_of).map(|part| part.path).collect()
}

/// Plans the changes of one host. What was added last is taken out first, so that its directories are empty then.
fn plan(args: &SetupArgs, host: Host, agents: &Agents) -> Result<Vec<FileChange>, SetupError> {
    let places = &agents.places;
    let options = Options { plan: args.plan || args.remove, instructions: args.instructions || args.remove };
    let found: Vec<Found> = parts(host, args.level(), options, places)
        .into_iter()
        .map(|part| gather(part, args.level(), places))
        .collect::<Result<_, _>>()?;
    let decide = if args.remove { plan_removal } else { plan_addition };
    let mut changes: Vec<FileChange> =
        found.iter().filter_map(|found| decide(found).transpose()).collect::<Result<_, _>>()?;
    if args.remove {
        changes.reverse();
    }
    Ok(changes)
}

fn report(args: &SetupArgs, agents: &Agents, plans: &[(Installation, Vec<FileChange>)]) -> SetupReport {
    let hosts: Vec<HostSetup> =
        plans.iter().map(|(installation, changes)| HostSetup::new(installation, changes)).collect();
    let words: Vec<&str> = hosts.iter().map(|host| host.host.word()).collect();
    let mut notes = Vec::new();
    if !args.remove {
        if agents.program().is_none() {
            notes.push("`ckpt` is not on your PATH; the hooks do nothing until it is".to_owned());
        }
        for host in &hosts {
            notes.extend(advice(host.host, args));
        }
    }
    let undo = (!args.remove).then(|| format!("ckpt setup {}{} --remove", words.join(" "), args.level_flag()));
    SetupReport {
        level: args.level(),
        applied: false,
        removes: args.remove,
        hosts,
        notes,
        undo,
        warnings: Vec::new(),
        prints: args.print,
    }
}

/// Returns what a person has to know about a host.
fn advice(host: Host, args: &SetupArgs) -> Vec<String> {
    let mut advice = Vec::new();
    match host {
        Host::Claude if !args.plan => {
            advice.push("newer Claude models have no plan tool by default; `--plan` offers it to them".to_owned());
        }
        Host::Codex => {
            advice.push(
                "Codex skips new hooks without a word until you approve them: start `codex`, type `/hooks`".to_owned(),
            );
            if !args.plan {
                advice.push("Codex offers its plan tool only if told to; `--plan` does that".to_owned());
            }
        }
        Host::Gemini if args.project => {
            advice.push(
                "Gemini runs the hooks of a project only in trusted folders; without `--project` it always does"
                    .to_owned(),
            );
        }
        Host::Claude | Host::Gemini => {}
    }
    advice
}
