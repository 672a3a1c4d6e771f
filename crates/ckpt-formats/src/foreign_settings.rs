//! The settings file of crunch, `.claude/checkpoint-config.yaml`, as settings of a store.
//!
//! | there | here |
//! |---|---|
//! | `enabled: false` | all of `[save.triggers]` are false |
//! | `auto_checkpoint: false` | the automatic ones of `[save.triggers]` are false |
//! | `checkpoint_triggers` | `[save.triggers]` |
//! | `retention` | `[retention.triggers]` |
//! | `storage.compress` | `[retention] compress_after` |
//! | `storage.max_size_mb` | `[retention] max_size` |

use serde_json::Value;

use ckpt_model::config::Config;
use ckpt_model::trigger::Trigger;

/// The name of the file.
pub const FILE_NAME: &str = "checkpoint-config.yaml";

/// The triggers that are not caused by a person or the end of a session.
const AUTOMATIC: [Trigger; 5] = [
    Trigger::PhaseTransition,
    Trigger::BatchComplete,
    Trigger::AgentComplete,
    Trigger::ConflictStart,
    Trigger::ConflictResolved,
];

/// The tables of a settings file that can be filled, in the order they are written in.
const TABLES: [&str; 3] = ["save.triggers", "retention", "retention.triggers"];

/// Settings that were read from the file of another system.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ForeignSettings {
    settings: Vec<Setting>,
    left_out: Vec<String>,
}

/// One setting of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Setting {
    table: &'static str,
    key: String,
    /// The value in TOML.
    value: String,
}

/// A settings file with more settings than before.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MergedSettings {
    /// The text of the file.
    pub text: String,
    /// The settings that were added.
    pub added: Vec<String>,
    /// The settings that were there before, with any value.
    pub kept: Vec<String>,
    /// The settings that only a person can add, because the file has their table in another notation.
    pub by_hand: Vec<String>,
    /// The members of the other file that have no equivalent, each with the reason.
    pub left_out: Vec<String>,
}

impl ForeignSettings {
    /// Reads the content of the file; `None` if it is not one of these.
    #[must_use]
    pub fn read(document: &Value) -> Option<Self> {
        let checkpoint = document.get("checkpoint")?.as_object()?;
        let mut read = Self::default();
        for (name, value) in checkpoint {
            match (name.as_str(), value) {
                ("enabled", Value::Bool(on)) => read.switch_off(&Trigger::OF_SAVES, *on),
                ("auto_checkpoint", Value::Bool(on)) => read.switch_off(&AUTOMATIC, *on),
                ("checkpoint_triggers", Value::Object(triggers)) => {
                    for (word, on) in triggers {
                        match (word.as_str(), on, word.parse::<Trigger>()) {
                            ("conflict_events", Value::Bool(on), _) => {
                                read.switch_off(&[Trigger::ConflictStart, Trigger::ConflictResolved], *on);
                            }
                            (_, Value::Bool(on), Ok(trigger)) => read.switch_off(&[trigger], *on),
                            _ => read.leave_out(&format!("checkpoint_triggers.{word}")),
                        }
                    }
                }
                ("retention", Value::Object(limits)) => {
                    for (word, limit) in limits {
                        match (limit.as_i64(), word.parse::<Trigger>()) {
                            (Some(limit), Ok(trigger)) if limit != 0 => {
                                read.set("retention.triggers", trigger.word(), limit.max(-1).to_string());
                            }
                            _ => read.leave_out(&format!("retention.{word}")),
                        }
                    }
                }
                ("storage", Value::Object(storage)) => {
                    for (name, value) in storage {
                        read.storage(name, value);
                    }
                }
                _ => read.leave_out(name),
            }
        }
        Some(read)
    }

    fn storage(&mut self, name: &str, value: &Value) {
        match (name, value) {
            ("location", _) => self.left_out.push("storage.location: the checkpoints are in the store".to_owned()),
            ("compress", Value::Bool(true)) => self.set("retention", "compress_after", "\"0s\""),
            ("compress", Value::Bool(false)) => self.set("retention", "compress_after", "\"36500d\""),
            ("max_size_mb", Value::Number(size)) if size.as_u64().is_some_and(|size| size > 0) => {
                self.set("retention", "max_size", format!("\"{size}MB\""));
            }
            _ => self.leave_out(&format!("storage.{name}")),
        }
    }

    /// Switches triggers off, unless they are to be on, which is the default.
    fn switch_off(&mut self, triggers: &[Trigger], on: bool) {
        if on {
            return;
        }
        for trigger in triggers {
            self.set("save.triggers", trigger.word(), "false");
        }
    }

    fn set(&mut self, table: &'static str, key: &str, value: impl Into<String>) {
        let setting = Setting { table, key: key.to_owned(), value: value.into() };
        if !self.settings.iter().any(|known| known.table == table && known.key == key) {
            self.settings.push(setting);
        }
    }

    fn leave_out(&mut self, name: &str) {
        self.left_out.push(format!("{name}: it is not known, or its value is not"));
    }

    /// Adds the settings to the text of a settings file. What is set there stays.
    ///
    /// # Errors
    /// The text is not a valid settings file.
    pub fn merge(&self, config: &str) -> Result<MergedSettings, String> {
        Config::parse(config)?;
        let present: toml::Table = toml::from_str(config).map_err(|error| error.to_string())?;
        let mut merged =
            MergedSettings { text: config.to_owned(), left_out: self.left_out.clone(), ..MergedSettings::default() };
        for table in TABLES {
            let mut new = Vec::new();
            for setting in self.settings.iter().filter(|setting| setting.table == table) {
                if setting.is_in(&present) {
                    merged.kept.push(format!("{table}.{}", setting.key));
                } else {
                    new.push(setting);
                }
            }
            if new.is_empty() {
                continue;
            }
            let lines: Vec<String> = new.iter().map(|setting| format!("{} = {}", setting.key, setting.value)).collect();
            let named = lines.iter().map(|line| format!("{table}.{line}"));
            let gap = if merged.text.is_empty() || merged.text.ends_with("\n\n") { "" } else { "\n" };
            let longer = format!("{}{gap}[{table}]\n{}\n", merged.text, lines.join("\n"));
            if Config::parse(&longer).is_ok() {
                merged.added.extend(named);
                merged.text = longer;
            } else {
                merged.by_hand.extend(named);
            }
        }
        Ok(merged)
    }
}

impl Setting {
    fn is_in(&self, config: &toml::Table) -> bool {
        let mut table = config;
        for name in self.table.split('.') {
            match table.get(name) {
                Some(toml::Value::Table(inner)) => table = inner,
                _ => return false,
            }
        }
        table.contains_key(&self.key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(checkpoint: &Value) -> ForeignSettings {
        ForeignSettings::read(&json!({"checkpoint": checkpoint})).unwrap()
    }

    #[test]
    fn switches_limits_and_storage_have_an_equivalent() {
        let settings = read(&json!({
            "enabled": true, "auto_checkpoint": true,
            "checkpoint_triggers": {"phase_transition": true, "agent_complete": false, "conflict_events": false},
            "retention": {"phase_transition": -1, "batch_complete": 5, "manual": 0},
            "storage": {"location": ".claude/crunch/{issue}/checkpoints", "compress": false, "max_size_mb": 50, "other": 1}
        }));
        let merged = settings.merge("").unwrap();
        let expected = "[save.triggers]\nagent_complete = false\nconflict_start = false\n\
            conflict_resolved = false\n\n[retention]\ncompress_after = \"36500d\"\nmax_size = \"50MB\"\n\n\
            [retention.triggers]\nphase_transition = -1\nbatch_complete = 5\n";
        assert_eq!(merged.text, expected);
        assert_eq!(settings.left_out.len(), 3, "{:?}", settings.left_out);
        assert_eq!(settings.merge(&merged.text).unwrap().added, Vec::<String>::new());
        assert_eq!(ForeignSettings::read(&json!({"checkpoint_id": 1})), None);
    }

    #[test]
    fn enabled_and_auto_checkpoint_switch_triggers_off() {
        let wants = |settings: &ForeignSettings, trigger: &Trigger| {
            Config::parse(&settings.merge("").unwrap().text).unwrap().wants(trigger)
        };
        let off = read(&json!({"enabled": false}));
        assert!(Trigger::OF_SAVES.iter().all(|trigger| !wants(&off, trigger)));
        let manual = read(&json!({"auto_checkpoint": false}));
        assert!(wants(&manual, &Trigger::Manual) && wants(&manual, &Trigger::UserInterrupt));
        assert!(!wants(&manual, &Trigger::PhaseTransition));
    }

    #[test]
    fn what_is_set_stays_and_what_cannot_be_added_is_named() {
        let settings = read(&json!({"retention": {"manual": 2, "batch_complete": 4}, "storage": {"max_size_mb": 9}}));
        let config = "# mine\n[retention]\ntriggers = { manual = 7 }\n";
        let merged = settings.merge(config).unwrap();
        assert_eq!(merged.text, config, "the tables are there already");
        assert_eq!(merged.kept, ["retention.triggers.manual"]);
        assert_eq!(merged.by_hand, ["retention.max_size = \"9MB\"", "retention.triggers.batch_complete = 4"]);
        assert!(settings.merge("nonsense").is_err());
    }
}
