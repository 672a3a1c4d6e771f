//! The findings of a verification, and how they are collected.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::disk::{FileKind, Stat};
use crate::objects::objects_of;
use ckpt_model::checkpoint::Checkpoint;
use ckpt_model::digest::Digest;
use ckpt_model::finding::{Code, Finding, Severity};
use ckpt_model::redact::find_secrets;
use ckpt_model::schema::{Steps, Validator};
use ckpt_model::selector::Handle;

/// The number of things that were checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Checked {
    /// Workflows, live or archived.
    pub workflows: usize,
    /// Checkpoints, live or archived. Copies of one checkpoint count once.
    pub checkpoints: usize,
    /// Bundles.
    pub bundles: usize,
    /// Objects: kept contents of artifacts.
    pub objects: usize,
}

/// The result of a verification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verification {
    /// The number of things that were checked.
    pub checked: Checked,
    /// The findings, in the order of the walk.
    pub findings: Vec<Finding>,
    /// The stored secrets, if they were looked for.
    pub secrets: Vec<StoredSecret>,
}

/// A value of a stored checkpoint that looks like a secret. The value itself is in no report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StoredSecret {
    /// The checkpoint.
    pub handle: Handle,
    /// The file of the checkpoint, or the bundle that holds it.
    pub path: String,
    /// The JSON pointer of the value.
    pub pointer: String,
    /// The rule that recognises it.
    pub rule: &'static str,
}

impl Verification {
    /// True if no finding is a blocker, and no secret is stored.
    #[must_use]
    pub fn is_ok(&self) -> bool {
        self.secrets.is_empty() && self.findings.iter().all(|finding| finding.severity < Severity::Blocker)
    }
}

pub(super) const REPAIR: &str = "`ckpt verify --repair` moves it to quarantine and restores what it can";
pub(super) const CHECK_DISK: &str = "check the disk and the permissions";
pub(super) const LOOK: &str = "look at it, and move it away if it is not needed";

/// A verification in progress.
pub(crate) struct Walk<'a> {
    pub(super) findings: Vec<Finding>,
    pub(super) checked: Checked,
    /// None if secrets are not looked for.
    pub(super) secrets: Option<Vec<StoredSecret>>,
    /// The contents that are referred to, each with a checkpoint that does.
    pub(super) referred: BTreeMap<Digest, Handle>,
    /// The numbers of the current workflow that have been counted.
    counted: BTreeSet<u64>,
    /// The state before the current workflow.
    start: Start,
    progress: &'a mut dyn FnMut(&Checked),
}

/// The lengths of the lists and the counts before a workflow, to which another look at it returns.
#[derive(Default)]
struct Start {
    findings: usize,
    secrets: usize,
    checked: Checked,
}

impl<'a> Walk<'a> {
    pub(crate) fn new(progress: &'a mut dyn FnMut(&Checked)) -> Self {
        Self {
            findings: Vec::new(),
            checked: Checked::default(),
            secrets: None,
            referred: BTreeMap::new(),
            counted: BTreeSet::new(),
            start: Start::default(),
            progress,
        }
    }

    pub(super) fn finish(self) -> Verification {
        let secrets = self.secrets.unwrap_or_default();
        Verification { checked: self.checked, findings: self.findings, secrets }
    }

    /// Notes the contents that a checkpoint refers to.
    pub(super) fn note_objects(&mut self, checkpoint: &Checkpoint) {
        for sha256 in objects_of(checkpoint) {
            self.referred.entry(sha256).or_insert_with(|| checkpoint.handle());
        }
    }

    /// Counts an object, and reports the progress.
    pub(super) fn count_object(&mut self) {
        self.checked.objects += 1;
        (self.progress)(&self.checked);
    }

    /// Looks for secrets in the file of a checkpoint, if this verification does.
    pub(super) fn look_for_secrets(&mut self, handle: &Handle, path: &Path, bytes: &[u8]) {
        let Some(secrets) = &mut self.secrets else { return };
        let Ok(document) = serde_json::from_slice(bytes) else { return };
        secrets.extend(find_secrets(&document).into_iter().map(|(pointer, rule)| StoredSecret {
            handle: handle.clone(),
            path: path.display().to_string(),
            pointer,
            rule,
        }));
        secrets.dedup();
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
        self.findings.push(Finding { code, severity, message, help, diff: Vec::new(), path, handle });
    }

    /// Reports permissions other than those that the store creates.
    pub(super) fn check_mode(&mut self, path: PathBuf, handle: Option<&Handle>, mode: u32, expected: u32) {
        if mode != expected {
            let message = format!("has mode {mode:o}, not {expected:o}");
            self.push(Severity::Info, Code::Mode, path, handle.cloned(), message, None);
        }
    }

    /// Reports an entry that does not belong to the store. Returns true if it has to be quarantined, because reading
    /// it could lead out of the store or block.
    pub(super) fn unknown(&mut self, path: PathBuf, stat: Option<Stat>, message: &str) -> bool {
        match stat {
            Some(Stat { kind: kind @ (FileKind::Link | FileKind::Special), .. }) => {
                let message = format!("is {}", words(kind));
                self.add(Severity::Advice, Code::UnknownFile, path, message, Some(REPAIR));
                true
            }
            _ => {
                self.add(Severity::Advice, Code::UnknownFile, path, message, Some(LOOK));
                false
            }
        }
    }

    /// Reports a temporary file.
    pub(super) fn temporary(&mut self, path: PathBuf) {
        let message = "was left by a writer that was stopped, or is being written";
        self.add(Severity::Info, Code::Leftover, path, message, None);
    }

    /// Begins the next workflow.
    pub(super) fn begin(&mut self) {
        self.counted.clear();
        self.start = Start {
            findings: self.findings.len(),
            secrets: self.secrets.as_ref().map_or(0, Vec::len),
            checked: self.checked,
        };
    }

    /// Begins the current workflow again.
    pub(super) fn begin_again(&mut self) {
        self.counted.clear();
        self.findings.truncate(self.start.findings);
        self.checked = self.start.checked;
        if let Some(secrets) = &mut self.secrets {
            secrets.truncate(self.start.secrets);
        }
    }

    /// Returns the findings about the current workflow that another process may have caused by working at the same time.
    /// A file that cannot be read is not one of them.
    pub(super) fn contestable(&self) -> Vec<Finding> {
        let findings = self.findings.iter().skip(self.start.findings);
        findings.filter(|finding| is_contestable(finding)).cloned().collect()
    }

    /// Drops the contestable findings about the current workflow that an earlier look did not have.
    pub(super) fn drop_unconfirmed(&mut self, earlier: &[Finding]) {
        let current = self.findings.split_off(self.start.findings);
        let is_kept = |finding: &Finding| !is_contestable(finding) || earlier.contains(finding);
        self.findings.extend(current.into_iter().filter(is_kept));
    }

    /// Counts a checkpoint of the current workflow once, and reports the progress.
    pub(super) fn count(&mut self, seq: u64) {
        self.checked.checkpoints += usize::from(self.counted.insert(seq));
        (self.progress)(&self.checked);
    }

    /// Returns the first schema violation of a checkpoint file.
    pub(super) fn violation(&self, bytes: &[u8]) -> Option<String> {
        let validator = Validator::of_checkpoints()?;
        let document = match serde_json::from_slice(bytes) {
            Ok(document) => document,
            Err(error) => return Some(format!("cannot be checked: {error}")),
        };
        let violations = match validator.violations(&document, &mut Steps::default()) {
            Ok(violations) => violations,
            Err(error) => return Some(format!("cannot be checked: {error}")),
        };
        let first = violations.first()?;
        let more = match violations.len() {
            1 => String::new(),
            count => format!(", and {} more", count - 1),
        };
        Some(format!("breaks the schema at `{}`: {}{more}", first.pointer, first.message))
    }
}

fn is_contestable(finding: &Finding) -> bool {
    finding.severity > Severity::Info && finding.code != Code::Unreadable
}

/// Returns the noun of a type.
pub(super) fn words(kind: FileKind) -> &'static str {
    match kind {
        FileKind::File => "a file",
        FileKind::Directory => "a directory",
        FileKind::Link => "a symbolic link",
        FileKind::Special => "a pipe, a socket or a device",
    }
}
