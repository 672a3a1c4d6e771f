//! Input that is wrong, hostile or damaged, and a disk that does not cooperate.

mod artifacts;
mod bundles;
mod clock;
mod damage;
mod exhaustion;
mod foreign_owner;
mod hostile_text;
mod ids;
mod json;
mod numbers;
mod places;
mod schemas;
mod signals;
mod versions;
