//! `ckpt completions`, and what the scripts get when they call back.

use crate::support::project::World;

#[test]
fn every_shell_has_a_script_that_calls_back() {
    let world = World::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = world.run(&["completions", shell]).succeeds().stdout;
        assert!(script.contains("COMPLETE") && script.contains("ckpt"), "{shell}: {script}");
    }
    world.refuses(&["completions", "tcsh"], 2, "usage");
}

/// Asks as the script of bash does when Tab is pressed behind these words.
fn completed(world: &World, words: &[&str]) -> Vec<String> {
    let call = world.ckpt(&[&["--", "ckpt"][..], words].concat());
    let index = words.len().to_string();
    let outcome =
        call.env("COMPLETE", "bash").env("_CLAP_COMPLETE_INDEX", index).env("_CLAP_IFS", "\n").run();
    assert_eq!(outcome.stderr, "");
    outcome.succeeds().stdout.lines().map(str::to_owned).collect()
}

#[test]
fn commands_and_flags_are_completed() {
    let world = World::new();
    assert_eq!(completed(&world, &["sa"]), ["save"]);
    assert_eq!(completed(&world, &["save", "042", "--if"]), ["--if-changed"]);
    assert_eq!(completed(&world, &["save", "042", "--phase", "a", "--status", "ski"]), ["skipped"]);
}

#[test]
fn workflow_ids_come_from_the_store() {
    let world = World::new();
    for id in ["oauth", "Other", "042"] {
        world.run(&["save", id]).succeeds();
    }
    for command in ["save", "show", "list"] {
        let ids = completed(&world, &[command, "o"]);
        assert_eq!(ids, ["oauth"], "{command}");
    }
    let all = completed(&world, &["show", ""]);
    assert!(["042", "Other", "oauth"].iter().all(|id| all.iter().any(|found| found == id)), "{all:?}");
}

#[test]
fn without_a_store_there_is_nothing_to_complete_and_no_complaint() {
    let world = World::new();
    assert_eq!(completed(&world, &["show", "o"]), Vec::<String>::new());
}

#[test]
fn a_variable_that_happens_to_have_the_same_name_does_not_stop_a_save() {
    for value in ["1", "true", "bash", "/bin/bash"] {
        let world = World::new();
        let outcome = world.ckpt(&["save", "042"]).env("COMPLETE", value).run().succeeds();
        assert_eq!(
            (outcome.stdout.as_str(), world.numbers("042").as_slice()),
            ("042/1\n", &[1][..]),
            "{value}"
        );
    }
}

#[test]
fn values_come_from_the_workflow_that_is_named_and_from_the_settings() {
    let world = World::new();
    world.configure("[pipelines.mine]\nphases = [\"x\"]\n");
    world.run(&["save", "042", "--phases", "plan,build,test"]).succeeds();
    for args in [
        &["save", "042", "--phase"][..],
        &["run", "042", "--phase"],
        &["approve", "042", "--phase"],
        &["revise", "042", "--from"],
        &["save", "042", "--next-phase"],
    ] {
        assert_eq!(completed(&world, &[args, &["b"]].concat()), ["build"], "{args:?}");
    }
    assert_eq!(completed(&world, &["save", "new", "--phase", ""]), Vec::<String>::new());
    assert_eq!(completed(&world, &["save", "042", "--pipeline", "m"]), ["mine"]);
    assert_eq!(completed(&world, &["save", "042", "--pipeline", "kami"]), ["kamiflow"]);
    assert_eq!(completed(&world, &["save", "042", "--trigger", "sess"]), ["session_end"]);
    assert_eq!(completed(&world, &["save", "042", "--mirror", "cr"]), ["crunch"]);
    assert_eq!(completed(&world, &["export", "042", "--as", "dot"]), ["dotagent"]);
}

#[test]
fn a_store_that_is_named_on_the_line_is_the_one_that_is_asked() {
    let world = World::new();
    std::fs::create_dir(world.temp().join("else")).unwrap();
    let elsewhere = world.temp().join("else/.ckpt");
    let elsewhere = elsewhere.to_str().unwrap();
    world.run(&["save", "oauth", "--store", elsewhere]).succeeds();
    assert_eq!(completed(&world, &["--store", elsewhere, "show", "o"]), ["oauth"]);
    assert_eq!(completed(&world, &["show", &format!("--store={elsewhere}"), "o"]), ["oauth"]);
}
