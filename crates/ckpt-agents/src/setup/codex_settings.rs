//! The switch of the plan tool in `config.toml` of Codex. A comment says whose it is, so that only ours is taken out.

use toml_edit::{DocumentMut, Item, Table, TableLike, value};

const COMMENT: &str = "# by `ckpt setup codex --plan`\n";

/// Returns the text with the plan tool switched on.
///
/// # Errors
/// The text is not valid TOML, or has something else in that place.
pub(super) fn with_plan_tool(text: &str) -> Result<String, String> {
    let mut document = parse(text)?;
    let tools = document.entry("tools").or_insert_with(|| {
        let mut tools = Table::new();
        tools.set_implicit(true);
        Item::Table(tools)
    });
    let tools = tools.as_table_like_mut().ok_or("`tools` is not a table")?;
    let is_new = tools.get("update_plan").is_none();
    let tool = tools.entry("update_plan").or_insert_with(|| Item::Table(Table::new()));
    if is_new && let Item::Table(table) = tool {
        table.decor_mut().set_prefix(if text.is_empty() { COMMENT.to_owned() } else { format!("\n{COMMENT}") });
    }
    let tool = tool.as_table_like_mut().ok_or("`tools.update_plan` is not a table")?;
    if tool.get("enabled").and_then(Item::as_bool) != Some(true) {
        tool.insert("enabled", value(true));
    }
    Ok(document.to_string())
}

/// Returns the text without the switch, if it is ours.
///
/// # Errors
/// The text is not valid TOML.
pub(super) fn without_plan_tool(text: &str) -> Result<String, String> {
    let mut document = parse(text)?;
    let Some(tools) = document.get_mut("tools").and_then(Item::as_table_mut) else {
        return Ok(text.to_owned());
    };
    let is_ours = |tool: &Table| {
        let prefix = tool.decor().prefix().and_then(toml_edit::RawString::as_str);
        prefix.is_some_and(|prefix| prefix.contains(COMMENT)) && tool.len() == 1
    };
    if !tools.get("update_plan").and_then(Item::as_table).is_some_and(is_ours) {
        return Ok(text.to_owned());
    }
    tools.remove("update_plan");
    if TableLike::is_empty(tools) && tools.is_implicit() {
        document.remove("tools");
    }
    Ok(document.to_string())
}

fn parse(text: &str) -> Result<DocumentMut, String> {
    text.parse().map_err(|error: toml_edit::TomlError| error.to_string().trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_switch_is_added_and_taken_out_without_a_trace() {
        for text in [
            "",
            "model = \"x\" # mine\n",
            "# top\n[features]\nhooks = true\n\n[tools]\nweb_search = true\n",
            "[tools.other]\na = 1\n",
            "[projects.\"/a b\"]\ntrust_level = \"trusted\"\n# end\n",
        ] {
            let switched = with_plan_tool(text).unwrap();
            let parsed: toml::Table = switched.parse().unwrap();
            assert_eq!(parsed["tools"]["update_plan"]["enabled"].as_bool(), Some(true), "{switched}");
            assert_eq!(with_plan_tool(&switched).unwrap(), switched);
            assert_eq!(without_plan_tool(&switched).unwrap(), text);
        }
    }

    #[test]
    fn a_switch_of_the_user_stays() {
        let theirs = "[tools.update_plan]\nenabled = true\n";
        assert_eq!(with_plan_tool(theirs).unwrap(), theirs);
        assert_eq!(without_plan_tool(theirs).unwrap(), theirs);
        assert!(with_plan_tool("tools = 1").is_err());
        assert!(with_plan_tool("[[[").is_err());
    }
}
