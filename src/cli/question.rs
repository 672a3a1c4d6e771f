//! Questions to a person at a terminal.

use std::io::BufRead;

use super::output::Output;

/// The choices for a workflow that can be resumed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Choice {
    Resume,
    StartFresh,
    View,
    Discard,
}

/// Asks until the answer is one of the choices; `None` to quit, or at the end of input. Only where it is safe, `resume` is
/// the answer of the Enter key.
pub(crate) fn ask(output: &Output, is_safe: bool) -> Option<Choice> {
    let default = if is_safe { " [r]" } else { "" };
    loop {
        let question = format!("(r)esume, (s)tart fresh, (v)iew details, (d)iscard, (q)uit{default}: ");
        let answer = read_answer(output, &question)?;
        match answer.trim().to_ascii_lowercase().as_str() {
            "" if is_safe => return Some(Choice::Resume),
            "q" | "quit" | "n" | "no" => return None,
            "r" | "resume" | "y" | "yes" => return Some(Choice::Resume),
            "s" | "start fresh" | "start" | "fresh" => return Some(Choice::StartFresh),
            "v" | "view" | "view details" => return Some(Choice::View),
            "d" | "discard" | "delete" => return Some(Choice::Discard),
            _ => output.say("Answer with r, s, v, d or q.\n"),
        }
    }
}

/// The choices after a phase has failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AfterFailure {
    Retry,
    Skip,
    Abort,
    /// To be asked about the workflow instead.
    Other,
}

/// Asks what to do about a phase that failed; `None` for nothing, or at the end of input. `has_others` is true if there are
/// other choices.
pub(crate) fn ask_after_failure(output: &Output, has_others: bool) -> Option<AfterFailure> {
    let others = if has_others { ", (o)ther choices" } else { "" };
    loop {
        let question = format!("(r)etry the phase, (s)kip it, (a)bort the workflow{others}, (q)uit [q]: ");
        let answer = read_answer(output, &question)?;
        match answer.trim().to_ascii_lowercase().as_str() {
            "r" | "retry" => return Some(AfterFailure::Retry),
            "s" | "skip" => return Some(AfterFailure::Skip),
            "a" | "abort" => return Some(AfterFailure::Abort),
            "o" | "other" if has_others => return Some(AfterFailure::Other),
            "" | "q" | "quit" => return None,
            _ => output.say("Answer with one of the letters in brackets.\n"),
        }
    }
}

/// Asks a yes-or-no question. Everything but a clear yes means no, the end of input included.
pub(crate) fn confirm(output: &Output, question: &str) -> bool {
    read_answer(output, &format!("{question} [y/N]: ")).is_some_and(|answer| is_yes(&answer))
}

/// Returns one line of input; `None` at its end.
fn read_answer(output: &Output, prompt: &str) -> Option<String> {
    output.say(prompt);
    let mut line = String::new();
    match std::io::stdin().lock().read_line(&mut line) {
        Ok(0) | Err(_) => {
            output.say("\n");
            None
        }
        Ok(_) => Some(line),
    }
}

fn is_yes(line: &str) -> bool {
    matches!(line.trim().to_ascii_lowercase().as_str(), "y" | "yes")
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
}
