//! The answers of `ckpt pipeline`.

use serde::Serialize;

use crate::cli::answer::Report;
use crate::cli::style::Style;
use crate::cli::table::{Cell, columns, render};
use crate::cli::text_page::TextPage;
use ckpt_model::pipeline::{PhaseSpec, Pipeline};
use ckpt_model::{Config, builtin};

/// A list of the pipelines.
#[derive(Debug, Serialize)]
pub(crate) struct PipelinesReport {
    pipelines: Vec<ListedPipeline>,
    warnings: Vec<String>,
}

#[derive(Debug, Serialize)]
struct ListedPipeline {
    name: String,
    source: &'static str,
    /// `None` if each save gives the number.
    phases: Option<usize>,
    about: String,
}

impl PipelinesReport {
    pub(crate) fn new(config: &Config) -> Self {
        let line = |name: &str| {
            let builtin = if config.is_configured(name) { None } else { builtin::find(name) };
            let pipeline = config.pipeline(name, None).ok();
            let list = pipeline.as_ref().map(|pipeline| {
                pipeline.phases.iter().map(|phase| phase.id.to_string()).collect::<Vec<_>>().join(", ")
            });
            ListedPipeline {
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

    fn answer(&self, page: &mut TextPage) {
        let row = |line: &ListedPipeline| {
            vec![
                Cell::styled(page.escape(&line.name), Style::Bold),
                Cell::new(line.source),
                Cell::right(line.phases.map_or_else(|| "N".to_owned(), |phases| phases.to_string())),
                Cell::new(page.escape(&line.about)),
            ]
        };
        let rows: Vec<_> = self.pipelines.iter().map(row).collect();
        render(page, &columns(["NAME", "SOURCE", "PHASES", "ABOUT"]), &rows);
    }
}

/// One pipeline.
#[derive(Debug, Serialize)]
pub(crate) struct PipelineReport {
    #[serde(flatten)]
    pipeline: Pipeline,
    /// True if each save gives the number of phases, and none was given here.
    numbered: bool,
    warnings: Vec<String>,
}

impl PipelineReport {
    pub(crate) fn new(pipeline: Pipeline) -> Self {
        Self { pipeline, numbered: false, warnings: Vec::new() }
    }

    /// A pipeline that has no phases until a save gives their number.
    pub(crate) fn numbered(name: &str) -> Self {
        let pipeline = Pipeline { name: name.to_owned(), ..Pipeline::default() };
        Self { pipeline, numbered: true, warnings: Vec::new() }
    }
}

impl Report for PipelineReport {
    const FORMAT: &'static str = "ckpt.pipeline.v1";

    fn essential(&self) -> String {
        self.pipeline.phases.iter().map(|phase| format!("{}\n", phase.id)).collect()
    }

    fn answer(&self, page: &mut TextPage) {
        if self.numbered {
            let name = page.paint(Style::Bold, &page.escape(&self.pipeline.name));
            page.line(format!("{name}: phases 1 to N; `--total N` says how many, here and with `ckpt save`"));
            return;
        }
        let row = |phase: &PhaseSpec| {
            let mut details = Vec::new();
            details.extend(phase.action.as_deref().map(|action| page.escape(action)));
            if phase.approval {
                details.push("needs approval".to_owned());
            }
            for output in &phase.outputs {
                details.push(format!("writes {}", page.escape(&output.path)));
            }
            if phase.data_schema.is_some() {
                details.push("data has a schema".to_owned());
            }
            vec![
                Cell::styled(page.escape(phase.id.as_str()), Style::Bold),
                Cell::or_hyphen(phase.name.as_deref().map(|name| page.escape(name))),
                Cell::new(details.join("; ")),
            ]
        };
        let rows: Vec<_> = self.pipeline.phases.iter().map(row).collect();
        render(page, &columns(["PHASE", "NAME", "DETAILS"]), &rows);
    }
}
