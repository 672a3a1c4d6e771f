//! The remote in the settings of a store, edited in place: comments, order and layout stay.

use ckpt_model::config::PushMode;
use toml_edit::{DocumentMut, Item, Table, value};

/// Returns the settings with this remote, and when it is pushed to.
///
/// # Errors
/// The text is not TOML, or `remote` is no table.
pub fn with_remote(text: &str, url: &str, push: Option<PushMode>) -> Result<String, String> {
    let mut document = parse(text)?;
    let remote = document.entry("remote").or_insert(Item::Table(Table::new()));
    let table = remote.as_table_like_mut().ok_or("`remote` is not a table")?;
    table.insert("url", value(url));
    if let Some(push) = push {
        table.insert("push", value(push.word()));
    }
    Ok(document.to_string())
}

/// Returns the settings without a remote.
///
/// # Errors
/// The text is not TOML.
pub fn without_remote(text: &str) -> Result<String, String> {
    let mut document = parse(text)?;
    document.remove("remote");
    Ok(document.to_string())
}

fn parse(text: &str) -> Result<DocumentMut, String> {
    text.parse().map_err(|error: toml_edit::TomlError| error.to_string().trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remote_comes_and_goes_and_the_rest_stays() {
        for text in ["", "# mine\n[save]\nauto_cleanup = false\n", "[remote]\npush = \"end\" # often\n"] {
            let with = with_remote(text, "git:origin", Some(PushMode::End)).unwrap();
            let parsed: toml::Table = with.parse().unwrap();
            assert_eq!(parsed["remote"]["url"].as_str(), Some("git:origin"), "{with}");
            let without: toml::Table = without_remote(&with).unwrap().parse().unwrap();
            assert!(!without.contains_key("remote") && without.contains_key("save") == text.contains("save"));
        }
        assert!(with_remote("remote = 1", "git:origin", None).is_err());
    }
}
