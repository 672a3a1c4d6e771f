//! The answer of `ckpt init`.

use serde::Serialize;

use super::import::found_line;
use crate::cli::answer::Report;
use crate::cli::text_page::TextPage;
use crate::cli::words::FIRST_COMMAND;
use ckpt_formats::import::Discovered;

#[derive(Debug, Serialize)]
pub(crate) struct InitReport {
    pub(crate) store: String,
    pub(crate) project: String,
    pub(crate) created: bool,
    pub(crate) config: String,
    pub(crate) config_created: bool,
    /// The files of other systems in the project.
    pub(crate) found: Vec<Discovered>,
    pub(crate) warnings: Vec<String>,
}

impl Report for InitReport {
    const FORMAT: &'static str = "ckpt.init.v1";

    fn essential(&self) -> String {
        format!("{}\n", self.store)
    }

    fn remarks(&self, page: &mut TextPage) {
        page.line(match (self.created, self.config_created) {
            (true, _) => format!("Created the store. `{FIRST_COMMAND}` begins a workflow."),
            (false, true) => "The store was there already; wrote its config.toml.".to_owned(),
            (false, false) => "The store was there already; nothing changed.".to_owned(),
        });
        for found in &self.found {
            page.line(format!("Found {}", found_line(found)));
        }
        if !self.found.is_empty() {
            page.line("To go on with what is there: ckpt import --all");
        }
    }

    fn already_done(&self) -> Option<String> {
        Some(format!("{} is there", self.store))
    }
}
