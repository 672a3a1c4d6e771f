//! Hostile text in every stored field: nothing of it becomes markup, on any page.

use serde_json::json;

use crate::support::project::World;
use ckpt::site::Site;

/// Breaks out of text, attributes, comments, scripts and styles, if anything does not escape it.
const HOSTILE: &str =
    "\"'><script>alert(1)</script><svg/onload=alert(2)><img src=x onerror=alert(3)></style><!--javascript:alert(4)&lt;";

fn hostile_world() -> World {
    let world = World::new();
    world.write("spec.md", HOSTILE);
    let document = json!({
        "phases": ["a", "b"], "phase": "a", "status": "failed", "title": HOSTILE, "note": HOSTILE, "next": HOSTILE,
        "error": HOSTILE, "data": {HOSTILE: HOSTILE}, "state": {HOSTILE: [HOSTILE]},
        "artifacts": [{"name": HOSTILE, "path": "spec.md"}],
        "tasks": [{"id": "t", "status": "failed", "phase": "a", "output": HOSTILE, "error": HOSTILE}],
    });
    for state in [json!(1), json!(HOSTILE)] {
        let mut document = document.clone();
        document["state"]["n"] = state;
        world.ckpt(&["save", "042", "--from", "-"]).stdin(document.to_string()).run().succeeds();
        world.write("spec.md", "changed");
    }
    world.forge("042", 2, |document| {
        document["pipeline"] = HOSTILE.into();
        document["trigger"] = HOSTILE.into();
        document["labels"] = json!([HOSTILE]);
        document["phases"][0]["name"] = HOSTILE.into();
        document["phases"][0]["approval"] = json!({"required": true, "approved_by": HOSTILE});
    });
    world
}

#[track_caller]
fn assert_harmless(html: &str) {
    let lower = html.split("<body").nth(1).unwrap().split("<script>\"use strict\"").next().unwrap().to_lowercase();
    assert!(lower.contains("&lt;script&gt;"), "the text itself is shown: {lower}");
    for hazard in ["<script>alert", "<svg/", "<img", "</style><!--", "onload=alert(2)>", "\"'>"] {
        assert!(!lower.contains(hazard), "{hazard} in {lower}");
    }
    for address in lower.split("href=\"").skip(1).map(|rest| rest.split('"').next().unwrap()) {
        let known = ["/", "#", "https://"].iter().any(|start| address.starts_with(start));
        assert!(known && !address.starts_with("//"), "a link to {address}");
    }
    for tag in lower.split('<').skip(1).map(|rest| rest.split('>').next().unwrap()) {
        let outside: String = tag.split('"').step_by(2).collect();
        assert!(!outside.contains(" on"), "an event handler in <{tag}>");
        assert!(!outside.contains(" style"), "the policy forbids a style in <{tag}>");
    }
}

#[test]
fn hostile_text_in_every_stored_field_becomes_no_markup() {
    let world = hostile_world();
    let site = Site::start(&world, &[]);
    for path in ["/", "/w/042", "/w/042/1", "/w/042/2", "/diff?from=042%2F1&to=042%2F2", "/stats"] {
        let answer = site.get(path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        assert_harmless(&answer.body);
    }
}

#[test]
fn a_report_of_it_links_only_to_what_is_in_the_file() {
    let html = hostile_world().run(&["report", "042", "-o", "-"]).succeeds().stdout;
    assert_harmless(&html);
    for address in html.split("href=\"#").skip(1).map(|rest| rest.split('"').next().unwrap()) {
        let part = address.replace("%2D", "-");
        assert!(html.contains(&format!("id=\"{part}\"")), "{address}");
    }
}
