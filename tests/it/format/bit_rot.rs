//! Damage to the file of a checkpoint is found before its content is used, and the one before it stays usable.

use std::path::Path;

use ckpt_model::format::Unusable;
use ckpt_store::Entry;
use ckpt_store::{Error, Store};

use crate::support::audit::{handle, save, store_in, workflow};
use crate::support::files::memory_directory;
use crate::support::proof::figure;

const NEWEST: u64 = 2;

/// Puts bytes in the place of a file, which nobody may write to.
fn replace(path: &Path, bytes: &[u8]) {
    std::fs::remove_file(path).unwrap();
    std::fs::write(path, bytes).unwrap();
}

/// Why a checkpoint cannot be used, and which one is offered instead.
#[track_caller]
fn damage(store: &Store, seq: u64, case: &str) -> (Unusable, Option<u64>) {
    match store.load(&handle(seq)) {
        Err(Error::Damaged { why, before, .. }) => (why, before.map(|before| before.seq)),
        other => panic!("{case}: {other:?}"),
    }
}

#[test]
fn every_flipped_bit_and_every_cut_is_found() {
    let base = memory_directory();
    let store = store_in(base.path());
    save(&store, "one").unwrap();
    save(&store, "two").unwrap();
    let path = store.checkpoint_path(&handle(NEWEST));
    let whole = std::fs::read(&path).unwrap();
    assert!(whole.len() > 500, "{}", whole.len());

    let flipped = (0..whole.len()).map(|at| {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 8);
        (format!("byte {at} flipped"), bytes)
    });
    let cut = (0..whole.len()).map(|length| (format!("cut to {length}"), whole[..length].to_vec()));
    let grown = [[&whole[..], b"\n"].concat(), [&whole[..], &whole[..]].concat(), vec![0; whole.len()]];
    let grown = grown.into_iter().map(|bytes| ("grown or blanked".to_owned(), bytes));
    for (case, bytes) in flipped.chain(cut).chain(grown) {
        replace(&path, &bytes);
        assert_eq!(damage(&store, NEWEST, &case).1, Some(1), "{case}");
        store.load(&handle(1)).unwrap();
    }
    replace(&path, &whole);
    store.load(&handle(NEWEST)).unwrap();
    figure(&format!("bit rot: every byte flipped and every cut of {} bytes, all found", whole.len()));
}

#[test]
fn a_damaged_newest_checkpoint_is_not_built_upon() {
    let base = memory_directory();
    let store = store_in(base.path());
    save(&store, "one").unwrap();
    save(&store, "two").unwrap();
    let path = store.checkpoint_path(&handle(NEWEST));
    for bytes in [&b""[..], b"{}", b"\0"] {
        replace(&path, bytes);
        let refused = save(&store, "three");
        assert!(matches!(refused, Err(Error::Damaged { .. })), "{refused:?}");
        assert_eq!(store.numbers(&workflow()).unwrap().len(), 2);
    }
}

#[test]
fn an_empty_newest_file_is_damage_and_not_an_archived_checkpoint() {
    let base = memory_directory();
    let store = store_in(base.path());
    for saver in ["one", "two"] {
        save(&store, saver).unwrap();
    }
    replace(&store.checkpoint_path(&handle(NEWEST)), b"");
    assert_eq!(damage(&store, NEWEST, "empty"), (Unusable::Empty, Some(1)));
    replace(&store.checkpoint_path(&handle(1)), b"");
    assert!(matches!(store.load(&handle(1)), Err(Error::Archived { .. })));
}

#[test]
fn a_checkpoint_copied_from_elsewhere_says_who_it_is() {
    let base = memory_directory();
    let (store, other) = (store_in(base.path()), memory_directory());
    for saver in ["one", "two", "three"] {
        save(&store, saver).unwrap();
    }
    let path = |seq| store.checkpoint_path(&handle(seq));
    replace(&path(3), &std::fs::read(path(1)).unwrap());
    let misplaced = |found: &str| Unusable::Misplaced { found: found.to_owned(), expected: "w/3".to_owned() };
    assert_eq!(damage(&store, 3, "copied"), (misplaced("w/1"), Some(2)));

    // The same number of another workflow, which has a valid digest and a fitting number.
    let elsewhere = store_in(other.path());
    for saver in ["one", "two", "three"] {
        save(&elsewhere, saver).unwrap();
    }
    let mut foreign = elsewhere.load(&handle(3)).unwrap().checkpoint;
    foreign.workflow = "v".parse().unwrap();
    replace(&path(3), &ckpt_model::format::encode(&mut foreign).unwrap());
    assert_eq!(damage(&store, 3, "foreign"), (misplaced("v/3"), Some(2)));
}

#[test]
fn a_checkpoint_removed_from_the_middle_is_missed() {
    let base = memory_directory();
    let store = store_in(base.path());
    for saver in ["one", "two", "three"] {
        save(&store, saver).unwrap();
    }
    std::fs::remove_file(store.checkpoint_path(&handle(2))).unwrap();
    assert_eq!(damage(&store, 2, "removed"), (Unusable::Missing, Some(1)));
    let rows = store.scan_checkpoints(&workflow()).unwrap();
    let live = |row: &ckpt_store::CheckpointRow| matches!(row.entry, Ok(Entry::Checkpoint(_)));
    assert_eq!(rows.iter().map(live).collect::<Vec<_>>(), [true, false, true]);
    assert!(matches!(rows[1].entry, Err(Unusable::Missing)));
}
