//! The answer of `ckpt report`.

use serde::Serialize;

use crate::cli::answer::Report;
use crate::cli::text_page::TextPage;
use crate::cli::words::count;
use ckpt_model::size::Size;

/// The file that was written.
#[derive(Debug, Serialize)]
pub(crate) struct ReportReport {
    path: String,
    bytes: usize,
    pages: usize,
    warnings: Vec<String>,
}

impl ReportReport {
    pub(crate) fn new(path: String, bytes: usize, pages: usize, warnings: Vec<String>) -> Self {
        Self { path, bytes, pages, warnings }
    }
}

impl Report for ReportReport {
    const FORMAT: &'static str = "ckpt.report.v1";

    fn essential(&self) -> String {
        format!("{}\n", self.path)
    }

    fn answer(&self, page: &mut TextPage) {
        page.line(page.escape(&self.path));
    }

    fn failures(&self, page: &mut TextPage) {
        page.warnings(&self.warnings);
    }

    fn remarks(&self, page: &mut TextPage) {
        page.line(format!("Wrote {} in {}", count(self.pages, "page"), Size(self.bytes as u64)));
    }

    fn already_done(&self) -> Option<String> {
        Some(format!("{} was written", self.path))
    }
}
