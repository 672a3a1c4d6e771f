//! The answer of `ckpt export`.

use std::collections::BTreeSet;
use std::path::Path;

use serde::Serialize;

use crate::cli::page::Page;
use crate::cli::report::Report;
use crate::cli::words::{and, count};
use crate::core::Handle;
use crate::core::dialects::{Dialect, Topic};
use crate::core::export::{Content, ExportFile, Placed};

#[derive(Debug, Serialize)]
pub(crate) struct ExportReport {
    dialect: Dialect,
    /// The newest checkpoint that was written.
    handle: Option<Handle>,
    files: Vec<Written>,
    warnings: Vec<String>,
}

/// A file, and whether it had to be written.
#[derive(Debug, Serialize)]
pub(crate) struct Written {
    path: String,
    bytes: usize,
    written: bool,
}

impl Written {
    pub(crate) fn new(root: &Path, file: &ExportFile, placed: Placed) -> Self {
        let bytes = match &file.content {
            Content::Bytes(bytes) | Content::Shared(bytes) => bytes.len(),
            Content::Link(to) => to.len(),
        };
        Self { path: root.join(&file.path).display().to_string(), bytes, written: placed == Placed::Written }
    }
}

/// One line about everything that the files do not say.
fn warnings(dialect: Dialect, left_out: &BTreeSet<Topic>) -> Vec<String> {
    let topics: Vec<String> = left_out.iter().map(|topic| topic.words().to_owned()).collect();
    let line = || format!("left out, because {dialect} has no place for it: {}", and(&topics));
    if topics.is_empty() { Vec::new() } else { vec![line()] }
}

impl ExportReport {
    pub(crate) fn new(dialect: Dialect, handle: Option<Handle>, left_out: &BTreeSet<Topic>) -> Self {
        Self { dialect, handle, files: Vec::new(), warnings: warnings(dialect, left_out) }
    }

    pub(crate) fn add(&mut self, file: Written) {
        self.files.push(file);
    }
}

impl Report for ExportReport {
    const FORMAT: &'static str = "ckpt.export.v1";

    fn essential(&self) -> String {
        self.files.iter().map(|file| format!("{}\n", file.path)).collect()
    }

    fn answer(&self, page: &mut Page) {
        for file in &self.files {
            page.line(page.foreign(&file.path));
        }
    }

    fn remarks(&self, page: &mut Page) {
        page.warnings(&self.warnings);
        let written = self.files.iter().filter(|file| file.written).count();
        let rest = match self.files.len() - written {
            0 => String::new(),
            unchanged => format!(", {unchanged} unchanged"),
        };
        let handle = self.handle.as_ref().map(|handle| format!(" of {handle}")).unwrap_or_default();
        page.line(format!("Wrote {}{handle} as {}{rest}.", count(written, "file"), self.dialect));
    }

    fn already_done(&self) -> Option<String> {
        (!self.files.is_empty()).then(|| count(self.files.len(), "file") + " exported")
    }
}

/// The one file that was asked for on stdout.
#[derive(Debug, Serialize)]
pub(crate) struct ExportedText {
    text: String,
    warnings: Vec<String>,
}

impl ExportedText {
    pub(crate) fn new(text: String, dialect: Dialect, left_out: &BTreeSet<Topic>) -> Self {
        Self { text, warnings: warnings(dialect, left_out) }
    }
}

impl Report for ExportedText {
    const FORMAT: &'static str = "ckpt.text.v1";

    fn essential(&self) -> String {
        self.text.clone()
    }

    fn answer(&self, page: &mut Page) {
        page.raw(&self.text);
    }

    fn remarks(&self, page: &mut Page) {
        page.warnings(&self.warnings);
    }
}
