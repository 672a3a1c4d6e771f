//! `ckpt ui` over real sockets, and `ckpt report`.

mod actions;
mod browser;
mod hostile_site;
mod pages;
mod report;
mod site;
