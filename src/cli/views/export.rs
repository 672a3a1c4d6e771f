//! The answer of `ckpt export`.

use std::path::Path;

use indexmap::IndexSet;
use serde::Serialize;

use crate::cli::answer::Report;
use crate::cli::text_page::TextPage;
use crate::cli::words::{and, count};
use ckpt_formats::dialects::Dialect;
use ckpt_model::Handle;
use ckpt_store::place::{FileContent, NewFile, Placed};

#[derive(Debug, Serialize)]
pub(crate) struct ExportReport {
    dialect: Dialect,
    /// The newest exported checkpoint.
    handle: Option<Handle>,
    files: Vec<WrittenFile>,
    pub(crate) warnings: Vec<String>,
}

/// A file, which was written unless it was up to date.
#[derive(Debug, Serialize)]
struct WrittenFile {
    path: String,
    bytes: usize,
    written: bool,
}

/// Returns a warning about the parts of checkpoints that the dialect cannot express.
pub(crate) fn left_out_warnings(dialect: Dialect, left_out: &IndexSet<&'static str>) -> Vec<String> {
    let parts: Vec<String> = left_out.iter().map(|part| (*part).to_owned()).collect();
    if parts.is_empty() {
        return Vec::new();
    }
    vec![format!("left out, because {dialect} has no place for it: {}", and(&parts))]
}

impl ExportReport {
    pub(crate) fn new(dialect: Dialect, handle: Option<Handle>, left_out: &IndexSet<&'static str>) -> Self {
        Self { dialect, handle, files: Vec::new(), warnings: left_out_warnings(dialect, left_out) }
    }

    pub(crate) fn add(&mut self, root: &Path, file: &NewFile, placed: Placed) {
        let bytes = match &file.content {
            FileContent::Bytes(bytes) => bytes.len(),
            FileContent::Link(to) => to.len(),
        };
        let path = root.join(&file.path).display().to_string();
        self.files.push(WrittenFile { path, bytes, written: placed == Placed::Written });
    }
}

impl Report for ExportReport {
    const FORMAT: &'static str = "ckpt.export.v1";

    fn essential(&self) -> String {
        self.files.iter().map(|file| format!("{}\n", file.path)).collect()
    }

    fn answer(&self, page: &mut TextPage) {
        for file in &self.files {
            page.line(page.escape(&file.path));
        }
    }

    fn remarks(&self, page: &mut TextPage) {
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
