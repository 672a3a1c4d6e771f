//! The answer of `ckpt doctor`.

use serde::Serialize;

use super::setup::agents;
use crate::cli::answer::Report;
use crate::cli::error::Failure;
use crate::cli::installed_agents::AgentState;
use crate::cli::style::Style;
use crate::cli::text_page::TextPage;
use crate::cli::words::count;
use ckpt_model::redact::redact_text;
use ckpt_model::size::Size;
use ckpt_store::Checked;

#[derive(Debug, Serialize)]
pub(crate) struct DoctorReport {
    pub(crate) ok: bool,
    pub(crate) program: Program,
    /// None if it cannot be said where it would be.
    pub(crate) store: Option<StoreState>,
    pub(crate) settings: Vec<SettingsFile>,
    pub(crate) environment: Vec<Variable>,
    pub(crate) agents: Vec<AgentState>,
    pub(crate) troubles: Vec<Trouble>,
    pub(crate) warnings: Vec<String>,
}

/// This program, and the one that a shell would start.
#[derive(Debug, Serialize)]
pub(crate) struct Program {
    pub(crate) version: &'static str,
    pub(crate) path: Option<String>,
    pub(crate) on_path: Option<String>,
    pub(crate) system: String,
}

#[derive(Debug, Serialize)]
pub(crate) struct StoreState {
    pub(crate) path: String,
    pub(crate) exists: bool,
    /// None if there is no store, or it cannot be read.
    pub(crate) checked: Option<Checked>,
    pub(crate) findings: usize,
    pub(crate) free_bytes: Option<u64>,
    pub(crate) read_only: bool,
}

#[derive(Debug, Serialize)]
pub(crate) struct SettingsFile {
    pub(crate) path: String,
    /// `valid`, `absent` or `invalid`.
    pub(crate) state: &'static str,
}

#[derive(Debug, Serialize)]
pub(crate) struct Variable {
    pub(crate) name: String,
    /// Without secrets.
    pub(crate) value: String,
}

/// One thing that needs attention.
#[derive(Debug, Serialize)]
pub(crate) struct Trouble {
    area: &'static str,
    message: String,
    help: Vec<String>,
}

impl Trouble {
    pub(crate) fn new(area: &'static str, message: impl Into<String>, help: Vec<String>) -> Self {
        let message = message.into();
        Self { area, message: redact_text(&message).unwrap_or(message), help }
    }

    pub(crate) fn of(area: &'static str, failure: Failure) -> Self {
        Self::new(area, failure.message, failure.help)
    }
}

impl Report for DoctorReport {
    const FORMAT: &'static str = "ckpt.doctor.v1";

    fn essential(&self) -> String {
        self.troubles.iter().map(|trouble| format!("{}\n", trouble.area)).collect()
    }

    fn answer(&self, page: &mut TextPage) {
        let Program { version, path, on_path, system } = &self.program;
        let mut fields = vec![("ckpt", format!("{version}, {system}"))];
        fields.extend(path.iter().map(|path| ("program", path.clone())));
        let other = on_path.as_ref().filter(|other| path.as_ref() != Some(other));
        fields.extend(other.map(|other| ("on PATH", other.clone())));
        if on_path.is_none() {
            fields.push(("on PATH", "not found".to_owned()));
        }
        if let Some(store) = &self.store {
            let path = store.path.clone();
            fields.push(("store", if store.exists { path } else { format!("none yet; it would be {path}") }));
            if let Some(Checked { workflows, checkpoints, bundles, .. }) = store.checked {
                let (workflows, checkpoints) = (count(workflows, "workflow"), count(checkpoints, "checkpoint"));
                fields.push(("content", format!("{workflows}, {checkpoints}, {}", count(bundles, "bundle"))));
            }
            if let Some(free) = store.free_bytes {
                let read_only = if store.read_only { ", read-only" } else { "" };
                fields.push(("disk", format!("{} free{read_only}", Size(free))));
            }
        }
        for SettingsFile { path, state } in &self.settings {
            fields.push(("settings", format!("{path} ({state})")));
        }
        for Variable { name, value } in &self.environment {
            fields.push(("variable", format!("{name}={value}")));
        }
        page.fields(fields);
        page.line("");
        agents(page, &self.agents);
        page.line("");
        for Trouble { area, message, help } in &self.troubles {
            page.labelled(Style::Bad, &format!("{area}:"), message);
            page.help(help);
        }
        if self.ok {
            let verdict = page.paint(Style::Good, "All is well.");
            page.line(verdict);
        }
    }
}
