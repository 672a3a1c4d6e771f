//! Markdown as data: its front matter, its check boxes, its tables, and lines such as `**Phase:** 2 of 5`.
//!
//! The value is an object with the members of the front matter, a member for each line with a key, `checklist` with the
//! check boxes below each heading, `table` with the rows of the first table that has a column for the status, and the text
//! itself as `markdown`.

use serde_json::{Map, Value};

use super::checklist::{Mark, check_box};

/// The member with the text below the front matter.
pub(super) const TEXT: &str = "markdown";
/// The member with the check boxes: an array, or an object from headings to arrays.
const CHECKLIST: &str = "checklist";
/// The member with the rows of a table, each an object.
const TABLE: &str = "table";
/// The most words in the key of a line.
const MAX_KEY_WORDS: usize = 3;

/// Splits a text that begins with front matter into that and the text below it; `None` if it has none.
pub(super) fn split_front_matter(text: &str) -> Option<(&str, &str)> {
    let rest = text.trim_start().strip_prefix("---")?;
    let (first_line, inner) = rest.split_once('\n')?;
    if !first_line.trim().is_empty() {
        return None;
    }
    let mut end = 0;
    for line in inner.split_inclusive('\n') {
        if line.trim_end() == "---" {
            let below = &inner[end + line.len()..];
            return (!below.trim().is_empty()).then_some((&inner[..end], below));
        }
        end += line.len();
    }
    None
}

/// True if a text that is no YAML object has the signs of Markdown: a heading, a check box or emphasis.
pub(super) fn is_markdown(text: &str) -> bool {
    let mut lines = text.trim_start().lines().map(str::trim);
    // `# x` at the beginning is a title only if it stands alone; in YAML it is a comment.
    let mut first = lines.clone().take(2);
    let begins_with_title =
        first.next().is_some_and(|line| heading(line).is_some()) && first.next().is_none_or(str::is_empty);
    begins_with_title
        || lines.any(|line| ["## ", "### ", "**"].iter().any(|sign| line.starts_with(sign)) || boxed(line).is_some())
}

/// Returns the members of the front matter together with what the text below it says.
pub(super) fn to_object(mut members: Map<String, Value>, text: &str) -> Map<String, Value> {
    let mut checklist: Map<String, Value> = Map::new();
    let mut title = String::new();
    let mut in_code = false;
    for line in text.lines().map(str::trim) {
        if line.starts_with("```") || line.starts_with("~~~") {
            in_code = !in_code;
        } else if in_code {
        } else if let Some(text) = heading(line) {
            text.clone_into(&mut title);
        } else if let Some((mark, text)) = boxed(line) {
            let list = checklist.entry(title.clone()).or_insert_with(|| Value::Array(Vec::new()));
            list.as_array_mut()
                .into_iter()
                .for_each(|list| list.push(format!("{} {}", mark.sign(), plain(text)).into()));
        } else if let Some((key, value)) = key_line(line)
            && !members.contains_key(key)
        {
            members.insert(key.to_owned(), value.into());
        }
    }
    if !checklist.is_empty() && !members.contains_key(CHECKLIST) {
        let only = if checklist.len() == 1 { checklist.values_mut().next().map(Value::take) } else { None };
        members.insert(CHECKLIST.to_owned(), only.unwrap_or(checklist.into()));
    }
    if let Some(rows) = status_table(text)
        && !members.contains_key(TABLE)
    {
        members.insert(TABLE.to_owned(), rows);
    }
    members.insert(TEXT.to_owned(), text.into());
    members
}

/// Returns the rows of the first table with a column for the status.
fn status_table(text: &str) -> Option<Value> {
    let cells = |line: &str| -> Option<Vec<String>> {
        let inner = line.trim().strip_prefix('|')?.trim_end_matches('|');
        Some(inner.split('|').map(|cell| plain(cell).trim().to_owned()).collect())
    };
    let lines: Vec<&str> = text.lines().collect();
    let is_rule = |line: &str| line.contains("--") && line.chars().all(|c| matches!(c, '|' | '-' | ':' | ' '));
    let start = lines.windows(2).position(|pair| {
        let names = cells(pair[0]).unwrap_or_default();
        let has_status = names.iter().any(|name| name.eq_ignore_ascii_case("status"));
        names.len() > 1 && has_status && is_rule(pair[1].trim())
    })?;
    let names = cells(lines[start])?;
    let rows = lines[start + 2..].iter().map_while(|line| cells(line));
    let object = |row: Vec<String>| -> Value {
        names.iter().cloned().zip(row).map(|(name, cell)| (name, Value::from(cell))).collect()
    };
    Some(rows.map(object).collect())
}

fn heading(line: &str) -> Option<&str> {
    let text = line.trim_start_matches('#');
    let level = line.len() - text.len();
    ((1..=6).contains(&level) && text.starts_with(' ')).then(|| text.trim())
}

/// Splits a line with a bullet and a check box.
fn boxed(line: &str) -> Option<(Mark, &str)> {
    check_box(line).filter(|(_, text)| !line.starts_with('[') && !text.is_empty())
}

fn plain(text: &str) -> String {
    text.replace("**", "").replace('`', "")
}

/// Splits `**Status:** done`, `- Status: done` or `Status: done` into key and value.
fn key_line(line: &str) -> Option<(&str, String)> {
    let line = line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")).unwrap_or(line).trim_start();
    let (key, value) = line.split_once(':')?;
    let key = key.trim().trim_matches('*').trim();
    let is_key = !key.is_empty()
        && key.split_whitespace().count() <= MAX_KEY_WORDS
        && key.chars().all(|c| c.is_alphanumeric() || matches!(c, ' ' | '_' | '-'));
    let value = plain(value.trim().trim_start_matches("**")).trim().to_owned();
    (is_key && !value.is_empty() && !value.starts_with("//")).then_some((key, value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn front_matter_is_split_off() {
        assert_eq!(split_front_matter("---\na: 1\n---\n# T\n"), Some(("a: 1\n", "# T\n")));
        for text in ["---\na: 1\n", "a: 1\n---\nb\n", "---\na: 1\n---\n", "--- x\na: 1\n---\nb"] {
            assert_eq!(split_front_matter(text), None, "{text}");
        }
    }

    #[test]
    fn lines_with_keys_and_check_boxes_become_members() {
        let text = "# Plan\n**Phase:** 2 of 5 (`build`)\n- Status: open\n```\nno: 1\n```\nSee https://x.y\n\n## A\n\
                    - [x] **one**\n1. [ ] two\n";
        let value = Value::from(to_object(Map::new(), text));
        assert_eq!(value["Phase"], "2 of 5 (build)");
        assert_eq!(value["Status"], "open");
        assert_eq!(value["checklist"], json!(["[x] one", "[ ] two"]));
        assert_eq!(value["markdown"], text);
        assert_eq!(value.as_object().unwrap().len(), 4);
        let two = Value::from(to_object(Map::new(), "## A\n- [x] a\n## B\n- [ ] b\n"));
        assert_eq!(two["checklist"], json!({"A": ["[x] a"], "B": ["[ ] b"]}));
    }

    #[test]
    fn markdown_has_signs_that_yaml_does_not() {
        for text in ["# Title\n\ntext", "text\n\n## Part\n", "- [ ] a", "**bold** text"] {
            assert!(is_markdown(text), "{text}");
        }
        for text in ["a: [1", "- a\n- b", "plain words", "# saved by a script\na: [1"] {
            assert!(!is_markdown(text), "{text}");
        }
    }
}
