//! What a check found.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde::Serialize;

use crate::core::finding::{Code, Finding, Severity};
use crate::core::schema::Validator;
use crate::core::selector::Handle;

/// How much was checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Checked {
    /// Workflows, live or archived.
    pub workflows: usize,
    /// Checkpoints, live or archived. One that is in several places is one.
    pub checkpoints: usize,
    /// Bundles.
    pub bundles: usize,
}

/// All that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verification {
    /// How much was checked.
    pub checked: Checked,
    /// What was found, in the order of the walk.
    pub findings: Vec<Finding>,
}

impl Verification {
    /// True if no finding is a blocker.
    #[must_use]
    pub fn is_ok(&self) -> bool {
        self.findings.iter().all(|finding| finding.severity < Severity::Blocker)
    }
}

pub(super) const REPAIR: &str = "`ckpt verify --repair` moves it to quarantine and restores what it can";
pub(super) const CHECK_DISK: &str = "check the disk and the permissions";
pub(super) const LOOK: &str = "look at it, and move it away if it is not needed";

/// A check under way.
pub(in crate::core::store) struct Walk<'a> {
    pub(super) findings: Vec<Finding>,
    pub(super) checked: Checked,
    /// The numbers of the present workflow that have been counted.
    counted: BTreeSet<u64>,
    progress: &'a mut dyn FnMut(&Checked),
}

impl<'a> Walk<'a> {
    pub(in crate::core::store) fn new(progress: &'a mut dyn FnMut(&Checked)) -> Self {
        Self { findings: Vec::new(), checked: Checked::default(), counted: BTreeSet::new(), progress }
    }

    pub(super) fn finish(self) -> Verification {
        Verification { checked: self.checked, findings: self.findings }
    }

    pub(super) fn add(
        &mut self,
        severity: Severity,
        code: Code,
        path: PathBuf,
        message: impl Into<String>,
        help: Option<&'static str>,
    ) {
        self.push(severity, code, path, None, message.into(), help);
    }

    pub(super) fn about(
        &mut self,
        severity: Severity,
        code: Code,
        (handle, path): (&Handle, PathBuf),
        message: impl Into<String>,
        help: Option<&'static str>,
    ) {
        self.push(severity, code, path, Some(handle.clone()), message.into(), help);
    }

    fn push(
        &mut self,
        severity: Severity,
        code: Code,
        path: PathBuf,
        handle: Option<Handle>,
        message: String,
        help: Option<&'static str>,
    ) {
        let path = Some(path.into_os_string().to_string_lossy().into_owned());
        let help = help.map(str::to_owned).into_iter().collect();
        self.findings.push(Finding { code, severity, message, help, path, handle });
    }

    /// Begins with a workflow.
    pub(super) fn begin(&mut self) {
        self.counted.clear();
    }

    /// Counts a checkpoint of the present workflow, if this is not a copy of it, and says how far it is.
    pub(super) fn count(&mut self, seq: u64) {
        self.checked.checkpoints += usize::from(self.counted.insert(seq));
        (self.progress)(&self.checked);
    }

    /// What the schema says against the file of a checkpoint; the first of it.
    pub(super) fn violation(&self, bytes: &[u8]) -> Option<String> {
        let validator = Validator::of_checkpoints()?;
        let document = match serde_json::from_slice(bytes) {
            Ok(document) => document,
            Err(error) => return Some(format!("cannot be checked: {error}")),
        };
        let violations = validator.violations(&document);
        let first = violations.first()?;
        let more = match violations.len() {
            1 => String::new(),
            count => format!(", and {} more", count - 1),
        };
        Some(format!("breaks the schema at `{}`: {}{more}", first.pointer, first.message))
    }
}
