//! `ckpt setup`: the wiring. What is written into which file is tested in `core::setup`.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use ckpt_agents::setup::{SKILL, packages};
use serde_json::json;

use crate::support::offered::shell_words;
use crate::support::program::CKPT;
use crate::support::project::World;

/// A world in which `ckpt` and a program for each of these agents are on the PATH.
fn world_with(agents: &[&str]) -> (World, String) {
    let world = World::new();
    let bin = world.temp().join("bin");
    fs::create_dir(&bin).unwrap();
    std::os::unix::fs::symlink(CKPT.as_str(), bin.join("ckpt")).unwrap();
    for agent in agents {
        program(&bin.join(agent), "exit 0");
    }
    let path = format!("{}:/usr/bin:/bin", bin.display());
    (world, path)
}

fn program(path: &Path, script: &str) {
    fs::write(path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn what_is_set_up_is_effective_and_can_be_taken_out_again() {
    let (world, path) = world_with(&["claude", "gemini"]);
    let run = |args: &[&str]| world.ckpt(args).env("PATH", &path).run().succeeds();
    let outcome = run(&["setup"]);
    assert!(outcome.stdout.contains("Claude Code:\n") && outcome.stdout.contains("Gemini CLI:\n"), "{outcome}");
    assert!(!outcome.stdout.contains("Codex"), "{outcome}");
    assert!(outcome.stderr.contains("Undo with: ckpt setup claude gemini --remove"), "{outcome}");
    let check = world.ckpt(&["setup", "--check"]).env("PATH", &path).json();
    assert_eq!(check["hosts"][0]["effective"], "yes", "{check}");
    assert_eq!(check["hosts"][1]["hooks"], "absent", "{check}");
    assert_eq!(check["hosts"][2]["effective"], "yes", "{check}");
    let again = run(&["setup"]);
    assert!(again.stdout.contains("Claude Code: set up already"), "{again}");
    run(&["setup", "--remove"]);
    let left: Vec<_> = fs::read_dir(world.home()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, [".local"]);
    assert_eq!(fs::read_dir(world.home().join(".local/state")).unwrap().count(), 0, "no record is left");
}

#[test]
fn agents_that_share_a_skill_are_set_up_together_and_taken_out_one_by_one() {
    let world = World::new();
    let left = || fs::read_dir(world.project()).unwrap().count();
    let all = ["claude", "codex", "gemini", "--project", "--plan", "--instructions"];
    world.run(&[&["setup"], &all[..]].concat()).succeeds();
    let skill = world.project().join(".agents/skills/ckpt/SKILL.md");
    assert_eq!(fs::read_to_string(&skill).unwrap(), SKILL);
    world.run(&["setup", "codex", "--project", "--remove"]).succeeds();
    let check = world.ckpt(&["setup", "gemini", "--project", "--check", "--json"]).run().document();
    assert_eq!(check["hosts"][0]["skill"], "present", "{check}");
    // None of them is on this machine; the written files are found anyway.
    world.run(&["setup", "--project", "--remove"]).succeeds();
    assert_eq!(left(), 0);
    world.run(&["setup", "codex", "gemini", "codex", "--project"]).succeeds();
    world.run(&["setup", "codex", "gemini", "--project", "--remove"]).succeeds();
    assert_eq!(left(), 0);
}

#[test]
fn an_agent_that_was_never_here_does_not_appear_by_being_set_up() {
    let (world, path) = world_with(&[]);
    for agent in ["claude", "codex", "gemini"] {
        let installed = || {
            let check = world.ckpt(&["setup", agent, "--check", "--json"]).env("PATH", &path).run();
            (check.status.code(), check.document()["hosts"][0]["installed"].clone())
        };
        let outcome = world.ckpt(&["setup", agent]).env("PATH", &path).run().succeeds();
        assert!(outcome.stdout.contains("(not found on this machine)"), "{outcome}");
        assert_eq!(installed(), (Some(6), json!(false)), "{agent}");
        // It comes later, and leaves something there.
        fs::write(world.home().join(format!(".{agent}/history")), "").unwrap();
        assert_eq!(installed(), (Some(0), json!(true)), "{agent}");
    }
}

#[test]
fn a_word_that_is_no_agent_is_answered_with_those_that_are() {
    let refused = World::new().run(&["setup", "cursor"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(refused.stderr.contains("the agents are claude, codex and gemini"), "{refused}");
}

#[test]
fn a_guarded_hook_succeeds_also_where_ckpt_is_missing_or_too_old() {
    let (world, path) = world_with(&["claude"]);
    world.ckpt(&["setup", "claude"]).env("PATH", &path).run().succeeds();
    let settings: serde_json::Value =
        serde_json::from_slice(&fs::read(world.home().join(".claude/settings.json")).unwrap()).unwrap();
    let command = settings["hooks"]["SessionStart"][0]["hooks"][0]["command"].as_str().unwrap();
    let old = world.temp().join("old");
    fs::create_dir(&old).unwrap();
    program(&old.join("ckpt"), "echo 'unrecognized subcommand' >&2; exit 2");
    for path in ["/usr/bin:/bin".to_owned(), format!("{}:/bin", old.display())] {
        let outcome = world.ckpt::<&str>(&[]).in_shell(command).env("PATH", path).run().succeeds();
        assert_eq!((outcome.stdout.as_str(), outcome.stderr.as_str()), ("", ""));
    }
}

#[test]
fn what_would_be_written_is_printed_and_nothing_else_happens() {
    let world = World::new();
    let outcome = world.run(&["setup", "codex", "--plan", "--print"]).succeeds();
    assert!(outcome.stdout.contains("/.codex/hooks.json\n"), "{outcome}");
    assert!(outcome.stdout.contains("+ [tools.update_plan]"), "{outcome}");
    assert!(outcome.stderr.contains("Nothing was written."), "{outcome}");
    assert_eq!(fs::read_dir(world.home()).unwrap().count(), 0);
}

#[test]
fn a_file_that_does_not_parse_is_refused_before_anything_is_written() {
    let world = World::new();
    world.write(".claude/settings.json", "{ \"model\": ");
    world.refuses(&["setup", "gemini", "claude", "--project"], 6, "setup_unreadable");
}

#[test]
fn instructions_are_touched_only_if_asked_for() {
    let world = World::new();
    world.write("CLAUDE.md", "# Mine\n");
    world.run(&["setup", "claude", "--project"]).succeeds();
    assert_eq!(fs::read_to_string(world.project().join("CLAUDE.md")).unwrap(), "# Mine\n");
    world.run(&["setup", "claude", "--project", "--instructions"]).succeeds();
    let text = fs::read_to_string(world.project().join("CLAUDE.md")).unwrap();
    assert!(text.starts_with("# Mine\n\n<!-- ckpt: begin") && text.contains("ckpt brief"), "{text}");
    world.run(&["setup", "claude", "--project", "--remove"]).succeeds();
    assert_eq!(fs::read_to_string(world.project().join("CLAUDE.md")).unwrap(), "# Mine\n");
}

#[test]
fn without_an_agent_one_has_to_be_named() {
    World::new().refuses(&["setup"], 4, "no_agent");
}

#[test]
fn codex_is_asked_whether_it_trusts_the_hooks() {
    let (world, path) = world_with(&["codex"]);
    world.ckpt(&["setup", "codex"]).env("PATH", &path).run().succeeds();
    let answer = |trust: &str| {
        let hook = json!({"command": "{ ckpt hook codex SessionStart || :; }", "enabled": true, "trustStatus": trust});
        let answer = json!({"id": 1, "result": {"data": [{"hooks": [hook]}]}});
        program(&world.temp().join("bin/codex"), &format!("read a; read b; read c; echo noise; echo '{answer}'; cat"));
        let check = world.ckpt(&["setup", "codex", "--check", "--json"]).env("PATH", &path).run();
        (check.status.code(), check.document()["hosts"][0]["trusted"].clone())
    };
    assert_eq!(answer("untrusted"), (Some(6), json!("no")));
    assert_eq!(answer("trusted"), (Some(0), json!("yes")));
}

#[test]
fn every_command_of_the_skill_runs() {
    let world = World::new();
    world.write("src/token.rs", "fn main() {}");
    let mut ran = 0;
    for block in SKILL.split("```sh\n").skip(1) {
        for line in block.split("```").next().unwrap().lines() {
            if line == "ckpt resume login --context" {
                world.run(&["save", "login", "--phases", "plan,build,test"]).succeeds();
            }
            world.run(&shell_words(line)[1..]).succeeds();
            ran += 1;
        }
    }
    assert!(ran >= 10, "{ran}");
}

#[test]
fn the_packages_are_what_the_program_would_write() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/integrations");
    for package in packages() {
        for (path, text) in package.files {
            let path = root.join(package.name).join(path);
            if std::env::var_os("UPDATE_PACKAGES").is_some() {
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(&path, &text).unwrap();
            }
            let found = fs::read_to_string(&path).unwrap_or_default();
            assert_eq!(found, text, "{}: `UPDATE_PACKAGES=1 cargo test packages` writes it", path.display());
        }
    }
}
