//! The answer of `ckpt verify`.

use serde::Serialize;

use crate::cli::answer::Report;
use crate::cli::style::Style;
use crate::cli::text_page::TextPage;
use crate::cli::words::{and, count, verb};
use ckpt_model::Handle;
use ckpt_model::finding::{Finding, Severity};
use ckpt_store::{Checked, Repair, RepairAction, StoredSecret, Verification};

#[derive(Debug, Serialize)]
pub(crate) struct VerifyReport {
    ok: bool,
    checked: Checked,
    findings: Vec<Finding>,
    secrets: Vec<StoredSecret>,
    repaired: Vec<ShownRepair>,
    warnings: Vec<String>,
    /// True if a repair was requested.
    #[serde(skip)]
    repairs: bool,
}

#[derive(Debug, Serialize)]
struct ShownRepair {
    action: RepairAction,
    path: String,
    to: Option<String>,
    handle: Option<Handle>,
}

impl ShownRepair {
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
    pub(crate) fn new(verification: Verification, repaired: Option<Vec<Repair>>, warnings: Vec<String>) -> Self {
        Self {
            repairs: repaired.is_some(),
            repaired: repaired.into_iter().flatten().map(ShownRepair::new).collect(),
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

    fn answer(&self, page: &mut TextPage) {
        for ShownRepair { action, path, to, .. } in &self.repaired {
            let to = to.as_ref().map(|to| format!(" -> {to}")).unwrap_or_default();
            page.labelled(Style::Good, &format!("{}:", action.word()), &format!("{path}{to}"));
        }
        let mut help: Vec<String> = Vec::new();
        for (severity, label, style) in [
            (Severity::Blocker, "error:", Style::Bad),
            (Severity::Advice, "warning:", Style::Warning),
            (Severity::Info, "info:", Style::Dim),
        ] {
            if severity == Severity::Info && !page.verbose {
                continue;
            }
            for finding in self.of(severity) {
                let path = finding.path.as_deref().unwrap_or_default();
                page.labelled(style, label, &format!("{path} {}", finding.message));
                for line in &finding.help {
                    if !help.contains(line) {
                        help.push(line.clone());
                    }
                }
            }
        }
        page.help(&help);
        for StoredSecret { handle, path, pointer, rule } in &self.secrets {
            page.labelled(Style::Bad, "secret:", &format!("{path} {handle} at {pointer} ({rule})"));
        }
        if !self.secrets.is_empty() {
            page.line("  help: replace what was exposed; `ckpt archive ID --as abandoned` and then `ckpt archive ID --delete` delete a workflow for good");
        }
        let Checked { workflows, checkpoints, bundles, objects } = self.checked;
        let mut checked =
            vec![count(workflows, "workflow"), count(checkpoints, "checkpoint"), count(bundles, "bundle")];
        if objects > 0 {
            checked.push(count(objects, "object"));
        }
        let (errors, warnings) = (self.of(Severity::Blocker).count(), self.of(Severity::Advice).count());
        let verdict = match (errors, warnings, self.secrets.len()) {
            (0, 0, 0) => page.paint(Style::Good, "nothing is wrong"),
            (0, 0, secrets) => count(secrets, "secret"),
            (_, _, 0) => format!("{}, {}", count(errors, "error"), count(warnings, "warning")),
            (_, _, secrets) => and(&[count(errors, "error"), count(warnings, "warning"), count(secrets, "secret")]),
        };
        page.line(format!("Checked {}: {verdict}", and(&checked)));
    }

    fn failures(&self, page: &mut TextPage) {
        page.warnings(&self.warnings);
    }

    fn remarks(&self, page: &mut TextPage) {
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
