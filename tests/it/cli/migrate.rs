//! `ckpt migrate`, and how older and newer formats are told apart.

use ckpt::core::change::Stamp;
use ckpt::core::checkpoint::Writer;
use ckpt::core::format::{Unusable, decode, decode_with};
use ckpt::core::migrate::Step;
use ckpt::core::store::{OsDisk, STORE_NAME};
use ckpt::core::version::Version;
use ckpt::core::{Handle, Store, Timestamp, WorkflowId};
use serde_json::{Value, json};

use crate::support::project::{World, sealed};

/// Writes a document as a checkpoint file of some format: the checksum is right, whatever else is.
fn plant(world: &World, workflow: &str, version: &str, change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let mut document = world.stored("042", 1);
    document["version"] = json!(version);
    document["workflow"] = json!(workflow);
    change(&mut document);
    let bytes = sealed(document);
    std::fs::create_dir_all(world.workflow_dir(workflow)).unwrap();
    std::fs::write(world.checkpoint_file(workflow, 1), &bytes).unwrap();
    bytes
}

/// An older format, as one that called the title a name and counted nothing.
fn older(document: &mut Value) {
    let members = document.as_object_mut().unwrap();
    let title = members.shift_remove("title").unwrap();
    members.insert("name".to_owned(), title);
}

/// The step that understands it.
fn step() -> Step {
    Step {
        from: Version::parse("0.9").unwrap(),
        to: Version::parse("1.0").unwrap(),
        convert: |mut document| {
            let members = document.as_object_mut()?;
            let name = members.shift_remove("name")?;
            members.insert("title".to_owned(), name);
            Some(document)
        },
    }
}

fn stamp() -> Stamp {
    Stamp {
        now: Timestamp::parse("2026-02-01T00:00:00Z").unwrap(),
        save_id: "5".repeat(32),
        writer: Writer::default(),
        git: None,
        watched: Vec::new(),
    }
}

fn store(world: &World) -> Store {
    let project = world.project();
    Store::on(OsDisk::new(&project), &project, STORE_NAME, &project)
}

fn world() -> World {
    let world = World::new();
    world.run(&["save", "042", "--phases", "a,b", "--phase", "a", "--title", "Search"]).succeeds();
    world
}

#[test]
fn a_registered_step_converts_in_memory_and_the_file_stays_as_it_was() {
    let world = world();
    let bytes = plant(&world, "old", "0.9", older);
    let steps = [step()];

    assert_eq!(decode(&bytes), Err(Unusable::Older(Version::parse("0.9").unwrap())));
    assert_eq!(decode_with(&bytes, &steps).unwrap().content.title.as_deref(), Some("Search"));

    let store = store(&world);
    let plan = store.plan_migration(&steps).unwrap();
    assert_eq!(plan.older.len(), 1);
    assert_eq!((plan.newer.len(), plan.damaged.len(), plan.current), (0, 0, 1));

    let id: WorkflowId = "old".parse().unwrap();
    let new = store.migrate(&id, &steps, &stamp()).unwrap().unwrap();
    assert_eq!(new, Handle::new(&id, 2));
    assert_eq!(std::fs::read(world.checkpoint_file("old", 1)).unwrap(), bytes, "it is never rewritten");
    let forward = store.load(&new).unwrap().checkpoint;
    assert_eq!(forward.content.title.as_deref(), Some("Search"));
    assert_eq!(forward.parent.unwrap().seq, 1);
    assert_eq!(forward.note.as_deref(), Some("brought forward from format 0.9"));

    assert_eq!(store.migrate(&id, &steps, &stamp()).unwrap(), None, "once is enough");
    let plan = store.plan_migration(&steps).unwrap();
    assert_eq!((plan.older.len(), plan.current), (0, 2));
    world.run(&["save", "old", "--phase", "b"]).succeeds();
}

#[test]
fn a_dry_run_says_what_there_is_and_writes_nothing() {
    let world = world();
    plant(&world, "newer-minor", "1.9", |_| {});
    plant(&world, "newer-major", "2.0", |_| {});
    let before = world.tree();
    insta::assert_snapshot!(world.run(&["migrate", "--dry-run"]), @"
    exit 0
    --- stdout
    newer-major/1 has format 2.0, which is newer than this program; it was left alone
    newer-minor/1 has format 1.9, which is newer than this program; it was left alone
    1 workflow has the present format 1.0
    --- end
    ");
    assert_eq!(world.tree(), before);
    world.run(&["migrate"]).succeeds();
    assert_eq!(world.tree(), before, "there is nothing to bring forward");
}

#[test]
fn a_newer_format_is_told_apart_from_a_damaged_file_and_from_one_that_is_too_old() {
    let world = world();
    plant(&world, "newer", "2.0", |_| {});
    plant(&world, "ancient", "0.1", older);
    let mut torn = plant(&world, "torn", "1.0", |_| {});
    torn.truncate(torn.len() / 2);
    std::fs::write(world.checkpoint_file("torn", 1), &torn).unwrap();
    let report = world.run(&["migrate", "--json"]).exits(3).document();
    assert_eq!(report["newer"], json!([{"handle": "newer/1", "version": "2.0"}]));
    let failed: Vec<_> =
        report["failures"].as_array().unwrap().iter().map(|f| f["item"].as_str().unwrap()).collect();
    assert_eq!(failed, ["ancient/1", "torn/1"]);
    assert!(
        report["failures"][0]["message"]
            .as_str()
            .unwrap()
            .contains("has format 0.1, which this program cannot convert")
    );
    for (workflow, code) in [("newer", "format_newer"), ("ancient", "damaged"), ("torn", "damaged")] {
        world.refuses(&["resume", workflow], 6, code);
    }
}
