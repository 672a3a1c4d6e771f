//! Picking one item of a list with the arrow keys, at a terminal.

use console::{Key, Term};

use super::escape::truncate;
use super::output::Output;
use ckpt_platform::TerminalGuard;

/// The most items that are on the screen at once.
const MOST_LINES: usize = 10;
/// The lines beside the items: the question, the keys, and one that stays free.
const OTHER_LINES: usize = 3;

/// Asks a person to pick one of several items, which are lines that are safe to show. Returns none if the person leaves
/// instead, with Esc, q or Ctrl-C. The question is removed from the screen in either case.
///
/// The terminal is in raw mode only while a key is awaited, and Ctrl-C is a key then. A signal that ends the program gives
/// the mode back.
pub(crate) fn pick(output: &Output, question: &str, items: &[String]) -> Option<usize> {
    let keyboard = Term::stderr();
    let guard = TerminalGuard::install();
    let mut picker = Picker { count: items.len(), selected: 0, top: 0 };
    let mut drawn = 0;
    loop {
        let (columns, rows) = output.conversation_size();
        let lines = picker.lines(question, items, columns, rows);
        output.say(&format!("{}{}\n", erase(drawn), lines.join("\n")));
        drawn = lines.len();
        let key = keyboard.read_key_raw();
        // A signal that ends the program interrupts the wait for a key, which may look like Ctrl-C.
        guard.await_end();
        let step = key.map_or(Step::Leave, |key| picker.press(&key));
        if step == Step::Stay {
            continue;
        }
        output.say(&erase(drawn));
        return (step == Step::Take).then_some(picker.selected);
    }
}

/// Removes the last lines from the screen.
fn erase(lines: usize) -> String {
    if lines == 0 { String::new() } else { format!("\r\u{1b}[{lines}A\u{1b}[J") }
}

/// The state of a question.
#[derive(Debug)]
struct Picker {
    count: usize,
    selected: usize,
    /// The first item on the screen.
    top: usize,
}

/// The effect of a key.
#[derive(Debug, PartialEq, Eq)]
enum Step {
    Stay,
    Take,
    Leave,
}

impl Picker {
    fn press(&mut self, key: &Key) -> Step {
        let last = self.count.saturating_sub(1);
        match key {
            Key::Enter => return Step::Take,
            Key::Escape | Key::CtrlC | Key::Char('q' | '\u{4}') => return Step::Leave,
            Key::ArrowDown | Key::Tab | Key::Char('j') => {
                self.selected = if self.selected == last { 0 } else { self.selected + 1 };
            }
            Key::ArrowUp | Key::BackTab | Key::Char('k') => {
                self.selected = self.selected.checked_sub(1).unwrap_or(last);
            }
            Key::PageDown => self.selected = (self.selected + MOST_LINES).min(last),
            Key::PageUp => self.selected = self.selected.saturating_sub(MOST_LINES),
            Key::Home => self.selected = 0,
            Key::End => self.selected = last,
            _ => {}
        }
        Step::Stay
    }

    /// Returns the lines to show on a terminal of this size, with the selected item among them.
    fn lines(&mut self, question: &str, items: &[String], columns: usize, rows: usize) -> Vec<String> {
        let room = rows.saturating_sub(OTHER_LINES).clamp(1, MOST_LINES);
        self.top = self.top.min(self.selected).max((self.selected + 1).saturating_sub(room));
        let fitted = |line: &str| truncate(line, columns.saturating_sub(1)).into_owned();
        let mut lines = vec![fitted(question)];
        for (index, item) in items.iter().enumerate().skip(self.top).take(room) {
            let mark = if index == self.selected { '>' } else { ' ' };
            lines.push(fitted(&format!("{mark} {item}")));
        }
        let place =
            if self.count > room { format!(" ({} of {})", self.selected + 1, self.count) } else { String::new() };
        lines.push(fitted(&format!("Up and down, Enter takes it, q leaves{place}")));
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picker(count: usize) -> Picker {
        Picker { count, selected: 0, top: 0 }
    }

    #[test]
    fn keys_move_take_and_leave() {
        let mut picker = picker(3);
        let moves = [(Key::ArrowDown, 1), (Key::Char('j'), 2), (Key::Tab, 0), (Key::ArrowUp, 2), (Key::Char('k'), 1)];
        for (key, selected) in moves {
            assert_eq!((picker.press(&key), picker.selected), (Step::Stay, selected), "{key:?}");
        }
        for (key, selected) in
            [(Key::End, 2), (Key::PageUp, 0), (Key::PageDown, 2), (Key::Home, 0), (Key::Char('x'), 0)]
        {
            assert_eq!((picker.press(&key), picker.selected), (Step::Stay, selected), "{key:?}");
        }
        assert_eq!(picker.press(&Key::Enter), Step::Take);
        for key in [Key::Escape, Key::CtrlC, Key::Char('q')] {
            assert_eq!(picker.press(&key), Step::Leave, "{key:?}");
        }
    }

    #[test]
    fn the_selected_item_is_always_on_the_screen() {
        let items: Vec<String> = (0..30).map(|number| format!("item {number} with a long title")).collect();
        let mut picker = picker(items.len());
        for step in 0..90 {
            for (columns, rows) in [(80, 24), (20, 8), (9, 2)] {
                let lines = picker.lines("Which one?", &items, columns, rows);
                assert!(lines.len() <= rows.max(3) && lines.iter().all(|line| line.len() < columns), "{lines:?}");
                let selected = lines.iter().find(|line| line.starts_with('>')).unwrap();
                assert!(columns < 20 || selected.contains(&format!("item {} ", picker.selected)), "{step}: {lines:?}");
            }
            picker.press(if step < 45 { &Key::ArrowDown } else { &Key::ArrowUp });
        }
    }
}
