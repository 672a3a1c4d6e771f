//! Where the work is said to stand: the current thing, the next one, and the last one that is done.

use serde_json::Value;

use super::{Claim, Collector, Counted, Member, Pointer};
use crate::core::dialects::generic::entry::{Fields, Standing, entry_standing};
use crate::core::dialects::generic::shapes::{is_code, is_path, number_in, parse_fraction, short_id};
use crate::core::dialects::generic::vocabulary::{ENTRY_ID, classify, is_idle_word, pointer_word};
use crate::core::dialects::members::text_or_number;
use crate::core::dialects::phase_list::phase_id;
use crate::core::phase::PhaseId;

/// The longest name of a phase in words. A longer text is prose.
const MAX_NAME_WORDS: usize = 6;

impl<'v> Collector<'v, '_, '_> {
    /// Reads where the work stands.
    pub(super) fn pointer(&mut self, pointer: Pointer, member: &Member<'v, '_>) {
        match member.value {
            Value::Null => self.state(Claim::Nowhere, member),
            Value::Object(_) => {
                self.pointer_in_object(pointer, member);
                self.look_into(member.noun, member);
            }
            Value::String(text) => self.named_pointer(pointer, text, member),
            value => {
                let first =
                    value.as_array().filter(|_| pointer == Pointer::Next).and_then(|items| items.first());
                let value = first.unwrap_or(value);
                if let Some(id) = Fields::of(value).id(ENTRY_ID).or_else(|| short_id(value)) {
                    self.state(Claim::Pointer(pointer, id), member);
                }
            }
        }
    }

    /// Reads a text that says where the work stands. Prose names no phase, and neither does a path.
    fn named_pointer(&mut self, pointer: Pointer, text: &str, member: &Member<'_, '_>) {
        if let Some((current, total)) = parse_fraction(member.value)
            && let Some(id) = phase_id(&Value::from(current))
        {
            self.state(Claim::Count(Counted::Total, total), member);
            return self.state(Claim::Pointer(Pointer::Current, id), member);
        }
        let words = text.split_whitespace().count();
        let is_prose = (words > MAX_NAME_WORDS && number_in(text).is_none())
            || (text.contains(['\n', ',']) && words > 2)
            || text.contains(". ")
            || (text.trim_end().ends_with('.') && words > 2);
        let is_file = is_path(text) && text.contains('/');
        let id = short_id(member.value).filter(|_| !is_prose && !is_file);
        self.state(id.map_or(Claim::Mention, |id| Claim::Pointer(pointer, id)), member);
    }

    /// Reads a pointer that is an object: `{"id": 3, "status": "in_progress"}`.
    pub(super) fn pointer_in_object(&mut self, pointer: Pointer, member: &Member<'_, '_>) {
        const NAMES: &str = "id phase phase_id step stage current number task_id name key slug title index";
        let fields = Fields::of(member.value);
        let named = fields.id(NAMES).filter(|id| !is_idle_word(id.as_str()));
        let numbered = || fields.values().find_map(numbered_place).filter(|_| pointer == Pointer::Next);
        let Some(id) = named.or_else(numbered) else { return };
        let (standing, _) = entry_standing(&fields);
        let kind = if pointer == Pointer::Next { pointer } else { Pointer::Current };
        self.state(Claim::Pointer(kind, id), member);
        if standing != Standing::Unsaid && kind == Pointer::Current {
            self.state(Claim::PointerStatus(standing), member);
        }
    }

    /// Reads what is next. A sentence is an action; without a noun, a bare `next` and a list may be actions too, but a code
    /// such as `US-3` is none.
    pub(super) fn next(&mut self, member: &Member<'v, '_>) {
        let first = member.value.as_array().and_then(|items| items.first()).unwrap_or(member.value);
        let text = text_or_number(first);
        let is_action = text
            .as_ref()
            .is_some_and(|text| text.split_whitespace().count() > 2 || pointer_word(text).is_some());
        let is_vague = member.name == "next" || (member.value.is_array() && member.name != "next_available");
        let is_code = |text: &str| is_code(text) && text.contains(char::is_alphabetic);
        let is_place = member.noun.is_some() || !is_vague || member.value.as_str().is_some_and(is_code);
        if member.value.is_object() || (!is_action && is_place) {
            self.pointer(Pointer::Next, member);
        }
        let is_object = first.as_object().is_some_and(|members| !members.is_empty());
        if is_object || text.is_some_and(|text| !text.trim().is_empty() && !is_idle_word(&text)) {
            self.state(Claim::Action, member);
        }
    }

    pub(super) fn last_done(&mut self, member: &Member<'v, '_>) {
        match text_or_number(member.value) {
            Some(text) if is_idle_word(&text) || text == "-1" => {
                self.state(Claim::Count(Counted::Done, 0), member);
            }
            _ => self.pointer(Pointer::LastDone, member),
        }
    }
}

/// Returns the number of the thing that a text begins with: `Phase 3 of 5 has no plan`.
fn numbered_place(value: &Value) -> Option<PhaseId> {
    let text = value.as_str()?;
    let word = text.split_whitespace().next()?.to_lowercase();
    let number = number_in(text).filter(|_| classify(&word).noun.is_some())?;
    phase_id(&Value::from(number))
}
