//! The line for prompts: an agent that follows it completes the workflow.

use crate::support::project::World;
use ckpt::pages::Page;

/// The commands of the line, which stands in a quotation.
fn commands(page: &str) -> Vec<String> {
    let page = Page::load(page);
    let line = page.text.lines().find(|line| line.starts_with("> Run `ckpt brief`")).expect("the line");
    line.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn it_completes_a_workflow() {
    for page in ["README.md", "docs/guide/agents.md"] {
        let [brief, start, done] = &commands(page)[..] else { panic!("{page} has another line") };
        let world = World::new();
        assert_eq!(world.shell(brief).succeeds().stdout, "", "nothing is unfinished yet");
        world.shell(&start.replace("NAME", "login")).succeeds();
        for phase in ["plan", "build", "test"] {
            let briefed = world.shell(brief).succeeds().stdout;
            assert!(briefed.contains(&format!("phase {phase}")), "{briefed}");
            world.shell(&done.replace("NAME", "login").replace("PHASE", phase)).succeeds();
        }
        assert_eq!(world.json(&["status", "login"])["status"], "complete");
        assert_eq!(world.shell(brief).succeeds().stdout, "", "nothing is left");
    }
}
