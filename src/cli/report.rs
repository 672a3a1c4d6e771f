//! What a command answers.

use serde::Serialize;

use super::page::Page;

/// The answer of a command: JSON by serialisation, text by its view.
pub(crate) trait Report: Serialize {
    /// The name and version of its JSON form.
    const FORMAT: &'static str;

    /// The essential value, for `--quiet`.
    fn essential(&self) -> String;

    /// The answer, for stdout.
    fn answer(&self, page: &mut Page);

    /// What did not work out although the command has an answer, for stderr. Whoever asked for quiet hears it too.
    fn failures(&self, _page: &mut Page) {}

    /// The conversation, for stderr.
    fn remarks(&self, _page: &mut Page) {}

    /// What has happened already, if stdout turns out to be closed or full. `None`: nothing has.
    fn already_done(&self) -> Option<String> {
        None
    }
}

/// The JSON form of a report: its format first, then its fields.
#[derive(Serialize)]
pub(crate) struct Document<'a, R: Report> {
    pub(crate) format: &'static str,
    #[serde(flatten)]
    pub(crate) report: &'a R,
}
