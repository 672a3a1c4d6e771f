//! `ckpt diff`

use serde_json::{Value, json};

use crate::support::project::World;

fn world() -> World {
    let world = World::new();
    world.write("s1.md", "one");
    let first = ["save", "042", "--phases", "plan,design,build", "--phase", "plan", "--label", "auth"];
    let rest = ["--state", r#"{"n": 1, "files": ["a"], "kept": null}"#, "--task", "t1=running"];
    world.run(&[&first[..], &rest].concat()).succeeds();
    let second = ["save", "042", "--phase", "design", "--data", r#"{"option": "B"}"#, "--artifact", "s1=s1.md"];
    let rest = ["--set", "n=2", "--set", "new=null", "--task", "t1=complete", "--task", "t2=pending"];
    let words = ["--label", "urgent", "--next", "Write \u{1b}[31mit", "--note", "said", "--title", "OAuth"];
    world.run(&[&second[..], &rest, &words].concat()).succeeds();
    world
}

#[test]
fn a_workflow_means_what_its_last_save_changed() {
    let outcome = world().run(&["diff", "042"]);
    insta::assert_snapshot!(outcome, @r#"
    exit 0
    --- stdout
    042/1 -> 042/2, 1m 00s later

      phase       plan -> design
      next        phase: design -> build
                  action: added Write \u{1b}[31mit
      title       added OAuth
      labels      urgent: added
      phases      design status: pending -> complete
                  design /data: added {"option":"B"}
      tasks       t1 status: running -> complete
                  t2: added pending, design
      artifacts   s1: added s1.md
      state       /n: 1 -> 2
                  /new: added null
    --- end
    "#);
}

#[test]
fn the_changes_turn_what_the_first_says_into_what_the_second_says() {
    let world = world();
    let answer = world.json(&["diff", "042/1", "042/2"]);
    let patch: json_patch::Patch = serde_json::from_value(answer["changes"].clone()).unwrap();
    let mut document = world.stored("042", 1);
    json_patch::patch(&mut document, &patch).unwrap();
    let said = |mut document: Value| {
        let about_itself = ["sha256", "seq", "saved_at", "trigger", "note", "writer", "save_id", "parent"];
        about_itself.iter().for_each(|name| drop(document.as_object_mut().unwrap().remove(*name)));
        document
    };
    assert_eq!(said(document), said(world.stored("042", 2)));
    let back = world.json(&["diff", "042/2", "042/1"]);
    assert_eq!((&back["from"], &back["elapsed_seconds"]), (&json!("042/2"), &json!(-60)));
}

#[test]
fn entries_go_by_their_names_and_values_are_told_from_nothing() {
    let answer = world().json(&["diff", "042"]);
    let said = |field: &str| -> Vec<Value> {
        let all = answer["summary"].as_array().unwrap().iter();
        let of = all.filter(|one| one["field"] == field);
        of.map(|one| json!([one["name"], one["pointer"], one["change"], one["before"], one["after"]])).collect()
    };
    assert_eq!(said("title"), [json!([null, "", "added", null, "OAuth"])]);
    assert_eq!(said("labels"), [json!(["urgent", "", "added", null, "urgent"])]);
    assert_eq!(said("state"), [json!([null, "/n", "changed", 1, 2]), json!([null, "/new", "added", null, null])]);
    assert_eq!(said("tasks")[0], json!(["t1", "/status", "changed", "running", "complete"]));
    let (tasks, new) = (said("tasks"), ["t2", "", "added"]);
    assert_eq!(tasks.last().unwrap().as_array().unwrap()[..3], new);
    assert_eq!(said("phases")[0], json!(["design", "/status", "changed", "pending", "complete"]));
    assert_eq!(said("note"), Vec::<Value>::new());
}

#[test]
fn a_checkpoint_alone_is_compared_with_the_newest() {
    let world = world();
    world.run(&["save", "042", "--phase", "build"]).succeeds();
    let answer = world.json(&["diff", "042/1"]);
    assert_eq!((&answer["from"], &answer["to"]), (&json!("042/1"), &json!("042/3")));
    let answer = world.json(&["diff", "42~2", "42~1"]);
    assert_eq!((&answer["from"], &answer["to"]), (&json!("042/1"), &json!("042/2")));
    let answer = world.json(&["diff", "042"]);
    assert_eq!((&answer["from"], &answer["to"]), (&json!("042/2"), &json!("042/3")));
}

#[test]
fn the_exit_code_tells_only_if_asked() {
    let world = world();
    assert_eq!(world.run(&["diff", "042", "-q"]).exits(0).stdout, "different\n");
    assert_eq!(world.run(&["diff", "042", "-q", "--exit-code"]).exits(1).stdout, "different\n");
    assert_eq!(world.run(&["diff", "042/2", "--exit-code", "-q"]).exits(0).stdout, "equal\n");
    // Saving again without a change is not a difference, whatever the writer and the note.
    world.ckpt(&["save", "042", "--note", "x", "--trigger", "session_end", "--pin"]).env("CLAUDECODE", "1").run();
    let same = world.run(&["diff", "042", "--exit-code"]).exits(0);
    assert_eq!(same.stdout, "042/2 -> 042/3, 4m 00s later\n\n  no difference\n");
}

#[test]
fn what_is_archived_or_sealed_can_be_compared() {
    let world = world();
    let live = world.json(&["diff", "042"]);
    world.run(&["archive", "042", "--as", "abandoned"]).succeeds();
    assert_eq!(world.json(&["diff", "042"]), live);
    world.run(&["save", "042", "--set", "n=3"]).succeeds();
    let above = world.json(&["diff", "042"]);
    assert_eq!((&above["from"], &above["to"]), (&json!("042/2"), &json!("042/4")));
    assert_eq!(above["summary"][0]["pointer"], "/n");
}

#[test]
fn workflows_can_be_compared_with_each_other() {
    let world = world();
    world.run(&["save", "043", "--phases", "plan,design,build", "--phase", "plan"]).succeeds();
    let answer = world.json(&["diff", "042/1", "043"]);
    assert_eq!((&answer["from"], &answer["to"]), (&json!("042/1"), &json!("043/1")));
    let fields: Vec<&Value> = answer["summary"].as_array().unwrap().iter().map(|one| &one["field"]).collect();
    assert_eq!(fields, ["labels", "phases", "tasks", "state", "state"]);
}

#[test]
fn entries_that_only_changed_places_are_a_difference() {
    let world = World::new();
    world.run(&["save", "042", "--phases", "a,b"]).succeeds();
    world.run(&["save", "042", "--phases", "b,a"]).succeeds();
    let answer = world.run(&["diff", "042", "--exit-code"]).exits(1);
    assert!(answer.stdout.contains(r#"phases      in another order: ["b","a"]"#), "{}", answer.stdout);
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let world = world();
    world.refuses(&["diff", "nothing"], 4, "no_such_workflow");
    world.refuses(&["diff", "042/1", "042/9"], 4, "no_such_checkpoint");
    world.run(&["save", "new"]).succeeds();
    world.refuses(&["diff", "new"], 4, "no_such_checkpoint");
    world.replace_checkpoint("042", 1, b"x");
    world.refuses(&["diff", "042"], 6, "damaged");
}

#[test]
fn long_values_are_shortened_unless_asked_for() {
    let world = World::with_checkpoints(1);
    world.run(&["save", "042", "--state", &json!({"long": "x".repeat(500)}).to_string()]).succeeds();
    assert!(world.run(&["diff", "042"]).stdout.contains("x... (502 characters)"));
    assert!(world.run(&["diff", "042", "-v"]).stdout.contains(&"x".repeat(500)));
}

#[test]
fn what_is_new_is_told_in_full_if_asked() {
    let world = World::with_checkpoints(1);
    let save = ["save", "042", "--phase", "b", "--data", r#"{"x":1}"#, "--task", "t=failed,output=f,after=u"];
    world.run(&[&save[..], &["--task", "t=failed,after=v,after=w"]].concat()).succeeds();
    let brief = world.run(&["diff", "042"]).stdout;
    assert!(brief.contains("b: added complete") && brief.contains("t: added failed, b"), "{brief}");
    let full = world.run(&["diff", "042", "-v"]).stdout;
    assert!(full.contains(r#""data":{"x":1}"#) && full.contains(r#""depends_on":["v","w"]"#), "{full}");
}

#[test]
fn checkpoints_of_two_workflows_and_of_bundles_are_compared() {
    let world = world();
    world.run(&["fork", "042/1", "--as", "redis"]).succeeds();
    world.run(&["archive", "042", "--as", "completed"]).succeeds();
    let answer = world.json(&["diff", "redis", "042/1"]);
    assert_eq!((&answer["from"], &answer["to"], &answer["equal"]), (&json!("redis/1"), &json!("042/1"), &json!(true)));
    assert_eq!(world.run(&["diff", "redis", "042", "--exit-code", "--quiet"]).code(), 1);
}
