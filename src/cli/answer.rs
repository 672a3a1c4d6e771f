//! Reports: the answers of commands.

use serde::Serialize;

use super::text_page::TextPage;

/// The answer of a command: JSON by serialisation, text by its view.
pub(crate) trait Report: Serialize {
    /// The name and version of the JSON form.
    const FORMAT: &'static str;

    /// Returns the essential value, for `--quiet`.
    fn essential(&self) -> String;

    /// Renders the answer, for stdout.
    fn answer(&self, page: &mut TextPage) {
        page.raw(&self.essential());
    }

    /// Renders what failed although the command has an answer, for stderr; `--quiet` shows it too.
    fn failures(&self, _page: &mut TextPage) {}

    /// Renders everything else a person should know, for stderr.
    fn remarks(&self, _page: &mut TextPage) {}

    /// Returns what the command has changed, in words, for the case that stdout is closed or full; `None` if nothing.
    fn already_done(&self) -> Option<String> {
        None
    }
}

/// The JSON form of a report: its format first, then its fields.
#[derive(Serialize)]
pub(crate) struct ReportDocument<'a, R: Report> {
    pub(crate) format: &'static str,
    #[serde(flatten)]
    pub(crate) report: &'a R,
}
