//! The answers of `ckpt setup`: what it writes, and with `--check` what is there.

use serde::Serialize;

use crate::cli::answer::Report;
use crate::cli::installed_agents::{AgentState, Installation};
use crate::cli::style::Style;
use crate::cli::table::{Cell, columns, render};
use crate::cli::text_page::TextPage;
use crate::cli::words::count;
use ckpt_agents::hosts::Host;
use ckpt_agents::setup::{FileChange, Level};

#[derive(Debug, Serialize)]
pub(crate) struct SetupReport {
    #[serde(serialize_with = "level_word")]
    pub(crate) level: Level,
    /// True if the files were written.
    pub(crate) applied: bool,
    pub(crate) hosts: Vec<HostSetup>,
    pub(crate) notes: Vec<String>,
    /// The command that takes everything out again.
    pub(crate) undo: Option<String>,
    pub(crate) warnings: Vec<String>,
    #[serde(skip)]
    pub(crate) removes: bool,
    /// True if the lines are wanted, and nothing else.
    #[serde(skip)]
    pub(crate) prints: bool,
}

/// One agent, and its files that change.
#[derive(Debug, Serialize)]
pub(crate) struct HostSetup {
    #[serde(serialize_with = "host_word")]
    pub(crate) host: Host,
    installed: bool,
    changes: Vec<ShownChange>,
}

#[derive(Debug, Serialize)]
struct ShownChange {
    path: String,
    action: &'static str,
    added: Vec<String>,
    removed: Vec<String>,
}

impl HostSetup {
    pub(crate) fn new(installation: &Installation, changes: &[FileChange]) -> Self {
        let changes = changes.iter().map(ShownChange::new).collect();
        Self { host: installation.host, installed: installation.is_there(), changes }
    }
}

impl ShownChange {
    fn new(change: &FileChange) -> Self {
        let action = match (&change.now, &change.next) {
            (None, _) => "create",
            (Some(_), Some(_)) => "edit",
            (Some(_), None) => "remove",
        };
        let (removed, added) =
            differing_lines(change.now.as_deref().unwrap_or_default(), change.next.as_deref().unwrap_or_default());
        Self { path: change.path.display().to_string(), action, added, removed }
    }
}

/// Returns the lines between the first and the last that differ, of both texts.
fn differing_lines(old: &str, new: &str) -> (Vec<String>, Vec<String>) {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let same = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let (old, new) = (&old[same..], &new[same..]);
    let same = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
    let lines = |lines: &[&str]| lines[..lines.len() - same].iter().map(|line| (*line).to_owned()).collect();
    (lines(old), lines(new))
}

fn level_word<S: serde::Serializer>(level: &Level, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(match level {
        Level::User => "user",
        Level::Project => "project",
    })
}

fn host_word<S: serde::Serializer>(host: &Host, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(host.word())
}

impl Report for SetupReport {
    const FORMAT: &'static str = "ckpt.setup.v1";

    fn essential(&self) -> String {
        self.hosts.iter().flat_map(|host| &host.changes).map(|change| format!("{}\n", change.path)).collect()
    }

    fn answer(&self, page: &mut TextPage) {
        for HostSetup { host, installed, changes } in &self.hosts {
            let missing = if *installed { "" } else { " (not found on this machine)" };
            let state = match (changes.is_empty(), self.removes) {
                (true, true) => ": nothing of ckpt is there",
                (true, false) => ": set up already",
                (false, _) => ":",
            };
            page.line(format!("{}{missing}{state}", host.title()));
            for ShownChange { path, action, added, removed } in changes {
                let verb = match (self.applied, *action) {
                    (true, "create") => "created",
                    (true, "edit") => "edited",
                    (true, _) => "removed",
                    (false, action) => action,
                };
                page.line(format!("  {verb} {}", page.escape(path)));
                if self.prints {
                    removed.iter().for_each(|line| page.line(format!("    - {}", page.escape(line))));
                    added.iter().for_each(|line| page.line(format!("    + {}", page.escape(line))));
                }
            }
        }
    }

    fn remarks(&self, page: &mut TextPage) {
        let has_changes = self.hosts.iter().any(|host| !host.changes.is_empty());
        if has_changes && self.prints {
            page.line("Nothing was written.");
        }
        for note in &self.notes {
            page.line(format!("Note: {note}"));
        }
        if let (true, Some(undo)) = (self.applied, &self.undo) {
            page.line(format!("Undo with: {undo}"));
        }
    }

    fn already_done(&self) -> Option<String> {
        let files = self.hosts.iter().map(|host| host.changes.len()).sum();
        self.applied.then(|| count(files, "file") + " written")
    }
}

#[derive(Debug, Serialize)]
pub(crate) struct CheckReport {
    ok: bool,
    hosts: Vec<AgentState>,
    warnings: Vec<String>,
}

impl CheckReport {
    pub(crate) fn new(hosts: Vec<AgentState>) -> Self {
        Self { ok: !hosts.iter().any(AgentState::needs_attention), hosts, warnings: Vec::new() }
    }

    pub(crate) fn is_ok(&self) -> bool {
        self.ok
    }
}

impl Report for CheckReport {
    const FORMAT: &'static str = "ckpt.setup-check.v1";

    fn essential(&self) -> String {
        let effective = self.hosts.iter().filter(|host| host.effective == "yes");
        effective.map(|host| format!("{}\n", host.host)).collect()
    }

    fn answer(&self, page: &mut TextPage) {
        agents(page, &self.hosts);
    }
}

/// Renders the table of the agents, and what to do about each.
pub(super) fn agents(page: &mut TextPage, hosts: &[AgentState]) {
    let word = |word: &'static str| {
        if word == "yes" { Cell::styled(word, Style::Good) } else { Cell::new(word) }
    };
    let rows: Vec<Vec<Cell>> = hosts
        .iter()
        .map(|host| {
            let levels = if host.levels.is_empty() { String::new() } else { format!(" ({})", host.levels.join(", ")) };
            vec![
                Cell::new(host.host),
                word(if host.installed { "yes" } else { "no" }),
                Cell::new(format!("{}{levels}", host.hooks)),
                Cell::new(host.skill),
                Cell::new(host.trusted),
                word(host.effective),
            ]
        })
        .collect();
    render(page, &columns(["AGENT", "INSTALLED", "HOOKS", "SKILL", "TRUSTED", "EFFECTIVE"]), &rows);
    for host in hosts {
        for todo in &host.todo {
            let todo = page.escape(todo);
            page.line(format!("{}: {todo}", host.host));
        }
    }
}
