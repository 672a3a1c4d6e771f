//! Words that people and agents type, and what `ckpt` calls them.
//!
//! In each row, the replacement comes first and the words it stands for follow. `{}` in a replacement is the value that
//! follows the word. The rows are tried in order, and a replacement is offered only if the whole line is valid with it,
//! so a word may be in several rows. [`suggest`](super::suggest) does the replacing, after the line failed to parse.

/// A replacement, and the words it stands for, separated by spaces.
pub(super) type Row = (&'static str, &'static str);

/// Words in the place of a command.
#[rustfmt::skip]
pub(super) const COMMANDS: &[Row] = &[
    // A noun in front of the command, as in `ckpt checkpoint list`.
    ("",                                     "checkpoint checkpoints workflow workflows ckpt"),
    ("save",                                 "create new checkpoint add commit record snapshot store put write update set track"),
    ("start",                                "begin enter"),
    ("done",                                 "finish complete completed end close finalize"),
    ("fail",                                 "failed error"),
    ("save {} --workflow-status abandoned",  "abandon cancel"),
    ("resume",                               "load continue next where pickup"),
    ("resume {} --context",                  "context"),
    ("status",                               "stat progress state ps"),
    ("status {} --watch",                    "watch tail follow"),
    ("brief",                                "prompt summary handoff hook"),
    ("show",                                 "get cat view inspect describe info print read display"),
    ("show {} --raw",                        "dump"),
    ("log",                                  "history reflog changelog journal"),
    ("log {}",                               "checkpoints"),
    ("list",                                 "checkpoints workflows all"),
    ("list --unfinished",                    "todo wip pending unfinished open active"),
    ("list -n 1",                            "latest last newest"),
    ("diff",                                 "compare changes"),
    ("merge",                                "join reconcile combine"),
    ("run",                                  "exec"),
    ("approve",                              "accept"),
    ("revise",                               "reopen redo"),
    ("rollback {}~1",                        "undo revert back rewind reset"),
    ("rollback {}",                          "back rewind reset checkout goto"),
    ("archive {}",                           "delete rm remove del discard drop destroy"),
    ("archive {} --as abandoned",            "delete rm remove del discard drop destroy"),
    ("restore",                              "unarchive undelete"),
    ("cleanup",                              "prune gc clean purge expire tidy vacuum forget"),
    ("verify",                               "check fsck validate scrub"),
    ("verify {} --repair",                   "repair fix"),
    ("stats",                                "statistics metrics usage"),
    ("pipeline list",                        "pipelines templates"),
    ("schema --list",                        "schemas"),
    ("completions",                          "completion autocomplete"),
    ("man",                                  "manual docs"),
    ("--version",                            "version"),
];

/// Words in the place of a flag: the command, or any if empty, the replacement, and the words. `--format=json` stands
/// for `--format json` too, and `ID/{}` appends the value to the workflow.
#[rustfmt::skip]
pub(super) const FLAGS: &[(&str, &str, &str)] = &[
    ("",        "--json",                "--output=json --format=json -o=json -f=json --as-json -j"),
    ("",        "",                      "--output=text --format=text --output=plain --format=plain --output=table --format=table"),
    ("import",  "--into {}",             "--id --workflow --workflow-id --name"),
    ("cleanup", "--workflow {}",         "--id --workflow-id --name --only"),
    ("fail",    "--error {}",            "--message -m --msg --reason --text --why --note-error"),
    ("revise",  "--reason {}",           "--message -m --msg --comment --note --why --text"),
    ("revise",  "--from {}",             "--phase --step --stage --since --to"),
    ("",        "--title {}",            "--name --description --desc --subject --summary"),
    ("",        "{}",                    "--id -i --workflow --workflow-id --checkpoint --name"),
    ("",        "ID/{}",                 "--to --seq --number --revision --rev --version --checkpoint -n"),
    ("",        "--note {}",             "--message -m --msg --comment --remark --text --reason"),
    ("",        "--next {}",             "--next-step --next-steps --next-action --action --then --todo"),
    ("",        "--phase {}",            "--step --stage --current-phase"),
    ("",        "--phases {}",           "--steps --stages --plan"),
    ("",        "--total {}",            "--phase-count --total-phases"),
    ("",        "--status in_progress",  "--in-progress --started --running --wip"),
    ("",        "--status complete",     "--complete --completed --done --finished --success"),
    ("",        "--status failed",       "--failed --failure"),
    ("",        "--status skipped",      "--skip --skipped"),
    ("list",    "--unfinished",          "--open --active --incomplete --pending"),
    ("",        "--error {}",            "--err --error-message --failure-reason"),
    ("",        "--task {}=complete",    "--task-done --complete-task"),
    ("",        "--task {}=running",     "--task-started"),
    ("",        "--artifact {}",         "--artifacts --file --files --attach --output"),
    ("",        "--label {}",            "--tag --tags --labels -l -t"),
    ("",        "--data @{}",            "--data-file"),
    ("",        "--state @{}",           "--state-file"),
    ("",        "--state {}",            "--metadata --meta --vars"),
    ("save",    "--from -",              "--stdin"),
    ("save",    "--from {}",             "--input --document"),
    ("",        "--key {}",              "--idempotency-key"),
    ("",        "--if-changed",          "--skip-unchanged --only-changed"),
    ("",        "--max-age {}",          "--older-than --age --older --before --ttl --idle-for"),
    ("",        "--max-age {}d",         "--days --max-days"),
    ("",        "--older-than {}",       "--max-age --older --before"),
    ("",        "--newer-than {}",       "--since --after --newer"),
    ("",        "--idle-for {}",         "--older-than --max-age"),
    ("",        "--keep-last {}",        "--keep --keep-latest --retain"),
    ("",        "--dry-run",             "--dry --plan --preview --what-if --simulate"),
    ("",        "--limit {}",            "--max --count --last --head --top"),
    ("",        "--all",                 "--no-limit"),
    ("",        "--watch",               "--follow -f --live"),
    ("",        "--as {}",               "--dialect --to --system --format"),
    ("",        "--as-dialect {}",       "--as --dialect --format --type"),
    ("export",  "--output {}",           "--out --dir --path --to-file"),
    ("",        "--repair",              "--fix"),
    ("",        "--explain",             "--why --reasons"),
    ("",        "--context",             "--full --with-context"),
    ("",        "--max-tokens {}",       "--tokens --budget --limit"),
    ("",        "--store {}",            "--store-dir --store-path --dir --path --root -C -s"),
    ("",        "--quiet",               "--silent -s"),
    ("",        "--verbose",             "--debug -vv"),
    ("",        "--no-input",            "--non-interactive --no-interactive --batch --no-prompt"),
    ("",        "--color never",         "--no-color --no-colour --plain"),
    ("",        "--color {}",            "--colour"),
    // A confirmation, where one is asked for; elsewhere there is nothing to force.
    ("",        "--yes",                 "--force -f --confirm --assume-yes --no-confirm"),
    ("",        "",                      "--force -f --yes -y --confirm --assume-yes --no-confirm --atomic --sync"),
];

/// Words behind the arguments that a command takes: the commands, and what was meant.
#[rustfmt::skip]
pub(super) const POSITIONALS: &[Row] = &[
    // The program reads the rest of the line as the command to run.
    ("-- {}",          "run resume"),
    ("--phase {}",     "run save start done fail approve"),
    ("ID/{}",          "show rollback restore resume status export"),
    ("--from {}",      "revise"),
    ("--as {}",        "export"),
    ("--workflow {}",  "cleanup"),
    ("--status {}",    "list"),
];

/// Values, with the flag in front. The words for the status of a phase are those that `import` reads.
#[rustfmt::skip]
pub(super) const VALUES: &[Row] = &[
    ("--color always", "yes true on"),
    ("--color never",  "no false off none"),
];

/// Words that are one letter away from a command or a flag and mean something else.
pub(super) const UNRELATED: &str = "lost mail --date";

/// Words for the newest checkpoint or workflow, which a selector leaves out.
pub(super) const NEWEST: &str = "latest last newest head current tip";
