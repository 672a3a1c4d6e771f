//! Settings: `.ckpt/config.toml`, with defaults from `config.toml` in the user's configuration directory. `core/settings_file.rs`
//! reads the files.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::builtin;
use super::checkpoint::CUSTOM_PIPELINE;
use super::external::{ChangeSeverity, FactSeverities};
use super::name::check_name;
use super::paths::is_inside_project;
use super::phase::PhaseId;
use super::pipeline::{PhaseSpec, Pipeline, PipelineError, PipelineTable};
use super::retention::RetentionSettings;
use super::schema;
use super::size::Size;
use super::span::Span;
use super::trigger::Trigger;

/// The largest artifact that is hashed, unless configured.
const DEFAULT_MAX_ARTIFACT: Size = Size(1 << 30);

/// The limits of what is kept of artifacts, unless configured.
const DEFAULT_CAPTURE: CaptureLimits = CaptureLimits { max_file: Size(10_000_000), max_store: Size(1_000_000_000) };

/// The settings of a store.
#[derive(Debug, Clone, Default)]
pub struct Config {
    save: SaveTable,
    artifacts: ArtifactsTable,
    resume: ResumeTable,
    agents: AgentsTable,
    retention: RetentionSettings,
    remote: RemoteTable,
    pipelines: BTreeMap<String, Pipeline>,
}

/// When checkpoints are pushed without being asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PushMode {
    /// Never.
    #[default]
    Manual,
    /// After a save that ends a phase or the workflow.
    End,
    /// With every save.
    Always,
}

impl PushMode {
    /// Returns the word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Manual => "manual",
            Self::End => "end",
            Self::Always => "always",
        }
    }
}

/// The limits of the checks of `resume`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// A checkpoint older than this is reported as stale.
    pub stale_after: Span,
    /// A checkpoint older than this needs a confirmation.
    pub confirm_after: Span,
    /// The number of times a phase may be reopened.
    pub replans: u32,
    /// The attempts of a task before it blocks, unless its phase has a limit.
    pub task_attempts: u32,
    /// Another session that saved within this time may still be running.
    pub recent: Span,
    /// The severity of an artifact that has changed. Without one, it is advice, or needs a confirmation if the change can
    /// be shown.
    pub changed_artifacts: Option<ChangeSeverity>,
}

/// The limits of what a save keeps of artifacts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CaptureLimits {
    /// The largest file that is kept.
    pub max_file: Size,
    /// The size of all objects together.
    pub max_store: Size,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            stale_after: Span::from_days(7),
            confirm_after: Span::from_days(30),
            replans: 2,
            task_attempts: 3,
            recent: Span::from_minutes(10),
            changed_artifacts: None,
        }
    }
}

impl Config {
    /// Parses the text of a settings file.
    ///
    /// # Errors
    /// A message that names the key, with line and column if known.
    pub fn parse(text: &str) -> Result<Self, String> {
        let file: ConfigFile = toml::from_str(text).map_err(|error| describe(&error, text))?;
        for trigger in file.save.triggers.keys() {
            trigger.parse::<Trigger>().map_err(|error| format!("[save.triggers]: {error}"))?;
        }
        if file.resume.replan_limit.is_some_and(|limit| !(1..=5).contains(&limit)) {
            return Err("[resume]: `replan_limit` is a number from 1 to 5".to_owned());
        }
        if let Some(path) = file.resume.watch.iter().flatten().find(|path| !is_inside_project(path)) {
            return Err(format!("[resume]: `watch` names `{path}`, which lies outside the project"));
        }
        file.retention.check()?;
        let mut pipelines = BTreeMap::new();
        for (name, table) in file.pipelines {
            let at = |message: String| format!("[pipelines.{name}]: {message}");
            check_name("a pipeline", &name, &[]).map_err(|error| at(error.to_string()))?;
            if name == CUSTOM_PIPELINE {
                return Err(at(format!(
                    "`{CUSTOM_PIPELINE}` stands for lists given with `--phases`; choose another name"
                )));
            }
            let pipeline = table.into_pipeline(name.clone()).map_err(|error| at(error.to_string()))?;
            if let Some(path) = pipeline.watch.iter().find(|path| !is_inside_project(path)) {
                return Err(at(format!("`watch` names `{path}`, which lies outside the project")));
            }
            for phase in &pipeline.phases {
                check_schemas(phase).map_err(&at)?;
            }
            pipelines.insert(name, pipeline);
        }
        Ok(Self {
            save: file.save,
            artifacts: file.artifacts,
            resume: file.resume,
            agents: file.agents,
            retention: file.retention,
            remote: file.remote,
            pipelines,
        })
    }

    /// Returns these settings, with those of `lower` where they are not set.
    #[must_use]
    pub fn over(mut self, lower: Self) -> Self {
        for (trigger, on) in lower.save.triggers {
            self.save.triggers.entry(trigger).or_insert(on);
        }
        for (name, pipeline) in lower.pipelines {
            self.pipelines.entry(name).or_insert(pipeline);
        }
        self.save.max_artifact_size = self.save.max_artifact_size.or(lower.save.max_artifact_size);
        self.save.auto_cleanup = self.save.auto_cleanup.or(lower.save.auto_cleanup);
        self.artifacts.capture = self.artifacts.capture.or(lower.artifacts.capture);
        self.artifacts.max_file = self.artifacts.max_file.or(lower.artifacts.max_file);
        self.artifacts.max_store = self.artifacts.max_store.or(lower.artifacts.max_store);
        self.agents.gate = self.agents.gate.or(lower.agents.gate);
        self.retention = self.retention.over(lower.retention);
        // The two belong together: whoever names a remote says when it is used.
        let allow_http = lower.remote.allow_http;
        if self.remote.url.is_none() {
            self.remote = RemoteTable { is_own: true, ..lower.remote };
        }
        // The settings of a project may not give up encryption.
        self.remote.allow_http = allow_http;
        self.resume.watch = self.resume.watch.or(lower.resume.watch);
        self.resume.stale_after = self.resume.stale_after.or(lower.resume.stale_after);
        self.resume.confirm_after = self.resume.confirm_after.or(lower.resume.confirm_after);
        self.resume.replan_limit = self.resume.replan_limit.or(lower.resume.replan_limit);
        self.resume.task_limit = self.resume.task_limit.or(lower.resume.task_limit);
        self.resume.changed_artifacts = self.resume.changed_artifacts.or(lower.resume.changed_artifacts);
        for (place, severity) in lower.resume.facts {
            self.resume.facts.entry(place).or_insert(severity);
        }
        self
    }

    /// Returns true unless saves with this trigger are switched off.
    #[must_use]
    pub fn wants(&self, trigger: &Trigger) -> bool {
        self.save.triggers.get(trigger.word()).copied().unwrap_or(true)
    }

    /// Returns the size of the largest artifact that is hashed.
    #[must_use]
    pub fn max_artifact(&self) -> Size {
        self.save.max_artifact_size.unwrap_or(DEFAULT_MAX_ARTIFACT)
    }

    /// Returns true if the contents of artifacts are kept.
    #[must_use]
    pub fn capture(&self) -> bool {
        self.artifacts.capture.unwrap_or(false)
    }

    /// Returns the limits of what is kept of artifacts.
    #[must_use]
    pub fn capture_limits(&self) -> CaptureLimits {
        CaptureLimits {
            max_file: self.artifacts.max_file.unwrap_or(DEFAULT_CAPTURE.max_file),
            max_store: self.artifacts.max_store.unwrap_or(DEFAULT_CAPTURE.max_store),
        }
    }

    /// Returns true if a save is followed by a cleanup.
    #[must_use]
    pub fn auto_cleanup(&self) -> bool {
        self.save.auto_cleanup.unwrap_or(true)
    }

    /// Returns true if an agent that stops while a phase is open is asked about it.
    #[must_use]
    pub fn gate(&self) -> bool {
        self.agents.gate.unwrap_or(false)
    }

    /// Returns the retention settings.
    #[must_use]
    pub fn retention(&self) -> &RetentionSettings {
        &self.retention
    }

    /// Returns the address of the remote.
    #[must_use]
    pub fn remote_url(&self) -> Option<&str> {
        self.remote.url.as_deref()
    }

    /// Returns when checkpoints are pushed.
    #[must_use]
    pub fn push_mode(&self) -> PushMode {
        self.remote.push.unwrap_or_default()
    }

    /// Returns true if the settings of the user allow unencrypted connections to other machines.
    #[must_use]
    pub fn allow_http(&self) -> bool {
        self.remote.allow_http.unwrap_or(false)
    }

    /// Returns true if the remote is that of the settings of the user, and not of the store, which may be a stranger's.
    #[must_use]
    pub fn is_own_remote(&self) -> bool {
        self.remote.is_own
    }

    /// Returns the watched files, relative to the project.
    #[must_use]
    pub fn watched(&self) -> &[String] {
        self.resume.watch.as_deref().unwrap_or_default()
    }

    /// Returns the files that a workflow that follows this pipeline depends on, without those of the settings.
    #[must_use]
    pub fn watched_by(&self, pipeline: &str) -> Vec<String> {
        match self.pipelines.get(pipeline) {
            Some(configured) => configured.watch.clone(),
            None => builtin::find(pipeline).map(builtin::Builtin::watch).unwrap_or_default(),
        }
    }

    /// Returns the limits of the checks of `resume`.
    #[must_use]
    pub fn limits(&self) -> Limits {
        let default = Limits::default();
        Limits {
            stale_after: self.resume.stale_after.unwrap_or(default.stale_after),
            confirm_after: self.resume.confirm_after.unwrap_or(default.confirm_after),
            replans: self.resume.replan_limit.unwrap_or(default.replans),
            task_attempts: self.resume.task_limit.unwrap_or(default.task_attempts),
            changed_artifacts: self.resume.changed_artifacts,
            ..default
        }
    }

    /// Returns the limits of the checks of `resume` for a workflow that follows a pipeline.
    #[must_use]
    pub fn limits_for(&self, pipeline: Option<&str>) -> Limits {
        let mut limits = self.limits();
        if limits.changed_artifacts.is_none() {
            limits.changed_artifacts = self.declared(pipeline).and_then(|declared| declared.changed_artifacts);
        }
        limits
    }

    /// Returns the severities of changes of external facts: those of the settings, and those of the pipeline where the
    /// settings have none.
    #[must_use]
    pub fn fact_severities(&self, pipeline: Option<&str>) -> FactSeverities {
        let mut severities = self.declared(pipeline).map(|declared| declared.fact_severities).unwrap_or_default();
        severities.extend(self.resume.facts.iter().map(|(place, severity)| (place.clone(), *severity)));
        severities
    }

    /// Returns the prefixes of labels of which a workflow that follows this pipeline has only one.
    #[must_use]
    pub fn exclusive_labels(&self, pipeline: &str) -> Vec<String> {
        self.declared(Some(pipeline)).map(|declared| declared.exclusive_labels).unwrap_or_default()
    }

    /// Returns the declaration of a pipeline, without the phases of a numbered one.
    fn declared(&self, pipeline: Option<&str>) -> Option<Pipeline> {
        let name = pipeline?;
        match self.pipelines.get(name) {
            Some(configured) => Some(configured.clone()),
            None => Some(builtin::find(name)?.pipeline(0)),
        }
    }

    /// Returns the pipeline with this name, configured or built in. A numbered one has `total` phases.
    ///
    /// # Errors
    /// There is none with this name, or `total` is missing or not applicable.
    pub fn pipeline(&self, name: &str, total: Option<u32>) -> Result<Pipeline, PipelineError> {
        if let Some(configured) = self.pipelines.get(name) {
            return match total {
                None => Ok(configured.clone()),
                Some(_) => Err(PipelineError::HasItsOwn(name.to_owned())),
            };
        }
        let Some(builtin) = builtin::find(name) else {
            let known = self.pipeline_names().map(str::to_owned).collect();
            return Err(PipelineError::Unknown { given: name.to_owned(), known });
        };
        match (builtin.is_numbered(), total) {
            (true, Some(total @ 1..)) => Ok(builtin.pipeline(total)),
            (true, _) => Err(PipelineError::NeedsTotal(name.to_owned())),
            (false, None) => Ok(builtin.pipeline(0)),
            (false, Some(_)) => Err(PipelineError::HasItsOwn(name.to_owned())),
        }
    }

    /// Returns the schema of the data of a phase, if its pipeline has one.
    #[must_use]
    pub fn data_schema(&self, pipeline: &str, phase: &PhaseId) -> Option<Value> {
        self.declared(Some(pipeline))?.phase(phase)?.data_schema.clone()
    }

    /// Iterates over the names of all pipelines: the configured ones, then the built-in ones.
    pub fn pipeline_names(&self) -> impl Iterator<Item = &str> {
        let builtin = builtin::ALL.iter().map(|builtin| builtin.name);
        let configured = self.pipelines.keys().map(String::as_str);
        configured.chain(builtin.filter(|name| !self.pipelines.contains_key(*name)))
    }

    /// Returns true if the pipeline with this name is configured.
    #[must_use]
    pub fn is_configured(&self, name: &str) -> bool {
        self.pipelines.contains_key(name)
    }
}

/// Checks that the schemas of a phase can be used without much work: the settings may be somebody else's.
fn check_schemas(phase: &PhaseSpec) -> Result<(), String> {
    let data = phase.data_schema.iter().map(|schema| ("`data_schema`".to_owned(), schema));
    let outputs = phase
        .outputs
        .iter()
        .filter_map(|output| Some((format!("`schema` of the output `{}`", output.path), output.schema.as_ref()?)));
    for (what, schema) in data.chain(outputs) {
        schema::check(schema).map_err(|error| format!("{what} of phase `{}`: {error}", phase.id))?;
    }
    Ok(())
}

fn describe(error: &toml::de::Error, text: &str) -> String {
    let message = error.message().trim_end();
    match error.span() {
        Some(span) => {
            let before = &text[..span.start.min(text.len())];
            let line = before.matches('\n').count() + 1;
            let column = before.len() - before.rfind('\n').map_or(0, |newline| newline + 1) + 1;
            format!("{message} at line {line} column {column}")
        }
        None => message.to_owned(),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ConfigFile {
    #[serde(default)]
    save: SaveTable,
    #[serde(default)]
    artifacts: ArtifactsTable,
    #[serde(default)]
    resume: ResumeTable,
    #[serde(default)]
    agents: AgentsTable,
    #[serde(default)]
    retention: RetentionSettings,
    #[serde(default)]
    remote: RemoteTable,
    #[serde(default)]
    pipelines: BTreeMap<String, PipelineTable>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct RemoteTable {
    url: Option<String>,
    push: Option<PushMode>,
    allow_http: Option<bool>,
    /// True if the settings of the user name it.
    #[serde(skip)]
    is_own: bool,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct SaveTable {
    #[serde(default)]
    triggers: BTreeMap<String, bool>,
    max_artifact_size: Option<Size>,
    auto_cleanup: Option<bool>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ArtifactsTable {
    capture: Option<bool>,
    max_file: Option<Size>,
    max_store: Option<Size>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct AgentsTable {
    gate: Option<bool>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ResumeTable {
    watch: Option<Vec<String>>,
    stale_after: Option<Span>,
    confirm_after: Option<Span>,
    replan_limit: Option<u32>,
    task_limit: Option<u32>,
    changed_artifacts: Option<ChangeSeverity>,
    #[serde(default)]
    facts: FactSeverities,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pipelines_have_a_short_and_a_long_form() {
        let config = Config::parse(
            r#"
            [pipelines.release]
            phases = ["plan", "build"]

            [pipelines.careful]
            phases = [
              "think",
              { id = "make", name = "Make it", action = "Write code", approval = true, task_limit = 2,
                outputs = ["out.txt", { path = "r.json", schema = { type = "object" } }] },
            ]
            "#,
        )
        .unwrap();
        assert_eq!(config.pipeline_names().take(2).collect::<Vec<_>>(), ["careful", "release"]);
        let make = &config.pipeline("careful", None).unwrap().phases[1];
        assert_eq!((make.name.as_deref(), make.approval, make.outputs.len()), (Some("Make it"), true, 2));
        assert_eq!(make.outputs[1].schema, Some(serde_json::json!({"type": "object"})));
    }

    #[test]
    fn mistakes_are_named() {
        let cases = [
            ("[save]\nautocleanup = true", "unknown field `autocleanup`"),
            ("[save.triggers]\nphase_transtion = false", "is not a trigger"),
            ("[pipelines.x]\nphases = []", "at least one phase"),
            ("[pipelines.x]\nphases = [\"a\",\"a\"]", "listed twice"),
            ("[pipelines.x]\nphases = [\"a,b\"]", "expected the id of a phase"),
            ("[pipelines.custom]\nphases = [\"a\"]", "choose another name"),
            ("[save]\nmax_artifact_size = \"lots\"", "is not a size"),
            ("= 1", "line 1 column 1"),
            ("[resume]\nreplan_limit = 6", "from 1 to 5"),
            ("[resume]\nstale_after = \"7\"", "unit"),
            ("[retention]\nkeep = 3", "unknown field `keep`"),
            ("[retention]\ntriggers = { manual = 0 }", "0 would keep nothing"),
            ("[retention]\ntriggers = { manual = \"some\" }", "not a number to keep"),
            ("[retention]\ntriggers = { nothing = 1 }", "is not a trigger"),
            ("[retention]\nmax_age = \"7\"", "unit"),
            ("[retention]\nmax_size = 50", "expected a string"),
            ("[retention]\nprevious_runs = 0", "0 would keep nothing"),
        ];
        for (text, expected) in cases {
            let message = Config::parse(text).unwrap_err();
            assert!(message.contains(expected), "{text}: {message}");
        }
    }

    #[test]
    fn the_store_wins_over_the_user() {
        let store = Config::parse("[save.triggers]\nmanual = true").unwrap();
        let user = Config::parse("[save.triggers]\nmanual = false\nagent_complete = false").unwrap();
        let config = store.over(user);
        assert!(config.wants(&Trigger::Manual));
        assert!(!config.wants(&Trigger::AgentComplete));
        assert!(config.wants(&Trigger::PhaseTransition));
    }
}
