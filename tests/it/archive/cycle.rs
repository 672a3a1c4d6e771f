//! Archive, read, save, restart, restore: what people see.

use std::io::Read as _;

use ckpt_model::change::{Change, TaskChange};
use ckpt_model::pipeline::Pipeline;
use ckpt_model::{ArchiveReason, PhaseStatus, TaskStatus, WorkflowStatus, schema};
use ckpt_store::Error;
use ckpt_store::{Bundle, Entry, Extent, RestoreScope};
use serde_json::{Value, json};

use crate::support::store::{World, handle, id, state};

fn declared() -> Pipeline {
    Pipeline::custom(["plan", "build", "test"].map(|id| id.parse().unwrap())).unwrap()
}

#[test]
fn every_file_comes_back_byte_for_byte_damaged_or_not() {
    let world = World::with(7);
    world.damage(2, b"\xff\xfe\0 not even text");
    world.damage(3, b"{\"half\": ");
    world.damage(4, &[b"  ", world.bytes(5).as_slice()].concat());
    let before: Vec<_> = (1..=7).map(|seq| world.bytes(seq)).collect();

    let archived = world.store().archive(&id("042"), &ArchiveReason::Completed, &world.stamp(), &mut |_| {}).unwrap();
    assert_eq!((archived.seal.seq, archived.moved.len(), archived.left.len()), (8, 7, 0));
    assert_eq!(archived.bytes, before.iter().map(|bytes| bytes.len() as u64).sum::<u64>());
    assert_eq!(archived.bundles, [world.bundle()]);
    let name = archived.bundles[0].file_name().unwrap().to_str().unwrap();
    assert_eq!(name, "00000001-00000007-20260116T200008Z-completed.jsonl.gz");
    for seq in 1..=7 {
        assert_eq!(world.bytes(seq), b"", "{seq} is a tombstone");
    }

    let tree = world.tree();
    for (seq, file) in (1..).zip(&before).filter(|(seq, _)| ![2, 3, 4].contains(seq)) {
        assert_eq!(world.store().load(&handle(seq)).unwrap().bytes, *file, "{seq}");
    }
    for seq in [2, 3, 4] {
        match world.store().load(&handle(seq)).unwrap_err() {
            Error::Damaged { path, .. } => assert_eq!(path, world.bundle()),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(world.tree(), tree, "reading changes nothing");

    let restored = world.store().restore(&id("042"), &RestoreScope::Workflow, &world.stamp(), &mut |_| {}).unwrap();
    assert_eq!(restored.restored.len(), 7);
    assert!(restored.lost.is_empty() && restored.damaged.is_empty());
    for (seq, file) in (1..).zip(&before) {
        assert_eq!(world.bytes(seq), *file, "{seq}");
    }
    assert_eq!(restored.revived.unwrap().seq, 9);
    assert_eq!(state(&world.store().load(&handle(9)).unwrap().checkpoint), json!({"n": 7}));
}

#[test]
fn a_seal_is_a_valid_checkpoint_that_lists_can_show() {
    let world = World::new();
    let change = Change {
        pipeline: Some(declared()),
        phase: Some("plan".parse().unwrap()),
        title: Some("Login".into()),
        labels: vec!["auth".into()],
        ..Change::default()
    };
    world.save_change(&change).unwrap();
    world.store().archive(&id("042"), &ArchiveReason::Failed, &world.stamp(), &mut |_| {}).unwrap();

    let seal = world.store().load(&handle(2)).unwrap();
    let document: Value = serde_json::from_slice(&seal.bytes).unwrap();
    assert_eq!(schema::violations(schema::CHECKPOINT, &document), []);
    assert_eq!(document["sealed"], json!({"last": 1, "reason": "failed"}));
    assert_eq!(seal.checkpoint.parent.as_ref().unwrap().seq, 1);
    assert!(seal.bytes.len() < 2048);

    let store = world.store();
    let rows = store.scan_these(&store.workflow_ids().unwrap(), Extent::Live).unwrap();
    let header = rows[0].header.as_ref().unwrap();
    assert!(rows[0].archived && rows[0].live.unwrap().checkpoints == 0);
    assert_eq!((header.progress().done, header.phases.len()), (1, 3));
    assert_eq!((header.title.as_deref(), header.pipeline.as_deref()), (Some("Login"), Some("custom")));
    assert_eq!(header.labels, ["auth"]);

    let rows = world.store().scan_checkpoints(&id("042")).unwrap();
    assert!(matches!(rows[0].entry, Ok(Entry::Tombstone)));
    assert!(matches!(rows[1].entry, Ok(Entry::Seal(_))));
    assert_eq!(rows.len(), 2);
}

#[test]
fn a_save_goes_on_above_the_seal_with_the_archived_state() {
    let world = World::with(3);
    world.store().archive(&id("042"), &ArchiveReason::Completed, &world.stamp(), &mut |_| {}).unwrap();
    let seal = world.store().load(&handle(4)).unwrap().checkpoint;
    world.save(json!({"more": true}));

    let next = world.store().load(&handle(5)).unwrap().checkpoint;
    assert_eq!(state(&next), json!({"n": 3, "more": true}));
    assert_eq!(next.sealed, None);
    let parent = next.parent.unwrap();
    assert_eq!((parent.seq, parent.sha256), (4, seal.sha256));
    let rows = world.store().scan().unwrap();
    assert!(!rows[0].archived);
    assert_eq!(rows[0].newest, handle(5));

    // The second archive holds what the first does not.
    let archived = world.store().archive(&id("042"), &ArchiveReason::Cleanup, &world.stamp(), &mut |_| {}).unwrap();
    assert_eq!(archived.seal, handle(6));
    assert_eq!(archived.moved, [handle(4), handle(5)]);
    for seq in 1..=6 {
        assert_eq!(world.store().load(&handle(seq)).unwrap().checkpoint.seq, seq);
    }
    assert_eq!(state(&world.store().load(&handle(2)).unwrap().checkpoint), json!({"n": 2}));
    world.save(json!({}));
    assert_eq!(state(&world.store().load(&handle(7)).unwrap().checkpoint), json!({"n": 3, "more": true}));
}

#[test]
fn archiving_an_archived_workflow_changes_nothing() {
    let world = World::with(3);
    let first = world.store().archive(&id("042"), &ArchiveReason::Completed, &world.stamp(), &mut |_| {}).unwrap();
    let tree = world.tree();
    let again = world.store().archive(&id("042"), &ArchiveReason::Failed, &world.stamp(), &mut |_| {}).unwrap();
    assert_eq!((again.seal, again.bundles), (first.seal, first.bundles));
    assert!(again.sealed_before && again.moved.is_empty());
    assert_eq!(again.reason, ArchiveReason::Completed);
    assert_eq!(world.tree(), tree);
}

#[test]
fn what_does_not_exist_is_not_archived_or_created() {
    let world = World::new();
    for result in [
        world.store().archive(&id("042"), &ArchiveReason::Completed, &world.stamp(), &mut |_| {}).map(drop),
        world.store().restart(&id("042"), &world.stamp()).map(drop),
        world.store().restore(&id("042"), &RestoreScope::Workflow, &world.stamp(), &mut |_| {}).map(drop),
    ] {
        assert!(matches!(result, Err(Error::NoSuchWorkflow { .. })));
    }
    assert!(!world.dir.path().join(".ckpt").exists());
}

#[test]
fn a_restart_keeps_the_plan_and_nothing_else() {
    let world = World::new();
    let plan = Change {
        pipeline: Some(declared()),
        phase: Some("plan".parse().unwrap()),
        title: Some("Login".into()),
        labels: vec!["auth".into()],
        ..Change::default()
    };
    world.save_change(&plan).unwrap();
    let build = Change {
        phase: Some("build".parse().unwrap()),
        status: Some(PhaseStatus::Failed),
        error: Some("no".into()),
        tasks: vec![TaskChange {
            id: "t".parse().unwrap(),
            status: TaskStatus::Running,
            output: None,
            after: None,
            error: None,
        }],
        ..Change::default()
    };
    world.save_change(&build).unwrap();
    world.save(json!({"n": 3}));

    let restarted = world.store().restart(&id("042"), &world.stamp()).unwrap();
    let seal = world.store().load(&handle(4)).unwrap().checkpoint;
    assert_eq!(seal.sealed.unwrap().reason, ArchiveReason::Restarted);
    let fresh = world.store().load(&handle(5)).unwrap().checkpoint;
    assert_eq!(fresh, restarted);
    assert_eq!(fresh.content.status, WorkflowStatus::InProgress);
    assert_eq!((fresh.content.title.as_deref(), fresh.content.pipeline.as_deref()), (Some("Login"), Some("custom")));
    assert_eq!(fresh.content.labels, ["auth"]);
    let phases: Vec<_> = fresh.content.phases.iter().map(|p| (p.id.as_str(), p.status, p.attempts)).collect();
    assert_eq!(phases, ["plan", "build", "test"].map(|id| (id, PhaseStatus::Pending, 0)));
    assert!(fresh.content.phases.iter().all(|p| p.started_at.is_none() && p.error.is_none() && p.data.is_none()));
    assert!(fresh.content.tasks.is_empty() && fresh.content.artifacts.is_empty() && fresh.content.last_error.is_none());
    assert_eq!(fresh.content.next.as_ref().unwrap().phase.as_ref().unwrap().as_str(), "plan");
    assert!(fresh.content.state.is_empty_object() && fresh.content.phase.is_none() && fresh.sealed.is_none());
    assert_eq!(fresh.parent.as_ref().unwrap().seq, 4);
    assert_eq!(world.store().load(&handle(2)).unwrap().checkpoint.content.tasks.len(), 1);
}

#[test]
fn discarding_says_abandoned() {
    let world = World::with(2);
    let archived = world.store().archive(&id("042"), &ArchiveReason::Abandoned, &world.stamp(), &mut |_| {}).unwrap();
    assert_eq!(archived.reason, ArchiveReason::Abandoned);
    let rows = world.store().scan().unwrap();
    assert_eq!(rows[0].header.as_ref().unwrap().status, WorkflowStatus::Abandoned);
    world.save(json!({"back": 1}));
    assert_eq!(world.store().load(&handle(4)).unwrap().checkpoint.content.status, WorkflowStatus::InProgress);
}

#[test]
fn a_damaged_newest_can_be_archived_and_begun_again_but_not_continued() {
    let world = World::with(3);
    world.damage(3, b"{ damaged");
    assert!(matches!(world.try_save(json!({})), Err(Error::Damaged { .. })));
    let archived = world.store().archive(&id("042"), &ArchiveReason::Failed, &world.stamp(), &mut |_| {}).unwrap();
    assert_eq!((archived.seal, archived.moved.len()), (handle(4), 3));
    match world.try_save(json!({})).unwrap_err() {
        Error::Damaged { handle: damaged, .. } => assert_eq!(damaged, handle(3)),
        other => panic!("{other:?}"),
    }
    assert_eq!(world.store().restart(&id("042"), &world.stamp()).unwrap().seq, 5);
    world.save(json!({"n": 1}));
}

#[test]
fn what_cannot_be_kept_is_not_touched() {
    // An empty newest file is not a tombstone, and a directory is not a file.
    for arrange in [(|world: &World| world.damage(3, b"")) as fn(&World), |world| {
        std::fs::remove_file(world.file(3)).unwrap();
        std::fs::create_dir(world.file(3)).unwrap();
    }] {
        let world = World::with(3);
        arrange(&world);
        let tree = world.tree();
        let refused = world.store().archive(&id("042"), &ArchiveReason::Failed, &world.stamp(), &mut |_| {});
        assert!(matches!(refused, Err(Error::Damaged { .. })));
        assert_eq!(world.tree(), tree);
    }
    // Below the newest it stays where it is, and is reported.
    let world = World::with(3);
    std::fs::remove_file(world.file(2)).unwrap();
    std::fs::create_dir(world.file(2)).unwrap();
    let archived = world.store().archive(&id("042"), &ArchiveReason::Failed, &world.stamp(), &mut |_| {}).unwrap();
    assert_eq!((archived.moved, archived.left), (vec![handle(1), handle(3)], vec![handle(2)]));
    assert!(world.file(2).is_dir());
}

#[test]
fn one_checkpoint_is_restored_alone() {
    let world = World::with(4);
    let before = world.bytes(2);
    world.store().archive(&id("042"), &ArchiveReason::Completed, &world.stamp(), &mut |_| {}).unwrap();
    let restored =
        world.store().restore(&id("042"), &RestoreScope::checkpoint(2), &world.stamp(), &mut |_| {}).unwrap();
    assert_eq!((restored.restored, restored.revived.is_some()), (vec![handle(2)], false));
    assert_eq!(world.bytes(2), before);
    assert_eq!(world.bytes(3), b"");
    let again = world.store().restore(&id("042"), &RestoreScope::checkpoint(2), &world.stamp(), &mut |_| {}).unwrap();
    assert!(again.restored.is_empty());
    assert!(matches!(
        world.store().restore(&id("042"), &RestoreScope::checkpoint(9), &world.stamp(), &mut |_| {}),
        Err(Error::NoSuchCheckpoint { .. })
    ));
    // Archiving completes: it leaves again.
    let archived = world.store().archive(&id("042"), &ArchiveReason::Completed, &world.stamp(), &mut |_| {}).unwrap();
    assert_eq!(archived.moved, [handle(2)]);
}

#[test]
fn restoring_never_overwrites_what_is_there() {
    let world = World::with(3);
    world.store().archive(&id("042"), &ArchiveReason::Completed, &world.stamp(), &mut |_| {}).unwrap();
    world.damage(2, b"somebody put this here");
    let restored = world.store().restore(&id("042"), &RestoreScope::Workflow, &world.stamp(), &mut |_| {}).unwrap();
    assert_eq!(restored.restored, [handle(3), handle(1)]);
    assert_eq!(world.bytes(2), b"somebody put this here");
    // Nor does archiving remove what the bundle does not hold: it goes into a new one.
    world.store().archive(&id("042"), &ArchiveReason::Completed, &world.stamp(), &mut |_| {}).unwrap();
    world.damage(3, b"and this");
    let again = world.store().archive(&id("042"), &ArchiveReason::Completed, &world.stamp(), &mut |_| {}).unwrap();
    assert_eq!((again.moved, again.left), (vec![], vec![handle(3)]));
    assert_eq!(world.bytes(3), b"and this");
}

#[test]
fn a_bundle_that_is_gone_is_said_so() {
    let world = World::with(3);
    world.store().archive(&id("042"), &ArchiveReason::Completed, &world.stamp(), &mut |_| {}).unwrap();
    std::fs::remove_file(world.bundle()).unwrap();
    let error = world.store().load(&handle(2)).unwrap_err();
    assert_eq!(error.to_string(), "the content of `042/2` has left the live store, and no bundle holds it");
    assert!(matches!(world.try_save(json!({})), Err(Error::Archived { .. })));
    let tree = world.tree();
    world.store().archive(&id("042"), &ArchiveReason::Completed, &world.stamp(), &mut |_| {}).unwrap();
    assert_eq!(world.tree(), tree, "there is nothing to put into a bundle");
    // What the seal knows is enough to begin again.
    assert_eq!(world.store().restart(&id("042"), &world.stamp()).unwrap().seq, 5);
}

/// Seven snapshots of about 10 KB, each with everything of the one before, three times over.
#[test]
fn cumulative_snapshots_shrink_by_more_than_85_percent() {
    let world = World::new();
    let mut seed = 42_u64;
    let mut word = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        format!("{:x}", seed >> 24)
    };
    for round in 0..3 {
        world.save(json!({"rounds": null}));
        for phase in 0..7 {
            let findings: Vec<_> = (0..50).map(|n| json!({"finding": n, "text": word()})).collect();
            world.save(json!({"rounds": {format!("r{round}p{phase}"): findings}}));
        }
    }
    let archived = world.store().archive(&id("042"), &ArchiveReason::Completed, &world.stamp(), &mut |_| {}).unwrap();
    let packed = std::fs::metadata(world.bundle()).unwrap().len();
    let saved = 100.0 * (1.0 - packed as f64 / archived.bytes as f64);
    println!("{} bytes in {} bytes: {saved:.1} % saved", archived.bytes, packed);
    assert!(archived.bytes > 21 * 8_000 && saved >= 85.0, "{saved}");
}

#[test]
fn zcat_and_jq_can_read_a_bundle() {
    let world = World::with(2);
    let raw = world.bytes(2);
    world.store().archive(&id("042"), &ArchiveReason::Completed, &world.stamp(), &mut |_| {}).unwrap();
    let bytes = std::fs::read(world.bundle()).unwrap();
    let mut text = String::new();
    flate2::read::MultiGzDecoder::new(bytes.as_slice()).read_to_string(&mut text).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0]["format"], "ckpt.bundle.v1");
    assert_eq!((&lines[0]["run"], &lines[1]["seq"], &lines[2]["seq"]), (&json!(1), &json!(2), &json!(1)));
    assert_eq!(lines[1]["checkpoint"], serde_json::from_slice::<Value>(&raw).unwrap());
    assert_eq!(Bundle::open(&bytes).unwrap().manifest().entries.len(), 2);
}
