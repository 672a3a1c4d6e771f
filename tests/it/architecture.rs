//! Which crate and which module may use which: read from the manifests and from the paths in the sources, without the
//! test modules.
//!
//! The crates depend on each other in one direction. The modules of the model form no cycle and do no input or output. Views
//! know nothing of commands. Code for one operating system is in `ckpt-platform` only.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The crates, each with the crates of the workspace that it may use.
const USES: &[(&str, &[&str])] = &[
    ("ckpt-agents", &["ckpt-model", "ckpt-platform", "ckpt-store"]),
    ("ckpt-formats", &["ckpt-model", "ckpt-platform", "ckpt-store"]),
    ("ckpt-model", &[]),
    ("ckpt-platform", &[]),
    ("ckpt-remote", &["ckpt-wire"]),
    ("ckpt-store", &["ckpt-model", "ckpt-platform"]),
    ("ckpt-sync", &["ckpt-model", "ckpt-platform", "ckpt-store", "ckpt-wire"]),
    ("ckpt-wire", &[]),
];

/// Modules that the model must not name: its input is its parameters.
const NOT_IN_THE_MODEL: &[&str] =
    &["std::env", "std::fs", "std::net", "std::process", "std::thread", "SystemTime::now", "Instant::now"];

/// Parts of `cli` that must not use others: the first column never names the second.
const FORBIDDEN: &[(&str, &str)] = &[
    ("cli/views", "cli/commands"),
    ("cli/views", "cli/args"),
    ("cli/error", "cli/commands"),
    ("cli/error", "cli/session"),
    ("cli/error", "cli/views"),
];

/// Forms that no lint reports, and the ones that are used instead.
const REPLACED: &[(&str, &str)] =
    &[(".filter(|_|", "`if`"), ("super::super::", "`crate::`"), ("mem::forget", "nothing")];

/// A path that a file names, such as `core::store::Disk`, with the module of that file.
struct Use {
    file: String,
    module: Vec<String>,
    path: Vec<String>,
}

#[test]
fn crates_depend_on_each_other_in_one_direction() {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        let directory = entry.unwrap().path();
        let manifest = fs::read_to_string(directory.join("Cargo.toml")).unwrap();
        let used = manifest.split_once("\n[dependencies]\n").map_or("", |(_, rest)| rest);
        let used = used.lines().take_while(|line| !line.starts_with('['));
        let ours =
            used.filter_map(|line| line.strip_suffix(".workspace = true")).filter(|name| name.starts_with("ckpt-"));
        let name = directory.file_name().unwrap().to_str().unwrap().to_owned();
        found.insert(name, ours.map(str::to_owned).collect::<Vec<_>>());
    }
    let expected: BTreeMap<String, Vec<String>> = USES
        .iter()
        .map(|(name, used)| ((*name).to_owned(), used.iter().map(|name| (*name).to_owned()).collect()))
        .collect();
    assert_eq!(found, expected, "the table in this test is out of date, or a crate uses one above it");
}

#[test]
fn the_modules_of_the_model_form_no_cycle() {
    let model = sources("ckpt-model");
    let home = homes(&model);
    let mut graph: Graph = BTreeMap::new();
    for Use { file, module, path } in &uses_in(&model) {
        let (Some(from), Some(name)) = (module.first(), path.first()) else { continue };
        let to = home.get(name).unwrap_or(name);
        if from != to {
            graph.entry(from.clone()).or_default().entry(to.clone()).or_insert_with(|| file.clone());
        }
    }
    assert!(graph.len() > 20, "the scanner does not find the modules: {:?}", graph.keys());
    if let Some(cycle) = shortest_cycle(&graph) {
        let steps: Vec<String> = cycle
            .iter()
            .zip(cycle.iter().cycle().skip(1))
            .map(|(from, to)| format!("  {from} uses {to} in {}", graph[from][to]))
            .collect();
        panic!("modules of the model depend on each other:\n{}", steps.join("\n"));
    }
}

#[test]
fn the_model_does_no_input_or_output() {
    for path in files_below(&sources("ckpt-model")) {
        let text = without_tests(&fs::read_to_string(&path).unwrap());
        for module in NOT_IN_THE_MODEL {
            assert!(!text.contains(module), "{} uses {module}", path.display());
        }
    }
}

#[test]
fn only_the_program_and_its_transports_start_processes() {
    for name in ["ckpt-agents", "ckpt-formats", "ckpt-model", "ckpt-platform", "ckpt-store"] {
        for path in files_below(&sources(name)) {
            let text = without_tests(&fs::read_to_string(&path).unwrap());
            assert!(!text.contains("Command::new"), "{}", path.display());
        }
    }
}

#[test]
fn parts_of_cli_keep_to_their_layer() {
    for Use { file, module, path } in uses_in(&root().join("src")) {
        let (from, to) = (module.join("/"), path.join("/"));
        for (lower, upper) in FORBIDDEN {
            let inside = |path: &str, part: &str| path == part || path.starts_with(&format!("{part}/"));
            assert!(!(inside(&from, lower) && inside(&to, upper)), "{file}: {lower} must not use {upper}");
        }
    }
}

#[test]
fn code_for_one_operating_system_is_in_platform() {
    let mut seen = 0;
    for path in all_files() {
        let relative = path.strip_prefix(root()).unwrap();
        for line in without_tests(&fs::read_to_string(&path).unwrap()).lines() {
            let bound = is_platform_bound(line);
            seen += usize::from(bound);
            // The allocator belongs to the program, not to a library.
            let allocator = relative == Path::new("src/main.rs") && line.contains("target_env = \"musl\"");
            let home = relative.starts_with("crates/ckpt-platform");
            assert!(!bound || home || allocator, "{}: {line}", relative.display());
        }
    }
    assert!(seen > 10, "the scanner finds nothing");
    for line in ["#[cfg(not(unix))]", "#[cfg(any(test, windows))]", "if cfg!(target_os = \"macos\") {"] {
        assert!(is_platform_bound(line), "{line}");
    }
    assert!(!is_platform_bound("#[cfg(feature = \"testing\")] // on windows"));
}

/// Returns true if a line selects code by platform, or names something that only one platform has.
fn is_platform_bound(line: &str) -> bool {
    let condition = line.split("cfg").nth(1).unwrap_or_default().split(']').next().unwrap_or_default();
    let words: Vec<&str> = condition.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    let conditional = words.iter().any(|word| matches!(*word, "unix" | "windows") || word.starts_with("target_"));
    let crates = ["std::os::", "rustix::", "signal_hook::", "winapi_util::"];
    conditional || crates.iter().any(|name| line.contains(name))
}

#[test]
fn code_has_the_forms_that_this_project_uses() {
    for path in all_files() {
        let text = fs::read_to_string(&path).unwrap();
        for (form, instead) in REPLACED {
            assert!(!text.contains(form), "{}: {instead} is used instead of `{form}`", path.display());
        }
    }
}

#[test]
fn paths_are_found_wherever_they_stand() {
    let text = "use super::a::{B, c::{self, D}};\nfn f() { crate::core::e::g() }\n// crate::core::no\n\
                #[cfg(test)]\nmod tests {\n    use crate::core::no;\n}\nuse crate::core::{H, i::J as K};\n";
    let module = ["core", "x", "y"].map(str::to_owned);
    let found: BTreeSet<String> = paths(&without_tests(text), &module).iter().map(|path| path.join("::")).collect();
    let expected = ["core::H", "core::e::g", "core::i::J", "core::x::a::B", "core::x::a::c", "core::x::a::c::D"];
    assert_eq!(found, expected.map(str::to_owned).into());
}

/// For each module the modules it uses, each with a file that does.
type Graph = BTreeMap<String, BTreeMap<String, String>>;

fn shortest_cycle(graph: &Graph) -> Option<Vec<String>> {
    let cycles = graph.keys().filter_map(|start| {
        // Breadth first, so that the first way back to the start is the shortest.
        let mut ways = vec![vec![start.clone()]];
        let mut seen = BTreeSet::new();
        let mut next = 0;
        while let Some(way) = ways.get(next).cloned() {
            next += 1;
            for to in way.last().and_then(|last| graph.get(last)).into_iter().flat_map(BTreeMap::keys) {
                if to == start {
                    return Some(way);
                }
                if seen.insert(to.clone()) {
                    ways.push([way.clone(), vec![to.clone()]].concat());
                }
            }
        }
        None
    });
    cycles.min_by_key(Vec::len)
}

/// The module in which each name that the root of a crate exports is at home.
fn homes(sources: &Path) -> BTreeMap<String, String> {
    let exports = fs::read_to_string(sources.join("lib.rs")).unwrap();
    let mut homes = BTreeMap::new();
    for line in exports.lines() {
        if let Some(tree) = line.strip_prefix("pub use ") {
            for path in tree_paths(tree.trim_end_matches(';'), &[]) {
                homes.insert(path.last().unwrap().clone(), path[0].clone());
            }
        }
    }
    assert!(!homes.is_empty());
    homes
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The sources of a crate.
fn sources(name: &str) -> PathBuf {
    root().join("crates").join(name).join("src")
}

/// Every source file of the workspace, without tests and the program for object stores.
fn all_files() -> Vec<PathBuf> {
    let mut files = files_below(&root().join("src"));
    for (name, _) in USES.iter().filter(|(name, _)| *name != "ckpt-remote") {
        files.extend(files_below(&sources(name)));
    }
    files
}

/// Every path that the files below `sources` name.
fn uses_in(sources: &Path) -> Vec<Use> {
    let mut found = Vec::new();
    for path in files_below(sources) {
        let relative = path.strip_prefix(sources).unwrap().with_extension("");
        let mut module: Vec<String> = relative.iter().map(|step| step.to_str().unwrap().to_owned()).collect();
        module.pop_if(|last| last == "mod" || last == "lib" || last == "main");
        let file = path.strip_prefix(root()).unwrap().display().to_string();
        for path in paths(&without_tests(&fs::read_to_string(&path).unwrap()), &module) {
            found.push(Use { file: file.clone(), module: module.clone(), path });
        }
    }
    found
}

/// The files below a directory, without test files.
fn files_below(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut directories = vec![directory.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap();
            if name == "tests" || name == "testing" {
                continue;
            }
            if path.is_dir() {
                directories.push(path);
            } else {
                files.push(path);
            }
        }
    }
    files
}

/// The text without comments and without items for tests. As rustfmt lays them out, such an item ends at the next brace
/// in the first column.
fn without_tests(text: &str) -> String {
    let mut kept = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.starts_with("#[cfg(test)]") || line.starts_with("#[cfg(any(test") {
            let end = |line: &&str| *line == "}" || line.ends_with(';') && !line.starts_with(' ');
            lines.by_ref().find(end);
        } else if !line.trim_start().starts_with("//") {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

/// The paths in `text` that begin with `crate` or `super`, from the root of the crate.
fn paths(text: &str, module: &[String]) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = [rest.find("crate::"), rest.find("super::")].into_iter().flatten().min() {
        let mut base: &[String] = if rest[at..].starts_with("crate::") { &[] } else { &module[..module.len() - 1] };
        let mut tail = &rest[at + "crate::".len()..];
        while let Some(further) = tail.strip_prefix("super::") {
            base = &base[..base.len() - 1];
            tail = further;
        }
        found.extend(tree_paths(tail, base));
        rest = tail;
    }
    found
}

/// The paths of a `use` tree or of an expression, such as `a::{B, c::D}`.
fn tree_paths(text: &str, base: &[String]) -> Vec<Vec<String>> {
    let word: String = text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    let tail = &text[word.len()..];
    if let Some(group) = text.strip_prefix('{') {
        return branches(group).into_iter().flat_map(|branch| tree_paths(branch.trim(), base)).collect();
    }
    let here = if word.is_empty() || word == "self" { base.to_vec() } else { [base, &[word]].concat() };
    match tail.strip_prefix("::") {
        Some(deeper) => tree_paths(deeper, &here),
        None => vec![here],
    }
}

/// The branches of a group, up to its closing brace.
fn branches(group: &str) -> Vec<&str> {
    let (mut depth, mut start, mut found) = (0, 0, Vec::new());
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            '}' => {
                found.push(&group[start..at]);
                break;
            }
            ',' if depth == 0 => {
                found.push(&group[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    found.retain(|branch| !branch.trim().is_empty());
    found
}
