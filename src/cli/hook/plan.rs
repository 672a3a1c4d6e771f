//! The agent's own plan: each report of it is one save, if it changes anything.

use std::path::PathBuf;

use super::Hook;
use crate::cli::error::Failure;
use crate::cli::saving::SaveOptions;
use crate::cli::session::Workspace;
use crate::cli::views::save::SaveReport;
use ckpt_agents::hosts::PlanReport;
use ckpt_model::change::Change;
use ckpt_model::digest::Digest;
use ckpt_model::size::Size;
use ckpt_model::text::plain_text;
use ckpt_model::{Trigger, WorkflowId};
use ckpt_store::Location;
use ckpt_store::Store;
use ckpt_store::artifact;

/// The largest touched file whose content is recorded: a hook has little time.
const MAX_TOUCHED: Size = Size(4 << 20);
/// The variables that name the project of an agent whose working directory may be elsewhere.
const PROJECT_VARIABLES: [&str; 2] = ["CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR"];

impl Hook {
    /// Saves what a report changes in the workflow of this session. Without one, the report begins a workflow.
    pub(super) fn plan(&self, report: PlanReport) -> Result<(), Failure> {
        if report.update.items.is_empty() {
            return Ok(());
        }
        let digest = Digest::of_json(&report.update);
        if let Some(store) = self.store()?
            && self.note(&store).is_some_and(|note| note.bound && note.plan == Some(digest))
        {
            return Ok(());
        }
        let workspace = self.workspace_for_plan()?;
        let Workspace { store, config, .. } = &workspace;
        if !config.wants(&Trigger::PhaseTransition) {
            return Ok(());
        }
        store.create()?;
        let (workflow, note) = self.bind(&workspace, &report.update)?;
        let files = note.map(|note| note.files).unwrap_or_default();
        let said = report.note.as_deref().map(plain_text).filter(|said| !said.is_empty());
        let change = Change { plan: Some(report.update), note: said, ..Change::default() };
        let saved = self.save(&workspace, &workflow, change, &files)?;
        let recorded = if saved.created { files } else { Vec::new() };
        self.settle(store, &recorded, |note| note.plan = Some(digest));
        Ok(())
    }

    /// Saves a change, if it adds anything, with the files that were touched.
    pub(super) fn save(
        &self,
        workspace: &Workspace,
        workflow: &WorkflowId,
        mut change: Change,
        files: &[String],
    ) -> Result<SaveReport, Failure> {
        let project = workspace.store.project();
        change.touched = artifact::watch(project, files, workspace.config.max_artifact().min(MAX_TOUCHED));
        let options = SaveOptions { if_changed: true, quick: true, ..SaveOptions::default() };
        self.session.save(workspace, workflow, change, &options)
    }

    /// Opens the store, or the place where it is created: the root of the project.
    fn workspace_for_plan(&self) -> Result<Workspace, Failure> {
        let mut place = self.session.place()?;
        if matches!(place.location, Location::Absent(_)) {
            let named = PROJECT_VARIABLES.iter().find_map(|name| self.session.env.var_os(name)).map(PathBuf::from);
            let contains = |dir: &PathBuf| dir.is_absolute() && place.cwd.starts_with(dir);
            if let Some(project) = named.filter(contains) {
                place = self.session.in_directory(project).place()?;
            }
        }
        let store = Store::at(place.located())?.without_waiting();
        let config = self.session.config(&store)?;
        Ok(Workspace { place, store, config, remote_problem: None })
    }

    /// Notes the checkpoint that was saved before a compaction.
    pub(super) fn note_compaction(&self, store: &Store, saved: &SaveReport) {
        self.change_note(store, |note| note.compacted.clone_from(&saved.handle));
    }
}
