//! The answer of `ckpt ui`.

use serde::Serialize;

use crate::cli::answer::Report;
use crate::cli::text_page::TextPage;

/// The address of the pages.
#[derive(Debug, Serialize)]
pub(crate) struct UiReport {
    /// With the token that it needs.
    address: String,
    port: u16,
    read_only: bool,
    warnings: Vec<String>,
}

impl UiReport {
    pub(crate) fn new(address: String, port: u16, read_only: bool) -> Self {
        Self { address, port, read_only, warnings: Vec::new() }
    }
}

impl Report for UiReport {
    const FORMAT: &'static str = "ckpt.ui.v1";

    fn essential(&self) -> String {
        format!("{}\n", self.address)
    }

    fn remarks(&self, page: &mut TextPage) {
        let what = if self.read_only { ", without actions" } else { "" };
        page.line(format!("Serving the store on this machine only{what}. The address is a secret. Ctrl-C ends it."));
    }
}
