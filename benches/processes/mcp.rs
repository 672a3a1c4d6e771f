//! The cost of a save over MCP beyond its durable write, once the server runs.
//!
//! Both histories grow like an agent's: each save continues the one before, and each durable write reads the file that
//! the one before has written.

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::programs::Programs;
use crate::race::{Race, median};
use crate::world::{Project, Scratch};
use crate::{Outcome, report};

/// Calls that are not counted, because the caches are cold.
const WARM_UP: usize = 20;
/// The most milliseconds that a save may take longer than its durable write.
const MORE_THAN_A_WRITE: f64 = 0.1;

pub(crate) fn measure(programs: &Programs, data: &Path, rounds: usize) -> Outcome {
    let project = Project::with_history(&data.join("mcp"), &programs.ckpt)?;
    let floor = Scratch::with_newest(&data.join("mcp-floor"), &project.newest())?;
    let mut server = Command::new(&programs.ckpt)
        .arg("mcp")
        .current_dir(project.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut requests = server.stdin.take().ok_or("no stdin")?;
    let mut answers = BufReader::new(server.stdout.take().ok_or("no stdout")?);
    let mut ask = |method: &str, params: Value| -> Outcome<(Duration, Value)> {
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let (mut answer, line) = (String::new(), format!("{request}\n"));
        let start = Instant::now();
        requests.write_all(line.as_bytes())?;
        answers.read_line(&mut answer)?;
        Ok((start.elapsed(), serde_json::from_str(&answer)?))
    };
    let client = json!({"name": "bench", "version": "1"});
    ask("initialize", json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}))?;
    let save = json!({"name": "save", "arguments": {"id": "042", "phase": "build", "status": "in_progress"}});
    fs::rename(floor.newest(), floor.path().join(number(0)))?;
    let mut times = (Vec::new(), Vec::new());
    let mut pings = Vec::new();
    for round in 0..WARM_UP + rounds {
        let (took, answer) = ask("tools/call", save.clone())?;
        if answer["result"]["structuredContent"]["created"] != true {
            return Err(format!("the save was refused: {answer}").into());
        }
        let (ping, _) = ask("ping", json!({}))?;
        let least = write_durably(floor.path(), round)?;
        if round >= WARM_UP {
            times.0.push(took);
            times.1.push(least);
            pings.push(ping);
        }
    }
    drop(requests);
    server.wait()?;
    if fs::metadata(project.newest())?.len() == 0 {
        return Err("a cleanup was measured too".into());
    }
    let race = Race::of((median(times.0), median(times.1)));
    report("save over MCP : its durable write", &race, None);
    let more = race.difference();
    let verdict = if more <= MORE_THAN_A_WRITE { "met" } else { "missed" };
    println!(
        "{:<44} {more:>+6.2} ms {:>18}  {MORE_THAN_A_WRITE:<5} {verdict}",
        "save over MCP - its durable write", ""
    );
    // Two pipes and two processes that wake each other: no server can be faster.
    println!("{:<44} {:>+6.2} ms", "  of that, the way there and back", median(pings).as_secs_f64() * 1e3);
    Ok(())
}

/// Does what `benches/floors/save.rs` does, in this process, on top of the file with the number `newest`.
fn write_durably(dir: &Path, newest: usize) -> Outcome<Duration> {
    let (staged, next) = (dir.join(".tmp"), dir.join(number(newest + 1)));
    let newest = dir.join(number(newest));
    let start = Instant::now();
    let bytes = fs::read(newest)?;
    let mut file = OpenOptions::new().write(true).create_new(true).open(&staged)?;
    file.write_all(&bytes)?;
    file.sync_all()?;
    fs::hard_link(&staged, &next)?;
    fs::remove_file(&staged)?;
    File::open(dir)?.sync_all()?;
    Ok(start.elapsed())
}

fn number(seq: usize) -> String {
    format!("{seq:08}.json")
}
