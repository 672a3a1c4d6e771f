//! The answer of `ckpt verify`.

use serde::Serialize;

use crate::cli::page::Page;
use crate::cli::report::Report;
use crate::cli::style::Style;
use crate::cli::words::{count, verb};
use crate::core::Handle;
use crate::core::finding::{Finding, Severity};
use crate::core::store::{Checked, Repair, RepairAction, StoredSecret, Verification};

#[derive(Debug, Serialize)]
pub(crate) struct VerifyReport {
    ok: bool,
    checked: Checked,
    findings: Vec<Finding>,
    secrets: Vec<StoredSecret>,
    repaired: Vec<RepairLine>,
    warnings: Vec<String>,
    /// Whether it was asked for.
    #[serde(skip)]
    repairs: bool,
}

#[derive(Debug, Serialize)]
struct RepairLine {
    action: RepairAction,
    path: String,
    to: Option<String>,
    handle: Option<Handle>,
}

impl RepairLine {
    fn new(repair: Repair) -> Self {
        Self {
            action: repair.action,
            path: repair.path.display().to_string(),
            to: repair.to.map(|to| to.display().to_string()),
            handle: repair.handle,
        }
    }
}

impl VerifyReport {
    pub(crate) fn new(
        verification: Verification,
        repaired: Option<Vec<Repair>>,
        warnings: Vec<String>,
    ) -> Self {
        Self {
            repairs: repaired.is_some(),
            repaired: repaired.into_iter().flatten().map(RepairLine::new).collect(),
            ok: verification.is_ok(),
            checked: verification.checked,
            findings: verification.findings,
            secrets: verification.secrets,
            warnings,
        }
    }

    fn of(&self, severity: Severity) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(move |finding| finding.severity == severity)
    }
}

impl Report for VerifyReport {
    const FORMAT: &'static str = "ckpt.verify.v1";

    fn essential(&self) -> String {
        let damaged = self.of(Severity::Blocker).filter_map(|finding| finding.path.as_ref());
        let mut paths: Vec<_> = damaged.chain(self.secrets.iter().map(|secret| &secret.path)).collect();
        paths.dedup();
        paths.into_iter().map(|path| format!("{path}\n")).collect()
    }

    fn answer(&self, page: &mut Page) {
        for RepairLine { action, path, to, .. } in &self.repaired {
            let label = page.paint(Style::Good, &format!("{}:", action.word()));
            let to = to.as_ref().map(|to| format!(" -> {}", page.foreign(to))).unwrap_or_default();
            page.line(format!("{label} {}{to}", page.foreign(path)));
        }
        let mut helped = Vec::new();
        for (severity, label, style) in [
            (Severity::Blocker, "error:", Style::Bad),
            (Severity::Advice, "warning:", Style::Warning),
            (Severity::Info, "info:", Style::Dim),
        ] {
            if severity == Severity::Info && !page.verbose {
                continue;
            }
            for finding in self.of(severity) {
                let label = page.paint(style, label);
                let path = page.foreign(finding.path.as_deref().unwrap_or_default());
                page.line(format!("{label} {path} {}", page.foreign(&finding.message)));
                for help in &finding.help {
                    if !helped.contains(&help) {
                        helped.push(help);
                    }
                }
            }
        }
        for help in helped {
            page.line(format!("  help: {help}"));
        }
        for StoredSecret { handle, path, pointer, rule } in &self.secrets {
            let label = page.paint(Style::Bad, "secret:");
            let (path, pointer) = (page.foreign(path), page.foreign(pointer));
            page.line(format!("{label} {path} {handle} at {pointer} ({rule})"));
        }
        if !self.secrets.is_empty() {
            page.line("  help: replace what was exposed; `ckpt cleanup --help` says how to delete a workflow for good");
        }
        let Checked { workflows, checkpoints, bundles } = self.checked;
        let checked =
            [count(workflows, "workflow"), count(checkpoints, "checkpoint"), count(bundles, "bundle")];
        let (errors, warnings) = (self.of(Severity::Blocker).count(), self.of(Severity::Advice).count());
        let verdict = match (errors, warnings, self.secrets.len()) {
            (0, 0, 0) => page.paint(Style::Good, "nothing is wrong"),
            (0, 0, secrets) => count(secrets, "secret"),
            (_, _, 0) => format!("{}, {}", count(errors, "error"), count(warnings, "warning")),
            (_, _, secrets) => crate::cli::words::and(&[
                count(errors, "error"),
                count(warnings, "warning"),
                count(secrets, "secret"),
            ]),
        };
        page.line(format!("Checked {}: {verdict}", crate::cli::words::and(&checked)));
    }

    fn failures(&self, page: &mut Page) {
        page.warnings(&self.warnings);
    }

    fn remarks(&self, page: &mut Page) {
        if self.repairs && self.repaired.is_empty() {
            page.line("There was nothing to repair.");
        }
        let notes = self.of(Severity::Info).count();
        if notes > 0 && !page.verbose {
            let them = verb(notes, "it", "them");
            page.line(format!("{} not shown; `-v` shows {them}.", count(notes, "note")));
        }
    }

    fn already_done(&self) -> Option<String> {
        (!self.repaired.is_empty()).then(|| count(self.repaired.len(), "repair") + " made")
    }
}
