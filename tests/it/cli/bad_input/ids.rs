//! Names that are not workflow ids.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;

use serde_json::json;

use crate::support::project::World;

/// Typed ids, and the nearest legal spelling of each.
fn illegal() -> Vec<(String, Option<String>)> {
    let cases = [
        ("../../etc/x", Some("etc-x")),
        ("/abs", Some("abs")),
        ("a/b", Some("a-b")),
        ("a\\b", Some("a-b")),
        (".", None),
        ("..", None),
        (".hidden", Some("hidden")),
        ("-rf", Some("rf")),
        ("", None),
        ("a\nb", Some("a-b")),
        ("a\u{1b}[31mb", Some("a-31mb")),
        ("CON", Some("wf-CON")),
        ("nul.txt", Some("wf-nul.txt")),
        ("foo.", Some("foo")),
        ("foo ", Some("foo")),
        ("caf\u{e9}", Some("caf")),
        ("cafe\u{301}", Some("cafe")),
        ("\u{1f680}", None),
        ("a\u{202e}b", Some("a-b")),
        ("a\u{200b}b", Some("a-b")),
    ];
    let mut cases: Vec<_> = cases.map(|(typed, nearest)| (typed.to_owned(), nearest.map(str::to_owned))).to_vec();
    cases.push(("x".repeat(65), Some("x".repeat(64))));
    cases.push(("x".repeat(10_000), Some("x".repeat(64))));
    cases
}

#[test]
fn illegal_ids_are_refused_with_the_nearest_legal_one() {
    let world = World::new();
    for (typed, nearest) in illegal() {
        let refused = world.ckpt(&["--json", "save", "--", &typed]).run().exits(2);
        let failure = refused.failure();
        assert_eq!(failure["code"], "invalid_id", "{typed:?}: {failure}");
        assert_eq!(failure["context"].get("suggestion"), nearest.map(|id| json!(id)).as_ref(), "{typed:?}");
        assert!(!world.store().exists(), "{typed:?}");
    }
}

#[test]
fn readers_refuse_them_too() {
    let world = World::with_checkpoints(1);
    let before = world.tree();
    for (typed, _) in illegal() {
        // After an id, a separator makes it a selector.
        for command in ["log", "show"] {
            let failure = world.ckpt(&["--json", command, "--", &typed]).run().exits(2).failure();
            let code = failure["code"].as_str().unwrap();
            assert!(matches!(code, "invalid_id" | "invalid_selector"), "{command} {typed:?}: {failure}");
        }
    }
    assert_eq!(before.changes(&world.tree()), Vec::<String>::new());
}

#[test]
fn an_id_that_looks_like_a_flag_is_a_usage_error() {
    let failure = World::new().run(&["save", "-rf", "--json"]).exits(2).failure();
    assert_eq!(failure["message"], "unexpected argument `-r` found");
}

#[test]
fn they_are_shown_escaped_and_shortened() {
    let world = World::new();
    for (typed, _) in illegal() {
        let outcome = world.run(&["save", "--", &typed]).exits(2);
        let harmless = outcome.stderr.chars().all(|c| c == '\n' || !ckpt_model::text::is_hazardous(c));
        assert!(harmless, "{typed:?}: {outcome}");
        assert!(outcome.stderr.lines().all(|line| line.len() < 300), "{outcome}");
        assert_eq!(outcome.stderr.lines().count(), 2, "{outcome}");
    }
}

#[test]
fn bytes_that_are_no_text_are_refused() {
    let world = World::new();
    let args: [&OsStr; 3] = [OsStr::new("--json"), OsStr::new("save"), OsStr::from_bytes(b"a\xffb")];
    let failure = world.run(&args).exits(2).failure();
    assert_eq!(failure["code"], "usage");
    let variable = OsString::from(OsStr::from_bytes(b"a\xffb"));
    let outcome = world.ckpt(&["save"]).env("CKPT_WORKFLOW", variable).run().exits(2);
    assert!(!world.store().exists(), "{outcome}");
}

#[test]
fn unusual_but_legal_ids_are_accepted() {
    let world = World::new();
    for id in ["a", "0", "a.b_c-d", "A.B", "com10", "console", "1.2.3", &"x".repeat(64), &"X".repeat(64)] {
        assert_eq!(world.json(&["save", id])["handle"], format!("{id}/1"));
        assert_eq!(world.json(&["show", id])["checkpoint"]["workflow"], id);
    }
}
