//! Who saves: taken from what agents and CI systems leave in the environment.

use serde_json::json;

use crate::support::project::World;

/// Variables, and the agent and session they stand for.
type Case<'a> = (&'a [(&'a str, &'a str)], Option<&'a str>, Option<&'a str>);

#[test]
fn the_environment_tells_who_is_at_work() {
    let cases: [Case<'_>; 14] = [
        (&[], None, None),
        (&[("CLAUDECODE", "1")], Some("claude-code"), None),
        (&[("CLAUDECODE", "1"), ("CLAUDE_CODE_SESSION_ID", "s1")], Some("claude-code"), Some("s1")),
        (&[("GEMINI_CLI", "1"), ("GEMINI_SESSION_ID", "s2")], Some("gemini-cli"), Some("s2")),
        (&[("CODEX_SANDBOX", "seatbelt")], Some("codex"), None),
        (&[("CODEX_SANDBOX_NETWORK_DISABLED", "1"), ("CI", "1")], Some("codex"), None),
        (&[("CODEX_HOME", "/x"), ("CI", "1")], Some("ci"), None),
        (&[("CODEX_HOME", "/x"), ("CODEX_SESSION_ID", "s3")], Some("codex"), Some("s3")),
        (&[("CODEX_THREAD_ID", "t4")], Some("codex"), Some("t4")),
        (&[("CI", "true")], Some("ci"), None),
        (&[("CI", "true"), ("GITHUB_ACTIONS", "true"), ("GITHUB_RUN_ID", "77")], Some("github-actions"), Some("77")),
        (&[("CI", "true"), ("CLAUDECODE", "1")], Some("claude-code"), None),
        (&[("CLAUDECODE", "")], None, None),
        (&[("CLAUDE_CODE_SESSION_ID", "alone")], None, None),
    ];
    for (env, agent, session) in cases {
        let world = World::new();
        let save = env.iter().fold(world.ckpt(&["save", "042"]), |save, (name, value)| save.env(name, value));
        save.run().succeeds();
        let writer = &world.stored("042", 1)["writer"];
        assert_eq!((&writer["agent"], &writer["session"]), (&json!(agent), &json!(session)), "{env:?}");
    }
}

#[test]
fn machine_account_and_version_are_recorded() {
    let world = World::new();
    world.ckpt(&["save", "042"]).env("USER", "eve").run().succeeds();
    let writer = &world.stored("042", 1)["writer"];
    assert_eq!((&writer["user"], &writer["ckpt"]), (&json!("eve"), &json!(env!("CARGO_PKG_VERSION"))));
    assert_eq!(writer["host"], rustix::system::uname().nodename().to_str().unwrap());
}

#[test]
fn each_save_has_a_random_id_of_its_own() {
    let world = World::with_checkpoints(2);
    let id = |seq| world.stored("042", seq)["save_id"].as_str().unwrap().to_owned();
    assert_eq!((id(1).len(), id(2).len()), (32, 32));
    assert_ne!(id(1), id(2));
}
