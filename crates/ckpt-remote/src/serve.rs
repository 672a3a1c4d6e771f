//! Frames in, answers out.

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;

use ckpt_wire::{Answer, Failure, Greeting, MAX_IN_FLIGHT, Open, Outcome, PROTOCOL, Request, read_frame, write_frame};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::engine::Engine;
use super::settings;
use super::target::Target;

/// Speaks with `ckpt` until it closes the pipe.
pub(crate) fn run() -> ExitCode {
    // One thread: requests wait for the network, not for a processor.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let result = runtime.and_then(|runtime| {
        let result = runtime.block_on(converse());
        // Requests that are under way when `ckpt` has gone have nobody left to answer to.
        runtime.shutdown_background();
        result
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "ckpt-remote: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn converse() -> io::Result<()> {
    let greeting = Greeting { version: env!("CARGO_PKG_VERSION").to_owned(), protocol: PROTOCOL };
    write_frame(&mut io::stdout().lock(), &greeting, &[])?;
    let Some((open, _)) = read_frame::<Open>(&mut io::stdin().lock())? else { return Ok(()) };
    let engine = match open_engine(&open) {
        Ok(engine) => Arc::new(engine),
        Err(message) => return answer(0, Outcome::Failed(Failure::Refused(message)), &[]),
    };
    let outcome = engine.authenticate().await;
    let is_open = outcome == Outcome::Done;
    answer(0, outcome, &[])?;
    if !is_open {
        return Ok(());
    }
    let mut requests = read_requests();
    let mut under_way = JoinSet::new();
    loop {
        tokio::select! {
            request = requests.recv(), if under_way.len() < MAX_IN_FLIGHT => {
                let Some(request) = request else { return Ok(()) };
                let (request, body) = request?;
                let engine = Arc::clone(&engine);
                under_way.spawn(async move {
                    let (outcome, body) = engine.carry_out(request.verb, body).await;
                    answer(request.id, outcome, &body)
                });
            }
            Some(ended) = under_way.join_next() => ended.map_err(io::Error::other)??,
        }
    }
}

fn open_engine(open: &Open) -> Result<Engine, String> {
    let lookup = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    settings::engine(&Target::parse(&open.url)?, open.allow_http, &lookup)
}

fn answer(id: u64, outcome: Outcome, body: &[u8]) -> io::Result<()> {
    write_frame(&mut io::stdout().lock(), &Answer { id, outcome }, body)
}

/// Reads requests on a thread of its own, because stdin may be a pipe without a non-blocking mode.
fn read_requests() -> mpsc::Receiver<io::Result<(Request, Vec<u8>)>> {
    let (sender, receiver) = mpsc::channel(1);
    std::thread::spawn(move || {
        let mut stdin = io::stdin().lock();
        while let Some(frame) = read_frame(&mut stdin).transpose() {
            let is_last = frame.is_err();
            if sender.blocking_send(frame).is_err() || is_last {
                break;
            }
        }
    });
    receiver
}
