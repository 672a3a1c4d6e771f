//! What could not be done where several things were asked for.

use serde::Serialize;

use crate::cli::error::{ErrorCode, Failure};
use crate::cli::page::Page;
use crate::cli::style::Style;

/// One thing that was not done, and why.
#[derive(Debug, Serialize)]
pub(crate) struct Failed {
    item: String,
    code: ErrorCode,
    message: String,
    help: Vec<String>,
}

impl Failed {
    pub(crate) fn new(item: &impl ToString, failure: &Failure) -> Self {
        Self {
            item: item.to_string(),
            code: failure.code,
            message: failure.message.clone(),
            help: failure.help.clone(),
        }
    }

    /// Says all of them. What helps several in a row is said behind the last of them.
    pub(crate) fn render(failures: &[Self], page: &mut Page) {
        for (index, Self { item, message, help, .. }) in failures.iter().enumerate() {
            let label = page.paint(Style::Bad, "failed:");
            page.line(format!("{label} {}: {}", page.foreign(item), page.foreign(message)));
            if failures.get(index + 1).is_some_and(|next| next.help == *help) {
                continue;
            }
            for line in help {
                page.line(format!("  help: {}", page.foreign(line)));
            }
        }
    }
}
