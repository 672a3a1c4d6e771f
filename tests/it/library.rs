//! The library as an embedding program uses it.

use ckpt::{ChangeError, Error, Outcome, PhaseStatus, Store, StoreError, Verdict};
use serde_json::json;

fn written(outcome: Outcome) -> u64 {
    match outcome {
        Outcome::Written(checkpoint) => checkpoint.seq,
        other => panic!("nothing was written: {other:?}"),
    }
}

#[test]
fn a_workflow_is_saved_listed_loaded_and_resumed() {
    let project = tempfile::tempdir().unwrap();
    std::fs::write(project.path().join("spec.md"), "text").unwrap();
    let store = Store::open(project.path().join(".ckpt")).unwrap();
    let first = store.save("042").phases(["plan", "build"]).phase("plan").title("Login").artifact("spec", "spec.md");
    assert_eq!(written(first.write().unwrap()), 1);
    let second = store.save("042").phase("build").status(PhaseStatus::Failed).state(json!({"retries": 1}));
    assert_eq!(written(second.write().unwrap()), 2);

    assert_eq!(store.list().unwrap().len(), 1);
    let checkpoint = store.load("042/1").unwrap();
    assert_eq!(checkpoint.content.title.as_deref(), Some("Login"));
    assert_eq!(checkpoint.content.artifacts[0].size, Some(4));
    let resume = store.resume("042").unwrap();
    assert_eq!((resume.verdict, resume.phase), (Verdict::Ready, Some("build".parse().unwrap())));
    std::fs::remove_file(project.path().join("spec.md")).unwrap();
    assert_eq!(store.resume("042").unwrap().verdict, Verdict::Blocked);
}

#[test]
fn conditions_decide_whether_anything_is_written() {
    let project = tempfile::tempdir().unwrap();
    let store = Store::open(project.path().join(".ckpt")).unwrap();
    let keyed = || store.save("042").note("deployed").key("deploy-17").write().unwrap();
    assert_eq!(written(keyed()), 1);
    assert!(matches!(keyed(), Outcome::Repeated(1)));
    assert!(matches!(store.save("042").if_changed().write(), Ok(Outcome::Unchanged(1))));
    let stale = store.save("042").note("late").expect(0).write();
    assert!(matches!(stale, Err(Error::Store(StoreError::Conflict { .. }))), "{stale:?}");
}

#[test]
fn secrets_are_replaced_and_bad_names_refused_before_anything_is_created() {
    let project = tempfile::tempdir().unwrap();
    let store = Store::open(project.path().join(".ckpt")).unwrap();
    assert!(matches!(store.save("../x").write(), Err(Error::WorkflowId(_))));
    assert!(matches!(store.save("042").phase("").write(), Err(Error::Phase(_))));
    assert!(matches!(store.save("042").artifact("a", "missing.md").write(), Err(Error::Artifact(_))));
    assert!(!project.path().join(".ckpt").exists());
    store.save("042").note("password=hunter2-hunter2").write().unwrap();
    let note = store.load("042").unwrap().note.unwrap_or_default();
    assert!(note.contains("[REDACTED:"), "{note}");
}

#[test]
fn a_link_does_not_bring_a_secret_into_the_store() {
    let project = tempfile::tempdir().unwrap();
    let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    std::fs::write(project.path().join(secret), "text").unwrap();
    std::os::unix::fs::symlink(secret, project.path().join("report.txt")).unwrap();
    let store = Store::open(project.path().join(".ckpt")).unwrap();
    let save = || store.save("042").artifact("report", "report.txt");
    assert!(matches!(save().write(), Err(Error::Change(ChangeError::SecretName { .. }))));
    assert!(!project.path().join(".ckpt").exists());
    assert_eq!(written(save().allow_secrets().write().unwrap()), 1);
}
