//! Compares whole processes: `ckpt`, and the smallest program that does the same work.
//!
//! ```sh
//! cargo bench --bench processes              # several hundred runs each
//! cargo bench --bench processes -- --quick   # 60 runs each
//! cargo bench --bench processes -- --length  # only workflows of many checkpoints
//! cargo bench --bench processes -- --archive # only archiving a large store
//! cargo bench --bench processes -- --imports # only importing 10,000 files and exporting 8,000, a few minutes
//! cargo bench --bench processes -- --hooks   # only hooks and MCP
//! cargo bench --bench processes -- --workflows # only stores with up to 100,000 workflows
//! ```
//!
//! Every number is the median of whole processes, from before the start to after the end, as an agent that shells out
//! sees it. The two programs run in turn (A, B, A, B, ...), so that a busy minute of the machine slows down both. Goals
//! are ratios to a floor: a small program in `benches/floors`, built with the profile and the target of a release.
#![expect(clippy::disallowed_methods, reason = "a benchmark makes its own files and processes")]
#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

#[path = "processes/archive.rs"]
mod archive;
#[path = "processes/history.rs"]
mod history;
#[path = "processes/hooks.rs"]
mod hooks;
#[path = "processes/imports.rs"]
mod imports;
#[path = "processes/machine.rs"]
mod machine;
#[path = "processes/mcp.rs"]
mod mcp;
#[path = "processes/others.rs"]
mod others;
#[path = "processes/programs.rs"]
mod programs;
#[path = "processes/race.rs"]
mod race;
#[path = "processes/workflows.rs"]
mod workflows;
#[path = "processes/world.rs"]
mod world;

use std::error::Error;
use std::path::Path;

use imports::Load;
use programs::Programs;
use race::{Entrant, Race};
use world::{NEXT, Project, Scratch};

/// The benchmark ends at the first error.
type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// The save that is measured: a phase reported on a workflow that carries 10 KB of state.
const SAVE: [&str; 5] = ["save", "042", "--phase", "build", "--status=in_progress"];

fn main() -> Outcome {
    let args: Vec<String> = std::env::args().skip(1).collect();
    // `cargo bench` passes `--bench`; `cargo test --all-targets` does not, and must not measure.
    if !args.iter().any(|arg| arg == "--bench") {
        return Ok(());
    }
    let quick = args.iter().any(|arg| arg == "--quick");
    let (rounds, few, archives) = if quick { (60, 5, 1) } else { (400, 15, 3) };

    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let programs = Programs::build(root, &root.join("target/bench"))?;
    let data = root.join("target/bench-data");
    println!("{}", machine::describe(&data));
    println!("{}; {rounds} runs each\n", programs.how);

    if args.iter().any(|arg| arg == "--archive") {
        return archive::measure(&programs.ckpt, &data, archives);
    }
    println!("{:<44} {:>9} {:>9} {:>6}  goal", "", "ckpt", "floor", "ratio");
    if args.iter().any(|arg| arg == "--workflows") {
        return workflows::measure(&programs, &data, rounds, few);
    }
    if args.iter().any(|arg| arg == "--hooks") {
        hooks::measure(&programs, &data, rounds)?;
        return mcp::measure(&programs, &data, rounds);
    }
    let load = if quick { (1_000, 1) } else { (10_000, 3) };
    if args.iter().any(|arg| arg == "--length") {
        return length(&programs, &data, rounds);
    }
    if args.iter().any(|arg| arg == "--imports") {
        return imports(&programs, &data, load);
    }
    saves(&programs, &data, rounds)?;
    reads(&programs, &data, rounds)?;
    hooks::measure(&programs, &data, rounds)?;
    mcp::measure(&programs, &data, rounds)?;
    workflows::measure(&programs, &data, rounds, few)?;
    length(&programs, &data, rounds)?;
    imports(&programs, &data, load)?;

    println!("\n{:<44} {:>9} {:>9} {:>6}", "a save without ckpt", "it", "ckpt", "ratio");
    alternatives(&programs, &data, rounds.min(60))?;
    archive::measure(&programs.ckpt, &data, archives)
}

fn report(name: &str, race: &Race, goal: Option<f64>) {
    println!("{}", race.line(name, goal));
}

fn saves(programs: &Programs, data: &Path, rounds: usize) -> Outcome {
    let project = Project::with_history(&data.join("save"), &programs.ckpt)?;
    let floor = Scratch::with_newest(&data.join("save-floor"), &project.newest())?;
    let save = Entrant::new(&programs.ckpt, &SAVE, project.path()).undo(|| project.remove_next());
    let least = Entrant::new(&programs.save, &["NEWEST", NEXT], floor.path()).undo(|| floor.remove_next());
    report("save, 10 KB", &Race::between(save, least, rounds)?, Some(1.5));
    Ok(())
}

fn reads(programs: &Programs, data: &Path, rounds: usize) -> Outcome {
    let project = Project::with_history(&data.join("read"), &programs.ckpt)?;
    for (name, args) in [("show", &["show", "042"][..]), ("list, 1 workflow", &["list"][..])] {
        let read = Entrant::new(&programs.ckpt, args, project.path());
        let least = Entrant::new(&programs.read, &[project.newest()], project.path());
        report(name, &Race::between(read, least, rounds)?, Some(2.0));
    }
    Ok(())
}

/// Compares a save and a resume of a long workflow with the same of a short one; both must cost the same.
fn length(programs: &Programs, data: &Path, rounds: usize) -> Outcome {
    let project =
        |length: u64| Project::with_length(&data.join(format!("checkpoints-{length}")), &programs.ckpt, length);
    let short = project(10)?;
    for length in [1_200, 100_000] {
        let long = project(length)?;
        let save = |project| Entrant::new(&programs.ckpt, &SAVE, Project::path(project));
        let in_long = save(&long).undo(|| long.remove_next());
        let in_short = save(&short).undo(|| short.remove_next());
        let race = Race::between(in_long, in_short, rounds)?;
        report(&format!("save, {length} checkpoints : 10"), &race, Some(1.1));
        let resume = |project| Entrant::new(&programs.ckpt, &["resume", "042"], Project::path(project));
        let race = Race::between(resume(&long), resume(&short), rounds)?;
        report(&format!("resume, {length} checkpoints : 10"), &race, Some(1.1));
    }
    Ok(())
}

fn imports(programs: &Programs, data: &Path, (files, rounds): (usize, usize)) -> Outcome {
    for (name, per_workflow) in [("import, each its own workflow", 1), ("import, 100 of one workflow", 100)] {
        let times = Load { files, per_workflow }.measure(&programs.ckpt, data, rounds)?;
        report(&format!("{name}, {files} files"), &Race::of(times), Some(4.0));
    }
    let [small, large] = imports::there_and_back(&programs.ckpt, data, [2_000, 8_000], rounds)?;
    report("import into one workflow, 8,000 : 2,000", &Race::of((large.0, small.0)), Some(4.4));
    report("export of one workflow, 8,000 : 2,000", &Race::of((large.1, small.1)), Some(4.4));
    Ok(())
}

fn alternatives(programs: &Programs, data: &Path, rounds: usize) -> Outcome {
    let project = Project::with_history(&data.join("save"), &programs.ckpt)?;
    for (name, other) in others::installed(&data.join("others"), &project.path().join("state.json"))? {
        let save = Entrant::new(&programs.ckpt, &SAVE, project.path()).undo(|| project.remove_next());
        report(name, &Race::between(other, save, rounds)?, None);
    }
    Ok(())
}
