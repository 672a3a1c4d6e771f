//! `--task`: units of work inside a phase.

use serde_json::json;

use crate::support::project::World;

#[test]
fn a_task_has_a_status_an_output_and_what_it_waits_for() {
    let world = World::new();
    let tasks = ["--task", "lexer=done", "--task", "parser=running,output=out/p.json,after=lexer+scanner"];
    world.run(&[&["save", "042", "--phase", "build"][..], &tasks].concat()).succeeds();
    let now = "2026-01-30T14:30:00.000Z";
    assert_eq!(
        world.stored("042", 1)["tasks"],
        json!([
            {"id": "lexer", "phase": "build", "status": "complete", "attempts": 1, "completed_at": now},
            {"id": "parser", "phase": "build", "status": "running", "depends_on": ["lexer", "scanner"],
             "attempts": 1, "output": "out/p.json", "started_at": now},
        ])
    );
}

#[test]
fn every_status_of_a_task_is_understood() {
    for (typed, stored) in [
        ("pending", "pending"),
        ("running", "running"),
        ("in_progress", "running"),
        ("complete", "complete"),
        ("completed", "complete"),
        ("done", "complete"),
        ("failed", "failed"),
        ("skipped", "skipped"),
    ] {
        let world = World::new();
        world.run(&["save", "042", "--task", &format!("t={typed}")]).succeeds();
        assert_eq!(world.stored("042", 1)["tasks"][0]["status"], stored, "{typed}");
    }
}

#[test]
fn a_task_that_moves_keeps_what_is_known_about_it() {
    let world = World::new();
    world.run(&["save", "042", "--task", "t=running,output=o.json"]).succeeds();
    world.run(&["save", "042", "--task", "t=failed"]).succeeds();
    world.run(&["save", "042", "--task", "t=running"]).succeeds();
    world.run(&["save", "042", "--task", "t=complete"]).succeeds();
    let task = &world.stored("042", 4)["tasks"][0];
    assert_eq!((&task["output"], &task["attempts"]), (&json!("o.json"), &json!(2)));
    assert_eq!(task["completed_at"], "2026-01-30T14:33:00.000Z");
}

#[test]
fn what_is_no_task_is_refused_with_an_example() {
    let world = World::new();
    for given in ["t", "t=", "t=waiting", "=done", "t=done,output=", "t=done,color=red", "t=done,after=t", "a+b=done"] {
        let failure = world.refuses(&["save", "042", "--task", given], 2, "usage");
        assert!(failure["help"].to_string().contains("--task parser=complete"), "{given}: {failure}");
    }
}

#[test]
fn tasks_that_would_wait_for_each_other_are_refused() {
    let world = World::new();
    world.run(&["save", "042", "--task", "a=pending,after=b", "--task", "b=pending,after=c+d"]).succeeds();
    let failure = world.refuses(&["save", "042", "--task", "c=pending,after=a"], 2, "task_cycle");
    assert_eq!(failure["context"]["tasks"], json!(["b", "c", "a"]));
    assert_eq!(
        failure["help"][0],
        "`a` waits for `b`, which waits for `c`, which waits for `a`; leave one of them out"
    );
    // Two ways to one task are not a cycle, and neither is a task that is not there yet.
    world.run(&["save", "042", "--task", "c=pending,after=d", "--task", "a=pending,after=b+c"]).succeeds();
    let many: Vec<String> = (0..3000).map(|n| format!("t{n}=pending,after=t{}", n + 1)).collect();
    let args: Vec<&str> = many.iter().flat_map(|task| ["--task", task.as_str()]).collect();
    world.run(&[&["save", "043"][..], &args].concat()).succeeds();
    world.refuses(&["save", "043", "--task", "t3000=pending,after=t0"], 2, "task_cycle");
}

#[test]
fn a_phase_that_is_complete_before_its_tasks_is_warned_about() {
    let world = World::new();
    let begin = ["start", "042", "--phases", "a,b", "--phase", "a", "--task", "x=running", "--task", "y=complete"];
    world.run(&begin).succeeds();
    let outcome = world.copy().run(&["done", "042", "--phase", "a"]).succeeds();
    let warning = "phase a is complete, but not its tasks x; once they are: `ckpt save 042 --task x=complete`";
    assert!(outcome.stderr.contains(&format!("warning: {warning}\n")), "{outcome}");
    assert_eq!(world.copy().json(&["done", "042", "--phase", "a"])["warnings"], json!([warning]));
    let both = ["done", "042", "--phase", "a", "--task", "x=complete"];
    assert_eq!(world.copy().json(&both)["warnings"], json!([]));
    world.run(&["done", "042", "--phase", "a"]).succeeds();
    let warning =
        "all phases of 042 are complete, but not its tasks x; once they are: `ckpt save 042 --task x=complete`";
    assert_eq!(world.json(&["done", "042", "--phase", "b"])["warnings"], json!([warning]));
}

#[test]
fn the_last_phase_does_not_complete_a_workflow_with_open_tasks() {
    let world = World::new();
    world.run(&["start", "042", "--phases", "a", "--phase", "a", "--task", "x=running"]).succeeds();
    let answer = world.json(&["done", "042", "--phase", "a"]);
    assert_eq!((&answer["status"], &answer["remaining"]), (&json!("in_progress"), &json!([])));
    let outcome = world.run(&["resume", "042"]).exits(7);
    insta::assert_snapshot!(outcome, @"
    exit 7
    --- stdout
    042: all phases are done, tasks are left

      from       042/2, saved at 2026-01-30T14:31:00.000Z
      done       a
      next       Finish the open tasks
      confirm    all phases are done, but not the tasks x
                   ckpt save 042 --task x=complete
                   ckpt done 042

    Verdict: confirm
    --- stderr
    To continue anyway: ckpt resume 042 --yes
    --- end
    ");
    let resume = world.run(&["resume", "042", "--json"]).exits(7).document();
    assert_eq!((&resume["verdict"], &resume["findings"][0]["code"]), (&json!("confirm"), &json!("tasks_open")));
    for help in resume["findings"][0]["help"].as_array().unwrap() {
        let world = world.copy();
        let words: Vec<&str> = help.as_str().unwrap().split(' ').skip(1).collect();
        assert_eq!(world.json(&words)["status"], "complete", "{help}");
        world.run(&["resume", "042"]).exits(4);
    }
    world.run(&["resume", "042", "--yes"]).succeeds();
    assert!(world.run(&["brief"]).succeeds().stdout.contains("When done: ckpt done 042\n"));
}
