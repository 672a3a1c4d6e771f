//! Tells secrets from what merely stands where one will be: words, names, placeholders.

use super::scan::MARKER;

/// Any of these words, and the value is one that somebody is meant to replace.
const PLACEHOLDER_WORDS: &[&str] = &[
    "your",
    "yours",
    "here",
    "goes",
    "example",
    "placeholder",
    "changeme",
    "change",
    "replace",
    "replaceme",
    "insert",
    "redacted",
    "masked",
    "hidden",
    "removed",
    "omitted",
    "dummy",
    "fake",
    "sample",
    "todo",
    "fixme",
    "xxx",
    "xxxx",
];

/// Nothing but these, and the value is a type, a setting, a name or a remark.
#[rustfmt::skip]
const REMARKS: &[&str] = &[
    "a", "access", "an", "and", "any", "api", "apikey", "argon2", "argon2id", "ask", "auth", "bar", "base64", "basic",
    "baz", "bcrypt", "bearer", "bool", "bytes", "char", "client", "config", "confirm", "current", "default", "empty",
    "encrypted", "env", "environ", "environment", "expired", "false", "field", "file", "foo", "foobar", "forgot", "from",
    "hash", "hashed", "hex", "id", "in", "incorrect", "int", "invalid", "is", "jwt", "key", "keys", "later", "length",
    "manual", "max", "md5", "min", "missing", "my", "na", "name", "new", "nil", "no", "none", "not", "null", "number",
    "oauth", "oauth2", "object", "of", "old", "on", "off", "optional", "or", "our", "passphrase", "password", "passwords", "passwd", "path",
    "pbkdf2", "plain", "plaintext", "policy", "private", "prompt", "public", "pwd", "required", "reset", "revoked",
    "rotated", "scrypt", "secret", "secrets", "set", "settings", "sha1", "sha256", "sha512", "some", "str", "string", "tbd",
    "test", "testing", "tests", "text", "that", "the", "this", "to", "token", "tokens", "true", "type", "undefined",
    "unknown", "unset", "user", "username", "utf8", "valid", "value", "values", "var", "varchar", "variable", "vault", "wrong", "yes",
];

/// How much of a value is compared with these words, which bounds the cost.
const LONGEST_REMARK: usize = 64;

/// Tells whether a text is of words, numbers and versions, joined or not: `my-app-2`, `process.env.TOKEN`.
pub(super) fn is_words(text: &[u8]) -> bool {
    text.split(|b| !b.is_ascii_alphanumeric()).all(is_word)
}

fn is_word(part: &[u8]) -> bool {
    let letters = part.iter().take_while(|b| b.is_ascii_alphabetic()).count();
    let (word, number) = part.split_at(letters);
    let capitals = word.iter().filter(|b| b.is_ascii_uppercase()).count();
    let is_plain = capitals == 0 || capitals == word.len() || capitals <= 1 + word.len() / 5;
    let is_number = number.iter().all(u8::is_ascii_digit);
    if word.is_empty() {
        is_number && number.len() <= 8
    } else {
        word.len() <= 20 && is_plain && is_number && number.len() <= 3
    }
}

/// Tells whether a text fills a form (`xxxx`, `****`, `0000`) or is cut short by an ellipsis.
pub(super) fn is_filler(text: &[u8]) -> bool {
    let mut others = [None; 2];
    let is_new = |b: &&u8| !b"xX0*.-_/?#".contains(b);
    let mut has_room = |b: &u8| {
        let room = others.iter_mut().find(|other| other.is_none_or(|other| other == *b));
        room.map(|room| *room = Some(*b)).is_some()
    };
    text.iter().filter(is_new).all(&mut has_room) || text.windows(3).any(|three| three == b"...")
}

/// Tells whether one of the words says that the value is to be replaced.
pub(super) fn names_placeholder(text: &[u8]) -> bool {
    words(&text[..text.len().min(LONGEST_REMARK)]).any(|word| is_one_of(word, PLACEHOLDER_WORDS))
}

/// Tells whether something stands where a password will be filled in, or where one has been taken out.
pub(super) fn is_password_placeholder(password: &str) -> bool {
    let identifier = |name: &str| name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let enclosed = [("${", "}"), ("$(", ")"), ("{", "}"), ("[", "]"), ("(", ")"), ("%", "%"), ("%(", ")s"), ("<", ">")];
    let mut chars = password.chars();
    let first = chars.next();
    first.is_none_or(|first| "*xX.-_?\u{2022}".contains(first) && chars.all(|c| c == first))
        || password.starts_with(MARKER)
        || password.strip_prefix('$').is_some_and(identifier)
        || password == "%s"
        || is_one_of(password.as_bytes(), &["password", "passwd", "pwd"])
        || names_placeholder(password.as_bytes())
        || enclosed.iter().any(|(open, close)| password.strip_prefix(open).is_some_and(|rest| rest.ends_with(close)))
}

/// Tells whether a value after a name that suggests a secret is not one: a stand-in, a reference, or a remark about it.
pub(super) fn is_placeholder(value: &str) -> bool {
    let bytes = value.as_bytes();
    let references = [
        "$env:", "$2", "$argon2", "<", "{{", "{%", "#{", "@{", "...", "\u{2026}", "op:", "vault:", "arn:", "sha256",
        "ENC[",
    ];
    is_password_placeholder(value)
        || is_filler(bytes)
        || value.contains(MARKER)
        || references.iter().any(|reference| value.starts_with(reference))
        || ["${", "{{", "$(", "...", "\u{2026}", "://"].iter().any(|part| value.contains(part))
        || value.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("your"))
        || bytes.len() <= LONGEST_REMARK && words(bytes).all(|word| is_one_of(word, REMARKS))
}

/// The words of a text, with `camelCase` taken apart.
fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let parts = text.split(|b| !b.is_ascii_alphanumeric());
    parts.flat_map(|part| part.chunk_by(|a, b| !(a.is_ascii_lowercase() && b.is_ascii_uppercase())))
}

fn is_one_of(word: &[u8], list: &[&str]) -> bool {
    list.iter().any(|known| word.eq_ignore_ascii_case(known.as_bytes()))
}
