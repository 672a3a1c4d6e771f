//! Names, paths and directories that differ between platforms.

use std::collections::BTreeSet;
use std::fs;

use crate::project::Project;
#[cfg(unix)]
use crate::project::Run;

/// Names that Windows gives to devices, or changes.
const IMPOSSIBLE: &[&str] = &["CON", "nul", "Aux.txt", "com1", "LPT9", "dots.", "a:b", "a\\b", "a b"];

#[test]
fn names_that_windows_lacks_are_refused_everywhere_with_one_that_works() {
    let project = Project::new();
    for name in IMPOSSIBLE {
        let refused = project.fails(&["start", name, "--phases", "a", "--phase", "a"], 2);
        let nearest = refused.err.split("the nearest legal id is `").nth(1).and_then(|rest| rest.split('`').next());
        let nearest = nearest.unwrap_or_else(|| panic!("{}", refused.err));
        project.ok(&["start", nearest, "--phases", "a", "--phase", "a"]);
    }
}

#[test]
fn ids_that_differ_by_case_are_different_workflows() {
    let project = Project::new();
    for id in ["auth", "Auth", "AUTH", "aUtH"] {
        let saved = project.ok(&["start", id, "--phases", "a,b", "--phase", "a", "--note", id]);
        assert_eq!(saved.out, format!("{id}/1\n"));
    }
    for id in ["auth", "Auth", "AUTH", "aUtH"] {
        assert_eq!(project.json(&["show", id])["checkpoint"]["note"], id);
    }
    project.ok(&["archive", "AUTH", "--as", "abandoned"]);
    assert_eq!(project.json(&["list"])["workflows"].as_array().unwrap().len(), 3);
}

/// A store in version control can be checked out on a disk that ignores case, and on Windows.
#[test]
fn every_name_in_a_store_is_valid_on_windows() {
    let project = Project::new();
    project.ok(&["init"]);
    for id in ["auth", "Auth", "v1.2_rc-3", "console", "X"] {
        for _ in 0..2 {
            project.ok(&["start", id, "--phases", "a,b", "--phase", "a", "--key", "k:1", "--label", "x:y"]);
        }
        project.ok(&["archive", id, "--as", "failed"]);
    }
    project.ok(&["cleanup", "--keep-last", "1", "--yes"]);
    let paths = project.store_paths();
    assert!(paths.len() > 20, "{paths:?}");
    let mut folded = BTreeSet::new();
    for path in paths {
        let name = path.file_name().unwrap().to_str().unwrap();
        let legal = |c: char| c.is_ascii_alphanumeric() || "._-!".contains(c);
        let stem = name.split('.').next().unwrap().to_ascii_uppercase();
        assert!(name.chars().all(legal) && !name.ends_with('.'), "{name}");
        assert!(!["CON", "PRN", "AUX", "NUL"].contains(&stem.as_str()), "{name}");
        assert!(folded.insert(path.to_str().unwrap().to_ascii_lowercase()), "{}", path.display());
    }
}

#[test]
fn a_path_may_be_longer_than_windows_once_allowed() {
    let project = Project::new();
    let deep = (0..12).fold(project.root.clone(), |path, _| path.join("a-directory-with-a-long-name"));
    fs::create_dir_all(&deep).unwrap();
    assert!(deep.as_os_str().len() > 300);
    let store = deep.join(".ckpt");
    let store = store.to_str().unwrap();
    project.ok(&["--store", store, "start", "042", "--phases", "a,b", "--phase", "a"]);
    project.ok(&["--store", store, "start", "042", "--phase", "a"]);
    project.ok(&["--store", store, "cleanup", "--keep-last", "1", "--yes"]);
    project.ok(&["--store", store, "restore", "042"]);
    assert_eq!(project.json(&["--store", store, "show", "042"])["checkpoint"]["seq"], 2);
    project.ok(&["--store", store, "verify"]);
}

#[test]
fn a_store_is_found_from_below_and_not_beyond_a_ceiling() {
    let project = Project::new();
    project.ok(&["start", "042", "--phases", "a,b", "--phase", "a"]);
    let below = project.root.join("src").join("deep");
    fs::create_dir_all(&below).unwrap();
    let mut list = project.command(&["list", "--json"]);
    let found = list.current_dir(&below).output().unwrap();
    assert!(String::from_utf8_lossy(&found.stdout).contains("042/1"), "{found:?}");
    assert!(String::from_utf8_lossy(&found.stderr).is_empty(), "{found:?}");
    let mut list = project.command(&["show", "042"]);
    let stopped = list.current_dir(&below).env("CKPT_CEILING_DIRECTORIES", &project.root).output().unwrap();
    assert_eq!(stopped.status.code(), Some(4), "{stopped:?}");
}

#[test]
fn a_directory_that_cannot_be_written_is_named() {
    let project = Project::new();
    let forbidden = project.root.join("read-only");
    fs::create_dir(&forbidden).unwrap();
    let mut permissions = fs::metadata(&forbidden).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&forbidden, permissions).unwrap();
    // Neither root nor Windows is kept from writing by that: then something else is where the store would be.
    let store = if fs::write(forbidden.join("probe"), "").is_ok() {
        project.root.join("read-only").join("probe").join(".ckpt")
    } else {
        forbidden.join(".ckpt")
    };
    let args = ["--store", store.to_str().unwrap(), "start", "042", "--phases", "a", "--phase", "a"];
    let refused = project.fails(&args, 10);
    assert!(refused.err.contains("read-only"), "{}", refused.err);
}

/// As on macOS, where `/tmp` is a link to `/private/tmp`: the working directory is `/private/tmp/project`, and people type
/// `/tmp/project`.
#[cfg(unix)]
#[test]
fn a_path_through_a_link_is_the_same_path() {
    let project = Project::new();
    let real = project.root.join("private").join("tmp");
    let (work, sub) = (real.join("work"), real.join("work").join("sub"));
    fs::create_dir_all(&sub).unwrap();
    let link = project.root.join("tmp");
    std::os::unix::fs::symlink(&real, &link).unwrap();
    let typed = |path: &str| link.join("work").join(path).display().to_string();
    fs::write(work.join("plan.md"), "one").unwrap();
    let run = |args: &[&str], ceiling: &std::path::Path| {
        let mut command = project.command(args);
        let command = command.current_dir(link.join("work").join("sub")).env("CKPT_CEILING_DIRECTORIES", ceiling);
        Run::of(&command.output().unwrap())
    };
    let (store, plan) = (typed(".ckpt"), typed("plan.md"));
    let save = ["--store", &store, "done", "042", "--phases", "a,b", "--phase", "a", "--artifact", &plan];
    run(&save, &project.root).expect(&save, 0);
    let shown = run(&["show", "042", "--json"], &project.root).expect(&["show"], 0);
    let shown: serde_json::Value = serde_json::from_str(&shown.out).unwrap();
    assert_eq!(shown["checkpoint"]["artifacts"][0]["path"], "plan.md");
    // Below the ceiling, which is named through the link, there is no store.
    run(&["show", "042"], &link.join("work")).expect(&["show"], 4);
    let home = |home: &std::path::Path| {
        let mut command = project.command(&["show", "042"]);
        let command = command.current_dir(&sub).env_remove("CKPT_CEILING_DIRECTORIES").env("HOME", home);
        Run::of(&command.output().unwrap())
    };
    home(&link).expect(&["show"], 0);
    home(&link.join("work")).expect(&["show"], 4);
}
