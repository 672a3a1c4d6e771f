//! Finds values after a name that says what they are: `password=...`, `API_KEY: ...`, `--token ...`.
//!
//! The name alone is not enough: documents and programs name secrets all the time without holding one. How much the
//! value has to look like a secret depends on the form. A line of an environment file is one of the surest signs, a
//! remark with a colon the weakest.

use std::ops::Range;

use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use base64::{Engine as _, alphabet};

use super::scan::{Hit, MARKER, WINDOW, count};
use super::words::{is_password_placeholder, is_placeholder, is_words};

/// The longest name that is looked at, from its end.
const LONGEST_NAME: usize = 48;
/// How much of a value is looked at before it is known to be a secret.
const LONGEST_VALUE: usize = 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SecretKind {
    /// Chosen by people: short, and perhaps a word.
    Password,
    /// Made by machines: long and random.
    Secret,
    /// Base64 of `user:password`.
    Login,
}

/// How the value is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// `NAME=value`
    Environment,
    /// `name=value`
    Pair,
    /// In quotes, or a JSON string.
    Quoted,
    /// Anything else: `name: value`, `name = value`
    Bare,
}

/// The ends of names, in lower case and without what joins their words. One that starts with `_` has to be the last of
/// several words.
#[rustfmt::skip]
const NAMES: &[(&str, SecretKind)] = &[
    ("password", SecretKind::Password), ("passwd", SecretKind::Password), ("passphrase", SecretKind::Password), ("pwd", SecretKind::Password),
    ("passcode", SecretKind::Password), ("_pass", SecretKind::Password), ("_pw", SecretKind::Password),
    ("secret", SecretKind::Secret), ("token", SecretKind::Secret), ("apikey", SecretKind::Secret), ("accesskey", SecretKind::Secret),
    ("secretkey", SecretKind::Secret), ("secretkeybase", SecretKind::Secret), ("privatekey", SecretKind::Secret), ("privatekeyid", SecretKind::Secret),
    ("authkey", SecretKind::Secret), ("appkey", SecretKind::Secret), ("accountkey", SecretKind::Secret), ("sharedkey", SecretKind::Secret),
    ("storagekey", SecretKind::Secret), ("signingkey", SecretKind::Secret), ("encryptionkey", SecretKind::Secret), ("masterkey", SecretKind::Secret),
    ("rolekey", SecretKind::Secret), ("subscriptionkey", SecretKind::Secret), ("presharedkey", SecretKind::Secret), ("hmackey", SecretKind::Secret),
    ("deploykey", SecretKind::Secret), ("adminkey", SecretKind::Secret), ("servicekey", SecretKind::Secret), ("credential", SecretKind::Secret), ("credentials", SecretKind::Secret), ("authorization", SecretKind::Secret),
    ("phpsessid", SecretKind::Secret), ("jsessionid", SecretKind::Secret), ("connect.sid", SecretKind::Secret), ("_pat", SecretKind::Secret),
    ("auth", SecretKind::Login), ("basicauth", SecretKind::Login),
];

const AWS_SECRETS: [&str; 2] = ["secretaccesskey", "awssecretkey"];

/// Words in a name that say that its value may be known to everybody, or counts something.
const HARMLESS: &[&str] =
    &["public", "publish", "csrf", "xsrf", "next", "page", "continu", "cancel", "eos", "bos", "pad", "mask"];

/// Finds the value that is assigned by the sign at `at`, if its name says that it is a secret.
pub(super) fn assigned(text: &str, at: usize) -> Option<Hit> {
    let bytes = text.as_bytes();
    let sign = bytes[at];
    let doubled = |b: Option<&u8>| b.is_some_and(|b| b":=!<>+".contains(b));
    // `==`, `!=` and `::` assign nothing; `:=` and `=>` do.
    if doubled(at.checked_sub(1).and_then(|before| bytes.get(before)))
        || bytes.get(at + 1) == Some(&b':')
        || sign == b'=' && bytes.get(at + 1) == Some(&b'=')
    {
        return None;
    }
    let name = name_before(bytes, at)?;
    let kind = kind_of(name)?;
    let is_adjacent = sign == b'=' && bytes.get(at + 1).is_some_and(|b| !b.is_ascii_whitespace());
    let is_constant = name.iter().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || *b == b'_');
    let form = match (is_adjacent, is_constant) {
        (true, true) => Form::Environment,
        (true, false) => Form::Pair,
        (false, _) => Form::Bare,
    };
    let gap = count(bytes, at + 1, |b| b == b'=' || b == b'>' || b == b' ' || b == b'\t', 8);
    let (mut range, form) = value_at(bytes, at + 1 + gap, form)?;
    let value = text.get(range.start..range.end.min(range.start + WINDOW)).unwrap_or(text.get(range.clone())?);
    let rule = rule(name, kind, value);
    is_secret(kind, form, value, bytes.get(range.end).copied()).then_some(())?;
    if range.len() == LONGEST_VALUE {
        range.end += bytes[range.end..].iter().take_while(|b| !ends_value(**b, form)).count();
    }
    Some(Hit { range, rule })
}

/// The rule by which the value of a JSON member is a secret because of its key.
pub(super) fn member(key: &str, value: &str) -> Option<&'static str> {
    let kind = kind_of(key.as_bytes())?;
    is_secret(kind, Form::Quoted, value, None).then(|| rule(key.as_bytes(), kind, value))
}

fn rule(name: &[u8], kind: SecretKind, value: &str) -> &'static str {
    match kind {
        SecretKind::Password => "password",
        SecretKind::Login => "basic-auth",
        SecretKind::Secret if value.len() == 40 && AWS_SECRETS.iter().any(|known| ends_with(name, known)) => {
            "aws-secret-key"
        }
        SecretKind::Secret => "secret",
    }
}

/// Finds the name in front of a sign, its last word if there are several with spaces between them.
fn name_before(bytes: &[u8], at: usize) -> Option<&[u8]> {
    let mut end = at;
    while end > 0 && at - end < 6 && b" \t\"'`\\]".contains(&bytes[end - 1]) {
        end -= 1;
    }
    let in_name = |b: &&u8| b.is_ascii_alphanumeric() || b"_-. ".contains(*b);
    let length = bytes[..end].iter().rev().take(LONGEST_NAME).take_while(in_name).count();
    let name = bytes[end - length..end].trim_ascii_start();
    (!name.is_empty()).then_some(name)
}

fn kind_of(name: &[u8]) -> Option<SecretKind> {
    // Most names end otherwise, and there are many signs in a text.
    matches!(name.last()?.to_ascii_lowercase(), b'd' | b'e' | b's' | b't' | b'n' | b'y' | b'h' | b'l' | b'w')
        .then_some(())?;
    let (_, kind) = NAMES.iter().find(|(known, _)| ends_with(name, known))?;
    let last = name.rsplit(|b| *b == b' ').next()?.to_ascii_lowercase();
    let is_harmless = HARMLESS.iter().any(|word| last.windows(word.len()).any(|part| part == word.as_bytes()));
    // The directory one is in.
    let is_directory = last == b"pwd" && name.last()?.is_ascii_uppercase() || last == b"oldpwd";
    (!is_harmless && !is_directory).then_some(*kind)
}

/// Compares the end of a name with a known one, without what joins its words.
fn ends_with(name: &[u8], known: &str) -> bool {
    let mut rest = name.len();
    for expected in known.bytes().rev() {
        if expected == b'_' {
            // The word begins here: something joins it to another, or it begins with a capital.
            let is_joined = rest > 0 && b"_-. ".contains(&name[rest - 1]);
            let is_hump = rest > 0 && name[rest - 1].is_ascii_lowercase() && name[rest].is_ascii_uppercase();
            return is_joined || is_hump;
        }
        while rest > 0 && b"_-. ".contains(&name[rest - 1]) {
            rest -= 1;
        }
        if rest == 0 || name[rest - 1].to_ascii_lowercase() != expected {
            return false;
        }
        rest -= 1;
    }
    true
}

/// Finds the value at `from`, in quotes or not.
fn value_at(bytes: &[u8], from: usize, form: Form) -> Option<(Range<usize>, Form)> {
    let escapes = count(bytes, from, |b| b == b'\\', 2);
    let quote = bytes.get(from + escapes).copied()?;
    let start = from + escapes + 1;
    if b"\"'`".contains(&quote) {
        let ends = |b: &u8| *b == quote || *b == b'\\' || *b == b'\n';
        let length = bytes[start..].iter().take(LONGEST_VALUE).take_while(|b| !ends(b)).count();
        return (length > 0).then_some((start..start + length, Form::Quoted));
    }
    let length = bytes[from..].iter().take(LONGEST_VALUE).take_while(|b| !ends_value(**b, form)).count();
    let value = &bytes[from..from + length];
    // A replacement has brackets around it.
    let length = if value.is_empty() && bytes[from..].starts_with(MARKER.as_bytes()) { 1 } else { length };
    let stops = if form == Form::Bare { value.iter().rev().take_while(|b| b".!?:".contains(b)).count() } else { 0 };
    (length > stops).then_some((from..from + length - stops, form))
}

fn ends_value(b: u8, form: Form) -> bool {
    match b {
        b'"' | b'\'' | b'`' | b'\\' => true,
        b',' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')' | b'{' | b'}' | b'[' | b']' => form != Form::Environment,
        _ => b.is_ascii_whitespace(),
    }
}

/// Judges a value after a name.
fn is_secret(kind: SecretKind, form: Form, value: &str, next: Option<u8>) -> bool {
    if kind == SecretKind::Login {
        return is_user_and_password(value.as_bytes());
    }
    let bytes = value.as_bytes();
    let is_code = form != Form::Quoted && (matches!(next, Some(b'(' | b'[' | b'{')) || is_expression(bytes));
    let is_odd = bytes.iter().any(|b| b.is_ascii_whitespace() || b.is_ascii_control());
    let shortest = if kind == SecretKind::Password && matches!(form, Form::Environment | Form::Pair) { 4 } else { 6 };
    if bytes.len() < shortest || is_code || is_odd || is_placeholder(value) {
        return false;
    }
    let joins = |b: &&u8| b"_-.".contains(*b);
    let digits = bytes.iter().filter(|b| b.is_ascii_digit()).count();
    let letters = bytes.iter().filter(|b| b.is_ascii_alphabetic()).count();
    let capitals = bytes.iter().filter(|b| b.is_ascii_uppercase()).count();
    let joined = bytes.iter().filter(joins).count();
    let has_signs = digits + letters + joined < bytes.len();
    let is_odd_case = capitals > 1 + letters / 5 && capitals < letters;
    let is_mixed = has_signs || digits > 0 && letters > 0 || is_odd_case;
    let is_phrase = joined > 0 && is_words(bytes);
    let is_path = bytes[0] == b'/' && !bytes.contains(&b'+') && is_words(bytes)
        || bytes.starts_with(b"./")
        || bytes.starts_with(b"~/");
    if is_path {
        return false;
    }
    match (kind, form) {
        (SecretKind::Password, Form::Environment) => is_mixed || bytes.len() >= 6,
        (SecretKind::Password, Form::Pair) if bytes.len() < 6 => is_mixed,
        (SecretKind::Password, Form::Pair) => {
            is_mixed
                || digits > 0
                || joined > 0
                || next.is_none_or(|b| b.is_ascii_whitespace() || b";&\"'`\\".contains(&b))
        }
        (SecretKind::Password, Form::Quoted) => is_mixed || digits > 0 || capitals == 0 && (joined == 0 || joined > 2),
        (SecretKind::Password, Form::Bare) => {
            digits > 0 && letters == 0 || is_mixed && !is_phrase && !b"!*&@|%".contains(&bytes[0])
        }
        (_, Form::Environment) => bytes.len() >= 8 && is_mixed && !is_phrase || letters >= 12 && joined == 0,
        (_, Form::Bare) => bytes.len() >= 16 && is_mixed && !is_words(bytes),
        _ => bytes.len() >= 12 && is_mixed && !is_words(bytes),
    }
}

/// Tells whether a value is code that fetches the secret: `process.env.TOKEN`, `config::token`, `getenv(...)`.
fn is_expression(value: &[u8]) -> bool {
    let in_path = |b: u8| b.is_ascii_alphanumeric() || b"_.:?->".contains(&b);
    let path = &value[..count(value, 0, in_path, WINDOW)];
    let starts = path.first().is_some_and(|b| b.is_ascii_alphabetic() || *b == b'_');
    let called = matches!(value.get(path.len()), Some(b'(' | b'['));
    let has_members = path.contains(&b'.') || path.windows(2).any(|two| two == b"::" || two == b"->");
    starts && (called || path.len() == value.len() && has_members && is_words(path))
}

/// Finds the word at `from`: the argument of an option.
pub(super) fn word(text: &str, from: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let from = from + count(bytes, from, |b| b == b' ' || b == b'\t', 8);
    let (range, _) = value_at(bytes, from, Form::Environment)?;
    let value = &text[range.clone()];
    let is_option = value.starts_with(['-', '/', '|', '&', '>', ';']);
    (value.len() >= 4 && !is_option && !is_expression(value.as_bytes()) && !is_placeholder(value)).then_some(range)
}

/// Finds the password in `user:password` at `from`, in quotes or not.
pub(super) fn user_password(text: &str, from: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let from = from + count(bytes, from, |b| b == b' ', 4);
    let (range, _) = value_at(bytes, from, Form::Environment)?;
    let (user, password) = text[range.clone()].split_once(':')?;
    let is_id = password.bytes().all(|b| b.is_ascii_digit());
    let is_login = !user.contains(['/', '=']) && !password.is_empty() && !is_id && !is_password_placeholder(password);
    is_login.then_some(range.start + user.len() + 1..range.end)
}

/// Finds the last field of `host:5432:database:user:password`, from the database on.
pub(super) fn pgpass(text: &str, from: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let field = |from| {
        Some(from + count(bytes, from, |b| b != b':' && b > b' ', 64)).filter(|end| bytes.get(*end) == Some(&b':'))
    };
    let start = field(field(from)? + 1)? + 1;
    let end = start + count(bytes, start, |b| b > b' ' && !b"\"'`\\".contains(&b), WINDOW);
    (end > start && !is_password_placeholder(&text[start..end])).then_some(start..end)
}

/// Finds the password after the login of a `.netrc`.
pub(super) fn netrc(text: &str, from: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let login = from + count(bytes, from, |b| b > b' ', 128);
    let gap = login + count(bytes, login, |b| b.is_ascii_whitespace(), 16);
    (login > from && gap > login && bytes[gap..].starts_with(b"password ")).then_some(())?;
    let start = gap + "password ".len();
    let end = start + count(bytes, start, |b| b > b' ' && !b"\"'`\\".contains(&b), WINDOW);
    (end > start + 3 && !is_placeholder(&text[start..end])).then_some(start..end)
}

/// Finds the password in `user/password@host`.
pub(super) fn oracle(text: &str, from: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let start = from + count(bytes, from, |b| b > b' ' && b != b'/' && b != b'@', 64);
    (start > from && bytes.get(start) == Some(&b'/')).then_some(())?;
    let end = start + 1 + count(bytes, start + 1, |b| b > b' ' && b != b'@', 128);
    let password = start + 1..end;
    // With a replacement in it, it was too long before. Taking it now would make pass after pass find one more.
    let is_whole = bytes.get(end) == Some(&b'@') && !text[password.clone()].contains(MARKER);
    (is_whole && !is_password_placeholder(&text[password.clone()])).then_some(password)
}

/// Tells whether this is base64 of `user:password`.
pub(super) fn is_user_and_password(encoded: &[u8]) -> bool {
    let engine = GeneralPurpose::new(
        &alphabet::STANDARD,
        GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
    );
    if encoded.len() > LONGEST_VALUE {
        return false;
    }
    let Ok(decoded) = engine.decode(encoded) else { return false };
    let colon = decoded.iter().position(|b| *b == b':');
    let is_text = std::str::from_utf8(&decoded).is_ok_and(|text| !text.chars().any(char::is_control));
    is_text && colon.is_some_and(|colon| colon > 0 && colon + 1 < decoded.len())
}
