//! Reading a schema into its graph.

use std::collections::HashMap;

use percent_encoding::percent_decode_str;
use serde_json::Value;

use super::graph::Node;
use super::size::count;
use super::{UnusableSchema, pattern};
use crate::core::json::below;

/// The sizes of all patterns together.
const MAX_PATTERN_STATES: u64 = 20_000;
const MAX_PATTERN_RANGES: u64 = 100_000;

/// Reads all subschemas that the root applies, directly or through others. The first one is the root.
pub(super) fn nodes(root: &Value) -> Result<(Vec<Node>, Vec<String>), UnusableSchema> {
    let mut builder = Builder {
        root,
        anchors: Anchors::new(),
        subschemas: Vec::new(),
        index: HashMap::new(),
        pattern_states: 0,
        pattern_ranges: 0,
    };
    find_anchors(root, "", &mut builder.anchors);
    builder.add(root, String::new());
    let mut nodes = Vec::new();
    while nodes.len() < builder.subschemas.len() {
        nodes.push(builder.node(nodes.len())?);
    }
    let pointers = builder.subschemas.into_iter().map(|subschema| subschema.pointer).collect();
    Ok((nodes, pointers))
}

/// A subschema and where it is: below another one, or below the root by a reference.
struct Subschema<'a> {
    schema: &'a Value,
    pointer: String,
}

/// The schemas that have an anchor, with their JSON pointers; `None` if two have the same one.
type Anchors<'a> = HashMap<&'a str, Option<(&'a Value, String)>>;

struct Builder<'a> {
    root: &'a Value,
    anchors: Anchors<'a>,
    subschemas: Vec<Subschema<'a>>,
    /// The subschemas by their address.
    index: HashMap<*const Value, usize>,
    pattern_states: u64,
    pattern_ranges: u64,
}

impl<'a> Builder<'a> {
    /// Returns the index of a subschema, whose keywords may be yet to be read.
    fn add(&mut self, schema: &'a Value, pointer: String) -> usize {
        *self.index.entry(std::ptr::from_ref(schema)).or_insert_with(|| {
            self.subschemas.push(Subschema { schema, pointer });
            self.subschemas.len() - 1
        })
    }

    /// Returns the error of a subschema.
    fn refuse<T>(&self, index: usize, keyword: &str, reason: impl Into<String>) -> Result<T, UnusableSchema> {
        let pointer = &self.subschemas[index].pointer;
        let pointer = if keyword.is_empty() { pointer.clone() } else { below(pointer, keyword) };
        Err(UnusableSchema { pointer, reason: reason.into() })
    }

    fn node(&mut self, index: usize) -> Result<Node, UnusableSchema> {
        let mut node = Node { own: 1, ..Node::default() };
        let schema = self.subschemas[index].schema;
        let Value::Object(members) = schema else { return Ok(node) };
        if index > 0 && self.is_document(schema) {
            return self.refuse(index, "", "a schema inside a schema cannot be a document of its own");
        }
        for (keyword, value) in members {
            self.keyword(index, &mut node, keyword, value)?;
        }
        Ok(node)
    }

    fn keyword(
        &mut self,
        index: usize,
        node: &mut Node,
        keyword: &str,
        value: &'a Value,
    ) -> Result<(), UnusableSchema> {
        node.own += 1;
        match keyword {
            "allOf" | "anyOf" | "oneOf" => {
                node.alternatives |= keyword != "allOf";
                node.in_place.extend(self.list(index, keyword, value));
            }
            "not" | "if" | "then" | "else" => node.in_place.push(self.child(index, keyword, value)),
            "dependentSchemas" | "dependencies" => {
                node.own += count(value);
                node.in_place.extend(self.map(index, keyword, value).into_iter().map(|(_, child)| child));
            }
            "$ref" | "$dynamicRef" | "$recursiveRef" => {
                node.in_place.push(self.target(index, keyword, value)?);
            }
            "properties" => {
                let properties = self.map(index, keyword, value);
                node.own += properties.len() as u64;
                node.properties.extend(properties.into_iter().map(|(name, child)| (name.clone(), child)));
            }
            "patternProperties" => {
                for (name, child) in self.map(index, keyword, value) {
                    let states = self.pattern(index, keyword, name)?;
                    node.patterns.push((states, child));
                }
            }
            "additionalProperties" => node.other_members.push(self.child(index, keyword, value)),
            "propertyNames" => node.names.push(self.child(index, keyword, value)),
            "items" if value.is_array() => node.first_items = self.list(index, keyword, value),
            "prefixItems" => node.first_items = self.list(index, keyword, value),
            "items" | "additionalItems" | "contains" => node.items.push(self.child(index, keyword, value)),
            "unevaluatedProperties" => {
                node.twice = true;
                node.other_members.push(self.child(index, keyword, value));
            }
            "unevaluatedItems" => {
                node.twice = true;
                node.items.push(self.child(index, keyword, value));
            }
            "enum" | "const" | "required" | "dependentRequired" | "type" => node.own += count(value),
            "uniqueItems" => node.unique = true,
            "pattern" => {
                if let Value::String(text) = value {
                    node.per_byte += self.pattern(index, keyword, text)?;
                }
            }
            "format" | "contentEncoding" | "contentMediaType" => node.per_byte += 32,
            "minLength" | "maxLength" => node.per_byte += 1,
            _ => {}
        }
        Ok(())
    }

    fn child(&mut self, index: usize, keyword: &str, schema: &'a Value) -> usize {
        let pointer = below(&self.subschemas[index].pointer, keyword);
        self.add(schema, pointer)
    }

    fn list(&mut self, index: usize, keyword: &str, list: &'a Value) -> Vec<usize> {
        let pointer = below(&self.subschemas[index].pointer, keyword);
        let items = list.as_array().into_iter().flatten().enumerate();
        items.map(|(place, item)| self.add(item, below(&pointer, &place.to_string()))).collect()
    }

    fn map(&mut self, index: usize, keyword: &str, map: &'a Value) -> Vec<(&'a String, usize)> {
        let pointer = below(&self.subschemas[index].pointer, keyword);
        let members = map.as_object().into_iter().flatten();
        members.map(|(name, schema)| (name, self.add(schema, below(&pointer, name)))).collect()
    }

    /// Returns the states of a pattern.
    fn pattern(&mut self, index: usize, keyword: &str, text: &str) -> Result<u64, UnusableSchema> {
        let size = match pattern::measure(text) {
            Ok(size) => size,
            Err(reason) => return self.refuse(index, keyword, reason),
        };
        self.pattern_states = self.pattern_states.saturating_add(size.states);
        self.pattern_ranges = self.pattern_ranges.saturating_add(size.ranges);
        if self.pattern_states > MAX_PATTERN_STATES || self.pattern_ranges > MAX_PATTERN_RANGES {
            return self.refuse(
                index,
                keyword,
                "the patterns are too large with all repetitions written out",
            );
        }
        Ok(size.states)
    }

    /// Returns the subschema that a reference leads to.
    fn target(&mut self, index: usize, keyword: &str, reference: &Value) -> Result<usize, UnusableSchema> {
        let Value::String(text) = reference else {
            return self.refuse(index, keyword, "a reference is a text");
        };
        let root = self.root;
        let own_id = root.get("$id").and_then(Value::as_str).map(|id| id.trim_end_matches('#'));
        // An empty reference, or the own `$id`, is the root.
        let fragment = match own_id.and_then(|id| text.strip_prefix(id)) {
            Some(rest) if rest.is_empty() || rest.starts_with('#') => rest,
            _ => text,
        };
        let Some(fragment) = fragment.strip_prefix('#').or(fragment.is_empty().then_some("")) else {
            return self.refuse(index, keyword, "a reference to another document: nothing is ever fetched");
        };
        if !fragment.is_empty() && !fragment.starts_with('/') {
            return match self.anchors.get(fragment).cloned() {
                Some(Some((schema, pointer))) => Ok(self.add(schema, pointer)),
                Some(None) => self.refuse(index, keyword, "a reference to an anchor that is there twice"),
                None => self.refuse(index, keyword, "a reference to an anchor that is not there"),
            };
        }
        let mut schema = root;
        let mut pointer = String::new();
        for part in percent_decode_str(fragment).decode_utf8_lossy().split('/').skip(1) {
            let name = part.replace("~1", "/").replace("~0", "~");
            let next = match schema {
                Value::Object(members) => members.get(&name),
                Value::Array(items) => name.parse::<usize>().ok().and_then(|place| items.get(place)),
                _ => None,
            };
            let Some(next) = next else {
                return self.refuse(index, keyword, "a reference to a place that the schema does not have");
            };
            (schema, pointer) = (next, below(&pointer, &name));
            if self.is_document(schema) {
                return self.refuse(index, keyword, "a reference into a document inside the schema");
            }
        }
        Ok(self.add(schema, pointer))
    }

    /// Returns true for a schema that is a document of its own, so that references in it lead elsewhere.
    fn is_document(&self, schema: &Value) -> bool {
        let names = |keyword| schema.get(keyword).is_some_and(Value::is_string);
        let draft = self.root.get("$schema").and_then(Value::as_str).unwrap_or_default();
        names("$id") || names("$schema") || (draft.contains("draft-04") && names("id"))
    }
}

/// Collects the schemas that have an anchor.
fn find_anchors<'a>(value: &'a Value, pointer: &str, anchors: &mut Anchors<'a>) {
    match value {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                find_anchors(item, &below(pointer, &index.to_string()), anchors);
            }
        }
        Value::Object(members) => {
            for name in
                ["$anchor", "$dynamicAnchor"].iter().filter_map(|keyword| members.get(*keyword)?.as_str())
            {
                let unique = !anchors.contains_key(name);
                anchors.insert(name, unique.then(|| (value, pointer.to_owned())));
            }
            for (key, member) in members {
                find_anchors(member, &below(pointer, key), anchors);
            }
        }
        _ => {}
    }
}
