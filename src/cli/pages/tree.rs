//! JSON as a foldable tree.

use maud::{Markup, html};
use serde_json::Value;

use super::parts::cut;

/// The most members that are shown of a document; the rest is counted.
const MAX_NODES: usize = 3000;
/// Deeper values are not shown.
const MAX_DEPTH: usize = 40;
/// Levels that are unfolded at first.
const OPEN_LEVELS: usize = 1;

/// Renders a value.
pub(super) fn tree(value: &Value) -> Markup {
    let mut left = MAX_NODES;
    let tree = html! { div.tree { (node(value, 0, &mut left)) } };
    if left > 0 {
        return tree;
    }
    html! { (tree) p.cut { "Only the first " (MAX_NODES) " values are shown." } }
}

fn node(value: &Value, depth: usize, left: &mut usize) -> Markup {
    match value {
        Value::Object(members) if !members.is_empty() => {
            let rows = members.iter().map(|(name, value)| (name.clone(), value));
            branch(rows, members.len(), "member", depth, left)
        }
        Value::Array(elements) if !elements.is_empty() => {
            let rows = elements.iter().enumerate().map(|(index, value)| (index.to_string(), value));
            branch(rows, elements.len(), "element", depth, left)
        }
        Value::Object(_) => html! { span.dim { "{}" } },
        Value::Array(_) => html! { span.dim { "[]" } },
        Value::String(text) => string(text),
        Value::Null => html! { span.dim { "null" } },
        other => html! { span.literal { (other.to_string()) } },
    }
}

fn branch<'v>(
    rows: impl Iterator<Item = (String, &'v Value)>,
    count: usize,
    noun: &str,
    depth: usize,
    left: &mut usize,
) -> Markup {
    if depth >= MAX_DEPTH {
        return html! { span.cut { "nested deeper" } };
    }
    let mut items = Vec::new();
    for (name, value) in rows {
        if *left == 0 {
            break;
        }
        *left -= 1;
        items.push(html! { li { span.name { (cut(&name)) } " " (node(value, depth + 1, left)) } });
    }
    html! {
        details open[depth < OPEN_LEVELS] {
            summary { span.dim { (crate::cli::words::count(count, noun)) } }
            ul { @for item in &items { (item) } }
        }
    }
}

/// Renders a text. It is a link if the whole of it is an address that begins with `https://`.
pub(super) fn string(text: &str) -> Markup {
    let is_address = text.strip_prefix("https://").is_some_and(|rest| {
        !rest.is_empty()
            && text.len() < 2000
            && text.bytes().all(|byte| byte.is_ascii_graphic() && !b"\"'<>`\\{}|^".contains(&byte))
    });
    if is_address {
        return html! { a href=(text) rel="noopener noreferrer" target="_blank" { (text) } };
    }
    html! { span.string { (cut(text)) } }
}
