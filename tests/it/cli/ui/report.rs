//! `ckpt report`: one file that needs nothing else.

use crate::support::project::World;

#[test]
fn a_report_is_one_file_without_any_address_outside() {
    let world = World::new();
    for id in ["042", "043"] {
        world.run(&["save", id, "--phases", "plan,build", "--phase", "plan", "--title", "<b>login</b>"]).succeeds();
        world.run(&["save", id, "--phase", "build", "--set", "page=\"https://example.org/\""]).succeeds();
    }
    let report = world.json(&["report"]);
    assert_eq!(report["pages"], 4);
    let html = std::fs::read_to_string(report["path"].as_str().unwrap()).unwrap();
    assert!(html.contains("&lt;b&gt;login") && !html.contains("<b>login"), "escaped");
    for outside in ["src=", "@import", "url(", "<link rel=\"stylesheet\"", "http://"] {
        assert!(!html.contains(outside), "{outside}");
    }
    assert!(html.contains("Content-Security-Policy") && !html.contains("name=\"token\""));
    for part in ["workflows", "analytics", "workflow-042", "workflow-043"] {
        assert!(html.contains(&format!("id=\"{part}\"")), "{part}");
    }
    // It is not replaced by accident.
    world.run(&["save", "044"]).succeeds();
    world.refuses(&["report"], 9, "export_exists");
    world.run(&["report", "--force"]).succeeds();
}

#[test]
fn a_report_of_one_workflow_has_its_checkpoints_and_their_changes() {
    let world = World::with_checkpoints(3);
    world.run(&["save", "other"]).succeeds();
    let html = world.run(&["report", "042", "-o", "-"]).succeeds().stdout;
    for part in ["workflow-042", "checkpoint-042-1", "checkpoint-042-3", "diff-042-1-042-2"] {
        assert!(html.contains(&format!("id=\"{part}\"")), "{part}");
    }
    assert!(!html.contains("other"));
    world.run(&["archive", "042", "--as", "failed"]).succeeds();
    assert!(world.run(&["report", "042", "-o", "-"]).succeeds().stdout.contains("checkpoint-042-3"));
    world.refuses(&["report", "nothing"], 4, "no_such_workflow");
}
