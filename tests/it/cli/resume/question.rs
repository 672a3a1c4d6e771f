//! The question on a terminal, tried in a real pseudo-terminal.

use serde_json::json;

use crate::support::project::World;
use crate::support::terminal::Terminal;

const QUESTION: &str = "(r)esume, (s)tart fresh, (v)iew details, (d)iscard, (q)uit [r]: ";

fn begun() -> World {
    let world = World::new();
    let declare = ["save", "042", "--phases", "plan,build", "--phase", "plan", "--title", "Login"];
    world.run(&[&declare[..], &["--state", r#"{"k": 1}"#]].concat()).succeeds();
    world
}

#[test]
fn resume_is_the_answer_of_enter() {
    for answer in ["\n", "r\n", "RESUME\n", "y\n"] {
        let world = begun();
        let mut terminal = Terminal::open(&world, &["resume", "042"], &[]);
        terminal.expect(QUESTION, 1);
        terminal.answer(answer);
        let (code, screen) = terminal.exit();
        assert_eq!(code, 0, "{screen}");
        assert!(screen.contains("Verdict: "), "{screen}");
        assert_eq!(world.numbers("042"), [1]);
    }
}

#[test]
fn without_a_clear_yes_nothing_is_confirmed() {
    let world = begun();
    world.run(&["save", "042", "--workflow-status", "failed"]).succeeds();
    let question = QUESTION.replace(" [r]", "");
    for (answers, code) in [(&["\n", "n\n"][..], 7), (&["q\n"], 7), (&["\n", "y\n"], 0)] {
        let mut terminal = Terminal::open(&world, &["resume", "042"], &[]);
        for (asked, answer) in answers.iter().enumerate() {
            terminal.expect(&question, asked + 1);
            terminal.answer(answer);
        }
        assert_eq!(terminal.exit().0, code, "{answers:?}");
    }
    assert_eq!(world.numbers("042"), [1, 2]);
}

#[test]
fn unknown_answers_and_view_ask_again() {
    let world = begun();
    let mut terminal = Terminal::open(&world, &["resume", "042"], &[]);
    terminal.expect(QUESTION, 1);
    terminal.answer("maybe\n");
    terminal.expect(QUESTION, 2);
    terminal.answer("v\n");
    terminal.expect(QUESTION, 3);
    assert!(terminal.seen.contains("Evidence"), "{}", terminal.seen);
    terminal.answer("r\n");
    assert_eq!(terminal.exit().0, 0);
}

#[test]
fn start_fresh_archives_and_begins_again() {
    let world = begun();
    let mut terminal = Terminal::open(&world, &["resume", "042"], &[]);
    terminal.expect(QUESTION, 1);
    terminal.answer("s\n");
    let (code, screen) = terminal.exit();
    assert_eq!(code, 0, "{screen}");
    let fresh = world.json(&["resume", "042"]);
    assert_eq!((&fresh["phase"], &fresh["title"], &fresh["done"]), (&json!("plan"), &json!("Login"), &json!([])));
    assert_eq!(world.json(&["show", "042", "--state"])["checkpoint"], json!({}));
    let old = world.json(&["show", "042/1", "--state"]);
    assert_eq!(old["checkpoint"], json!({"k": 1}), "nothing was deleted");
}

#[test]
fn discard_archives_and_leaves_nothing_to_start() {
    let world = begun();
    let mut terminal = Terminal::open(&world, &["resume", "042"], &[]);
    terminal.expect(QUESTION, 1);
    terminal.answer("d\n");
    let (code, screen) = terminal.exit();
    assert_eq!(code, 4, "{screen}");
    assert_eq!(world.json(&["show", "042/1", "--state"])["checkpoint"], json!({"k": 1}), "nothing was deleted");
    world.refuses(&["resume"], 4, "nothing_to_resume");
}

#[test]
fn a_closed_terminal_is_no_answer() {
    let world = begun();
    let mut terminal = Terminal::open(&world, &["resume", "042"], &[]);
    terminal.expect(QUESTION, 1);
    terminal.answer("\u{4}");
    assert_eq!(terminal.exit().0, 7);
}

#[test]
fn nobody_is_asked_where_no_person_is() {
    let world = begun();
    let agents =
        [("CLAUDECODE", "1"), ("GEMINI_CLI", "1"), ("CODEX_HOME", "/x"), ("CI", "true"), ("CKPT_NO_INPUT", "1")];
    for (name, value) in agents {
        let (code, screen) = Terminal::open(&world, &["resume", "042"], &[(name, value)]).exit();
        assert_eq!(code, 0, "{name}: {screen}");
        assert!(!screen.contains(QUESTION), "{name}: {screen}");
    }
    for args in [&["resume", "042", "--no-input"][..], &["resume", "042", "--json"], &["resume", "042", "--yes"]] {
        let (code, screen) = Terminal::open(&world, args, &[]).exit();
        assert_eq!(code, 0, "{args:?}: {screen}");
        assert!(!screen.contains(QUESTION), "{args:?}: {screen}");
    }
}

#[test]
fn a_blocked_workflow_cannot_be_resumed_by_saying_so() {
    let world = begun();
    world.write("x", "x");
    world.run(&["save", "042", "--artifact", "x"]).succeeds();
    std::fs::remove_file(world.project().join("x")).unwrap();
    let mut terminal = Terminal::open(&world, &["resume", "042"], &[]);
    terminal.expect(&QUESTION.replace(" [r]", ""), 1);
    terminal.answer("r\n");
    assert_eq!(terminal.exit().0, 7);
}

#[test]
fn quiet_never_asks() {
    let world = begun();
    let (code, screen) = Terminal::open(&world, &["resume", "042", "-q"], &[]).exit();
    assert_eq!((code, screen.as_str()), (0, "build\r\n"));
    world.run(&["save", "old", "--phases", "a", "--phase", "a"]).succeeds();
    let (code, screen) = Terminal::open(&world, &["cleanup", "--keep-last", "1", "-q"], &[]).exit();
    assert_eq!(code, 0, "{screen}");
    assert!(!screen.contains("[y/N]"), "{screen}");
}
