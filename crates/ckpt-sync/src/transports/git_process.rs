//! Starting git: bounded in time, without questions, and without the protocols that run other programs.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::Failure;
use ckpt_store::{Disk as _, OsDisk};

const FIRST_POLL: Duration = Duration::from_millis(1);
const LAST_POLL: Duration = Duration::from_millis(20);
/// How long messages are waited for when git is gone.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// The most that is kept of what git says on stderr.
const MAX_MESSAGE: usize = 400;

/// The answer of git.
pub(super) struct Answer {
    /// True if git succeeded.
    pub(super) succeeded: bool,
    /// Its output.
    pub(super) output: Vec<u8>,
    /// The end of its messages, on one line.
    pub(super) message: String,
}

impl Answer {
    /// Returns the failure that the message means, where a request may have been carried out.
    pub(super) fn failure(&self) -> Failure {
        let says = |texts: &[&str]| texts.iter().any(|text| self.message.contains(text));
        let message = self.message.clone();
        if says(&["Authentication failed", "Permission denied", "could not read Username", "error: 403", "protected"]) {
            Failure::Refused(message)
        } else if says(&[
            "Could not resolve host",
            "Connection refused",
            "unable to access",
            "does not appear to be a git repository",
            "not found",
            "Could not read from remote repository",
            "Network is unreachable",
        ]) {
            Failure::Unreachable(message)
        } else {
            Failure::Unknown(message)
        }
    }
}

/// Runs git in a directory with this input. What takes longer than the limit has no clear answer.
pub(super) fn run(dir: &Path, args: &[OsString], input: &[u8], time_limit: Duration) -> Result<Answer, Failure> {
    let mut command = Command::new("git");
    command.current_dir(dir).args(args);
    // Only what `-C` or `--git-dir` says counts, whoever calls: a hook of git sets these.
    for variable in
        ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_NAMESPACE", "GIT_PREFIX"]
    {
        command.env_remove(variable);
    }
    command.env("GIT_TERMINAL_PROMPT", "0").env("GIT_ALLOW_PROTOCOL", "file:git:http:https:ssh");
    command.env("LC_ALL", "C").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let not_started = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => Failure::Refused("the program `git` is not installed".to_owned()),
        _ => Failure::Unreachable(format!("git does not start: {error}")),
    };
    let mut child = command.spawn().map_err(not_started)?;
    if let Some(mut stdin) = child.stdin.take() {
        let input = input.to_vec();
        thread::spawn(move || stdin.write_all(&input));
    }
    let (output, errors) = (read_aside(child.stdout.take()), read_aside(child.stderr.take()));
    let end = Instant::now() + time_limit;
    let mut poll = FIRST_POLL;
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if Instant::now() < end => OsDisk::new(dir).pause(poll),
            Ok(None) => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(Failure::Unknown(format!("git took longer than {} s", time_limit.as_secs())));
            }
            Err(error) => return Err(Failure::Unknown(error.to_string())),
        }
        poll = (poll * 2).min(LAST_POLL);
    };
    let output = collect(&output, end);
    let errors = collect(&errors, end.min(Instant::now() + LAST_WORDS));
    Ok(Answer { succeeded: status.success(), output, message: message(&errors) })
}

/// Reads a stream in a thread of its own. What git has started, such as ssh, may keep the stream open when git is gone, so
/// nobody waits for the thread.
fn read_aside(stream: Option<impl io::Read + Send + 'static>) -> Receiver<Vec<u8>> {
    let (sender, chunks) = channel();
    if let Some(mut stream) = stream {
        thread::spawn(move || {
            let mut buffer = vec![0; 1 << 16];
            loop {
                match stream.read(&mut buffer) {
                    Ok(0) => break,
                    Ok(length) if sender.send(buffer[..length].to_vec()).is_ok() => {}
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Ok(_) | Err(_) => break,
                }
            }
        });
    }
    chunks
}

/// Returns what was read of a stream until its end, or until a time.
fn collect(chunks: &Receiver<Vec<u8>>, end: Instant) -> Vec<u8> {
    let mut bytes = Vec::new();
    while let Ok(chunk) = chunks.recv_timeout(end.saturating_duration_since(Instant::now())) {
        bytes.extend(chunk);
    }
    bytes
}

/// Returns the end of what git says, on one line. Git itself leaves passwords out of the URLs that it shows.
fn message(errors: &[u8]) -> String {
    let text = String::from_utf8_lossy(errors);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let whole = lines.join(" ");
    let cut = whole.char_indices().rev().nth(MAX_MESSAGE).map_or(0, |(place, _)| place);
    whole[cut..].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_git_has_started_does_not_prolong_the_limit() {
        let dir = tempfile::tempdir().unwrap();
        let args = ["-c", "alias.wait=!sleep 60", "wait"].map(OsString::from);
        let started = Instant::now();
        let answer = run(dir.path(), &args, b"", Duration::from_millis(100));
        assert!(matches!(answer, Err(Failure::Unknown(_))));
        assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
    }
}
