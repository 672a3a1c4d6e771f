//! Several processes at once.

use std::collections::BTreeSet;
use std::process::Child;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::project::{Project, Run};

const SAVERS: usize = 6;
const SAVES: usize = 4;

/// The notes of all checkpoints of a workflow, whose numbers must be dense.
fn notes(project: &Project, workflow: &str) -> Vec<String> {
    let newest = project.json(&["show", workflow])["checkpoint"]["seq"].as_u64().unwrap();
    let note = |seq| {
        let shown = project.json(&["show", &format!("{workflow}/{seq}")]);
        assert_eq!(shown["valid"], true);
        shown["checkpoint"]["note"].as_str().unwrap_or_default().to_owned()
    };
    (1..=newest).map(note).collect()
}

#[test]
fn savers_lose_nothing_and_repeat_nothing() {
    let project = Project::new();
    std::thread::scope(|scope| {
        for saver in 0..SAVERS {
            let project = &project;
            scope.spawn(move || {
                for save in 0..SAVES {
                    let note = format!("{saver}-{save}");
                    project.ok(&["start", "042", "--phases", "a,b", "--phase", "a", "--note", &note]);
                }
            });
        }
    });
    let notes = notes(&project, "042");
    let expected: BTreeSet<String> =
        (0..SAVERS).flat_map(|saver| (0..SAVES).map(move |save| format!("{saver}-{save}"))).collect();
    assert_eq!(notes.len(), SAVERS * SAVES);
    assert_eq!(BTreeSet::from_iter(notes), expected);
    project.ok(&["verify"]);
}

#[test]
fn one_key_makes_one_checkpoint() {
    let project = Project::new();
    let args = ["start", "042", "--phases", "a,b", "--phase", "a", "--key", "deploy-17"];
    let savers: Vec<Child> = (0..SAVERS).map(|_| project.start(&args)).collect();
    for saver in savers {
        Run::of(&saver.wait_with_output().unwrap()).expect(&args, 0);
    }
    assert_eq!(project.json(&["list"])["workflows"][0]["handle"], "042/1");
}

#[test]
fn a_reader_always_finds_a_whole_checkpoint() {
    let project = Project::new();
    let save = |note: &str| project.ok(&["start", "042", "--phases", "a,b", "--phase", "a", "--note", note]);
    save("0");
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut last = 0;
            while !done.load(Ordering::SeqCst) {
                let shown = project.json(&["show", "042"]);
                assert_eq!(shown["valid"], true);
                let seq = shown["checkpoint"]["seq"].as_u64().unwrap();
                assert!(seq >= last, "{seq} after {last}");
                last = seq;
                project.ok(&["list"]);
            }
        });
        for note in 1..12 {
            save(&note.to_string());
            if note % 4 == 0 {
                project.ok(&["cleanup", "--keep-last", "2", "--yes"]);
            }
        }
        done.store(true, Ordering::SeqCst);
        reader.join().unwrap();
    });
    assert_eq!(notes(&project, "042"), (0..12).map(|note| note.to_string()).collect::<Vec<_>>());
}

#[test]
fn what_a_killed_saver_acknowledged_is_there() {
    let project = Project::new();
    project.ok(&["start", "042", "--phases", "a,b", "--phase", "a"]);
    for round in 0..6 {
        let mut savers: Vec<Child> = (0..3).map(|_| project.start(&["start", "042", "--phase", "a"])).collect();
        // The savers get a little further in each round.
        std::thread::sleep(std::time::Duration::from_millis(5 * round));
        let _ = savers[0].kill();
        for saver in savers {
            let ended = Run::of(&saver.wait_with_output().unwrap());
            if let Some(handle) = ended.out.lines().next() {
                assert_eq!(project.json(&["show", handle])["valid"], true);
            }
        }
    }
    project.ok(&["start", "042", "--phase", "b"]);
    notes(&project, "042");
    project.ok(&["verify"]);
}
