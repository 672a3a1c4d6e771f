//! Bundles that were cut, forged, copied from elsewhere or made to expand: named by `verify`, refused by `show` and
//! `restore`, which change nothing, with bounded memory.

use std::io::{Read as _, Write as _};
use std::path::PathBuf;

use ckpt_model::digest::Digest;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use flate2::{Compression, GzBuilder};
use serde_json::{Value, json};

use crate::support::project::World;

const WORKFLOW: &str = "old";
const ZEROS: &str = "0000000000000000000000000000000000000000000000000000000000000000";
/// The position of the digits of the digest: after ten bytes of gzip and the words of the comment.
const DIGEST: std::ops::Range<usize> = 32..96;
/// The memory that a process may take, in kilobytes. A bomb is larger than that when it has expanded.
const MEMORY: u64 = 512 << 10;
const BOMB: usize = 1 << 30;

/// The archived workflow `old` with three checkpoints, and another one like it.
fn world() -> World {
    let world = World::new();
    for workflow in [WORKFLOW, "other"] {
        for phase in ["a", "b", "c"] {
            world.run(&["save", workflow, "--phase", phase]).succeeds();
        }
    }
    for workflow in [WORKFLOW, "other"] {
        // At the same time, so that the two bundles have the same name.
        let archive = world.ckpt(&["archive", workflow, "--as", "completed"]);
        archive.env("CKPT_NOW", "2026-01-31T00:00:00Z").run().succeeds();
    }
    world
}

fn bundle(world: &World, workflow: &str) -> PathBuf {
    let mut entries = std::fs::read_dir(world.store().join("archive").join(workflow)).unwrap();
    let path = entries.next().unwrap().unwrap().path();
    assert!(entries.next().is_none());
    path
}

fn put(world: &World, bytes: &[u8]) {
    let path = bundle(world, WORKFLOW);
    std::fs::remove_file(&path).unwrap();
    std::fs::write(path, bytes).unwrap();
}

/// Changes the bytes of the bundle; nobody corrects the digest.
fn damage(world: &World, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = std::fs::read(bundle(world, WORKFLOW)).unwrap();
    change(&mut bytes);
    put(world, &bytes);
}

/// Changes the bytes of the bundle and gives it the digest that fits.
fn forge(world: &World, change: impl FnOnce(&mut Vec<u8>)) {
    damage(world, |bytes| {
        change(bytes);
        stamp(bytes);
    });
}

fn stamp(bytes: &mut [u8]) {
    bytes[DIGEST].copy_from_slice(ZEROS.as_bytes());
    let digest = Digest::of(bytes).to_hex();
    bytes[DIGEST].copy_from_slice(digest.as_bytes());
}

/// The beginning of a bundle, up to its compressed text.
fn begin() -> GzEncoder<Vec<u8>> {
    let comment = format!("ckpt.bundle.v1 sha256 {ZEROS}");
    GzBuilder::new().comment(comment).write(Vec::new(), Compression::default())
}

/// The lines of the bundle: the manifest, then `old/3`, `old/2` and `old/1`.
fn lines(world: &World) -> Vec<String> {
    let bytes = std::fs::read(bundle(world, WORKFLOW)).unwrap();
    let mut text = String::new();
    GzDecoder::new(&bytes[..]).read_to_string(&mut text).unwrap();
    text.lines().map(str::to_owned).collect()
}

fn forge_lines(world: &World, change: impl FnOnce(&mut Vec<String>)) {
    let mut lines = lines(world);
    assert_eq!(lines.len(), 4);
    change(&mut lines);
    let mut gzip = begin();
    lines.iter().for_each(|line| writeln!(gzip, "{line}").unwrap());
    let mut bytes = gzip.finish().unwrap();
    stamp(&mut bytes);
    put(world, &bytes);
}

fn forge_manifest(world: &World, change: impl FnOnce(&mut Value)) {
    forge_lines(world, |lines| {
        let mut manifest = serde_json::from_str(&lines[0]).unwrap();
        change(&mut manifest);
        lines[0] = manifest.to_string();
    });
}

/// Zeros without end, after the first `kept` lines.
fn plant_a_bomb(world: &World, kept: usize, change: impl FnOnce(&mut Value)) {
    let mut lines = lines(world);
    let mut manifest = serde_json::from_str(&lines[0]).unwrap();
    change(&mut manifest);
    lines[0] = manifest.to_string();
    let mut gzip = begin();
    lines.iter().take(kept).for_each(|line| writeln!(gzip, "{line}").unwrap());
    let megabyte = vec![b'0'; 1 << 20];
    let mut compressed = |bytes: &[u8]| {
        gzip.write_all(bytes).unwrap();
        gzip.flush().unwrap();
        std::mem::take(gzip.get_mut())
    };
    // The second megabyte only repeats the first, so any number of it can follow.
    let (mut bomb, more) = (compressed(&megabyte), compressed(&megabyte));
    (0..BOMB / megabyte.len()).for_each(|_| bomb.extend_from_slice(&more));
    assert!(bomb.len() < 2 << 20, "{}", bomb.len());
    stamp(&mut bomb);
    put(world, &bomb);
}

/// Cases: the change to the bundle, the reason that is given, and whether `old/1`, its last file, can be shown anyway:
/// what the manifest lists and vouches for is right, whatever follows it.
type Case = (&'static str, fn(&World), &'static str, bool);

const CASES: [Case; 24] = [
    ("half of it", |w| damage(w, |b| b.truncate(b.len() / 2)), "checksum", false),
    ("all but a byte", |w| damage(w, |b| b.truncate(b.len() - 1)), "checksum", false),
    ("nothing at all", |w| damage(w, Vec::clear), "not_a_bundle", false),
    ("a byte more", |w| damage(w, |b| b.push(0)), "checksum", false),
    ("gzip of something else", |w| damage(w, |b| b[20] ^= 1), "not_a_bundle", false),
    ("half of it, forged", |w| forge(w, |b| b.truncate(b.len() / 2)), "compression", false),
    ("a byte more, forged", |w| forge(w, |b| b.push(0)), "surplus", true),
    ("itself once more, forged", |w| forge(w, |b| b.extend(b.clone())), "surplus", true),
    ("a bundle of another workflow", |w| copy_other(w), "misplaced", false),
    ("no manifest", |w| forge_lines(w, |l| drop(l.remove(0))), "manifest", false),
    ("the last line missing", |w| forge_lines(w, |l| drop(l.pop())), "file", false),
    ("a line missing", |w| forge_lines(w, |l| drop(l.remove(2))), "file", false),
    ("a line twice", |w| forge_lines(w, |l| l.insert(2, l[2].clone())), "file", false),
    ("the last line twice", |w| forge_lines(w, |l| l.push(l[3].clone())), "surplus", true),
    ("lines exchanged", |w| forge_lines(w, |l| l.swap(2, 3)), "file", false),
    ("another content", |w| forge_lines(w, |l| l[3] = l[3].replace("\"a\"", "\"b\"")), "file", false),
    ("another size", |w| forge_manifest(w, |m| m["entries"][2]["bytes"] = json!(7)), "file", false),
    ("another digest", |w| forge_manifest(w, |m| m["entries"][2]["sha256"] = json!(ZEROS)), "file", false),
    ("another range", |w| forge_manifest(w, |m| m["last"] = json!(4)), "misplaced", false),
    ("another workflow", |w| forge_manifest(w, |m| m["workflow"] = json!("other")), "misplaced", false),
    ("another format", |w| forge_manifest(w, |m| m["format"] = json!("ckpt.bundle.v2")), "manifest", false),
    ("a bomb instead of a manifest", |w| plant_a_bomb(w, 0, |_| {}), "manifest", false),
    ("a bomb instead of a line", |w| plant_a_bomb(w, 3, |_| {}), "file", false),
    (
        "a bomb that the manifest announces",
        |w| plant_a_bomb(w, 3, |m| m["entries"][2]["bytes"] = json!(64 << 20)),
        "file",
        false,
    ),
];

fn copy_other(world: &World) {
    let other = std::fs::read(bundle(world, "other")).unwrap();
    assert_eq!(bundle(world, "other").file_name(), bundle(world, WORKFLOW).file_name());
    put(world, &other);
}

/// Refused with exit code 6, the file named, and nothing changed, within a limit on memory.
#[track_caller]
fn assert_refused(world: &World, args: &[&str], reason: &str, what: &str) {
    let limited = world.ckpt(args).in_shell(&format!("ulimit -v {MEMORY}; exec \"$@\""));
    let failure = limited.refused(6, "damaged_bundle");
    assert_eq!(failure["context"]["reason"], reason, "{what}: {failure}");
    assert_eq!(failure["context"]["path"], bundle(world, WORKFLOW).to_str().unwrap(), "{what}");
}

#[test]
fn a_bad_bundle_is_named_and_refused_and_nothing_is_changed() {
    let model = world();
    let first = model.run(&["show", "old/1", "--raw"]).succeeds().stdout;
    for (what, change, reason, shows) in CASES {
        let world = model.copy();
        change(&world);
        let before = world.tree();
        let verify = world.ckpt(&["verify", "--json"]).in_shell(&format!("ulimit -v {MEMORY}; exec \"$@\""));
        let answer = verify.run().exits(6).document();
        let findings = answer["findings"].as_array().unwrap().iter();
        let named: Vec<&Value> = findings.filter(|found| found["code"] == "damaged_bundle").collect();
        assert_eq!(named.len(), 1, "{what}: {answer}");
        assert_eq!(named[0]["path"], bundle(&world, WORKFLOW).to_str().unwrap(), "{what}");
        assert_eq!(before.changes(&world.tree()), Vec::<String>::new(), "{what}");

        if shows {
            assert_eq!(world.run(&["show", "old/1", "--raw"]).succeeds().stdout, first, "{what}");
        } else {
            assert_refused(&world, &["show", "old/1"], reason, what);
            assert_refused(&world, &["restore", "old/1"], reason, what);
        }
        // Not even the files in front of what is wrong come back.
        assert_refused(&world, &["restore", "old"], reason, what);
    }
}

#[test]
fn a_refused_restore_leaves_no_directory_behind() {
    let model = world();
    std::fs::remove_dir_all(model.workflow_dir(WORKFLOW)).unwrap();
    for (what, change, reason, _) in CASES {
        let world = model.copy();
        change(&world);
        assert_refused(&world, &["restore", "old"], reason, what);
    }
}

#[test]
fn a_foreign_bundle_beside_a_good_one_is_named_and_harmless() {
    let world = world();
    let other = bundle(&world, "other");
    let later = other.to_str().unwrap().replace("/other/", "/old/").replace("T000000Z", "T000001Z");
    std::fs::copy(other, &later).unwrap();
    let answer = world.run(&["verify", "--json"]).exits(6).document();
    assert_eq!(
        (&answer["findings"][0]["code"], &answer["findings"][0]["path"]),
        (&json!("damaged_bundle"), &json!(later))
    );
    assert_eq!(world.json(&["show", "old/1"])["checkpoint"]["workflow"], "old");
    let restored = world.run(&["restore", "old", "--json"]).exits(3).document();
    assert_eq!(restored["workflows"][0]["restored"].as_array().unwrap().len(), 3, "{restored}");
    world.run(&["verify", "--repair"]).succeeds();
    assert!(!std::path::Path::new(&later).exists());
}
