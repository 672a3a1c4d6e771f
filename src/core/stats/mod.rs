//! Statistics: of the store, of one workflow, and of all runs by pipeline and phase.
//!
//! There is one source, the [`RunSummary`](crate::core::run_summary::RunSummary) of every run, live or archived, and one
//! pass over it. `stats`, the estimate of `status` and the pages all use these numbers.
//!
//! # Memory
//!
//! It does not grow with the number of workflows: [`Analytics`] keeps counts, and a [`Distribution`] for each phase of at
//! most [`MAX_PIPELINES`] pipelines and for each of the last [`MAX_WEEKS`] weeks. Runs of further pipelines are counted
//! and left out, which the result says.

mod analytics;
mod distribution;
mod estimate;
mod store;
mod weeks;
mod workflow;

pub use analytics::{
    Analytics, Bottleneck, MAX_PIPELINES, OutcomeCounts, PhaseAnalytics, PipelineAnalytics, RunFilter,
    collect,
};
pub use distribution::{Distribution, Spread};
pub use estimate::{Estimate, LEAST_SAMPLES, PipelineKey, estimate};
pub use store::{StatusCounts, StoreStats, of_store};
pub use weeks::{MAX_WEEKS, WeekStats};
pub use workflow::{PhaseStats, WorkflowStats, of_workflow};
