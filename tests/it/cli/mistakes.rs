//! Plausible mistakes: each is answered with the command line that was meant, and that line works.

use crate::support::project::World;

/// Typed lines, and the line that the error offers.
type Mistake = (&'static str, &'static str);

/// Words of other programs in the place of a command.
#[rustfmt::skip]
const COMMANDS: &[Mistake] = &[
    ("ckpt create 042 --phase plan",              "ckpt save 042 --phase plan"),
    ("ckpt new 043 --phases a,b --phase a",       "ckpt save 043 --phases a,b --phase a"),
    ("ckpt checkpoint 042",                       "ckpt save 042"),
    ("ckpt checkpoint create 042 --phase plan",   "ckpt save 042 --phase plan"),
    ("ckpt checkpoint list",                      "ckpt list"),
    ("ckpt workflow show 042",                    "ckpt show 042"),
    ("ckpt workflows",                            "ckpt list"),
    ("ckpt checkpoints 042",                      "ckpt log 042"),
    ("ckpt add 042 --note 'half way'",            "ckpt save 042 --note 'half way'"),
    ("ckpt commit 042 -m 'half way'",             "ckpt save 042 --note 'half way'"),
    ("ckpt record 042 --phase build",             "ckpt save 042 --phase build"),
    ("ckpt snapshot 042",                         "ckpt save 042"),
    ("ckpt update 042 --step build",              "ckpt save 042 --phase build"),
    ("ckpt begin 042 --phase build",              "ckpt start 042 --phase build"),
    ("ckpt begin 042 build",                      "ckpt start 042 --phase build"),
    ("ckpt finish 042",                           "ckpt done 042"),
    ("ckpt finish 042 --phase build",             "ckpt done 042 --phase build"),
    ("ckpt complete 042 --phase build",           "ckpt done 042 --phase build"),
    ("ckpt complete 042 build",                   "ckpt done 042 --phase build"),
    ("ckpt close 042",                            "ckpt done 042"),
    ("ckpt failed 042 --phase build",             "ckpt fail 042 --phase build"),
    ("ckpt error 042 --phase build -m boom",      "ckpt fail 042 --phase build --error boom"),
    ("ckpt abandon 042",                          "ckpt save 042 --workflow-status abandoned"),
    ("ckpt load 042",                             "ckpt resume 042"),
    ("ckpt continue",                             "ckpt resume"),
    ("ckpt next",                                 "ckpt resume"),
    ("ckpt next 042",                             "ckpt resume 042"),
    ("ckpt context 042",                          "ckpt resume 042 --context"),
    ("ckpt progress 042",                         "ckpt status 042"),
    ("ckpt state 042",                            "ckpt status 042"),
    ("ckpt stat 042",                             "ckpt status 042"),
    ("ckpt summary",                              "ckpt brief"),
    ("ckpt get 042",                              "ckpt show 042"),
    ("ckpt get 042/1 --format json",              "ckpt show 042/1 --json"),
    ("ckpt cat 042",                              "ckpt show 042"),
    ("ckpt inspect 042/1",                        "ckpt show 042/1"),
    ("ckpt dump 042",                             "ckpt show 042 --raw"),
    ("ckpt history 042",                          "ckpt log 042"),
    ("ckpt history 042 --last 1",                 "ckpt log 042 --limit 1"),
    ("ckpt reflog 042 --max 2",                   "ckpt log 042 --limit 2"),
    ("ckpt todo",                                 "ckpt list --unfinished"),
    ("ckpt latest",                               "ckpt list -n 1"),
    ("ckpt compare 042/1 042/2",                  "ckpt diff 042/1 042/2"),
    ("ckpt exec 042 --phase build -- true",       "ckpt run 042 --phase build -- true"),
    ("ckpt accept 042 --phase build",             "ckpt approve 042 --phase build"),
    ("ckpt reopen 042 --phase plan",              "ckpt revise 042 --from plan"),
    ("ckpt redo 042 plan",                        "ckpt revise 042 --from plan"),
    ("ckpt undo 042",                             "ckpt rollback '042~1'"),
    ("ckpt revert 042",                           "ckpt rollback '042~1'"),
    ("ckpt reset 042/1",                          "ckpt rollback 042/1"),
    ("ckpt delete 042",                           "ckpt archive 042 --as abandoned"),
    ("ckpt rm 042",                               "ckpt archive 042 --as abandoned"),
    ("ckpt rm 042 --force",                       "ckpt archive 042 --as abandoned"),
    ("ckpt delete finished",                      "ckpt archive finished"),
    ("ckpt rm finished -f",                       "ckpt archive finished"),
    ("ckpt unarchive old",                        "ckpt restore old"),
    ("ckpt prune",                                "ckpt cleanup"),
    ("ckpt prune --older-than 7d",                "ckpt cleanup --max-age 7d"),
    ("ckpt prune --keep 3 --dry",                 "ckpt cleanup --keep-last 3 --dry-run"),
    ("ckpt gc",                                   "ckpt cleanup"),
    ("ckpt clean --days 7",                       "ckpt cleanup --max-age 7d"),
    ("ckpt forget --keep-last 3",                 "ckpt cleanup --keep-last 3"),
    ("ckpt check",                                "ckpt verify"),
    ("ckpt fsck --fix",                           "ckpt verify --repair"),
    ("ckpt metrics 042",                          "ckpt stats 042"),
    ("ckpt pipelines",                            "ckpt pipeline list"),
    ("ckpt completion bash",                      "ckpt completions bash"),
    ("ckpt version",                              "ckpt --version"),
    ("ckpt create --help",                        "ckpt save --help"),
    ("ckpt --color never history 042",            "ckpt --color never log 042"),
];

/// Words of other programs in the place of a flag.
#[rustfmt::skip]
const FLAGS: &[Mistake] = &[
    ("ckpt save 042 --message 'half way'",           "ckpt save 042 --note 'half way'"),
    ("ckpt save 042 -m=wip",                         "ckpt save 042 --note wip"),
    ("ckpt save 042 --message=wip",                  "ckpt save 042 --note wip"),
    ("ckpt save 042 --comment wip",                  "ckpt save 042 --note wip"),
    ("ckpt rollback 042/1 --reason 'wrong way'",     "ckpt rollback 042/1 --note 'wrong way'"),
    ("ckpt revise 042 --phase plan -m 'new rules'",  "ckpt revise 042 --from plan --reason 'new rules'"),
    ("ckpt save 042 --description 'OAuth login'",    "ckpt save 042 --title 'OAuth login'"),
    ("ckpt save 042 --name OAuth",                   "ckpt save 042 --title OAuth"),
    ("ckpt save --name 042",                         "ckpt save 042"),
    ("ckpt save --id 042 --phase build",             "ckpt save 042 --phase build"),
    ("ckpt save --workflow 042 --phase build",       "ckpt save 042 --phase build"),
    ("ckpt resume --id=042",                         "ckpt resume 042"),
    ("ckpt show --checkpoint 042/1",                 "ckpt show 042/1"),
    ("ckpt show 042 --checkpoint 1",                 "ckpt show 042/1"),
    ("ckpt show 042 --seq 1",                        "ckpt show 042/1"),
    ("ckpt rollback 042 --to 1",                     "ckpt rollback 042/1"),
    ("ckpt list --output json",                      "ckpt list --json"),
    ("ckpt list --output=json",                      "ckpt list --json"),
    ("ckpt show 042 --format json",                  "ckpt show 042 --json"),
    ("ckpt show 042 -o json",                        "ckpt show 042 --json"),
    ("ckpt list --format text",                      "ckpt list"),
    ("ckpt list --json=true",                        "ckpt list --json"),
    ("ckpt save 042 --next-step 'Write tests'",      "ckpt save 042 --next 'Write tests'"),
    ("ckpt done 042 --phase build --next-action x",  "ckpt done 042 --phase build --next x"),
    ("ckpt save 042 --step build --in-progress",     "ckpt save 042 --phase build --status in_progress"),
    ("ckpt save 042 --phase build --failed",         "ckpt save 042 --phase build --status failed"),
    ("ckpt save 044 --stages a,b,c --stage a",       "ckpt save 044 --phases a,b,c --phase a"),
    ("ckpt fail 042 --phase build --reason boom",    "ckpt fail 042 --phase build --error boom"),
    ("ckpt save 042 --artifacts docs/spec.md",       "ckpt save 042 --artifact docs/spec.md"),
    ("ckpt save 042 --file docs/spec.md",            "ckpt save 042 --artifact docs/spec.md"),
    ("ckpt save 042 --tag backend",                  "ckpt save 042 --label backend"),
    ("ckpt save 042 --data-file data.json",          "ckpt save 042 --data @data.json"),
    ("ckpt save 042 --metadata '{\"a\": 1}'",        "ckpt save 042 --state '{\"a\": 1}'"),
    ("ckpt cleanup --older-than 7d",                 "ckpt cleanup --max-age 7d"),
    ("ckpt cleanup --max-age 7",                     "ckpt cleanup --max-age 7d"),
    ("ckpt cleanup --older-than 30d --force",        "ckpt cleanup --max-age 30d --yes"),
    ("ckpt cleanup --id 042",                        "ckpt cleanup --workflow 042"),
    ("ckpt list --max-age 7d",                       "ckpt list --older-than 7d"),
    ("ckpt list --since 7d",                         "ckpt list --newer-than 7d"),
    ("ckpt list --last 5",                           "ckpt list --limit 5"),
    ("ckpt list --open",                             "ckpt list --unfinished"),
    ("ckpt resume 042 --confirm",                    "ckpt resume 042 --yes"),
    ("ckpt rollback 042/1 --yes",                    "ckpt rollback 042/1"),
    ("ckpt save 042 --force",                        "ckpt save 042"),
    ("ckpt export 042 --to kamiflow --dir out/",     "ckpt export 042 --as kamiflow --output out/"),
    ("ckpt import state.json --id 050",              "ckpt import state.json --into 050"),
    ("ckpt brief --limit 200",                       "ckpt brief --max-tokens 200"),
    ("ckpt list --silent",                           "ckpt list --quiet"),
    ("ckpt list --no-color",                         "ckpt list --color never"),
    ("ckpt cleanup --non-interactive",               "ckpt cleanup --no-input"),
    ("ckpt save 042 --next '- write it'",            "ckpt save 042 --next='- write it'"),
    ("ckpt save 042 --message '-1 to go'",           "ckpt save 042 --note='-1 to go'"),
];

/// Selectors, ids and values of other notations, and arguments in the wrong place.
#[rustfmt::skip]
const ARGUMENTS: &[Mistake] = &[
    ("ckpt show 042:1",                              "ckpt show 042/1"),
    ("ckpt show 042@1",                              "ckpt show 042/1"),
    ("ckpt show '042#1'",                            "ckpt show 042/1"),
    ("ckpt show 042/v1",                             "ckpt show 042/1"),
    ("ckpt show 042 1",                              "ckpt show 042/1"),
    ("ckpt show 042/latest",                         "ckpt show 042"),
    ("ckpt show 042@latest",                         "ckpt show 042"),
    ("ckpt show 042^",                               "ckpt show '042~1'"),
    ("ckpt show '042@{1}'",                          "ckpt show '042~1'"),
    ("ckpt show latest",                             "ckpt show 042"),
    ("ckpt resume latest",                           "ckpt resume 042"),
    ("ckpt show HEAD~1",                             "ckpt show '042~1'"),
    ("ckpt diff 042:1 042:2",                        "ckpt diff 042/1 042/2"),
    ("ckpt show .ckpt/workflows/042/00000001.json",  "ckpt show 042/1"),
    ("ckpt resume 042:1",                            "ckpt resume 042/1"),
    ("ckpt rollback 042:1",                          "ckpt rollback 042/1"),
    ("ckpt save 042/2 --note x",                     "ckpt save 042 --note x"),
    ("ckpt save 042:2 --note x",                     "ckpt save 042 --note x"),
    ("ckpt save '#042' --note x",                    "ckpt save 042 --note x"),
    ("ckpt save 042 build",                          "ckpt save 042 --phase build"),
    ("ckpt done 042 build",                          "ckpt done 042 --phase build"),
    ("ckpt approve 042 build",                       "ckpt approve 042 --phase build"),
    ("ckpt export 042 kamiflow",                     "ckpt export 042 --as kamiflow"),
    ("ckpt cleanup 042",                             "ckpt cleanup --workflow 042"),
    ("ckpt run 042 --phase build true",              "ckpt run 042 --phase build -- true"),
    ("ckpt run 042 --phase build sh -c 'exit 0'",    "ckpt run 042 --phase build -- sh -c 'exit 0'"),
    ("ckpt run 042 build -- true",                   "ckpt run 042 --phase build -- true"),
    ("ckpt resume 042 true",                         "ckpt resume 042 -- true"),
    ("ckpt save 042 --from '{\"note\": \"x\"}'",     "printf '%s' '{\"note\": \"x\"}' | ckpt save 042 --from -"),
    ("ckpt save 042 --phase build --status wip",     "ckpt save 042 --phase build --status in_progress"),
    ("ckpt save 042 --phase build --status ok",      "ckpt save 042 --phase build --status complete"),
    ("ckpt save 042 --phase build --status=fail",    "ckpt save 042 --phase build --status=failed"),
    ("ckpt save 042 --phase build --status skip",    "ckpt save 042 --phase build --status skipped"),
    ("ckpt list --color=true",                       "ckpt list --color=always"),
];

/// Words that are spelled almost right.
#[rustfmt::skip]
const SPELLINGS: &[Mistake] = &[
    ("ckpt lsit",                                 "ckpt list"),
    ("ckpt resmue 042",                           "ckpt resume 042"),
    ("ckpt sav 042",                              "ckpt save 042"),
    ("ckpt statsu 042",                           "ckpt status 042"),
    ("ckpt Show 042",                             "ckpt show 042"),
    ("ckpt clean-up",                             "ckpt cleanup"),
    ("ckpt rolback 042/1",                        "ckpt rollback 042/1"),
    ("ckpt save 042 --phse build",                "ckpt save 042 --phase build"),
    ("ckpt save 042 --phse=build --notes x",      "ckpt save 042 --phase=build --note x"),
    ("ckpt save 042 --next_phase test",           "ckpt save 042 --next-phase test"),
    ("ckpt list --status compelte",               "ckpt list --status complete"),
    ("ckpt lits --jsn",                           "ckpt list --json"),
];

/// Values that a shell would take apart.
#[rustfmt::skip]
const QUOTING: &[Mistake] = &[
    (r#"ckpt save 042 -m 'it'\''s "done" for $5'"#,  r#"ckpt save 042 --note 'it'\''s "done" for $5'"#),
    ("ckpt save 042 -m '`id` $(id) * ; |'",          "ckpt save 042 --note '`id` $(id) * ; |'"),
    ("ckpt save 042 -m ''",                          "ckpt save 042 --note ''"),
    ("ckpt save 042 -m \"$(printf 'a\\nb')\"",       "ckpt save 042 --note \"$(printf 'a\\nb')\""),
    ("ckpt run 042 --phase build sh -c 'echo \"$CKPT_PHASE\" > out'",
     "ckpt run 042 --phase build -- sh -c 'echo \"$CKPT_PHASE\" > out'"),
];

/// Lines that nothing fits: no guess is better than a wrong one.
const SILENT: &[&str] = &[
    "ckpt frobnicate",
    "ckpt deploy",
    "ckpt tag 042",
    "ckpt push",
    "ckpt delete",
    "ckpt undo",
    "ckpt create",
    "ckpt create --phase plan",
    "ckpt list --nonsense",
    "ckpt list --format yaml",
    "ckpt list -q -v",
    "ckpt save 042 --date 2026-01-01",
    "ckpt archive 042/1",
    "ckpt rm 042/1",
    "ckpt show",
    "ckpt show a/b",
    "ckpt start 042",
    "ckpt revise 042",
    "ckpt save 042 --phase plan --status green",
    "ckpt archive latest-thing",
];

/// A project with a workflow in its second phase, a finished one, an archived one, and some files.
fn world() -> World {
    let world = World::new();
    world.write("docs/spec.md", "spec");
    world.write("data.json", "{}");
    world.write(
        "state.json",
        r#"{"project": "shop", "phases": {"1": {"status": "completed"}, "2": {"status": "todo"}}}"#,
    );
    world.run(&["save", "old", "--phases", "a", "--phase", "a"]).succeeds();
    world.run(&["archive", "old"]).succeeds();
    world.run(&["save", "finished", "--phases", "a", "--phase", "a"]).succeeds();
    world.run(&["done", "042", "--phases", "plan,build,test", "--phase", "plan"]).succeeds();
    world.run(&["start", "042", "--phase", "build"]).succeeds();
    world
}

fn try_all(mistakes: &[Mistake]) {
    let world = world();
    let mut wrong = Vec::new();
    for (typed, meant) in mistakes {
        let outcome = world.shell(typed);
        let code = outcome.code();
        let offered = outcome.stderr.lines().nth(1).unwrap_or_default().trim_start_matches("  help: ").to_owned();
        if !matches!(code, 2 | 4) || offered != *meant {
            wrong.push(format!("{typed}\n  meant   {meant}\n  offered {offered}\n{outcome}"));
            continue;
        }
        let outcome = world.copy().shell(&offered);
        if outcome.code() != 0 {
            wrong.push(format!("{typed}\n  offered {offered}, which fails:\n{outcome}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_word_of_another_program_is_answered_with_our_command() {
    try_all(COMMANDS);
}

#[test]
fn a_flag_of_another_program_is_answered_with_our_flag() {
    try_all(FLAGS);
}

#[test]
fn an_argument_of_another_notation_is_answered_with_ours() {
    try_all(ARGUMENTS);
}

#[test]
fn a_misspelling_is_answered_with_the_right_spelling() {
    try_all(SPELLINGS);
}

#[test]
fn what_is_offered_is_quoted_for_a_shell() {
    try_all(QUOTING);
    let world = world();
    let (typed, meant) = QUOTING[0];
    world.shell(typed).exits(2);
    world.shell(meant).succeeds();
    assert_eq!(world.stored("042", 3)["note"], "it's \"done\" for $5");
}

#[test]
fn there_are_a_hundred_of_them() {
    let all = [COMMANDS, FLAGS, ARGUMENTS, SPELLINGS, QUOTING].concat();
    assert!(all.len() >= 100, "{}", all.len());
}

#[test]
fn where_nothing_fits_no_line_is_offered() {
    let world = world();
    for typed in SILENT {
        let outcome = world.shell(typed);
        assert!(matches!(outcome.code(), 2 | 4), "{typed}: {outcome}");
        assert!(!outcome.stderr.contains("help: ckpt "), "{typed}: {outcome}");
        assert!(outcome.stderr.contains("  help: "), "{typed}: {outcome}");
    }
}

#[test]
fn programs_get_the_line_too() {
    let world = world();
    let failure = world.run(&["create", "042", "--json"]).exits(2).failure();
    assert_eq!(failure["context"]["command"], "ckpt save 042 --json");
    assert_eq!(failure["help"][0], "ckpt save 042 --json");
    let failure = world.run(&["show", "latest", "--json"]).exits(4).failure();
    assert_eq!(failure["context"]["command"], "ckpt show 042 --json");
}

#[test]
fn the_environment_may_name_the_workflow() {
    let world = world();
    let outcome = world.ckpt(&["finish", "--phase", "build"]).env("CKPT_WORKFLOW", "042").run().exits(2);
    assert!(outcome.stderr.contains("help: ckpt done --phase build\n"), "{outcome}");
}
