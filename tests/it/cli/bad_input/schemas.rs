//! Schemas and documents of somebody else's project that are made to keep a validator busy. Every command runs with
//! limits on its CPU time and its memory that the operating system enforces.

use serde_json::{Map, Value, json};

use crate::support::project::{Invocation, World, find_program, skip};

/// Generous for a debug build on a busy machine; without limits in the program, most cases need hours or gigabytes.
const LIMITS: [&str; 2] = ["--cpu=30", "--as=1000000000"];

fn limited<'a>(world: &'a World, args: &[&str]) -> Option<Invocation<'a>> {
    let Some(prlimit) = find_program("prlimit") else {
        skip("prlimit is not installed");
        return None;
    };
    let wrapper = [prlimit.to_str().unwrap(), LIMITS[0], LIMITS[1]];
    Some(world.ckpt(args).under(&wrapper))
}

/// A definition `d0`, which leads to the next one, and so on to the last.
fn definitions(count: usize, next: impl Fn(&str) -> Value) -> Value {
    let mut all: Map<String, Value> =
        (0..count).map(|i| (format!("d{i}"), next(&format!("#/$defs/d{}", i + 1)))).collect();
    all.insert(format!("d{count}"), json!({"type": "object"}));
    json!({"$ref": "#/$defs/d0", "$defs": all})
}

/// Schemas that are refused, with the JSON pointer of the place that the message names.
fn hostile_schemas() -> Vec<(&'static str, Value, &'static str)> {
    let nested = |levels, keyword: &str| (0..levels).fold(json!({}), |inner, _| json!({keyword: inner}));
    let unevaluated =
        (0..25).fold(json!({"type": "object"}), |inner, _| json!({"allOf": [inner], "unevaluatedProperties": false}));
    let unicode: Vec<Value> = (0..300).map(|i| json!({"pattern": format!(r"\p{{L}}{{1,100}}{i}")})).collect();
    let long_key = "k".repeat(400_000);
    let many: Map<String, Value> = (0..4000).map(|i| (i.to_string(), json!({"type": "null"}))).collect();
    vec![
        ("allOf doubles", definitions(30, |next| json!({"allOf": [{"$ref": next}, {"$ref": next}]})), "/$defs/d"),
        ("anyOf doubles", definitions(30, |next| json!({"anyOf": [{"$ref": next}, {"$ref": next}]})), "/$defs/d"),
        ("not doubles", definitions(20, |next| json!({"not": {"$ref": next}, "if": {"$ref": next}})), "/$defs/d"),
        ("a long chain of references", definitions(3000, |next| json!({"$ref": next})), "/$defs/d"),
        (
            "a cycle",
            json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}),
            "/$defs/a",
        ),
        (
            "a reference to itself",
            json!({"properties": {"x": {"allOf": [{"$ref": "#/properties/x"}]}}}),
            "/properties/x",
        ),
        ("recursion", json!({"properties": {"a": {"allOf": [{"$ref": "#"}, {"$ref": "#"}]}}}), "/properties/a"),
        ("items compared with each other", json!({"uniqueItems": true}), "`uniqueItems` is not"),
        ("divisions", json!({"multipleOf": 0.01}), "`multipleOf` is not"),
        ("items counted", json!({"contains": {"type": "null"}}), "`contains` is not"),
        ("repetitions", json!({"properties": {"a": {"pattern": "(a{1000}){1000}"}}}), "/properties/a/pattern"),
        ("repetitions in a name", json!({"patternProperties": {"(a{1000}){1000}": {}}}), "/patternProperties"),
        ("large classes", json!({"allOf": unicode}), "/pattern"),
        ("backtracking", json!({"pattern": r"^(a+)+\1$"}), "/pattern"),
        ("deep nesting", nested(70, "not"), "/not/not"),
        ("another document", json!({"items": {"$ref": "http://127.0.0.1:1/x"}}), "/items/$ref"),
        ("a file", json!({"$ref": "file:///etc/passwd"}), "/$ref"),
        (
            "a document inside",
            json!({"$ref": "#/$defs/a", "$defs": {"a": {"$id": "http://x/y", "$ref": "#"}}}),
            "/$defs/a/$id",
        ),
        ("a large enum", json!({"enum": (0..60_000).collect::<Vec<u32>>()}), "/enum"),
        ("long pointers", json!({"properties": {long_key: {"properties": many}}}), "/properties"),
        ("unevaluated in unevaluated", unevaluated, "/allOf/0"),
    ]
}

/// Writes a JSON value as TOML.
fn toml(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("[{}]", items.iter().map(toml).collect::<Vec<_>>().join(", ")),
        Value::Object(members) => {
            let members = members.iter().map(|(key, member)| format!("{} = {}", json!(key), toml(member)));
            format!("{{ {} }}", members.collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

#[test]
fn settings_with_a_hostile_schema_are_refused_where_they_are_wrong() {
    let world = World::new();
    world.run(&["save", "042", "--phases", "plan,build", "--phase", "plan"]).succeeds();
    for (what, schema, place) in hostile_schemas() {
        for (member, table) in [
            ("`data_schema`", format!("data_schema = {}", toml(&schema))),
            (
                "`schema` of the output `o.json`",
                format!("outputs = [{{ path = 'o.json', schema = {} }}]", toml(&schema)),
            ),
        ] {
            world.configure(&format!("[pipelines.mine]\nphases = [{{ id = 'plan', {table} }}, 'build']\n"));
            let Some(save) = limited(&world, &["save", "042", "--pipeline", "mine", "--phase", "plan"]) else {
                return;
            };
            let failure = save.refused(2, "invalid_config");
            let message = failure["message"].as_str().unwrap();
            // The parser of TOML has a limit on nesting of its own.
            if what != "deep nesting" {
                for part in ["/.ckpt/config.toml", "[pipelines.mine]", member, "phase `plan`", place] {
                    assert!(message.contains(part), "{what}: no {part} in {message}");
                }
            }
        }
    }
    for args in [&["resume", "042"][..], &["status"]] {
        limited(&world, args).unwrap().refused(2, "invalid_config");
    }
    // A brief is for the start of a session, which nothing may stop.
    let brief = limited(&world, &["brief"]).unwrap().run().succeeds().stdout;
    assert!(brief.contains("[pipelines.mine]"), "{brief}");
    assert_eq!(limited(&world, &["show", "042"]).unwrap().json()["handle"], "042/1");
    let verified = limited(&world, &["verify", "--json"]).unwrap().run().exits(6).document();
    assert!(verified["findings"].to_string().contains("invalid_config"), "{verified}");
}

#[test]
fn a_hostile_schema_in_a_checkpoint_is_a_finding() {
    for (what, schema, place) in hostile_schemas() {
        let world = World::new();
        world.run(&["save", "042", "--phases", "plan,build", "--phase", "plan"]).succeeds();
        world.write("o.json", "{}");
        world.forge("042", 1, |document| {
            document["phases"][0]["outputs"] = json!([{"path": "o.json", "schema": schema}]);
        });
        let Some(resume) = limited(&world, &["resume", "042", "--json"]) else { return };
        let answer = resume.run().document().to_string();
        assert!(answer.contains("its schema cannot be used: ") && answer.contains(place), "{what}: {answer}");
        // One schema of each limit: references, cycles, patterns, keywords, nesting, size.
        if !["allOf doubles", "a cycle", "large classes", "divisions", "deep nesting", "a large enum"].contains(&what) {
            continue;
        }
        for args in [&["status", "042"][..], &["brief", "042"], &["show", "042"], &["list"], &["verify"]] {
            limited(&world, args).unwrap().json();
        }
        let raw = world.run(&["show", "042", "--raw"]).succeeds().stdout;
        world.write("checkpoint.json", raw);
        limited(&world, &["import", "checkpoint.json", "--into", "copy"]).unwrap().json();
        limited(&world, &["resume", "--file", "checkpoint.json", "--json"]).unwrap().run().document();
    }
}

/// The schema is harmless; it is the document that makes it work.
#[test]
fn hostile_documents_are_checked_within_the_limits() {
    let large = |item: &str, size: usize| format!("[{item}{}]", format!(",{item}").repeat(size / (item.len() + 1) - 1));
    let many: Vec<String> = (0..100_000).map(|i| format!("\"k{i}\":1")).collect();
    let schema = |schema: &str| serde_json::from_str::<Value>(schema).unwrap();
    let cases = [
        (schema(r#"{"items": {"type": "string"}}"#), large("1", 15 << 20), "too large to be checked"),
        (schema(r#"{"items": {"type": "string"}}"#), large("1", 1 << 20), "at /0: 1 is not of type"),
        (
            schema(r#"{"items": {"anyOf": [{"type": "null"}, {"items": {"type": "null"}}]}}"#),
            large("[1]", 2 << 20),
            "too large",
        ),
        (
            schema(r#"{"anyOf": [{"items": {"type": "null"}}, {"items": {"type": "string"}}]}"#),
            large("1", 2 << 20),
            "too large",
        ),
        (schema(r#"{"additionalProperties": {"type": "string"}}"#), format!("{{{}}}", many.join(",")), "at /k0"),
        (schema(r#"{"pattern": "^(a|b)*c$"}"#), format!("\"{}\"", "a".repeat(8 << 20)), "too large"),
        (schema(r#"{"maximum": 5}"#), "1e999999999".to_owned(), "breaks its schema"),
        (schema(r#"{"enum": [0.5, 1]}"#), "9".repeat(1_000_000), "breaks its schema"),
    ];
    for (schema, document, expected) in cases {
        let world = World::new();
        world.configure(&format!(
            "[pipelines.p]\nphases = [{{ id = 'a', outputs = [{{ path = 'o.json', schema = {} }}] }}, 'b']\n",
            toml(&schema)
        ));
        world.run(&["save", "042", "--pipeline", "p", "--phase", "a"]).succeeds();
        world.write("o.json", document);
        let Some(resume) = limited(&world, &["resume", "042", "--json"]) else { return };
        let answer = resume.run().document();
        assert!(answer["findings"].to_string().contains(expected), "{schema}: {answer}");
    }
}

/// One file named by many outputs is not checked over and over.
#[test]
fn many_outputs_share_one_budget() {
    let world = World::new();
    let names: Vec<String> = (0..200).map(|i| format!("{}o.json", "./".repeat(i))).collect();
    world.run(&["save", "042", "--phases", "plan,build", "--phase", "plan"]).succeeds();
    world.write("o.json", format!("[{}1]", "1,".repeat(100_000)));
    // Every alternative is paid, and the first one matches: one file is a twentieth of the budget.
    let alternatives = [vec![json!({"type": "integer"})], vec![json!({"type": "null"}); 20]].concat();
    world.forge("042", 1, |document| {
        let outputs = names.iter().map(|path| json!({"path": path, "schema": {"items": {"anyOf": alternatives}}}));
        document["phases"][0]["outputs"] = outputs.collect();
    });
    let Some(resume) = limited(&world, &["resume", "042", "--json"]) else { return };
    let answer = resume.run().document().to_string();
    assert!(answer.contains("too large to be checked"), "{answer}");
}

#[test]
fn hostile_data_of_a_phase_is_refused_within_the_limits() {
    let world = World::new();
    world.configure("[pipelines.p]\nphases = [{ id = 'a', data_schema = { properties = { x = { items = { type = 'string' } } } } }, 'b']\n");
    world.write("data.json", format!("{{\"x\": [{}1]}}", "1,".repeat(1_000_000)));
    let Some(save) = limited(&world, &["save", "042", "--pipeline", "p", "--phase", "a", "--data", "@data.json"])
    else {
        return;
    };
    let failure = save.refused(6, "invalid_data");
    assert_eq!(failure["context"]["violations"].as_array().unwrap().len(), 1, "{failure}");
    let few = limited(&world, &["save", "042", "--pipeline", "p", "--phase", "a", "--data", r#"{"x": ["a", 1, 2]}"#]);
    let failure = few.unwrap().refused(6, "invalid_data");
    assert_eq!(failure["context"]["violations"].as_array().unwrap().len(), 2, "{failure}");
}

#[test]
fn of_a_document_with_thousands_of_mistakes_some_are_named() {
    let world = World::new();
    world.run(&["save", "042", "--phases", "plan,build"]).succeeds();
    let mut whole = world.stored("042", 1);
    whole["tasks"] = json!(vec![json!({"id": "t", "status": "running"}); 1000]);
    let mut broken = world.stored("042", 1);
    broken["artifacts"] = json!(vec![1; 1000]);
    let (tasks, phases) = (vec![1; 1000], vec![json!([]); 1000]);
    for document in [json!({"tasks": tasks}), json!({"phases": phases}), json!({"artifacts": tasks}), whole, broken] {
        let Some(save) = limited(&world, &["save", "042", "--from", "-"]) else { return };
        let failure = save.stdin(document.to_string()).refused(2, "invalid_document");
        let violations = failure["context"]["violations"].as_array().unwrap().len();
        assert!((20..110).contains(&violations), "{violations}");
    }
}
