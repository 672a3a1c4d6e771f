//! `docs/reference/configuration.md` has every setting, with the default that the program uses.

use ckpt_model::Config;

use ckpt::pages::Page;

/// The keys that a table of the settings file understands, as the parser lists them.
fn keys(table: &str) -> Vec<String> {
    let unknown = if table.is_empty() { "zzz = 1".to_owned() } else { format!("[{table}]\nzzz = 1") };
    let message = Config::parse(&unknown).unwrap_err();
    let (_, expected) = message.split_once("expected ").unwrap_or_else(|| panic!("{message}"));
    expected.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Every setting, such as `save.auto_cleanup`.
fn settings() -> Vec<String> {
    let mut settings = Vec::new();
    for table in keys("") {
        if table == "pipelines" {
            settings.extend(keys("pipelines.x").iter().map(|key| format!("pipelines.NAME.{key}")));
        } else {
            settings.extend(keys(&table).iter().map(|key| format!("{table}.{key}")));
        }
    }
    settings
}

#[test]
fn every_setting_is_documented_and_nothing_else() {
    let page = Page::load("docs/reference/configuration.md");
    let mut documented: Vec<&str> = page.row_names().into_iter().filter(|name| name.contains('.')).collect();
    let mut expected = settings();
    assert!(expected.len() > 12, "{expected:?}");
    documented.sort_unstable();
    expected.sort_unstable();
    assert_eq!(documented, expected);
}

#[test]
fn every_member_of_a_phase_is_documented() {
    let page = Page::load("docs/reference/configuration.md");
    let message = Config::parse("[pipelines.x]\nphases = [{ zzz = 1 }]").unwrap_err();
    let members: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    assert!(members.contains(&"task_limit"), "{message}");
    for member in members {
        assert!(page.row_names().contains(&member), "{member}");
    }
}

#[test]
fn the_documented_defaults_are_those_of_the_program() {
    let page = Page::load("docs/reference/configuration.md");
    let mut text = String::new();
    for cells in page.rows() {
        let setting = cells[0].trim_matches('`');
        let default = cells[1];
        if setting.contains('.') && default.starts_with('`') {
            text.push_str(&format!("{setting} = {}\n", default.trim_matches('`')));
        }
    }
    assert!(text.lines().count() >= 10, "{text}");
    let documented = Config::parse(&text).unwrap_or_else(|error| panic!("{error}:\n{text}"));
    let default = Config::default();
    assert_eq!(documented.limits(), default.limits());
    assert_eq!(documented.retention().policy(), default.retention().policy());
    assert_eq!(documented.auto_cleanup(), default.auto_cleanup());
    assert_eq!(documented.max_artifact(), default.max_artifact());
    assert_eq!(documented.watched(), default.watched());
}

#[test]
fn every_settings_file_that_is_shown_is_understood() {
    let mut shown = 0;
    for page in super::pages::all() {
        for block in page.blocks("toml") {
            Config::parse(block).unwrap_or_else(|error| panic!("{}: {error}:\n{block}", page.name));
            shown += 1;
        }
    }
    assert!(shown >= 3, "only {shown} settings files are shown");
}
