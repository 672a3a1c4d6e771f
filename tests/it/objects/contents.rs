//! Storing contents and reading them back.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use ckpt_model::Config;
use ckpt_model::change::Change;
use ckpt_model::checkpoint::Artifact;
use ckpt_store::capture::Captured;
use ckpt_store::save::{Request, Save};
use ckpt_store::{BadObject, MAX_OBJECT_BYTES, ObjectContent, STORE_NAME};
use ckpt_store::{Error, Store};

use crate::support::audit::{stamp, store_in, workflow};
use crate::support::files::memory_directory;

const ANY: u64 = MAX_OBJECT_BYTES;

pub(super) fn content(text: &str) -> ObjectContent {
    ObjectContent::new(text.as_bytes().to_vec())
}

/// The path of the object of a content.
pub(super) fn object_path(base: &Path, content: &ObjectContent) -> PathBuf {
    let hex = content.sha256().to_hex();
    base.join(STORE_NAME).join("objects").join(&hex[..2]).join(format!("{hex}.gz"))
}

fn empty_store(base: &Path) -> Store {
    let store = store_in(base);
    store.create().unwrap();
    store
}

#[test]
fn a_content_is_stored_once_and_read_back_whatever_it_is() {
    let base = memory_directory();
    let store = empty_store(base.path());
    for bytes in [b"".to_vec(), b"text\n".to_vec(), vec![0; 1 << 20], (0..=255).collect()] {
        let content = ObjectContent::new(bytes.clone());
        let sha256 = content.sha256();
        assert!(!store.has_object(&sha256).unwrap());
        assert_eq!(store.read_object(&sha256, ANY).unwrap(), None);
        store.store_object(&content, "one").unwrap();
        let path = object_path(base.path(), &content);
        let written = fs::metadata(&path).unwrap();
        store.store_object(&content, "two").unwrap();
        assert!(store.has_object(&sha256).unwrap());
        assert_eq!(store.read_object(&sha256, content.size()).unwrap().as_ref(), Some(&bytes));
        assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), written.modified().unwrap());
        assert_eq!(written.permissions().mode() & 0o777, 0o400);
    }
    assert_eq!(store.object_totals().unwrap().count, 4);
    assert_eq!(store.objects_size().unwrap(), store.object_totals().unwrap().bytes);
}

/// Prepares a save of `a.md` with its content.
fn prepared(store: &Store, base: &Path) -> (Change, Captured) {
    let workflow = workflow();
    let mut change = Change { artifacts: vec![Artifact::new("a", "a.md")], ..Change::default() };
    let request = Request { workflow: &workflow, key: None, base, allow_secrets: false, capture: true };
    let prepared = request.prepare::<_, ckpt::Error>(store, &mut change, &Config::default()).unwrap();
    (change, prepared.captured)
}

#[test]
fn the_object_of_an_unread_file_that_goes_away_meanwhile_is_stored_again_unless_the_file_has_changed() {
    let temp = tempfile::tempdir().unwrap();
    let (base, config) = (temp.path(), Config::default());
    let store = empty_store(base);
    fs::write(base.join("a.md"), "one").unwrap();
    let one = content("one");
    let save = |change: &Change, captured: &Captured, id: &str| {
        let stamp = stamp(id);
        let saved = Save::new(&workflow(), change, &stamp, &config).contents(&captured.contents).to(&store);
        store.write_seen(&captured.seen, id);
        saved
    };
    let mut id = 0;
    let (change, captured) = loop {
        let (change, captured) = prepared(&store, base);
        if captured.contents != [one.clone()] {
            break (change, captured);
        }
        assert!(id < 1_000, "the file is never known");
        id += 1;
        save(&change, &captured, &format!("id{id}")).unwrap();
    };
    let object = object_path(base, &one);
    fs::remove_file(&object).unwrap();
    save(&change, &captured, "again").unwrap();
    assert_eq!(store.read_object(&one.sha256(), ANY).unwrap().as_deref(), Some(&b"one"[..]));

    fs::remove_file(&object).unwrap();
    fs::write(base.join("a.md"), "two").unwrap();
    let before = store.head_number(&workflow()).unwrap();
    let error = save(&change, &captured, "changed").unwrap_err().to_string();
    assert!(error.contains("`a.md` was changed meanwhile"), "{error}");
    assert_eq!(store.head_number(&workflow()).unwrap(), before);
}

#[test]
fn zcat_reads_an_object() {
    let base = memory_directory();
    let content = content("as it was\n");
    empty_store(base.path()).store_object(&content, "one").unwrap();
    let output = std::process::Command::new("zcat").arg(object_path(base.path(), &content)).output().unwrap();
    assert_eq!(output.stdout, b"as it was\n", "{output:?}");
}

#[test]
fn an_object_that_is_not_what_its_name_says_is_refused_and_one_that_expands_without_bound_too() {
    let base = memory_directory();
    let store = empty_store(base.path());
    let (one, two) = (content("one"), ObjectContent::new(vec![b'x'; 1 << 20]));
    for content in [&one, &two] {
        store.store_object(content, "id").unwrap();
    }
    let why = |limit: u64| match store.read_object(&one.sha256(), limit) {
        Err(Error::DamagedObject { why, .. }) => why,
        other => panic!("{other:?}"),
    };
    assert_eq!(why(2), BadObject::TooLarge, "the content is longer than the caller allows");
    let (path, other) = (object_path(base.path(), &one), object_path(base.path(), &two));
    let good = fs::read(&path).unwrap();
    for (bytes, expected) in [
        (fs::read(&other).unwrap(), BadObject::TooLarge),
        (good[..good.len() - 9].to_vec(), BadObject::Checksum),
        ([&good[..], b"x"].concat(), BadObject::Checksum),
    ] {
        fs::remove_file(&path).unwrap();
        fs::write(&path, bytes).unwrap();
        let found = why(100);
        assert!(found == expected || matches!(found, BadObject::Compression(_)), "{found}");
    }
    fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink(&other, &path).unwrap();
    assert_eq!(why(ANY), BadObject::NotAFile);
    assert!(!store.has_object(&one.sha256()).unwrap());
}
