//! What is understood without clap is what clap understands.

use std::ffi::OsString;
use std::fmt::Debug;

use clap::{Args, FromArgMatches};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestRunner;

use super::{list, resume, save, show, status};
use crate::cli::args::{GlobalArgs, Spec, flat};
use crate::cli::declare::Declared;
use crate::cli::quick;

/// Words that fit some arguments and not others, or that are odd.
const VALUES: [&str; 20] = [
    "042",
    "042/7",
    "plan",
    "a,b",
    "3",
    "+3",
    "-1",
    "0x3",
    "7d",
    "in_progress",
    "in-progress",
    "done",
    "Complete",
    "always",
    "{\"a\":1}",
    "a=b",
    "",
    "-",
    "--",
    "ü ",
];

/// What the quick reader and clap make of the words behind the name of a command.
fn both<A: Declared + Args + Debug>(spec: &Spec, words: &[String]) -> (Option<String>, Option<String>) {
    let words: Vec<OsString> = words.iter().map(OsString::from).collect();
    let shown = |global: GlobalArgs, args: A| format!("{global:?} {args:?}");
    let quick = quick::read::<A>(&words).map(|(global, args)| shown(global, *args.downcast().unwrap()));
    let clap = flat(spec).try_get_matches_from(&words).ok().map(|mut matches| {
        let global = GlobalArgs::from_arg_matches_mut(&mut matches).unwrap();
        shown(global, A::from_arg_matches_mut(&mut matches).unwrap())
    });
    (quick, clap)
}

/// One piece of a command line: a value, or an option of the command in one of its spellings.
fn piece(spec: &Spec) -> impl Strategy<Value = Vec<String>> {
    let options: Vec<(String, Option<char>)> = flat(spec)
        .get_arguments()
        .filter_map(|argument| Some((argument.get_long()?.to_owned(), argument.get_short())))
        .chain([("nonsense".to_owned(), Some('Q'))])
        .collect();
    (select(options), select(&VALUES[..]), 0..9).prop_map(|((long, short), value, spelling)| {
        let letter = short.unwrap_or('q');
        match spelling {
            0 => vec![value.to_owned()],
            1 => vec![format!("--{long}={value}")],
            2 => vec![format!("-{letter}")],
            3 => vec![format!("-{letter}{value}")],
            4 => vec![format!("--{}", &long[..long.len() - 1])],
            5 => vec![format!("--{}", long.replace('-', "_"))],
            6 => vec![format!("--{long}")],
            _ => vec![format!("--{long}"), value.to_owned()],
        }
    })
}

fn agrees<A: Declared + Args + Debug>(spec: &Spec) {
    let line = prop::collection::vec(piece(spec), 0..5).prop_map(|pieces| pieces.concat());
    let mut runner = TestRunner::new(ProptestConfig { cases: 2000, ..ProptestConfig::default() });
    let agreed = runner.run(&line, |words| {
        let (quick, clap) = both::<A>(spec, &words);
        prop_assert!(quick.is_none() || quick == clap, "{words:?}: {quick:?} instead of {clap:?}");
        Ok(())
    });
    agreed.unwrap();
}

#[test]
fn save_is_understood_as_clap_does() {
    agrees::<save::SaveArgs>(&save::SPEC);
}

#[test]
fn show_is_understood_as_clap_does() {
    agrees::<show::ShowArgs>(&show::SPEC);
}

#[test]
fn list_is_understood_as_clap_does() {
    agrees::<list::ListArgs>(&list::SPEC);
}

#[test]
fn resume_is_understood_as_clap_does() {
    agrees::<resume::ResumeArgs>(&resume::SPEC);
}

#[test]
fn status_is_understood_as_clap_does() {
    agrees::<status::StatusArgs>(&status::SPEC);
}

fn split(line: &str) -> Vec<String> {
    shlex::split(line).unwrap()
}

fn is_quick<A: Declared + Args + Debug>(spec: &Spec, line: &str) {
    let (quick, clap) = both::<A>(spec, &split(line));
    assert!(quick.is_some(), "clap had to look at `{line}`");
    assert_eq!(quick, clap, "{line}");
}

#[test]
fn ordinary_lines_need_no_clap() {
    is_quick::<save::SaveArgs>(&save::SPEC, "042 --phase build --status=in_progress");
    is_quick::<save::SaveArgs>(
        &save::SPEC,
        "042 --phase plan --phases plan,build --next 'Write the parser' -q",
    );
    is_quick::<save::SaveArgs>(
        &save::SPEC,
        "--data '{\"a\": 1}' --set a=1 --set b=2 --if-changed 042 --total 3",
    );
    is_quick::<show::ShowArgs>(&show::SPEC, "042");
    is_quick::<show::ShowArgs>(&show::SPEC, "042~1 --data --phase build --json --store /tmp/x");
    is_quick::<list::ListArgs>(&list::SPEC, "");
    is_quick::<list::ListArgs>(
        &list::SPEC,
        "--status in_progress --status done --newer-than 7d -n 5 --color never",
    );
    is_quick::<resume::ResumeArgs>(&resume::SPEC, "042 --context --yes");
    is_quick::<status::StatusArgs>(&status::SPEC, "042 -w");
}

#[test]
fn what_is_not_ordinary_is_left_to_clap() {
    for line in [
        "042 --help",
        "042 043",
        "042 --phase",
        "042 --phase a --phase b",
        "042 --phase a -qv",
        "042 --status done",
        "042 --phases a --total 3",
        "042 --phase a --status nonsense",
        "042 --pin=yes",
        "042 --data -",
        "042 --title ''",
        "042 --phas build",
        "042 --next_phase a",
        "-- 042",
    ] {
        let (quick, _) = both::<save::SaveArgs>(&save::SPEC, &split(line));
        assert_eq!(quick, None, "{line}");
    }
}
