//! `ckpt mcp`: transcripts of both eras, and what a client should never be able to do to it.
//!
//! In a transcript the lines of the client begin with `> `, and the lines of the server with `< `.
//! `UPDATE_TRANSCRIPTS=1 cargo test mcp` writes what the server answers now.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;

use serde_json::{Value, json};

use crate::support::project::World;

const MODERN: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;

/// Sends lines to a server and returns its lines, which must all be messages.
fn exchange(world: &World, input: impl AsRef<[u8]>) -> Vec<Value> {
    let outcome = world.ckpt(&["mcp"]).stdin(input).run().succeeds();
    assert_eq!(outcome.stderr, "");
    let messages: Vec<Value> = outcome.stdout.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    for message in messages.iter().flat_map(|line| match line {
        Value::Array(batch) => batch.as_slice(),
        one => std::slice::from_ref(one),
    }) {
        assert_eq!(message["jsonrpc"], "2.0", "{message}");
        assert!(message.get("result").is_some() != message.get("error").is_some(), "{message}");
    }
    messages
}

/// A request of the stateless era.
fn modern(id: u32, method: &str, params: &str) -> String {
    let separator = if params.is_empty() { "" } else { "," };
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\",\"params\":{{{params}{separator}{MODERN}}}}}\n")
}

fn call(id: u32, tool: &str, arguments: &Value) -> String {
    modern(id, "tools/call", &format!("\"name\":\"{tool}\",\"arguments\":{arguments}"))
}

/// Returns an answer with the format of each document in place of the document, which has tests of its own.
fn without_documents(answer: &str) -> String {
    let mut answer: Value = serde_json::from_str(answer).unwrap();
    let Some(result) = answer.get_mut("result") else { return answer.to_string() };
    if let Some(document) = result.get_mut("structuredContent") {
        let text = document.to_string();
        *document = json!({"format": document["format"]});
        assert_eq!(result["content"][0]["text"], text, "the text is the document");
        result["content"][0]["text"] = "the same".into();
    }
    if let Some(content) = result.get_mut("contents").and_then(|contents| contents.get_mut(0)) {
        let document: Value = serde_json::from_str(content["text"].as_str().unwrap()).unwrap();
        content["text"] = document["format"].clone();
    }
    if let Some(message) = result.get_mut("messages").and_then(|messages| messages.get_mut(0)) {
        let text = message["content"]["text"].as_str().unwrap().to_owned();
        message["content"]["text"] = text.lines().take(3).collect::<Vec<_>>().join("\n").into();
    }
    answer.to_string()
}

fn replay(name: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/cli/mcp").join(name);
    let recorded = std::fs::read_to_string(&path).unwrap();
    let world = World::new();
    world.write("PLAN.md", "one provider");
    let sent: Vec<&str> = recorded.lines().filter_map(|line| line.strip_prefix("> ")).collect();
    let outcome = world.ckpt(&["mcp"]).stdin(sent.join("\n") + "\n").run().succeeds();
    let mut answers = outcome.stdout.lines();
    let mut replayed = String::new();
    for line in recorded.lines().filter(|line| !line.starts_with("< ")) {
        replayed.push_str(line);
        replayed.push('\n');
        let wants_answer = line
            .strip_prefix("> ")
            .is_some_and(|sent| serde_json::from_str::<Value>(sent).is_ok_and(|sent| sent.get("id").is_some()));
        if wants_answer {
            replayed.push_str(&format!("< {}\n", without_documents(answers.next().unwrap())));
        }
    }
    assert_eq!(answers.next(), None);
    if std::env::var_os("UPDATE_TRANSCRIPTS").is_some() {
        std::fs::write(&path, &replayed).unwrap();
    }
    assert_eq!(recorded, replayed, "`UPDATE_TRANSCRIPTS=1 cargo test mcp` writes what is answered now");
}

#[test]
fn a_client_with_a_handshake_saves_and_resumes() {
    replay("handshake.txt");
}

#[test]
fn a_client_without_a_handshake_saves_and_resumes() {
    replay("stateless.txt");
}

#[test]
fn every_version_with_a_handshake_is_agreed_to_and_any_other_gets_the_newest() {
    let world = World::new();
    for (asked, agreed) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2019-01-01", "2025-11-25"),
    ] {
        let line = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": asked}});
        assert_eq!(exchange(&world, format!("{line}\n"))[0]["result"]["protocolVersion"], agreed);
    }
}

#[test]
fn a_request_that_says_no_version_needs_a_handshake_before_it() {
    let list = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}\n";
    let hello = "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{}}\n";
    let world = World::new();
    assert_eq!(exchange(&world, list)[0]["error"]["code"], -32602);
    let answers = exchange(&world, format!("{hello}{list}"));
    assert_eq!(answers[1]["result"]["tools"].as_array().unwrap().len(), 3);
}

#[test]
fn a_version_that_is_not_known_is_refused_with_those_that_are() {
    let line = modern(1, "tools/list", "").replace("2026-07-28", "2031-01-01");
    let error = &exchange(&World::new(), line)[0]["error"];
    assert_eq!(error["code"], -32022);
    assert_eq!(error["data"], json!({"supported": ["2026-07-28"], "requested": "2031-01-01"}));
}

#[test]
fn junk_between_requests_is_answered_or_passed_over_and_ends_nothing() {
    let world = World::new();
    let deep = "[".repeat(10_000);
    let junk = [
        "not json",
        "{}",
        "[]",
        "null",
        "\"text\"",
        "   ",
        "{\"jsonrpc\":\"2.0\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":7}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":[1]}",
        "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"no/such\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"method\":\"ping\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\"",
        deep.as_str(),
    ];
    let mut input: Vec<u8> = Vec::new();
    for (id, line) in junk.iter().enumerate() {
        input.extend(line.as_bytes());
        input.extend(b"\n\xff\xfe\x00\n");
        input
            .extend(call(u32::try_from(id).unwrap(), "save", &json!({"id": "w", "note": id.to_string()})).into_bytes());
    }
    let answers = exchange(&world, input);
    let saved = answers.iter().filter(|answer| answer["result"]["isError"] == false).count();
    assert_eq!((saved, world.numbers("w").len()), (junk.len(), junk.len()));
}

#[test]
fn a_line_without_end_is_passed_over_and_the_next_one_is_served() {
    let world = World::new();
    let mut input = vec![b'x'; 17 << 20];
    input.push(b'\n');
    input.extend(call(1, "save", &json!({"id": "w"})).into_bytes());
    let answers = exchange(&world, input);
    assert_eq!(answers[0]["error"]["code"], -32600);
    assert_eq!(answers[1]["result"]["structuredContent"]["handle"], "w/1");
}

#[test]
fn several_messages_in_one_line_get_one_line_of_answers() {
    let save = call(1, "save", &json!({"id": "w"}));
    let note = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}";
    let answers = exchange(&World::new(), format!("[{},{note},7]\n", save.trim_end()));
    assert_eq!(answers[0][0]["id"], 1);
    assert_eq!(answers[0][1]["error"]["code"], -32600);
    assert_eq!(answers[0].as_array().unwrap().len(), 2);
}

#[test]
fn what_is_refused_is_an_answer_that_a_model_can_act_on() {
    let world = World::new();
    for (tool, arguments, code) in [
        ("save", json!({}), "no_workflow"),
        ("save", json!({"id": "a b/c"}), "invalid_id"),
        ("save", json!({"id": "w", "phasse": "plan"}), "invalid_document"),
        ("save", json!({"id": "w", "status": "finished"}), "invalid_document"),
        ("save", json!({"id": "w", "artifacts": ["missing.md"]}), "artifact_missing"),
        ("save", json!({"id": ["w"]}), "usage"),
        ("resume", json!({"id": "w"}), "no_store"),
        ("resume", json!({"verbose": true}), "usage"),
        ("show", json!({}), "no_checkpoint_named"),
    ] {
        let result = &exchange(&world, call(1, tool, &arguments))[0]["result"];
        assert_eq!(result["isError"], true, "{tool} {arguments}");
        assert_eq!(result["structuredContent"]["code"], code, "{tool} {arguments}");
    }
    let result = &exchange(&world, call(1, "show", &json!({"id": "w"})))[0]["result"];
    let help = json!(["the arguments are `selector` and `against`"]);
    assert_eq!(result["structuredContent"]["help"], help);
    assert!(!world.store().exists());
    for line in [call(1, "destroy", &json!({})), modern(1, "tools/call", "\"name\":\"save\",\"arguments\":7")] {
        assert_eq!(exchange(&world, line)[0]["error"]["code"], -32602);
    }
}

#[test]
fn the_members_of_a_save_document_can_all_be_given() {
    let world = World::new();
    let arguments = json!({"id": "w", "phase": "plan", "tasks": [{"id": "a", "status": "running"}], "state": {"k": 1}});
    exchange(&world, call(1, "save", &arguments));
    let stored = world.stored("w", 1);
    assert_eq!((&stored["tasks"][0]["id"], &stored["state"]["k"]), (&json!("a"), &json!(1)));
}

#[test]
fn a_client_that_sets_no_variables_is_the_writer_by_its_own_account() {
    let world = World::new();
    let hello = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"clientInfo":{"name":"codex-mcp-client"}}}"#;
    let save = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"save","arguments":{"id":"w"},"_meta":{"sessionId":"s-1"}}}"#;
    exchange(&world, format!("{hello}\n{save}\n"));
    let writer = &world.stored("w", 1)["writer"];
    assert_eq!((&writer["agent"], &writer["session"]), (&json!("codex"), &json!("s-1")));
    let known = world.ckpt(&["mcp"]).env("CLAUDECODE", "1").env("CLAUDE_CODE_SESSION_ID", "c-9");
    known.stdin(format!("{hello}\n{save}\n")).run().succeeds();
    let writer = &world.stored("w", 2)["writer"];
    assert_eq!((&writer["agent"], &writer["session"]), (&json!("claude-code"), &json!("c-9")));
}

#[test]
fn a_checkpoint_and_the_difference_of_two_can_be_shown() {
    let world = World::with_checkpoints(2);
    let shown = exchange(&world, call(1, "show", &json!({"selector": "042~1"})));
    assert_eq!(shown[0]["result"]["structuredContent"]["checkpoint"], world.stored("042", 1));
    let compared = exchange(&world, call(1, "show", &json!({"selector": "042/1", "against": "042/2"})));
    let report = &compared[0]["result"]["structuredContent"];
    assert_eq!((&report["format"], &report["equal"]), (&json!("ckpt.diff.v1"), &json!(false)));
    let text = compared[0]["result"]["content"][0]["text"].as_str().unwrap();
    assert_eq!(&serde_json::from_str::<Value>(text).unwrap(), report);
}

#[test]
fn a_save_that_was_answered_survives_the_death_of_the_server() {
    let world = World::new();
    let mut server = world.ckpt(&["mcp"]).spawn();
    let mut stdin = server.stdin.take().unwrap();
    let mut stdout = BufReader::new(server.stdout.take().unwrap());
    for seq in 1..=20 {
        stdin.write_all(call(seq, "save", &json!({"id": "w", "phase": seq})).as_bytes()).unwrap();
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        assert!(line.contains(&format!("w/{seq}")), "{line}");
    }
    server.kill().unwrap();
    server.wait().unwrap();
    assert_eq!(world.numbers("w").len(), 20);
    world.run(&["verify"]).succeeds();
}

/// The document of a save that adds a mark to the state.
fn mark(mark: &str) -> Value {
    json!({"add": {"marks": [mark]}})
}

fn save_mark(id: u32, text: &str) -> String {
    let mut arguments = mark(text);
    arguments["id"] = "w".into();
    call(id, "save", &arguments)
}

#[test]
fn two_servers_and_a_command_in_one_store_lose_nothing() {
    let world = World::new();
    let servers: Vec<_> = ["one", "two"].map(|name| (name, world.ckpt(&["mcp"]).spawn())).into();
    std::thread::scope(|scope| {
        for (name, mut server) in servers {
            let lines: String = (1..=25).map(|id| save_mark(id, &format!("{name} {id}"))).collect();
            scope.spawn(move || {
                server.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
                assert!(server.wait_with_output().unwrap().status.success());
            });
        }
        for id in 1..=5 {
            let document = mark(&format!("command {id}")).to_string();
            world.ckpt(&["save", "w", "--from", "-"]).stdin(document).run().succeeds();
        }
    });
    assert_eq!(world.numbers("w"), (1..=55).collect::<Vec<u64>>());
    let newest = world.stored("w", 55);
    let marks: BTreeSet<&str> =
        newest["state"]["marks"].as_array().unwrap().iter().map(|mark| mark.as_str().unwrap()).collect();
    assert_eq!(marks.len(), 55, "{marks:?}");
    world.run(&["verify"]).succeeds();
}

#[test]
fn servers_that_take_turns_with_a_command_continue_what_the_others_saved() {
    let world = World::new();
    let mut servers: Vec<_> = (0..2)
        .map(|_| {
            let mut server = world.ckpt(&["mcp"]).spawn();
            let stdout = BufReader::new(server.stdout.take().unwrap());
            (server.stdin.take().unwrap(), stdout, server)
        })
        .collect();
    let mut marks = Vec::new();
    // A server saves once or several times in a row before another has its turn.
    for (turn, who) in [0, 0, 1, 2, 0, 2, 1, 1, 1, 0, 2, 2, 1, 0, 0].into_iter().enumerate() {
        let (seq, text) = (turn as u64 + 1, format!("{turn} of {who}"));
        match servers.get_mut(who) {
            Some((stdin, stdout, _)) => {
                stdin.write_all(save_mark(1, &text).as_bytes()).unwrap();
                let mut line = String::new();
                stdout.read_line(&mut line).unwrap();
                assert!(line.contains(&format!("\"handle\":\"w/{seq}\"")), "{line}");
            }
            None => {
                let save = world.ckpt(&["save", "w", "--from", "-"]).stdin(mark(&text).to_string());
                save.run().succeeds();
            }
        }
        marks.push(text);
        assert_eq!(world.stored("w", seq)["state"]["marks"], json!(marks));
    }
    for (stdin, _, mut server) in servers {
        drop(stdin);
        assert!(server.wait().unwrap().success());
    }
    world.run(&["verify"]).succeeds();
}
