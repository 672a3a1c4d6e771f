//! The examples are true: each is run in a copy of its directory and must print what it says.
//!
//! `UPDATE_EXAMPLES=1 cargo test examples` writes what they print now; read the difference before committing it.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::files::copy_tree;

/// What the reader sees instead of a temporary directory.
const PROJECT: &str = "/home/kim/project";

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples")
}

/// Runs `import.sh` of an example in a copy of it, and compares what it prints.
fn run(name: &str) {
    let directory = examples().join(name);
    let temp = tempfile::tempdir().unwrap();
    let project = temp.path().canonicalize().unwrap().join("project");
    std::fs::create_dir(&project).unwrap();
    copy_tree(&directory, &project);
    std::fs::remove_file(project.join("import.sh")).unwrap();
    let _ = std::fs::remove_file(project.join("import.txt"));
    let binary = Path::new(env!("CARGO_BIN_EXE_ckpt")).parent().unwrap();
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", binary.display());
    let output = Command::new("sh")
        .args(["-c", &format!("exec 2>&1; . {}", directory.join("import.sh").display())])
        .current_dir(&project)
        .env_clear()
        .envs([("PATH", path.as_str()), ("HOME", "/nonexistent"), ("USER", "kim"), ("LC_ALL", "C")])
        .env("CKPT_NOW", "2026-01-30T15:00:00Z")
        .output()
        .unwrap();
    let printed = String::from_utf8(output.stdout).unwrap().replace(&project.display().to_string(), PROJECT);
    assert!(output.status.success(), "{name}: {printed}");
    let shown = directory.join("import.txt");
    if std::env::var_os("UPDATE_EXAMPLES").is_some() {
        std::fs::write(&shown, &printed).unwrap();
    }
    assert_eq!(printed, std::fs::read_to_string(&shown).unwrap(), "{name}/import.txt");
    let verified =
        Command::new(env!("CARGO_BIN_EXE_ckpt")).arg("verify").current_dir(&project).output().unwrap();
    assert!(verified.status.success(), "{name}: {}", String::from_utf8_lossy(&verified.stdout));
}

macro_rules! examples {
    ($($test:ident => $name:literal,)*) => {
        $(
            #[test]
            fn $test() {
                run($name);
            }
        )*

        #[test]
        fn every_example_is_run_and_listed() {
            let run = [$( $name ),*];
            let readme = std::fs::read_to_string(examples().join("README.md")).unwrap();
            for entry in std::fs::read_dir(examples()).unwrap() {
                let entry = entry.unwrap();
                let name = entry.file_name().into_string().unwrap();
                if entry.file_type().unwrap().is_dir() {
                    assert!(run.contains(&name.as_str()), "{name} is not run");
                    assert!(readme.contains(&format!("`{name}`")), "{name} is not listed");
                }
            }
        }
    };
}

/// The quick start, from another directory and with a relative target directory, with a `cargo` that has built already.
#[test]
fn the_quick_start_runs_anywhere_and_asks_nothing() {
    let temp = tempfile::tempdir().unwrap();
    let [bin, elsewhere] = ["bin", "else where"].map(|name| temp.path().join(name));
    std::fs::create_dir_all(&bin).unwrap();
    std::fs::create_dir_all(elsewhere.join("out/release")).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_ckpt"), elsewhere.join("out/release/ckpt")).unwrap();
    let cargo = "#!/bin/sh\necho \"$PWD: cargo $*\" >&2\n\
        [ \"$1\" != metadata ] || echo \"{\\\"target_directory\\\":\\\"$CARGO_TARGET_DIR\\\",\\\"version\\\":1}\"\n";
    std::fs::write(bin.join("cargo"), cargo).unwrap();
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(bin.join("cargo"), executable).unwrap();
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", bin.display());
    let mut command = Command::new("sh");
    command.arg(examples().join("quick-start.sh")).current_dir(&elsewhere).env_clear();
    command.envs([("PATH", path.as_str()), ("HOME", "/nonexistent"), ("CARGO_TARGET_DIR", "out")]);
    // In use by something else.
    command.env("CKPT_STORE", elsewhere.join(".ckpt")).env("TMPDIR", temp.path()).env("TERM", "dumb");
    let (code, seen) = crate::support::terminal::Terminal::spawn(&command).exit();
    assert_eq!(code, 0, "{seen}");
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).display().to_string();
    assert!(seen.contains(&format!("{manifest}: cargo build --release\r\n")), "with progress: {seen}");
    for shown in ["resume at build", "042/3", "The store is "] {
        assert!(seen.contains(shown), "{shown}: {seen}");
    }
    assert!(!elsewhere.join(".ckpt").exists(), "{seen}");
}

examples! {
    a_kamiflow_project_is_adopted => "kamiflow",
    a_dotagent_project_is_adopted => "dotagent",
    a_claude_dir_project_is_adopted => "claude-dir",
    a_claude_plan_project_is_adopted => "claude-plan",
    a_crunch_project_is_adopted => "crunch",
    any_other_file_is_adopted => "generic",
}
