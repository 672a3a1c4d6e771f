//! The tables of the reference list everything there is: exit codes, findings, variables.

use std::collections::BTreeSet;
use std::path::Path;

use ckpt_model::finding::Code;

use ckpt::pages::{Page, repository};

#[test]
fn every_exit_code_is_documented() {
    let page = Page::load("docs/reference/exit-codes.md");
    for exit in ckpt::cli::Exit::ALL {
        let row = format!("| {} | {} |", exit.code(), exit.name());
        assert!(page.text.contains(&row), "{row}");
    }
}

#[test]
fn every_finding_is_documented() {
    let page = Page::load("docs/reference/findings.md");
    let documented: BTreeSet<&str> = page.row_names().into_iter().collect();
    let codes: BTreeSet<&str> = Code::WORK.iter().chain(Code::STORE).map(|code| code.word()).collect();
    assert_eq!(documented, codes);
}

/// The names of environment variables in the source of the program: `CKPT_` and capitals.
fn variables_in(directory: &Path, names: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            variables_in(&path, names);
            continue;
        }
        let source = std::fs::read_to_string(&path).unwrap();
        for rest in source.split("CKPT_").skip(1) {
            let length = rest.find(|c: char| !c.is_ascii_uppercase() && c != '_').unwrap_or(rest.len());
            if length > 0 {
                names.insert(format!("CKPT_{}", &rest[..length]));
            }
        }
    }
}

#[test]
fn every_variable_is_documented() {
    let page = Page::load("docs/reference/environment.md");
    let mut variables = BTreeSet::new();
    variables_in(&repository().join("src"), &mut variables);
    assert!(variables.len() >= 8, "{variables:?}");
    let documented: BTreeSet<&str> = page.text.split('`').skip(1).step_by(2).collect();
    for variable in &variables {
        assert!(documented.contains(variable.as_str()), "{variable}");
    }
}
