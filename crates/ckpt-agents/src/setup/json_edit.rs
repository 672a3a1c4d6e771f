//! Editing JSON in place: order, comments, indentation and everything that is not ours stay as they are.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstRootNode};
use serde_json::Value;

use super::hooks::{Hook, is_ours};

const BYTE_ORDER_MARK: &str = "\u{feff}";

/// Texts in an array of an object at the top: `permissions.allow`.
pub(super) struct Elements {
    pub(super) object: &'static str,
    pub(super) array: &'static str,
    pub(super) texts: &'static [&'static str],
}

/// A text in an object at the top: `env.NAME`.
pub(super) struct Member {
    pub(super) object: &'static str,
    pub(super) name: &'static str,
    pub(super) value: &'static str,
}

/// Returns the text with these hooks. An existing one in another form is replaced in place: hosts remember their trust
/// in the hooks of others by position. Ours that are not wanted any more are taken out.
pub(super) fn with_hooks(text: &str, hooks: &[Hook]) -> Result<String, String> {
    edit(text, |root| {
        let wanted: Vec<&str> = hooks.iter().map(|hook| hook.event).collect();
        if let Some(all) = object(root, "hooks")? {
            for event in all.properties() {
                let name = event.decoded_name().unwrap_or_default();
                if !wanted.contains(&name.as_str()) {
                    remove_ours(&all, &name)?;
                }
            }
        }
        let all = object_or_new(root, "hooks")?;
        for hook in hooks {
            let groups = array_or_new(&all, hook.event)?;
            let group = hook.group();
            let ours: Vec<CstObject> = groups
                .elements()
                .into_iter()
                .filter_map(|group| group.as_object())
                .filter(|group| handlers(group).iter().any(is_our_handler))
                .collect();
            match ours.as_slice() {
                [] => append(&groups, &group),
                [one] if value_of(&one.to_string()).as_ref() == Some(&group) => {}
                [one, more @ ..] => {
                    more.iter().for_each(remove_our_handlers);
                    if handlers(one).iter().all(is_our_handler) {
                        drop(one.clone().replace_with(input(&group)));
                    } else {
                        remove_our_handlers(one);
                        append(&groups, &group);
                    }
                }
            }
        }
        Ok(())
    })
}

/// Returns the text without our hooks, and without what they leave empty.
pub(super) fn without_hooks(text: &str) -> Result<String, String> {
    edit(text, |root| {
        let Some(all) = object(root, "hooks")? else { return Ok(()) };
        let mut has_changed = false;
        for event in all.properties() {
            has_changed |= remove_ours(&all, &event.decoded_name().unwrap_or_default())?;
        }
        if has_changed && all.properties().is_empty() {
            remove_member(root, "hooks");
        }
        Ok(())
    })
}

/// Returns the text with these elements, after the existing ones.
pub(super) fn with_elements(text: &str, elements: &Elements) -> Result<String, String> {
    edit(text, |root| {
        let array = array_or_new(&object_or_new(root, elements.object)?, elements.array)?;
        let present: Vec<Option<String>> = array.elements().iter().map(text_of).collect();
        for text in elements.texts {
            if !present.contains(&Some((*text).to_owned())) {
                array.append(CstInputValue::String((*text).to_owned()));
            }
        }
        Ok(())
    })
}

/// Returns the text without these elements, and without what they leave empty.
pub(super) fn without_elements(text: &str, elements: &Elements) -> Result<String, String> {
    edit(text, |root| {
        let Some(object) = object(root, elements.object)? else { return Ok(()) };
        let Some(array) = array(&object, elements.array)? else { return Ok(()) };
        let is_ours = |element: &CstNode| text_of(element).is_some_and(|text| elements.texts.contains(&text.as_str()));
        let ours: Vec<CstNode> = array.elements().into_iter().filter(is_ours).collect();
        if ours.is_empty() {
            return Ok(());
        }
        ours.into_iter().for_each(CstNode::remove);
        if array.elements().is_empty() {
            remove_member(&object, elements.array);
        }
        if object.properties().is_empty() {
            remove_member(root, elements.object);
        }
        Ok(())
    })
}

/// Returns the text with this member. Another value is left: somebody has chosen it.
pub(super) fn with_member(text: &str, member: &Member) -> Result<String, String> {
    edit(text, |root| {
        let object = object_or_new(root, member.object)?;
        if single(&object, member.name)?.is_none() {
            object.append(member.name, CstInputValue::String(member.value.to_owned()));
        }
        Ok(())
    })
}

/// Returns the text without this member, and without the object that it leaves empty.
pub(super) fn without_member(text: &str, member: &Member) -> Result<String, String> {
    edit(text, |root| {
        let Some(object) = object(root, member.object)? else { return Ok(()) };
        let value = single(&object, member.name)?.and_then(|value| text_of(&value));
        if value.as_deref() == Some(member.value) {
            remove_member(&object, member.name);
            if object.properties().is_empty() {
                remove_member(root, member.object);
            }
        }
        Ok(())
    })
}

/// Returns true if a text is an object without members.
pub(super) fn is_empty_object(text: &str) -> bool {
    value_of(text).is_some_and(|value| value.as_object().is_some_and(serde_json::Map::is_empty))
}

/// Returns our hooks in a text by event, with the group of each. `None` if it cannot be read.
pub(super) fn our_hooks(text: &str) -> Option<Vec<(String, Value)>> {
    let root = parse(text).ok()?.object_value()?;
    let mut found = Vec::new();
    for event in root.object_value("hooks").iter().flat_map(CstObject::properties) {
        for group in event.array_value().iter().flat_map(CstArray::elements).filter_map(|group| group.as_object()) {
            if handlers(&group).iter().any(is_our_handler) {
                found.push((event.decoded_name()?, value_of(&group.to_string()).unwrap_or_default()));
            }
        }
    }
    Some(found)
}

/// Edits the object at the top of a text; an empty text gets one.
fn edit(text: &str, change: impl FnOnce(&CstObject) -> Result<(), String>) -> Result<String, String> {
    let (mark, text) = match text.strip_prefix(BYTE_ORDER_MARK) {
        Some(text) => (BYTE_ORDER_MARK, text),
        None => ("", text),
    };
    let root = parse(text)?;
    let is_new = root.value().is_none();
    let object = root.object_value_or_create().ok_or("there is no object at its top")?;
    change(&object)?;
    let end = if is_new && !root.to_string().ends_with('\n') { "\n" } else { "" };
    Ok(format!("{mark}{root}{end}"))
}

/// Comments and commas at the end are read, because some hosts read them; nothing else that is not JSON.
fn parse(text: &str) -> Result<CstRootNode, String> {
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    CstRootNode::parse(text, &options).map_err(|error| error.to_string())
}

/// Returns the value of a member that must not occur twice: hosts use one of them, and do not say which.
fn single(object: &CstObject, name: &str) -> Result<Option<CstNode>, String> {
    let mut found = object.properties().into_iter().filter(|member| member.decoded_name().as_deref() == Some(name));
    let first = found.next();
    if found.next().is_some() {
        return Err(format!("`{name}` is there twice"));
    }
    Ok(first.and_then(|member| member.value()))
}

fn object(parent: &CstObject, name: &str) -> Result<Option<CstObject>, String> {
    match single(parent, name)? {
        None => Ok(None),
        Some(value) => value.as_object().map(Some).ok_or_else(|| format!("`{name}` is not an object")),
    }
}

fn array(parent: &CstObject, name: &str) -> Result<Option<CstArray>, String> {
    match single(parent, name)? {
        None => Ok(None),
        Some(value) => value.as_array().map(Some).ok_or_else(|| format!("`{name}` is not an array")),
    }
}

fn object_or_new(parent: &CstObject, name: &str) -> Result<CstObject, String> {
    Ok(object(parent, name)?.unwrap_or_else(|| parent.object_value_or_set(name)))
}

fn array_or_new(parent: &CstObject, name: &str) -> Result<CstArray, String> {
    Ok(array(parent, name)?.unwrap_or_else(|| parent.array_value_or_set(name)))
}

/// Adds an element after the others. An array in one line stays in one line: a break that is not ours would be left when the
/// element is taken out again.
fn append(array: &CstArray, value: &Value) {
    let is_one_line = !array.children().iter().any(|child| child.is_newline() || child.is_comment());
    let element = if is_one_line && !array.elements().is_empty() {
        // The one kind of input that is inserted as it is written.
        CstInputValue::Number(value.to_string())
    } else {
        input(value)
    };
    array.append(element);
}

fn remove_member(object: &CstObject, name: &str) {
    if let Some(member) = object.get(name) {
        member.remove();
    }
}

/// Takes our handlers out of the groups of an event; true if there were some.
fn remove_ours(all: &CstObject, event: &str) -> Result<bool, String> {
    let Some(groups) = array(all, event)? else { return Ok(false) };
    let with_ours: Vec<CstObject> = groups
        .elements()
        .into_iter()
        .filter_map(|group| group.as_object())
        .filter(|group| handlers(group).iter().any(is_our_handler))
        .collect();
    with_ours.iter().for_each(remove_our_handlers);
    if !with_ours.is_empty() && groups.elements().is_empty() {
        remove_member(all, event);
    }
    Ok(!with_ours.is_empty())
}

/// Takes our handlers out of a group, or the whole group if it has no others.
fn remove_our_handlers(group: &CstObject) {
    let all = handlers(group);
    if all.iter().all(is_our_handler) {
        group.clone().remove();
        return;
    }
    all.into_iter().filter(is_our_handler).for_each(CstNode::remove);
}

fn handlers(group: &CstObject) -> Vec<CstNode> {
    group.array_value("hooks").map(|handlers| handlers.elements()).unwrap_or_default()
}

fn is_our_handler(handler: &CstNode) -> bool {
    let command = handler.as_object().and_then(|handler| handler.get("command")).and_then(|member| member.value());
    command.and_then(|command| text_of(&command)).is_some_and(|command| is_ours(&command))
}

fn text_of(node: &CstNode) -> Option<String> {
    node.as_string_lit()?.decoded_value().ok()
}

fn value_of(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok()
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(value) => CstInputValue::Number(value.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(elements) => CstInputValue::Array(elements.iter().map(input).collect()),
        Value::Object(members) => {
            CstInputValue::Object(members.iter().map(|(name, value)| (name.clone(), input(value))).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hosts::Host;
    use crate::setup::hooks::wanted_hooks;

    const FILES: [&str; 10] = [
        "{}",
        "{}\n",
        "{\n  \"model\": \"x\"\n}\n",
        "{\n    // mine\n    \"model\": \"x\", /* really */\n    \"hooks\": {\n        \"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"bell\"}]}]\n    },\n    \"z\": [1, 2]\n}\n",
        "{\"hooks\":{\"SessionStart\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"mine\"}]}]},\"permissions\":{\"allow\":[\"Bash(ls:*)\"],\"deny\":[]}}",
        "{\r\n\t\"env\": {\r\n\t\t\"A\": \"1\"\r\n\t}\r\n}\r\n",
        "{\n  \"a\": 1,\n  \"permissions\": {\n    \"allow\": [\n      \"Read\"\n    ]\n  },\n}\n",
        "\u{feff}{\n  \"a\": 1\n}\n",
        "{\n  \"hooks\": {\n    \"SessionStart\": [ {\"hooks\": []} , {\"hooks\": [{\"command\": \"a\"}]} ],\n    \"Stop\": [\n      {\"hooks\": []} // mine\n    ]\n  }\n}\n",
        "{\n  \"hooks\": {\n    \"SessionEnd\": [{\n      \"hooks\": [{\"command\": \"a\"}]\n    }],\n    \"AfterAgent\": [{}]\n  }\n}\n",
    ];

    fn strict(text: &str) -> Value {
        let text = text.trim_start_matches(BYTE_ORDER_MARK);
        jsonc_parser::cst::CstRootNode::parse(text, &ParseOptions::default()).unwrap();
        let without_comments = text.replace("// mine", "").replace("/* really */", "").replace("},\n}", "}\n}");
        serde_json::from_str(&without_comments).unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    /// A file in one line gets others when something is added, and keeps them. `apply` restores the bytes anyway.
    fn assert_same(text: &str, file: &str) {
        if file.lines().count() > 1 || file.len() < 5 {
            assert_eq!(text, file);
        } else {
            assert_eq!(strict(text), strict(file));
        }
    }

    #[test]
    fn hooks_are_added_once_and_taken_out_again() {
        for host in Host::ALL {
            let hooks = wanted_hooks(host);
            for file in FILES {
                let with = with_hooks(file, &hooks).unwrap();
                let value = strict(&with);
                for hook in &hooks {
                    let groups = value["hooks"][hook.event].as_array().unwrap();
                    assert_eq!(groups.last(), Some(&hook.group()), "{with}");
                }
                assert_eq!(with_hooks(&with, &hooks).unwrap(), with);
                assert_same(&without_hooks(&with).unwrap(), file);
            }
        }
    }

    #[test]
    fn what_others_wrote_stays_where_it_is() {
        let hooks = wanted_hooks(Host::Codex);
        let mut text =
            with_hooks("{\"hooks\": {\"SessionStart\": [{\"hooks\": [{\"command\": \"a\"}]}]}}", &hooks).unwrap();
        text = text.replacen("\"command\": \"a\"", "\"command\": \"{ ckpt hook codex SessionStart --old; }\"", 1);
        let ours = value_of(&text).unwrap()["hooks"]["SessionStart"].clone();
        assert_eq!(ours.as_array().unwrap().len(), 2);
        let mended = value_of(&with_hooks(&text, &hooks).unwrap()).unwrap();
        assert_eq!(mended["hooks"]["SessionStart"], serde_json::json!([hooks[0].group()]));
        let mixed = "{\"hooks\": {\"SessionStart\": [{\"hooks\": [{\"command\": \"ckpt hook codex x\"}, {\"command\": \"b\"}]}, {\"hooks\": [{\"command\": \"c\"}]}]}}";
        let kept = value_of(&without_hooks(mixed).unwrap()).unwrap();
        assert_eq!(
            kept["hooks"]["SessionStart"],
            serde_json::json!([{"hooks": [{"command": "b"}]}, {"hooks": [{"command": "c"}]}])
        );
    }

    #[test]
    fn a_hook_of_an_event_that_is_no_longer_wanted_goes() {
        let with = |event: &str| {
            let old =
                format!(r#"{{"hooks": {{"{event}": [{{"hooks": [{{"command": "ckpt hook claude {event}"}}]}}]}}}}"#);
            value_of(&with_hooks(&old, &wanted_hooks(Host::Claude)).unwrap()).unwrap()["hooks"].get(event).cloned()
        };
        assert_eq!(with("Notification"), None);
        assert!(with("Stop").is_some(), "the hook of the gate");
    }

    #[test]
    fn elements_and_members_are_added_once_and_taken_out_again() {
        let elements = Elements { object: "permissions", array: "allow", texts: &["Bash(ckpt:*)", "mcp__ckpt"] };
        let member = Member { object: "env", name: "PLAN", value: "1" };
        for file in FILES {
            let with = with_member(&with_elements(file, &elements).unwrap(), &member).unwrap();
            let value = strict(&with);
            assert_eq!(value["env"]["PLAN"], "1", "{with}");
            assert!(value["permissions"]["allow"].as_array().unwrap().contains(&"mcp__ckpt".into()), "{with}");
            assert_eq!(with_member(&with_elements(&with, &elements).unwrap(), &member).unwrap(), with);
            let without = without_elements(&without_member(&with, &member).unwrap(), &elements).unwrap();
            assert_same(&without, file);
        }
        assert_eq!(with_member("{\"env\":{\"PLAN\":\"0\"}}", &member).unwrap(), "{\"env\":{\"PLAN\":\"0\"}}");
    }

    #[test]
    fn what_is_not_clear_is_refused() {
        let hooks = wanted_hooks(Host::Claude);
        for text in [
            "[]",
            "7",
            "{",
            "{\"hooks\": []}",
            "{\"hooks\": {}, \"hooks\": {}}",
            "{'a': 1}",
            "{a: 1}",
            "{\"hooks\": {\"SessionStart\": {}}}",
        ] {
            assert!(with_hooks(text, &hooks).is_err(), "{text}");
        }
        assert!(!is_empty_object("{\"a\": 1}") && is_empty_object(" { } "));
    }
}
