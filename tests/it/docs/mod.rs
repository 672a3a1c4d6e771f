//! The documentation is true: its commands are run, its links lead somewhere, and its reference lists everything.

mod commands;
mod console;
mod documents;
mod links;
mod manual;
mod pages;
mod prompt;
mod quick_start;
mod reference;
mod settings;
