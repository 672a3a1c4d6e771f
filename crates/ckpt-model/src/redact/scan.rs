//! Finds secrets in a text: one pass over its bytes, from one secret to the next.
//!
//! A pair of bytes that starts no prefix costs one table look-up. One that does is tried only at the start of
//! a word, so that `task-ant-farm` is not searched for `sk-ant-`.
//!
//! # Invariants
//!
//! - Every range begins and ends beside ASCII characters or at an end of the text, so it never cuts a
//!   character.
//! - An attempt that fails has looked at a bounded number of bytes, or leaves a note in [`Scan`] that keeps
//!   the next attempt from looking at the same bytes.

use std::ops::Range;

use super::named;
use super::rules::{
    Alphabet, NO_LIMIT, Part, RULES, Shape, alphanumeric, base64, digit, hex, rules_for, starts_prefix, tilde, token,
    upper, word,
};
use super::words::{is_filler, is_password_placeholder, is_words, names_placeholder};

pub(super) const MARKER: &str = "[REDACTED:";
/// How far an attempt looks for the signs of randomness, which bounds the cost of a failure.
pub(super) const WINDOW: usize = 256;
/// Lies beyond every text.
const NOWHERE: Range<usize> = usize::MAX..usize::MAX;

/// Returns what replaces a secret.
pub(super) fn marker(rule: &str) -> String {
    format!("{MARKER}{rule}]")
}

/// A secret: what to replace, and the rule that found it.
pub(super) struct Hit {
    pub(super) range: Range<usize>,
    pub(super) rule: &'static str,
}

/// Goes through a text once, from one secret to the next.
pub(super) struct Scan<'a> {
    text: &'a str,
    at: usize,
    /// The end of the last secret: the next one begins after it.
    floor: usize,
    /// Where the password of the URL being read lies. Its user name comes first and may hold a secret too.
    password: Range<usize>,
    /// No JSON web token starts before this place: those that could all end in what was looked at already.
    no_jwt_before: usize,
    /// No last line of a private key is left in the text.
    no_key_end: bool,
    /// No private part of a PuTTY key is left in the text.
    no_putty_key: bool,
}

impl<'a> Scan<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0, floor: 0, password: NOWHERE, no_jwt_before: 0, no_key_end: false, no_putty_key: false }
    }
}

impl Iterator for Scan<'_> {
    type Item = Hit;

    fn next(&mut self) -> Option<Hit> {
        loop {
            if let Some(at) = self.next_candidate() {
                self.at = at + 1;
                let Some(hit) = self.hit_at(at) else { continue };
                self.at = hit.range.end;
                self.floor = hit.range.end;
                if self.at > self.password.start {
                    self.password = NOWHERE;
                }
                return Some(hit);
            }
            if self.password == NOWHERE {
                return None;
            }
            let range = std::mem::replace(&mut self.password, NOWHERE);
            self.at = range.end;
            self.floor = range.end;
            return Some(Hit { range, rule: "url-password" });
        }
    }
}

impl Scan<'_> {
    /// Finds the next place where a prefix may start, before the password if there is one.
    fn next_candidate(&self) -> Option<usize> {
        let bytes = self.text.as_bytes();
        let end = self.password.start.min(bytes.len());
        let pairs = bytes.get(self.at..end)?.windows(2).zip(self.at..);
        pairs.filter(|(pair, _)| starts_prefix(pair[0], pair[1])).map(|(_, at)| at).find(|&at| {
            // Only a prefix that looks like a part of a word has to be kept apart from the word before it.
            !alphanumeric(bytes[at]) || starts_word(&bytes[..at])
        })
    }

    fn hit_at(&mut self, at: usize) -> Option<Hit> {
        let rest = self.text.as_bytes().get(at..)?;
        let [first, second, ..] = rest else { return None };
        let mut candidates = rules_for(*first, *second);
        while candidates != 0 {
            let rule = &RULES[candidates.trailing_zeros() as usize];
            candidates &= candidates - 1;
            let Some(prefix) = rule.prefixes.iter().find(|prefix| rest.starts_with(prefix.as_bytes())) else {
                continue;
            };
            let hit = match rule.shape {
                Shape::Assigned => self.assigned(at),
                shape => self.secret(shape, at, at + prefix.len()).map(|range| Hit { range, rule: rule.name }),
            };
            if let Some(hit) = hit.filter(|hit| hit.range.start >= self.floor) {
                return Some(hit);
            }
        }
        None
    }

    /// Checks what follows a prefix that lies at `at..body`, and says what to replace.
    fn secret(&mut self, shape: Shape, at: usize, body: usize) -> Option<Range<usize>> {
        let bytes = self.text.as_bytes();
        match shape {
            Shape::Run(alphabet, least, most) => {
                let end = genuine_run(bytes, body, (alphabet, least, most))?;
                // Two characters are hardly a prefix.
                let is_clear = body - at > 2 || bytes[body..end].iter().any(u8::is_ascii_digit);
                is_clear.then_some(at..end)
            }
            Shape::After(alphabet, least, most) => Some(body..genuine_run(bytes, body, (alphabet, least, most))?),
            Shape::Parts(parts) => {
                let mut end = body - 1;
                for (number, (alphabet, least, most)) in parts.iter().enumerate() {
                    (number == 0 || bytes.get(end) == Some(&b'.')).then_some(())?;
                    end = run(bytes, end + 1, *alphabet, *least, *most)?;
                }
                is_genuine(&bytes[body..end]).then_some(at..end)
            }
            Shape::Around(before, after) => {
                let (alphabet, least, most) = after;
                let range = run_before(bytes, at, before)?..run(bytes, body, alphabet, least, most)?;
                is_genuine(&bytes[range.clone()]).then_some(range)
            }
            Shape::Marked(mark) => {
                window(bytes, body, word).windows(mark.len()).find(|part| *part == mark)?;
                Some(at..run(bytes, body, word, 20, NO_LIMIT)?)
            }
            Shape::AzureSecret => {
                let start = run_before(bytes, at, (tilde, 5, 5))?;
                let is_marked = matches!(bytes[start + 3..at], [number, b'Q'] if digit(number));
                let end = genuine_run(bytes, body, (tilde, 31, 34))?;
                is_marked.then_some(start..end)
            }
            Shape::Word => named::word(self.text, body),
            Shape::Option(program) => {
                self.is_option_of(program, at).then_some(())?;
                named::word(self.text, body)
            }
            Shape::UserOption(program) => {
                let range = named::user_password(self.text, body)?;
                self.is_option_of(program, at).then_some(range)
            }
            Shape::Pgpass => named::pgpass(self.text, body),
            Shape::Netrc => named::netrc(self.text, body),
            Shape::Oracle => named::oracle(self.text, body),
            Shape::Basic => {
                let end = run(bytes, body, base64, 6, NO_LIMIT)?;
                named::is_user_and_password(&bytes[body..end]).then_some(body..end)
            }
            Shape::Jwt => self.jwt(at),
            Shape::PrivateKey => self.private_key(at, body),
            Shape::PuttyKey => self.putty_key(at, body),
            Shape::Bearer { needs_header } => self.bearer(at, body, needs_header),
            Shape::UrlPassword => {
                if at > 0 && alphanumeric(bytes[at - 1]) {
                    self.password = url_password(self.text, body).unwrap_or(NOWHERE);
                }
                None
            }
            Shape::Assigned => None,
        }
    }

    fn assigned(&mut self, at: usize) -> Option<Hit> {
        let hit = named::assigned(self.text, at)?;
        // A rule that knows whose token this is has the better name for it.
        self.hit_at(hit.range.start).is_none().then_some(hit)
    }

    /// Tells whether an option belongs to a command of this program.
    fn is_option_of(&self, program: &str, at: usize) -> bool {
        let bytes = self.text.as_bytes();
        let before = &bytes[at.saturating_sub(WINDOW)..at];
        let ends = |b: &u8| matches!(b, b'\n' | b';' | b'|');
        let command = before.iter().rposition(ends).map_or(before, |end| &before[end + 1..]);
        let is_option = command.last().is_some_and(u8::is_ascii_whitespace);
        is_option && command.windows(program.len()).any(|part| part == program.as_bytes())
    }

    fn jwt(&mut self, at: usize) -> Option<Range<usize>> {
        if at < self.no_jwt_before {
            return None;
        }
        let bytes = self.text.as_bytes();
        let header = at + count(bytes, at, word, NO_LIMIT);
        let rest = || {
            (header - at >= 12 && bytes[header..].starts_with(b".eyJ")).then_some(())?;
            let payload = run(bytes, header + 1, word, 8, NO_LIMIT)?;
            (bytes.get(payload) == Some(&b'.')).then_some(())?;
            run(bytes, payload + 1, word, 16, NO_LIMIT)
        };
        let end = rest();
        if end.is_none() {
            self.no_jwt_before = header;
        }
        Some(at..end?)
    }

    fn private_key(&mut self, at: usize, body: usize) -> Option<Range<usize>> {
        let first_line = private_key_label(self.text, body)?;
        let mut from = first_line;
        while !self.no_key_end {
            let Some(found) = self.text[from..].find("-----END ") else {
                self.no_key_end = true;
                break;
            };
            from += found + "-----END ".len();
            if let Some(end) = private_key_label(self.text, from) {
                return Some(at..end);
            }
        }
        // Cut off in the middle. A first line with no key below it is only somebody talking about keys.
        let below = self.text[first_line..].trim_start_matches(['\r', '\n', ' ', '\t', '"', '\'', ',', '+']);
        let below = below.trim_start_matches("\\r").trim_start_matches("\\n");
        let headers = ["Proc-Type:", "Version:", "Comment:"];
        let is_key =
            count(below.as_bytes(), 0, base64, 16) == 16 || headers.iter().any(|header| below.starts_with(header));
        is_key.then_some(at..self.text.len())
    }

    /// Takes a PuTTY key up to its checksum, or to the end of the text if it was cut off.
    fn putty_key(&mut self, at: usize, body: usize) -> Option<Range<usize>> {
        if self.no_putty_key {
            return None;
        }
        let Some(private) = self.text[body..].find("Private-Lines:") else {
            self.no_putty_key = true;
            return None;
        };
        const MAC: &str = "Private-MAC: ";
        let end = self.text[body + private..].find(MAC).map(|found| body + private + found + MAC.len());
        let end = end.map(|end| end + count(self.text.as_bytes(), end, hex, 64));
        Some(at..end.unwrap_or(self.text.len()))
    }

    fn bearer(&mut self, at: usize, body: usize, needs_header: bool) -> Option<Range<usize>> {
        let bytes = self.text.as_bytes();
        let end = run(bytes, body, token, 10, NO_LIMIT)?;
        let before = self.text[..at].trim_end_matches([' ', '\t', ':', '=', '"', '\'', '\\']).as_bytes();
        let name = before.len().checked_sub("authorization".len()).map(|start| &before[start..]);
        let is_header = name.is_some_and(|name| name.eq_ignore_ascii_case(b"authorization"));
        let sample = window(bytes, body, token);
        let is_token = !is_words(sample) && is_genuine(sample);
        let is_plain = !needs_header && sample.len() >= 20 && sample.iter().any(u8::is_ascii_digit);
        // A rule that knows whose token this is has the better name for it.
        (is_token && (is_header || is_plain) && self.hit_at(body).is_none()).then_some(body..end)
    }
}

/// Tells whether a word can start after this text: escapes such as `\n` and `%3D` end in letters or digits.
fn starts_word(before: &[u8]) -> bool {
    match before {
        [] | [.., b'\\', b'n' | b'r' | b't'] => true,
        [.., b'%', a, b] if hex(*a) && hex(*b) => true,
        [.., b'\\', b'u', a, b, c, d] if [a, b, c, d].iter().all(|b| hex(**b)) => true,
        [.., last] => !alphanumeric(*last),
    }
}

/// Counts the bytes of an alphabet, up to `most`.
pub(super) fn count(bytes: &[u8], from: usize, alphabet: Alphabet, most: usize) -> usize {
    bytes.get(from..).unwrap_or_default().iter().take(most).take_while(|b| alphabet(**b)).count()
}

/// Finds the end of a run of `least` to `most` bytes of an alphabet that stops at a boundary.
fn run(bytes: &[u8], from: usize, alphabet: Alphabet, least: usize, most: usize) -> Option<usize> {
    let mut end = from + count(bytes, from, alphabet, most + 1);
    // A full stop at the end belongs to the sentence.
    while end > from && bytes[end - 1] == b'.' {
        end -= 1;
    }
    // Next to a replacement, a run that was too long may have become short enough. Taking it now would make
    // pass after pass find one more.
    let was_longer = most < NO_LIMIT && bytes[end..].starts_with(MARKER.as_bytes());
    let bounded = !was_longer && !bytes.get(end).is_some_and(u8::is_ascii_alphanumeric);
    (bounded && (least..=most).contains(&(end - from))).then_some(end)
}

/// Finds the end of a run that is neither words nor something that stands in for a secret.
fn genuine_run(bytes: &[u8], from: usize, (alphabet, least, most): Part) -> Option<usize> {
    // What cannot be a secret is told from a few bytes; only a secret is followed to its end.
    is_genuine(window(bytes, from, alphabet)).then_some(())?;
    run(bytes, from, alphabet, least, most)
}

/// Finds the start of a run that ends at `end`.
fn run_before(bytes: &[u8], end: usize, (alphabet, least, most): Part) -> Option<usize> {
    let length = bytes[..end].iter().rev().take(most + 1).take_while(|b| alphabet(**b)).count();
    let start = end - length.min(most);
    // The address of a bot has its token after this word.
    let starts = starts_word(&bytes[..start]) || bytes[..start].ends_with(b"/bot");
    (length >= least && starts).then_some(start)
}

fn window(bytes: &[u8], from: usize, alphabet: Alphabet) -> &[u8] {
    &bytes[from.min(bytes.len())..][..count(bytes, from, alphabet, WINDOW)]
}

/// Tells a key from words joined by hyphens, and from what stands in for one in a document.
fn is_genuine(sample: &[u8]) -> bool {
    let is_joined = sample.iter().any(|b| matches!(b, b'-' | b'_' | b'.' | b'/'));
    !(is_filler(sample) || is_joined && (is_words(sample) || names_placeholder(sample)))
}

/// Finds the end of a line that begins or ends a private key, from its label on.
fn private_key_label(text: &str, from: usize) -> Option<usize> {
    let label = count(text.as_bytes(), from, |b| upper(b) || b == b' ', 48);
    let (label, rest) = text.get(from..)?.split_at(label);
    let is_private = label.ends_with("PRIVATE KEY") || label.ends_with("PRIVATE KEY BLOCK");
    (is_private && rest.starts_with("-----")).then_some(from + label.len() + "-----".len())
}

/// Finds the password in a URL whose user and host begin at `from`.
fn url_password(text: &str, from: usize) -> Option<Range<usize>> {
    let ends = |b: u8| b <= b' ' || b == 0x7f || b"\"'`<>\\".contains(&b);
    let rest = &text.as_bytes()[from..];
    let authority = rest.iter().position(|b| ends(*b) || b"/?#".contains(b)).unwrap_or(rest.len());
    // Parsers take the last one, so that a password may contain the sign.
    let end = match rest[..authority].iter().rposition(|b| *b == b'@') {
        Some(end) => from + end,
        None => from + unescaped_password(rest, authority)?,
    };
    let mut start = from;
    loop {
        let ahead = &text[start..end];
        if ahead.starts_with(MARKER) {
            start += ahead.find(']')?;
        } else if ahead.starts_with(':') {
            start += 1;
            break;
        }
        start += ahead.chars().next()?.len_utf8();
    }
    (!is_password_placeholder(&text[start..end])).then_some(start..end)
}

/// Finds the sign after a password that holds a slash or the like, which parsers take for the end of the host.
///
/// Text that looks like a host and a port is one: `https://host:8080/@scope`.
fn unescaped_password(rest: &[u8], authority: usize) -> Option<usize> {
    let host = |b: u8| alphanumeric(b) || matches!(b, b'.' | b'-');
    let colon = rest[..authority].iter().position(|b| *b == b':')?;
    let port = &rest[colon + 1..authority];
    let digits = count(port, 0, digit, 6);
    let is_port = port.is_empty() || digits > 0 && port.get(digits).is_none_or(|b| *b == b',');
    if is_port || !rest[..colon].iter().all(|b| word(*b) || b"._%+".contains(b)) {
        return None;
    }
    let tail = &rest[authority..rest.len().min(authority + WINDOW)];
    let tail = &tail[..tail.iter().position(|b| *b <= b' ' || b"\"'`<>\\".contains(b)).unwrap_or(tail.len())];
    let sign = tail.iter().rposition(|b| *b == b'@')?;
    let named = count(tail, sign + 1, host, WINDOW);
    let after = tail.get(sign + 1 + named);
    (named > 0 && after.is_none_or(|b| b":/?,".contains(b))).then_some(authority + sign)
}
