//! A command line answers the same inside the test process, where most tests run it, and as a process of its own.

use std::collections::BTreeSet;
use std::path::Path;

use crate::support::inside::PROCESS_WORDS;
use crate::support::project::World;

/// A line of every command that can run inside, and of the ways to fail before one runs.
const LINES: &[&str] = &[
    "init",
    "start 042 --phase c",
    "done 042 --phase b",
    "fail 042 --phase b --error broken",
    "save 042 --from -",
    "save 042 --state @missing.json",
    "--store elsewhere/.ckpt save 042 -q",
    "resume 042",
    "resume --file -",
    "status 042",
    "list --color always",
    "ls --json",
    "brief",
    "show 042 --raw",
    "show 043",
    "log 042",
    "diff 042/1 042/2 --json",
    "approve 042 --phase 1",
    "revise 042 --from 1 --reason changed",
    "rollback 042/1",
    "fork 042 --as 043",
    "merge 042 043",
    "stats",
    "report",
    "cleanup --keep-last 1",
    "archive 042 --as completed",
    "restore 042",
    "verify",
    "merge 042",
    "import notes.json",
    "export 042 --as kamiflow -o out.json",
    "pipeline list",
    "hook claude SessionStart",
    "hook claude SessionStart -v",
    "man save",
    "schema list",
    "--version",
    "sav 042",
    "list --no-such-flag",
    "list --json --no-such-flag",
];

#[test]
fn a_line_answers_inside_of_the_tests_as_in_a_process() {
    let model = World::with_checkpoints(2);
    model.write("notes.json", "{\"phases\": [\"a\", \"b\"], \"completed_phases\": [\"a\"]}");
    for line in LINES {
        let [inside, process] = [(); 2].map(|()| model.copy());
        let words: Vec<&str> = line.split(' ').collect();
        let stdin = "{\"phases\": [\"a\"], \"phase\": \"a\"}";
        let here = inside.ckpt(&words).stdin(stdin).run();
        let there = process.ckpt(&words).stdin(stdin).in_a_process().run();
        assert_eq!(here.to_string(), there.to_string(), "{line}");
        assert_eq!(names(&inside), names(&process), "{line}");
    }
}

/// The names of everything in a project, without the digits of random ids and of digests.
fn names(world: &World) -> Vec<String> {
    let tree = world.tree();
    let below = |path: &Path| path.strip_prefix(world.temp()).unwrap().display().to_string();
    let mut names: Vec<String> =
        tree.paths().map(|path| below(path).replace(|c: char| c.is_ascii_hexdigit(), "_")).collect();
    names.sort();
    names
}

#[test]
fn every_command_has_a_line_or_is_always_a_process() {
    let tried: BTreeSet<&str> = LINES.iter().flat_map(|line| line.split(' ')).collect();
    let tree = ckpt::cli::command_tree();
    let commands = tree.get_subcommands().map(clap::Command::get_name);
    let missing: Vec<_> = commands.filter(|name| !tried.contains(name) && !PROCESS_WORDS.contains(name)).collect();
    assert_eq!(missing, [""; 0]);
}
