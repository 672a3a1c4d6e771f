//! The two forms of the proof, and its figures.

/// Returns `short`, or `full` if `CKPT_PROOF=full` asks for the whole proof.
pub(crate) fn amount(short: usize, full: usize) -> usize {
    if std::env::var_os("CKPT_PROOF").is_some_and(|form| form == "full") { full } else { short }
}

/// Prints a figure on a line of its own; `tests/proof.sh` collects them.
pub(crate) fn figure(text: &str) {
    println!("\nproof: {text}");
}
