//! Secrets are replaced before anything is written; the answer says where they were, never what.

use serde_json::json;

use crate::support::project::{Tree, World};

const TOKEN: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
const AWS: &str = "AKIAIOSFODNN7EXAMPLE";

#[test]
fn secrets_are_replaced_wherever_they_stand() {
    let world = World::new();
    let state = json!({"auth": {"header": format!("token {TOKEN}")}, "db": "postgres://u:hunter2@h/x"}).to_string();
    let set = format!("/deep/key={}", json!(AWS));
    let save = [
        "save",
        "042",
        "--phase",
        "a",
        "--title",
        TOKEN,
        "--note",
        AWS,
        "--next",
        TOKEN,
        "--error",
        TOKEN,
        "--state",
        &state,
        "--set",
        &set,
        "--data",
        &json!({"k": [TOKEN]}).to_string(),
    ];
    let answer = world.json(&save);
    assert_eq!(
        answer["redactions"],
        json!([
            "/title",
            "/next/action",
            "/error",
            "/note",
            "/data/k/0",
            "/state/auth/header",
            "/state/db",
            "/state/deep/key",
        ])
    );
    let stored = world.stored("042", 1);
    assert_eq!(stored["state"]["auth"]["header"], "token [REDACTED:github-token]");
    assert_eq!(stored["state"]["db"], "postgres://u:[REDACTED:url-password]@h/x");
    assert_eq!(stored["state"]["deep"]["key"], "[REDACTED:aws-access-key]");
    assert_nowhere(&world, &[TOKEN, AWS, "hunter2"]);
}

#[test]
fn a_person_is_told_where_and_how_to_keep_them() {
    let world = World::new();
    let outcome = world.run(&["save", "042", "--set", &format!("token=\"{TOKEN}\"")]);
    insta::assert_snapshot!(outcome, @"
    exit 0
    --- stdout
    042/1
    --- stderr
    Created the store $TMP/project/.ckpt
    warning: nothing says what comes next; `ckpt save 042 --next 'what comes next'` does, or `ckpt done 042` if all is done
    warning: replaced what looks like secrets at /state/token; `--allow-secrets` keeps them
    Saved 042/1, a new workflow: 0 done.
    --- end
    ");
}

#[test]
fn documents_are_cleaned_with_their_unknown_fields() {
    let world = World::new();
    let document = json!({"phase": "a", "state": {"t": TOKEN}, "ticket": {"url": format!("https://u:{AWS}@h")}});
    let answer = world.ckpt(&["save", "042", "--from", "-"]).stdin(document.to_string()).json();
    assert_eq!(answer["redactions"], json!(["/state/t", "/ticket/url"]));
    assert_nowhere(&world, &[TOKEN, AWS]);
}

#[test]
fn a_private_key_goes_as_a_whole() {
    let world = World::new();
    let key = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----\n";
    world.run(&["save", "042", "--state", &json!({"key": key}).to_string()]).succeeds();
    assert_nowhere(&world, &["MIIEow"]);
}

#[test]
fn allow_secrets_writes_them_as_they_are() {
    let world = World::new();
    let save = ["save", "042", "--state", &json!({"t": TOKEN}).to_string(), "--note", AWS, "--allow-secrets"];
    assert_eq!(world.json(&save)["redactions"], json!([]));
    let stored = world.stored("042", 1);
    assert_eq!((&stored["state"]["t"], &stored["note"]), (&json!(TOKEN), &json!(AWS)));
}

#[test]
fn ordinary_text_is_left_alone() {
    let world = World::new();
    let note =
        "sk-learn, ghp_short, https://host/path, mailto:u@h, a 40-digit hash da39a3ee5e6b4b0d3255bfef95601890afd80709";
    assert_eq!(world.json(&["save", "042", "--note", note])["redactions"], json!([]));
    assert_eq!(world.stored("042", 1)["note"], note);
}

/// Looks for the secrets in every file of the store, whatever it is called.
fn assert_nowhere(world: &World, secrets: &[&str]) {
    assert_ne!(Tree::of(&world.store()), Tree::of(&world.home()), "there is a store to search");
    let mut places = vec![world.store()];
    while let Some(place) = places.pop() {
        if place.is_dir() {
            places.extend(std::fs::read_dir(&place).unwrap().map(|entry| entry.unwrap().path()));
            continue;
        }
        let text = std::fs::read_to_string(&place).unwrap();
        for secret in secrets {
            assert!(!text.contains(secret), "{secret} in {}", place.display());
        }
    }
}

/// A name that was replaced would be another one, so it is refused.
#[test]
fn a_secret_is_no_name() {
    let world = World::new();
    world.write(TOKEN, "x");
    let task = format!("{TOKEN}=running");
    for args in [["--task", &task], ["--phase", TOKEN], ["--phases", TOKEN], ["--key", TOKEN], ["--artifact", TOKEN]] {
        let save = ["save", "042", args[0], args[1]];
        let failure = world.refuses(&save, 9, "secret_in_name");
        assert!(!failure.to_string().contains(TOKEN), "{failure}");
        assert!(!world.store().exists(), "{args:?}");
    }
    world.run(&["save", "042", "--phase", "x", "--task", &task, "--allow-secrets"]).succeeds();
    let by = world.json(&["approve", "042", "--phase", "x", "--by", TOKEN]);
    assert_eq!(by["redactions"], json!(["/by"]));
}

/// An artifact is recorded under the path that its links lead to.
#[test]
fn a_secret_is_no_name_behind_a_link() {
    let world = World::new();
    world.write(&format!("{TOKEN}/report.txt"), "x");
    std::os::unix::fs::symlink(TOKEN, world.project().join("out")).unwrap();
    let save = ["save", "042", "--artifact", "report=out/report.txt"];
    let failure = world.refuses(&save, 9, "secret_in_name");
    assert!(!failure.to_string().contains(TOKEN), "{failure}");
    assert!(!world.store().exists());
    world.ckpt(&[&save[..], &["--allow-secrets"]].concat()).run().succeeds();
}

#[test]
fn a_secret_is_no_name_in_a_document_either() {
    let world = World::new();
    let other = TOKEN.replace('0', "9");
    for document in [
        json!({"tasks": [{"id": TOKEN, "status": "running"}, {"id": other, "status": "complete"}]}),
        json!({"tasks": {TOKEN: "running"}}),
        json!({"tasks": [{"id": "t", "status": "running", "after": [TOKEN]}]}),
        json!({"artifacts": {TOKEN: "f"}}),
        json!({"phases": [TOKEN]}),
        json!({"phase": "a", "next_phase": TOKEN}),
    ] {
        let save = world.ckpt(&["save", "042", "--from", "-"]).stdin(document.to_string());
        save.refused(9, "secret_in_name");
    }
    world.refuses(&["save", TOKEN], 9, "secret_in_name");
    world.refuses(&["save", "042", "--phase", "a", "--next-phase", TOKEN], 9, "secret_in_name");
    world.refuses(&["save", "042", "--task", &format!("t=running,after={TOKEN}")], 9, "secret_in_name");
    assert!(!world.store().exists());
    let agent = world.ckpt(&["save", "042"]).env("CLAUDECODE", "1").env("CLAUDE_CODE_SESSION_ID", TOKEN);
    agent.run().succeeds();
    assert_eq!(world.stored("042", 1)["writer"]["session"], "[REDACTED:github-token]");
}

#[test]
fn a_whole_checkpoint_is_treated_like_any_document() {
    let world = World::new();
    let whole = |flags: &[&str]| {
        let save = ["save", "secret", "--allow-secrets", "--phase"];
        world.run(&[&save[..], flags].concat()).succeeds();
        world.run(&["show", "secret", "--raw"]).succeeds().stdout
    };
    let text = whole(&["a", "--title", TOKEN, "--state", &json!({"t": [AWS]}).to_string()]);
    let answer = world.ckpt(&["save", "042", "--from", "-"]).stdin(&text).json();
    assert_eq!(answer["redactions"], json!(["/title", "/state/t/0"]));
    let stored = world.stored("042", 1);
    assert_eq!(
        (&stored["title"], &stored["state"]["t"][0]),
        (&json!("[REDACTED:github-token]"), &json!("[REDACTED:aws-access-key]"))
    );
    let name = whole(&[TOKEN]);
    world.ckpt(&["save", "042", "--from", "-"]).stdin(&name).refused(9, "secret_in_name");
    world.ckpt(&["save", "042", "--from", "-", "--allow-secrets"]).stdin(&name).run().succeeds();
}

#[test]
fn a_name_gives_its_value_away() {
    let world = World::new();
    let state = json!({"password": "hunter2", "login": {"api_key": "aB3dE6gH9kLmN0pQ"}}).to_string();
    let save =
        ["save", "042", "--state", &state, "--set", "db_password=\"hunter22\"", "--note", "DB_PASSWORD=hunter23"];
    let answer = world.json(&save);
    let places = json!(["/note", "/state/password", "/state/login/api_key", "/state/db_password"]);
    assert_eq!(answer["redactions"], places);
    assert_nowhere(&world, &["hunter2", "aB3dE6gH9kLmN0pQ"]);
}

#[test]
fn the_user_of_the_writer_is_looked_at_too() {
    let world = World::new();
    world.ckpt(&["save", "042"]).env("USER", TOKEN).run().succeeds();
    assert_eq!(world.stored("042", 1)["writer"]["user"], "[REDACTED:github-token]");
}

#[test]
fn the_name_of_an_imported_file_is_looked_at_too() {
    let world = World::new();
    let name = format!("{TOKEN}.json");
    world.write(&name, r#"{"phase": "build", "status": "in_progress", "tasks": [{"id": "a", "status": "pending"}]}"#);
    let answer = world.json(&["import", &name, "--into", "042"]);
    assert_eq!(answer["redactions"][0]["pointer"], "/imported/source");
    assert_eq!(world.stored("042", 1)["imported"]["source"], "[REDACTED:github-token].json");
    assert_nowhere(&world, &[TOKEN]);
}
