//! Real engines on this machine, as `tests/engines/run.sh` starts them. It names them in the file `$CKPT_TEST_ENGINES`.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use ckpt_sync::{Capabilities, Failure, Key, NewObject, ObjectStoreRemote, ProbeFailure, RACERS, Remote, probe};
use serde::Deserialize;

use crate::support::project::World;
use ckpt::storm::{ckpt, machine};
use ckpt::{ckpt_remote, script};

/// An engine that was started for the tests.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Engine {
    pub(super) name: String,
    pub(super) url: String,
    /// The variables that lead to it.
    pub(super) env: BTreeMap<String, String>,
    /// The address of `faulty_s3.py`, if it is that.
    #[serde(default)]
    pub(super) control: Option<String>,
    /// A command that kills it with all its processes, and starts it again.
    #[serde(default)]
    pub(super) kill: Option<String>,
    /// The account adds and never alters, as the policy in the documentation says.
    #[serde(default)]
    pub(super) adds_only: bool,
    /// A part of the reason why the probe must refuse it.
    #[serde(default)]
    pub(super) refused: Option<String>,
}

impl Engine {
    /// Returns a remote under a prefix that nobody else uses.
    fn remote(&self) -> (tempfile::TempDir, ObjectStoreRemote) {
        let dir = tempfile::tempdir().unwrap();
        let variables: String = self.env.iter().map(|(name, value)| format!(" {name}='{value}'")).collect();
        let program = ckpt_remote();
        let text = format!("exec env -i HOME={}{variables} {}", dir.path().display(), program.display());
        let program = script(dir.path(), "ckpt-remote", &text);
        (dir, ObjectStoreRemote::new(Some(program), self.fresh_url(), false, Duration::from_secs(600)))
    }

    /// Returns the URL of a prefix that nobody else uses.
    pub(super) fn fresh_url(&self) -> String {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let next = NEXT.fetch_add(1, Ordering::Relaxed);
        format!("{}/t{}-{next}", self.url, std::process::id())
    }

    /// Speaks to `/_engine` of `faulty_s3.py`, and returns the counts of requests.
    pub(super) fn control(&self, method: &str, body: &str) -> BTreeMap<String, u64> {
        let address = self.control.as_ref().unwrap();
        let mut stream = TcpStream::connect(address).unwrap();
        let request = format!(
            "{method} /_engine HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (_, counts) = answer.split_once("\r\n\r\n").unwrap();
        serde_json::from_str(counts).unwrap()
    }
}

/// Returns the engines that were started.
pub(super) fn engines() -> Vec<Engine> {
    let path = std::env::var_os("CKPT_TEST_ENGINES").expect("tests/engines/run.sh starts the engines");
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// Returns the engines that keep the promises of a remote.
pub(super) fn suitable_engines() -> Vec<Engine> {
    engines().into_iter().filter(|engine| engine.refused.is_none() && !engine.adds_only).collect()
}

fn probed(remote: &ObjectStoreRemote) -> Result<Capabilities, ProbeFailure> {
    let mut handles: Vec<Box<dyn Remote + Send>> = Vec::new();
    handles.resize_with(RACERS, || Box::new(remote.clone()));
    probe(&mut handles, "k3f9")
}

fn key(text: &str) -> Key {
    Key::parse(text).unwrap()
}

fn create(remote: &mut ObjectStoreRemote, name: &str, bytes: &[u8]) -> Result<(), Failure> {
    let object = NewObject { key: key(name), bytes: bytes.to_vec() };
    remote.create(&[object]).map_err(|incomplete| incomplete.failure)
}

fn list(remote: &mut ObjectStoreRemote, prefix: &str, limit: usize) -> Vec<(String, u64)> {
    let mut listed = Vec::new();
    let visit = &mut |object: ckpt_sync::Listed| {
        listed.push((object.key.to_string(), object.size));
        if listed.len() == limit { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    remote.list(prefix, visit).unwrap();
    listed
}

#[test]
#[ignore = "run by tests/engines/run.sh"]
fn every_engine_has_the_verbs() {
    for engine in suitable_engines() {
        let (_dir, mut remote) = engine.remote();
        let name = "wf/!auth.2/18446744073709551607-8@3fa9c2d1.json";
        assert_eq!(create(&mut remote, name, b"ours"), Ok(()), "{}", engine.name);
        assert_eq!(create(&mut remote, name, b"theirs"), Err(Failure::Exists), "{}", engine.name);
        assert_eq!(remote.get(&key(name), 4), Ok(Some(b"ours".to_vec())), "{}", engine.name);
        assert_eq!(remote.get(&key("wf/!auth.2/absent"), 4), Ok(None), "{}", engine.name);
        assert!(matches!(remote.get(&key(name), 3), Err(Failure::Unusable(_))), "{}", engine.name);
        assert_eq!(remote.empty(&[key(name)]), Ok(()), "{}", engine.name);
        assert_eq!(remote.get(&key(name), 4), Ok(Some(Vec::new())), "{}", engine.name);
        assert_eq!(create(&mut remote, name, b"again"), Err(Failure::Exists), "{}", engine.name);
        assert_eq!(create(&mut remote, "wf/!auth.2/%41", b"an escape"), Ok(()), "{}", engine.name);
        let expected = vec![("wf/!auth.2/%41".to_owned(), 9), (name.to_owned(), 0)];
        assert_eq!(list(&mut remote, "wf/!auth.2/", usize::MAX), expected, "{}", engine.name);
        assert_eq!(list(&mut remote, "wf/!auth/", usize::MAX), [], "{}", engine.name);
    }
}

#[test]
#[ignore = "run by tests/engines/run.sh"]
fn long_lists_and_many_objects_come_whole_and_in_order() {
    for engine in suitable_engines() {
        let (_dir, mut remote) = engine.remote();
        // More than one page.
        let objects: Vec<NewObject> =
            (0..230).map(|n| NewObject { key: key(&format!("wf/042/{n:04}")), bytes: vec![b'x'; n] }).collect();
        assert_eq!(remote.create(&objects), Ok(()), "{}", engine.name);
        assert_eq!(create(&mut remote, "wf/043/0000", b"of another workflow"), Ok(()));
        let expected: Vec<(String, u64)> =
            objects.iter().map(|object| (object.key.to_string(), object.bytes.len() as u64)).collect();
        assert_eq!(list(&mut remote, "wf/042/", usize::MAX), expected, "{}", engine.name);
        assert_eq!(list(&mut remote, "wf/042/", 1), expected[..1], "{}", engine.name);
        assert_eq!(list(&mut remote, "", usize::MAX).len(), 231, "{}", engine.name);
        let mut keys: Vec<Key> = objects.iter().map(|object| object.key.clone()).collect();
        keys.push(key("wf/042/absent"));
        let mut seen = BTreeMap::new();
        let got = remote.get_each(&keys, 1 << 20, &mut |place, bytes| {
            seen.insert(place, bytes.map(|bytes| bytes.len()));
            ControlFlow::Continue(())
        });
        assert_eq!(got, Ok(()), "{}", engine.name);
        let expected: BTreeMap<usize, Option<usize>> =
            (0..231).map(|place| (place, (place < 230).then_some(place))).collect();
        assert_eq!(seen, expected, "{}", engine.name);
    }
}

#[test]
#[ignore = "run by tests/engines/run.sh"]
fn the_probe_accepts_engines_that_keep_the_promises_and_names_the_fault_of_others() {
    for engine in engines() {
        let (_dir, remote) = engine.remote();
        let result = probed(&remote);
        match &engine.refused {
            None => assert_eq!(result, Ok(Capabilities { can_empty: !engine.adds_only }), "{}", engine.name),
            Some(reason) => {
                let refusal = result.unwrap_err();
                assert!(refusal.to_string().contains(reason), "{}: {refusal}", engine.name);
                println!("{}: {refusal}", engine.name);
            }
        }
    }
}

#[test]
#[ignore = "run by tests/engines/run.sh"]
fn the_probe_of_an_engine_that_is_down_says_so() {
    let Some(mut engine) = engines().into_iter().find(|engine| engine.control.is_some()) else { return };
    engine.env.insert("AWS_ENDPOINT_URL".to_owned(), "http://127.0.0.1:1".to_owned());
    let (_dir, remote) = engine.remote();
    let refusal = probed(&remote).unwrap_err();
    assert!(matches!(refusal, ProbeFailure::Failed { failure: Failure::Unreachable(_), .. }), "{refusal}");
}

#[test]
#[ignore = "run by tests/engines/run.sh"]
fn every_fault_of_an_engine_keeps_its_kind() {
    let Some(engine) = suitable_engines().into_iter().find(|engine| engine.control.is_some()) else { return };
    // The fault, and if the object is there in spite of it.
    let faults =
        [("lost_ack", true), ("drop_after", true), ("err503", false), ("conflict409", false), ("drop_before", false)];
    for (fault, is_written) in faults {
        let (_dir, mut remote) = engine.remote();
        engine.control("PUT", &format!(r#"{{"fault": "{fault}", "method": "PUT"}}"#));
        let failure = create(&mut remote, "wf/042/x", b"ours").unwrap_err();
        let counts = engine.control("GET", "");
        engine.control("PUT", "{}");
        assert!(matches!(failure, Failure::Unknown(_)), "{fault}: {failure}");
        assert_eq!(counts, BTreeMap::from([(format!("PUT {fault}"), 1)]), "{fault}: nothing is repeated");
        let expected = is_written.then(|| b"ours".to_vec());
        assert_eq!(remote.get(&key("wf/042/x"), 100), Ok(expected), "{fault}");
    }
}

#[test]
#[ignore = "run by tests/engines/run.sh"]
fn an_account_that_adds_only_cannot_alter_or_leave_its_prefix() {
    let Some(engine) = engines().into_iter().find(|engine| engine.adds_only) else { return };
    let (_dir, mut remote) = engine.remote();
    assert_eq!(create(&mut remote, "wf/042/x", b"ours"), Ok(()));
    assert_eq!(create(&mut remote, "wf/042/x", b"theirs"), Err(Failure::Exists));
    assert_eq!(list(&mut remote, "wf/042/", usize::MAX), [("wf/042/x".to_owned(), 4)]);
    let denied = Failure::Refused("HTTP 403 (AccessDenied)".to_owned());
    assert_eq!(remote.empty(&[key("wf/042/x")]), Err(denied.clone()));
    assert_eq!(remote.get(&key("wf/042/x"), 100), Ok(Some(b"ours".to_vec())));
    assert_eq!(remote.get(&key("wf/042/absent"), 100), Ok(None));
    let elsewhere = Engine { url: "s3://team-bucket/other".to_owned(), ..engine };
    let (_dir, mut remote) = elsewhere.remote();
    assert_eq!(create(&mut remote, "wf/042/x", b"ours"), Err(denied.clone()));
    assert_eq!(remote.get(&key("wf/042/x"), 100), Err(denied.clone()));
    assert_eq!(remote.list("wf/", &mut |_| ControlFlow::Continue(())), Err(denied));
}

#[test]
#[ignore = "run by tests/engines/run.sh"]
fn a_janitor_cleans_up_and_an_account_that_adds_only_is_refused() {
    for engine in engines().into_iter().filter(|engine| engine.refused.is_none()) {
        let around = World::new().with_processes();
        let url = engine.fresh_url();
        let a = machine(&around, "a", &url);
        for n in 1..=3 {
            ckpt(&engine, &a, &["save", "042", "--set", &format!("n={n}")]).run().succeeds();
        }
        a.run(&["archive", "042", "--as", "abandoned"]);
        ckpt(&engine, &a, &["push"]).run().succeeds();
        let cleaned = ckpt(&engine, &a, &["cleanup", "--remote", "--json"]).run();
        if engine.adds_only {
            assert_eq!(cleaned.exits(9).failure()["code"], "remote_refused", "{}", engine.name);
        } else {
            assert_eq!(cleaned.succeeds().document()["emptied"], 3, "{}", engine.name);
        }
        let b = machine(&around, "b", &url);
        ckpt(&engine, &b, &["pull"]).run().succeeds();
        assert_eq!(b.json(&["verify"])["ok"], true, "{}", engine.name);
        for n in 1..=3 {
            let shown = b.json(&["show", &format!("042/{n}")]);
            assert_eq!(shown["checkpoint"]["state"]["n"], n, "{}", engine.name);
        }
    }
}
