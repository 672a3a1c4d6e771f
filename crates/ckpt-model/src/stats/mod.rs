//! Statistics: of the store, of one workflow, and of all runs by pipeline and phase.
//!
//! There is one source, the [`RunFigures`](crate::run_summary::RunFigures) of every workflow, and one pass over them, which
//! `core/store_stats.rs` makes. `stats`, the estimate of `status` and the pages all use these numbers.
//!
//! # Memory
//!
//! It does not grow with the number of workflows: they are visited while their directories are listed, [`Analytics`] keeps counts, and a [`Distribution`] for each phase of at
//! most [`MAX_PIPELINES`] pipelines and for each of the last [`MAX_WEEKS`] weeks. Runs of further pipelines are counted
//! and left out, which the result says.

mod analytics;
mod distribution;
mod estimate;
mod weeks;
mod workflow;

pub use analytics::{
    Analytics, Bottleneck, MAX_PIPELINES, OutcomeCounts, PhaseAnalytics, PipelineAnalytics, RunFilter, Totals,
};
pub use distribution::{Distribution, Spread};
pub use estimate::{Estimate, LEAST_SAMPLES, PipelineKey, estimate};
pub use weeks::{MAX_WEEKS, WeekStats};
pub use workflow::{CheckpointCounts, PhaseStats, WorkflowStats};
