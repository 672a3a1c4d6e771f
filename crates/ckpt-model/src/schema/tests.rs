//! Tests of the embedded schemas, and of the schemas of projects: what people write, and what somebody writes against
//! them.

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

/// Schemas as people write them, with a document that matches and one that does not: one for each keyword that works.
fn examples() -> Vec<(&'static str, Value, Value, Value)> {
    let uuid = "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$";
    vec![
        ("type", json!({"type": ["string", "null"]}), json!(null), json!(1)),
        ("enum", json!({"enum": (0..5000).collect::<Vec<_>>()}), json!(4999), json!(5000)),
        ("const", json!({"const": {"a": [1]}}), json!({"a": [1]}), json!({"a": [2]})),
        ("properties", json!({"properties": {"a": {"type": "null"}}}), json!({"b": 1}), json!({"a": 1})),
        ("required", json!({"required": ["a"]}), json!({"a": 1}), json!({})),
        (
            "additionalProperties",
            json!({"properties": {"a": {}}, "additionalProperties": false}),
            json!({"a": 1}),
            json!({"b": 1}),
        ),
        ("minProperties", json!({"minProperties": 1}), json!({"a": 1}), json!({})),
        ("maxProperties", json!({"maxProperties": 0}), json!({}), json!({"a": 1})),
        ("items", json!({"items": {"items": {"type": "integer"}}}), json!([[1], []]), json!([["x"]])),
        ("minItems", json!({"minItems": 1}), json!([1]), json!([])),
        ("maxItems", json!({"maxItems": 1}), json!([1]), json!([1, 2])),
        ("minLength", json!({"minLength": 2}), json!("äö"), json!("ä")),
        ("maxLength", json!({"maxLength": 2}), json!("äö"), json!("äöü")),
        ("pattern", json!({"pattern": uuid}), json!("123e4567-e89b-12d3-a456-426614174000"), json!("123e4567")),
        ("minimum", json!({"minimum": 1}), json!(1), json!(0.5)),
        ("maximum", json!({"maximum": 7}), json!(7), serde_json::from_str("1e400").unwrap()),
        ("exclusiveMinimum", json!({"exclusiveMinimum": 1}), json!(2), json!(1)),
        ("exclusiveMaximum", json!({"exclusiveMaximum": 1}), json!(0), json!(1)),
        (
            "allOf",
            json!({"allOf": [{"required": ["a"]}, {"required": ["b"]}]}),
            json!({"a": 1, "b": 2}),
            json!({"a": 1}),
        ),
        ("anyOf", json!({"anyOf": [{"type": "null"}, {"minimum": 3}]}), json!(3), json!(2)),
        ("oneOf", json!({"oneOf": [{"minimum": 1}, {"minimum": 3}]}), json!(2), json!(3)),
        ("not", json!({"not": {"type": "null"}}), json!(1), json!(null)),
        ("$ref", json!({"$ref": "#/$defs/a", "maximum": 5, "$defs": {"a": {"minimum": 3}}}), json!(4), json!(6)),
        ("$defs", json!({"items": {"$ref": "#/$defs/a"}, "$defs": {"a": {"type": "null"}}}), json!([null]), json!([1])),
        (
            "definitions",
            json!({"items": {"$ref": "#/definitions/a.b"}, "definitions": {"a.b": false}}),
            json!([]),
            json!([1]),
        ),
        (
            "$schema",
            json!({"$schema": "http://json-schema.org/draft-04/schema#", "type": "null"}),
            json!(null),
            json!(1),
        ),
        (
            "$id",
            json!({"$id": "https://example.com/x", "$ref": "#/$defs/a", "$defs": {"a": {"type": "null"}}}),
            json!(null),
            json!(1),
        ),
        ("title", json!({"title": "T", "type": "null"}), json!(null), json!(1)),
        ("description", json!({"description": "D", "type": "null"}), json!(null), json!(1)),
        ("default", json!({"default": {"not": 1}, "type": "null"}), json!(null), json!(1)),
        ("examples", json!({"examples": [1], "type": "null"}), json!(null), json!(1)),
        ("format", json!({"format": "date-time", "type": "string"}), json!("no time"), json!(1)),
        ("deprecated", json!({"deprecated": true, "type": "null"}), json!(null), json!(1)),
        ("$comment", json!({"$comment": "C", "type": "null"}), json!(null), json!(1)),
    ]
}

fn found(schema: &Value, document: &Value) -> Vec<Violation> {
    validate(schema, document, &mut Steps::default()).unwrap_or_else(|error| panic!("{schema}: {error}"))
}

#[test]
fn each_keyword_that_works_does_what_json_schema_says() {
    for (keyword, schema, good, bad) in examples() {
        assert!(schema.get(keyword).is_some(), "{keyword}");
        check(&schema).unwrap_or_else(|error| panic!("{schema}: {error}"));
        assert_eq!(found(&schema, &good), Vec::new(), "{schema} {good}");
        assert_ne!(found(&schema, &bad), Vec::new(), "{schema} {bad}");
    }
    let mut tested: Vec<_> = examples().into_iter().map(|(keyword, ..)| keyword).collect();
    let mut working: Vec<_> = allowed::keywords().collect();
    tested.sort_unstable();
    working.sort_unstable();
    assert_eq!(tested, working);
}

#[test]
fn any_other_keyword_is_refused_by_name_with_those_that_work() {
    let others = "uniqueItems multipleOf contains minContains prefixItems additionalItems patternProperties propertyNames \
        if then else dependentSchemas dependentRequired dependencies unevaluatedItems unevaluatedProperties $anchor \
        $dynamicRef $dynamicAnchor $recursiveRef $vocabulary contentEncoding id x-mine";
    for keyword in others.split_whitespace() {
        let error = check(&json!({"properties": {"a/b": {keyword: {}}}})).unwrap_err();
        assert_eq!(error.pointer, format!("/properties/a~1b/{keyword}"));
        assert!(error.reason.starts_with(&format!("`{keyword}` is not a keyword that works here: type, ")), "{error}");
        assert!(allowed::keywords().all(|name| error.reason.contains(name)), "{error}");
    }
    for keyword in ["$id", "$schema", "$defs", "definitions"] {
        let error = check(&json!({"items": {keyword: {}}})).unwrap_err();
        assert_eq!(error.to_string(), format!("`{keyword}` works only at the root of a schema (at /items/{keyword})"));
    }
}

/// The things that a schema is refused for, with the place and a part of the reason.
#[test]
fn a_schema_that_is_not_made_of_schemas_is_refused_where_it_is_wrong() {
    for (schema, pointer, reason) in [
        (json!(1), "", "a schema is"),
        (json!({"items": [{}]}), "/items", "a schema is"),
        (json!({"anyOf": {}}), "/anyOf", "a list"),
        (json!({"properties": [1]}), "/properties", "an object"),
        (json!({"pattern": 1}), "/pattern", "a text"),
        (json!({"items": {"$ref": "#/$defs/a"}}), "/items/$ref", "there is no `#/$defs/a`"),
        (json!({"$ref": 1}), "/$ref", "only references such as `#/$defs/NAME` work"),
    ] {
        let error = check(&schema).unwrap_err();
        assert!(error.pointer == pointer && error.reason.contains(reason), "{schema}: {error:?}");
    }
    // The values of other keywords are checked when it is compiled.
    for schema in [json!({"exclusiveMinimum": true}), json!({"type": "text"}), json!({"required": "a"})] {
        check(&schema).unwrap();
        assert!(Validator::compile(&schema, &mut Steps::default()).is_err(), "{schema}");
    }
}

#[test]
fn a_schema_never_fetches() {
    for reference in [
        "http://localhost:1/x",
        "file:///etc/passwd",
        "other.json",
        "#",
        "#a",
        "#/items",
        "#/$defs/a/items",
        "#/$defs/%61",
    ] {
        let error = check(&json!({"items": {"$ref": reference}, "$defs": {"a": {"items": {}}}})).unwrap_err();
        assert_eq!(error.pointer, "/items/$ref", "{reference}");
    }
}

/// A definition `d0`, which leads to the next one, and so on to the last.
fn chain(count: usize, next: impl Fn(Value) -> Value) -> Value {
    let definition = |i| (format!("d{i}"), next(json!({"$ref": format!("#/$defs/d{}", i + 1)})));
    let mut definitions: serde_json::Map<String, Value> = (0..count).map(definition).collect();
    definitions.insert(format!("d{count}"), json!({"type": "object"}));
    json!({"$ref": "#/$defs/d0", "$defs": definitions})
}

#[test]
fn definitions_that_refer_to_themselves_are_refused() {
    for (schema, pointer) in [
        (json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}), "/$defs/a/$ref"),
        (
            json!({"$defs": {"a": {"items": {"$ref": "#/$defs/b"}}, "b": {"not": {"$ref": "#/$defs/a"}}}}),
            "/$defs/a/items/$ref",
        ),
    ] {
        let error = check(&schema).unwrap_err();
        assert!(error.pointer == pointer && error.reason.ends_with("refers to itself"), "{error:?}");
    }
}

#[test]
fn references_count_as_often_as_they_are_used() {
    let twice = |count| chain(count, |next| json!({"allOf": [next, next]}));
    assert_eq!(found(&twice(9), &json!({})), Vec::new());
    let error = check(&twice(15)).unwrap_err();
    assert!(error.reason.contains("more than 20000 values with every `$ref` written out"), "{error}");
    check(&json!({"enum": (0..19_000).collect::<Vec<_>>()})).unwrap();
    let error = check(&json!({"enum": (0..20_000).collect::<Vec<_>>()})).unwrap_err();
    assert_eq!(error.pointer, "/enum");
    assert_eq!(check(&json!({"const": "x".repeat(170_000)})).unwrap_err().pointer, "/const");
}

#[test]
fn schemas_inside_each_other_are_counted_through_references() {
    let nested = |levels, schema| (0..levels).fold(schema, |inner, _| json!({"items": inner}));
    check(&nested(31, json!({}))).unwrap();
    let error = check(&nested(32, json!({}))).unwrap_err();
    assert!(error.pointer == "/items".repeat(32) && error.reason.contains("more than 32 schemas"), "{error:?}");
    check(&chain(30, |next| next)).unwrap();
    assert!(check(&chain(31, |next| next)).unwrap_err().reason.contains("more than 32 schemas"));
    // The second time, the definition has been measured.
    let definition = nested(20, json!({}));
    let twice = |levels| json!({"$defs": {"a": definition}, "items": {"$ref": "#/$defs/a"}, "not": nested(levels, json!({"$ref": "#/$defs/a"}))});
    check(&twice(8)).unwrap();
    let error = check(&twice(10)).unwrap_err();
    assert_eq!(error.pointer, format!("/not{}/$ref", "/items".repeat(10)));
    assert_eq!(check(&json!({"properties": {"k".repeat(1020): {}}})).unwrap_err().pointer.len(), 1032);
}

#[test]
fn patterns_are_small_and_match_in_linear_time() {
    for pattern in [
        r"^\d{4}-\d\d-\d\d$",
        r"^[\w.-]+@[\w-]+\.\w+$",
        r"^a\/b$",
        r"^\S+$",
        r"^(?<year>\d+)$",
        "",
        "^[a-z0-9-]{1,128}$",
    ] {
        check(&json!({"pattern": pattern})).unwrap_or_else(|error| panic!("{pattern}: {error}"));
    }
    for pattern in [
        r"(a)\1",
        "^(?!x)",
        "(",
        "(a{1000}){1000}",
        "((((a{99}){99}){99}){99}){99}",
        r"^\p{Lu}",
        r"[^\p{L}\P{L}]",
        "(?i)a",
        &"a".repeat(1001),
    ] {
        let error = check(&json!({"not": {"pattern": pattern}})).unwrap_err();
        assert_eq!(error.pointer, "/not/pattern", "{pattern}");
    }
    let schema = json!({"items": {"pattern": "^(a|b)*c$"}});
    assert_eq!(found(&schema, &json!(["abc"])), Vec::new());
    let error = validate(&schema, &json!(["a".repeat(8 << 20)]), &mut Steps::default()).unwrap_err();
    assert_eq!(error, OutOfSteps.into());
}

#[test]
fn every_embedded_schema_compiles() {
    for schema in ALL {
        Validator::named(schema.name).unwrap_or_else(|| panic!("{}", schema.name));
    }
}

#[test]
fn a_document_is_paid_by_its_size_and_that_of_the_schema() {
    let mut steps = Steps::default();
    let alternatives = json!({"items": {"anyOf": vec![json!({"type": "null"}); 100]}});
    for size in [1, 10_000, 100_000, 200_000] {
        validate(&alternatives, &json!(vec![Value::Null; size]), &mut steps).unwrap();
    }
    let error = validate(&alternatives, &json!(vec![Value::Null; 200_000]), &mut steps).unwrap_err();
    assert_eq!(error, OutOfSteps.into());
}

#[test]
fn few_violations_are_listed_and_one_of_a_large_document() {
    let schema = json!({"items": {"type": "string"}});
    let count = |items: usize| found(&schema, &json!(vec![1; items])).len();
    assert_eq!((count(3), count(5000), count(200_000)), (3, MAX_VIOLATIONS, 1));
    let alternatives = json!({"items": {"anyOf": [{"type": "string"}, {"type": "null"}]}});
    let violations = found(&alternatives, &json!(vec![1; 200_000]));
    assert_eq!(violations[0].message, "does not match, and is too large to tell where");
}
