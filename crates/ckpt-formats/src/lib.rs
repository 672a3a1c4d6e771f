//! The checkpoint files of other systems: `dialects` reads them into drafts and writes them, `import` saves drafts to a
//! store, `export` writes what a checkpoint says into a project.

pub mod dialects;
pub mod export;
pub mod foreign_settings;
pub mod import;
