//! Files are written, kept and restored as a whole.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use super::*;
use crate::hosts::Host;

struct Machine {
    places: Places,
    _removed_at_the_end: tempfile::TempDir,
}

impl Machine {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let places = Places {
            home: root.join("home"),
            project: root.join("project"),
            claude: root.join("home/.claude"),
            codex: root.join("home/.codex"),
            gemini: root.join("home/.gemini"),
            records: root.join("state/ckpt/setup"),
        };
        fs::create_dir_all(&places.home).unwrap();
        fs::create_dir_all(&places.project).unwrap();
        Self { places, _removed_at_the_end: dir }
    }

    fn change(&self, host: Host, level: Level, removes: bool) -> Result<usize, SetupError> {
        let options = Options { plan: true, instructions: true };
        let mut changes = Vec::new();
        for part in parts(host, level, options, &self.places) {
            let found = gather(part, level, &self.places)?;
            changes.extend(if removes { plan_removal(&found)? } else { plan_addition(&found)? });
        }
        if removes {
            changes.reverse();
        }
        changes.iter().try_for_each(|change| apply(change, &self.places))?;
        Ok(changes.len())
    }

    fn set_up(&self, host: Host, level: Level) -> usize {
        self.change(host, level, false).unwrap()
    }

    fn take_out(&self, host: Host, level: Level) -> usize {
        self.change(host, level, true).unwrap()
    }

    /// Every path below home and project, with the content of files.
    fn tree(&self) -> Vec<(String, String)> {
        fn visit(dir: &Path, tree: &mut Vec<(String, String)>) {
            for entry in fs::read_dir(dir).unwrap() {
                let path = entry.unwrap().path();
                let content = if path.is_dir() { String::new() } else { fs::read_to_string(&path).unwrap() };
                tree.push((path.display().to_string(), content));
                if path.is_dir() && !path.is_symlink() {
                    visit(&path, tree);
                }
            }
        }
        let mut tree = Vec::new();
        visit(&self.places.home, &mut tree);
        visit(&self.places.project, &mut tree);
        tree.sort();
        tree
    }
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

#[test]
fn setting_up_and_taking_out_leaves_every_byte_as_it_was() {
    for host in Host::ALL {
        for level in [Level::User, Level::Project] {
            let machine = Machine::new();
            let empty = machine.tree();
            assert!(machine.set_up(host, level) >= 2);
            assert_eq!(machine.set_up(host, level), 0, "the second time changes nothing");
            assert_ne!(machine.tree(), empty);
            machine.take_out(host, level);
            assert_eq!(machine.tree(), empty, "{host:?} {level:?}");
            assert_eq!(machine.take_out(host, level), 0);
        }
    }
}

#[test]
fn files_in_an_odd_layout_are_restored_byte_for_byte() {
    let machine = Machine::new();
    let settings = machine.places.claude.join("settings.json");
    for text in ["", " \n", "{ }", "{\"hooks\": {},\"permissions\": { \"allow\" : [ ] }}", "{\n\n  \"a\" : 1 }"] {
        write(&settings, text);
        machine.set_up(Host::Claude, Level::User);
        assert!(fs::read_to_string(&settings).unwrap().contains("ckpt hook claude SessionStart"));
        machine.take_out(Host::Claude, Level::User);
        assert_eq!(fs::read_to_string(&settings).unwrap(), text);
    }
    write(&machine.places.codex.join("config.toml"), "model = 'x'   # mine");
    machine.set_up(Host::Codex, Level::User);
    machine.take_out(Host::Codex, Level::User);
    assert_eq!(fs::read_to_string(machine.places.codex.join("config.toml")).unwrap(), "model = 'x'   # mine");
}

#[test]
fn what_was_added_in_the_meantime_stays() {
    let machine = Machine::new();
    let settings = machine.places.claude.join("settings.json");
    machine.set_up(Host::Claude, Level::User);
    let text = fs::read_to_string(&settings).unwrap();
    fs::write(&settings, text.replacen('{', "{\n  \"model\": \"mine\",", 1)).unwrap();
    let skill = machine.places.claude.join("skills/ckpt/SKILL.md");
    fs::write(&skill, "mine").unwrap();
    machine.take_out(Host::Claude, Level::User);
    let left: serde_json::Value = serde_json::from_str(&fs::read_to_string(&settings).unwrap()).unwrap();
    assert_eq!(left, serde_json::json!({"model": "mine"}));
    assert_eq!(fs::read_to_string(&skill).unwrap(), "mine");
}

#[test]
fn a_hook_of_somebody_in_one_line_is_as_it_was_also_if_the_file_was_changed_since() {
    let machine = Machine::new();
    let settings = machine.places.claude.join("settings.json");
    let text = |model: &str| {
        let stop = "[{\"hooks\": [{\"type\": \"command\", \"command\": \"bell\"}]}]";
        format!("{{\n  \"model\": \"{model}\",\n  \"hooks\": {{\n    \"Stop\": {stop}\n  }}\n}}\n")
    };
    write(&settings, &text("one"));
    machine.set_up(Host::Claude, Level::User);
    let with_hooks = fs::read_to_string(&settings).unwrap();
    fs::write(&settings, with_hooks.replace("one", "another")).unwrap();
    machine.take_out(Host::Claude, Level::User);
    assert_eq!(fs::read_to_string(&settings).unwrap(), text("another"));
}

#[test]
fn a_permission_that_somebody_gave_before_stays() {
    let machine = Machine::new();
    let settings = machine.places.claude.join("settings.json");
    let text = "{\n  \"permissions\": {\n    \"allow\": [\"Bash(ckpt:*)\"]\n  }\n}\n";
    write(&settings, text);
    machine.set_up(Host::Claude, Level::User);
    machine.take_out(Host::Claude, Level::User);
    assert_eq!(fs::read_to_string(&settings).unwrap(), text);
}

#[test]
fn an_older_skill_is_replaced_and_not_brought_back() {
    let machine = Machine::new();
    let skill = machine.places.claude.join("skills/ckpt/SKILL.md");
    write(&skill, "---\nname: ckpt\ndescription: of an older version\n---\n");
    machine.set_up(Host::Claude, Level::User);
    assert_eq!(fs::read_to_string(&skill).unwrap(), SKILL);
    machine.take_out(Host::Claude, Level::User);
    assert!(!skill.exists());
}

#[test]
fn a_skill_that_somebody_has_edited_comes_back_when_ours_is_taken_out() {
    let machine = Machine::new();
    let skill = machine.places.claude.join("skills/ckpt/SKILL.md");
    machine.set_up(Host::Claude, Level::User);
    let edited = format!("{SKILL}\nAlso tell me what you saved.\n");
    write(&skill, &edited);
    machine.set_up(Host::Claude, Level::User);
    assert_eq!(fs::read_to_string(&skill).unwrap(), SKILL);
    machine.take_out(Host::Claude, Level::User);
    assert_eq!(fs::read_to_string(&skill).unwrap(), edited);
}

#[test]
fn a_link_of_the_user_is_written_through_and_keeps_its_permissions() {
    let machine = Machine::new();
    let dotfiles = machine.places.home.join("dotfiles/settings.json");
    write(&dotfiles, "{}\n");
    fs::set_permissions(&dotfiles, fs::Permissions::from_mode(0o600)).unwrap();
    fs::create_dir_all(&machine.places.claude).unwrap();
    let settings = machine.places.claude.join("settings.json");
    symlink(&dotfiles, &settings).unwrap();
    machine.set_up(Host::Claude, Level::User);
    assert!(settings.is_symlink());
    assert!(fs::read_to_string(&dotfiles).unwrap().contains("ckpt hook"));
    assert_eq!(fs::metadata(&dotfiles).unwrap().permissions().mode() & 0o777, 0o600);
    machine.take_out(Host::Claude, Level::User);
    assert_eq!(fs::read_to_string(&dotfiles).unwrap(), "{}\n");
    assert!(settings.is_symlink());
}

#[test]
fn a_link_of_a_project_must_not_lead_out_of_it() {
    let machine = Machine::new();
    let outside = machine.places.home.join("settings.json");
    write(&outside, "{}");
    fs::create_dir_all(machine.places.project.join(".claude")).unwrap();
    symlink(&outside, machine.places.project.join(".claude/settings.json")).unwrap();
    assert!(matches!(machine.change(Host::Claude, Level::Project, false), Err(SetupError::Outside { .. })));
    assert_eq!(fs::read_to_string(&outside).unwrap(), "{}");
}

#[test]
fn what_does_not_parse_is_refused_and_nothing_is_written() {
    for (host, file, text) in [
        (Host::Claude, ".claude/settings.json", "{ not json"),
        (Host::Codex, ".codex/hooks.json", "[]"),
        (Host::Codex, ".codex/config.toml", "tools = 1"),
    ] {
        let machine = Machine::new();
        write(&machine.places.home.join(file), text);
        let before = machine.tree();
        let refused = machine.change(host, Level::User, false);
        assert!(matches!(refused, Err(SetupError::Unreadable { .. })), "{file}");
        assert_eq!(machine.tree(), before);
    }
}

#[test]
fn a_file_that_changed_after_the_plan_is_left() {
    let machine = Machine::new();
    let part = parts(Host::Claude, Level::User, Options::default(), &machine.places).remove(0);
    let path = part.path.clone();
    let change = plan_addition(&gather(part, Level::User, &machine.places).unwrap()).unwrap().unwrap();
    write(&path, "{\"new\": 1}");
    assert!(matches!(apply(&change, &machine.places), Err(SetupError::Changed { .. })));
    assert_eq!(fs::read_to_string(&path).unwrap(), "{\"new\": 1}");
}

#[test]
fn the_condition_of_a_part_is_told() {
    let machine = Machine::new();
    let find = || {
        let part = parts(Host::Codex, Level::User, Options::default(), &machine.places).remove(0);
        condition(&gather(part, Level::User, &machine.places).unwrap())
    };
    assert_eq!(find(), Condition::Absent);
    machine.set_up(Host::Codex, Level::User);
    assert_eq!(find(), Condition::Present);
    let path = machine.places.codex.join("hooks.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("\"timeout\": 5", "\"timeout\": 50")).unwrap();
    assert_eq!(find(), Condition::Outdated);
    fs::write(&path, "{").unwrap();
    assert_eq!(find(), Condition::Unreadable);
}

#[test]
fn the_skill_keeps_the_published_rules() {
    let (front, body) = SKILL.strip_prefix("---\n").unwrap().split_once("\n---\n").unwrap();
    let member = |name: &str| front.lines().find_map(|line| line.strip_prefix(&format!("{name}: "))).unwrap();
    assert_eq!(member("name"), SKILL_NAME);
    assert!(member("description").len() <= 1024 && !member("description").contains(": "));
    assert!(member("compatibility").len() <= 500);
    assert!(SKILL.lines().count() < 150 && body.len() / 4 < 5000);
}
