//! After any commands, the files are those that the store projects, and those of others as they were.

use ckpt::core::dialects::Dialect;

use super::{Files, files, mirroring, projected};
use crate::support::project::World;
use crate::support::proof::amount;

const WORKFLOWS: [&str; 3] = ["042", "043", "issue_44"];

/// A source of choices that are the same in every run.
struct Choices(u64);

impl Choices {
    /// Chooses one of them.
    fn of<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        // xorshift64*
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let random = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 32;
        choices[usize::try_from(random).unwrap() % choices.len()]
    }
}

/// Runs one command, which may be refused.
fn step(world: &World, choices: &mut Choices) -> Vec<String> {
    let id = choices.of(&WORKFLOWS);
    let phase = choices.of(&["a", "b", "c"]);
    let words: Vec<String> = match choices.of(&[
        "save", "save", "save", "start", "fail", "done", "complete", "rollback", "revise", "archive",
        "restore", "cleanup",
    ]) {
        "save" => format!("save {id} --phases a,b,c --phase {phase} --trigger batch_complete"),
        "start" => format!("start {id} --phase {phase}"),
        "fail" => format!("fail {id} --phase {phase} --error no"),
        "done" => format!("done {id} --phase {phase}"),
        "complete" => {
            format!("save {id} --workflow-status {}", choices.of(&["complete", "failed", "in_progress"]))
        }
        "rollback" => format!("rollback {id}~{}", choices.of(&["1", "2", "3"])),
        "revise" => format!("revise {id} --from {phase}"),
        "archive" => format!("archive {id} --as {}", choices.of(&["abandoned", "completed", "failed"])),
        "restore" => format!("restore {id}"),
        _ => format!("cleanup --yes --workflow {id} --keep-last {}", choices.of(&["1", "2"])),
    }
    .split(' ')
    .map(str::to_owned)
    .collect();
    world.run(&words);
    words
}

/// Changes a file as its system might.
fn edit(world: &World, dialect: Dialect, choices: &mut Choices, foreign: &mut Files) {
    let files = files(world, dialect);
    let paths: Vec<&str> =
        files.keys().map(String::as_str).filter(|path| !path.ends_with("latest")).collect();
    let path = choices.of(&paths).to_owned();
    let content = format!("{{\"theirs\": {}}}", foreign.len());
    world.write(&path, &content);
    foreign.insert(path, content);
}

#[test]
fn the_files_are_what_the_store_projects_after_any_commands() {
    for seed in 1..=amount(1, 20) as u64 {
        for dialect in Dialect::mirrored() {
            let world = mirroring(dialect);
            let foreign = format!("{}/README.md", ckpt::core::export::directory(dialect));
            world.write(&foreign, "mine");
            let mut choices = Choices(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
            let mut history = Vec::new();
            let mut foreign = Files::from([(foreign, "mine".to_owned())]);
            for _ in 0..amount(20, 40) {
                if choices.of(&["edit", "go on", "go on", "go on", "go on"]) == "edit" {
                    edit(&world, dialect, &mut choices, &mut foreign);
                }
                history.push(step(&world, &mut choices).join(" "));
                let mut expected: Files = projected(&world, dialect, &WORKFLOWS);
                expected.extend(foreign.clone());
                let actual = files(&world, dialect);
                assert_eq!(actual, expected, "{dialect}, seed {seed}:\n{}", history.join("\n"));
            }
        }
    }
}
