//! Tests of the embedded schemas, and of schemas that users write or that somebody writes against them.

use super::*;
use serde_json::json;

#[test]
fn every_schema_is_a_valid_2020_12_schema_with_its_name_in_it() {
    for schema in ALL {
        let parsed: Value = serde_json::from_str(schema.text).unwrap();
        assert_eq!(parsed["$schema"], "https://json-schema.org/draft/2020-12/schema", "{}", schema.name);
        assert!(parsed["$id"].as_str().unwrap().ends_with(schema.name), "{}", schema.name);
        jsonschema::draft202012::meta::validate(&parsed).unwrap_or_else(|e| panic!("{}: {e}", schema.name));
    }
}

#[test]
fn short_names_find_schemas() {
    assert_eq!(find("checkpoint").unwrap().name, "checkpoint.v1");
    assert_eq!(find("list").unwrap().name, "ckpt.list.v1");
    assert_eq!(find("ckpt.list.v1").unwrap().name, "ckpt.list.v1");
    assert!(find("nope").is_none());
}

#[test]
fn all_violations_are_reported_and_long_values_are_cut() {
    let found = violations(CHECKPOINT, &json!({"version": 1, "seq": "x".repeat(5000)}));
    assert!(found.iter().any(|v| v.pointer == "/version"));
    assert!(found.iter().any(|v| v.pointer == "/seq" && v.message.len() < 300));
    assert!(found.len() > 3);
}

#[test]
fn a_schema_never_fetches() {
    for reference in ["http://localhost:1/x", "file:///etc/passwd", "other.json", "#nowhere", "#/nowhere"] {
        let error = validate(&json!({"items": {"$ref": reference}}), &json!(1), &mut Steps::default());
        assert_eq!(error.unwrap_err().pointer, "/items/$ref", "{reference}");
    }
}

/// Schemas as people write them, with a document that matches and one that does not.
#[test]
fn schemas_of_real_projects_are_used() {
    let uuid = "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$";
    let tree = json!({"type": "object", "properties": {"children": {"type": "array", "items": {"$ref": "#"}}}, "required": ["children"]});
    let deep = (0..40).fold(json!({"children": []}), |inner, _| json!({"children": [inner]}));
    let cases = [
        (json!(true), json!(1), None),
        (json!({}), json!(null), None),
        (
            json!({"type": "object", "required": ["tests"], "properties": {"tests": {"type": "integer", "minimum": 1}}}),
            json!({"tests": 3}),
            Some(json!({"tests": 0})),
        ),
        (tree, deep, Some(json!({"children": [{"children": 1}]}))),
        (
            json!({"$schema": "http://json-schema.org/draft-07/schema#", "definitions": {"Map<string>": {"additionalProperties": {"type": "string"}}},
            "properties": {"env": {"$ref": "#/definitions/Map%3Cstring%3E"}}}),
            json!({"env": {"A": "b"}}),
            Some(json!({"env": {"A": 1}})),
        ),
        (
            json!({"$schema": "http://json-schema.org/draft-04/schema#", "id": "http://example.com/root.json", "definitions": {"a/b": {"type": "string"}},
            "items": {"$ref": "#/definitions/a~1b"}}),
            json!(["x"]),
            Some(json!([1])),
        ),
        (
            json!({"$id": "https://example.com/report", "$defs": {"id": {"$anchor": "uuid", "pattern": uuid}}, "properties": {
            "id": {"$ref": "#uuid"}, "parent": {"$ref": "https://example.com/report#/$defs/id"}}}),
            json!({"id": "123e4567-e89b-12d3-a456-426614174000"}),
            Some(json!({"parent": "123"})),
        ),
        (
            json!({"$dynamicAnchor": "node", "type": "object", "properties": {"left": {"$dynamicRef": "#node"}, "right": {"$dynamicRef": "#node"}}}),
            json!({"left": {"left": {}, "right": {"left": {}}}}),
            Some(json!({"left": {"right": 1}})),
        ),
        (
            json!({"allOf": [{"properties": {"kind": {"enum": ["a", "b"]}}, "required": ["kind"]}], "if": {"properties": {"kind": {"const": "a"}}},
            "then": {"required": ["x"]}, "else": {"required": ["y"]}, "properties": {"x": {}, "y": {}}, "unevaluatedProperties": false}),
            json!({"kind": "a", "x": 1}),
            Some(json!({"kind": "b", "x": 1})),
        ),
        (
            json!({"oneOf": [{"type": "string", "format": "date-time"}, {"type": "array", "uniqueItems": true, "contains": {"const": 1}}]}),
            json!([1, 2]),
            Some(json!([1, 1])),
        ),
        (
            json!({"patternProperties": {"^x-": {}, r"^[\w.-]+@[\w-]+\.\w+$": {"type": "integer"}}, "additionalProperties": false, "propertyNames": {"maxLength": 40}}),
            json!({"x-a": null, "me@example.org": 1}),
            Some(json!({"y": 1})),
        ),
        (
            json!({"prefixItems": [{"type": "string"}, {"type": "number"}], "items": false}),
            json!(["a", 1]),
            Some(json!(["a", 1, 2])),
        ),
        (
            json!({"type": "string", "pattern": r"^\p{Lu}[\p{L} '-]{0,79}$", "maxLength": 80}),
            json!("Ångström"),
            Some(json!("x")),
        ),
        (
            json!({"dependentSchemas": {"a": {"required": ["b"]}}, "dependentRequired": {"c": ["d"]}, "not": {"required": ["z"]}}),
            json!({"a": 1, "b": 2}),
            Some(json!({"c": 1})),
        ),
        (json!({"enum": (0..5000).collect::<Vec<_>>()}), json!(4999), Some(json!(5000))),
    ];
    for (schema, good, bad) in cases {
        check(&schema).unwrap_or_else(|error| panic!("{schema}: {error}"));
        assert_eq!(validate(&schema, &good, &mut Steps::default()), Ok(Vec::new()), "{schema} {good}");
        if let Some(bad) = bad {
            assert_ne!(validate(&schema, &bad, &mut Steps::default()), Ok(Vec::new()), "{schema} {bad}");
        }
    }
}

#[test]
fn every_embedded_schema_stays_within_the_limits() {
    for schema in ALL {
        Validator::named(schema.name).unwrap_or_else(|| panic!("{}", schema.name));
    }
}

/// Nested recursion is counted by the document it is used on.
#[test]
fn a_document_that_multiplies_the_work_is_refused() {
    let schema = json!({"properties": {"a": {"allOf": [{"$ref": "#"}, {"$ref": "#"}]}}});
    let nested = |levels| (0..levels).fold(json!({}), |inner, _| json!({"a": inner}));
    assert_eq!(validate(&schema, &nested(10), &mut Steps::default()), Ok(Vec::new()));
    let error = validate(&schema, &nested(60), &mut Steps::default()).unwrap_err();
    assert_eq!(error, OutOfSteps.into());
}

#[test]
fn few_violations_are_listed_and_one_of_a_large_document() {
    let schema = json!({"items": {"type": "string"}});
    let count =
        |items: usize| validate(&schema, &json!(vec![1; items]), &mut Steps::default()).unwrap().len();
    assert_eq!((count(3), count(5000), count(200_000)), (3, MAX_VIOLATIONS, 1));
    let alternatives = json!({"items": {"anyOf": [{"type": "string"}, {"type": "null"}]}});
    let violations = validate(&alternatives, &json!(vec![1; 200_000]), &mut Steps::default()).unwrap();
    assert_eq!(violations[0].message, "does not match, and is too large to tell where");
}
