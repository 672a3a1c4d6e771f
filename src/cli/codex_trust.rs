//! Asks Codex if it trusts our hooks. It skips those that nobody has approved, without a word.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Codex answers in about half a second, on a busy machine in a few; somebody waits for this.
const LIMIT: Duration = Duration::from_secs(10);

/// The answer to whether Codex runs the hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trust {
    Trusted,
    Untrusted,
    /// It is not installed, too old to say, or too slow.
    Unknown,
}

/// Asks Codex about the hooks that it would run in this directory.
pub(super) fn codex_trust(program: Option<&Path>, cwd: &Path) -> Trust {
    program.and_then(|program| ask(program, cwd)).map_or(Trust::Unknown, |answer| judge(&answer))
}

fn judge(answer: &Value) -> Trust {
    let places = answer["result"]["data"].as_array().map(Vec::as_slice).unwrap_or_default();
    let hooks = places.iter().filter_map(|place| place["hooks"].as_array()).flatten();
    let ours: Vec<&Value> = hooks
        .filter(|hook| hook["command"].as_str().is_some_and(|command| command.contains("ckpt hook codex")))
        .collect();
    let is_run = |hook: &&Value| hook["trustStatus"] == "trusted" && hook["enabled"] != false;
    match ours.as_slice() {
        [] => Trust::Unknown,
        hooks if hooks.iter().all(is_run) => Trust::Trusted,
        _ => Trust::Untrusted,
    }
}

/// Starts the server of Codex, asks for its hooks, and ends it. It never runs longer than the limit.
fn ask(program: &Path, cwd: &Path) -> Option<Value> {
    let mut server = Command::new(program)
        .arg("app-server")
        .current_dir(cwd)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let requests = [
        json!({"id": 0, "method": "initialize", "params": {"clientInfo": {"name": "ckpt", "version": env!("CARGO_PKG_VERSION")}}}),
        json!({"method": "initialized"}),
        json!({"id": 1, "method": "hooks/list", "params": {"cwds": [cwd]}}),
    ];
    let text: String = requests.iter().map(|request| format!("{request}\n")).collect();
    // Its end would end the server before it has answered.
    let mut stdin = server.stdin.take();
    let stdout = server.stdout.take();
    let (sender, receiver) = mpsc::channel();
    // The thread ends with the server, which is killed below.
    std::thread::spawn(move || {
        let Some(stdout) = stdout else { return };
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    let begin = Instant::now();
    let mut answer = None;
    if stdin.as_mut().is_some_and(|stdin| stdin.write_all(text.as_bytes()).is_ok()) {
        while let Ok(line) = receiver.recv_timeout(LIMIT.saturating_sub(begin.elapsed())) {
            let message = serde_json::from_str::<Value>(&line).unwrap_or_default();
            if message["id"] == 1 {
                answer = Some(message);
                break;
            }
        }
    }
    drop(stdin);
    let _ = server.kill();
    let _ = server.wait();
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_of_our_hooks_must_be_trusted_and_enabled() {
        let hook = |trust: &str, enabled: bool| json!({"command": "{ ckpt hook codex Stop || :; }", "trustStatus": trust, "enabled": enabled});
        let foreign = json!({"command": "other", "trustStatus": "untrusted"});
        let answer = |hooks: Vec<Value>| json!({"id": 1, "result": {"data": [{"hooks": hooks}]}});
        assert_eq!(judge(&answer(vec![hook("trusted", true), foreign.clone()])), Trust::Trusted);
        assert_eq!(judge(&answer(vec![hook("trusted", true), hook("untrusted", true)])), Trust::Untrusted);
        assert_eq!(judge(&answer(vec![hook("trusted", false)])), Trust::Untrusted);
        assert_eq!(judge(&answer(vec![foreign])), Trust::Unknown);
        assert_eq!(judge(&json!({"error": {}})), Trust::Unknown);
    }

    #[test]
    fn a_codex_that_cannot_be_asked_is_unknown() {
        let cwd = std::env::temp_dir();
        assert_eq!(codex_trust(None, &cwd), Trust::Unknown);
        assert_eq!(codex_trust(Some(Path::new("/no/such/codex")), &cwd), Trust::Unknown);
        assert_eq!(codex_trust(Some(Path::new("/bin/true")), &cwd), Trust::Unknown);
    }
}
