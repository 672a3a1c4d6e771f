//! `ckpt doctor`

use std::path::Path;

use clap::Args;

use crate::cli::args::{CommandSpec, command};
use crate::cli::error::Failure;
use crate::cli::exit::Exit;
use crate::cli::installed_agents::Agents;
use crate::cli::progress::Progress;
use crate::cli::session::{Place, Session};
use crate::cli::views::doctor::{DoctorReport, Program, SettingsFile, StoreState, Trouble, Variable};
use crate::cli::words::count;
use ckpt_agents::setup::Condition;
use ckpt_model::Config;
use ckpt_model::finding::{Code, Severity};
use ckpt_model::redact::redact_text;
use ckpt_platform::volume;
use ckpt_store::Store;
use ckpt_store::settings_file::{self, ConfigError};
use ckpt_store::{Checked, Location};

pub(crate) const COMMAND: CommandSpec = command!(DoctorArgs, "doctor", EXAMPLES, run);

const EXAMPLES: &str = "\
Examples:
  ckpt doctor
  ckpt doctor --json > report.json

Exit codes: 0 all is well, 6 something needs attention";

/// Less than this is too little to go on working with.
const LITTLE_SPACE: u64 = 64 << 20;

/// Say what works here and what does not: the store, the settings, the agents, the disk
///
/// It has everything that a bug report needs, works also where the store is broken, changes nothing, and prints no
/// secrets.
#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {}

fn run(_: &DoctorArgs, session: &Session) -> Result<Exit, Failure> {
    let mut troubles = Vec::new();
    let (store, settings) = match session.place() {
        Ok(place) => look_at_store(session, &place, &mut troubles),
        Err(failure) => {
            troubles.push(Trouble::of("store", failure));
            (None, Vec::new())
        }
    };
    let mut settings = settings;
    if let Some(path) = session.env.user_config() {
        settings.push(look_at_settings(&path, settings_file::load_user(&path), &mut troubles));
    }
    let program = Program {
        version: env!("CARGO_PKG_VERSION"),
        path: session.env.executable().map(|path| path.display().to_string()),
        on_path: session.env.program("ckpt").map(|path| path.display().to_string()),
        system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
    };
    let agents = match Agents::locate(session) {
        Ok(agents) => agents.check(&[], None),
        Err(failure) => {
            troubles.push(Trouble::of("agents", failure));
            Vec::new()
        }
    };
    for agent in agents.iter().filter(|agent| agent.needs_attention()) {
        let message = if agent.hooks == Condition::Unreadable.word() {
            format!("the settings of {} cannot be read", agent.host)
        } else {
            format!("{} is set up, but its hooks do not run", agent.host)
        };
        troubles.push(Trouble::new("agents", message, agent.todo.clone()));
    }
    if agents.iter().any(|agent| !agent.levels.is_empty())
        && let (Some(own), Some(found)) = (&program.path, &program.on_path)
        && !is_same_file(own, found)
    {
        let message = format!("hooks run another ckpt: `{found}`, not `{own}`");
        troubles.push(Trouble::new("program", message, vec!["put the right one first on the PATH".to_owned()]));
    }
    let environment = session
        .env
        .with_prefix("CKPT_")
        .into_iter()
        .map(|(name, value)| Variable { name, value: redact_text(&value).unwrap_or(value) });
    let report = DoctorReport {
        ok: troubles.is_empty(),
        program,
        store,
        settings,
        environment: environment.collect(),
        agents,
        troubles,
        warnings: Vec::new(),
    };
    let ok = report.ok;
    session.answer(&report)?;
    Ok(if ok { Exit::Ok } else { Exit::Invalid })
}

fn is_same_file(one: &str, other: &str) -> bool {
    let real = |path: &str| ckpt_platform::canonicalize(Path::new(path)).ok();
    real(one) == real(other)
}

/// Looks at the store, its settings and its disk. That there is none is fine.
fn look_at_store(
    session: &Session,
    place: &Place,
    troubles: &mut Vec<Trouble>,
) -> (Option<StoreState>, Vec<SettingsFile>) {
    let located = place.located();
    let mut state = StoreState {
        path: located.root.display().to_string(),
        exists: matches!(place.location, Location::Found(_)),
        checked: None,
        findings: 0,
        free_bytes: None,
        read_only: false,
    };
    let nearest = located.root.ancestors().find(|path| path.exists()).unwrap_or(&located.project);
    if let Some(volume) = volume(nearest) {
        (state.free_bytes, state.read_only) = (Some(volume.free), volume.read_only);
        if volume.read_only {
            troubles.push(Trouble::new("disk", "the file system of the store is read-only", Vec::new()));
        }
        if volume.free < LITTLE_SPACE {
            troubles.push(Trouble::new(
                "disk",
                "there is hardly any space left for the store",
                vec!["`ckpt cleanup --dry-run` shows what could leave".to_owned()],
            ));
        }
    }
    let store = match Store::at(located) {
        Ok(store) => store,
        Err(error) => {
            troubles.push(Trouble::of("store", error.into()));
            return (Some(state), Vec::new());
        }
    };
    let path = store.config_file();
    let settings = vec![look_at_settings(&path, settings_file::load(&path), troubles)];
    if state.exists {
        verify(session, &store, &mut state, troubles);
    }
    (Some(state), settings)
}

fn verify(session: &Session, store: &Store, state: &mut StoreState, troubles: &mut Vec<Trouble>) {
    let mut progress = Progress::new(&session.output);
    let mut tell = |checked: &Checked| progress.at(|| format!("Checked {}", count(checked.checkpoints, "checkpoint")));
    match store.verify(&[], &mut tell) {
        Ok(verification) => {
            let blockers = verification.findings.iter().filter(|finding| finding.severity == Severity::Blocker);
            // The settings have a line of their own.
            let blockers = blockers.filter(|finding| finding.code != Code::InvalidConfig).count();
            state.findings = blockers;
            if blockers > 0 {
                let message = format!("the store has {}", count(blockers, "damaged part"));
                let help = vec!["ckpt verify".to_owned(), "ckpt verify --repair".to_owned()];
                troubles.push(Trouble::new("store", message, help));
            }
            state.checked = Some(verification.checked);
        }
        Err(error) => troubles.push(Trouble::of("store", error.into())),
    }
}

fn look_at_settings(
    path: &Path,
    loaded: Result<Option<Config>, ConfigError>,
    troubles: &mut Vec<Trouble>,
) -> SettingsFile {
    let state = match loaded {
        Ok(Some(_)) => "valid",
        Ok(None) => "absent",
        Err(error) => {
            troubles.push(Trouble::of("settings", error.into()));
            "invalid"
        }
    };
    SettingsFile { path: path.display().to_string(), state }
}
