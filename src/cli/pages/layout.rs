//! The document around a page: its head, its navigation, and the policy that a browser enforces.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::View;
use ckpt_model::digest::Digest;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// Returns the policy: this style and this script, and nothing else.
pub(crate) fn policy(is_live: bool) -> String {
    let hash = |text: &str| STANDARD.encode(Digest::of(text.as_bytes()).bytes());
    let rest = if is_live { "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; " } else { "" };
    format!(
        "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; img-src data:; {rest}base-uri 'none'",
        hash(STYLE),
        hash(SCRIPT)
    )
}

/// Returns the whole document of one page, or of several.
pub(crate) fn document(view: &View, title: &str, store: &str, main: &Markup) -> String {
    let live = view.links.is_live();
    let html = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="referrer" content="same-origin";
                meta name="color-scheme" content="light dark";
                @if !live { meta http-equiv="Content-Security-Policy" content=(policy(false)); }
                title { (title) " · ckpt" }
                link rel="icon" href="data:,";
                style { (PreEscaped(STYLE)) }
            }
            body data-live[live] {
                a.skip href="#main" { "Skip to the content" }
                header.bar {
                    span.brand { "ckpt" }
                    nav aria-label="Main" {
                        @if let Some(address) = view.links.workflows() { a href=(address) { "Workflows" } }
                        @if let Some(address) = view.links.analytics() { a href=(address) { "Analytics" } }
                    }
                    span.store title=(store) { (store) }
                    @if live { span #live role="status" aria-live="polite" {} }
                    @else { span { "as of " time datetime=(view.now) { (view.now) } } }
                }
                main #main tabindex="-1" { (main) }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    html.into_string()
}
