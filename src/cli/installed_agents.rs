//! The agents on this machine: where their files are, what is installed, and what of `ckpt` they run.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::codex_trust::{Trust, codex_trust};
use super::error::{ErrorCode, Failure};
use super::session::Session;
use ckpt_agents::hosts::Host;
use ckpt_agents::setup::{Condition, Found, Level, Options, Part, PartKind, Places, condition, gather, parts};
use ckpt_platform::canonicalize;
use ckpt_store::git::Checkout;

const YES: &str = "yes";
const NO: &str = "no";
const UNKNOWN: &str = "unknown";

/// The agents on this machine.
pub(crate) struct Agents {
    pub(crate) places: Places,
    cwd: PathBuf,
    installations: Vec<Installation>,
    /// The `ckpt` that a shell would find.
    ckpt: Option<PathBuf>,
}

/// One agent: its program and its directory, if they are there.
#[derive(Debug, Clone)]
pub(crate) struct Installation {
    pub(crate) host: Host,
    pub(crate) program: Option<PathBuf>,
    pub(crate) directory: Option<PathBuf>,
}

impl Installation {
    pub(crate) fn is_there(&self) -> bool {
        self.program.is_some() || self.directory.is_some()
    }
}

/// The state of an agent, as `ckpt setup --check` and `ckpt doctor` report it.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct AgentState {
    pub(crate) host: &'static str,
    /// The program; none if it is not on the PATH.
    pub(crate) program: Option<String>,
    pub(crate) installed: bool,
    /// Where the hooks are: `user`, `project`, or both.
    pub(crate) levels: Vec<&'static str>,
    pub(crate) hooks: &'static str,
    pub(crate) skill: &'static str,
    /// `yes`, `no`, `unknown`, or `not needed`.
    pub(crate) trusted: &'static str,
    /// `yes` if the hooks run, `no` or `unknown`.
    pub(crate) effective: &'static str,
    pub(crate) todo: Vec<String>,
}

impl AgentState {
    /// True if it is set up and something keeps it from working.
    pub(crate) fn needs_attention(&self) -> bool {
        self.hooks != Condition::Absent.word() && self.effective == NO
    }
}

impl Agents {
    /// Looks for the agents, their directories and the project.
    pub(crate) fn locate(session: &Session) -> Result<Self, Failure> {
        let env = &session.env;
        let home = env.home().filter(|home| home.is_absolute()).ok_or_else(|| {
            Failure::new(ErrorCode::NoHome, "there is no home directory").help("set `HOME` to an absolute path")
        })?;
        let moved = |variable: &str, below: &str, usual: &str| match env.var_os(variable).map(PathBuf::from) {
            Some(dir) if dir.is_absolute() => dir.join(below),
            _ => home.join(usual),
        };
        let cwd = session.cwd()?;
        let checkout = Checkout::discover_below(&cwd, &env.ceilings());
        let places = Places {
            claude: moved("CLAUDE_CONFIG_DIR", "", ".claude"),
            codex: moved("CODEX_HOME", "", ".codex"),
            gemini: moved("GEMINI_CLI_HOME", ".gemini", ".gemini"),
            project: checkout.map_or_else(|| cwd.clone(), |checkout| checkout.root),
            records: env.state_home(&home).join("ckpt").join("setup"),
            home,
        };
        let installations = Host::ALL
            .into_iter()
            .map(|host| {
                let directory = match host {
                    Host::Claude => &places.claude,
                    Host::Codex => &places.codex,
                    Host::Gemini => &places.gemini,
                };
                let is_there = directory.is_dir() && !is_only_ours(directory, host, &places);
                let directory = is_there.then(|| directory.clone());
                Installation { host, program: env.program(host.word()), directory }
            })
            .collect();
        Ok(Self { places, cwd, installations, ckpt: env.program("ckpt") })
    }

    /// Returns the `ckpt` that a shell finds.
    pub(crate) fn program(&self) -> Option<&Path> {
        self.ckpt.as_deref()
    }

    pub(crate) fn find(&self, host: Host) -> Installation {
        let found = self.installations.iter().find(|installation| installation.host == host);
        found.cloned().unwrap_or(Installation { host, program: None, directory: None })
    }

    /// Returns true if an agent has hooks of ours at a level.
    pub(crate) fn has_hooks(&self, host: Host, level: Level) -> bool {
        let parts = parts(host, level, Options::default(), &self.places);
        parts
            .into_iter()
            .filter(is_hooks)
            .any(|part| gather(part, level, &self.places).is_ok_and(|found| condition(&found) != Condition::Absent))
    }

    /// Judges these agents, or all; of one level, or of both.
    pub(crate) fn check(&self, hosts: &[Host], level: Option<Level>) -> Vec<AgentState> {
        let is_wanted = |installation: &&Installation| hosts.is_empty() || hosts.contains(&installation.host);
        let wanted = self.installations.iter().filter(is_wanted);
        wanted.map(|installation| self.state(installation, level)).collect()
    }

    fn state(&self, installation: &Installation, level: Option<Level>) -> AgentState {
        let host = installation.host;
        let mut todo = Vec::new();
        let OwnParts { levels, hooks, skill } = self.own_parts(host, level, &mut todo);
        let is_set_up = hooks != Condition::Absent;
        let trusted = if is_set_up { self.trusted(installation, &levels, &mut todo) } else { "-" };
        if host == Host::Codex && levels.len() > 1 {
            todo.push("Codex runs hooks of both levels: `ckpt setup codex --project --remove`".to_owned());
        }
        if is_set_up && self.ckpt.is_none() {
            todo.push("put `ckpt` on the PATH that the agent has".to_owned());
        }
        if is_set_up && !installation.is_there() {
            todo.push(format!("install {}", host.title()));
        }
        if !is_set_up && installation.is_there() {
            todo.push(format!("ckpt setup {host}"));
        }
        let can_run =
            matches!(hooks, Condition::Present | Condition::Outdated) && self.ckpt.is_some() && installation.is_there();
        let effective = match trusted {
            _ if !can_run => NO,
            NO | UNKNOWN => trusted,
            _ => YES,
        };
        AgentState {
            host: host.word(),
            program: installation.program.as_ref().map(|program| program.display().to_string()),
            installed: installation.is_there(),
            levels,
            hooks: hooks.word(),
            skill: skill.word(),
            trusted,
            effective,
            todo,
        }
    }

    /// Looks for the parts of ours that an agent has, and adds what is to be done about them.
    fn own_parts(&self, host: Host, level: Option<Level>, todo: &mut Vec<String>) -> OwnParts {
        let mut own = OwnParts { levels: Vec::new(), hooks: Condition::Absent, skill: Condition::Absent };
        let all = [(Level::User, "user", ""), (Level::Project, "project", " --project")];
        for (at, word, flag) in all.into_iter().filter(|(at, ..)| level.is_none_or(|level| level == *at)) {
            for part in parts(host, at, Options::default(), &self.places) {
                let (path, is_hooks) = (part.path.clone(), is_hooks(&part));
                let found = gather(part, at, &self.places).map_or(Condition::Unreadable, |found| condition(&found));
                if found == Condition::Absent {
                    continue;
                }
                if path.ends_with("SKILL.md") {
                    own.skill = found;
                }
                if !is_hooks {
                    continue;
                }
                if found == Condition::Unreadable {
                    todo.push(format!("fix `{}`: it cannot be read", path.display()));
                }
                if found == Condition::Outdated {
                    todo.push(format!("ckpt setup {host}{flag}"));
                }
                own.levels.push(word);
                own.hooks = hooks_of_both(own.hooks, found);
            }
        }
        own
    }

    /// Returns the word for the trust of an agent in our hooks, and adds what a person has to do about it.
    fn trusted(&self, installation: &Installation, levels: &[&str], todo: &mut Vec<String>) -> &'static str {
        let (word, advice) = match installation.host {
            Host::Codex => match codex_trust(installation.program.as_deref(), &self.cwd) {
                Trust::Trusted => return YES,
                Trust::Untrusted => (NO, "start `codex`, type `/hooks`, and approve the hooks of ckpt"),
                Trust::Unknown => (UNKNOWN, "Codex could not be asked; `/hooks` in it shows if it trusts the hooks"),
            },
            Host::Gemini if levels == ["project"] => {
                (UNKNOWN, "trust this folder in `gemini`, or use `ckpt setup gemini` without `--project`")
            }
            Host::Claude | Host::Gemini => return "not needed",
        };
        todo.push(advice.to_owned());
        word
    }
}

/// The parts of ours that an agent has.
struct OwnParts {
    levels: Vec<&'static str>,
    hooks: Condition,
    skill: Condition,
}

/// Returns true for the part that has the hooks.
fn is_hooks(part: &Part) -> bool {
    !matches!(part.kind, PartKind::WholeFile(_)) || part.path.ends_with("hooks.json")
}

/// Returns true if the directory of an agent was made by `ckpt setup`, and has nothing else in it: the agent was never here.
fn is_only_ours(directory: &Path, host: Host, places: &Places) -> bool {
    let Ok(directory) = canonicalize(directory) else { return false };
    let options = Options { plan: true, instructions: true };
    let files: Vec<Found> = parts(host, Level::User, options, places)
        .into_iter()
        .filter_map(|part| gather(part, Level::User, places).ok())
        .collect();
    let was_made = |found: &Found| found.record.as_ref().is_some_and(|record| record.made.contains(&directory));
    let is_ours = |path: &Path| files.iter().any(|found| found.file.starts_with(path));
    files.iter().any(was_made)
        && directory
            .read_dir()
            .is_ok_and(|mut entries| entries.all(|entry| entry.is_ok_and(|entry| is_ours(&entry.path()))))
}

/// Of two levels, what works counts; a file that cannot be read is worth a word.
fn hooks_of_both(one: Condition, other: Condition) -> Condition {
    match (one, other) {
        (Condition::Unreadable, _) | (_, Condition::Unreadable) => Condition::Unreadable,
        (Condition::Absent, found) | (found, Condition::Absent) => found,
        (one, other) => one.min(other),
    }
}
