//! `ckpt show`

use serde_json::json;

use crate::support::project::World;

fn rich() -> World {
    let world = World::new();
    world.write("docs/spec.md", "hello");
    let first = ["save", "042", "--phase", "plan", "--phases", "plan,build,test", "--title", "OAuth login"];
    let content = ["--artifact", "spec=docs/spec.md", "--data", r#"{"files":12}"#, "--label", "auth"];
    world.run(&[&first[..], &content].concat()).succeeds();
    world.run(&["save", "042", "--phase", "build", "--status", "in_progress"]).succeeds();
    let third = ["save", "042", "--phase", "build", "--status", "failed", "--error", "3 tests fail", "--next", "Fix"];
    let content = ["--task", "parser=failed,after=lexer,output=p.json", "--state", r#"{"n":[1,{"a/b":null}]}"#];
    let rest = ["--note", "two\nlines", "--pin"];
    let agent = world.ckpt(&[&third[..], &content, &rest].concat()).env("CLAUDECODE", "1");
    agent.run().succeeds();
    world
}

#[test]
fn a_person_sees_where_the_work_stands() {
    let outcome = rich().run(&["show", "042"]);
    insta::assert_snapshot!(outcome, @"
    exit 0
    --- stdout
    042/3 OAuth login: in progress, 1 of 3 done

      saved      2026-01-30T14:32:00.000Z by claude-code, phase_transition
      phase      build
      next       build: Fix
      pipeline   custom
      labels     auth
      pinned     yes
      note       two
                 lines
      error      3 tests fail
      file       $TMP/project/.ckpt/workflows/042/00000003.json

    Phases
      plan   done         has data
      build  failed       3 tests fail
      test   to do

    Tasks
      parser  failed  in build  after lexer  writes p.json

    Artifacts
      spec: docs/spec.md  5 B  in plan

    State: ckpt show 042/3 --state
    --- end
    ");
}

#[test]
fn a_program_gets_the_document_as_stored() {
    let world = rich();
    let answer = world.json(&["show", "042/3"]);
    assert_eq!(answer["handle"], "042/3");
    assert_eq!(answer["checkpoint"], world.stored("042", 3));
    assert_eq!(answer["path"], world.checkpoint_file("042", 3).to_str().unwrap());
    assert_eq!((&answer["valid"], &answer["violations"]), (&json!(true), &json!([])));
}

#[test]
fn raw_is_the_file_byte_for_byte() {
    let world = rich();
    let raw = world.run(&["show", "042", "--raw"]).succeeds().stdout;
    assert_eq!(raw.as_bytes(), std::fs::read(world.checkpoint_file("042", 3)).unwrap());
    world.refuses(&["show", "042", "--raw"], 2, "usage");
}

#[test]
fn anybody_can_check_the_sum() {
    let world = World::with_checkpoints(1);
    let text = std::fs::read_to_string(world.checkpoint_file("042", 1)).unwrap();
    let digest = world.stored("042", 1)["sha256"].as_str().unwrap().to_owned();
    let zeroed = text.replacen(&digest, &"0".repeat(64), 1);
    assert_eq!(ckpt_model::digest::Digest::of(zeroed.as_bytes()).to_hex(), digest);
}

#[test]
fn parts_are_printed_as_json() {
    let world = rich();
    let cases: [(&[&str], &str); 6] = [
        (&["042", "--state"], r#"{"n":[1,{"a/b":null}]}"#),
        (&["042/1", "--state"], "{}"),
        (&["042/1", "--data"], r#"{"files":12}"#),
        (&["042", "--data", "--phase", "plan"], r#"{"files":12}"#),
        (&["042", "--pointer", "/state/n/1/a~1b"], "null"),
        (&["042", "--pointer", "/tasks/0/status"], "\"failed\""),
    ];
    for (args, expected) in cases {
        let args = [&["show"][..], args].concat();
        let printed: serde_json::Value = serde_json::from_str(&world.run(&args).succeeds().stdout).unwrap();
        assert_eq!(printed.to_string(), expected, "{args:?}");
        assert_eq!(world.json(&args)["checkpoint"].to_string(), expected, "{args:?} with --json");
    }
    assert_eq!(world.json(&["show", "042", "--pointer", ""])["checkpoint"], world.stored("042", 3));
}

#[test]
fn quiet_prints_a_string_without_quotes() {
    let world = rich();
    let cases = [
        ("/note", "two\nlines\n"),
        ("/tasks/0/status", "failed\n"),
        ("/seq", "3\n"),
        ("/pinned", "true\n"),
        ("/state/n/1/a~1b", "null\n"),
        ("/state/n/1", "{\n  \"a/b\": null\n}\n"),
    ];
    for (pointer, expected) in cases {
        let outcome = world.run(&["show", "042", "-q", "--pointer", pointer]).succeeds();
        assert_eq!((outcome.stdout.as_str(), outcome.stderr.as_str()), (expected, ""), "{pointer}");
    }
    let shown = world.run(&["show", "042", "--pointer", "/tasks/0/status"]).succeeds().stdout;
    assert_eq!(shown, "\"failed\"\n", "without it, JSON");
}

#[test]
fn what_is_not_in_it_is_not_found() {
    let world = rich();
    world.refuses(&["show", "042", "--data"], 4, "no_data");
    world.refuses(&["show", "042", "--data", "--phase", "nope"], 4, "no_data");
    world.refuses(&["show", "042", "--pointer", "/nope"], 4, "no_value");
    world.refuses(&["show", "042", "--pointer", "state"], 4, "no_value");
    world.run(&["save", "bare"]).succeeds();
    world.refuses(&["show", "bare", "--data"], 4, "no_data");
}

#[test]
fn flags_that_exclude_each_other_are_refused() {
    let world = rich();
    for flags in [&["--state", "--data"][..], &["--raw", "--state"], &["--data", "--pointer", "/x"], &["--phase", "a"]]
    {
        world.refuses(&[&["show", "042"][..], flags].concat(), 2, "usage");
    }
    world.refuses(&["show"], 2, "usage");
}

#[test]
fn an_archived_one_names_the_bundle_it_was_read_from() {
    let world = World::with_checkpoints(2);
    let live = world.json(&["show", "042/2"]);
    assert_eq!(live["path"], world.checkpoint_file("042", 2).to_str().unwrap());
    assert_eq!(live["in_bundle"], false);
    let bundle = world.json(&["archive", "042", "--as", "completed"])["archived"][0]["bundles"][0].clone();
    let archived = world.json(&["show", "042/2"]);
    assert_eq!((&archived["path"], &archived["in_bundle"]), (&bundle, &true.into()));
    assert_eq!(archived["checkpoint"], live["checkpoint"]);
    let shown = world.run(&["show", "042/2"]).succeeds().stdout;
    assert!(shown.contains(&format!("  bundle     {}\n", bundle.as_str().unwrap())), "{shown}");
    assert!(!shown.contains("  file  "), "{shown}");
    // The seal itself is live.
    assert_eq!(world.json(&["show", "042/3"])["path"], world.checkpoint_file("042", 3).to_str().unwrap());
}

#[test]
fn an_archived_one_of_a_newer_format_is_shown_as_it_is() {
    let world = World::with_checkpoints(2);
    world.forge("042", 1, |document| document["version"] = "2.0".into());
    world.run(&["archive", "042", "--as", "completed"]).succeeds();
    let shown = world.json(&["show", "042/1"]);
    assert_eq!((&shown["checkpoint"]["version"], &shown["in_bundle"]), (&"2.0".into(), &true.into()));
}

/// An archived workflow is still shown.
#[test]
fn the_newest_of_an_archived_workflow_is_the_last_one_before_the_seal() {
    let world = rich();
    let (text, state) = (world.run(&["show", "042"]), world.run(&["show", "042", "--state"]).stdout);
    world.run(&["archive", "042", "--as", "abandoned"]).succeeds();
    assert_eq!(world.run(&["show", "042", "--state"]).stdout, state);
    let archived = world.run(&["show", "042"]);
    assert!(archived.stdout.starts_with("042/3 OAuth login"), "{archived}");
    assert!(archived.stdout.contains("\n  archived   as abandoned\n") && !text.stdout.contains("archived"));
    let answer = world.json(&["show", "042"]);
    assert_eq!((&answer["handle"], &answer["archived_as"]), (&json!("042/3"), &json!("abandoned")));
    // The seal can be looked at too, by its number.
    let seal = world.run(&["show", "042/4"]).stdout;
    assert!(seal.contains("archived   as abandoned; this only closes it, its content is in 042/3"), "{seal}");
    assert_eq!(world.json(&["show", "042/3"])["archived_as"], json!(null));
}

#[test]
fn raw_and_json_exclude_each_other_wherever_they_stand() {
    let world = World::with_checkpoints(1);
    for args in [["--json", "show", "042", "--raw"], ["show", "042", "--raw", "--json"]] {
        let refused = world.run(&args).exits(2);
        assert!(refused.stderr.contains("cannot be used"), "{refused}");
    }
}
