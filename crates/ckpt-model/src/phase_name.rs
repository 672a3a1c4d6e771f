//! Finding a phase by what people and other systems write: `3b`, `phase3b`, `Phase 3B`, `Validation Loop`.
//!
//! Case, the word "phase" and what stands between words do not matter. The id of one phase takes precedence over the name
//! of another. Nothing is guessed: a spelling that fits several phases is ambiguous.

use super::phase::{Phase, PhaseId};

/// The result of looking for a phase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PhaseMatch {
    /// The phase at this index.
    One(usize),
    /// All of these fit.
    Several(Vec<PhaseId>),
    /// None fits.
    None,
}

/// Finds the phase that a text names.
#[must_use]
pub fn find_phase(phases: &[Phase], written: &str) -> PhaseMatch {
    if let Some(index) = phases.iter().position(|phase| phase.id.as_str() == written) {
        return PhaseMatch::One(index);
    }
    let wanted = plain(written);
    let has_id = |phase: &Phase| plain(phase.id.as_str()) == wanted;
    let has_name = |phase: &Phase| {
        let name = phase.name.as_deref().unwrap_or_default();
        plain(name) == wanted || plain(&format!("{} {name}", phase.id)) == wanted
    };
    for fits in [&has_id as &dyn Fn(&Phase) -> bool, &has_name] {
        let indices: Vec<usize> = (0..phases.len()).filter(|index| fits(&phases[*index])).collect();
        match indices[..] {
            [] => {}
            [index] => return PhaseMatch::One(index),
            _ => return several(phases, &indices),
        }
    }
    // `3` may be `3A` or `3B`.
    let is_part = |phase: &Phase| {
        let id = plain(phase.id.as_str());
        let rest = id.strip_prefix(&wanted).unwrap_or_default();
        !rest.is_empty() && rest.chars().all(char::is_alphabetic)
    };
    let parts: Vec<usize> = (0..phases.len()).filter(|index| is_part(&phases[*index])).collect();
    if is_number(written) && parts.len() > 1 { several(phases, &parts) } else { PhaseMatch::None }
}

/// True if a text is the id of a phase, in any spelling.
#[must_use]
pub fn is_spelling_of(written: &str, id: &str) -> bool {
    plain(written) == plain(id)
}

/// True if a text is nothing but a number, perhaps with the word "phase".
#[must_use]
pub fn is_number(written: &str) -> bool {
    let plain = plain(written);
    !plain.is_empty() && plain.chars().all(|c| c.is_ascii_digit() || c == '.')
}

fn several(phases: &[Phase], indices: &[usize]) -> PhaseMatch {
    PhaseMatch::Several(indices.iter().map(|index| phases[*index].id.clone()).collect())
}

/// Returns a spelling without case, the word "phase" and separators: `3b` for `Phase 3B`.
pub(super) fn plain(written: &str) -> String {
    let lower = written.to_lowercase();
    let is_separator = |c: char| c.is_whitespace() || matches!(c, '_' | '-' | ':');
    let mut words: Vec<&str> = lower.split(is_separator).filter(|word| !word.is_empty()).collect();
    if words.len() > 1 {
        words.retain(|word| *word != "phase");
    }
    let joined = words.concat();
    let number = joined.strip_prefix("phase").filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let joined = number.unwrap_or(&joined);
    joined.strip_suffix(".0").unwrap_or(joined).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kamiflow() -> Vec<Phase> {
        let names = [("0", "Logical Guard"), ("0.5", "Assumption Verification"), ("2", "Strategic Synthesis")];
        let more = [("3A", "Artifact Generation"), ("3B", "Validation Loop")];
        let phase =
            |(id, name): (&str, &str)| Phase { name: Some(name.to_owned()), ..Phase::pending(id.parse().unwrap()) };
        names.into_iter().chain(more).map(phase).collect()
    }

    #[test]
    fn case_the_word_phase_and_the_name_find_a_phase() {
        let phases = kamiflow();
        for (written, id) in [
            ("3b", "3B"),
            ("phase3b", "3B"),
            ("Phase 3B", "3B"),
            ("phase-2", "2"),
            ("2.0", "2"),
            ("PHASE_0.5", "0.5"),
            ("Strategic Synthesis", "2"),
            ("strategic-synthesis", "2"),
            ("Phase 3A: Artifact Generation", "3A"),
        ] {
            let index = phases.iter().position(|phase| phase.id.as_str() == id).unwrap();
            assert_eq!(find_phase(&phases, written), PhaseMatch::One(index), "{written}");
        }
        for written in ["5", "4", "synthesis", "phase", "", "3C"] {
            assert_eq!(find_phase(&phases, written), PhaseMatch::None, "{written}");
        }
    }

    #[test]
    fn a_spelling_that_fits_several_phases_is_ambiguous() {
        let ids = |names: &[&str]| names.iter().map(|id| id.parse().unwrap()).collect::<Vec<PhaseId>>();
        assert_eq!(find_phase(&kamiflow(), "3"), PhaseMatch::Several(ids(&["3A", "3B"])));
        let phases: Vec<_> = ids(&["Plan", "PLAN", "phase"]).into_iter().map(Phase::pending).collect();
        assert_eq!(find_phase(&phases, "plan"), PhaseMatch::Several(ids(&["Plan", "PLAN"])));
        assert_eq!(find_phase(&phases, "Plan"), PhaseMatch::One(0), "an exact id is never ambiguous");
        assert_eq!(find_phase(&phases, "Phase"), PhaseMatch::One(2));
    }
}
