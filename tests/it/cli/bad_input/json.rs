//! JSON that is none, or that could be understood in two ways.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::support::project::World;

/// Bytes, words of the complaint, line and column.
fn malformed() -> Vec<(Vec<u8>, &'static str, u64, u64)> {
    let deep = "[".repeat(100_000);
    let closed = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let objects = format!("{}1{}", "{\"a\":".repeat(100_000), "}".repeat(100_000));
    vec![
        (b"{\"a\": ".to_vec(), "EOF", 1, 6),
        (b"{\n \"a\": 1".to_vec(), "EOF", 2, 7),
        (b"{} trailing".to_vec(), "trailing", 1, 4),
        (b"{}{}".to_vec(), "trailing", 1, 3),
        (b"{}\n{}".to_vec(), "trailing", 2, 1),
        (b"".to_vec(), "only white space", 1, 1),
        (b"  \n\t ".to_vec(), "only white space", 2, 3),
        (b"\xef\xbb\xbf{}".to_vec(), "byte order mark", 1, 1),
        (b"{\"a\": \"\xff\"}".to_vec(), "UTF-8", 1, 8),
        (br#"{"a": "\ud800"}"#.to_vec(), "hex escape", 1, 0),
        (br#"{"a": "\udc00x"}"#.to_vec(), "surrogate", 1, 0),
        (b"{'a': 1}".to_vec(), "key must be a string", 1, 2),
        (b"{\"a\": 01}".to_vec(), "number", 1, 0),
        (b"{\"a\": NaN}".to_vec(), "expected value", 1, 7),
        (b"{\"a\": 1,}".to_vec(), "trailing comma", 1, 9),
        (b"{\"a\": \"\x01\"}".to_vec(), "control character", 1, 0),
        (b"{\"a\":1,\"a\":2}".to_vec(), "given twice", 1, 0),
        (b"{\"x\":{\"a\":1,\"\\u0061\":2}}".to_vec(), "given twice", 1, 0),
        (br#"{"a":[{"$serde_json::private::Number":"12"}]}"#.to_vec(), "reserved", 1, 0),
        (br#"{"\u0024serde_json::private::RawValue":"[1"}"#.to_vec(), "reserved", 1, 0),
        (deep.into_bytes(), "recursion limit", 1, 0),
        (closed.into_bytes(), "recursion limit", 1, 0),
        (objects.into_bytes(), "recursion limit", 1, 0),
    ]
}

#[test]
fn malformed_json_is_refused_with_its_place() {
    let world = World::new();
    for (bytes, words, line, column) in malformed() {
        for args in [["save", "042", "--state", "-"], ["save", "042", "--from", "-"]] {
            let failure = world.ckpt(&args).stdin(&bytes).refused(2, "invalid_json");
            let message = failure["message"].as_str().unwrap();
            let given = String::from_utf8_lossy(&bytes[..bytes.len().min(40)]).into_owned();
            assert!(message.contains(words), "{given}: {message}");
            assert!(message.contains(" line ") && message.contains(" column "), "{given}: {message}");
            assert_eq!(failure["context"]["line"], line, "{given}: {message}");
            if column > 0 {
                assert_eq!(failure["context"]["column"], column, "{given}: {message}");
            }
            assert_eq!(failure["context"]["argument"], args[2], "{given}: {message}");
        }
    }
}

#[test]
fn malformed_arguments_and_files_name_themselves() {
    let world = World::new();
    world.write("bad.json", "{\n  \"a\" 1}");
    for (args, source) in [
        (["save", "042", "--state", "{\"a\" 1}"], "--state is"),
        (["save", "042", "--state", "@bad.json"], "`bad.json` is"),
        (["save", "042", "--from", "bad.json"], "`bad.json` is"),
        (["save", "042", "--set", "x=@bad.json"], "`bad.json` is"),
    ] {
        let failure = world.refuses(&args, 2, "invalid_json");
        assert!(failure["message"].as_str().unwrap().starts_with(source), "{args:?}: {failure}");
    }
}

#[test]
fn a_member_that_could_not_be_kept_is_refused() {
    let world = World::with_checkpoints(1);
    for key in ["$serde_json::private::Number", "/a/$serde_json::private::RawValue/b"] {
        let failure = world.refuses(&["save", "042", "--set", &format!("{key}=\"1\"")], 2, "invalid_name");
        assert!(failure["message"].as_str().unwrap().contains("reserved"), "{failure}");
    }
    world.run(&["save", "042", "--set", "a=1"]).succeeds();
}

#[test]
fn a_gigabyte_on_stdin_is_refused_after_the_limit_in_bounded_memory() {
    let world = World::new();
    for args in [["save", "042", "--state", "-"], ["save", "042", "--from", "-"]] {
        // 256 MiB of address space is less than the input, and more than the limit needs.
        let call = world.ckpt(&[&args[..], &["--json"]].concat()).in_shell("ulimit -v 262144; exec \"$@\"");
        let mut child = call.spawn();
        let mut stdin = child.stdin.take().unwrap();
        let writer = std::thread::spawn(move || {
            let (chunk, mut written) = (vec![b' '; 1 << 20], 0_u64);
            while written < 1 << 30 && stdin.write_all(&chunk).is_ok() {
                written += chunk.len() as u64;
            }
            written
        });
        let output = child.wait_with_output().unwrap();
        let written = writer.join().unwrap();
        let failure = world.outcome(output.status, output.stdout, output.stderr).exits(2).failure();
        assert_eq!(failure["code"], "unreadable_input");
        assert!(failure["message"].as_str().unwrap().contains("larger than 16.7 MB"), "{failure}");
        assert!(written < 64 << 20, "it stopped reading after the limit: {written}");
        assert!(!world.store().exists());
    }
}

#[test]
fn endless_files_are_not_read_to_their_end() {
    let world = World::new();
    let failure = world.refuses(&["save", "042", "--state", "@/dev/zero"], 2, "unreadable_input");
    assert!(failure["message"].as_str().unwrap().contains("/dev/zero"), "{failure}");
    world.refuses(&["save", "042", "--from", "/dev/zero"], 2, "unreadable_input");
    world.refuses(&["save", "042", "--state", "@."], 2, "unreadable_input");
}

#[test]
fn sixteen_mebibytes_are_accepted() {
    let world = World::new();
    let state = json!({"x": "y".repeat((16 << 20) - 8)}).to_string();
    assert_eq!(state.len(), 16 << 20);
    world.ckpt(&["save", "042", "--state", "-"]).stdin(&state).run().succeeds();
    world.ckpt(&["save", "042", "--state", "-"]).stdin(state + " ").refused(2, "unreadable_input");
}

#[test]
fn as_deep_as_is_accepted_can_be_read_again() {
    let world = World::new();
    let nested = |levels: usize| format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
    let accepted = (90..128)
        .rev()
        .find(|levels| world.ckpt(&["save", "042", "--set", "x=-"]).stdin(nested(*levels)).run().status.success());
    assert!(accepted.is_some());
    world.run(&["show", "042", "--state"]).succeeds();
    world.json(&["show", "042"]);
    world.run(&["save", "042", "--set", "y=1"]).succeeds();
    let raw = world.run(&["show", "042", "--raw"]).succeeds().stdout;
    assert!(serde_json::from_str::<Value>(&raw).is_ok(), "other programs can read it");
}

#[test]
fn what_stdin_says_is_not_used_when_it_is_malformed_at_its_end() {
    let world = World::with_checkpoints(1);
    let mut command = world.ckpt(&["save", "042", "--state", "-"]).command();
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"{\"a\":1").unwrap();
    drop(stdin);
    assert_eq!(child.wait().unwrap().code(), Some(2));
    assert_eq!(world.numbers("042"), [1]);
}

#[test]
fn what_is_nested_too_deeply_to_be_read_again_is_refused() {
    let world = World::with_checkpoints(1);
    let nested = format!("{}1{}", "[".repeat(120), "]".repeat(120));
    world.ckpt(&["save", "042", "--set", "x=-"]).stdin(&nested).refused(9, "too_many");
    world.ckpt(&["save", "042", "--data", "-"]).stdin(format!("{{\"x\":{nested}}}")).refused(9, "too_many");
    for levels in [101, 50_000] {
        let pointer = format!("{}=1", "/a".repeat(levels));
        world.refuses(&["save", "042", "--set", &pointer], 9, "too_many");
    }
    world.run(&["save", "042", "--set", &format!("{}=1", "/a".repeat(100))]).succeeds();
    world.run(&["show", "042", "--state"]).succeeds();
}
