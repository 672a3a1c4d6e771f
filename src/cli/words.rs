//! Plurals and lists, and the command to begin with.

/// Begins a workflow that can be resumed. It works in any store, also when it is typed twice.
pub(crate) const FIRST_COMMAND: &str = "ckpt start demo --phases plan,build,test --phase plan";

/// `1 checkpoint`, `2 checkpoints`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// The form of a verb for a number: `stays` for one, `stay` for any other.
pub(crate) fn verb(number: usize, one: &'static str, many: &'static str) -> &'static str {
    if number == 1 { one } else { many }
}

/// `a, b and c`.
pub(crate) fn and(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

/// `a, b, c and 9 more`.
pub(crate) fn first_few(words: &[String], most: usize) -> String {
    match left_out(words.len(), most) {
        Some(more) => format!("{} and {more} more", words[..most].join(", ")),
        None => words.join(", "),
    }
}

/// Returns how many items a list that shows at most `most` of them leaves out; `None` if it shows all.
pub(crate) fn left_out(total: usize, most: usize) -> Option<usize> {
    (total > most).then(|| total - most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plurals_and_lists() {
        assert_eq!(count(1, "row"), "1 row");
        assert_eq!(count(0, "row"), "0 rows");
        assert_eq!([0, 1, 2].map(|number| verb(number, "stays", "stay")), ["stay", "stays", "stay"]);
        let words = |list: &[&str]| and(&list.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
        assert_eq!(words(&["a", "b", "c"]), "a, b and c");
        assert_eq!(words(&["a"]), "a");
        let letters: Vec<String> = ["a", "b", "c"].map(str::to_owned).into();
        assert_eq!(first_few(&letters, 2), "a, b and 1 more");
        assert_eq!(first_few(&letters, 3), "a, b, c");
    }
}
