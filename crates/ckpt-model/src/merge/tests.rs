#![expect(clippy::needless_pass_by_value, reason = "the documents of a test are written where they are used")]

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use serde_json::{Map, json};

use super::*;
use crate::checkpoint::Checkpoint;
use crate::diff::{NAMED, diff};
use crate::json::below;

fn content(members: Value) -> Content {
    let mut document = json!({"status": "in_progress"});
    document.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    serde_json::from_str(&document.to_string()).unwrap()
}

fn merged(origin: Value, ours: Value, theirs: Value) -> Result<Value, Vec<String>> {
    settled(origin, ours, theirs, &Resolutions::default())
}

fn settled(origin: Value, ours: Value, theirs: Value, by: &Resolutions) -> Result<Value, Vec<String>> {
    let [origin, ours, theirs] = [origin, ours, theirs].map(content);
    match merge(&origin, &ours, &theirs, by) {
        Ok(merged) => Ok(serde_json::to_value(&merged.content).unwrap()),
        Err(MergeError::Conflicts(conflicts)) => Err(conflicts.into_iter().map(|conflict| conflict.pointer).collect()),
        Err(error) => Err(vec![error.to_string()]),
    }
}

fn phase(id: &str, status: &str) -> Value {
    json!({"id": id, "status": status})
}

#[test]
fn each_side_contributes_what_it_changed() {
    let origin = json!({"pipeline": "p", "phases": [phase("a", "complete"), phase("b", "pending"), phase("c", "pending")],
        "state": {"n": 1, "deep": {"x": 1, "y": 1}}, "labels": ["old", "kept"]});
    let ours = json!({"pipeline": "p", "phases": [phase("a", "complete"), phase("b", "complete"), phase("c", "pending")],
        "state": {"n": 2, "deep": {"x": 2, "y": 1}}, "labels": ["old", "kept", "ours"]});
    let theirs = json!({"pipeline": "p", "phases": [phase("a", "complete"), phase("b", "pending"), phase("c", "complete")],
        "state": {"n": 1, "deep": {"x": 1}, "new": true}, "labels": ["kept", "theirs"]});
    let merged = merged(origin, ours, theirs).unwrap();
    assert_eq!(merged["phases"], json!([phase("a", "complete"), phase("b", "complete"), phase("c", "complete")]));
    assert_eq!(merged["state"], json!({"n": 2, "deep": {"x": 2}, "new": true}));
    assert_eq!(merged["labels"], json!(["kept", "ours", "theirs"]));
    assert_eq!(merged["status"], "complete", "nothing is left");
}

#[test]
fn what_both_changed_differently_is_a_conflict_with_both_values() {
    let sides = |a: &str, n: u8| json!({"phases": [phase("a", a)], "state": {"n": n}, "title": format!("t{n}")});
    let [origin, ours, theirs] = [sides("pending", 0), sides("complete", 1), sides("failed", 2)];
    let conflicts = merged(origin.clone(), ours.clone(), theirs.clone()).unwrap_err();
    assert_eq!(conflicts, ["/title", "/phases/a/status", "/state/n"]);

    let contents = [&origin, &ours, &theirs].map(|side| content(side.clone()));
    let error = merge(&contents[0], &contents[1], &contents[2], &Resolutions::default()).unwrap_err();
    let MergeError::Conflicts(conflicts) = &error else { panic!("{error}") };
    let state = conflicts.iter().find(|conflict| conflict.pointer == "/state/n").unwrap();
    assert_eq!((&state.origin, &state.ours, &state.theirs), (&Some(json!(0)), &Some(json!(1)), &Some(json!(2))));

    let by = Resolutions {
        each: vec![
            ("/phases/a/status".to_owned(), Resolution::Take(Side::Theirs)),
            ("/state/n".to_owned(), Resolution::Set(json!([7]))),
        ],
        rest: Some(Side::Ours),
    };
    let result = settled(origin, ours, theirs, &by).unwrap();
    assert_eq!((&result["title"], &result["state"]["n"]), (&json!("t1"), &json!([7])));
    assert_eq!(result["phases"][0]["status"], "failed");
}

#[test]
fn a_resolution_must_be_about_a_conflict_and_fit_its_place() {
    let sides = |status: &str| json!({"phases": [phase("a", status)]});
    let by = |pointer: &str, value: Value| Resolutions {
        each: vec![(pointer.to_owned(), Resolution::Set(value))],
        rest: Some(Side::Ours),
    };
    let run = |by| settled(sides("pending"), sides("complete"), sides("failed"), &by).unwrap_err();
    assert_eq!(run(by("/state/n", json!(1))), ["there is no conflict at `/state/n`"]);
    assert!(run(by("/phases/a/status", json!("perfect")))[0].contains("would not be valid"), "a word is checked");
}

#[test]
fn an_entry_that_one_side_dropped_and_the_other_changed_is_a_conflict() {
    let tasks = |tasks: Value| json!({"tasks": tasks});
    let [kept, changed] = ["pending", "running"].map(|status| tasks(json!([{"id": "t", "status": status}])));
    let without = tasks(json!([]));
    assert_eq!(merged(kept.clone(), without.clone(), kept.clone()).unwrap()["tasks"], json!([]));
    assert_eq!(merged(kept.clone(), without.clone(), changed.clone()).unwrap_err(), ["/tasks/t"]);
    let drop = Resolutions { each: vec![("/tasks/t".to_owned(), Resolution::Set(Value::Null))], rest: None };
    assert_eq!(settled(kept, without, changed, &drop).unwrap()["tasks"], json!([]));
}

#[test]
fn times_and_attempts_of_the_same_result_are_no_conflict() {
    let done = |at: &str, attempts: u8| {
        json!({"phases": [{"id": "a", "status": "complete", "attempts": attempts,
            "completed_at": format!("2026-01-30T{at}:00.000Z")}]})
    };
    let origin = json!({"phases": [phase("a", "pending")]});
    let merged = merged(origin, done("10:00", 3), done("11:00", 1)).unwrap();
    assert_eq!(merged["phases"][0]["completed_at"], "2026-01-30T11:00:00.000Z");
    assert_eq!(merged["phases"][0]["attempts"], 3);
}

#[test]
fn a_phase_made_of_both_sides_is_consistent() {
    let begun = json!({"phases": [{"id": "a", "status": "in_progress", "started_at": "2026-01-30T10:00:00.000Z"}]});
    let done = json!({"phases": [{"id": "a", "status": "complete", "completed_at": "2026-01-30T11:00:00.000Z"}]});
    let by = Resolutions { rest: Some(Side::Ours), ..Resolutions::default() };
    let merged = settled(json!({"phases": [phase("a", "pending")]}), begun, done, &by).unwrap();
    assert_eq!(merged["phases"][0]["completed_at"], Value::Null, "it is not done");
}

#[test]
fn an_artifact_is_never_put_together_from_two_observations() {
    let artifact = |size: u8, digit: &str| json!({"artifacts": [{"name": "a", "path": "a.md", "size": size, "sha256": digit.repeat(64)}]});
    let conflicts = merged(artifact(1, "1"), artifact(1, "2"), artifact(2, "3")).unwrap_err();
    assert_eq!(conflicts, ["/artifacts/a"]);
    assert_eq!(merged(artifact(1, "1"), artifact(1, "1"), artifact(2, "3")).unwrap()["artifacts"][0]["size"], 2);
}

#[test]
fn the_next_phase_follows_from_the_merged_phases() {
    let side = |b: &str, c: &str, next: &str, action: &str| {
        json!({"pipeline": "p", "phases": [phase("a", "complete"), phase("b", b), phase("c", c), phase("d", "pending")],
            "next": {"phase": next, "action": action}})
    };
    let origin = side("pending", "pending", "b", "write b");
    let ours = side("complete", "pending", "c", "write c");
    let theirs = side("pending", "complete", "b", "write b");
    let merged = merged(origin, ours, theirs).unwrap();
    assert_eq!(merged["next"], json!({"phase": "d", "action": null}));
}

#[test]
fn an_action_without_phases_can_be_a_conflict() {
    let side = |action: &str| json!({"next": {"phase": null, "action": action}});
    assert_eq!(merged(json!({}), side("x"), side("y")).unwrap_err(), ["/next/action"]);
}

#[test]
fn contradictory_orders_of_phases_are_a_conflict_and_of_tasks_are_not() {
    let phases = |ids: [&str; 3]| json!({"phases": ids.map(|id| phase(id, "pending"))});
    let sides = [phases(["a", "b", "c"]), phases(["b", "a", "c"]), phases(["a", "c", "b"])];
    let [origin, ours, theirs] = sides.clone();
    assert_eq!(merged(origin, ours, theirs).unwrap_err(), ["/phases"]);
    let [origin, ours, theirs] = sides;
    let by = Resolutions { rest: Some(Side::Theirs), ..Resolutions::default() };
    let result = settled(origin, ours, theirs, &by).unwrap();
    let ids: Vec<&str> = result["phases"].as_array().unwrap().iter().map(|p| p["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["a", "c", "b"]);
}

#[test]
fn numbers_and_unknown_members_survive_exactly() {
    let origin = content(json!({}));
    let text =
        r#"{"status": "in_progress", "state": {"big": 12345678901234567890123, "p": 1.50}, "mine": {"x": 1e400}}"#;
    let ours: Content = serde_json::from_str(text).unwrap();
    let theirs = content(json!({"title": "t"}));
    let merged = merge(&origin, &ours, &theirs, &Resolutions::default()).unwrap().content;
    let written = serde_json::to_string(&merged).unwrap();
    assert!(written.contains(r#""big":12345678901234567890123,"p":1.50"#), "{written}");
    assert!(written.contains(r#""mine":{"x":1e+400}"#), "{written}");
}

// Properties.

fn some_state() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![Just(Value::Null), (0_u8..3).prop_map(Value::from), "[ab]".prop_map(Value::from)];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::btree_map("[xyz]", inner.clone(), 0..3)
                .prop_map(|members| members.into_iter().collect::<Map<_, _>>().into()),
            prop::collection::vec(inner, 0..3).prop_map(Value::from),
        ]
    })
}

fn some_time() -> impl Strategy<Value = String> {
    (0_u8..4).prop_map(|hour| format!("2026-01-30T1{hour}:00:00.000Z"))
}

type Details = (&'static str, Option<String>, Option<String>, u8, Option<Value>);

fn some_content() -> impl Strategy<Value = Content> {
    let ids = |ids: &'static [&'static str]| prop::sample::subsequence(ids.to_vec(), 0..=ids.len()).prop_shuffle();
    let status = prop::sample::select(vec!["pending", "in_progress", "complete", "failed", "skipped"]);
    let phases = ids(&["a", "b", "c", "d"]).prop_flat_map(move |ids| {
        let details = (
            status.clone(),
            prop::option::of(some_time()),
            prop::option::of(some_time()),
            0_u8..3,
            prop::option::of(some_state()),
        );
        prop::collection::vec(details, ids.len()).prop_map(move |details| {
            let phase = |(id, (status, started, completed, attempts, data)): (&&str, Details)| {
                let mut phase = json!({"id": id, "status": status, "attempts": attempts});
                let optional: [(&str, Option<Value>); 3] = [
                    ("started_at", started.map(String::into)),
                    ("completed_at", completed.map(String::into)),
                    ("data", data),
                ];
                for (name, value) in optional {
                    if let Some(value) = value {
                        phase[name] = value;
                    }
                }
                phase
            };
            ids.iter().zip(details).map(phase).collect::<Value>()
        })
    });
    let tasks = ids(&["s", "t", "u"])
        .prop_map(|ids| ids.iter().map(|id| json!({"id": id, "status": "pending"})).collect::<Value>());
    let artifacts = prop::collection::btree_map("[mn]", 0_u8..3, 0..3).prop_map(|artifacts| {
        let sha256 = |n: u8| n.to_string().repeat(64);
        let entry = |(name, n): (String, u8)| json!({"name": name, "path": name, "size": n, "sha256": sha256(n)});
        artifacts.into_iter().map(entry).collect::<Value>()
    });
    let labels = ids(&["l1", "l2", "l3"]).prop_map(|labels| json!(labels));
    let workflow = prop::sample::select(vec!["in_progress", "in_progress", "complete", "failed"]);
    let pipeline = prop::sample::select(vec![Value::Null, json!("p")]);
    let next = prop::option::of((prop::option::of("[abcd]"), prop::option::of("[vw]"), any::<bool>()));
    let state = prop::collection::btree_map("[ijk]", some_state(), 0..3);
    (
        phases,
        tasks,
        artifacts,
        labels,
        workflow,
        pipeline,
        next,
        state,
        prop::option::of("[abcd]"),
        prop::option::of("[TU]"),
    )
        .prop_map(|(phases, tasks, artifacts, labels, status, pipeline, next, state, phase, title)| {
            let next =
                next.map(|(phase, action, explicit)| json!({"phase": phase, "action": action, "explicit": explicit}));
            content(
                json!({"status": status, "phases": phases, "tasks": tasks, "artifacts": artifacts, "labels": labels,
                "pipeline": pipeline, "next": next, "state": state, "phase": phase, "title": title}),
            )
        })
}

fn by(side: Side) -> Resolutions {
    Resolutions { rest: Some(side), ..Resolutions::default() }
}

fn value(content: &Content) -> Value {
    serde_json::to_value(content).unwrap()
}

/// The leaves of a content by their pointers, entries of lists by their names.
fn leaves(content: &Content) -> BTreeMap<String, Value> {
    fn walk(value: &Value, place: &str, leaves: &mut BTreeMap<String, Value>) {
        match value {
            Value::Object(members) if !members.is_empty() => {
                members.iter().for_each(|(key, value)| walk(value, &below(place, key), leaves));
            }
            value => drop(leaves.insert(place.to_owned(), value.clone())),
        }
    }
    let mut document = value(content);
    for (list, key) in NAMED {
        let entries = document[list].take();
        let named = entries.as_array().into_iter().flatten();
        document[list] =
            named.map(|entry| (entry[key].as_str().unwrap().to_owned(), entry.clone())).collect::<Map<_, _>>().into();
    }
    let mut found = BTreeMap::new();
    walk(&document, "", &mut found);
    found
}

/// True for what is derived from the rest, as a save does.
fn is_derived(pointer: &str) -> bool {
    pointer == "/status" || pointer.starts_with("/next") || pointer.starts_with("/labels")
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: Some(Box::new(FileFailurePersistence::WithSource("regressions"))),
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_side_that_changed_nothing_changes_nothing((a, b) in (some_content(), some_content())) {
        let none = Resolutions::default();
        prop_assert_eq!(&merge(&a, &a, &b, &none).unwrap().content, &b);
        prop_assert_eq!(&merge(&a, &b, &a, &none).unwrap().content, &b);
        prop_assert_eq!(&merge(&a, &b, &b, &none).unwrap().content, &b);
    }

    #[test]
    fn it_does_not_matter_which_side_is_ours((origin, a, b) in (some_content(), some_content(), some_content())) {
        let none = Resolutions::default();
        match (merge(&origin, &a, &b, &none), merge(&origin, &b, &a, &none)) {
            (Ok(one), Ok(other)) => prop_assert_eq!(value(&one.content), value(&other.content)),
            (Err(MergeError::Conflicts(one)), Err(MergeError::Conflicts(other))) => {
                let swapped = other.into_iter().map(|c| Conflict { ours: c.theirs, theirs: c.ours, ..c });
                let sorted = |mut conflicts: Vec<Conflict>| { conflicts.sort_by(|x, y| x.pointer.cmp(&y.pointer)); conflicts };
                prop_assert_eq!(sorted(one), sorted(swapped.collect()));
            }
            (one, other) => prop_assert!(false, "{one:?} {other:?}"),
        }
        let (ours, theirs) = (merge(&origin, &a, &b, &by(Side::Ours)), merge(&origin, &b, &a, &by(Side::Theirs)));
        prop_assert_eq!(value(&ours.unwrap().content), value(&theirs.unwrap().content));
    }

    #[test]
    fn no_value_is_invented((origin, a, b) in (some_content(), some_content(), some_content())) {
        for side in [Side::Ours, Side::Theirs] {
            let merged = merge(&origin, &a, &b, &by(side)).unwrap().content;
            let sides = [leaves(&a), leaves(&b)];
            for (pointer, found) in leaves(&merged) {
                let has = |side: &BTreeMap<String, Value>| side.get(&pointer) == Some(&found);
                // An object is left empty where each side took away what the other one kept.
                let is_empty = found == json!({}) || found == json!([]);
                prop_assert!(is_derived(&pointer) || is_empty || sides.iter().any(has), "{pointer} {found}");
            }
            for label in &merged.labels {
                prop_assert!(a.labels.contains(label) || b.labels.contains(label));
            }
        }
    }

    #[test]
    fn what_only_one_side_changed_is_taken((origin, a, b) in (some_content(), some_content(), some_content())) {
        let merged = leaves(&merge(&origin, &a, &b, &by(Side::Theirs)).unwrap().content);
        let [origin, a, b] = [leaves(&origin), leaves(&a), leaves(&b)];
        for (pointer, ours) in a.iter().filter(|(pointer, _)| pointer.starts_with("/state/") || *pointer == "/title") {
            if origin.get(pointer) == b.get(pointer) && origin.contains_key(pointer) {
                prop_assert_eq!(merged.get(pointer), Some(ours), "{}", pointer);
            }
        }
    }

    #[test]
    fn merging_the_result_again_changes_nothing((origin, a, b) in (some_content(), some_content(), some_content())) {
        let merged = merge(&origin, &a, &b, &by(Side::Ours)).unwrap().content;
        // After the merge, the merged side is the common origin.
        prop_assert_eq!(&merge(&b, &merged, &b, &Resolutions::default()).unwrap().content, &merged);
    }

    #[test]
    fn the_patch_of_a_diff_turns_one_into_the_other((a, b) in (some_content(), some_content())) {
        let checkpoint = |content: Content| -> Checkpoint {
            let text = format!(r#"{{"version": "1.0", "sha256": "{}", "workflow": "w", "seq": 1, "save_id": "s",
                "saved_at": "2026-01-30T14:30:00.000Z", "trigger": "manual", "status": "in_progress"}}"#, "0".repeat(64));
            Checkpoint { content, ..serde_json::from_str(&text).unwrap() }
        };
        let (mut patched, expected) = (value(&a), value(&b));
        let difference = diff(&checkpoint(a), &checkpoint(b)).unwrap();
        json_patch::patch(&mut patched, &difference.changes).unwrap();
        prop_assert_eq!(&patched, &expected);
        prop_assert_eq!(difference.is_empty(), difference.changes.0.is_empty());
    }
}
