//! `ckpt completions`, and what the scripts get when they call back.

use std::process::Command;

use crate::support::program::CKPT;
use crate::support::project::{World, find_program, skip};
use crate::support::terminal::Terminal;

#[test]
fn every_shell_has_a_script_that_calls_back() {
    let world = World::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = world.run(&["completions", shell]).succeeds().stdout;
        assert!(script.contains("COMPLETE") && script.contains("ckpt"), "{shell}: {script}");
    }
    world.refuses(&["completions", "tcsh"], 2, "usage");
}

/// Asks as the script of bash does when Tab is pressed after these words.
fn completed(world: &World, words: &[&str]) -> Vec<String> {
    let call = world.ckpt(&[&["--", "ckpt"][..], words].concat());
    let index = words.len().to_string();
    let outcome = call.env("COMPLETE", "bash").env("_CLAP_COMPLETE_INDEX", index).env("_CLAP_IFS", "\n").run();
    assert_eq!(outcome.stderr, "");
    outcome.succeeds().stdout.lines().map(str::to_owned).collect()
}

#[test]
fn commands_and_flags_are_completed() {
    let world = World::new();
    assert_eq!(completed(&world, &["sa"]), ["save"]);
    assert_eq!(completed(&world, &["save", "042", "--if"]), ["--if-changed"]);
    assert_eq!(completed(&world, &["save", "042", "--phase", "a", "--status", "ski"]), ["skipped"]);
}

#[test]
fn workflow_ids_come_from_the_store() {
    let world = World::new();
    for id in ["oauth", "Other", "042"] {
        world.run(&["save", id]).succeeds();
    }
    for command in ["save", "show", "log"] {
        let ids = completed(&world, &[command, "o"]);
        assert_eq!(ids, ["oauth"], "{command}");
    }
    let all = completed(&world, &["show", ""]);
    assert!(["042", "Other", "oauth"].iter().all(|id| all.iter().any(|found| found == id)), "{all:?}");
}

#[test]
fn checkpoints_are_offered_once_the_id_is_complete_and_flags_keep_apart() {
    let world = World::with_checkpoints(3);
    world.run(&["save", "0421"]).succeeds();
    for command in [
        &["show"][..],
        &["diff"],
        &["diff", "042"],
        &["rollback"],
        &["restore"],
        &["resume", "--from"],
        &["log"],
        &["brief"],
    ] {
        let offered = |word: &str| completed(&world, &[command, &[word]].concat());
        assert_eq!(offered("042/"), ["042/3", "042/2", "042/1"], "{command:?}");
        assert_eq!(offered("042"), ["042", "0421", "042/3", "042/2", "042/1"], "{command:?}");
        assert_eq!(offered("04"), ["042", "0421"], "{command:?}");
        assert_eq!(offered("042/2"), ["042/2"], "{command:?}");
        assert_eq!(offered("nothing/"), Vec::<String>::new(), "{command:?}");
    }
    // A workflow is named without a number.
    assert_eq!(completed(&world, &["archive", "042"]), ["042", "0421"]);
    assert_eq!(completed(&world, &["archive", "042/"]), Vec::<String>::new());
    // Flags come if a dash is typed, or if there is nothing else.
    assert_eq!(completed(&world, &["show", ""]), ["042", "0421"]);
    assert!(completed(&world, &["show", "-"]).iter().any(|word| word == "--raw"));
    assert!(completed(&world, &["show", "042", "--po"]).iter().any(|word| word == "--pointer"));
    assert!(completed(&world, &["init", ""]).iter().any(|word| word == "--store"));
}

#[test]
fn without_a_store_there_is_nothing_to_complete_and_no_complaint() {
    let world = World::new();
    assert_eq!(completed(&world, &["show", "o"]), Vec::<String>::new());
}

#[test]
fn a_variable_that_happens_to_have_the_same_name_does_not_stop_a_save() {
    for value in ["1", "true", "bash", "/bin/bash"] {
        let world = World::new();
        let outcome = world.ckpt(&["save", "042"]).env("COMPLETE", value).run().succeeds();
        assert_eq!((outcome.stdout.as_str(), world.numbers("042").as_slice()), ("042/1\n", &[1][..]), "{value}");
    }
}

#[test]
fn values_come_from_the_workflow_that_is_named_and_from_the_settings() {
    let world = World::new();
    world.configure("[pipelines.mine]\nphases = [\"x\"]\n");
    world.run(&["save", "042", "--phases", "plan,build,test"]).succeeds();
    for args in [
        &["save", "042", "--phase"][..],
        &["run", "042", "--phase"],
        &["approve", "042", "--phase"],
        &["revise", "042", "--from"],
        &["save", "042", "--next-phase"],
    ] {
        assert_eq!(completed(&world, &[args, &["b"]].concat()), ["build"], "{args:?}");
    }
    assert_eq!(completed(&world, &["save", "new", "--phase", ""]), Vec::<String>::new());
    assert_eq!(completed(&world, &["save", "042", "--pipeline", "m"]), ["mine"]);
    assert_eq!(completed(&world, &["save", "042", "--pipeline", "kami"]), ["kamiflow"]);
    assert_eq!(completed(&world, &["save", "042", "--trigger", "sess"]), ["session_end"]);
    assert_eq!(completed(&world, &["export", "042", "--as", "dot"]), ["dotagent"]);
}

#[test]
fn a_store_that_is_named_on_the_line_is_the_one_that_is_asked() {
    let world = World::new();
    std::fs::create_dir(world.temp().join("else")).unwrap();
    let elsewhere = world.temp().join("else/.ckpt");
    let elsewhere = elsewhere.to_str().unwrap();
    world.run(&["save", "oauth", "--store", elsewhere]).succeeds();
    assert_eq!(completed(&world, &["--store", elsewhere, "show", "o"]), ["oauth"]);
    assert_eq!(completed(&world, &["show", &format!("--store={elsewhere}"), "o"]), ["oauth"]);
}

/// A project somebody else made: its names are commands.
fn hostile_project() -> World {
    let world = World::new();
    let command = "$(touch pwned)";
    world.configure(&format!(
        "[pipelines.'zz{command}']\nphases = ['a']\n\
         [pipelines.described]\nphases = [{{ id = 'solo', name = \"{command} `touch pwned`:%F{{red}} \\u001b]0;taken\\u0007\" }}]\n"
    ));
    for (id, phases) in [
        ("dollar", command),
        ("backquote", "`touch pwned`"),
        ("semicolon", "x;touch pwned;"),
        ("option", "--note=taken"),
        ("glob", "*"),
    ] {
        world.run(&["save", id, &format!("--phases={phases}")]).succeeds();
    }
    world.run(&["save", "safe", "--phases", "plan,build"]).succeeds();
    world.run(&["save", "described", "--pipeline", "described"]).succeeds();
    std::fs::create_dir(world.project().join("files")).unwrap();
    for name in [command, "a\u{b}$(touch pwned)", "--note=x", "*"] {
        world.write(&format!("files/{name}"), "");
    }
    world.write("notes/plain.md", "");
    world
}

const HOSTILE_LINES: [&str; 8] = [
    "save dollar --phase ",
    "save backquote --phase ",
    "save semicolon --phase ",
    "save option --phase ",
    "save glob --phase ",
    "save x --pipeline zz",
    "save x --artifact files/",
    "import files/",
];

#[test]
fn only_plain_words_are_offered() {
    let world = hostile_project();
    for line in HOSTILE_LINES {
        let words: Vec<&str> = line.split(' ').collect();
        let offered = completed(&world, &words);
        assert!(offered.iter().all(|word| word.starts_with("--") && !word.contains("note=")), "{line}: {offered:?}");
    }
    assert_eq!(completed(&world, &["import", "notes/"]), ["notes/plain.md"]);
}

/// The name of a shell, how to start it without the settings of the machine, and how to load the completions.
const SHELLS: [(&str, &[&str], &str); 3] = [
    ("bash", &["--noprofile", "--norc", "-i"], "source <(ckpt completions bash)"),
    ("zsh", &["-f", "-i"], "autoload -U compinit && compinit -u -D; source <(ckpt completions zsh)"),
    ("fish", &["--no-config", "--interactive"], "ckpt completions fish | source"),
];

/// Types lines into a real shell, with Tab where they have a tab, and returns what was on the screen.
fn type_into(shell: (&str, &[&str], &str), world: &World, lines: &[String]) -> Option<String> {
    let (name, args, setup) = shell;
    let Some(program) = find_program(name) else {
        skip(&format!("{name} is not installed"));
        return None;
    };
    let programs = std::path::Path::new(CKPT.as_str()).parent().unwrap().display().to_string();
    let mut command = Command::new(program);
    command.args(args).current_dir(world.project()).env("HOME", world.home()).env("TERM", "xterm");
    command.env("PATH", format!("{programs}:{}", std::env::var("PATH").unwrap())).env("LC_ALL", "C.UTF-8");
    let mut terminal = Terminal::spawn(&command);
    for (index, line) in [setup.to_owned()].iter().chain(lines).enumerate() {
        terminal.answer(&format!("{line}\n"));
        // The quotes keep the marker from being seen when it is typed.
        terminal.answer(&format!("echo line'-'{index}'-'done\n"));
        terminal.expect(&format!("line-{index}-done"), 1);
    }
    terminal.answer("exit\n");
    Some(terminal.exit().1)
}

#[test]
fn a_real_shell_completes_the_number_of_a_checkpoint() {
    for shell in SHELLS {
        let world = World::with_checkpoints(1);
        world.run(&["save", "solo", "--note", "found"]).succeeds();
        let lines = ["ckpt show so\t --pointer /note".to_owned(), "ckpt show solo/\t --pointer /seq > seq".to_owned()];
        let Some(screen) = type_into(shell, &world, &lines) else { continue };
        let seq = std::fs::read_to_string(world.project().join("seq")).unwrap_or_default();
        assert_eq!(seq.trim(), "1", "{}: {screen}", shell.0);
    }
}

#[test]
fn no_name_in_the_project_is_run_by_a_real_shell() {
    for shell in SHELLS {
        let world = hostile_project();
        let before = world.numbers("safe").len();
        let hostile = HOSTILE_LINES.iter().map(|line| format!("ckpt {line}\t\t"));
        let described = "ckpt save described --phase \t\t".to_owned();
        let lines: Vec<String> =
            hostile.chain([described, "ckpt save safe --phase pl\t--note tabbed".to_owned()]).collect();
        let Some(screen) = type_into(shell, &world, &lines) else { continue };
        assert!(!world.project().join("pwned").exists(), "{}: {screen}", shell.0);
        assert!(!screen.contains("\u{1b}]0;taken"), "{}: {screen}", shell.0);
        let saved = world.stored("safe", before as u64 + 1);
        assert_eq!(
            (saved["phase"].as_str(), saved["note"].as_str()),
            (Some("plan"), Some("tabbed")),
            "{}: {screen}",
            shell.0
        );
        assert_eq!(world.stored("described", 2)["phase"], "solo", "{}: {screen}", shell.0);
    }
}
