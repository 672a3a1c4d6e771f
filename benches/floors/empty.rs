//! The least that any process can be: start and end.

fn main() {}
