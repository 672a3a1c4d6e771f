//! `docs/reference/json.md` has a section for every JSON document, with a table of its members.
//!
//! The tables are made from the schemas; `docs::console` compares them, and writes them with `UPDATE_DOCS=1`.

use serde_json::Value;

use ckpt::pages::{Page, generate};

/// The page that is generated in part.
pub(super) const PAGE: &str = "docs/reference/json.md";

const BEGIN: &str = "members of";

/// The type of a value in words: `string or null`, `list of objects (`id`, `status`)`.
fn type_of(schema: &Value) -> String {
    if let Some(value) = schema.get("const") {
        return format!("`{value}`");
    }
    if let Some(values) = schema["enum"].as_array() {
        let words: Vec<String> = values.iter().map(|value| format!("`{value}`")).collect();
        return words.join(", ");
    }
    if let Some(reference) = schema["$ref"].as_str() {
        return reference.rsplit('/').next().unwrap_or_default().to_owned();
    }
    if let Some(choices) = ["anyOf", "oneOf"].iter().find_map(|key| schema[*key].as_array()) {
        return choices.iter().map(type_of).collect::<Vec<_>>().join(" or ");
    }
    let words = match &schema["type"] {
        Value::String(word) => vec![word.as_str()],
        Value::Array(words) => words.iter().filter_map(Value::as_str).collect(),
        _ => return "any".to_owned(),
    };
    let describe = |word: &str| match word {
        "array" => format!("list of {}", type_of(&schema["items"])),
        "object" => match schema["properties"].as_object() {
            Some(members) => {
                let names: Vec<String> = members.keys().map(|name| format!("`{name}`")).collect();
                format!("object ({})", names.join(", "))
            }
            None => "object".to_owned(),
        },
        word => word.to_owned(),
    };
    words.into_iter().map(describe).collect::<Vec<_>>().join(" or ")
}

fn table(name: &str) -> String {
    let schema = ckpt_model::schema::find(name).expect("a schema");
    let schema: Value = serde_json::from_str(schema.text).unwrap();
    let mut table = "| member | type | meaning |\n|---|---|---|\n".to_owned();
    for (member, value) in schema["properties"].as_object().unwrap() {
        let meaning = value["description"].as_str().unwrap_or_default();
        let row = format!("`{member}` | {} | {meaning}", type_of(value).replace('|', "\\|"));
        table.push_str(&format!("| {} |\n", row.trim_end()));
    }
    table
}

/// Returns the text of the page with the tables of today.
pub(super) fn with_tables(text: &str) -> String {
    generate(text, BEGIN, table)
}

#[test]
fn every_document_has_a_section_with_its_table() {
    let page = Page::load(PAGE);
    for schema in ckpt_model::schema::ALL {
        let section = page.section(&format!("## {}", schema.name));
        assert!(section.contains(&format!("<!-- {BEGIN} {} -->\n", schema.name)), "{}", schema.name);
        assert!(page.text.contains(&format!("| [`{}`](#", schema.name)), "{}", schema.name);
    }
}
