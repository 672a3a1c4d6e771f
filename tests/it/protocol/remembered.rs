//! The head that a server remembers from one save to the next: what it spares, and whatever happens to the file meanwhile.

use std::cell::RefCell;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use ckpt_model::change::{SaveInput, Stamp};
use ckpt_model::{Config, Timestamp, format};
use ckpt_store::save::Save;
use ckpt_store::{Disk, HeadMemory, OsDisk};
use ckpt_store::{Error, Store};
use serde_json::json;

use crate::support::audit::{Ack, audit, handle, holds, save, stamp, store_in, store_on, try_archive, workflow};
use crate::support::files::memory_directory;
use crate::support::memory::MemoryDisk;
use crate::support::tap::{Step, Tap, Tapped};

/// Records the steps that find and read a head.
#[derive(Default)]
struct Reads(RefCell<Vec<Step>>);

impl<D: Disk> Tap<D> for Reads {
    fn before(&self, _: &D, step: Step, _: &str) -> io::Result<()> {
        if matches!(step, Step::List | Step::Read) {
            self.0.borrow_mut().push(step);
        }
        Ok(())
    }
}

/// Something that happens to the file at a path, in words and in deed.
type Event = (&'static str, fn(&Path));

fn server(base: &Path) -> Store {
    store_in(base).remembering(HeadMemory::default())
}

fn overwrite(path: &Path, bytes: &[u8]) {
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
    fs::write(path, bytes).unwrap();
}

/// The bytes of a checkpoint with another mark in it, and a digest that is right.
fn edited(bytes: &[u8]) -> Vec<u8> {
    let mut checkpoint = format::decode(bytes).unwrap();
    checkpoint.note = Some("edited".to_owned());
    format::encode(&mut checkpoint).unwrap()
}

#[test]
fn a_server_neither_lists_nor_reads_what_it_has_written() {
    let base = memory_directory();
    let reads = Reads::default();
    let disk = Tapped { disk: OsDisk::new(base.path()), tap: &reads };
    let store = Store::on(disk, base.path(), ".ckpt", base.path()).remembering(HeadMemory::default());
    save(&store, "a").unwrap();
    save(&store, "b").unwrap();
    reads.0.borrow_mut().clear();
    let mut acked = Vec::new();
    for saver in ["c", "d", "e"] {
        acked.push(Ack::of(saver, &save(&store, saver).unwrap()));
    }
    assert_eq!(*reads.0.borrow(), []);
    assert_eq!(audit(&store_in(base.path()), &acked), [""; 0]);
    assert!(["a", "b", "c", "d", "e"].iter().all(|saver| holds(&store, saver)));
}

/// Also what is kept as text from one checkpoint to the next: numbers, unknown members, the order of keys.
#[test]
fn a_server_writes_the_same_bytes_as_a_command() {
    let documents = [
        json!({"phases": ["plan", {"id": "build", "title": "B"}, "test"], "phase": "plan", "title": "t", "labels": ["l"]}),
        json!({"phase": "build", "status": "in_progress", "data": {"z": 1.50, "a": [1e40, {"n": null}]}, "unknown": {"b": [], "a": 0.10}}),
        json!({"state": {"k": {"deep": [12345678901234567890123456789u128.to_string(), -0.0]}, "empty": {}, "text": "\u{1f600}\n"}}),
        json!({"tasks": [{"id": "a", "status": "running", "output": "out/a"}, {"id": "b", "status": "pending", "after": ["a"]}]}),
        json!({"add": {"list": [1, "x"]}, "facts": {"issue": {"labels": ["a"], "n": 7}}, "note": "n"}),
        json!({"phase": "build", "error": "no\ttab", "next": "try again"}),
        json!({"phase": "build", "pin": true, "tasks": {"a": "complete"}}),
        json!({"unlabels": ["l"], "forget_facts": ["issue"], "phase": "test", "status": "skipped"}),
        json!({"trigger": "manual"}),
    ];
    let (one, other) = (memory_directory(), memory_directory());
    for (store, base) in [(server(one.path()), &one), (store_in(other.path()), &other)] {
        for (index, document) in documents.iter().enumerate() {
            let change = SaveInput::from_json(document.clone()).unwrap().change;
            let now = Timestamp::parse(&format!("2026-01-01T00:00:0{index}.9876543Z")).unwrap();
            let (stamp, config) = (Stamp { now, ..stamp(&index.to_string()) }, Config::default());
            let saved = Save::new(&workflow(), &change, &stamp, &config).to(&store).unwrap();
            let read = store.load(&handle(saved.seq().unwrap())).unwrap();
            assert_eq!(saved.written().unwrap(), &*read.checkpoint, "{document} in {base:?}");
        }
    }
    for seq in 1..=documents.len() as u64 {
        let [one, other] =
            [&one, &other].map(|base| fs::read_to_string(store_in(base.path()).checkpoint_path(&handle(seq))).unwrap());
        assert_eq!(one, other, "{seq}");
    }
}

#[test]
fn a_server_continues_what_others_saved_and_archived_meanwhile() {
    let base = memory_directory();
    let (server, other, command) = (server(base.path()), server(base.path()), store_in(base.path()));
    let mut acked = Vec::new();
    for round in 0..5 {
        for (store, name) in [(&server, "one"), (&server, "one again"), (&other, "two"), (&command, "three")] {
            let saver = format!("{name} {round}");
            acked.push(Ack::of(&saver, &save(store, &saver).unwrap()));
        }
        try_archive(&command, &format!("archive {round}")).unwrap();
    }
    assert_eq!(audit(&command, &acked), [""; 0]);
}

/// Each of these is noticed at the next save as a command would notice it, which remembers nothing.
#[test]
fn a_server_notices_whatever_happens_to_the_file() {
    let cases: [Event; 6] = [
        ("a byte is another one", |path| {
            let mut bytes = fs::read(path).unwrap();
            *bytes.last_mut().unwrap() = b' ';
            overwrite(path, &bytes);
        }),
        ("it is cut short", |path| overwrite(path, &fs::read(path).unwrap()[..100])),
        ("it is a tombstone", |path| overwrite(path, b"")),
        ("it is removed", |path| fs::remove_file(path).unwrap()),
        ("it is edited, and right", |path| overwrite(path, &edited(&fs::read(path).unwrap()))),
        ("another file has its name", |path| {
            let bytes = edited(&fs::read(path).unwrap());
            fs::remove_file(path).unwrap();
            fs::write(path, bytes).unwrap();
        }),
    ];
    for (what, happens) in cases {
        let next_save = |store: &Store| {
            for saver in ["a", "b", "c"] {
                save(store, saver).unwrap();
            }
            happens(&store.checkpoint_path(&handle(3)));
            match save(store, "d") {
                // It continues what is there now.
                Ok(saved) => Ok((saved.seq(), audit(store, &[]))),
                Err(Error::Damaged { handle, why, .. }) => Err(format!("{handle} {why}")),
                Err(error) => panic!("{what}: {error}"),
            }
        };
        let (one, other) = (memory_directory(), memory_directory());
        let noticed = next_save(&server(one.path()));
        assert_eq!(noticed, next_save(&store_in(other.path())), "{what}");
        if let Ok((_, wrong)) = noticed {
            assert_eq!(wrong, [""; 0], "{what}");
        }
    }
}

/// The disk loses what was acknowledged, and its metadata says nothing of it: the save continues what was acknowledged.
#[test]
fn damage_that_cannot_be_noticed_leads_to_no_wrong_save() {
    let disk = MemoryDisk::new();
    let server = store_on(disk.clone()).remembering(HeadMemory::default());
    let mut acked = Vec::new();
    for saver in ["a", "b"] {
        acked.push(Ack::of(saver, &save(&server, saver).unwrap()));
    }
    let whole = server.load(&handle(2)).unwrap();
    disk.damage_silently(&whole.bytes);
    assert!(matches!(server.load(&handle(2)), Err(Error::Damaged { .. })));
    save(&server, "c").unwrap();
    let saved = server.load(&handle(3)).unwrap().checkpoint;
    assert_eq!(saved.parent.unwrap().sha256, whole.checkpoint.sha256);
    assert!(["a", "b", "c"].iter().all(|saver| holds(&server, saver)));
    assert_eq!(server.head_number(&workflow()).unwrap(), Some(3));
}
