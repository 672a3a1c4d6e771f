//! The page of something that did not work.

use maud::{Markup, html};

use super::parts::{command, cut};

/// Renders a failure: its message, and the commands or advice that it comes with.
pub(crate) fn failure(title: &str, message: &str, help: &[String]) -> Markup {
    html! {
        header.head { h1 { (title) } }
        div.notice.bad role="alert" {
            p { (cut(message)) }
            @for line in help {
                @if line.starts_with("ckpt ") { p { (command(line)) } } @else { p { (cut(line)) } }
            }
        }
        p { a.button href="/" { "All workflows" } }
    }
}
