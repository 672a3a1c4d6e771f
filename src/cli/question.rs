//! The question that a person at a terminal is asked.

use std::io::BufRead;

use super::ui::Ui;

/// What to do with a workflow that can be resumed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Choice {
    Resume,
    StartFresh,
    View,
    Discard,
}

/// Asks until there is an answer; `None` when the terminal is closed instead.
pub(crate) fn ask(ui: &Ui) -> Option<Choice> {
    loop {
        ui.say("(r)esume, (s)tart fresh, (v)iew details, (d)iscard [r]: ");
        let mut line = String::new();
        match std::io::stdin().lock().read_line(&mut line) {
            Ok(0) | Err(_) => {
                ui.say("\n");
                return None;
            }
            Ok(_) => {}
        }
        match understand(&line) {
            Some(choice) => return Some(choice),
            None => ui.say("Answer with r, s, v or d.\n"),
        }
    }
}

/// Asks whether to go on. Only a clear yes is one; the end of the terminal is none.
pub(crate) fn confirm(ui: &Ui, question: &str) -> bool {
    ui.say(&format!("{question} [y/N]: "));
    let mut line = String::new();
    match std::io::stdin().lock().read_line(&mut line) {
        Ok(0) | Err(_) => {
            ui.say("\n");
            false
        }
        Ok(_) => is_yes(&line),
    }
}

fn is_yes(line: &str) -> bool {
    matches!(line.trim().to_ascii_lowercase().as_str(), "y" | "yes")
}

fn understand(line: &str) -> Option<Choice> {
    Some(match line.trim().to_ascii_lowercase().as_str() {
        "" | "r" | "resume" => Choice::Resume,
        "s" | "start fresh" | "start" | "fresh" => Choice::StartFresh,
        "v" | "view" | "view details" => Choice::View,
        "d" | "discard" => Choice::Discard,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_yes_is_one() {
        for yes in ["y\n", "Y\n", " yes \n"] {
            assert!(is_yes(yes), "{yes:?}");
        }
        for no in ["\n", "n\n", "yy\n", "yes please\n", "j\n"] {
            assert!(!is_yes(no), "{no:?}");
        }
    }

    #[test]
    fn answers_are_letters_or_words_and_nothing_is_guessed() {
        assert_eq!(understand("\n"), Some(Choice::Resume));
        assert_eq!(understand(" S \n"), Some(Choice::StartFresh));
        assert_eq!(understand("discard\n"), Some(Choice::Discard));
        for unknown in ["y", "yes", "rs", "delete", "?"] {
            assert_eq!(understand(unknown), None, "{unknown}");
        }
    }
}
