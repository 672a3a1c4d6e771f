//! `ckpt verify`

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use serde_json::{Value, json};

use crate::support::project::{World, sealed};

fn pipe(path: &Path) {
    assert!(std::process::Command::new("mknod").arg(path).arg("p").status().unwrap().success());
}

/// Five live checkpoints of `042`, and `old`, which is archived.
pub(crate) fn world() -> World {
    let world = World::with_checkpoints(5);
    world.run(&["save", "old", "--phase", "a"]).succeeds();
    world.run(&["save", "old", "--phase", "b"]).succeeds();
    world.run(&["archive", "old", "--as", "completed"]).succeeds();
    world
}

pub(crate) fn bundle(world: &World) -> std::path::PathBuf {
    let mut entries = std::fs::read_dir(world.store().join("archive/old")).unwrap();
    entries.next().unwrap().unwrap().path()
}

/// Puts other bytes in the place of a bundle.
fn rewrite(path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = std::fs::read(path).unwrap();
    change(&mut bytes);
    std::fs::remove_file(path).unwrap();
    std::fs::write(path, bytes).unwrap();
}

/// Damage to a store, and the code and severity of the finding.
pub(crate) type Damage = (&'static str, fn(&World), &'static str, &'static str);

pub(crate) const DAMAGES: [Damage; 35] = [
    ("a flipped bit", |w| flip(w, 3), "checksum", "blocker"),
    ("a flipped bit in the newest", |w| flip(w, 5), "checksum", "blocker"),
    ("half of it", |w| cut(w, 3), "checksum", "blocker"),
    ("half of the newest", |w| cut(w, 5), "checksum", "blocker"),
    ("not a checkpoint", |w| w.replace_checkpoint("042", 2, b"x"), "no_checksum", "blocker"),
    ("an empty newest", |w| w.replace_checkpoint("042", 5, b""), "empty", "blocker"),
    ("an empty one in the middle", |w| w.replace_checkpoint("042", 3, b""), "lost", "blocker"),
    ("one removed from the middle", |w| remove(w, 3), "missing", "blocker"),
    ("the first removed", |w| remove(w, 1), "missing", "blocker"),
    ("a copy under the next number", |w| copy(w, 4, 6), "misplaced", "blocker"),
    ("a copy above a gap", |w| copy(w, 4, 7), "missing", "blocker"),
    ("a copy far above", |w| copy(w, 4, 99_999_999), "misplaced", "blocker"),
    ("another workflow inside", |w| w.forge("042", 3, |d| d["workflow"] = json!("x")), "misplaced", "blocker"),
    ("another form inside", |w| w.forge("042", 3, |d| d["phases"] = json!("none")), "syntax", "blocker"),
    ("no version", |w| w.forge("042", 5, |d| d["version"] = json!("abc")), "bad_version", "blocker"),
    ("a newer version", |w| w.forge("042", 5, |d| d["version"] = json!("2.0")), "format_newer", "advice"),
    ("a schema violation", |w| w.forge("042", 5, |d| d["save_id"] = json!("")), "schema", "blocker"),
    ("another parent", |w| w.forge("042", 5, |d| d["parent"]["sha256"] = json!("0".repeat(64))), "parent", "blocker"),
    ("another past", |w| w.forge("042", 3, |d| d["note"] = json!("forged")), "parent", "blocker"),
    ("no parent", |w| w.forge("042", 5, |d| d["parent"] = json!(null)), "parent", "blocker"),
    ("a save id twice", |w| twice(w), "duplicate_save_id", "blocker"),
    ("a link", |w| instead(w, |path| symlink("/etc/passwd", path).unwrap()), "not_a_file", "blocker"),
    ("a pipe", |w| instead(w, pipe), "not_a_file", "blocker"),
    ("a directory", |w| instead(w, |path| std::fs::create_dir(path).unwrap()), "not_a_file", "blocker"),
    (
        "a foreign file",
        |w| std::fs::write(w.workflow_dir("042").join("notes.txt"), "x").unwrap(),
        "unknown_file",
        "advice",
    ),
    ("an unknown link", |w| symlink("/", w.workflow_dir("042").join("latest")).unwrap(), "unknown_file", "advice"),
    ("a link to a workflow", |w| symlink("042", w.store().join("workflows/043")).unwrap(), "misfit", "blocker"),
    ("a pipe in the archive", |w| pipe(&w.store().join("archive/043")), "misfit", "blocker"),
    ("a leftover", |w| std::fs::write(w.workflow_dir("042").join(".tmp-x-0"), "").unwrap(), "leftover", "info"),
    ("another mode", |w| chmod(&w.checkpoint_file("042", 1), 0o644), "mode", "info"),
    ("an open directory", |w| chmod(&w.workflow_dir("042"), 0o755), "mode", "info"),
    ("an empty directory", |w| std::fs::create_dir(w.store().join("workflows/e")).unwrap(), "empty_directory", "info"),
    ("a flipped bit in a bundle", |w| rewrite(&bundle(w), |b| b[200] ^= 1), "damaged_bundle", "blocker"),
    ("a bundle that is gone", |w| std::fs::remove_file(bundle(w)).unwrap(), "lost", "blocker"),
    ("no .gitignore", |w| std::fs::remove_file(w.store().join(".gitignore")).unwrap(), "incomplete", "advice"),
];

fn flip(world: &World, seq: u64) {
    let mut bytes = std::fs::read(world.checkpoint_file("042", seq)).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    world.replace_checkpoint("042", seq, &bytes);
}

fn cut(world: &World, seq: u64) {
    let bytes = std::fs::read(world.checkpoint_file("042", seq)).unwrap();
    world.replace_checkpoint("042", seq, &bytes[..bytes.len() / 2]);
}

fn remove(world: &World, seq: u64) {
    std::fs::remove_file(world.checkpoint_file("042", seq)).unwrap();
}

fn copy(world: &World, from: u64, to: u64) {
    std::fs::copy(world.checkpoint_file("042", from), world.checkpoint_file("042", to)).unwrap();
}

fn twice(world: &World) {
    let first = world.stored("042", 4)["save_id"].clone();
    world.forge("042", 5, |document| document["save_id"] = first);
}

fn instead(world: &World, make: impl FnOnce(&Path)) {
    remove(world, 4);
    make(&world.checkpoint_file("042", 4));
}

fn chmod(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

pub(crate) fn codes(answer: &Value) -> Vec<(&str, &str)> {
    let findings = answer["findings"].as_array().unwrap();
    findings.iter().map(|f| (f["code"].as_str().unwrap(), f["severity"].as_str().unwrap())).collect()
}

#[test]
fn nothing_is_wrong_with_what_was_saved() {
    let world = world();
    let answer = world.json(&["verify"]);
    assert_eq!((&answer["ok"], &answer["findings"]), (&json!(true), &json!([])));
    assert_eq!(answer["checked"], json!({"workflows": 2, "checkpoints": 8, "bundles": 1, "objects": 0}));
    insta::assert_snapshot!(world.run(&["verify"]), @"
    exit 0
    --- stdout
    Checked 2 workflows, 8 checkpoints and 1 bundle: nothing is wrong
    --- end
    ");
    insta::assert_snapshot!(world.run(&["verify", "-q"]), @"
    exit 0
    --- end
    ");
}

#[test]
fn every_damage_is_found_and_nothing_is_changed() {
    let model = world();
    for (what, damage, code, severity) in DAMAGES {
        let world = model.copy();
        damage(&world);
        let before = world.tree();
        let outcome = world.run(&["verify", "--json"]);
        let answer = outcome.document();
        assert!(codes(&answer).contains(&(code, severity)), "{what}: {outcome}");
        let errors = codes(&answer).iter().any(|(_, severity)| *severity == "blocker");
        assert_eq!((outcome.code(), &answer["ok"]), (if errors { 6 } else { 0 }, &json!(!errors)), "{what}");
        assert_eq!(errors, severity == "blocker", "{what}: {outcome}");
        assert_eq!(before.changes(&world.tree()), Vec::<String>::new(), "{what}");
        assert_eq!(world.run(&["verify"]).code(), outcome.code(), "{what}");
    }
}

#[test]
fn every_finding_names_a_path_and_what_to_do() {
    let world = world();
    flip(&world, 3);
    let path = world.checkpoint_file("042", 3);
    let outcome = world.run(&["verify"]).exits(6);
    insta::assert_snapshot!(outcome, @"
    exit 6
    --- stdout
    error: $TMP/project/.ckpt/workflows/042/00000003.json does not match its checksum
      help: `ckpt verify --repair` moves it to quarantine and restores what it can
    Checked 2 workflows, 8 checkpoints and 1 bundle: 1 error, 0 warnings
    --- end
    ");
    let answer = world.run(&["verify", "42", "--json"]).exits(6).document();
    assert_eq!(answer["findings"][0]["path"], path.to_str().unwrap());
    assert_eq!(answer["findings"][0]["handle"], "042/3");
    let other = world.json(&["verify", "old"]);
    assert_eq!((&other["ok"], &other["checked"]["workflows"]), (&json!(true), &json!(1)));
    world.refuses(&["verify", "nothing"], 4, "no_such_workflow");
}

#[test]
fn a_store_too_broken_for_everything_else_is_still_checked() {
    let world = world();
    std::fs::rename(world.store().join("workflows"), world.temp().join("elsewhere")).unwrap();
    symlink(world.temp().join("elsewhere"), world.store().join("workflows")).unwrap();
    std::fs::write(world.store().join("config.toml"), "nonsense").unwrap();
    world.run(&["list"]).exits(10);
    let answer = world.run(&["verify", "--json"]).exits(6).document();
    assert!(codes(&answer).contains(&("misfit", "blocker")), "{answer}");
}

#[test]
fn bundles_that_lie_are_found() {
    let good = world();
    let path = bundle(&good);
    let bytes = std::fs::read(&path).unwrap();
    let lies: [fn(&mut Vec<u8>); 4] = [
        |bytes| bytes.truncate(bytes.len() / 2),
        |bytes| bytes.extend_from_slice(b"more"),
        |bytes| bytes.clear(),
        |bytes| *bytes = b"\x1f\x8b\x08\x00garbage".to_vec(),
    ];
    for lie in lies {
        let world = world();
        rewrite(&bundle(&world), lie);
        let answer = world.run(&["verify", "--json"]).exits(6).document();
        assert!(codes(&answer).contains(&("damaged_bundle", "blocker")), "{answer}");
    }
    // A whole bundle in the place of another one.
    let other = good.store().join("archive/042");
    std::fs::create_dir(&other).unwrap();
    std::fs::write(other.join(path.file_name().unwrap()), bytes).unwrap();
    let answer = good.run(&["verify", "--json"]).exits(6).document();
    assert!(answer["findings"].to_string().contains("says it is `old/"), "{answer}");
}

#[test]
fn what_a_forger_writes_is_text_and_not_an_escape() {
    let world = world();
    let mut document = world.stored("042", 3);
    document["workflow"] = json!("a\u{1b}[31m");
    world.replace_checkpoint("042", 3, &sealed(document));
    let name = world.workflow_dir("042").join("\u{1b}[31m\u{202e}");
    std::fs::write(name, "").unwrap();
    let outcome = world.run(&["verify", "-v"]).exits(6);
    assert!(!outcome.stdout.contains('\u{1b}') && !outcome.stdout.contains('\u{202e}'), "{outcome}");
}

#[test]
fn what_was_cleaned_up_purged_or_has_expired_is_nothing_wrong() {
    let world = World::new();
    world.configure("[retention]\nprevious_runs = 1\n[save]\nauto_cleanup = false\n");
    for id in ["open", "done"] {
        for note in ["1", "2", "3"] {
            world.run(&["save", id, "--phases", "a,b", "--phase", "a", "--note", note]).succeeds();
        }
    }
    world.run(&["save", "done", "--phase", "b"]).succeeds();
    for _ in 0..3 {
        world.run(&["cleanup", "--keep-last", "1"]).succeeds();
        world.run(&["save", "open", "--note", "more"]).succeeds();
        world.run(&["verify"]).succeeds();
    }
    world
        .ckpt(&["cleanup", "--max-age", "1d", "--purge", "--yes"])
        .env("CKPT_NOW", "2027-01-01T00:00:00Z")
        .run()
        .succeeds();
    world.run(&["verify"]).succeeds();
    world.run(&["save", "done", "--note", "again"]).succeeds();
    world.run(&["verify"]).succeeds();
}

#[test]
fn a_checkpoint_that_is_in_several_places_is_one() {
    let world = World::with_checkpoints(5);
    world.run(&["archive", "042", "--as", "failed"]).succeeds();
    world.run(&["restore", "042"]).succeeds();
    world.run(&["archive", "042", "--as", "failed"]).succeeds();
    world.run(&["restore", "042/2"]).succeeds();
    assert_eq!(world.numbers("042").len(), 8);
    let checked = &world.json(&["verify"])["checked"];
    assert_eq!(*checked, json!({"workflows": 1, "checkpoints": 8, "bundles": 2, "objects": 0}));
}

#[test]
fn settings_that_cannot_be_used_are_something_wrong() {
    for (text, why) in [
        ("max_age =\n", "cannot be understood: "),
        ("[retention]\nmax_agee = \"7d\"\n", "cannot be understood: unknown field `max_agee`"),
    ] {
        let world = world();
        world.configure(text);
        let answer = world.run(&["verify", "--json"]).exits(6).document();
        assert_eq!(codes(&answer), [("invalid_config", "blocker")]);
        let finding = &answer["findings"][0];
        assert_eq!(finding["path"], world.store().join("config.toml").to_str().unwrap());
        assert!(finding["message"].as_str().unwrap().starts_with(why), "{finding}");
        assert_eq!(answer["warnings"], json!([]), "once is enough");
        // Only a person can fix settings.
        world.run(&["verify", "--repair"]).exits(6);
        assert_eq!(std::fs::read_to_string(world.store().join("config.toml")).unwrap(), text);
        let one = world.run(&["verify", "042", "--json"]).succeeds().document();
        assert_eq!(one["findings"], json!([]), "naming workflows limits the findings to these");
        assert!(one["warnings"][0].as_str().unwrap().contains("config.toml"), "{one}");
    }
    let world = world();
    world.configure_user("nonsense");
    let answer = world.json(&["verify"]);
    assert_eq!((&answer["ok"], answer["warnings"].as_array().unwrap().len()), (&json!(true), 1));
}

/// A token of the right shape; written in one piece it would alarm those who scan this file.
fn token() -> String {
    format!("ghp_{}", "aB3dE6gH9kLmN0pQrS7tUvW2xYz5cD8fJ1iO")
}

#[test]
fn secrets_that_are_stored_are_named_by_their_place() {
    let world = World::new();
    let state = json!({"deep": [{"token": token()}], "db": "postgres://app:hunter2@db/x"}).to_string();
    world.run(&["save", "live", "--state", &state, "--allow-secrets"]).succeeds();
    world.run(&["save", "old", "--note", &token(), "--allow-secrets"]).succeeds();
    world.run(&["archive", "old", "--as", "completed"]).succeeds();
    world.run(&["save", "clean", "--note", &token()]).succeeds();
    world.run(&["verify"]).succeeds();

    let run = world.ckpt(&["verify", "--secrets", "--json"]).run();
    assert_eq!(run.status.code(), Some(6));
    assert!(!run.stdout.contains(&token()) && !run.stdout.contains("hunter2"), "{}", run.stdout);
    let answer: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(answer["ok"], json!(false));
    let places: Vec<_> = answer["secrets"]
        .as_array()
        .unwrap()
        .iter()
        .map(|secret| (secret["handle"].as_str(), secret["pointer"].as_str(), secret["rule"].as_str()))
        .collect();
    assert_eq!(
        places,
        [
            (Some("live/1"), Some("/state/deep/0/token"), Some("github-token")),
            (Some("live/1"), Some("/state/db"), Some("url-password")),
            (Some("old/1"), Some("/note"), Some("github-token")),
        ]
    );
    assert!(answer["secrets"][2]["path"].as_str().unwrap().contains("/archive/old/"));

    let told = world.run(&["verify", "--secrets", "old"]);
    assert_eq!(told.status.code(), Some(6));
    assert!(told.stdout.contains("old/1 at /note (github-token)"), "{}", told.stdout);
    assert!(!told.stdout.contains(&token()) && !told.stderr.contains(&token()));
    world.run(&["verify", "--secrets", "clean"]).succeeds();
}
