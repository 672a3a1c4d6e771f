//! Many pages in one file: one part each, shown by its link. Without a target the first part is shown; printed, all are.

use maud::{Markup, html};

/// One part of a file.
pub(crate) struct Part {
    /// Its name, which links lead to.
    pub(crate) name: String,
    pub(crate) content: Markup,
}

/// Renders the parts.
pub(crate) fn file(parts: &[Part]) -> Markup {
    html! {
        @for part in parts { article.part id=(part.name) { (part.content) } }
    }
}
