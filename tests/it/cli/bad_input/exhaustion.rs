//! A disk that is full or read-only, and limits of the process: exit 10 or 11, and what was there stays.

use crate::support::project::{Invocation, Outcome, World, can_mount, is_root, skip};

/// Runs with a private mount made by `script`, which sees the project as its directory.
fn mounted<'a>(call: Invocation<'a>, script: &str) -> Invocation<'a> {
    let script = format!("{script} && exec \"$@\"");
    call.under(&["unshare", "-m", "/bin/sh", "-c", &script, "sh"]).env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
}

#[track_caller]
fn assert_unusable(outcome: &Outcome, words: &str) {
    let failure = outcome.failure();
    assert_eq!((&failure["exit_code"], &failure["code"]), (&10.into(), &"store_unusable".into()), "{failure}");
    let message = failure["message"].as_str().unwrap();
    assert!(message.contains("/.ckpt") && message.contains(words), "{failure}");
}

#[test]
fn a_read_only_file_system() {
    if !can_mount() {
        return skip("mounting needs rights that are not there");
    }
    let world = World::with_checkpoints(1);
    let before = world.tree();
    let read_only = "mount --bind . . && mount -o remount,bind,ro . && cd \"$PWD\"";
    for args in [["save", "042", "--json"], ["save", "new", "--json"]] {
        let outcome = mounted(world.ckpt(&args), read_only).run();
        assert_unusable(&outcome, "Read-only file system");
        assert!(outcome.failure()["help"].to_string().contains("--store"), "{outcome}");
    }
    assert_eq!(before.changes(&world.tree()), Vec::<String>::new());
}

#[test]
fn a_first_save_on_a_read_only_file_system() {
    if !can_mount() {
        return skip("mounting needs rights that are not there");
    }
    let world = World::new();
    let read_only = "mount --bind . . && mount -o remount,bind,ro . && cd \"$PWD\"";
    assert_unusable(&mounted(world.ckpt(&["save", "042", "--json"]), read_only).run(), "Read-only file system");
    assert!(!world.store().exists());
}

/// A program that saves until it cannot, on a small disk, and then looks at what is there.
fn until_full(options: &str, size: usize) -> Outcome {
    let world = World::new();
    let script = format!(
        "mount -t tmpfs -o {options} tmpfs . && cd \"$PWD\" && code=0 && while [ $code = 0 ]; do \
         \"$@\" save 042 --state @../state.json -q > ../handle 2> ../complaint; code=$?; done; \
         \"$@\" log 042 --all --json; \"$@\" show 042 -q >&2; cp -r .ckpt ../kept; exit $code"
    );
    std::fs::write(world.temp().join("state.json"), format!("{{\"x\":\"{}\"}}", "y".repeat(size))).unwrap();
    let outcome = mounted_raw(&world, &script);
    let complaint = std::fs::read_to_string(world.temp().join("complaint")).unwrap();
    assert!(complaint.contains("No space left on device") && complaint.contains("free some space"), "{complaint}");
    let left = std::fs::read_dir(world.temp().join("kept/workflows/042")).unwrap();
    let left: Vec<_> = left.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert!(left.iter().all(|name| !name.starts_with(".tmp-")), "{left:?}");
    outcome
}

fn mounted_raw(world: &World, script: &str) -> Outcome {
    let no_args: [&str; 0] = [];
    let call = world.ckpt(&no_args).under(&["unshare", "-m", "/bin/sh", "-c", script, "sh"]);
    call.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").run()
}

#[test]
fn a_disk_without_space() {
    if !can_mount() {
        return skip("mounting needs rights that are not there");
    }
    let outcome = until_full("size=256k", 20_000).exits(10);
    let list = outcome.document();
    assert_eq!(list["damaged"], serde_json::json!([]), "{list}");
    assert!(list["total"].as_u64().unwrap() > 2, "{list}");
    assert_eq!(outcome.stderr.trim(), list["entries"][0]["handle"].as_str().unwrap());
}

#[test]
fn a_disk_without_inodes() {
    if !can_mount() {
        return skip("mounting needs rights that are not there");
    }
    let outcome = until_full("size=10m,nr_inodes=12", 10).exits(10);
    let list = outcome.document();
    assert_eq!(list["damaged"], serde_json::json!([]), "{list}");
    assert!(list["total"].as_u64().unwrap() > 2, "{list}");
}

#[test]
fn no_permission() {
    if is_root() {
        // Root may everything, so the one who saves is somebody else, and the store is root's.
        let world = World::with_checkpoints(1);
        let before = world.tree();
        let open = "chmod 755 .. . && exec setpriv --reuid 12345 --regid 12345 --clear-groups \"$@\"";
        let call = world.ckpt(&["save", "042", "--store", ".ckpt", "--json"]).in_shell(open);
        let outcome = call.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").run();
        assert_unusable(&outcome, "Permission denied");
        std::fs::set_permissions(world.project(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let changes = before.changes(&world.tree());
        assert!(changes.iter().all(|change| !change.contains(".ckpt")), "{changes:?}");
    } else {
        use std::os::unix::fs::PermissionsExt as _;
        let world = World::with_checkpoints(1);
        let directory = world.workflow_dir("042");
        std::fs::set_permissions(&directory, std::fs::Permissions::from_mode(0o500)).unwrap();
        let outcome = world.run(&["save", "042", "--json"]);
        std::fs::set_permissions(&directory, std::fs::Permissions::from_mode(0o700)).unwrap();
        assert_unusable(&outcome, "Permission denied");
    }
}

#[test]
fn a_limit_on_the_size_of_files() {
    for (blocks, state) in [(0, 10), (1, 4_000)] {
        let world = World::with_checkpoints(1);
        let set = format!("x=\"{}\"", "y".repeat(state));
        let limit = format!("ulimit -f {blocks}; exec \"$@\"");
        let call = world.ckpt(&["save", "042", "--set", &set]).in_shell(&limit);
        call.refused(10, "store_unusable");
        assert_eq!(world.json(&["save", "042"])["handle"], "042/2");
    }
    let world = World::new();
    let outcome = world.ckpt(&["save", "042", "--json"]).in_shell("ulimit -f 0; exec \"$@\"").run();
    assert_unusable(&outcome, "File too large");
    assert_eq!(world.json(&["save", "042"])["handle"], "042/1");
}

#[test]
fn a_limit_on_open_files() {
    let mut succeeded = false;
    for limit in 4..24 {
        let world = World::with_checkpoints(1);
        let before = world.tree();
        let script = format!("ulimit -n {limit}; exec \"$@\"");
        let outcome = world.ckpt(&["save", "042", "--json"]).in_shell(&script).run();
        match outcome.code() {
            0 => {
                succeeded = true;
                assert_eq!(world.numbers("042"), [1, 2]);
            }
            10 => {
                assert_unusable(&outcome, "Too many open files");
                assert_eq!(before.changes(&world.tree()), Vec::<String>::new(), "limit {limit}");
            }
            11 => assert_eq!(world.numbers("042"), [1, 2], "limit {limit}: {outcome}"),
            // The system could not even start the program.
            127 => assert!(outcome.stderr.contains("shared libraries"), "limit {limit}: {outcome}"),
            _ => panic!("limit {limit}: {outcome}"),
        }
        assert_eq!(world.json(&["show", "042/1"])["valid"], true);
    }
    assert!(succeeded, "23 descriptors are enough");
}
