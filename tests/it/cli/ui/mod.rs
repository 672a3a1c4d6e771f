//! `ckpt ui` over real sockets, and `ckpt report`.

mod actions;
mod hostile_site;
mod hostile_store;
mod pages;
mod report;
mod site;
