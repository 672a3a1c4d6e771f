//! Resuming: the judgement against an independent oracle, every boundary, and every ruling.

mod boundaries;
mod findings;
mod oracle;
mod rulings;
mod setup;
