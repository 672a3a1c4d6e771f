//! Every step of every operation on the real file system fails once, in every way, before and after its effect; or
//! the process dies there.
//!
//! Afterwards the store opens and holds the old state or the new one; an error that does not say "unconfirmed" means
//! that nothing was saved; doing it again works.

use std::path::Path;

use ckpt_model::format::Unusable;
use ckpt_store::{Disk, ObjectContent, OsDisk, STORE_NAME};
use ckpt_store::{Error, Result, Store};

use crate::support::audit::{
    Ack, audit, content, holds, save, save_captured, save_keyed, store_in, store_on, sweep, workflow,
};
use crate::support::fault::{Fault, FaultKind, FaultyDisk, Moment};
use crate::support::files::memory_directory;
use crate::support::proof::{amount, figure};
use crate::support::tap::{Honest, Tapped};

const ENOSPC: i32 = 28;
const EMFILE: i32 = 24;
const EEXIST: i32 = 17;
/// The same, with EDQUOT, EIO, EROFS, EACCES and EINTR.
const ERRORS: [i32; 7] = [ENOSPC, 122, 5, 30, 13, EMFILE, 4];

/// The faults that a step is given. In the short form, one of the errors by turns.
fn faults(step: usize) -> impl Iterator<Item = (FaultKind, Moment)> {
    let errors = (0..amount(1, ERRORS.len())).map(move |turn| ERRORS[(step + turn) % ERRORS.len()]);
    let kinds = errors.map(FaultKind::Once).chain([FaultKind::Crash]);
    let both = kinds.flat_map(|kind| [(kind, Moment::Before), (kind, Moment::After)]);
    // What a file server says when it hears a request twice. Said of nothing, it would be a lie.
    both.chain([(FaultKind::Once(EEXIST), Moment::After)])
}

/// Runs `round` with each fault of every step, until one is not reached. Returns the number of steps.
fn everywhere(rival: bool, round: impl Fn(&Path, &Fault, &str)) -> usize {
    let (mut step, mut rounds) = (0, 0);
    loop {
        step += 1;
        let mut is_reached = false;
        for (kind, moment) in faults(step) {
            let fault = Fault::new(step, kind, moment);
            let fault = if rival { fault.with_rival() } else { fault };
            let base = memory_directory();
            round(base.path(), &fault, &format!("{kind:?} {moment:?} step {step}"));
            rounds += 1;
            is_reached |= fault.fired();
        }
        if !is_reached {
            figure(&format!("save: {rounds} failures and crashes at steps of the `Disk` trait"));
            return step - 1;
        }
    }
}

fn faulty<'a>(base: &Path, fault: &'a Fault) -> Store<FaultyDisk<'a, Tapped<'static, OsDisk, Honest>>> {
    store_on(Tapped { disk: Tapped { disk: OsDisk::new(base), tap: &Honest }, tap: fault })
}

/// An error that says what it is: a save that failed, or one whose fate is not known.
fn assert_honest(error: &Error, present: bool, case: &str) {
    match error {
        Error::Unconfirmed { .. } => {}
        Error::Io { .. } => assert!(!present, "{case}: `{error}`, but it was saved"),
        other => panic!("{case}: unexpected {other:?}"),
    }
}

/// A save with a fault, on top of `old` saves, and then once more without.
fn save_round(base: &Path, fault: &Fault, case: &str, old: usize) {
    let clean = store_in(base);
    let mut acked: Vec<Ack> = Vec::new();
    for number in 0..old {
        let saver = format!("old{number}");
        acked.push(Ack::of(&saver, &save(&clean, &saver).unwrap()));
    }
    let result = save(&faulty(base, fault), "new");
    acked.extend(fault.rival_acks.borrow().iter().cloned());
    match &result {
        Ok(saved) => acked.push(Ack::of("new", saved)),
        Err(error) => assert_honest(error, holds(&clean, "new"), case),
    }
    assert_eq!(audit(&clean, &acked), [""; 0], "{case}");
    let numbers = clean.numbers(&workflow()).unwrap().len();
    assert!((acked.len()..=acked.len() + usize::from(result.is_err())).contains(&numbers), "{case}");

    acked.push(Ack::of("again", &save(&clean, "again").unwrap()));
    assert_eq!(audit(&clean, &acked), [""; 0], "{case}, again");
}

#[test]
fn a_first_save_that_fails_anywhere_leaves_nothing_half_made() {
    let steps = everywhere(false, |base, fault, case| save_round(base, fault, case, 0));
    assert!(steps > 17, "{steps}");
}

#[test]
fn a_save_that_fails_anywhere_leaves_the_old_or_the_new() {
    let steps = everywhere(false, |base, fault, case| save_round(base, fault, case, 2));
    assert!(steps > 11, "{steps}");
}

#[test]
fn a_save_with_a_content_that_fails_anywhere_leaves_the_old_or_the_new_and_its_object() {
    let steps = everywhere(false, |base, fault, case| {
        let clean = store_in(base);
        let mut acked = vec![Ack::of("old", &save(&clean, "old").unwrap())];
        match save_captured(&faulty(base, fault), "new") {
            Ok(saved) => acked.push(Ack::of("new", &saved)),
            Err(error) => assert_honest(&error, holds(&clean, "new"), case),
        }
        assert_eq!(audit(&clean, &acked), [""; 0], "{case}");
        // If the checkpoint is visible, so is the object, acknowledged or not.
        if holds(&clean, "new") {
            assert!(clean.read_object(&content().sha256(), 100).unwrap().is_some(), "{case}");
        }
        acked.push(Ack::of("again", &save_captured(&clean, "again").unwrap()));
        assert_eq!(audit(&clean, &acked), [""; 0], "{case}, again");
    });
    assert!(steps > 23, "{steps}");
}

#[test]
fn a_removal_of_objects_that_fails_anywhere_loses_none_that_is_referred_to_and_can_be_repeated() {
    let steps = everywhere(false, |base, fault, case| {
        let clean = store_in(base);
        let acked = [Ack::of("new", &save_captured(&clean, "new").unwrap())];
        let other = ObjectContent::new(b"nothing refers to it".to_vec());
        clean.store_object(&other, "other").unwrap();
        let swept = sweep(&faulty(base, fault), "sweeper");
        assert_eq!(audit(&clean, &acked), [""; 0], "{case}");
        sweep(&clean, "again").unwrap();
        assert_eq!(audit(&clean, &acked), [""; 0], "{case}, again: {swept:?}");
        assert!(!clean.has_object(&other.sha256()).unwrap(), "{case}");
    });
    assert!(steps > 5, "{steps}");
}

#[test]
fn a_contended_save_that_fails_anywhere_keeps_what_the_rival_saved() {
    let steps = everywhere(true, |base, fault, case| {
        save_round(base, fault, case, 1);
        assert!(fault.rival_acks.borrow().len() == 1 || fault.fired(), "{case}");
    });
    assert!(steps > 17, "{steps}");
}

#[test]
fn a_save_under_a_key_is_made_once_however_often_it_fails_and_is_repeated() {
    let steps = everywhere(false, |base, fault, case| {
        let clean = store_in(base);
        let old = Ack::of("old", &save(&clean, "old").unwrap());
        let first = save_keyed(&faulty(base, fault), "new", "process 1");
        if let Err(error) = &first {
            assert_honest(error, holds(&clean, "new"), case);
        }
        let second = Ack::of("new", &save_keyed(&clean, "new", "process 2").unwrap());
        assert_eq!(audit(&clean, &[old, second]), [""; 0], "{case}");
        assert_eq!(clean.numbers(&workflow()).unwrap().len(), 2, "{case}");
        if let Ok(first) = first {
            assert_eq!(Ack::of("new", &first).seq, 2, "{case}");
        }
    });
    assert!(steps > 11, "{steps}");
}

#[test]
fn a_repetition_under_a_key_that_fails_anywhere_makes_nothing_new() {
    let steps = everywhere(false, |base, fault, case| {
        let clean = store_in(base);
        let first = Ack::of("new", &save_keyed(&clean, "new", "process 1").unwrap());
        match save_keyed(&faulty(base, fault), "new", "process 2") {
            Ok(again) => assert_eq!(Ack::of("new", &again), first, "{case}"),
            Err(error) => assert!(matches!(error, Error::Io { .. }), "{case}: {error:?}"),
        }
        assert_eq!(audit(&clean, &[first]), [""; 0], "{case}");
        assert_eq!(clean.numbers(&workflow()).unwrap().len(), 1, "{case}");
    });
    assert!(steps > 5, "{steps}");
}

const CONFIG: &str = "# settings\n";

fn init<D: Disk>(store: &Store<D>) -> Result<()> {
    store.create()?;
    store.create_config(CONFIG)?;
    Ok(())
}

#[test]
fn init_that_fails_anywhere_can_be_repeated() {
    let steps = everywhere(false, |base, fault, case| {
        let root = base.join(STORE_NAME);
        let text = |name: &str| std::fs::read_to_string(root.join(name)).ok();
        let result = init(&faulty(base, fault));
        if let Err(error) = &result {
            assert!(matches!(error, Error::Io { .. }), "{case}: {error:?}");
        }
        for (name, whole) in [("config.toml", CONFIG), (".gitignore", "*\n!.gitignore\n!config.toml\n")] {
            assert!(text(name).is_none_or(|text| text == whole), "{case}: {name} is torn");
        }
        let again = store_in(base);
        init(&again).unwrap();
        assert_eq!(text("config.toml").as_deref(), Some(CONFIG), "{case}");
        assert!(text(".gitignore").is_some(), "{case}: the store is not kept out of version control");
        save(&again, "new").unwrap();
    });
    assert!(steps > 11, "{steps}");
}

#[test]
fn a_checkpoint_that_cannot_be_read_for_want_of_descriptors_is_not_called_damaged() {
    let base = memory_directory();
    let clean = store_in(base.path());
    save(&clean, "old").unwrap();
    let reads = |step| {
        let fault = Fault::new(step, FaultKind::Once(EMFILE), Moment::Before);
        save(&faulty(base.path(), &fault), "new").err()
    };
    for error in (1..10).filter_map(reads) {
        assert!(!matches!(error, Error::Damaged { why: Unusable::Unreadable(_), .. }), "{error}");
    }
}
