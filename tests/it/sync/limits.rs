//! Numbers of others that are far above: they do not decide on how much is written, read or kept in memory.

use std::fs;

use serde_json::json;

use crate::support::project::{World, sealed};
use ckpt::commands::{machine, shared};

const FAR: [u64; 2] = [1_000_000_000_000, u64::MAX];

/// A world with 042/1 and 042/2, which the remote has.
fn pushed() -> World {
    let (world, url) = shared();
    world.run(&["save", "042", "--set", "n=1"]).succeeds();
    world.run(&["save", "042", "--set", "n=2"]).succeeds();
    world.run(&["remote", "add", &url]).succeeds();
    world.run(&["push"]).succeeds();
    world
}

/// Puts an entry on the remote that continues 042/2 and has this number, on the main line or beside it.
fn plant(world: &World, seq: u64, is_side: bool) {
    let mut document = world.stored("042", 2);
    document["parent"] = json!({"seq": 2, "sha256": document["sha256"]});
    document["seq"] = json!(seq);
    document["save_id"] = json!("f".repeat(32));
    let bytes = sealed(document);
    let read: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
    let mark = if is_side { format!("@{}", &read["sha256"].as_str().unwrap()[..8]) } else { String::new() };
    let name = format!("{:020}-{seq}{mark}.json", u64::MAX - seq);
    fs::write(world.temp().join("shared/wf/042").join(name), bytes).unwrap();
}

#[test]
fn a_number_far_above_the_others_is_refused_and_nothing_is_lost() {
    for (far, is_side) in [(FAR[0], false), (FAR[1], false), (FAR[0], true), (FAR[1], true)] {
        let world = pushed();
        plant(&world, far, is_side);
        for args in [&["pull", "--json"][..], &["pull", "-n", "--json"], &["sync", "--json"]] {
            let refused = world.run(args).exits(3).document();
            assert_eq!(refused["workflows"][0]["error"]["code"], "too_many", "{args:?}: {refused}");
        }
        assert_eq!(world.numbers("042"), [1, 2]);
        world.run(&["save", "042", "--set", "n=3"]).succeeds();
        assert_eq!(world.stored("042", 3)["state"]["n"], 3);
        assert_eq!(world.json(&["verify"])["ok"], true);
    }
}

#[test]
fn a_push_fills_no_more_numbers_of_the_remote_than_of_a_store() {
    for far in FAR {
        let world = pushed();
        plant(&world, far, false);
        world.run(&["save", "042", "--set", "n=3"]).succeeds();
        fs::remove_dir_all(world.store().join("remote")).unwrap();
        let refused = world.run(&["push", "--json"]).exits(3).document();
        assert_eq!(refused["workflows"][0]["error"]["code"], "too_many", "{refused}");
    }
}

#[test]
fn a_join_with_a_number_far_above_is_refused_before_it_is_written() {
    for far in FAR {
        let world = pushed();
        let mut document = world.stored("042", 2);
        document["seq"] = json!(far);
        document["parent"] = json!({"seq": 1, "sha256": world.stored("042", 1)["sha256"]});
        document["save_id"] = json!("f".repeat(32));
        let bytes = sealed(document);
        let read: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        let sides = world.store().join("sides/042");
        fs::create_dir_all(&sides).unwrap();
        let digits = &read["sha256"].as_str().unwrap()[..8];
        fs::write(sides.join(format!("{far:08}@{digits}.json")), bytes).unwrap();
        world.refuses(&["merge", "042", "--theirs"], 9, "too_many");
        assert_eq!(world.numbers("042"), [1, 2]);
    }
}

#[test]
fn a_ledger_with_numbers_that_no_exchange_writes_is_not_used() {
    let world = pushed();
    let ledger = world.store().join("remote/042.json");
    let good: serde_json::Value = serde_json::from_slice(&fs::read(&ledger).unwrap()).unwrap();
    let digest = &good["top"][1];
    let bad = [
        json!({"main": 1_000_000_000_000_000_000_u64, "top": [1, digest]}),
        json!({"main": u64::MAX, "top": [u64::MAX, digest]}),
        json!({"main": u64::MAX, "top": null}),
        json!({"main": 1, "top": [u64::MAX, digest]}),
    ];
    for (place, bad) in bad.iter().enumerate() {
        for command in ["push", "pull"] {
            let mut document = good.clone();
            for (name, value) in bad.as_object().unwrap() {
                document[name] = value.clone();
            }
            fs::write(&ledger, document.to_string()).unwrap();
            world.run(&["save", "042", "--set", &format!("{command}={place}")]).succeeds();
            world.run(&[command]).succeeds();
        }
    }
    world.run(&["sync"]).succeeds();
    let b = machine(&world, "b", world.json(&["remote", "show"])["remote"].as_str().unwrap());
    b.run(&["pull"]).succeeds();
    assert_eq!(b.numbers("042"), world.numbers("042"));
}

#[test]
fn a_store_with_a_number_far_above_is_not_pushed() {
    let world = pushed();
    let mut document = world.stored("042", 2);
    document["seq"] = json!(FAR[0]);
    world.replace_checkpoint("042", FAR[0], &sealed(document));
    let archive = world.store().join("archive/042");
    fs::create_dir_all(&archive).unwrap();
    fs::write(archive.join(format!("00000003-{}.deleted", FAR[0] - 1)), "absent\n").unwrap();
    for args in [&["push", "--json"][..], &["sync", "--json"]] {
        let refused = world.run(args).exits(3).document();
        assert_eq!(refused["workflows"][0]["error"]["code"], "too_many", "{refused}");
    }
}
