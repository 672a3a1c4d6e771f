//! `ckpt save`: exit 0 means that the checkpoint is there, exit 10 that it is not, and the next save works.

use ckpt_model::{Handle, WorkflowId};

use crate::support::project::{Outcome, World};
use crate::support::strace::{calls, strace, was_killed, with_fault};
use ckpt::injection::{Fault, failures, kills, sample, try_all};

const SAVE: [&str; 4] = ["save", "042", "--note", "under test"];

/// Checks a save on top of `before` checkpoints that met a fault.
fn assert_sound(world: &World, before: u64, outcome: &Outcome, what: &str) {
    let id: WorkflowId = "042".parse().unwrap();
    let numbers: Vec<u64> = world.numbers("042");
    for seq in &numbers {
        let loaded = world.open_store().load(&Handle::new(&id, *seq));
        assert!(loaded.is_ok(), "{what}: 042/{seq}: {:?}\n{outcome}", loaded.err());
    }
    let (old, new): (Vec<u64>, Vec<u64>) = ((1..=before).collect(), (1..=before + 1).collect());
    match outcome.status.code() {
        _ if was_killed(outcome) => {
            assert!(numbers == old || numbers == new, "{what}: {numbers:?}\n{outcome}");
        }
        Some(0) => assert_eq!(numbers, new, "{what}: acknowledged and not there\n{outcome}"),
        Some(10) => assert_eq!(numbers, old, "{what}: refused, but it exists\n{outcome}"),
        Some(11) => assert_eq!(numbers, new, "{what}: written, says it\n{outcome}"),
        _ => panic!("{what}: no documented end\n{outcome}"),
    }
    let next = world.run(&["save", "042", "--phase", "next", "-q"]).succeeds();
    assert_eq!(next.stdout, format!("042/{}\n", numbers.len() + 1), "{what}: the next save");
}

/// Tries every kill and every error at a save on top of `before` checkpoints.
fn try_everything(before: u64) {
    try_faults(&World::with_checkpoints(usize::try_from(before).unwrap()), before, &SAVE, |faults| faults);
}

/// Tries kills and errors at a command that saves once, on top of `before` checkpoints.
fn try_faults(model: &World, before: u64, args: &[&str], select: impl Fn(Vec<Fault>) -> Vec<Fault>) {
    let Some(strace) = strace() else { return };
    let mut faults = kills(&strace, &model.copy(), args);
    faults.extend(failures(&strace, &model.copy(), args));
    try_all(
        &strace,
        args,
        &select(faults),
        || model.copy(),
        |world, outcome, fault| {
            assert_sound(world, before, outcome, &fault.to_string());
        },
    );
}

#[test]
fn a_first_save_with_every_fault_at_every_system_call() {
    try_everything(0);
}

#[test]
fn a_save_with_every_fault_at_every_system_call() {
    try_everything(2);
}

#[test]
fn a_save_with_a_content_with_faults_at_its_system_calls() {
    let model = World::with_checkpoints(2);
    model.write("out.md", "kept");
    let args = ["save", "042", "--note", "under test", "--artifact", "out.md", "--capture"];
    let Some(strace) = strace() else { return };
    let mut faults = kills(&strace, &model.copy(), &args);
    faults.extend(failures(&strace, &model.copy(), &args));
    let check = |world: &World, outcome: &Outcome, fault: &Fault| {
        let (store, id): (_, WorkflowId) = (world.open_store(), "042".parse().unwrap());
        if let Ok(stored) = store.load(&Handle::new(&id, 3)) {
            let object = stored.checkpoint.content.artifacts[0].object().unwrap();
            let kept = store.read_object(&object, 100);
            assert!(matches!(&kept, Ok(Some(bytes)) if bytes == b"kept"), "{fault}: {kept:?}\n{outcome}");
        }
        // The file itself could not be read.
        if outcome.status.code() == Some(1) {
            assert!(outcome.stderr.contains("artifact") && world.numbers("042") == [1, 2], "{fault}: {outcome}");
            return;
        }
        assert_sound(world, 2, outcome, &fault.to_string());
    };
    try_all(&strace, &args, &sample(faults), || model.copy(), check);
}

#[test]
fn an_approval_with_faults_at_its_system_calls() {
    let model = World::with_checkpoints(2);
    try_faults(&model, 2, &["approve", "042", "--phase", "1"], sample);
}

#[test]
fn a_revision_with_faults_at_its_system_calls() {
    let model = World::with_checkpoints(2);
    try_faults(&model, 2, &["revise", "042", "--from", "1", "--reason", "changed"], sample);
}

#[test]
fn a_directory_that_cannot_be_synced_is_said_to_be_uncertain() {
    let Some(strace) = strace() else { return };
    let model = World::with_checkpoints(2);
    let calls = calls(&strace, &model.copy(), &SAVE);
    let last = calls.into_iter().rfind(|call| call.name == "fsync").unwrap();
    let world = model.copy();
    let save = [&SAVE[..], &["--json"]].concat();
    let failure = with_fault(world.ckpt(&save), &strace, &last, "error=EIO").run().exits(11).failure();
    assert_eq!((&failure["code"], &failure["context"]["handle"]), (&"unconfirmed".into(), &"042/3".into()));
}
