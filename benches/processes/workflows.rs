//! How commands grow with the number of workflows in the store.

use std::fs;
use std::path::Path;

use crate::programs::Programs;
use crate::race::{Entrant, Race};
use crate::world::Project;
use crate::{Outcome, SAVE, report};

/// Ten times as many workflows may take eleven times as long for what must look at all of them.
const LOOKS_AT_ALL: f64 = 11.0;
/// Commands that need not look at them, which cost the same.
const LOOKS_AT_ONE: f64 = 1.1;

/// Measures in stores of 10, 10,000 and 100,000 workflows.
pub(crate) fn measure(programs: &Programs, data: &Path, rounds: usize, few: usize) -> Outcome {
    let store = |count: usize| Project::with_others(&data.join(format!("workflows-{count}")), &programs.ckpt, count);
    let (tiny, small, large) = (store(10)?, store(10_000)?, store(100_000)?);

    let save = |project| Entrant::new(&programs.ckpt, &SAVE, Project::path(project)).undo(|| project.remove_next());
    let race = Race::between(save(&large), save(&tiny), rounds)?;
    report("save, 100,000 workflows : 10", &race, Some(LOOKS_AT_ONE));
    let show = |project: &Project| Entrant::new(&programs.ckpt, &["show", "042"], project.path());
    let race = Race::between(show(&large), show(&tiny), rounds)?;
    report("show, 100,000 workflows : 10", &race, Some(LOOKS_AT_ONE));

    let commands: [(&str, &[&str]); 4] =
        [("list", &["list"]), ("brief", &["brief"]), ("stats", &["stats"]), ("cleanup -n", &["cleanup", "-n"])];
    for (name, args) in commands {
        let run = |project: &Project| Entrant::new(&programs.ckpt, args, project.path());
        let race = Race::between(run(&large), run(&small), few)?;
        report(&format!("{name}, 100,000 workflows : 10,000"), &race, Some(LOOKS_AT_ALL));
    }
    let unindexed = |project| without_index(Entrant::new(&programs.ckpt, &["list"], Project::path(project)), project);
    let race = Race::between(unindexed(&large), unindexed(&small), few)?;
    report("list without index, 100,000 : 10,000", &race, Some(LOOKS_AT_ALL));

    let floor = || Entrant::new(&programs.list, &[".ckpt/workflows"], small.path());
    let list = Entrant::new(&programs.ckpt, &["list"], small.path());
    report("list without index, 10,000 workflows", &Race::between(unindexed(&small), floor(), few)?, Some(1.7));
    report("list, 10,000 workflows", &Race::between(list, floor(), few)?, Some(0.5));
    Ok(())
}

/// Removes the index after each run.
fn without_index<'a>(list: Entrant<'a>, project: &'a Project) -> Entrant<'a> {
    list.undo(|| match fs::remove_file(project.path().join(".ckpt/index")) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    })
}
