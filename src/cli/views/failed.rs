//! Failures of single items where a command works on several, and damaged files of the store.

use std::fmt::Display;

use serde::Serialize;

use crate::cli::error::Failure;
use crate::cli::style::Style;
use crate::cli::text_page::TextPage;
use ckpt_model::Handle;

/// One item that failed: in JSON, the failure's own document with the item in front.
#[derive(Debug, Serialize)]
pub(crate) struct FailedItem {
    pub(crate) item: String,
    #[serde(flatten)]
    pub(crate) failure: Failure,
}

impl FailedItem {
    pub(crate) fn new(item: impl Display, failure: impl Into<Failure>) -> Self {
        Self { item: item.to_string(), failure: failure.into() }
    }

    /// Renders all of them. Help that is the same for several in a row comes once, behind the last of them.
    pub(crate) fn render(failures: &[Self], page: &mut TextPage) {
        for (index, Self { item, failure }) in failures.iter().enumerate() {
            page.labelled(Style::Bad, "failed:", &format!("{item}: {}", failure.message));
            if failures.get(index + 1).is_none_or(|next| next.failure.help != failure.help) {
                page.help(&failure.help);
            }
        }
    }
}

/// A file of the store that cannot be used.
#[derive(Debug, Serialize)]
pub(crate) struct DamagedFile {
    pub(crate) path: String,
    pub(crate) code: &'static str,
    pub(crate) message: String,
    /// The checkpoint it should be.
    pub(crate) handle: Option<Handle>,
}

impl DamagedFile {
    pub(crate) fn render(damaged: &[Self], page: &mut TextPage) {
        for Self { path, message, .. } in damaged {
            page.labelled(Style::Bad, "damaged:", &format!("{path} {message}"));
        }
    }
}
