//! The built-in pipelines: those of systems that people already use.
//!
//! Their phases are written in `pipelines/*.toml` like a table `[pipelines.NAME]` of a settings file, and parsed by the
//! same code. They are parsed on use, so that a save that names no pipeline does not pay for them.

use super::phase::PhaseId;
use super::pipeline::{PhaseSpec, Pipeline, PipelineTable};

/// A built-in pipeline.
#[derive(Debug, Clone, Copy)]
pub struct Builtin {
    /// Its name.
    pub name: &'static str,
    /// A description in one line.
    pub about: &'static str,
    /// Its phases as TOML; `None` if they are numbered.
    toml: Option<&'static str>,
    /// The files that each save looks at. They stand here, so that a save does not parse the phases for them.
    watch: &'static [&'static str],
}

/// All built-in pipelines.
pub const ALL: [Builtin; 5] = [
    Builtin {
        name: "kamiflow",
        about: "seven phases from a logical guard to a strategic exit",
        toml: Some(include_str!("pipelines/kamiflow.toml")),
        watch: &["PROJECT_CONTEXT.md"],
    },
    Builtin {
        name: "dotagent",
        about: "five phases with reports under memory/, an approval of the design",
        toml: Some(include_str!("pipelines/dotagent.toml")),
        watch: &[],
    },
    Builtin {
        name: "crunch",
        about: "five phases of an issue",
        toml: Some(include_str!("pipelines/crunch.toml")),
        watch: &[],
    },
    Builtin { name: "claude-dir", about: "numbered phases, as many as --total says", toml: None, watch: &[] },
    Builtin {
        name: "claude-plan",
        about: "the numbered phases of a plan, as many as --total says",
        toml: None,
        watch: &[],
    },
];

/// Returns the built-in pipeline of that name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Builtin> {
    ALL.iter().find(|builtin| builtin.name == name)
}

impl Builtin {
    /// Returns true if the number of phases must be given.
    #[must_use]
    pub fn is_numbered(&self) -> bool {
        self.toml.is_none()
    }

    /// Returns the files that each save looks at.
    #[must_use]
    pub fn watch(&self) -> Vec<String> {
        self.watch.iter().map(|path| (*path).to_owned()).collect()
    }

    /// Returns the pipeline; a numbered one with `total` phases.
    #[must_use]
    pub fn pipeline(&self, total: u32) -> Pipeline {
        let name = self.name.to_owned();
        let pipeline = match self.toml {
            // A test parses all texts, so the empty pipeline is never returned.
            Some(text) => toml::from_str::<PipelineTable>(text)
                .ok()
                .and_then(|table| table.into_pipeline(name.clone()).ok())
                .unwrap_or(Pipeline { name, ..Pipeline::default() }),
            None => Pipeline {
                name,
                phases: PhaseId::numbered(total).map(PhaseSpec::bare).collect(),
                ..Pipeline::default()
            },
        };
        Pipeline { watch: self.watch(), ..pipeline }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_builtin_is_a_pipeline_with_valid_schemas() {
        for builtin in ALL {
            let pipeline = builtin.pipeline(4);
            let checked = Pipeline::new(pipeline.name.clone(), pipeline.phases.clone()).unwrap();
            assert_eq!(checked.name, builtin.name);
            for schema in checked.phases.iter().filter_map(|phase| phase.data_schema.as_ref()) {
                assert_eq!(
                    crate::schema::validate(schema, &serde_json::json!({}), &mut Default::default()),
                    Ok(Vec::new())
                );
            }
        }
        let count = |name: &str| find(name).unwrap().pipeline(6).phases.len();
        assert_eq!((count("kamiflow"), count("dotagent"), count("crunch"), count("claude-plan")), (7, 5, 5, 6));
        let schemas = find("kamiflow").unwrap().pipeline(0).phases;
        assert!(schemas.iter().all(|phase| phase.data_schema.is_some()));
    }
}
