//! Manifests are not trusted: no entry leads to a file that is not the system's.

use ckpt::core::digest::Digest;
use serde_json::{Value, json};

use super::mirroring;
use crate::support::project::World;
use ckpt::core::dialects::Dialect;

const MANIFEST: &str = ".ckpt/mirror/kamiflow/042.json";

fn manifest(world: &World) -> Value {
    serde_json::from_slice(&std::fs::read(world.project().join(MANIFEST)).unwrap()).unwrap()
}

#[test]
fn no_entry_of_a_manifest_leads_out_of_the_directory_of_its_system() {
    let world = mirroring(Dialect::Kamiflow);
    world.run(&["save", "042", "--phase", "a"]).succeeds();
    let outside = world.temp().join("victim");
    std::fs::write(&outside, "x").unwrap();
    for path in ["victim", ".kamiflow/victim", "elsewhere/victim", ".kamiflow/checkpoints.d/victim"] {
        world.write(path, "x");
    }
    std::os::unix::fs::symlink(
        world.project().join("elsewhere"),
        world.project().join(".kamiflow/checkpoints/link"),
    )
    .unwrap();
    std::os::unix::fs::symlink(&outside, world.project().join(".kamiflow/checkpoints/out")).unwrap();
    let outside = outside.to_str().unwrap();
    let paths = [
        "victim",
        "../victim",
        outside,
        ".kamiflow/victim",
        ".kamiflow/checkpoints/../victim",
        ".kamiflow/checkpoints/../../../victim",
        ".kamiflow/checkpoints/link/victim",
        ".kamiflow/checkpoints/out",
        ".kamiflow/checkpoints.d/victim",
        ".kamiflow/checkpoints",
        ".kamiflow/checkpoints/",
        "",
        "/",
    ];
    let mut forged = manifest(&world);
    for path in paths {
        forged["files"][path] = json!({"source": "042/1", "sha256": [Digest::of(b"x").to_hex()]});
    }
    world.write(MANIFEST, forged.to_string());
    world.run(&["save", "042", "--phase", "b"]).succeeds();
    for path in
        ["victim", ".kamiflow/victim", "elsewhere/victim", ".kamiflow/checkpoints.d/victim", "../victim"]
    {
        assert!(world.project().join(path).is_file(), "{path} is gone");
    }
    assert!(world.project().join(".kamiflow/checkpoints/out").is_symlink());
    let entries: Vec<String> = manifest(&world)["files"].as_object().unwrap().keys().cloned().collect();
    assert!(
        entries.iter().all(|path| path.starts_with(".kamiflow/checkpoints/042-checkpoint-")),
        "{entries:?}"
    );
}

#[test]
fn a_manifest_that_cannot_be_used_is_a_finding_and_may_be_deleted() {
    let world = mirroring(Dialect::Kamiflow);
    world.run(&["save", "042", "--phase", "a"]).succeeds();
    assert_eq!(world.json(&["verify"])["findings"], json!([]));
    for broken in
        ["", "{", "7", "{\"files\": 1}", "{\"files\": {\"a\": {\"source\": \"?\", \"sha256\": []}}}"]
    {
        world.write(MANIFEST, broken);
        let findings = world.json(&["verify"])["findings"].clone();
        assert_eq!(findings[0]["code"], "mirror_manifest", "{findings}");
        assert_eq!(findings[0]["severity"], "advice", "{findings}");
        // The file that is there is what would be written.
        let saved = world.json(&["save", "042", "--if-changed"]);
        assert_eq!(saved["warnings"], json!([]), "{broken}");
        assert_eq!(world.json(&["verify"])["findings"], json!([]));
        world.run(&["save", "042", "--phase", "a", "--note", broken]).succeeds();
    }
    std::fs::remove_dir_all(world.store().join("mirror")).unwrap();
    assert_eq!(world.json(&["save", "042", "--if-changed"])["warnings"], json!([]));
    assert_eq!(manifest(&world)["workflows"], json!(["042"]));
}

#[test]
fn what_is_no_manifest_is_reported_by_verify() {
    let world = mirroring(Dialect::Kamiflow);
    world.run(&["save", "042", "--phase", "a"]).succeeds();
    world.write(".ckpt/mirror/kamiflow/README", "x");
    world.write(".ckpt/mirror/other", "x");
    let findings = world.json(&["verify"])["findings"].clone();
    let codes: Vec<&str> = findings.as_array().unwrap().iter().map(|f| f["code"].as_str().unwrap()).collect();
    assert_eq!(codes, ["unknown_file", "unknown_file"], "{findings}");
}
