//! `save --capture`: the contents of artifacts are kept, brought back, compared, checked and removed.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::time::{Duration, SystemTime};

use ckpt_model::digest::Digest;
use serde_json::{Value, json};

use crate::support::project::World;
use crate::support::strace::{Call, calls, strace};

fn path(world: &World, path: &str) -> std::path::PathBuf {
    world.project().join(path)
}

fn read(world: &World, file: &str) -> String {
    fs::read_to_string(path(world, file)).unwrap()
}

/// The files of all objects, in order.
fn objects(world: &World) -> Vec<std::path::PathBuf> {
    let mut files = Vec::new();
    let shards = fs::read_dir(path(world, ".ckpt/objects")).into_iter().flatten();
    for shard in shards.map(|shard| shard.unwrap().path()).filter(|path| path.is_dir()) {
        files.extend(fs::read_dir(shard).unwrap().map(|file| file.unwrap().path()));
    }
    files.sort();
    files
}

/// Saves a file with its content.
fn captured(text: &str) -> World {
    let world = World::new();
    world.write("out.md", text);
    let save = ["save", "042", "--phases", "a,b", "--phase", "a", "--artifact", "out.md", "--capture"];
    world.run(&save).succeeds();
    world
}

fn findings(world: &World) -> Value {
    world.run(&["resume", "042", "--json"]).document()["findings"].clone()
}

#[test]
fn a_save_without_capture_keeps_no_content_and_one_with_it_says_so_in_the_record() {
    let world = captured("one\n");
    assert_eq!(world.stored("042", 1)["artifacts"][0]["captured"], json!(true));
    assert_eq!(objects(&world).len(), 1);
    world.write("out.md", "two\n");
    world.run(&["save", "042", "--artifact", "out.md"]).succeeds();
    assert_eq!(world.stored("042", 2)["artifacts"][0].get("captured"), None);
    assert_eq!(objects(&world).len(), 1);
    let saved = world.run(&["save", "042", "--capture", "--note", "x"]).succeeds();
    assert!(saved.stderr.contains("--capture kept nothing"), "{saved}");
}

#[test]
fn the_setting_captures_within_its_limits_and_a_file_that_is_not_kept_is_recorded_all_the_same() {
    let world = World::new();
    world.configure("[artifacts]\ncapture = true\nmax_file = \"10b\"\nmax_store = \"60b\"\n");
    world.write("small", "small");
    world.write("large", "larger than ten");
    let saved = world.run(&["save", "042", "--artifact", "small", "--artifact", "large"]).succeeds();
    assert!(saved.stderr.contains("large was not kept: it is larger than 10 B"), "{saved}");
    let artifacts = world.stored("042", 1)["artifacts"].clone();
    assert_eq!((&artifacts[0]["captured"], artifacts[1].get("captured")), (&json!(true), None));
    assert_eq!(artifacts[1]["size"], json!(15));
    let mut full = None;
    for number in 0..4 {
        world.write("small", format!("number {number}"));
        let saved = world.run(&["save", "042", "--artifact", "small"]).succeeds();
        full = full.or(saved.stderr.contains("artifacts.max_store").then_some(number));
    }
    assert_eq!((full, objects(&world).len()), (Some(1), 2));
}

#[test]
fn the_limit_of_the_store_counts_each_content_once() {
    let world = World::new();
    let text = |first: char| format!("{first}{}", "0123456789".repeat(30));
    world.configure("[artifacts]\ncapture = true\nmax_store = \"800b\"\n");
    for name in ["a", "b"] {
        world.write(name, text('x'));
    }
    world.write("c", text('y'));
    let save = ["save", "042", "--artifact", "a", "--artifact", "b", "--artifact", "c"];
    let saved = world.run(&save).succeeds();
    assert!(!saved.stderr.contains("was not kept"), "two contents of 301 bytes: {saved}");
    assert_eq!(objects(&world).len(), 2);
    // What is stored already is counted as an object, and not again as a part of the save.
    world.write("d", text('z'));
    let saved = world.run(&[&save[..], &["--artifact", "d"]].concat()).succeeds();
    assert!(!saved.stderr.contains("was not kept"), "{saved}");
    assert_eq!(objects(&world).len(), 3);
}

#[test]
fn a_text_with_a_secret_in_it_is_kept_only_if_secrets_are_allowed() {
    let world = World::new();
    world.write("env", "AWS_ACCESS_KEY_ID=AKIAQX3ZJ5T7WKMN4RPD\n");
    let save = ["save", "042", "--artifact", "env", "--capture"];
    let saved = world.run(&save).succeeds();
    assert!(saved.stderr.contains("it has a secret in it"), "{saved}");
    assert_eq!(objects(&world).len(), 0);
    world.run(&[&save[..], &["--allow-secrets"]].concat()).succeeds();
    assert_eq!(objects(&world).len(), 1);
    let found = world.run(&["verify", "--secrets", "--json"]).document();
    assert!(found["secrets"][0]["path"].as_str().unwrap().contains("objects"), "{found}");
}

#[test]
fn a_missing_file_whose_content_was_kept_needs_a_confirmation_and_is_brought_back() {
    let world = captured("one\n");
    fs::remove_file(path(&world, "out.md")).unwrap();
    let finding = &findings(&world)[0];
    assert_eq!((&finding["code"], &finding["severity"]), (&json!("artifact_missing"), &json!("confirm")));
    assert_eq!(finding["help"][0], json!("ckpt resume 042 --restore-artifacts"));
    let restored = world.run(&["resume", "042", "--restore-artifacts", "--json"]).succeeds().document();
    assert_eq!(restored["restored_artifacts"][0]["action"], json!("restore"));
    assert_eq!((&restored["verdict"], read(&world, "out.md").as_str()), (&json!("ready"), "one\n"));
    // Without the object it blocks, as before.
    fs::remove_file(path(&world, "out.md")).unwrap();
    fs::remove_file(&objects(&world)[0]).unwrap();
    assert_eq!(findings(&world)[0]["severity"], json!("blocker"));
    let left = world.run(&["resume", "042", "--restore-artifacts", "--json"]).document();
    assert_eq!(left["restored_artifacts"][0]["action"], json!("not_kept"));
}

#[test]
fn a_changed_file_is_shown_left_alone_and_replaced_by_force_which_keeps_a_copy() {
    let world = captured("one\ntwo\n");
    world.write("out.md", "one\n2\n");
    let finding = &findings(&world)[0];
    assert_eq!((&finding["code"], &finding["severity"]), (&json!("artifact_changed"), &json!("confirm")));
    assert_eq!(finding["diff"], json!(["@@ -1,2 +1,2 @@", " one", "-two", "+2"]));
    let left = world.run(&["resume", "042", "--restore-artifacts", "--json"]).document();
    assert_eq!(left["restored_artifacts"][0]["action"], json!("leave_changed"));
    assert_eq!(read(&world, "out.md"), "one\n2\n");
    world.write("out.md.orig", "mine");
    let restore = ["resume", "042", "--restore-artifacts", "--force", "--json"];
    let replaced = world.run(&restore).succeeds().document();
    assert_eq!(replaced["restored_artifacts"][0]["copy"], json!("out.md.orig.1"));
    let files = ["out.md", "out.md.orig", "out.md.orig.1"].map(|file| read(&world, file));
    assert_eq!(files, ["one\ntwo\n", "mine", "one\n2\n"]);
    world.configure("[resume]\nchanged_artifacts = \"info\"\n");
    world.write("out.md", "3\n");
    assert_eq!(findings(&world)[0]["severity"], json!("info"), "a setting goes before");
}

#[test]
fn a_file_that_cannot_be_replaced_stays_and_the_copies_of_those_before_it_are_named() {
    let world = captured("one\n");
    world.write("large", "x".repeat(9_000));
    world.run(&["save", "042", "--artifact", "large", "--capture"]).succeeds();
    world.write("out.md", "mine\n");
    world.write("large", "mine, too\n");
    let restore = ["resume", "042", "--restore-artifacts", "--force", "--json"];
    let failed = world.ckpt(&restore).in_shell("ulimit -f 8; exec \"$@\"").run();
    assert_ne!(failed.code(), 0, "{failed}");
    assert_eq!((read(&world, "large").as_str(), path(&world, "large.orig").exists()), ("mine, too\n", false));
    assert_eq!((read(&world, "out.md"), read(&world, "out.md.orig")), ("one\n".into(), "mine\n".into()));
    assert!(format!("{failed}").contains("what was in `out.md` is in `out.md.orig`"), "{failed}");
}

#[test]
fn nothing_is_brought_back_through_a_link_outside_or_into_git_and_the_store() {
    let world = captured("one\n");
    world.write("dir/in.md", "one\n");
    world.run(&["save", "042", "--artifact", "dir/in.md", "--capture"]).succeeds();
    let elsewhere = tempfile::tempdir().unwrap();
    fs::remove_dir_all(path(&world, "dir")).unwrap();
    symlink(elsewhere.path(), path(&world, "dir")).unwrap();
    let answer = world.run(&["resume", "042", "--restore-artifacts", "--json"]).document();
    assert_eq!(answer["restored_artifacts"][1]["action"], json!("refuse"), "{answer}");
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
    let mut document = world.stored("042", 2);
    let hostile = ["../out.md", "/tmp/out.md", ".git/hooks/x", ".ckpt/config.toml", "a/.GIT/config", "GIT~1/x"];
    for path in hostile {
        document["artifacts"][0]["path"] = json!(path);
        world.write("hostile.json", document.to_string());
        world.run(&["save", "evil", "--from", "hostile.json"]).succeeds();
        let answer = world.run(&["resume", "evil", "--restore-artifacts", "--force", "--json"]).document();
        assert_eq!(answer["restored_artifacts"][0]["action"], json!("refuse"), "{path}: {answer}");
    }
}

#[test]
fn a_rollback_brings_files_back_forks_keep_them_and_a_diff_shows_their_lines() {
    let world = captured("one\n");
    world.write("out.md", "two\n\u{1b}[31m\n");
    world.run(&["save", "042", "--phase", "b", "--artifact", "out.md", "--capture"]).succeeds();
    let diff = world.run(&["diff", "042/1", "042/2", "--json"]).succeeds().document();
    assert_eq!(diff["contents"][0]["lines"], json!(["@@ -1,1 +1,2 @@", "-one", "+two", "+\u{1b}[31m"]));
    let shown = world.run(&["diff", "042/1", "042/2"]).succeeds();
    assert!(shown.stdout.contains("+two") && !shown.stdout.contains('\u{1b}'), "{shown}");
    let planned = world.run(&["rollback", "042/1", "--restore-artifacts", "--dry-run"]).succeeds();
    assert!(planned.stdout.contains("Left out.md, which has changed"), "{planned}");
    world.run(&["rollback", "042/1", "--restore-artifacts", "--force"]).succeeds();
    assert_eq!(read(&world, "out.md"), "one\n");
    world.run(&["fork", "042/2", "--as", "043"]).succeeds();
    world.run(&["resume", "043", "--restore-artifacts", "--force"]);
    assert_eq!(read(&world, "out.md"), "two\n\u{1b}[31m\n");
}

/// A workflow and a fork of it. Both have recorded the same file since, and kept a file of their own.
fn two_sides() -> World {
    let world = captured("one\n");
    world.run(&["fork", "042", "--as", "043"]).succeeds();
    for (id, own, text) in [("043", "two.md", "theirs\n"), ("042", "three.md", "ours\n")] {
        world.write(own, own);
        world.write("out.md", text);
        world.run(&["save", id, "--artifact", own, "--artifact", "out.md", "--capture"]).succeeds();
    }
    world
}

#[test]
fn a_merge_keeps_the_contents_of_both_sides_and_what_it_makes_can_be_brought_back() {
    for (flag, text) in [("--ours", "ours\n"), ("--theirs", "theirs\n")] {
        let world = two_sides();
        world.refuses(&["merge", "042", "043"], 8, "merge_conflict");
        world.run(&["merge", "042", "043", flag]).succeeds();
        // The merge alone refers to the content that the other side kept.
        world.run(&["archive", "043", "--as", "abandoned"]).succeeds();
        world.run(&["archive", "043", "--delete", "--yes"]).succeeds();
        age(&world);
        world.run(&["cleanup"]).succeeds();
        for file in ["out.md", "two.md", "three.md"] {
            fs::remove_file(path(&world, file)).unwrap();
        }
        let resumed = world.run(&["resume", "042", "--restore-artifacts", "--json"]).document();
        assert_eq!(resumed["verdict"], "ready", "{resumed}");
        let files = ["out.md", "two.md", "three.md"].map(|file| read(&world, file));
        assert_eq!(files, [text, "two.md", "three.md"], "{flag}");
        assert_eq!(world.json(&["verify"])["ok"], true);
    }
}

#[test]
fn a_merge_of_the_same_file_says_that_it_is_kept_if_one_side_has_kept_it() {
    for keeps in ["042", "043"] {
        let world = captured("one\n");
        world.run(&["fork", "042", "--as", "043"]).succeeds();
        world.write("out.md", "two\n");
        for id in ["042", "043"] {
            let save = ["save", id, "--artifact", "out.md", "--note", "again", "--capture"];
            world.run(&save[..if id == keeps { 7 } else { 6 }]).succeeds();
        }
        world.run(&["merge", "042", "043"]).succeeds();
        assert_eq!(world.stored("042", 3)["artifacts"][0]["captured"], true, "{keeps}");
    }
}

#[test]
fn a_value_that_settles_a_merge_cannot_claim_a_content_that_no_side_has_kept() {
    let world = two_sides();
    let theirs = world.stored("043", 2)["artifacts"][0].clone();
    let mut none = theirs.clone();
    none["sha256"] = json!("0".repeat(64));
    for (number, (value, kept)) in [(none, Value::Null), (theirs, json!(true))].into_iter().enumerate() {
        let world = world.copy();
        world.run(&["merge", "042", "043", "--set", &format!("/artifacts/out.md={value}")]).succeeds();
        assert_eq!(world.stored("042", 3)["artifacts"][0]["captured"], kept, "{number}");
        assert_eq!(world.json(&["verify"])["ok"], true, "{number}");
    }
}

#[test]
fn a_thousandth_save_of_an_unchanged_file_writes_no_object() {
    let world = captured(&"x".repeat(1 << 20));
    let written = fs::metadata(&objects(&world)[0]).unwrap().modified().unwrap();
    let store = ckpt::Store::open(path(&world, ".ckpt")).unwrap();
    for number in 0..1_000 {
        store.save("042").artifact("out.md", "out.md").note(number.to_string()).capture().write().unwrap();
    }
    let files = objects(&world);
    assert_eq!((files.len(), world.numbers("042").len()), (1, 1_001));
    assert_eq!(fs::metadata(&files[0]).unwrap().modified().unwrap(), written);
}

/// Saves a captured file until it is known, which takes two saves: the second one finds it older than the cache.
fn known(text: &str) -> World {
    let world = captured(text);
    let changed = |file: &str| {
        let metadata = fs::metadata(path(&world, file)).unwrap();
        (metadata.ctime(), metadata.ctime_nsec())
    };
    // The clock of a file system ticks every few milliseconds.
    while changed(".ckpt/objects/seen") <= changed("out.md") {
        world.run(&["save", "042", "--artifact", "out.md", "--capture"]).succeeds();
    }
    world.run(&["save", "042", "--artifact", "out.md", "--capture"]).succeeds();
    world
}

#[test]
fn an_unchanged_file_costs_one_stat_and_no_write() {
    let Some(strace) = strace() else { return };
    let world = known("one\n");
    let save = ["save", "042", "--artifact", "out.md", "--capture"];
    let opened = |calls: &[Call]| {
        calls.iter().filter(|call| call.name.starts_with("open") && call.line.contains("out.md")).count()
    };
    let unchanged = calls(&strace, &world, &save);
    assert_eq!(opened(&unchanged), 0, "{unchanged:#?}");
    let stats = unchanged.iter().filter(|call| call.name.contains("stat") && call.line.contains("\"out.md\"")).count();
    assert_eq!(stats, 1, "{unchanged:#?}");
    let renamed = unchanged.iter().any(|call| call.name.starts_with("rename"));
    assert!(!renamed, "the cache was written: {unchanged:#?}");
    let newest = world.numbers("042").len() as u64;
    assert_eq!(world.stored("042", newest)["artifacts"][0]["captured"], true);

    world.write("out.md", "two\n");
    let changed = calls(&strace, &world, &save);
    assert_eq!(opened(&changed), 1, "{changed:#?}");
    let digest = Digest::of(b"two\n").to_string();
    assert_eq!(world.stored("042", newest + 1)["artifacts"][0]["sha256"], json!(digest));
    assert_eq!(objects(&world).len(), 2);
}

#[test]
fn a_file_that_is_known_is_read_again_if_its_object_is_gone() {
    let world = known("one\n");
    fs::remove_file(&objects(&world)[0]).unwrap();
    world.run(&["save", "042", "--artifact", "out.md", "--capture"]).succeeds();
    assert_eq!((objects(&world).len(), world.json(&["verify"])["ok"].clone()), (1, json!(true)));
}

#[test]
fn a_cache_of_seen_files_that_says_nothing_is_ignored() {
    for nonsense in ["", "{", "[]", "null", "{\"out.md\": [1, 2]}", "{\"out.md\": [[1, 2, 3], \"x\"]}"] {
        let world = captured("one\n");
        world.write(".ckpt/objects/seen", nonsense);
        world.write("out.md", "two\n");
        world.run(&["save", "042", "--artifact", "out.md", "--capture"]).succeeds();
        let digest = Digest::of(b"two\n").to_string();
        assert_eq!(world.stored("042", 2)["artifacts"][0]["sha256"], json!(digest), "{nonsense}");
        assert_eq!(world.json(&["verify"])["ok"], true, "{nonsense}");
    }
}

/// Makes all objects older than the time of grace.
fn age(world: &World) {
    for file in objects(world) {
        let old = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
        fs::File::open(file).unwrap().set_modified(old).unwrap();
    }
}

#[test]
fn contents_stay_while_a_live_or_archived_checkpoint_refers_to_them_and_go_after_the_last() {
    let world = captured("one\n");
    world.write("out.md", "two\n");
    world.run(&["save", "other", "--phase", "a", "--artifact", "out.md", "--capture"]).succeeds();
    age(&world);
    let cleanup = || world.run(&["cleanup", "--json"]).succeeds().document()["objects"]["count"].clone();
    assert_eq!((cleanup(), objects(&world).len()), (json!(0), 2));
    world.run(&["archive", "042", "--as", "abandoned"]).succeeds();
    assert_eq!((cleanup(), objects(&world).len()), (json!(0), 2), "a bundle refers to it");
    fs::remove_file(path(&world, "out.md")).unwrap();
    world.run(&["restore", "042"]).succeeds();
    world.run(&["resume", "042", "--restore-artifacts"]);
    assert_eq!(read(&world, "out.md"), "one\n", "whatever is archived is restored whole");
    world.run(&["archive", "042", "--as", "abandoned"]).succeeds();
    world.run(&["archive", "042", "--delete", "--yes"]).succeeds();
    let planned = world.run(&["cleanup", "--dry-run", "--json"]).succeeds().document();
    assert_eq!((&planned["objects"]["count"], objects(&world).len()), (&json!(1), 2));
    assert_eq!((cleanup(), objects(&world).len()), (json!(1), 1));
    let stats = world.run(&["stats", "--json"]).succeeds().document();
    assert_eq!(stats["store"]["objects"], json!(1), "{stats}");
}

#[test]
fn a_young_content_that_nothing_refers_to_stays_for_a_day() {
    let world = captured("one\n");
    world.run(&["archive", "042", "--as", "abandoned"]).succeeds();
    world.run(&["archive", "042", "--delete", "--yes"]).succeeds();
    let young = SystemTime::UNIX_EPOCH + Duration::from_secs(4_000_000_000);
    fs::File::open(&objects(&world)[0]).unwrap().set_modified(young).unwrap();
    world.run(&["cleanup"]).succeeds();
    assert_eq!(objects(&world).len(), 1);
}

#[test]
fn verify_finds_damaged_missing_and_stray_objects_and_a_repair_loses_nothing() {
    let world = captured("one\n");
    world.write("two.md", "two\n");
    world.run(&["save", "042", "--artifact", "two.md", "--capture"]).succeeds();
    assert_eq!(world.run(&["verify", "--json"]).succeeds().document()["checked"]["objects"], json!(2));
    let [one, two] = &objects(&world)[..] else { panic!("two objects") };
    let damaged = fs::read(one).unwrap().iter().map(|byte| byte ^ 1).collect::<Vec<_>>();
    fs::remove_file(one).unwrap();
    fs::write(one, &damaged).unwrap();
    fs::remove_file(two).unwrap();
    fs::write(two.with_file_name("README"), "x").unwrap();
    let codes = |answer: &Value| -> Vec<String> {
        let findings = answer["findings"].as_array().unwrap().iter();
        let heavy = findings.filter(|finding| finding["severity"] != "info");
        let mut codes: Vec<_> = heavy.map(|finding| finding["code"].as_str().unwrap().to_owned()).collect();
        codes.sort();
        codes
    };
    let found = world.run(&["verify", "--json"]).document();
    assert_eq!(codes(&found), ["object_damaged", "object_missing", "unknown_file"], "{found}");
    world.run(&["verify", "--repair"]).succeeds();
    let name = one.file_name().unwrap().to_str().unwrap();
    assert_eq!(fs::read(path(&world, ".ckpt/quarantine/+objects").join(name)).unwrap(), damaged);
    let after = world.run(&["verify", "--json"]).succeeds().document();
    assert_eq!(codes(&after), ["unknown_file"], "{after}");
    // The next save stores it again.
    world.run(&["save", "042", "--artifact", "out.md", "--artifact", "two.md", "--capture"]).succeeds();
    assert!(one.exists() && two.exists());
}
