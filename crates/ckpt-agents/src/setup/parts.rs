//! The files of a host that `ckpt setup` writes, by level.

use std::path::PathBuf;

use super::packages;
use super::skill::{SKILL, SKILL_NAME};
use crate::hosts::Host;

/// Where a host is set up: for a user, or for everybody who works in a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// In the home directory, for all projects.
    User,
    /// In the project, to be committed.
    Project,
}

/// The parts that are set up besides hooks and skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// Switch on the plan tools that newer models are not offered.
    pub plan: bool,
    /// Add a paragraph to the instructions of the agent.
    pub instructions: bool,
}

/// The directories that matter. Each host has a variable that moves its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// The home directory of the user.
    pub home: PathBuf,
    /// The project.
    pub project: PathBuf,
    /// `~/.claude`
    pub claude: PathBuf,
    /// `~/.codex`
    pub codex: PathBuf,
    /// `~/.gemini`
    pub gemini: PathBuf,
    /// The directory in which the files of before are kept.
    pub records: PathBuf,
}

/// One thing that is written to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The file.
    pub path: PathBuf,
    /// The part of it that is ours.
    pub kind: PartKind,
}

/// The part of a file that is ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PartKind {
    /// The hooks in the settings of a host, or in a file for hooks.
    Hooks(Host),
    /// In the settings of Claude Code: hooks, permissions, and with `plan` a variable.
    ClaudeSettings {
        /// Switch on the plan tools.
        plan: bool,
    },
    /// In the settings of Codex: the switch of the plan tool.
    CodexSettings,
    /// The whole file.
    WholeFile(String),
    /// A paragraph between markers.
    Instructions,
}

impl Places {
    fn base(&self, host: Host, level: Level) -> PathBuf {
        match (level, host) {
            (Level::User, Host::Claude) => self.claude.clone(),
            (Level::User, Host::Codex) => self.codex.clone(),
            (Level::User, Host::Gemini) => self.gemini.clone(),
            (Level::Project, host) => self.project.join(format!(".{host}")),
        }
    }
}

/// Returns the parts of a host. Codex runs hooks of both levels, each for itself, so one level is to be chosen.
#[must_use]
pub fn parts(host: Host, level: Level, options: Options, places: &Places) -> Vec<Part> {
    let base = places.base(host, level);
    let part = |path: PathBuf, kind: PartKind| Part { path, kind };
    let skill = |dir: PathBuf| {
        part(dir.join("skills").join(SKILL_NAME).join("SKILL.md"), PartKind::WholeFile(SKILL.to_owned()))
    };
    let shared = match level {
        Level::User => places.home.join(".agents"),
        Level::Project => places.project.join(".agents"),
    };
    let mut parts = match (host, level) {
        (Host::Claude, _) => {
            let settings = PartKind::ClaudeSettings { plan: options.plan };
            vec![part(base.join("settings.json"), settings), skill(base.clone())]
        }
        (Host::Codex, _) => {
            let mut parts = vec![part(base.join("hooks.json"), PartKind::Hooks(host)), skill(shared)];
            if options.plan {
                parts.push(part(base.join("config.toml"), PartKind::CodexSettings));
            }
            parts
        }
        // An extension needs no trust in the folder, and is one folder to remove.
        (Host::Gemini, Level::User) => {
            let folder = base.join("extensions").join("ckpt");
            let files = packages::gemini_extension().files;
            files.into_iter().map(|(path, text)| part(folder.join(path), PartKind::WholeFile(text))).collect()
        }
        (Host::Gemini, Level::Project) => {
            vec![part(base.join("settings.json"), PartKind::Hooks(host)), skill(shared)]
        }
    };
    if options.instructions {
        let name = match host {
            Host::Claude => "CLAUDE.md",
            Host::Codex => "AGENTS.md",
            Host::Gemini => "GEMINI.md",
        };
        let dir = if level == Level::User { base } else { places.project.clone() };
        parts.push(part(dir.join(name), PartKind::Instructions));
    }
    parts
}
