//! A `ckpt-remote` that is missing, foreign, of another version, that crashes or hangs: shell scripts play it.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use ckpt_sync::{Failure, Key, NewObject, ObjectStoreRemote, Remote};
use ckpt_wire::{Answer, Greeting, Outcome, PROTOCOL, write_frame};

use ckpt::script;

/// Runs a script as `ckpt-remote`. In it, `$GREET` and `$OPEN` are files with the frames it would send first.
fn played(text: &str, request: impl Fn(&mut ObjectStoreRemote) -> Failure) -> (Failure, String) {
    let dir = tempfile::tempdir().unwrap();
    let frame = |name: &str, write: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = Vec::new();
        write(&mut bytes);
        fs::write(dir.path().join(name), bytes).unwrap();
    };
    let greeting = |version: &str, protocol| Greeting { version: version.to_owned(), protocol };
    let own = env!("CARGO_PKG_VERSION");
    frame("greet", &|pipe| write_frame(pipe, &greeting(own, PROTOCOL), &[]).unwrap());
    frame("greet-old", &|pipe| write_frame(pipe, &greeting("0.0.9", PROTOCOL), &[]).unwrap());
    frame("greet-new", &|pipe| write_frame(pipe, &greeting(own, PROTOCOL + 1), &[]).unwrap());
    frame("open", &|pipe| write_frame(pipe, &Answer { id: 0, outcome: Outcome::Done }, &[]).unwrap());
    frame("done-1", &|pipe| {
        write_frame(pipe, &Answer { id: 1, outcome: Outcome::Done }, b"content").unwrap();
    });
    let program =
        script(dir.path(), "ckpt-remote", &format!("cd {}; echo start >> starts\n{text}", dir.path().display()));
    let mut remote = remote(Some(program));
    let failure = request(&mut remote);
    (failure, fs::read_to_string(dir.path().join("starts")).unwrap_or_default())
}

fn remote(program: Option<PathBuf>) -> ObjectStoreRemote {
    ObjectStoreRemote::new(program, "s3://team/x".to_owned(), false, Duration::from_millis(1500))
}

fn key() -> Key {
    Key::parse("wf/042/x").unwrap()
}

fn get(remote: &mut ObjectStoreRemote) -> Failure {
    remote.get(&key(), 100).unwrap_err()
}

fn create(remote: &mut ObjectStoreRemote) -> Failure {
    // More than a pipe holds: a program that does not read must not block the command.
    let object = NewObject { key: key(), bytes: vec![b'x'; 1 << 20] };
    remote.create(&[object]).unwrap_err().failure
}

#[test]
fn a_program_that_is_missing_is_refused_with_the_command_that_installs_it() {
    let mut nowhere = remote(None);
    let mut gone = remote(Some("/nonexistent/ckpt-remote".into()));
    for (failure, reason) in
        [(get(&mut nowhere), "neither beside ckpt nor on the PATH"), (get(&mut gone), "cannot be started")]
    {
        let Failure::Refused(message) = failure else { panic!("{failure}") };
        assert!(message.contains(reason) && message.contains("cargo install"), "{message}");
    }
}

#[test]
fn a_program_of_another_version_is_refused() {
    for (greeting, version) in [("greet-old", "0.0.9"), ("greet-new", env!("CARGO_PKG_VERSION"))] {
        let (failure, _) = played(&format!("cat {greeting} open; cat > /dev/null"), get);
        let Failure::Refused(message) = failure else { panic!("{failure}") };
        assert!(message.contains(&format!("of version {version}")) && message.contains("cargo install"), "{message}");
    }
}

#[test]
fn a_foreign_program_is_refused() {
    for text in ["echo usage: something else", "exit 3", "head -c 100000 /dev/zero"] {
        let (failure, _) = played(text, get);
        assert!(
            matches!(&failure, Failure::Refused(message) if message.contains("does not speak")),
            "{text}: {failure}"
        );
    }
}

#[test]
fn a_crash_leaves_the_outcome_unknown_and_the_next_request_starts_the_program_again() {
    let (failure, starts) = played("cat greet open; head -c 100 > /dev/null; exit 1", |remote| {
        let first = create(remote);
        assert!(matches!(first, Failure::Unknown(_)), "{first}");
        create(remote)
    });
    assert!(matches!(&failure, Failure::Unknown(message) if message.contains("ended without an answer")), "{failure}");
    assert_eq!(starts, "start\nstart\n");
}

#[test]
fn a_hang_leaves_the_outcome_unknown_and_ends_the_program() {
    for text in ["cat greet open; exec sleep 600", "cat greet open; cat > /dev/null; exit"] {
        let (failure, _) = played(text, create);
        assert!(matches!(&failure, Failure::Unknown(message) if message.contains("in time")), "{text}: {failure}");
    }
    let (failure, _) = played("exec sleep 600", get);
    assert!(matches!(failure, Failure::Unreachable(_)), "{failure}");
}

#[test]
fn half_a_frame_and_answers_to_nobody_are_never_taken_for_an_answer() {
    let (failure, _) = played("cat greet open; head -c 150 > /dev/null; head -c 20 done-1; exit 0", get);
    assert!(matches!(failure, Failure::Unknown(_)), "{failure}");
    // The answer to the first request arrives for the second: the id tells.
    let (failure, _) = played("cat greet open; cat open open; cat > /dev/null; exit", get);
    assert!(matches!(failure, Failure::Unknown(_)), "{failure}");
}
