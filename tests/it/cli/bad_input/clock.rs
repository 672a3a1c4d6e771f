//! Clocks that are wrong: order is by number, whatever they say.

use crate::support::project::World;

#[test]
fn order_is_by_number_whatever_the_clock_says() {
    let world = World::new();
    let times = ["2026-01-30T12:00:00Z", "1970-01-01T00:00:00Z", "2100-12-31T23:59:59Z", "2001-01-01T00:00:00+14:00"];
    for (seq, time) in (1..).zip(times) {
        let answer = world.ckpt(&["save", "042", "--phase", &seq.to_string()]).env("CKPT_NOW", time).json();
        assert_eq!(answer["seq"], seq, "{time}");
    }
    assert_eq!(world.json(&["show", "042"])["handle"], "042/4");
    assert_eq!(world.stored("042", 4)["saved_at"], "2000-12-31T10:00:00.000Z");
    let list = world.json(&["log", "042"]);
    let handles: Vec<_> =
        list["entries"].as_array().unwrap().iter().map(|row| row["handle"].as_str().unwrap()).collect();
    assert_eq!(handles, ["042/4", "042/3", "042/2", "042/1"]);
}

#[test]
fn a_checkpoint_from_the_future_can_be_listed_shown_and_continued() {
    let world = World::new();
    let future = |args: &[&str]| world.ckpt(args).env("CKPT_NOW", "2100-01-01T00:00:00Z").run().succeeds();
    future(&["save", "042", "--phase", "a", "--status", "in_progress"]);
    world.run(&["list"]).succeeds();
    assert_eq!(world.json(&["list", "--newer-than", "1d"])["total"], 1, "it is not old");
    world.run(&["save", "042", "--phase", "a"]).succeeds();
    let outcome = world.run(&["show", "042"]).succeeds();
    assert!(outcome.stdout.contains("a  done"), "a duration below zero is not shown: {outcome}");
}

/// The year of these has four digits where they were written, and five or a sign in UTC, in which they are kept.
#[test]
fn a_time_that_could_not_be_read_again_is_refused() {
    let world = World::with_checkpoints(1);
    for time in ["9999-12-31T23:59:59-01:00", "0000-01-01T00:00:00+01:00"] {
        let mut whole = world.stored("042", 1);
        whole["last_error"] = serde_json::json!({"message": "late", "phase": null, "at": time});
        let save = world.ckpt(&["save", "042", "--from", "-"]).stdin(whole.to_string());
        let failure = save.refused(2, "invalid_document");
        assert!(failure.to_string().contains(time), "{failure}");
    }
    world.run(&["save", "042"]).succeeds();
}
