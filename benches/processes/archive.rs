//! Measures archiving a whole store: the time per megabyte, and how much smaller the history becomes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::Outcome;
use crate::history;
use crate::race::median;

/// The numbers of checkpoints that are archived.
const SIZES: [usize; 3] = [2_500, 5_000, 10_000];
/// The time per megabyte may grow by this factor.
const MOST_GROWTH: f64 = 1.25;
/// The least reduction in percent.
const LEAST_SAVED: f64 = 85.0;

/// A store to archive, and its measurements.
struct Store {
    count: usize,
    model: PathBuf,
    live: u64,
    bundles: u64,
    times: Vec<Duration>,
}

/// Measures and prints the table.
pub(crate) fn measure(ckpt: &Path, data: &Path, rounds: usize) -> Outcome {
    let mut stores = Vec::new();
    for count in SIZES {
        let model = data.join(format!("history-{count}"));
        history::make(&model, ckpt, count)?;
        let live = bytes_below(&model.join(".ckpt/workflows"))?;
        stores.push(Store { count, model, live, bundles: 0, times: Vec::new() });
    }
    for _ in 0..rounds {
        for store in &mut stores {
            store.archive(ckpt, &data.join("archived"))?;
        }
    }
    println!("\n{:<44} {:>9} {:>9} {:>6}  goal", "ckpt archive --finished", "it", "per MB", "ratio");
    let least = stores.first().map(Store::per_megabyte).unwrap_or_default();
    for store in &stores {
        println!("{}", store.time_line(least));
    }
    println!("\n{:<44} {:>9} {:>9} {:>6}  goal", "its bundles", "live", "archived", "saved");
    for store in &stores {
        println!("{}", store.size_line());
    }
    Ok(())
}

impl Store {
    /// Archives a copy of the store.
    fn archive(&mut self, ckpt: &Path, copy: &Path) -> Outcome {
        match fs::remove_dir_all(copy) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
            _ => link_tree(&self.model, copy)?,
        }
        let mut archive = Command::new(ckpt);
        archive.args(["archive", "--finished", "--quiet"]).current_dir(copy);
        let start = Instant::now();
        let output = archive.output()?;
        self.times.push(start.elapsed());
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into());
        }
        self.bundles = bytes_below(&copy.join(".ckpt/archive"))?;
        Ok(())
    }

    /// Milliseconds.
    fn time(&self) -> f64 {
        median(self.times.clone()).as_secs_f64() * 1e3
    }

    fn per_megabyte(&self) -> f64 {
        self.time() / megabytes(self.live)
    }

    fn time_line(&self, least: f64) -> String {
        let (time, per_megabyte) = (self.time(), self.per_megabyte());
        let ratio = per_megabyte / least;
        let verdict = if ratio < MOST_GROWTH + 0.005 { "met" } else { "missed" };
        let name = self.name();
        format!("{name:<44} {time:>6.0} ms {per_megabyte:>6.2} ms {ratio:>6.2}  {MOST_GROWTH:<5} {verdict}")
    }

    fn size_line(&self) -> String {
        let (live, bundles) = (megabytes(self.live), megabytes(self.bundles));
        let saved = 100.0 * (1.0 - bundles / live);
        let verdict = if saved >= LEAST_SAVED { "met" } else { "missed" };
        let name = self.name();
        format!("{name:<44} {live:>6.1} MB {bundles:>6.1} MB {saved:>5.1}%  {LEAST_SAVED}%   {verdict}")
    }

    fn name(&self) -> String {
        format!("{} checkpoints", self.count)
    }
}

fn megabytes(bytes: u64) -> f64 {
    Duration::from_micros(bytes).as_secs_f64()
}

/// The size of every file in a directory and below it.
fn bytes_below(directory: &Path) -> Outcome<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        bytes += if entry.file_type()?.is_dir() { bytes_below(&entry.path())? } else { entry.metadata()?.len() };
    }
    Ok(bytes)
}

/// Copies a tree with hard links: archiving replaces names and does not write to the files.
fn link_tree(from: &Path, to: &Path) -> Outcome {
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let to = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            link_tree(&entry.path(), &to)?;
        } else {
            fs::hard_link(entry.path(), to)?;
        }
    }
    Ok(())
}
