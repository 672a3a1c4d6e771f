//! `ckpt pipeline`

use serde_json::json;

use crate::support::project::World;

#[test]
fn a_numbered_one_has_no_phases_before_somebody_says_how_many() {
    let world = World::new();
    insta::assert_snapshot!(world.run(&["pipeline", "show", "claude-plan"]), @"
    exit 0
    --- stdout
    claude-plan: phases 1 to N; `--total N` says how many, here and with `ckpt save`
    --- end
    ");
    let unknown = world.json(&["pipeline", "show", "claude-plan"]);
    assert_eq!((&unknown["numbered"], &unknown["phases"]), (&json!(true), &json!([])));
    let known = world.json(&["pipeline", "show", "claude-plan", "--total", "2"]);
    assert_eq!((&known["numbered"], known["phases"].as_array().unwrap().len()), (&json!(false), 2));
    let listed = world.json(&["pipeline", "list"]);
    let listed = listed["pipelines"].as_array().unwrap().iter().find(|line| line["name"] == "claude-plan");
    assert_eq!(listed.unwrap()["phases"], json!(null), "the list says the same");
    let own = World::new();
    own.run(&["init"]).succeeds();
    own.configure("[pipelines.claude-plan]\nphases = [\"a\", \"b\"]\n");
    assert_eq!(own.json(&["pipeline", "show", "claude-plan"])["numbered"], false, "a configured one has its own");
}

#[test]
fn one_that_is_not_there_is_not_found() {
    let world = World::new();
    world.run(&["init"]).succeeds();
    world.configure("[pipelines.release]\nphases = [\"a\"]\n");
    let failure = world.refuses(&["pipeline", "show", "relaese"], 4, "no_such_pipeline");
    let known = &failure["context"]["known"];
    assert_eq!(known[0], "release");
    assert!(failure["help"][0].as_str().unwrap().starts_with("the pipelines are `release`, "), "{failure}");
}
