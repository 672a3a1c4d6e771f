//! Objects: the kept contents of artifacts.

mod contents;
