//! Colour: the flag, then `NO_COLOR`, then `CLICOLOR_FORCE`, then whether the stream is a terminal.

use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::process::Stdio;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::support::project::World;

/// Flags, variables, and whether there is colour.
type Case<'a> = (&'a [&'a str], &'a [(&'a str, &'a str)], bool);

const ESCAPE: char = '\u{1b}';

#[test]
fn off_a_terminal_the_flag_wins_over_the_environment() {
    let world = World::with_checkpoints(1);
    let cases: [Case<'_>; 10] = [
        (&[], &[], false),
        (&["--color", "auto"], &[], false),
        (&["--color", "always"], &[], true),
        (&["--color", "always"], &[("NO_COLOR", "1")], true),
        (&["--color", "never"], &[("CLICOLOR_FORCE", "1")], false),
        (&[], &[("CLICOLOR_FORCE", "1")], true),
        (&[], &[("CLICOLOR_FORCE", "0")], false),
        (&[], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], false),
        (&[], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "")], true),
        (&["--color", "auto"], &[("CLICOLOR_FORCE", "1")], true),
    ];
    for (flags, env, expected) in cases {
        for command in [&["list"][..], &["show", "nothing"]] {
            let call = world.ckpt(&[command, flags].concat());
            let outcome = env.iter().fold(call, |call, (name, value)| call.env(name, value)).run();
            let colored = (outcome.stdout + &outcome.stderr).contains(ESCAPE);
            assert_eq!(colored, expected, "{command:?} {flags:?} {env:?}");
        }
    }
}

#[test]
fn colour_adds_nothing_but_colour() {
    let world = World::with_checkpoints(1);
    let plain = world.run(&["list"]).succeeds().stdout;
    let painted = world.run(&["list", "--color", "always"]).succeeds().stdout;
    assert_eq!(without_colour(&painted), plain);
    assert_eq!(world.run(&["list", "--json", "--color", "always"]).stdout, world.run(&["list", "--json"]).stdout);
}

fn without_colour(text: &str) -> String {
    let mut parts = text.split(ESCAPE);
    let first = parts.next().unwrap_or_default().to_owned();
    first + &parts.map(|part| part.split_once('m').unwrap().1).collect::<String>()
}

/// Returns the output of a command to a terminal of 80 columns.
fn on_a_terminal(world: &World, args: &[&str], env: &[(&str, &str)]) -> String {
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let name = ptsname(&terminal, Vec::new()).unwrap();
    let device = std::fs::OpenOptions::new().read(true).write(true).open(name.to_str().unwrap()).unwrap();
    let call = env.iter().fold(world.ckpt(args), |call, (name, value)| call.env(name, value));
    let mut command = call.command();
    command.stdin(Stdio::from(OwnedFd::from(device.try_clone().unwrap())));
    command.stdout(Stdio::from(OwnedFd::from(device.try_clone().unwrap())));
    command.stderr(Stdio::from(OwnedFd::from(device)));
    let mut child = command.spawn().unwrap();
    drop(command);
    assert!(child.wait().unwrap().success());
    let (mut terminal, mut text) = (std::fs::File::from(terminal), Vec::new());
    // A terminal whose other end is closed answers with an error instead of an end.
    let _ = terminal.read_to_end(&mut text);
    String::from_utf8(text).unwrap()
}

#[test]
fn on_a_terminal_there_is_colour_unless_somebody_objects() {
    let world = World::with_checkpoints(1);
    let cases: [Case<'_>; 5] = [
        (&["list"], &[], true),
        (&["list", "--color", "never"], &[], false),
        (&["list"], &[("NO_COLOR", "1")], false),
        (&["list"], &[("TERM", "dumb")], false),
        (&["list"], &[("TERM", "dumb"), ("CLICOLOR_FORCE", "1")], true),
    ];
    for (args, env, expected) in cases {
        let text = on_a_terminal(&world, args, env);
        assert!(text.contains("042/1"), "{text}");
        assert_eq!(text.contains(ESCAPE), expected, "{args:?} {env:?}: {text}");
    }
}

#[test]
fn on_a_terminal_times_are_relative_and_elsewhere_absolute() {
    let world = World::with_checkpoints(1);
    let later = [("CKPT_NOW", "2026-01-30T14:42:00Z")];
    let text = on_a_terminal(&world, &["list"], &later);
    assert!(text.contains("12 minutes ago"), "{text}");
    assert!(world.run(&["list"]).succeeds().stdout.contains("2026-01-30T14:30:00.000Z"));
}

#[test]
fn text_is_cut_on_a_terminal_only() {
    let world = World::new();
    let title = "long ".repeat(60);
    world.run(&["save", "042", "--title", title.trim()]).succeeds();
    assert!(on_a_terminal(&world, &["list"], &[]).contains("..."));
    assert!(world.run(&["list"]).succeeds().stdout.contains(title.trim()));
}
