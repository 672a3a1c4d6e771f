//! Running two programs in turn, and comparing the medians, or the slowest of a hundred runs.

use std::ffi::OsStr;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::Outcome;

/// Runs that are not counted, because the caches are cold.
const WARM_UP: usize = 5;

/// A program to measure, and how to undo its effects before the next run, which is not timed.
pub(crate) struct Entrant<'a> {
    command: Command,
    stdin: Option<PathBuf>,
    undo: Box<dyn Fn() -> Outcome + 'a>,
}

impl<'a> Entrant<'a> {
    pub(crate) fn new(program: impl AsRef<OsStr>, args: &[impl AsRef<OsStr>], directory: &Path) -> Self {
        let mut command = Command::new(program);
        command.args(args).current_dir(directory).env_clear();
        for name in ["HOME", "PATH", "USER"] {
            command.envs(std::env::var_os(name).map(|value| (name, value)));
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Self { command, stdin: None, undo: Box::new(|| Ok(())) }
    }

    pub(crate) fn undo(self, undo: impl Fn() -> Outcome + 'a) -> Self {
        Self { undo: Box::new(undo), ..self }
    }

    /// Reads this file as stdin.
    pub(crate) fn stdin(self, file: &Path) -> Self {
        Self { stdin: Some(file.to_owned()), ..self }
    }

    fn run(&mut self) -> Outcome<Duration> {
        if let Some(file) = &self.stdin {
            self.command.stdin(File::open(file)?);
        }
        let start = Instant::now();
        let status = self.command.status()?;
        let time = start.elapsed();
        (self.undo)()?;
        if status.success() { Ok(time) } else { Err(format!("{:?}: {status}", self.command).into()) }
    }
}

/// The times of two programs.
pub(crate) struct Race {
    first: Duration,
    second: Duration,
}

impl Race {
    pub(crate) fn between(first: Entrant<'_>, second: Entrant<'_>, rounds: usize) -> Outcome<Self> {
        let (first, second) = times(first, second, rounds)?;
        Ok(Self { first: median(first), second: median(second) })
    }

    /// Compares the slowest of a hundred runs instead of the medians.
    pub(crate) fn of_slowest(first: Entrant<'_>, second: Entrant<'_>, rounds: usize) -> Outcome<Self> {
        let (first, second) = times(first, second, rounds)?;
        Ok(Self { first: slowest(first), second: slowest(second) })
    }

    /// The milliseconds that the first one takes longer.
    pub(crate) fn difference(&self) -> f64 {
        (self.first.as_secs_f64() - self.second.as_secs_f64()) * 1e3
    }

    /// Uses medians that were measured elsewhere.
    pub(crate) fn of((first, second): (Duration, Duration)) -> Self {
        Self { first, second }
    }

    /// One line of the table. A ratio that prints like its goal meets it.
    pub(crate) fn line(&self, name: &str, goal: Option<f64>) -> String {
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        let ratio = self.first.as_secs_f64() / self.second.as_secs_f64();
        let verdict = goal.map(|goal| {
            let verdict = if ratio < goal + 0.005 { "met" } else { "missed" };
            format!("  {goal:<5} {verdict}")
        });
        let (first, second) = (ms(self.first), ms(self.second));
        format!("{name:<44} {first:>6.2} ms {second:>6.2} ms {ratio:>6.2}{}", verdict.unwrap_or_default())
    }
}

/// Runs two programs in turn.
fn times(mut first: Entrant<'_>, mut second: Entrant<'_>, rounds: usize) -> Outcome<(Vec<Duration>, Vec<Duration>)> {
    let mut times = (Vec::with_capacity(rounds), Vec::with_capacity(rounds));
    for round in 0..WARM_UP + rounds {
        let (a, b) = (first.run()?, second.run()?);
        if round >= WARM_UP {
            times.0.push(a);
            times.1.push(b);
        }
    }
    Ok(times)
}

/// The time that 99 of 100 runs stay within.
fn slowest(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[(times.len() * 99 / 100).min(times.len() - 1)]
}

pub(crate) fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
