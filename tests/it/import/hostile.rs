//! Files that mean harm, or only look like it.

use std::process::Command;

use serde_json::json;

use crate::support::project::{World, can_mount, is_root, skip};
use crate::support::strace::strace;
use ckpt::command::state;

#[test]
fn what_is_no_regular_file_is_refused_and_never_waited_for() {
    let world = World::new();
    let fifo = world.project().join("f.json");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    for path in ["f.json", "/dev/zero", "/dev/tty0"] {
        let outcome = world.run(&["import", path, "--json"]);
        assert_ne!(outcome.code(), 0, "{outcome}");
        assert_ne!(world.run(&["resume", "--file", path]).code(), 0);
    }
    world.write("dir/a.json", state("a", "2026-01-30T10:00:00Z"));
    assert!(Command::new("mkfifo").arg(world.project().join("dir/b.json")).status().unwrap().success());
    world.run(&["import", "dir"]).succeeds();
}

#[test]
fn a_file_beyond_the_limit_is_refused_at_once() {
    let world = World::new();
    let limit = usize::try_from(ckpt_formats::dialects::MAX_SOURCE_BYTES).unwrap();
    let mut large = state("large", "2026-01-30T10:00:00Z").into_bytes();
    large.resize(limit + 1, b' ');
    world.write("large.json", &large);
    let refused = world.run(&["import", "large.json"]);
    assert!(refused.code() != 0 && refused.stderr.contains("16"), "{refused}");
    assert_ne!(world.ckpt(&["import", "-"]).stdin(&large).run().code(), 0);
    large.truncate(limit);
    world.write("large.json", &large);
    world.run(&["import", "large.json"]).succeeds();
}

/// What is imported is kept in the state, one level below its top.
#[test]
fn a_file_is_as_deep_as_can_still_be_edited() {
    let world = World::new();
    let limit = ckpt_formats::dialects::MAX_SOURCE_DEPTH;
    for (name, levels) in [("flat.json", limit), ("deep.json", limit + 1), ("deeper.json", 127)] {
        let nested = format!("{}{}", "[".repeat(levels - 1), "]".repeat(levels - 1));
        let text = state("deep", "2026-01-30T10:00:00Z");
        world.write(name, text.replacen('{', &format!("{{\"x\": {nested}, "), 1));
    }
    let failure = world.refuses(&["import", "deep.json"], 9, "too_many");
    assert!(failure["message"].as_str().unwrap().contains("nested deeper than 99 levels"), "{failure}");
    world.refuses(&["import", "deeper.json"], 9, "too_many");
    world.run(&["import", "flat.json"]).succeeds();
    world.run(&["show", "deep", "--state"]).succeeds();
    world.run(&["save", "deep", "--set", "edited=true"]).succeeds();

    world.write("flat.yaml", format!("id: y\nphase: a\nx: {}{}\n", "[".repeat(98), "]".repeat(98)));
    world.write("deep.yaml", format!("id: y\nphase: a\nx: {}{}\n", "[".repeat(99), "]".repeat(99)));
    let failure = world.refuses(&["import", "deep.yaml"], 6, "damaged");
    assert!(failure["message"].as_str().unwrap().contains("nested deeper than 99 levels"), "{failure}");
    world.run(&["import", "flat.yaml"]).succeeds();
    world.run(&["save", "y", "--set", "edited=true"]).succeeds();
}

#[test]
fn a_file_that_may_not_be_read_is_named() {
    let world = World::new();
    let path = world.write("s.json", state("s", "2026-01-30T10:00:00Z"));
    std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o000)).unwrap();
    // Root reads everything, unless it gives that power up.
    let powerless = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"];
    let import = world.ckpt(&["import", "s.json"]);
    let refused = match is_root() {
        true if Command::new("setpriv").arg("--version").output().is_err() => {
            return skip("there is no setpriv, and root reads everything");
        }
        true => import.under(&powerless).run(),
        false => import.run(),
    };
    assert!(refused.code() != 0 && refused.stderr.contains("`s.json`"), "{refused}");
}

#[test]
fn a_byte_order_mark_is_no_damage_and_invalid_text_is() {
    let world = World::new();
    world.write("bom.json", [b"\xef\xbb\xbf", state("bom", "2026-01-30T10:00:00Z").as_bytes()].concat());
    world.run(&["import", "bom.json"]).succeeds();
    world.write("bad.json", b"{\"id\": \"\xc3\x28\"}");
    let refused = world.run(&["import", "bad.json"]).exits(6);
    assert!(refused.stderr.contains("not valid UTF-8 at line 1 column 9"), "{refused}");
}

#[test]
fn yaml_is_data_and_nothing_else() {
    let world = World::new();
    for (name, text, why) in [
        ("tag.yaml", "id: x\nphase: !!python/object/apply:os.system [id]\n", "tags are not accepted; line 2"),
        ("anchor.yaml", "a: &a [x]\nb: [*a, *a]\n", "anchors are not accepted; line 1"),
        ("alias.yaml", "b: *a\n", "line 1"),
        ("private.yaml", "id: x\n$serde_json::private::Number: x\n", "reserved; line 2"),
    ] {
        world.write(name, text);
        let failure = world.refuses(&["import", name], 6, "damaged");
        let message = failure["message"].as_str().unwrap();
        for part in why.split("; ") {
            assert!(message.contains(part), "{message}");
        }
        assert!(message.contains("column"), "{message}");
    }
    let bomb: String = (1..40).map(|n| format!("a{n}: &a{n} [*a{0}, *a{0}]\n", n - 1)).collect();
    world.write("bomb.yaml", bomb);
    world.run(&["import", "bomb.yaml"]).exits(6);
    assert!(!world.store().exists());
}

#[test]
fn shell_text_is_kept_and_never_run() {
    let world = World::new();
    let trap = world.project().join("trap");
    let text = format!(
        "RUN_ID=night\nSTEP_1_STATUS=done\nSTEP_2_STATUS=pending\nX=\"$(touch {0})\"\nY=`touch {0}`\n",
        trap.display()
    );
    world.write("s.checkpoint", text);
    world.run(&["import", "s.checkpoint"]).succeeds();
    assert!(!trap.exists());
    let kept = world.stored("night", 1)["state"]["generic"]["X"].clone();
    assert_eq!(kept, format!("$(touch {})", trap.display()));
}

#[test]
fn secrets_are_taken_out_and_their_places_told() {
    let world = World::new();
    let secret = format!("ghp_{}", "a1B2".repeat(9));
    let document = json!({
        "workflow_id": "s", "completed_phases": ["a"], "next_phase": "b", "timestamp": "2026-01-30T10:00:00Z",
        "auth": {"token": secret}, "next_action": format!("curl -H 'Authorization: {secret}'"),
    });
    world.write("s.json", document.to_string());
    let imported = world.json(&["import", "s.json"]);
    let places: Vec<_> =
        imported["redactions"].as_array().unwrap().iter().map(|r| r["pointer"].as_str().unwrap()).collect();
    assert_eq!(places, ["/auth/token", "/next_action"]);
    let text = std::fs::read_to_string(world.checkpoint_file("s", 1)).unwrap();
    assert!(!text.contains(&secret));
    assert!(!world.run(&["resume", "--file", "s.json", "--json"]).stdout.contains(&secret));
    world.run(&["import", "s.json", "--into", "open", "--allow-secrets"]).succeeds();
    assert!(std::fs::read_to_string(world.checkpoint_file("open", 1)).unwrap().contains(&secret));
}

#[test]
fn escapes_and_control_characters_are_shown_as_text() {
    let world = World::new();
    let evil = "\u{1b}]52;c;AAAA\u{7}\u{202e}\r\n";
    let document = json!({
        "workflow_id": format!("x{evil}y"), "title": evil, "timestamp": "2026-01-30T10:00:00Z",
        "phases": [{"id": format!("p{evil}"), "status": format!("odd{evil}")}, {"id": "b", "status": "pending"}],
        "current_phase": format!("p{evil}"), "next_action": evil, "artifacts": [format!("a/{evil}b.md")],
    });
    let name = "n\u{1b}[31m.json";
    world.write(name, document.to_string());
    for args in [
        &["resume", "--file", name][..],
        &["resume", "--file", name, "--explain"],
        &["import", name, "--dry-run"],
        &["import", name],
        &["list"],
    ] {
        let outcome = world.run(args);
        let text = format!("{}{}", outcome.stdout, outcome.stderr);
        let bad = |c: char| c != '\n' && (c.is_control() || matches!(c, '\u{202a}'..='\u{202e}'));
        assert!(!text.contains(bad), "{args:?}: {text:?}");
    }
}

#[test]
fn very_long_names_are_cut_or_refused_and_never_lost() {
    let world = World::new();
    let long = "x".repeat(5000);
    let document = json!({
        "workflow_id": long, "timestamp": "2026-01-30T10:00:00Z", "title": long,
        "phases": [{"id": long, "status": "done"}, {"id": "b", "status": "pending"}],
    });
    world.write("s.json", document.to_string());
    let imported = world.json(&["import", "s.json"]);
    let id = imported["imported"][0]["workflow"].as_str().unwrap();
    assert!(id.len() <= 64, "{id}");
    assert_eq!(world.stored(id, 1)["state"]["generic"]["workflow_id"], long);
    world.run(&["verify"]).succeeds();
}

#[test]
fn a_store_that_cannot_be_written_is_left_as_it_is() {
    if !can_mount() {
        return skip("mounting needs rights that are not there");
    }
    let world = World::with_checkpoints(1);
    world.write("s.json", state("s", "2026-01-30T10:00:00Z"));
    world.write("t.json", state("t", "2026-01-30T10:00:00Z"));
    let before = world.tree();
    let read_only = "mount --bind . . && mount -o remount,bind,ro . && cd \"$PWD\" && exec \"$@\"";
    let call = world.ckpt(&["import", "s.json", "t.json", "--json"]);
    let call = call.under(&["unshare", "-m", "/bin/sh", "-c", read_only, "sh"]);
    let outcome = call.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").run();
    assert_eq!(outcome.failure()["code"], "store_unusable", "{outcome}");
    assert_eq!(outcome.code(), 10);
    assert_eq!(before.changes(&world.tree()), Vec::<String>::new());
}

/// Opening a FIFO releases its writer, and opening some devices starts them; reading a large file takes time.
#[test]
fn what_is_not_imported_is_not_opened() {
    let Some(strace) = strace() else { return };
    let world = World::new();
    world.write("in/a.json", state("a", "2026-01-30T10:00:00Z"));
    let outside = world.temp().join("shadow");
    std::fs::write(&outside, state("outside", "2026-01-30T10:00:00Z")).unwrap();
    std::os::unix::fs::symlink(&outside, world.project().join("in/link.json")).unwrap();
    assert!(Command::new("mkfifo").arg(world.project().join("in/fifo.json")).status().unwrap().success());
    let sparse = std::fs::File::create(world.project().join("in/sparse.json")).unwrap();
    sparse.set_len(2 << 30).unwrap();
    let socket = std::os::unix::net::UnixListener::bind(world.project().join("in/socket.json")).unwrap();

    let document = world.json(&["import", "in", "--dry-run"]);
    let passed_over: Vec<_> = document["passed_over"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| (file["source"].as_str().unwrap(), file["code"].as_str().unwrap()))
        .collect();
    assert_eq!(
        passed_over,
        [
            ("in/fifo.json", "source_not_a_file"),
            ("in/link.json", "link"),
            ("in/socket.json", "source_not_a_file"),
            ("in/sparse.json", "source_too_large"),
        ]
    );
    let log = world.temp().join("strace.log");
    let tracer = [strace.as_os_str(), "-f".as_ref(), "-qq".as_ref(), "-o".as_ref(), log.as_os_str()];
    let named = ["in/fifo.json", "in/sparse.json", "in/socket.json", "/dev/zero"];
    let imports = [&["import", "in", "-v"][..], &[&["import"][..], &named].concat()];
    for args in imports {
        let outcome = world.ckpt(args).under(&tracer).run();
        let trace = String::from_utf8_lossy(&std::fs::read(&log).unwrap()).into_owned();
        for line in trace.lines().filter(|line| line.contains("open")) {
            for name in ["fifo.json", "link.json", "shadow", "sparse.json", "socket.json", "/dev/zero"] {
                assert!(!line.contains(name), "{line}\n{outcome}");
            }
        }
        for name in named.iter().filter(|name| args.contains(name) || name.starts_with("in/")) {
            assert!(outcome.stderr.contains(*name), "{name} is not named: {outcome}");
        }
    }
    drop(socket);
}
