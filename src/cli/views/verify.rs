//! The answer of `ckpt verify`.

use serde::Serialize;

use super::super::page::Page;
use super::super::report::Report;
use super::super::style::Style;
use super::super::words::count;
use crate::core::Handle;
use crate::core::store::{Checked, Finding, Severity, Verification};

#[derive(Debug, Serialize)]
pub(crate) struct VerifyReport {
    ok: bool,
    checked: Checked,
    findings: Vec<FindingLine>,
    warnings: Vec<String>,
}

#[derive(Debug, Serialize)]
struct FindingLine {
    code: &'static str,
    severity: Severity,
    message: String,
    path: String,
    handle: Option<Handle>,
    help: Option<&'static str>,
}

impl FindingLine {
    fn new(finding: Finding) -> Self {
        Self {
            code: finding.code,
            severity: finding.severity,
            message: finding.message,
            path: finding.path.display().to_string(),
            handle: finding.handle,
            help: finding.help,
        }
    }
}

impl VerifyReport {
    pub(crate) fn new(verification: Verification) -> Self {
        Self {
            ok: verification.is_ok(),
            checked: verification.checked,
            findings: verification.findings.into_iter().map(FindingLine::new).collect(),
            warnings: Vec::new(),
        }
    }

    fn of(&self, severity: Severity) -> impl Iterator<Item = &FindingLine> {
        self.findings.iter().filter(move |finding| finding.severity == severity)
    }
}

impl Report for VerifyReport {
    const FORMAT: &'static str = "ckpt.verify.v1";

    fn essential(&self) -> String {
        self.of(Severity::Error).map(|finding| format!("{}\n", finding.path)).collect()
    }

    fn answer(&self, page: &mut Page) {
        let mut helped = Vec::new();
        for severity in [Severity::Error, Severity::Warning, Severity::Info] {
            if severity == Severity::Info && !page.verbose {
                continue;
            }
            for finding in self.of(severity) {
                let style = match severity {
                    Severity::Error => Style::Bad,
                    Severity::Warning => Style::Warning,
                    Severity::Info => Style::Dim,
                };
                let label = page.paint(style, &format!("{}:", severity.word()));
                let (path, message) = (page.foreign(&finding.path), page.foreign(&finding.message));
                page.line(format!("{label} {path} {message}"));
                helped.extend(finding.help.filter(|help| !helped.contains(help)));
            }
        }
        for help in helped {
            page.line(format!("  help: {help}"));
        }
        let Checked { workflows, checkpoints, bundles } = self.checked;
        let checked =
            [count(workflows, "workflow"), count(checkpoints, "checkpoint"), count(bundles, "bundle")];
        let verdict = match (self.of(Severity::Error).count(), self.of(Severity::Warning).count()) {
            (0, 0) => page.paint(Style::Good, "nothing is wrong"),
            (errors, warnings) => format!("{}, {}", count(errors, "error"), count(warnings, "warning")),
        };
        page.line(format!("Checked {}: {verdict}", super::super::words::and(&checked)));
    }

    fn remarks(&self, page: &mut Page) {
        let notes = self.of(Severity::Info).count();
        if notes > 0 && !page.verbose {
            page.line(format!("{} not shown; `-v` shows them.", count(notes, "note")));
        }
    }
}
