//! The answer of commands that print a text.

use serde::Serialize;

use crate::cli::answer::Report;
use crate::cli::text_page::TextPage;

#[derive(Debug, Serialize)]
pub(crate) struct TextReport {
    text: String,
    warnings: Vec<String>,
}

impl TextReport {
    pub(crate) fn new(text: String) -> Self {
        Self { text, warnings: Vec::new() }
    }

    pub(crate) fn with_warnings(self, warnings: Vec<String>) -> Self {
        Self { warnings, ..self }
    }
}

impl Report for TextReport {
    const FORMAT: &'static str = "ckpt.text.v1";

    fn essential(&self) -> String {
        self.text.clone()
    }

    fn remarks(&self, page: &mut TextPage) {
        page.warnings(&self.warnings);
    }
}
