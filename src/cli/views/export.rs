//! The answer of `ckpt export`.

use std::path::Path;

use serde::Serialize;

use super::super::page::Page;
use super::super::report::Report;
use super::super::words::count;
use crate::core::Handle;
use crate::core::dialects::Dialect;
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

impl ExportReport {
    pub(crate) fn new(dialect: Dialect, handle: Option<Handle>) -> Self {
        Self { dialect, handle, files: Vec::new(), warnings: Vec::new() }
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
