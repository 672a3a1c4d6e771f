//! The answers of `ckpt pipeline`.

use serde::Serialize;
use serde_json::Value;

use crate::cli::page::Page;
use crate::cli::report::Report;
use crate::cli::style::Style;
use crate::cli::table::{Cell, render};
use crate::core::pipeline::Pipeline;
use crate::core::{Config, PhaseId, builtin};

/// All pipelines.
#[derive(Debug, Serialize)]
pub(crate) struct PipelinesReport {
    pipelines: Vec<PipelineLine>,
    warnings: Vec<String>,
}

#[derive(Debug, Serialize)]
struct PipelineLine {
    name: String,
    source: &'static str,
    /// The number of phases; null if it is given with the save.
    phases: Option<usize>,
    about: String,
}

impl PipelinesReport {
    pub(crate) fn new(config: &Config) -> Self {
        let line = |name: &str| {
            let builtin = builtin::find(name).filter(|_| !config.is_configured(name));
            let pipeline = config.pipeline(name, None).ok();
            let list = pipeline.as_ref().map(|pipeline| {
                pipeline.phases.iter().map(|phase| phase.id.to_string()).collect::<Vec<_>>().join(", ")
            });
            PipelineLine {
                name: name.to_owned(),
                source: if builtin.is_some() { "builtin" } else { "config" },
                phases: pipeline.map(|pipeline| pipeline.phases.len()),
                about: builtin.map(|builtin| builtin.about.to_owned()).or(list).unwrap_or_default(),
            }
        };
        Self { pipelines: config.pipeline_names().map(line).collect(), warnings: Vec::new() }
    }
}

impl Report for PipelinesReport {
    const FORMAT: &'static str = "ckpt.pipelines.v1";

    fn essential(&self) -> String {
        self.pipelines.iter().map(|line| format!("{}\n", line.name)).collect()
    }

    fn answer(&self, page: &mut Page) {
        let row = |line: &PipelineLine| {
            vec![
                Cell::styled(page.foreign(&line.name), Style::Bold),
                Cell::new(line.source),
                Cell::right(line.phases.map_or_else(|| "N".to_owned(), |phases| phases.to_string())),
                Cell::new(page.foreign(&line.about)),
            ]
        };
        let rows: Vec<_> = self.pipelines.iter().map(row).collect();
        render(page, &["NAME", "SOURCE", "PHASES", "ABOUT"], &rows);
    }
}

/// One pipeline.
#[derive(Debug, Serialize)]
pub(crate) struct PipelineReport {
    name: String,
    /// Whether its phases are as many as a save says, and no number was given here.
    numbered: bool,
    phases: Vec<PhaseReport>,
    warnings: Vec<String>,
}

#[derive(Debug, Serialize)]
struct PhaseReport {
    id: PhaseId,
    name: Option<String>,
    action: Option<String>,
    approval: bool,
    approval_evidence: Option<String>,
    outputs: Vec<OutputReport>,
    data_schema: Option<Value>,
    task_limit: Option<u32>,
}

#[derive(Debug, Serialize)]
struct OutputReport {
    path: String,
    schema: Option<Value>,
}

impl PipelineReport {
    pub(crate) fn new(pipeline: &Pipeline) -> Self {
        let phases = pipeline.phases.iter().map(|phase| PhaseReport {
            id: phase.id.clone(),
            name: phase.name.clone(),
            action: phase.action.clone(),
            approval: phase.approval,
            approval_evidence: phase.approval_evidence.clone(),
            outputs: phase
                .outputs
                .iter()
                .map(|(path, schema)| OutputReport { path: path.clone(), schema: schema.clone() })
                .collect(),
            data_schema: phase.data_schema.clone(),
            task_limit: phase.task_limit,
        });
        let phases = phases.collect();
        Self { name: pipeline.name.clone(), numbered: false, phases, warnings: Vec::new() }
    }

    /// One that has no phases before somebody says how many.
    pub(crate) fn numbered(name: &str) -> Self {
        Self { name: name.to_owned(), numbered: true, phases: Vec::new(), warnings: Vec::new() }
    }
}

impl Report for PipelineReport {
    const FORMAT: &'static str = "ckpt.pipeline.v1";

    fn essential(&self) -> String {
        self.phases.iter().map(|phase| format!("{}\n", phase.id)).collect()
    }

    fn answer(&self, page: &mut Page) {
        if self.numbered {
            let name = page.paint(Style::Bold, &page.foreign(&self.name));
            page.line(format!("{name}: phases 1 to N; `--total N` says how many, here and with `ckpt save`"));
            return;
        }
        let row = |phase: &PhaseReport| {
            let mut details = Vec::new();
            details.extend(phase.action.as_deref().map(|action| page.foreign(action)));
            if phase.approval {
                details.push("needs approval".to_owned());
            }
            details
                .extend(phase.outputs.iter().map(|output| format!("writes {}", page.foreign(&output.path))));
            if phase.data_schema.is_some() {
                details.push("data has a schema".to_owned());
            }
            vec![
                Cell::styled(page.foreign(phase.id.as_str()), Style::Bold),
                Cell::new(phase.name.as_deref().map_or_else(|| "-".to_owned(), |name| page.foreign(name))),
                Cell::new(details.join("; ")),
            ]
        };
        let rows: Vec<_> = self.phases.iter().map(row).collect();
        render(page, &["PHASE", "NAME", "DETAILS"], &rows);
    }
}
