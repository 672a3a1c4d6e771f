//! Title, note, labels, pin and error.

use serde_json::json;

use crate::support::project::World;

#[test]
fn the_title_stays_until_it_is_changed() {
    let world = World::new();
    world.run(&["save", "042", "--title", "OAuth login"]).succeeds();
    world.run(&["save", "042"]).succeeds();
    world.run(&["save", "042", "--title", "Login"]).succeeds();
    let titles: Vec<_> = (1..=3).map(|seq| world.stored("042", seq)["title"].clone()).collect();
    assert_eq!(titles, ["OAuth login", "OAuth login", "Login"]);
}

#[test]
fn note_and_pin_belong_to_one_checkpoint() {
    let world = World::new();
    world.run(&["save", "042", "--note", "before the risky part", "--pin"]).succeeds();
    world.run(&["save", "042"]).succeeds();
    let (first, second) = (world.stored("042", 1), world.stored("042", 2));
    assert_eq!((&first["note"], &first["pinned"]), (&json!("before the risky part"), &json!(true)));
    assert_eq!((&second["note"], second.get("pinned")), (&json!(null), None));
}

#[test]
fn labels_accumulate_once_each() {
    let world = World::new();
    world.run(&["save", "042", "--label", "urgent", "--label", "auth"]).succeeds();
    world.run(&["save", "042", "--label", "auth", "--label", "q3"]).succeeds();
    assert_eq!(world.stored("042", 2)["labels"], json!(["urgent", "auth", "q3"]));
}

#[test]
fn an_error_stays_until_its_phase_is_done() {
    let world = World::new();
    let failed = ["save", "042", "--phase", "test", "--status", "failed", "--error", "3 tests fail"];
    world.run(&failed).succeeds();
    let stored = world.stored("042", 1);
    let at = "2026-01-30T14:30:00.000Z";
    assert_eq!(stored["last_error"], json!({"message": "3 tests fail", "phase": "test", "at": at}));
    assert_eq!(stored["phases"][0]["error"], "3 tests fail");
    world.run(&["save", "042", "--phase", "docs"]).succeeds();
    assert_eq!(world.stored("042", 2)["last_error"]["message"], "3 tests fail", "another phase fixes nothing");
    world.run(&["save", "042", "--phase", "test", "--status", "in_progress"]).succeeds();
    assert_eq!(world.stored("042", 3)["last_error"]["message"], "3 tests fail", "trying again fixes nothing");
    world.run(&["save", "042", "--phase", "test"]).succeeds();
    let stored = world.stored("042", 4);
    assert_eq!(stored["last_error"], json!(null));
    assert_eq!(stored["phases"][0].get("error"), None);
}

#[test]
fn texts_have_limits() {
    let world = World::new();
    let long = |bytes: usize| "x".repeat(bytes);
    for (flag, limit) in [("--title", 1 << 10), ("--note", 64 << 10), ("--error", 64 << 10), ("--next", 64 << 10)] {
        world.refuses(&["save", "042", flag, &long(limit + 1)], 2, "too_long");
        world.run(&["save", "042", flag, &long(limit)]).succeeds();
    }
    for flag in ["--label", "--phase", "--key", "--next-phase"] {
        let failure = world.refuses(&["save", "042", flag, &long(65)], 2, "invalid_name");
        assert!(failure["message"].as_str().unwrap().contains("at most 64"), "{failure}");
        world.run(&["save", "042", flag, &long(64)]).succeeds();
    }
}

/// No argument and no variable of the environment can hold a NUL, so no text that may become one has it.
#[test]
fn no_text_contains_a_nul() {
    let world = World::new();
    world.run(&["save", "042", "--phases", "plan,build", "--phase", "plan"]).succeeds();
    let mut whole = world.stored("042", 1);
    whole["next"]["action"] = json!("a\0b");
    let mut declared = world.stored("042", 1);
    declared["phases"][1]["action"] = json!("a\0b");
    for (document, what) in [
        (json!({"workflow": "042", "next": "a\0b"}), "next action"),
        (json!({"workflow": "042", "next": {"phase": "build", "action": "a\0b"}}), "next action"),
        (json!({"workflow": "042", "title": "a\0b"}), "title"),
        (json!({"workflow": "042", "note": "a\0b"}), "note"),
        (json!({"workflow": "042", "phase": "plan", "error": "a\0b"}), "error"),
        (whole, "next action"),
        (declared, "action of a phase"),
    ] {
        let refused = world.ckpt(&["save", "--from", "-"]).stdin(document.to_string());
        let message = refused.refused(2, "invalid_text")["message"].to_string();
        assert!(message.contains(what), "{what}: {message}");
    }
    world.configure("[pipelines.mine]\nphases = [{ id = \"x\", action = \"a\\u0000b\" }]\n");
    let message = world.refuses(&["save", "042"], 2, "invalid_config")["message"].to_string();
    assert!(message.contains("[pipelines.mine]") && message.contains("action of phase `x`"), "{message}");
}

#[test]
fn an_error_makes_the_phase_failed() {
    let world = World::new();
    world.run(&["save", "042", "--phases", "a,b", "--phase", "a"]).succeeds();
    let outcome = world.run(&["save", "042", "--phase", "b", "--error", "boom"]).succeeds();
    assert!(outcome.stderr.contains("phase b failed, 1 of 2 done"), "{outcome}");
    let stored = world.stored("042", 2);
    assert_eq!((&stored["phases"][1]["status"], &stored["phases"][1]["error"]), (&json!("failed"), &json!("boom")));
    assert_eq!(stored["status"], "in_progress");

    for document in [json!({"phase": "b", "error": "boom"}), json!({"phase": "b", "error": "boom", "status": "failed"})]
    {
        let world = world.copy();
        world.ckpt(&["save", "042", "--from", "-"]).stdin(document.to_string()).run().succeeds();
        assert_eq!(world.stored("042", 3)["phases"][1]["status"], "failed", "{document}");
    }
    for (status, kept) in [("in_progress", "in_progress"), ("skipped", "skipped")] {
        let world = world.copy();
        world.run(&["save", "042", "--phase", "b", "--error", "boom", "--status", status]).succeeds();
        assert_eq!(world.stored("042", 3)["phases"][1]["status"], kept);
    }
}

#[test]
fn a_complete_phase_has_no_error() {
    let world = World::new();
    world.run(&["save", "042", "--phase", "a", "--next", "b"]).succeeds();
    let contradiction = ["save", "042", "--phase", "b", "--error", "boom", "--status", "complete"];
    let failure = world.refuses(&contradiction, 2, "usage");
    assert_eq!(failure["message"], "phase `b` cannot be complete with an error");
    let document = json!({"phase": "b", "error": "boom", "status": "complete"}).to_string();
    world.ckpt(&["save", "042", "--from", "-"]).stdin(document).refused(2, "usage");
}
