//! Retention: the decision against a table written independently, its properties, its boundaries, and what becomes of
//! a store when it is carried out and something fails or interferes.

mod boundaries;
pub(crate) mod carried_out;
mod facts;
mod oracle;
mod properties;
