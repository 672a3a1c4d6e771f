//! Words that readers stumble over, and the ones to use instead: in comments, strings, documents and descriptions.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// A phrase, and the usual way to say it. `*` stands for up to five words.
const DENIED: &[(&str, &str)] = &[
    ("behind", "after"),
    ("that of", "the noun again"),
    ("those of", "the noun again"),
    ("is no", "is not a"),
    ("are no", "are not"),
    ("was no", "was not a"),
    ("is said", "name who says it"),
    ("is not said", "is unknown"),
    ("whoever", "name the actor"),
    ("became of", "happened to"),
    ("become of", "happen to"),
    ("stands at", "is at"),
    ("stood at", "was at"),
    ("go on", "continue"),
    ("goes on", "continues"),
    ("going on", "in progress"),
    ("gone on", "continued"),
    ("went on", "continued"),
    ("mend", "fix"),
    ("mends", "fixes"),
    ("mended", "fixed"),
    ("all the same", "anyway"),
    ("take up", "reopen"),
    ("takes up", "reopens"),
    ("taken up", "reopened"),
    ("takes it up", "reopens it"),
    ("take it up", "reopen it"),
    ("give up", "abandon"),
    ("gives up", "abandons"),
    ("given up", "abandoned"),
    ("gave up", "abandoned"),
    ("in the way", "say what it blocks"),
    ("anew", "again"),
    ("inside of", "inside"),
    ("outside of", "outside"),
    ("that is there", "existing"),
    ("that are there", "existing"),
    ("at work", "working"),
    ("says it already", "no changes"),
    ("nothing is wrong", "no problems found"),
    ("all is well", "no problems found"),
];

/// Longer phrases in which a denied one has its ordinary sense.
const ALLOWED: &[&str] = &[
    "leave * behind",
    "leaves * behind",
    "leaving * behind",
    "left * behind",
    "behind a proxy",
    "there is no",
    "there are no",
    "there was no",
    "is no longer",
    "is no older",
    "is no more",
    "is no larger",
    "are no longer",
    "are no more",
    "was no longer",
];

/// The words that no doc comment begins with.
const NO_BEGINNING: &[&str] = &["what", "whether"];

/// Files that still have such words. This list only shrinks.
const STILL_TO_DO: &[&str] = &[
    "docs/reference/commands.md",
    "docs/reference/environment.md",
    "docs/systems/generic.md",
    "src/cli/args.rs",
    "src/cli/child.rs",
    "src/cli/commands/archive.rs",
    "src/cli/commands/doctor.rs",
    "src/cli/commands/fail.rs",
    "src/cli/commands/fork.rs",
    "src/cli/commands/hook.rs",
    "src/cli/commands/man.rs",
    "src/cli/commands/merge.rs",
    "src/cli/commands/pipeline.rs",
    "src/cli/commands/remote.rs",
    "src/cli/commands/report.rs",
    "src/cli/commands/restore.rs",
    "src/cli/commands/resume.rs",
    "src/cli/commands/revise.rs",
    "src/cli/commands/run.rs",
    "src/cli/commands/save.rs",
    "src/cli/commands/save_flags.rs",
    "src/cli/commands/verify.rs",
    "src/cli/complete.rs",
    "src/cli/env.rs",
    "src/cli/error/files.rs",
    "src/cli/error/save.rs",
    "src/cli/error/store.rs",
    "src/cli/error/sync.rs",
    "src/cli/escape.rs",
    "src/cli/hook/mod.rs",
    "src/cli/invoke.rs",
    "src/cli/lease.rs",
    "src/cli/screen.rs",
    "src/cli/session.rs",
    "src/cli/streams.rs",
    "src/cli/suggest.rs",
    "src/cli/synonyms.rs",
    "src/cli/testing.rs",
    "src/cli/views/brief.rs",
    "src/cli/views/cleanup/text.rs",
    "src/cli/views/doctor.rs",
    "src/cli/views/failed.rs",
    "src/cli/views/fork.rs",
    "src/cli/views/import.rs",
    "src/cli/views/init.rs",
    "src/cli/views/log.rs",
    "src/cli/views/log/graph.rs",
    "src/cli/views/log/related.rs",
    "src/cli/views/log/sentence.rs",
    "src/cli/views/resume.rs",
    "src/cli/views/save.rs",
    "src/cli/views/sync.rs",
    "src/cli/views/verify.rs",
    "crates/ckpt-model/src/builtin.rs",
    "crates/ckpt-store/src/capture.rs",
    "crates/ckpt-model/src/change/apply.rs",
    "crates/ckpt-model/src/change/error.rs",
    "crates/ckpt-model/src/change/input.rs",
    "crates/ckpt-model/src/change/mod.rs",
    "crates/ckpt-model/src/change/phases.rs",
    "crates/ckpt-model/src/change/plan.rs",
    "crates/ckpt-model/src/change/plan_memory.rs",
    "crates/ckpt-model/src/checkpoint.rs",
    "crates/ckpt-model/src/config.rs",
    "crates/ckpt-formats/src/dialects/bmad.rs",
    "crates/ckpt-formats/src/dialects/boulder.rs",
    "crates/ckpt-formats/src/dialects/checklist.rs",
    "crates/ckpt-formats/src/dialects/claude_dir/counter.rs",
    "crates/ckpt-formats/src/dialects/claude_dir/read.rs",
    "crates/ckpt-formats/src/dialects/claude_plan/mod.rs",
    "crates/ckpt-formats/src/dialects/claude_plan/write.rs",
    "crates/ckpt-formats/src/dialects/conductor.rs",
    "crates/ckpt-formats/src/dialects/crunch/phases.rs",
    "crates/ckpt-formats/src/dialects/crunch/read.rs",
    "crates/ckpt-formats/src/dialects/dialect.rs",
    "crates/ckpt-formats/src/dialects/document.rs",
    "crates/ckpt-formats/src/dialects/dotagent/mod.rs",
    "crates/ckpt-formats/src/dialects/dotagent/read.rs",
    "crates/ckpt-formats/src/dialects/dotagent/write.rs",
    "crates/ckpt-formats/src/dialects/draft.rs",
    "crates/ckpt-formats/src/dialects/format.rs",
    "crates/ckpt-formats/src/dialects/generic/decide.rs",
    "crates/ckpt-formats/src/dialects/gsd.rs",
    "crates/ckpt-formats/src/dialects/kamiflow/mod.rs",
    "crates/ckpt-formats/src/dialects/kamiflow/read.rs",
    "crates/ckpt-formats/src/dialects/markdown.rs",
    "crates/ckpt-formats/src/dialects/numbered_phases.rs",
    "crates/ckpt-formats/src/dialects/plausibility.rs",
    "crates/ckpt-formats/src/dialects/read_log.rs",
    "crates/ckpt-formats/src/dialects/replans.rs",
    "crates/ckpt-formats/src/dialects/task_master.rs",
    "crates/ckpt-formats/src/dialects/times.rs",
    "crates/ckpt-formats/src/dialects/worklist.rs",
    "crates/ckpt-formats/src/dialects/yaml_parse.rs",
    "crates/ckpt-model/src/digest.rs",
    "crates/ckpt-model/src/finding.rs",
    "crates/ckpt-model/src/format.rs",
    "crates/ckpt-formats/src/import/checkpoint_index.rs",
    "crates/ckpt-formats/src/import/collect.rs",
    "crates/ckpt-formats/src/import/importer.rs",
    "crates/ckpt-model/src/json.rs",
    "crates/ckpt-model/src/merge/derive.rs",
    "crates/ckpt-model/src/merge/mod.rs",
    "crates/ckpt-model/src/merge/order.rs",
    "crates/ckpt-model/src/next_phase.rs",
    "crates/ckpt-store/src/observe/gather.rs",
    "crates/ckpt-model/src/phase.rs",
    "crates/ckpt-model/src/progress.rs",
    "crates/ckpt-model/src/record.rs",
    "crates/ckpt-store/src/restore_artifacts.rs",
    "crates/ckpt-model/src/resume/checks.rs",
    "crates/ckpt-model/src/resume/facts.rs",
    "crates/ckpt-model/src/resume/tasks.rs",
    "crates/ckpt-model/src/run_summary.rs",
    "crates/ckpt-store/src/save.rs",
    "crates/ckpt-model/src/selector.rs",
    "crates/ckpt-model/src/session_note.rs",
    "crates/ckpt-store/src/adopt.rs",
    "crates/ckpt-store/src/archive.rs",
    "crates/ckpt-store/src/batches.rs",
    "crates/ckpt-store/src/bundle/line.rs",
    "crates/ckpt-store/src/bundle/manifest.rs",
    "crates/ckpt-store/src/bundle/read.rs",
    "crates/ckpt-store/src/bundle/read/tests.rs",
    "crates/ckpt-store/src/cleanup.rs",
    "crates/ckpt-store/src/deletion.rs",
    "crates/ckpt-store/src/disk.rs",
    "crates/ckpt-store/src/figures.rs",
    "crates/ckpt-store/src/head.rs",
    "crates/ckpt-store/src/heads.rs",
    "crates/ckpt-store/src/imported.rs",
    "crates/ckpt-store/src/index/block.rs",
    "crates/ckpt-store/src/index/file.rs",
    "crates/ckpt-store/src/index/mod.rs",
    "crates/ckpt-store/src/locate.rs",
    "crates/ckpt-store/src/lib.rs",
    "crates/ckpt-store/src/objects/mod.rs",
    "crates/ckpt-store/src/objects/references.rs",
    "crates/ckpt-store/src/objects/seen.rs",
    "crates/ckpt-store/src/objects/size.rs",
    "crates/ckpt-store/src/open.rs",
    "crates/ckpt-store/src/os_disk.rs",
    "crates/ckpt-store/src/pack.rs",
    "crates/ckpt-store/src/repair/mod.rs",
    "crates/ckpt-store/src/repair/workflow.rs",
    "crates/ckpt-store/src/restore.rs",
    "crates/ckpt-store/src/session_notes.rs",
    "crates/ckpt-store/src/sides.rs",
    "crates/ckpt-store/src/summaries.rs",
    "crates/ckpt-store/src/undo.rs",
    "crates/ckpt-store/src/verify/bundles.rs",
    "crates/ckpt-store/src/verify/directories.rs",
    "crates/ckpt-store/src/verify/objects.rs",
    "crates/ckpt-store/src/verify/relations.rs",
    "crates/ckpt-store/src/verify/workflow.rs",
    "crates/ckpt-store/src/workflow.rs",
    "crates/ckpt-model/src/text_diff.rs",
    "crates/ckpt-model/src/workflow_id.rs",
    "crates/ckpt-sync/src/claim.rs",
    "crates/ckpt-sync/src/janitor.rs",
    "crates/ckpt-sync/src/key.rs",
    "crates/ckpt-sync/src/plan.rs",
    "crates/ckpt-sync/src/probe.rs",
    "crates/ckpt-sync/src/remote.rs",
    "crates/ckpt-sync/src/retry.rs",
    "crates/ckpt-sync/src/settings.rs",
    "crates/ckpt-sync/src/transports/directory.rs",
    "crates/ckpt-sync/src/transports/git.rs",
    "crates/ckpt-sync/src/transports/git_process.rs",
    "crates/ckpt-sync/src/transports/helper.rs",
    "crates/ckpt-sync/src/transports/mod.rs",
    "crates/ckpt-sync/src/transports/url.rs",
    "tests/it/cli/abandon_idle.rs",
    "tests/it/cli/archive.rs",
    "tests/it/cli/bad_input/damage.rs",
    "tests/it/cli/cleanup.rs",
    "tests/it/cli/doctor.rs",
    "tests/it/cli/repair.rs",
    "tests/it/cli/save/fresh.rs",
    "tests/it/cli/save/lost_content.rs",
    "tests/it/cli/verify.rs",
    "tests/it/dialects/cases.rs",
    "tests/it/dialects/round_trips.rs",
    "tests/it/dialects/scoreboard.rs",
    "tests/it/dialects/writing.rs",
    "tests/it/hooks/leases.rs",
    "tests/it/import/command.rs",
    "tests/it/import/discover.rs",
    "tests/it/import/hostile.rs",
    "tests/it/import/like_a_save.rs",
    "tests/it/import/mutations.rs",
    "tests/it/sync/commands.rs",
    "tests/it/sync/forks.rs",
    "tests/it/sync/janitor.rs",
    "tests/it/sync/model.rs",
    "tests/it/sync/remote.rs",
];

/// The ends of the names of files that are read, and the files and directories that are.
const KINDS: &[&str] = &["rs", "md", "toml", "sh", "py", "mjs", "js", "css", "json", "run", "justfile"];
const PLACES: &[&str] = &[
    "src",
    "crates",
    "tests",
    "benches",
    "fuzz",
    "docs",
    "schemas",
    "examples",
    ".ci",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "README.md",
    "SECURITY.md",
    "Cargo.toml",
    "build.rs",
    "clippy.toml",
    "deny.toml",
    "justfile",
];

/// Directories whose files were written by others, or are made; and the lists of phrases in this file.
const NOT_READ: &[&str] =
    &["fixtures", "golden", "corpus", "node_modules", "target", "package.json", "package-lock.json", "words.rs"];

#[test]
fn texts_have_the_usual_words() {
    let found: Vec<(String, String)> = all_files().iter().flat_map(|file| problems_in(file)).collect();
    let files: BTreeSet<&str> = found.iter().map(|(file, _)| file.as_str()).collect();
    let list: BTreeSet<&str> = STILL_TO_DO.iter().copied().collect();
    let new: Vec<&str> =
        found.iter().filter(|(file, _)| !list.contains(file.as_str())).map(|(_, problem)| problem.as_str()).collect();
    assert!(new.is_empty(), "{} unusual phrases:\n{}", new.len(), new.join("\n"));
    let done: Vec<&str> = list.difference(&files).copied().collect();
    assert!(done.is_empty(), "remove these from STILL_TO_DO, they are done:\n{}", done.join("\n"));
}

#[test]
fn phrases_are_found_in_comments_strings_and_documents() {
    let phrases = |name: &str, text: &str| -> Vec<String> {
        problems(name, text).into_iter().map(|(line, phrase, _)| format!("{line} {phrase}")).collect()
    };
    let code = "/// A path is\n/// no id, `is no` is code.\nlet mend = \"it\\ngoes on\"; // there is no rest, left it behind\n\
                let c = '\"'; // behind\nlet r = r#\"is \"no\" behind\"#;\nlet name = \"behind\";\n\n/// What is here.\nfn f() {}\n";
    assert_eq!(phrases("a.rs", code), ["1 is no", "3 goes on", "4 behind", "5 behind", "8 What"]);
    let page = "The end. A file that\nis there and is no `thing`\n```console\nis no\n```\n";
    assert_eq!(phrases("a.md", page), ["1 that is there", "2 is no"]);
    assert_eq!(phrases("a.sh", "echo it goes on\n# It goes on.\n#!/bin/sh\n"), ["2 goes on"]);
    assert_eq!(phrases("a.json", "{\"behind\": {\"description\": \"Says that this is no id.\"}}"), ["1 is no"]);
}

/// Returns the problems of a file, each as a line of the failure.
fn problems_in(file: &str) -> Vec<(String, String)> {
    let text = fs::read_to_string(root().join(file)).unwrap();
    let found = problems(file, &text)
        .into_iter()
        .map(|(line, phrase, instead)| (file.to_owned(), format!("{file}:{line}: `{phrase}`: {instead}")));
    found.collect()
}

/// Returns the line, the phrase and the replacement of each problem.
fn problems(file: &str, text: &str) -> Vec<(usize, String, String)> {
    let mut found = Vec::new();
    for passage in passages(file, text) {
        let words = words(&passage);
        if let Some(first) = words.first().filter(|first| passage.is_doc && NO_BEGINNING.contains(&first.text.as_str()))
        {
            let instead = "a doc comment begins with a verb or a noun of the domain".to_owned();
            found.push((first.line, first.text.replacen('w', "W", 1), instead));
        }
        for at in 0..words.len() {
            for (phrase, instead) in DENIED {
                if length(&split(phrase), &words[at..]).is_some_and(|length| !is_allowed(&words, at, length)) {
                    found.push((words[at].line, (*phrase).to_owned(), format!("use: {instead}")));
                }
            }
        }
    }
    found.sort();
    found
}

/// Returns true if the words from `at` are a part of an allowed phrase.
fn is_allowed(words: &[Word], at: usize, denied: usize) -> bool {
    let starts = at.saturating_sub(6)..=at;
    starts.into_iter().any(|start| {
        ALLOWED
            .iter()
            .any(|allowed| length(&split(allowed), &words[start..]).is_some_and(|length| start + length >= at + denied))
    })
}

fn split(phrase: &str) -> Vec<&str> {
    phrase.split(' ').collect()
}

/// Returns the number of words from the start that are the phrase; none if they are not.
fn length(phrase: &[&str], words: &[Word]) -> Option<usize> {
    match phrase {
        [] => Some(0),
        ["*", rest @ ..] => (0..=5).find_map(|skipped| Some(skipped + length(rest, words.get(skipped..)?)?)),
        [first, rest @ ..] => {
            let (word, later) = words.split_first()?;
            (word.text == *first).then(|| length(rest, later))?.map(|length| length + 1)
        }
    }
}

/// A piece of prose.
struct Passage {
    line: usize,
    text: String,
    is_doc: bool,
}

/// A word in lower case, or one character of punctuation.
struct Word {
    line: usize,
    text: String,
}

/// Returns the words of a passage. Code in backquotes is one word.
fn words(passage: &Passage) -> Vec<Word> {
    let mut found = Vec::new();
    let mut line = passage.line;
    let mut rest = passage.text.as_str();
    while let Some(first) = rest.chars().next() {
        let is_letter = |c: char| c.is_alphanumeric() || matches!(c, '_' | '\'' | '-');
        let code = rest.strip_prefix('`').and_then(|code| code.find('`')).map(|end| end + 2);
        let code = code.filter(|end| !rest[..*end].contains('\n'));
        let end = code.unwrap_or_else(|| match rest.find(|c| !is_letter(c)) {
            Some(0) => first.len_utf8(),
            end => end.unwrap_or(rest.len()),
        });
        if !first.is_whitespace() {
            found.push(Word { line, text: rest[..end].to_lowercase() });
        }
        line += usize::from(first == '\n');
        rest = &rest[end..];
    }
    found
}

/// Returns the prose of a file: without code, and without what programs print.
fn passages(file: &str, text: &str) -> Vec<Passage> {
    let passage = |text| vec![Passage { line: 1, text, is_doc: false }];
    match file.rsplit('.').next().unwrap() {
        "rs" => of_rust(text),
        "md" => passage(without_consoles(text)),
        "json" => of_strings(text),
        "js" | "mjs" | "css" => passage(text.to_owned()),
        _ => passage(of_hashes(text)),
    }
}

/// Returns the comments and the strings of Rust. Comments on lines that follow each other are one passage.
fn of_rust(text: &str) -> Vec<Passage> {
    let mut found: Vec<Passage> = Vec::new();
    let (mut at, mut line) = (0, 1);
    let mut last_comment = None;
    while let Some(next) = text[at..].chars().next() {
        let rest = &text[at..];
        let mut end = next.len_utf8();
        if rest.starts_with("//") {
            end = rest.find('\n').unwrap_or(rest.len());
            let body = rest[..end].trim_start_matches(['/', '!']);
            if last_comment == Some(line - 1) {
                let passage = found.last_mut().unwrap();
                passage.text.push('\n');
                passage.text.push_str(body);
            } else {
                let is_doc = rest.starts_with("///") || rest.starts_with("//!");
                found.push(Passage { line, text: body.to_owned(), is_doc });
            }
            last_comment = Some(line);
        } else if let Some((body, length)) = string(rest) {
            // A single word is a name or a code.
            if body.trim().contains(char::is_whitespace) {
                found.push(Passage { line, text: body, is_doc: false });
                last_comment = None;
            }
            end = length;
        } else if let Some(length) = character(rest) {
            end = length;
        }
        line += rest[..end].matches('\n').count();
        at += end;
    }
    found
}

/// Returns the text of the string literal that `text` begins with, and its length in the source.
fn string(text: &str) -> Option<(String, usize)> {
    if let Some(raw) = text.strip_prefix('r') {
        let hashes = raw.len() - raw.trim_start_matches('#').len();
        let body = raw[hashes..].strip_prefix('"')?;
        let end = body.find(&format!("\"{}", "#".repeat(hashes)))?;
        return Some((body[..end].to_owned(), end + 3 + 2 * hashes));
    }
    let mut characters = text.strip_prefix('"')?.char_indices();
    let mut body = String::new();
    while let Some((at, c)) = characters.next() {
        match c {
            '"' => return Some((body, at + 2)),
            // A line that continues the literal keeps its number; any other escape is a gap.
            '\\' => body.push(if characters.next()?.1 == '\n' { '\n' } else { ' ' }),
            _ => body.push(c),
        }
    }
    None
}

/// Returns the length of the character literal that `text` begins with; none for a lifetime.
fn character(text: &str) -> Option<usize> {
    let body = text.strip_prefix('\'')?;
    let escaped = usize::from(body.starts_with('\\'));
    let first = body[escaped..].chars().next()?.len_utf8() + escaped;
    let end = if escaped == 1 { first + body[first..].find('\'')? } else { first };
    body[end..].starts_with('\'').then_some(end + 2)
}

/// The strings of a JSON document that are more than a name.
fn of_strings(text: &str) -> Vec<Passage> {
    let mut found = of_rust(&text.replace("//", "  "));
    found.retain(|passage| !passage.is_doc);
    found
}

/// The text without the blocks of code; their lines stay as empty ones.
fn without_consoles(text: &str) -> String {
    let mut is_prose = true;
    let lines = text.lines().map(|line| {
        let is_fence = line.trim_start().starts_with("```");
        is_prose ^= is_fence;
        if is_prose && !is_fence { line } else { "\n" }.trim_end_matches('\n')
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The comments that begin with `#`; other lines stay as empty ones.
fn of_hashes(text: &str) -> String {
    let lines = text.lines().map(|line| line.trim_start().strip_prefix('#').unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n")
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The paths of the files that are read, relative to the repository.
fn all_files() -> Vec<String> {
    let mut found = Vec::new();
    let mut next: Vec<String> = PLACES.iter().map(|&place| place.to_owned()).collect();
    while let Some(path) = next.pop() {
        let name = path.rsplit('/').next().unwrap();
        if NOT_READ.contains(&name) {
            continue;
        }
        if let Ok(entries) = fs::read_dir(root().join(&path)) {
            let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
            next.extend(names.map(|name| format!("{path}/{name}")));
        } else if KINDS.contains(&name.rsplit('.').next().unwrap()) {
            found.push(path);
        }
    }
    assert!(found.len() > 500, "the files are not found");
    found.sort();
    found
}
