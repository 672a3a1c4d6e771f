//! The corpus of the fuzzers, and cheap variants of everything in it: what must hold, holds, in bounded memory.
//!
//! The search itself is not part of the tests; `fuzz/Cargo.toml` says how to run it.

mod properties;

use std::collections::BTreeSet;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::process::Command;

use properties::TARGETS;

use crate::support::proof;

/// The address space that all of it has to do with, in KiB.
const MEMORY: u32 = 512 << 10;
/// How many places each file is cut at, how many times it is changed, and how many times joined with another one: in short,
/// and with `CKPT_PROOF=full`.
const CUTS: [usize; 2] = [2, 24];
const CHANGES: [usize; 2] = [3, 40];
const JOINTS: [usize; 2] = [1, 8];
/// Bytes that mean something to some reader.
const MEANINGFUL: &[u8] = b"\0\n\r\t\x1b \"'{}[]:,=/\\~-.0189AZaz$#&*!|>%@`\x7f\x80\xc2\xe2\xf0\xff";

fn top() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// True if the fuzzers exist: a published package comes without them.
fn are_there() -> bool {
    let there = top().join("fuzz").exists();
    if !there {
        println!("skipped: there is no `fuzz` here, as in a published package");
    }
    there
}

/// The files of a target, in the same order everywhere.
fn files(target: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let beside = match target {
        "checkpoint" | "document" => Some("tests/it/golden"),
        "import" => Some("tests/fixtures/dialects/generic"),
        _ => None,
    };
    let corpus = format!("fuzz/corpus/{target}");
    let mut paths = BTreeSet::new();
    for dir in [Some(corpus.as_str()), beside].into_iter().flatten() {
        let entries = std::fs::read_dir(top().join(dir)).unwrap_or_else(|error| panic!("{dir}: {error}"));
        let before = paths.len();
        paths.extend(entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_file()));
        assert!(paths.len() > before, "{dir} is empty");
    }
    // The expected answer is not such a file.
    paths.retain(|path| !path.to_str().unwrap().ends_with(".expected.json"));
    paths.into_iter().map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
}

/// A generator of the same numbers in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        // xorshift64*
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let roll = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16;
        usize::try_from(roll % limit.max(1) as u64).unwrap()
    }

    /// Changes a few bytes.
    fn change(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..=self.below(3) {
            let at = self.below(bytes.len());
            let byte = MEANINGFUL[self.below(MEANINGFUL.len())];
            match self.below(5) {
                0 => bytes.insert(at, byte),
                1 if at < bytes.len() => drop(bytes.remove(at)),
                2 if at < bytes.len() => bytes[at] = byte,
                3 => {
                    let from = self.below(at + 1).max(at.saturating_sub(256));
                    bytes.extend_from_within(from..at);
                }
                _ if at < bytes.len() => bytes[at] ^= 1 << self.below(8),
                _ => {}
            }
        }
    }

    /// The beginning of one and the end of the other.
    fn join(&mut self, one: &[u8], other: &[u8]) -> Vec<u8> {
        let (end, start) = (self.below(one.len() + 1), self.below(other.len() + 1));
        [&one[..end], &other[start..]].concat()
    }
}

/// A file as it is, and variants of it.
fn variants(files: &[(PathBuf, Vec<u8>)], bytes: &[u8], dice: &mut Dice) -> Vec<Vec<u8>> {
    let [cuts, changes, joints] = [CUTS, CHANGES, JOINTS].map(|[short, full]| proof::amount(short, full));
    let mut variants = vec![bytes.to_vec()];
    variants.extend((0..bytes.len()).step_by(bytes.len() / cuts + 1).map(|end| bytes[..end].to_vec()));
    for _ in 0..changes {
        let mut changed = bytes.to_vec();
        dice.change(&mut changed);
        variants.push(changed);
    }
    for _ in 0..joints {
        let other = &files[dice.below(files.len())].1;
        variants.push(dice.join(bytes, other));
    }
    variants
}

#[test]
fn each_target_has_a_fuzzer_and_a_corpus() {
    if !are_there() {
        return;
    }
    let names = BTreeSet::from(TARGETS.map(|(name, _)| name.to_owned()));
    let manifest: toml::Table = std::fs::read_to_string(top().join("fuzz/Cargo.toml")).unwrap().parse().unwrap();
    let bins = manifest["bin"].as_array().unwrap().iter();
    let bins: BTreeSet<String> = bins.map(|bin| bin["name"].as_str().unwrap().to_owned()).collect();
    assert_eq!(bins, names);
    let dirs = std::fs::read_dir(top().join("fuzz/corpus")).unwrap();
    let dirs: BTreeSet<String> = dirs.map(|dir| dir.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(dirs, names);
    for name in &names {
        let source = std::fs::read_to_string(top().join(format!("fuzz/fuzz_targets/{name}.rs"))).unwrap();
        assert!(source.contains("properties::"), "{name}");
        assert!(files(name).iter().all(|(_, bytes)| bytes.len() <= 8 << 10), "{name} has a large file");
    }
}

#[test]
fn what_must_hold_holds_for_the_corpus_in_bounded_memory() {
    if !are_there() {
        return;
    }
    let limited = format!("ulimit -v {MEMORY}; exec \"$@\"");
    let output = Command::new("sh")
        .args(["-c", &limited, "sh"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "fuzz::the_corpus", "--ignored", "--test-threads=1", "--nocapture"])
        .env("MALLOC_ARENA_MAX", "1")
        .output()
        .unwrap();
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{}\n{stdout}\n{stderr}", output.status);
    assert!(stdout.contains("1 passed"), "{stdout}");
}

#[test]
#[ignore = "is run by the test above, which limits its memory"]
fn the_corpus() {
    for (target, property) in TARGETS {
        let files = files(target);
        let mut dice = Dice(0x5eed_0f77);
        for (path, bytes) in &files {
            for (number, variant) in variants(&files, bytes, &mut dice).iter().enumerate() {
                if catch_unwind(|| property(variant)).is_err() {
                    panic!("{target}: variant {number} of {}: {}", path.display(), variant.escape_ascii());
                }
            }
        }
    }
}
