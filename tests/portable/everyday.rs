//! Save, resume, list, show, cleanup, archive, restore, rollback, run, import, export, verify.

use std::fs;

use crate::project::{Project, program};

#[test]
fn a_workflow_from_the_first_save_to_the_last() {
    let project = Project::new();
    let saved = project.ok(&["done", "042", "--phases", "plan,build", "--phase", "plan", "--next", "Write it"]);
    assert_eq!(saved.out, "042/1\n");
    assert!(saved.err.contains("Created the store"), "{}", saved.err);
    project.ok(&["start", "042", "--phase", "build", "--state", r#"{"files": 3}"#]);

    let resume = project.json(&["resume", "042"]);
    assert_eq!((&resume["verdict"], &resume["phase"]), (&"ready".into(), &"build".into()));
    let list = project.json(&["list"]);
    assert_eq!(list["workflows"][0]["handle"], "042/2");
    let shown = project.json(&["show", "042"]);
    assert_eq!((&shown["checkpoint"]["state"]["files"], &shown["valid"]), (&3.into(), &true.into()));
    assert!(fs::metadata(shown["path"].as_str().unwrap()).unwrap().is_file());
    assert!(project.ok(&["status", "042"]).out.contains("build"));
    assert!(project.ok(&["brief"]).out.contains("042"));

    project.ok(&["done", "042", "--phase", "build"]);
    assert_eq!(project.json(&["list", "--all"])["workflows"][0]["status"], "complete");
    project.ok(&["verify"]);
}

#[test]
fn what_leaves_the_store_comes_back() {
    let project = Project::new();
    for note in ["one", "two", "three"] {
        let state = format!(r#"{{"step": "{note}"}}"#);
        project.ok(&["start", "042", "--phases", "a,b", "--phase", "a", "--note", note, "--state", &state]);
    }
    project.ok(&["cleanup", "--keep-last", "1", "--yes"]);
    let live = fs::metadata(project.root.join(".ckpt/workflows/042/00000001.json")).unwrap();
    assert_eq!(live.len(), 0, "a tombstone");
    assert_eq!(project.json(&["show", "042/1"])["checkpoint"]["note"], "one", "from the bundle");
    project.ok(&["restore", "042"]);
    assert_eq!(project.json(&["show", "042/2"])["in_bundle"], false);

    project.ok(&["rollback", "042/1"]);
    assert_eq!(project.json(&["show", "042/4"])["checkpoint"]["state"]["step"], "one");
    project.ok(&["archive", "042", "--as", "abandoned"]);
    assert!(project.json(&["list"])["workflows"].as_array().unwrap().is_empty());
    project.ok(&["restore", "042"]);
    project.ok(&["start", "042", "--phase", "b"]);
    project.ok(&["verify"]);
}

#[test]
fn settings_and_documents_may_have_the_line_ends_of_windows() {
    let project = Project::new();
    project.ok(&["init"]);
    project.write(".ckpt/config.toml", "[pipelines.web]\r\nphases = [\r\n  \"draft\",\r\n  \"ship\",\r\n]\r\n");
    let input = "{\r\n  \"phase\": \"draft\",\r\n  \"next\": \"Ship it\"\r\n}\r\n";
    let args = ["save", "042", "--pipeline", "web", "--from", "-"];
    project.run_with_input(&args, input).expect(&args, 0);
    let resume = project.json(&["resume", "042"]);
    assert_eq!((&resume["phase"], &resume["action"]), (&"ship".into(), &"Ship it".into()));
    project.write("old.json", "{\r\n  \"phase\": \"plan\",\r\n  \"status\": \"in_progress\"\r\n}\r\n");
    project.ok(&["import", "old.json", "--into", "7"]);
    assert_eq!(project.json(&["show", "7"])["checkpoint"]["workflow"], "7");
}

#[test]
fn files_are_recorded_with_the_same_path_everywhere() {
    let project = Project::new();
    project.write("sub/plan.md", "one\n");
    let native: String = ["sub", "plan.md"].iter().collect::<std::path::PathBuf>().display().to_string();
    project.ok(&["done", "042", "--phases", "a,b", "--phase", "a", "--artifact", &native]);
    assert_eq!(project.json(&["show", "042"])["checkpoint"]["artifacts"][0]["path"], "sub/plan.md");
    assert_eq!(project.json(&["resume", "042"])["verdict"], "ready");
    project.write("sub/plan.md", "two\n");
    assert!(project.ok(&["resume", "042"]).out.contains("sub/plan.md changed"));
    let outside = project.root.join("..").join("elsewhere.md");
    fs::write(&outside, "x").unwrap();
    let refused = project.run(&["done", "042", "--phase", "b", "--artifact", outside.to_str().unwrap()]);
    assert!(refused.code != 0 && refused.err.contains("outside the project"), "{}", refused.err);
}

#[test]
fn a_command_is_run_and_its_exit_code_is_passed_on() {
    let project = Project::new();
    let program = program();
    let program: Vec<&str> = program.iter().map(String::as_str).collect();
    let with = |args: &[&'static str], command: &[&'static str]| -> Vec<&str> {
        [args, &["--"], program.as_slice(), command].concat()
    };
    project.ok(&["start", "042", "--phases", "a,b", "--phase", "a"]);
    let run = project.ok(&with(&["run", "042", "--phase", "a"], &["--version"]));
    assert!(run.out.starts_with("ckpt ") && run.err.contains("phase a complete, exit code 0"), "{run:?}");
    project.fails(&with(&["run", "042", "--phase", "b"], &["show", "no-such-workflow"]), 4);
    assert_eq!(project.json(&["show", "042"])["checkpoint"]["phases"][1]["status"], "failed");
    let missing = project.run(&["run", "042", "--phase", "b", "--", "no-such-program"]);
    assert!(missing.code != 0 && missing.err.contains("cannot be run"), "{}", missing.err);
    project.ok(&["done", "042", "--phase", "b"]);
    project.ok(&["start", "043", "--phases", "a", "--phase", "a"]);
    let resumed = project.ok(&with(&["resume", "043"], &["save", "044", "--note", "resumed"]));
    assert!(resumed.out.contains("044/1"), "{resumed:?}");
}

#[test]
fn files_of_another_system_are_written_and_read() {
    let project = Project::new();
    project.ok(&["start", "042", "--pipeline", "kamiflow", "--phase", "0", "--title", "Login"]);
    project.ok(&["export", "042", "--as", "kamiflow", "--output", "out/"]);
    let exported = project.json(&["export", "042", "--as", "kamiflow", "--output", "out/"]);
    let path = exported["files"][0]["path"].as_str().unwrap();
    let text = fs::read_to_string(path).unwrap();
    assert!(text.contains("Login") || text.contains("042"), "{text}");
    project.ok(&["import", path, "--into", "043"]);
    assert_eq!(project.json(&["show", "043"])["checkpoint"]["workflow"], "043");
}

#[test]
fn a_damaged_file_is_found_moved_and_kept() {
    let project = Project::new();
    for _ in 0..2 {
        project.ok(&["start", "042", "--phases", "a,b", "--phase", "a"]);
    }
    let file = project.root.join(".ckpt/workflows/042/00000002.json");
    let text = fs::read_to_string(&file).unwrap();
    fs::remove_file(&file).unwrap();
    fs::write(&file, text.replace("in_progress", "complete")).unwrap();
    project.fails(&["show", "042/2"], 6);
    project.fails(&["verify"], 6);
    project.run(&["verify", "--repair"]);
    let quarantine = project.root.join(".ckpt/quarantine/042");
    assert_eq!(fs::read_dir(quarantine).unwrap().count(), 1);
    project.ok(&["start", "042", "--phase", "b"]);
}

#[test]
fn exit_codes_are_the_same_everywhere() {
    let project = Project::new();
    project.fails(&["list", "--no-such-flag"], 2);
    project.fails(&["show", "042"], 4);
    project.ok(&["start", "042", "--phases", "a,b", "--phase", "a"]);
    project.fails(&["show", "041"], 4);
    project.fails(&["save", "042", "--expect", "042/7", "--phase", "b"], 8);
    project.fails(&["restore", "042/1"], 9);
    project.write("file", "x");
    project.fails(&["--store", "file", "list"], 10);
}
