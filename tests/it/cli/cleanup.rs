//! `ckpt cleanup`: what it says, what it does, and what it refuses.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::support::project::{World, can_mount, skip};
use crate::support::terminal::Terminal;

/// Far beyond any rule that goes by age.
const LATER: &str = "2026-03-30T12:00:00Z";

/// `042` with six batches, `done` complete with three checkpoints, `broken` failed.
fn lived_in() -> World {
    let world = World::new();
    world.configure("[save]\nauto_cleanup = false\n");
    for _ in 1..=6 {
        world.run(&["save", "042", "--trigger", "batch_complete"]).succeeds();
    }
    for phase in ["a", "b", "c"] {
        world.run(&["save", "done", "--phase", phase, "--phases", "a,b,c"]).succeeds();
    }
    world.run(&["save", "broken"]).succeeds();
    world.run(&["save", "broken", "--workflow-status", "failed"]).succeeds();
    world
}

fn live(world: &World, workflow: &str) -> Vec<u64> {
    let has_content = |seq: &u64| std::fs::metadata(world.checkpoint_file(workflow, *seq)).unwrap().len() > 0;
    world.numbers(workflow).into_iter().filter(has_content).collect()
}

fn handles(document: &Value, keep: bool) -> Vec<&str> {
    let decisions = document["decisions"].as_array().unwrap().iter();
    decisions.filter(|decision| decision["keep"] == keep).map(|v| v["handle"].as_str().unwrap()).collect()
}

/// Sizes depend on the machine's name, and plans on sizes.
pub(super) fn without_sizes(text: &str) -> String {
    let text = &match text.split_once("restore --plan ") {
        Some((before, behind)) => format!("{before}restore --plan $PLAN{}", &behind[12..]),
        None => text.to_owned(),
    };
    let mut parts = text.split('(');
    let mut masked = parts.next().unwrap().to_owned();
    for part in parts {
        match part.split_once(')') {
            Some((inside, rest)) if inside.ends_with(" B") || inside.ends_with(" kB") => {
                masked += "(SIZE)";
                masked += rest;
            }
            _ => {
                masked.push('(');
                masked += part;
            }
        }
    }
    masked
}

#[test]
fn the_policy_of_the_store() {
    let world = lived_in();
    let before = world.tree();
    let planned = world.run(&["cleanup", "--dry-run"]).succeeds();
    assert_eq!(before.changes(&world.tree()), Vec::<String>::new(), "a dry run writes nothing");
    assert!(!planned.stdout.to_lowercase().contains("archived") && !planned.stdout.contains("emoved"), "{planned}");
    assert_snapshot!(without_sizes(&planned.to_string()), @r"
    exit 0
    --- stdout
    Policy of the store:
      open workflows keep everything, but only the newest agent_complete per phase, the newest 3 batch_complete per phase and the newest user_interrupt
      of open ones idle for more than 30d, all but the newest are compressed
      complete ones keep their final checkpoint; failed and abandoned ones go
      deleted for good: previous runs of a workflow except the newest 5, and failed and abandoned runs 30d after their last save
    Would archive 3 of 6 checkpoints of 042 (SIZE): not among the newest 3 batch_complete
    Would archive 2 of 2 checkpoints of broken (SIZE): the workflow is failed
    Would archive 2 of 3 checkpoints of done (SIZE): complete, and not the final checkpoint
    Would archive 7 checkpoints (SIZE), keep 4.
    Plan: $SHA256
    --- end
    ");
    let done = world.run(&["cleanup"]).succeeds();
    assert_snapshot!(without_sizes(&done.to_string()), @r"
    exit 0
    --- stdout
    Policy of the store:
      open workflows keep everything, but only the newest agent_complete per phase, the newest 3 batch_complete per phase and the newest user_interrupt
      of open ones idle for more than 30d, all but the newest are compressed
      complete ones keep their final checkpoint; failed and abandoned ones go
      deleted for good: previous runs of a workflow except the newest 5, and failed and abandoned runs 30d after their last save
    Archived 3 of 6 checkpoints of 042 (SIZE): not among the newest 3 batch_complete
    Archived 2 of 2 checkpoints of broken (SIZE): the workflow is failed
    Archived 2 of 3 checkpoints of done (SIZE): complete, and not the final checkpoint
    Archived 7 checkpoints (SIZE), kept 4.
    Undo: ckpt restore --plan $PLAN
    --- end
    ");
    assert_eq!(live(&world, "042"), [4, 5, 6]);
    assert_eq!(live(&world, "done"), [3]);
    assert_eq!(live(&world, "broken"), [3], "the seal");
    for handle in ["042/1", "done/1", "broken/2"] {
        assert_eq!(world.json(&["show", handle])["valid"], true, "{handle}");
    }
    let again = world.run(&["cleanup"]).succeeds();
    assert!(again.stdout.contains("Nothing to clean up"), "{again}");
}

#[test]
fn in_ci_it_applies_without_asking_and_says_how_to_undo_it() {
    let world = lived_in();
    let done = world.ckpt(&["cleanup", "--max-age", "7d"]).env("CKPT_NOW", LATER).env("CI", "true").run().succeeds();
    assert_snapshot!(without_sizes(&done.to_string()), @r"
    exit 0
    --- stdout
    Policy of this command, instead of that of the store:
      finished workflows idle for more than 7d go, and what is older in open ones, except the newest
      deleted for good: previous runs of a workflow except the newest 5, and failed and abandoned runs 30d after their last save
    Archived 5 of 6 checkpoints of 042 (SIZE): older than 7d
    Archived 3 of 3 checkpoints of done (SIZE): complete and idle for more than 7d
    Deleted for good: the run broken/1 to broken/2 (SIZE): failed, and last saved more than 30d ago
    What is deleted for good cannot be restored, and this cannot be undone.
    Archived 8 checkpoints (SIZE), deleted 1 run for good (SIZE), kept 1.
    Undo: ckpt restore --plan $PLAN
    --- stderr
    Would delete for good: the run broken/1 to broken/2 (SIZE): failed, and last saved more than 30d ago
    What is deleted for good cannot be restored, and this cannot be undone.
    --- end
    ");
    assert_eq!(live(&world, "042"), [6]);
}

#[test]
fn the_dry_run_and_the_run_are_the_same_plan() {
    let world = lived_in();
    let planned = world.json(&["cleanup", "--dry-run"]);
    assert_eq!((&planned["applied"], &planned["undo"]), (&json!(false), &json!(null)));
    let fingerprint = world.run(&["cleanup", "-n", "-q"]).succeeds().stdout;
    assert_eq!(fingerprint.trim(), planned["plan"].as_str().unwrap());
    let done = world.json(&["cleanup", "--expect-plan", fingerprint.trim()]);
    assert_eq!(done["applied"], true);
    for key in ["plan", "policy", "decisions", "removed", "kept"] {
        assert_eq!(done[key], planned[key], "{key}");
    }
    assert_eq!(handles(&done, false).len(), usize::try_from(done["removed"]["count"].as_u64().unwrap()).unwrap());
    assert_eq!(done["undo"], json!(["ckpt", "restore", "--plan", &fingerprint[..12]]));
    assert_eq!((&done["failures"], &done["warnings"]), (&json!([]), &json!([])));
}

#[test]
fn another_plan_than_expected_is_a_conflict() {
    let world = lived_in();
    let fingerprint = world.run(&["cleanup", "-n", "-q"]).succeeds().stdout;
    world.run(&["save", "042", "--trigger", "batch_complete"]).succeeds();
    let failure = world.refuses(&["cleanup", "--expect-plan", fingerprint.trim()], 8, "plan_changed");
    assert!(failure["context"]["plan"].is_string());
    world.refuses(&["cleanup", "--expect-plan", "x", "--dry-run"], 8, "plan_changed");
}

/// Runs the command that stands between backticks in a help line.
fn type_what_it_says(world: &World, help: &Value) -> crate::support::project::Outcome {
    let command = help.as_str().unwrap().split('`').nth(1).unwrap();
    world.run(&command.split(' ').skip(1).collect::<Vec<_>>())
}

#[test]
fn the_way_to_the_right_plan_repeats_the_rules() {
    let world = lived_in();
    for rules in [
        &["--max-age", "2 weeks"][..],
        &["--keep-last", "-1"],
        &["--keep-within", "1d12h", "--keep-trigger", "batch_complete=all", "--workflow", "42"],
        &["--status", "complete", "--status", "failed"],
        &["--max-age", "1d", "--purge", "--yes"],
    ] {
        let refused = world.refuses(&[&["cleanup", "--expect-plan", "x"], rules].concat(), 8, "plan_changed");
        let again = type_what_it_says(&world, &refused["help"][0]).succeeds();
        let plan = format!("Plan: {}\n", refused["context"]["plan"].as_str().unwrap());
        assert!(again.stdout.ends_with(&plan), "{refused} {again}");
    }
}

#[test]
fn rules_on_the_command_line_replace_all_of_the_policy() {
    let world = World::new();
    world.configure("[save]\nauto_cleanup = false\n[retention]\nmax_size = \"1B\"\nprevious_runs = 2\n");
    for id in ["a", "b", "c"] {
        world.run(&["save", id, "--phases", "p", "--phase", "p"]).succeeds();
    }
    let planned = |args: &[&str]| world.json(&[&["cleanup", "-n"], args].concat());
    let standing = planned(&[]);
    assert_eq!((&standing["policy"]["source"], handles(&standing, false).len()), (&json!("store"), 3));
    assert_eq!(planned(&["--workflow", "a"])["policy"]["source"], "store", "a scope is not a rule");
    for rule in [&["--max-age", "7d"][..], &["--keep-last", "3"], &["--keep-trigger", "phase_transition=1"]] {
        let given = planned(rule);
        assert_eq!(given["policy"]["source"], "command_line", "{rule:?}");
        assert_eq!(handles(&given, false), [""; 0], "{rule:?}");
        assert_eq!((&given["policy"]["max_size_bytes"], &given["warnings"]), (&json!(null), &json!([])));
        assert_eq!(given["policy"]["previous_runs"], 2, "runs have a rule of their own");
    }
}

#[test]
fn why_everything_stays_is_told_too() {
    let world = World::with_checkpoints(2);
    world.run(&["save", "one"]).succeeds();
    let plan = world.json(&["cleanup", "--keep-last", "all"]);
    let decisions = plan["decisions"].as_array().unwrap().iter();
    let codes = |kept: &Value| kept["reasons"].as_array().unwrap().iter().map(|why| why["code"].clone()).collect();
    let codes: Vec<Value> = decisions.map(codes).collect();
    let newest = json!(["newest_of_open", "keep_last"]);
    assert_eq!(codes, [json!(["keep_last"]), newest.clone(), newest]);
    assert_snapshot!(world.run(&["cleanup", "--keep-last", "all"]), @"
    exit 0
    --- stdout
    Policy of this command, instead of that of the store:
      everything goes that no keep rule matches
      kept: everything
      deleted for good: previous runs of a workflow except the newest 5, and failed and abandoned runs 30d after their last save
    Nothing to clean up: 3 checkpoints stay.
    --- end
    ");
    assert_snapshot!(world.run(&["cleanup", "-n", "--keep-last", "1", "--workflow", "one", "--status", "in_progress"]), @"
    exit 0
    --- stdout
    Policy of this command, instead of that of the store:
      everything goes that no keep rule matches
      kept: the newest of every workflow
      only one
      only what is in progress
      deleted for good: previous runs of a workflow except the newest 5, and failed and abandoned runs 30d after their last save
    Nothing to clean up: 1 checkpoint stays.
    Plan: $SHA256
    --- end
    ");
}

#[test]
fn keep_rules() {
    let world = lived_in();
    let planned = |args: &[&str]| world.json(&[&["cleanup", "--dry-run"], args].concat());
    let all = planned(&["--keep-last", "2"]);
    assert_eq!(handles(&all, true), ["042/5", "042/6", "broken/1", "broken/2", "done/2", "done/3"]);
    let one = planned(&["--keep-last", "2", "--workflow", "42"]);
    assert_eq!(handles(&one, true), ["042/5", "042/6"]);
    assert_eq!(one["policy"]["workflows"], json!(["042"]));
    let complete = planned(&["--keep-last", "1", "--status", "complete"]);
    assert_eq!(handles(&complete, true), ["done/3"]);
    let batches = planned(&["--keep-trigger", "batch_complete=3", "--workflow", "042"]);
    assert_eq!(handles(&batches, true), ["042/4", "042/5", "042/6"]);
    for everything in ["batch_complete=-1", "batch_complete=all"] {
        assert_eq!(handles(&planned(&["--keep-trigger", everything, "--workflow", "042"]), false), [""; 0]);
    }
    let old = ["--max-age", "7d", "--keep-last", "-1"];
    let old = world.ckpt(&[&["cleanup", "-n"], &old[..]].concat()).env("CKPT_NOW", LATER).json();
    assert_eq!(handles(&old, false), [""; 0]);
    assert_eq!(old["decisions"][0]["reasons"], json!([{"code": "keep_last", "message": "all stay"}]));
}

#[test]
fn what_is_refused() {
    let world = lived_in();
    for args in [
        &["--keep-last", "0"][..],
        &["--keep-trigger", "manual=0"],
        &["--keep-trigger", "manual"],
        &["--keep-trigger", "manual=some"],
        &["--max-age", "7"],
        &["--max-age", "7m"],
        &["--keep-last", "-2"],
    ] {
        world.refuses(&[&["cleanup"], args].concat(), 2, "usage");
    }
    world.refuses(&["cleanup", "--keep-trigger", "nothing=1"], 2, "unknown_trigger");
    world.refuses(&["cleanup", "--workflow", "nothing"], 4, "no_such_workflow");
    world.refuses(&["cleanup", "--purge"], 9, "confirmation_needed");
    world.refuses(&["cleanup", "--keep-trigger", "manual=3", "--workflow", "042"], 9, "keep_matches_nothing");
    let nothing = world.ckpt(&["cleanup", "--keep-within", "1d"]).env("CKPT_NOW", LATER);
    let refused = nothing.refused(9, "keep_matches_nothing");
    assert!(!refused["help"].to_string().contains("--dry-run"), "that is refused as well: {refused}");
}

#[test]
fn guards_hold_whatever_is_asked() {
    let world = World::new();
    world.run(&["save", "042", "--pin"]).succeeds();
    world.run(&["save", "042"]).succeeds();
    world.ckpt(&["save", "042"]).env("CKPT_NOW", "2099-01-01T00:00:00Z").run().succeeds();
    world.run(&["save", "042"]).succeeds();
    world.run(&["save", "042"]).succeeds();
    world.replace_checkpoint("042", 4, b"damaged");
    let done = world.ckpt(&["cleanup", "--max-age", "1s", "--purge", "--yes"]).env("CKPT_NOW", LATER).json();
    assert_eq!(handles(&done, false), ["042/2"]);
    let codes: Vec<_> = done["decisions"].as_array().unwrap().iter().map(|v| &v["reasons"][0]["code"]).collect();
    assert_eq!(codes, ["pinned", "older_than", "future_time", "unreadable", "newest_of_open"]);
    assert_eq!((&done["undo"], &done["bundles"]), (&json!(null), &json!([])));
    world.refuses(&["show", "042/2"], 4, "archived");
}

#[test]
fn a_store_that_is_too_large() {
    let world = World::new();
    world.configure("[save]\nauto_cleanup = false\n[retention]\nmax_size = \"3kB\"\n");
    for id in ["old", "young"] {
        world.run(&["save", id, "--phase", "a", "--phases", "a"]).succeeds();
    }
    world.run(&["save", "open", "--set", &format!("x=\"{}\"", "y".repeat(1200))]).succeeds();
    let done = world.json(&["cleanup"]);
    assert_eq!(handles(&done, false), ["old/1"], "{done}");
    assert_eq!(done["decisions"][0]["reasons"][0]["code"], "max_size");
    world.configure("[retention]\nmax_size = \"1B\"\n");
    let done = world.json(&["cleanup"]);
    assert_eq!(handles(&done, false), ["young/1"]);
    assert!(done["warnings"][0].as_str().unwrap().contains("more than 1 B"), "{done}");
}

#[test]
fn settings_of_the_store() {
    let world = lived_in();
    world.configure("[retention]\ntriggers = { batch_complete = -1 }\nprevious_runs = 1\nfailed_for = \"1d\"\n");
    let planned = world.json(&["cleanup", "-n", "--workflow", "042"]);
    assert_eq!(handles(&planned, false), [""; 0]);
    assert_eq!(
        (&planned["policy"]["previous_runs"], &planned["policy"]["failed_for_seconds"]),
        (&json!(1), &json!(86400))
    );
    world.configure("[retention]\nmax_age = \"7d\"\n");
    let planned = world.ckpt(&["cleanup", "-n", "--workflow", "042"]).env("CKPT_NOW", LATER).json();
    assert_eq!(handles(&planned, true), ["042/6"]);
    world.configure("[retention]\nmax_agee = \"7d\"\n");
    world.refuses(&["cleanup"], 2, "invalid_config");
}

#[test]
fn what_fails_for_one_workflow_is_said_and_the_others_are_cleaned() {
    let world = lived_in();
    // A file stands where the bundles of `042` would be.
    std::fs::create_dir_all(world.store().join("archive")).unwrap();
    std::fs::write(world.store().join("archive/042"), "an obstacle").unwrap();
    let outcome = world.run(&["cleanup", "--json"]).exits(3);
    let done = outcome.document();
    assert_eq!(live(&world, "042"), [1, 2, 3, 4, 5, 6]);
    assert_eq!(live(&world, "done"), [3]);
    assert!(done["failures"][0]["item"].as_str().unwrap().ends_with("/workflows/042"), "{done}");
}

#[test]
fn a_read_only_store() {
    if !can_mount() {
        return skip("mounting needs rights that are not there");
    }
    let world = lived_in();
    let before = world.tree();
    let read_only = "mount --bind . . && mount -o remount,bind,ro . && cd \"$PWD\" && exec \"$@\"";
    let run = |args: &[&str]| {
        let call = world.ckpt(args).under(&["unshare", "-m", "/bin/sh", "-c", read_only, "sh"]);
        call.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").run()
    };
    let planned = run(&["cleanup", "--dry-run", "--json"]).succeeds().document();
    assert_eq!(handles(&planned, false).len(), 7);
    let failure = run(&["cleanup", "--json"]).exits(10).failure();
    assert_eq!(failure["code"], "store_unusable");
    assert_eq!(before.changes(&world.tree()), Vec::<String>::new());
}

#[test]
fn a_full_disk() {
    if !can_mount() {
        return skip("mounting needs rights that are not there");
    }
    let world = World::new();
    let script = "mount -t tmpfs -o size=256k tmpfs . && cd \"$PWD\" && code=0 && while [ $code = 0 ]; do \
         \"$@\" save 042 --trigger batch_complete --state @../state.json -q > ../handle 2>&1; code=$?; done; \
         \"$@\" cleanup --json > ../cleanup.json 2> ../complaint; echo $? > ../code; \
         \"$@\" save 042 --trigger batch_complete --state @../state.json -q >&2; \
         \"$@\" show 042/1 -q >&2";
    std::fs::write(world.temp().join("state.json"), format!("{{\"x\":\"{}\"}}", "y".repeat(20_000))).unwrap();
    world.configure_user("[save]\nauto_cleanup = false\n");
    let no_args: [&str; 0] = [];
    let call = world.ckpt(&no_args).under(&["unshare", "-m", "/bin/sh", "-c", script, "sh"]);
    let outcome = call.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").run();
    let read = |name: &str| std::fs::read_to_string(world.temp().join(name)).unwrap();
    assert_eq!(read("code").trim(), "0", "{} {}", read("complaint"), read("cleanup.json"));
    assert!(outcome.stderr.contains("042/1\n"), "{outcome}");
    let done: Value = serde_json::from_str(&read("cleanup.json")).unwrap();
    assert!(done["removed"]["count"].as_u64().unwrap() > 3, "{done}");
    outcome.succeeds();
}

#[test]
fn a_person_is_asked_and_only_yes_is_yes() {
    for (answer, code) in [("\n", 9), ("n\n", 9), ("\u{4}", 9), ("y\n", 0)] {
        let world = lived_in();
        let mut terminal = Terminal::open(&world, &["cleanup"], &[]);
        terminal.expect("Do it? [y/N]: ", 1);
        assert_eq!(live(&world, "042").len(), 6, "it waits");
        terminal.answer(answer);
        let (found, seen) = terminal.exit();
        assert_eq!(found, code, "{answer:?}: {seen}");
        assert_eq!(live(&world, "042").len(), if code == 0 { 3 } else { 6 }, "{answer:?}: {seen}");
        assert_eq!(seen.contains("Undo: ckpt restore --plan "), code == 0, "{seen}");
        assert_eq!(seen.matches("Policy of the store:").count(), 1, "{seen}");
    }
}

#[test]
fn nobody_is_asked_who_said_yes_or_is_no_person() {
    for (args, env) in [
        (&["cleanup", "--yes"][..], &[][..]),
        (&["cleanup"], &[("CI", "true")]),
        (&["cleanup", "--no-input"], &[]),
        (&["cleanup", "--dry-run"], &[]),
    ] {
        let world = lived_in();
        let (code, seen) = Terminal::open(&world, args, env).exit();
        assert!(code == 0 && !seen.contains("[y/N]"), "{args:?}: {seen}");
    }
    let world = lived_in();
    let (code, seen) = Terminal::open(&world, &["cleanup", "--purge"], &[]).exit();
    assert!(code == 9 && seen.contains("--yes"), "{seen}");
}

#[test]
fn what_was_archived_long_ago_is_known_as_before() {
    let world = lived_in();
    world.run(&["cleanup"]).succeeds();
    world.run(&["archive", "done"]).succeeds();
    let before = world.run(&["list", "--archived"]).succeeds().stdout;
    let stats = || [world.json(&["stats", "done"]), world.json(&["stats"])];
    let counted = stats();
    let cleaned = world.ckpt(&["cleanup"]).env("CKPT_NOW", "2026-02-20T12:00:00Z").json();
    assert_eq!((&cleaned["undo"], &cleaned["deleted_runs"]), (&json!(null), &json!([])), "{cleaned}");
    assert!(world.checkpoint_file("done", 4).exists(), "the seal keeps its number taken");

    assert_eq!(world.run(&["list", "--archived"]).succeeds().stdout, before);
    let list = world.run(&["list"]).succeeds();
    assert!(list.stdout.contains("2 archived workflows not shown") || list.stderr.contains("2 archived"), "{list}");
    assert_eq!(world.json(&["log", "done"])["entries"].as_array().unwrap().len(), 4);
    assert_eq!(world.json(&["show", "done/2"])["valid"], true);
    assert_eq!(world.json(&["show", "done~1"])["handle"], "done/3");
    assert_eq!(world.json(&["resume", "--from", "done/2"])["handle"], "done/2");
    assert_eq!(stats(), counted);
    world.run(&["verify"]).succeeds();
    assert_eq!(world.json(&["save", "broken", "--workflow-status", "in_progress"])["handle"], "broken/4");
    world.run(&["restore", "done"]).succeeds();
    assert_eq!(world.json(&["show", "done"])["handle"], "done/5");
    world.run(&["verify"]).succeeds();
}

/// Seven rounds of saving and archiving are one run, of which nothing is ever deleted by default.
#[test]
fn a_run_that_was_archived_again_and_again_loses_nothing() {
    let world = World::new();
    for round in 1..=7 {
        world.run(&["save", "w", "--set", &format!("round={round}")]).succeeds();
        world.run(&["archive", "w", "--as", "completed"]).succeeds();
    }
    for now in ["2026-02-20T12:00:00Z", LATER] {
        let done = world.ckpt(&["cleanup"]).env("CKPT_NOW", now).run().succeeds();
        assert!(done.stdout.contains("Nothing to clean up"), "{done}");
    }
    for round in 1..=7 {
        let shown = world.json(&["show", &format!("w/{}", 2 * round - 1)]);
        assert_eq!(shown["checkpoint"]["state"]["round"], round);
    }
}

#[test]
fn a_run_that_goes_for_good_is_listed_with_its_reason_before_it_goes() {
    let world = World::new();
    for id in ["broken", "open"] {
        world.run(&["save", id]).succeeds();
    }
    world.run(&["save", "broken", "--workflow-status", "failed"]).succeeds();
    world.run(&["cleanup"]).succeeds();
    let cleanup = |args: &[&str]| world.ckpt(&[&["cleanup"], args].concat()).env("CKPT_NOW", LATER).run().succeeds();
    assert_snapshot!(without_sizes(&cleanup(&["--dry-run"]).to_string()), @"
    exit 0
    --- stdout
    Policy of the store:
      open workflows keep everything, but only the newest agent_complete per phase, the newest 3 batch_complete per phase and the newest user_interrupt
      of open ones idle for more than 30d, all but the newest are compressed
      complete ones keep their final checkpoint; failed and abandoned ones go
      deleted for good: previous runs of a workflow except the newest 5, and failed and abandoned runs 30d after their last save
    Would delete for good: the run broken/1 to broken/3 (SIZE): failed, and last saved more than 30d ago
    What is deleted for good cannot be restored, and this cannot be undone.
    Would archive 0 checkpoints (SIZE), delete 1 run for good (SIZE), keep 1.
    Plan: $SHA256
    --- end
    ");
    let planned = world.ckpt(&["cleanup", "-n"]).env("CKPT_NOW", LATER).json();
    let run = &planned["deleted_runs"][0];
    assert_eq!((&run["workflow"], &run["first"], &run["last"]), (&json!("broken"), &json!(1), &json!(3)));
    assert_eq!((&run["outcome"], &run["reasons"][0]["code"]), (&json!("failed"), &json!("run_older_than")));
    assert_eq!(world.json(&["show", "broken/1"])["valid"], true, "a dry run deletes nothing");
    assert_snapshot!(without_sizes(&cleanup(&[]).to_string()), @"
    exit 0
    --- stdout
    Policy of the store:
      open workflows keep everything, but only the newest agent_complete per phase, the newest 3 batch_complete per phase and the newest user_interrupt
      of open ones idle for more than 30d, all but the newest are compressed
      complete ones keep their final checkpoint; failed and abandoned ones go
      deleted for good: previous runs of a workflow except the newest 5, and failed and abandoned runs 30d after their last save
    Deleted for good: the run broken/1 to broken/3 (SIZE): failed, and last saved more than 30d ago
    What is deleted for good cannot be restored, and this cannot be undone.
    Archived 0 checkpoints (SIZE), deleted 1 run for good (SIZE), kept 1.
    --- stderr
    Would delete for good: the run broken/1 to broken/3 (SIZE): failed, and last saved more than 30d ago
    What is deleted for good cannot be restored, and this cannot be undone.
    --- end
    ");
    world.refuses(&["show", "broken/1"], 4, "archived");
    assert_eq!(world.json(&["show", "open/1"])["valid"], true);
    world.run(&["verify"]).succeeds();
    let again = cleanup(&[]);
    assert!(again.stdout.contains("Nothing to clean up") && again.stderr.is_empty(), "{again}");
}

#[test]
fn previous_runs_go_for_good_except_the_newest_five() {
    let world = World::new();
    world.run(&["save", "w", "--set", "run=1"]).succeeds();
    for _ in 1..=6 {
        let mut terminal = Terminal::open(&world, &["resume", "w"], &[]);
        terminal.expect("(s)tart fresh", 1);
        terminal.answer("s\n");
        let (code, seen) = terminal.exit();
        assert_eq!(code, 0, "{seen}");
    }
    let done = world.json(&["cleanup"]);
    let runs = done["deleted_runs"].as_array().unwrap();
    assert_eq!((runs.len(), &runs[0]["first"], &runs[0]["last"]), (1, &json!(1), &json!(2)), "{done}");
    assert_eq!(runs[0]["reasons"][0]["code"], "run_beyond_limit");
    world.refuses(&["show", "w/1"], 4, "archived");
    assert_eq!(world.json(&["show", "w/3"])["valid"], true);
    world.run(&["verify"]).succeeds();
}

#[test]
fn without_a_store_there_is_nothing_to_do() {
    let world = World::new();
    let before = world.tree();
    let outcome = world.run(&["cleanup", "--max-age", "7d"]);
    insta::assert_snapshot!(outcome, @"
    exit 0
    --- stdout
    Policy of this command, instead of that of the store:
      finished workflows idle for more than 7d go, and what is older in open ones, except the newest
      deleted for good: previous runs of a workflow except the newest 5, and failed and abandoned runs 30d after their last save
    Nothing to clean up: 0 checkpoints stay.
    --- stderr
    There is no store here, so there is nothing to clean up.
    --- end
    ");
    let answer = world.json(&["cleanup", "--max-age", "7d", "--workflow", "042"]);
    assert_eq!((&answer["kept"], &answer["decisions"]), (&json!(0), &json!([])));
    let elsewhere = world.temp().join("none/.ckpt");
    let elsewhere = ["cleanup", "--max-age", "7d", "--store", elsewhere.to_str().unwrap()];
    assert_eq!(world.run(&[&elsewhere[..], &["-q"]].concat()).succeeds().stderr, "");
    world.refuses(&["cleanup", "--max-age", "7d", "--require-store"], 4, "no_store");
    world.refuses(&[&elsewhere[..], &["--require-store"]].concat(), 4, "no_store");
    assert_eq!(before.changes(&world.tree()), Vec::<String>::new(), "no store was created");
}
