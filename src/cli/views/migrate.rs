//! The answer of `ckpt migrate`.

use serde::Serialize;

use super::failed::FailedItem;
use crate::cli::error::{ErrorCode, Failure};
use crate::cli::exit::Exit;
use crate::cli::page::Page;
use crate::cli::report::Report;
use crate::cli::words::{count, verb};
use crate::core::Handle;
use crate::core::store::MigrationPlan;
use crate::core::version::{CURRENT, Version};

#[derive(Debug, Serialize)]
pub(crate) struct MigrateReport {
    dry_run: bool,
    /// The present format.
    version: Version,
    /// The number of workflows in the present format.
    current: usize,
    migrated: Vec<Migrated>,
    /// Checkpoints of a newer format.
    newer: Vec<NewerCheckpoint>,
    failures: Vec<FailedItem>,
    pub(crate) warnings: Vec<String>,
}

/// A workflow that was, or would be, migrated.
#[derive(Debug, Serialize)]
struct Migrated {
    from: Handle,
    version: Version,
    /// The new checkpoint; `None` in a dry run, or if another writer was faster.
    handle: Option<Handle>,
}

#[derive(Debug, Serialize)]
struct NewerCheckpoint {
    handle: Handle,
    version: Version,
}

impl MigrateReport {
    pub(crate) fn new(plan: &MigrationPlan, dry_run: bool) -> Self {
        let damaged = plan.damaged.iter().map(|(handle, why)| {
            let failure = Failure::new(ErrorCode::Damaged, format!("`{handle}` {why}"))
                .help("`ckpt verify --repair` moves what is damaged aside");
            FailedItem::new(handle, failure)
        });
        let newer = plan
            .newer
            .iter()
            .map(|(handle, version)| NewerCheckpoint { handle: handle.clone(), version: *version });
        Self {
            dry_run,
            version: CURRENT,
            current: plan.current,
            migrated: Vec::new(),
            newer: newer.collect(),
            failures: damaged.collect(),
            warnings: Vec::new(),
        }
    }

    pub(crate) fn add(&mut self, from: &Handle, version: Version, handle: Option<Handle>) {
        self.migrated.push(Migrated { from: from.clone(), version, handle });
    }

    pub(crate) fn fail(&mut self, handle: &Handle, failure: impl Into<Failure>) {
        self.failures.push(FailedItem::new(handle, failure));
    }

    /// Returns the exit code. A newer format is not a failure.
    pub(crate) fn exit(&self) -> Exit {
        match (self.failures.is_empty(), self.migrated.is_empty() && self.current == 0) {
            (true, _) => Exit::Ok,
            (false, false) => Exit::Partial,
            (false, true) => Exit::Invalid,
        }
    }
}

impl Report for MigrateReport {
    const FORMAT: &'static str = "ckpt.migrate.v1";

    fn essential(&self) -> String {
        let lines = self.migrated.iter().map(|migrated| migrated.handle.as_ref().unwrap_or(&migrated.from));
        lines.map(|handle| format!("{handle}\n")).collect()
    }

    fn answer(&self, page: &mut Page) {
        for Migrated { from, version, handle } in &self.migrated {
            page.line(match handle {
                Some(handle) => format!("{from} (format {version}) goes on as {handle}"),
                None => format!("{from} (format {version}) would go on in format {}", self.version),
            });
        }
        for NewerCheckpoint { handle, version } in &self.newer {
            page.line(format!(
                "{handle} has format {version}, which is newer than this program; it was left alone"
            ));
        }
        let current = count(self.current, "workflow");
        let has = verb(self.current, "has", "have");
        page.line(format!("{current} {has} the present format {}", self.version));
    }

    fn failures(&self, page: &mut Page) {
        FailedItem::render(&self.failures, page);
        page.warnings(&self.warnings);
    }

    fn already_done(&self) -> Option<String> {
        let done = !self.dry_run && !self.migrated.is_empty();
        done.then(|| count(self.migrated.len(), "workflow") + " brought forward")
    }
}
