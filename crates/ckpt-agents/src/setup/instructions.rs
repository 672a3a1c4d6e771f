//! The paragraph for `AGENTS.md`, `CLAUDE.md` and `GEMINI.md`, between markers. It is written only if asked for.

const BEGIN: &str = "<!-- ckpt: begin, written by `ckpt setup --instructions` -->";
const END: &str = "<!-- ckpt: end -->";

const TEXT: &str = "\
## Checkpoints

Run `ckpt brief` first and continue the work that it names. Begin new work with
`ckpt start NAME --phases plan,build,test --phase plan`. After each phase run
`ckpt done NAME --phase PHASE --next \"what comes next\"`; the last one completes the workflow.
";

/// Returns the text with the paragraph: in the place where it is, or at the end.
pub(super) fn with(text: &str) -> String {
    let block = format!("{BEGIN}\n{TEXT}{END}\n");
    if let Some((before, after)) = around(text) {
        return format!("{before}{block}{after}");
    }
    let gap = match text {
        "" => "",
        text if text.ends_with('\n') => "\n",
        _ => "\n\n",
    };
    format!("{text}{gap}{block}")
}

/// Returns the text without the paragraph and the line before it.
pub(super) fn without(text: &str) -> String {
    match around(text) {
        Some((before, after)) => {
            format!("{}{after}", before.strip_suffix("\n\n").map_or(before.to_owned(), |kept| format!("{kept}\n")))
        }
        None => text.to_owned(),
    }
}

/// Returns the text before and after the paragraph.
fn around(text: &str) -> Option<(&str, &str)> {
    let (before, rest) = text.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some((before, after.strip_prefix('\n').unwrap_or(after)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_paragraph_is_added_once_and_taken_out_again() {
        for text in ["", "# Mine\n", "# Mine\n\nText.\n"] {
            let with_paragraph = with(text);
            assert!(with_paragraph.starts_with(text) && with_paragraph.contains("ckpt brief"));
            assert_eq!(with(&with_paragraph), with_paragraph);
            assert_eq!(without(&with_paragraph), text);
            let continued = format!("{with_paragraph}\nMore.\n");
            assert_eq!(with(&continued), continued);
            assert!(without(&continued).ends_with("\nMore.\n"));
        }
        assert_eq!(without("no markers"), "no markers");
    }
}
