//! The answer of `ckpt remote`.

use serde::Serialize;

use crate::cli::answer::Report;
use crate::cli::text_page::TextPage;
use ckpt_model::config::PushMode;
use ckpt_sync::transports::RemoteUrl;

/// The change that was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Action {
    Shown,
    Added,
    Checked,
    Removed,
}

#[derive(Debug, Serialize)]
pub(crate) struct RemoteReport {
    /// The address of the remote; none if there is none.
    remote: Option<String>,
    /// Where the address was found: `store`, `user` or `CKPT_REMOTE`.
    source: Option<&'static str>,
    /// When checkpoints are pushed without being asked for.
    push: Option<PushMode>,
    action: Action,
    /// True if the remote was empty.
    new: bool,
    warnings: Vec<String>,
}

impl RemoteReport {
    pub(crate) fn none() -> Self {
        Self { remote: None, source: None, push: None, action: Action::Shown, new: false, warnings: Vec::new() }
    }

    pub(crate) fn shown(url: &RemoteUrl, source: &'static str, push: PushMode) -> Self {
        Self { remote: Some(url.to_string()), source: Some(source), push: Some(push), ..Self::none() }
    }

    pub(crate) fn added(url: &RemoteUrl, new: bool) -> Self {
        Self { remote: Some(url.to_string()), source: Some("store"), action: Action::Added, new, ..Self::none() }
    }

    pub(crate) fn checked(url: &RemoteUrl, new: bool) -> Self {
        Self { remote: Some(url.to_string()), action: Action::Checked, new, ..Self::none() }
    }

    pub(crate) fn removed(url: &str) -> Self {
        Self { remote: Some(url.to_owned()), action: Action::Removed, ..Self::none() }
    }
}

impl Report for RemoteReport {
    const FORMAT: &'static str = "ckpt.remote.v1";

    fn essential(&self) -> String {
        self.remote.iter().map(|remote| format!("{remote}\n")).collect()
    }

    fn answer(&self, page: &mut TextPage) {
        let remote = self.remote.as_ref().map(|remote| page.escape(remote)).unwrap_or_default();
        match self.action {
            _ if self.remote.is_none() => page.line("No remote is set up"),
            Action::Shown => page.line(format!("{remote} ({})", self.source.unwrap_or_default())),
            Action::Added => page.line(format!("Added the remote {remote}")),
            Action::Checked => page.line(format!("{remote} does what a remote must")),
            Action::Removed => page.line(format!("Removed the remote {remote} from the settings")),
        }
    }

    fn remarks(&self, page: &mut TextPage) {
        match self.action {
            Action::Added if self.new => page.line("It was empty; `ckpt push` copies all workflows to it"),
            Action::Added => page.line("It holds workflows already; `ckpt sync` exchanges them"),
            Action::Removed => page.line("What it holds was left as it is"),
            Action::Shown => {
                if let Some(push) = self.push {
                    page.line(match push {
                        PushMode::Manual => "Checkpoints are pushed by `ckpt push` and `ckpt sync`",
                        PushMode::End => "Checkpoints are pushed when a phase or a workflow ends",
                        PushMode::Always => "Checkpoints are pushed with every save",
                    });
                }
            }
            Action::Checked => {}
        }
    }

    fn already_done(&self) -> Option<String> {
        match self.action {
            Action::Added => Some("added the remote".to_owned()),
            Action::Removed => Some("removed the remote".to_owned()),
            Action::Shown | Action::Checked => None,
        }
    }
}
