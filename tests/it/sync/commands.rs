//! `ckpt remote`, `push`, `pull` and `sync` with a shared directory.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use crate::support::project::World;

/// A world with a directory beside the project that others share.
pub(super) fn shared() -> (World, String) {
    let world = World::new();
    let shared = world.temp().join("shared");
    fs::create_dir(&shared).unwrap();
    let url = format!("file://{}", shared.display());
    (world, url)
}

/// Another machine: a project of its own, with the same remote.
pub(super) fn machine(world: &World, name: &str, url: &str) -> World {
    let parent = world.temp().join(name);
    fs::create_dir(&parent).unwrap();
    let machine = World::inside(&parent);
    machine.configure_user(&format!("[remote]\nurl = \"{url}\"\n"));
    machine
}

#[test]
fn what_one_store_pushes_another_pulls_byte_for_byte() {
    let (a, url) = shared();
    a.run(&["save", "042", "--phases", "plan,build,ship", "--phase", "plan"]).succeeds();
    a.run(&["save", "Auth", "--set", "n=1"]).succeeds();
    a.run(&["save", "042", "--phase", "build"]).succeeds();
    assert_eq!(a.json(&["remote", "add", &url])["new"], true);
    let planned = a.json(&["push", "--dry-run"]);
    assert_eq!((&planned["applied"], &planned["workflows"][0]["pushed"]), (&false.into(), &2.into()));
    assert!(!a.temp().join("shared/wf").exists());
    assert!(a.run(&["push", "-n"]).succeeds().stdout.contains("042: 2 to push"));
    let pushed = a.json(&["push"]);
    assert_eq!((&pushed["compared"], &pushed["workflows"][1]["pushed"]), (&2.into(), &1.into()));
    assert!(a.json(&["push"])["workflows"].as_array().unwrap().is_empty(), "nothing is pushed twice");

    let b = machine(&a, "b", &url);
    b.run(&["pull"]).succeeds();
    for (workflow, numbers) in [("042", 1..=2), ("Auth", 1..=1)] {
        for seq in numbers {
            let read = |world: &World| fs::read(world.checkpoint_file(workflow, seq)).unwrap();
            assert_eq!(read(&a), read(&b));
        }
    }
    assert_eq!(b.json(&["verify"])["ok"], true);
    b.run(&["save", "042", "--set", "from=\"b\""]).succeeds();
    b.run(&["sync"]).succeeds();
    assert_eq!(a.json(&["pull", "042"])["workflows"][0]["pulled"], 1);
    assert_eq!(a.stored("042", 3)["state"]["from"], "b");
    assert_eq!(a.json(&["sync"])["workflows"].as_array().unwrap().len(), 0);
}

#[test]
fn whoever_may_write_in_a_shared_directory_may_read_it() {
    for (above, directory, file) in [(0o755, 0o700, 0o400), (0o770, 0o770, 0o440), (0o2775, 0o2770, 0o440)] {
        let (world, url) = shared();
        let shared = world.temp().join("shared");
        fs::set_permissions(&shared, fs::Permissions::from_mode(above)).unwrap();
        world.run(&["save", "042", "--set", "n=1"]).succeeds();
        let line = "umask 077; \"$1\" remote add \"$2\" && \"$1\" push";
        world.ckpt(&[&url]).in_shell(line).run().succeeds();
        let mode = |path: &str| fs::metadata(shared.join(path)).unwrap().permissions().mode() & 0o7777;
        assert_eq!((mode("wf"), mode("wf/042")), (directory, directory), "below {above:o}");
        let object = "wf/042/18446744073709551614-1.json";
        assert_eq!((mode("FORMAT"), mode(object)), (file, file), "below {above:o}");
    }
}

#[test]
fn a_store_has_one_remote_and_its_settings_stay_as_they_are() {
    let (world, url) = shared();
    world.run(&["init"]).succeeds();
    world.configure("# mine\n[save]\nauto_cleanup = false\n");
    world.refuses(&["push"], 4, "no_remote");
    world.run(&["remote", "add", &url, "--push", "end"]).succeeds();
    let settings = fs::read_to_string(world.store().join("config.toml")).unwrap();
    assert!(settings.starts_with("# mine\n[save]\nauto_cleanup = false\n") && settings.contains("push = \"end\""));
    world.refuses(&["remote", "add", "git:origin"], 8, "remote_exists");
    let shown = world.json(&["remote", "show"]);
    assert_eq!((&shown["remote"], &shown["push"]), (&json!(url), &json!("end")));
    let text = world.run(&["remote", "show"]).succeeds().stderr;
    assert!(text.contains("pushed when a phase or a workflow ends"), "{text}");
    world.run(&["remote", "check"]).succeeds();
    world.run(&["remote", "remove"]).succeeds();
    assert_eq!(world.json(&["remote", "show"])["remote"], serde_json::Value::Null);
    world.refuses(&["remote", "remove"], 4, "no_remote");
}

#[test]
fn a_remote_that_is_missing_fails_and_loses_nothing() {
    let (world, url) = shared();
    world.run(&["save", "042", "--set", "n=1"]).succeeds();
    world.refuses(&["remote", "add", "file:///nowhere/at/all"], 1, "remote_unreachable");
    world.refuses(&["remote", "add", "nonsense"], 2, "invalid_remote");
    let refused = world.refuses(&["remote", "add", "git:https://me:hunter22@example.com/x"], 2, "invalid_remote");
    assert!(!refused.to_string().contains("hunter22"));
    world.run(&["remote", "add", &url]).succeeds();
    fs::rename(world.temp().join("shared"), world.temp().join("away")).unwrap();
    world.refuses(&["push"], 1, "remote_unreachable");
    let resumed = world.run(&["resume", "042", "--pull", "--json"]);
    assert!(resumed.stdout.contains("remote_unreachable"), "{resumed}");
    fs::rename(world.temp().join("away"), world.temp().join("shared")).unwrap();
    assert_eq!(world.json(&["push"])["workflows"][0]["pushed"], 1);
}

#[test]
fn objects_that_are_not_what_their_names_say_are_not_used() {
    let (a, url) = shared();
    a.run(&["save", "042", "--set", "n=1"]).succeeds();
    a.run(&["save", "007", "--set", "n=1"]).succeeds();
    a.run(&["remote", "add", &url]).succeeds();
    a.run(&["push"]).succeeds();
    let objects = a.temp().join("shared/wf/042");
    let [name] = [fs::read_dir(&objects).unwrap().next().unwrap().unwrap().file_name()];
    let good = fs::read(objects.join(&name)).unwrap();
    let other = fs::read(a.checkpoint_file("007", 1)).unwrap();
    let edited = String::from_utf8(good.clone()).unwrap().replace("\"n\": 1", "\"n\": 2").into_bytes();
    for (place, bad) in [edited, other, b"half".to_vec(), good[..good.len() / 2].to_vec()].iter().enumerate() {
        fs::remove_file(objects.join(&name)).unwrap();
        fs::write(objects.join(&name), bad).unwrap();
        let b = machine(&a, &format!("b{place}"), &url);
        let pulled = b.run(&["pull", "--json"]).exits(3).document();
        let failed = &pulled["workflows"].as_array().unwrap()[1];
        assert_eq!(failed["error"]["code"], "damaged_remote", "{pulled}");
        assert!(!b.workflow_dir("042").exists() && b.workflow_dir("007").exists());
    }
    // Names that are not of this layout are passed over.
    fs::write(objects.join(&name), good).unwrap_or_default();
    fs::write(objects.join("..json"), b"x").unwrap();
    fs::write(a.temp().join("shared/wf/strange"), b"x").unwrap();
    assert_eq!(a.json(&["pull"])["compared"], 2);
}

#[test]
fn secrets_are_not_pushed() {
    let (world, url) = shared();
    let secret = "AKIAIOSFODNN7EXAMPLQ";
    world.run(&["save", "042", "--note", secret, "--allow-secrets"]).succeeds();
    world.run(&["remote", "add", &url]).succeeds();
    let refused = world.run(&["push", "--json"]).exits(3).document();
    assert_eq!(refused["workflows"][0]["error"]["code"], "secret_to_push", "{refused}");
    assert!(!refused.to_string().contains(secret));
    assert!(!world.temp().join("shared/wf/042").exists());
    world.run(&["push", "--allow-secrets"]).succeeds();
}

#[test]
fn archived_and_deleted_history_travels() {
    let (a, url) = shared();
    for n in 1..=3 {
        a.run(&["save", "042", "--set", &format!("n={n}")]).succeeds();
    }
    a.run(&["archive", "042", "--as", "abandoned"]).succeeds();
    a.run(&["save", "042", "--set", "n=5"]).succeeds();
    a.run(&["save", "gone", "--workflow-status", "failed"]).succeeds();
    a.run(&["cleanup", "--workflow", "gone", "--purge", "--yes"]).succeeds();
    a.run(&["remote", "add", &url]).succeeds();
    a.run(&["push"]).succeeds();
    let b = machine(&a, "b", &url);
    b.run(&["pull"]).succeeds();
    assert_eq!(b.stored("042", 5)["state"]["n"], 5);
    assert_eq!(b.stored("042", 2)["state"]["n"], 2);
    let verified = b.run(&["verify", "--json"]);
    assert!(verified.stdout.contains("\"ok\":true"), "{verified}");
    assert_eq!(b.json(&["push"])["workflows"].as_array().unwrap().len(), 0);
}

#[test]
fn the_contents_of_artifacts_travel_with_the_checkpoints_that_need_them() {
    let (a, url) = shared();
    a.write("plan.md", "the plan");
    a.run(&["save", "042", "--artifact", "plan.md", "--capture"]).succeeds();
    a.run(&["save", "042", "--set", "n=1"]).succeeds();
    a.run(&["remote", "add", &url]).succeeds();
    a.run(&["push"]).succeeds();
    let b = machine(&a, "b", &url);
    b.run(&["pull"]).succeeds();
    assert_eq!(b.json(&["verify"])["ok"], true);
    b.run(&["resume", "042", "--restore-artifacts"]);
    assert_eq!(fs::read_to_string(b.project().join("plan.md")).unwrap(), "the plan");
}

#[test]
fn a_workflow_that_is_nowhere_is_not_exchanged_silently() {
    let (a, url) = shared();
    a.run(&["save", "042", "--set", "n=1"]).succeeds();
    a.run(&["remote", "add", &url]).succeeds();
    for command in ["push", "pull", "sync"] {
        a.refuses(&[command, "043"], 4, "no_such_workflow");
    }
    let both = a.run(&["push", "042", "043", "--json"]).exits(3);
    assert!(both.stdout.contains("no_such_workflow") && both.stdout.contains("\"042\""), "{both}");
    let b = machine(&a, "b", &url);
    b.run(&["pull", "042"]).succeeds();
    b.run(&["push", "042"]).succeeds();
}

#[test]
fn a_dry_run_says_what_a_pull_of_many_checkpoints_does() {
    let (a, url) = shared();
    a.configure("[save]\nauto_cleanup = false\n");
    for n in 1..=130 {
        a.run(&["save", "042", "--set", &format!("n={n}")]).succeeds();
    }
    a.run(&["remote", "add", &url]).succeeds();
    a.run(&["push"]).succeeds();
    let b = machine(&a, "b", &url);
    let counted = |args: &[&str]| {
        let report = b.json(args);
        let shared = &report["workflows"][0];
        (shared["pulled"].clone(), shared["pulled_sides"].clone(), shared["pushed"].clone())
    };
    let expected = (json!(130), json!(0), json!(0));
    assert_eq!(counted(&["pull", "--dry-run"]), expected);
    assert_eq!(counted(&["sync", "--dry-run"]), expected);
    assert!(!b.workflow_dir("042").exists() && !b.store().join("remote").exists());
    assert_eq!(counted(&["pull"]), expected);
}

#[test]
fn a_workflow_whose_fillers_are_on_their_way_is_pulled_when_they_are_there() {
    let (a, url) = shared();
    a.run(&["save", "042", "--workflow-status", "failed"]).succeeds();
    a.run(&["cleanup", "--workflow", "042", "--purge", "--yes"]).succeeds();
    a.run(&["save", "042", "--set", "n=3"]).succeeds();
    a.run(&["remote", "add", &url]).succeeds();
    a.run(&["push"]).succeeds();
    let filler = a.temp().join("shared/wf/042/18446744073709551614-1.json");
    assert_eq!(fs::metadata(&filler).unwrap().len(), 0);
    let b = machine(&a, "b", &url);
    let c = machine(&a, "c", &url);
    fs::remove_file(&filler).unwrap();
    for args in [&["pull"][..], &["pull", "-n"], &["pull"]] {
        let early = b.json(args);
        assert_eq!(early["workflows"], json!([]), "{early}");
        assert!(!b.workflow_dir("042").exists() && !b.store().join("sides").exists());
    }
    fs::write(&filler, b"").unwrap();
    assert_eq!(b.json(&["pull"])["workflows"][0]["pulled_sides"], 0);
    assert_eq!(b.numbers("042"), a.numbers("042"));
    // Whoever was to create it never does: a sync does it instead.
    fs::remove_file(&filler).unwrap();
    c.run(&["sync"]).succeeds();
    assert!(filler.exists());
    c.run(&["sync"]).succeeds();
    for world in [&b, &c] {
        assert_eq!(world.stored("042", 3)["state"]["n"], 3);
        assert_eq!(world.json(&["verify"])["ok"], true);
        assert!(!world.store().join("sides").exists());
    }
}
