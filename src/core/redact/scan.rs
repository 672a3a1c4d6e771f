//! Finds secrets in a text: one pass over its bytes, from one secret to the next.
//!
//! A pair of bytes that starts no prefix costs two table look-ups. One that does is tried only at the start of
//! a word, so that `task-ant-farm` is not searched for `sk-ant-`.
//!
//! # Invariants
//!
//! - Every range begins and ends beside ASCII characters or at an end of the text, so it never cuts a
//!   character.
//! - An attempt that fails has looked at a bounded number of bytes, or leaves a note in [`Scan`] that keeps
//!   the next attempt from looking at the same bytes.

use std::ops::Range;

use super::rules::{
    Alphabet, FIRST, NO_LIMIT, RULES, SECOND, Shape, alphanumeric, base64, hex, token, upper, word,
};

const MARKER: &str = "[REDACTED:";
/// How far an attempt looks for the signs of randomness, which bounds the cost of a failure.
const WINDOW: usize = 256;
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
    /// Where the password of the URL being read lies. Its user name comes first and may hold a secret too.
    password: Range<usize>,
    /// No JSON web token starts before this place: those that could all end in what was looked at already.
    no_jwt_before: usize,
    /// No last line of a private key is left in the text.
    no_key_end: bool,
}

impl<'a> Scan<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0, password: NOWHERE, no_jwt_before: 0, no_key_end: false }
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
        pairs.filter(|(pair, _)| rules_for(pair[0], pair[1]) != 0).map(|(_, at)| at).find(|&at| {
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
            let prefix = rule.prefixes.iter().find(|prefix| rest.starts_with(prefix.as_bytes()));
            if let Some(range) = prefix.and_then(|prefix| self.secret(rule.shape, at, at + prefix.len())) {
                return Some(Hit { range, rule: rule.name });
            }
        }
        None
    }

    /// Checks what follows a prefix that lies at `at..body`, and says what to replace.
    fn secret(&mut self, shape: Shape, at: usize, body: usize) -> Option<Range<usize>> {
        let bytes = self.text.as_bytes();
        match shape {
            Shape::Run(alphabet, least, most) => Some(at..run(bytes, body, alphabet, least, most)?),
            Shape::After(alphabet, least, most) => Some(body..run(bytes, body, alphabet, least, most)?),
            Shape::Random(least) => {
                is_random(window(bytes, body, word)).then_some(())?;
                Some(at..run(bytes, body, word, least, NO_LIMIT)?)
            }
            Shape::Marked(mark) => {
                window(bytes, body, word).windows(mark.len()).find(|part| *part == mark)?;
                Some(at..run(bytes, body, word, 20, NO_LIMIT)?)
            }
            Shape::SendGrid => {
                let dot = run(bytes, body, word, 16, 32)?;
                (bytes.get(dot) == Some(&b'.')).then_some(())?;
                Some(at..run(bytes, dot + 1, word, 32, 64)?)
            }
            Shape::Jwt => self.jwt(at),
            Shape::PrivateKey => self.private_key(at, body),
            Shape::Bearer => self.bearer(at, body),
            Shape::AwsSecret => aws_secret(bytes, body),
            Shape::UrlPassword => {
                if at > 0 && alphanumeric(bytes[at - 1]) {
                    self.password = url_password(self.text, body).unwrap_or(NOWHERE);
                }
                None
            }
        }
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
        let is_key = count(below.as_bytes(), 0, base64, 16) == 16
            || headers.iter().any(|header| below.starts_with(header));
        is_key.then_some(at..self.text.len())
    }

    fn bearer(&mut self, at: usize, body: usize) -> Option<Range<usize>> {
        let bytes = self.text.as_bytes();
        let end = run(bytes, body, token, 20, NO_LIMIT)?;
        let before = self.text[..at].trim_end_matches([' ', '\t', ':', '=', '"', '\'', '\\']).as_bytes();
        let name = before.len().checked_sub("authorization".len()).map(|start| &before[start..]);
        let is_header = name.is_some_and(|name| name.eq_ignore_ascii_case(b"authorization"));
        let sample = window(bytes, body, token);
        let is_token = is_header || is_random(sample) && sample.iter().any(u8::is_ascii_digit);
        // A rule that knows whose token this is has the better name for it.
        (is_token && self.hit_at(body).is_none()).then_some(body..end)
    }
}

/// Returns the rules with a prefix that may start with these bytes, one bit each.
fn rules_for(first: u8, second: u8) -> u64 {
    FIRST[usize::from(first)] & SECOND[usize::from(second)]
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
fn count(bytes: &[u8], from: usize, alphabet: Alphabet, most: usize) -> usize {
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

fn window(bytes: &[u8], from: usize, alphabet: Alphabet) -> &[u8] {
    &bytes[from..from + count(bytes, from, alphabet, WINDOW)]
}

/// Tells a key from words joined by hyphens: by a part longer than words are, or by length and a digit.
fn is_random(sample: &[u8]) -> bool {
    let longest = sample.split(|b| !alphanumeric(*b)).map(<[u8]>::len).max();
    longest >= Some(16) || sample.len() >= 40 && sample.iter().any(u8::is_ascii_digit)
}

/// Finds the end of a line that begins or ends a private key, from its label on.
fn private_key_label(text: &str, from: usize) -> Option<usize> {
    let label = count(text.as_bytes(), from, |b| upper(b) || b == b' ', 48);
    let (label, rest) = text.get(from..)?.split_at(label);
    let is_private = label.ends_with("PRIVATE KEY") || label.ends_with("PRIVATE KEY BLOCK");
    (is_private && rest.starts_with("-----")).then_some(from + label.len() + "-----".len())
}

/// Finds the value assigned to a name that ends at `from`.
fn aws_secret(bytes: &[u8], from: usize) -> Option<Range<usize>> {
    let gap = count(bytes, from, |b| b" \t\"'`\\:=>".contains(&b), 8);
    let assigned = bytes[from..from + gap].iter().any(|b| matches!(b, b':' | b'='));
    let start = from + gap;
    if assigned { Some(start..run(bytes, start, base64, 40, 40)?) } else { None }
}

/// Finds the password in a URL whose user and host begin at `from`.
fn url_password(text: &str, from: usize) -> Option<Range<usize>> {
    let ends = |b: u8| b <= b' ' || b == 0x7f || b"/?#\"'`<>\\".contains(&b);
    let rest = &text.as_bytes()[from..];
    let authority = &rest[..rest.iter().position(|b| ends(*b)).unwrap_or(rest.len())];
    // Parsers take the last one, so that a password may contain the sign.
    let end = from + authority.iter().rposition(|b| *b == b'@')?;
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
    (!is_placeholder(&text[start..end])).then_some(start..end)
}

/// Tells whether something stands where a password will be filled in, or where one has been taken out.
fn is_placeholder(password: &str) -> bool {
    let identifier = |name: &str| name.bytes().all(|b| alphanumeric(b) || b == b'_');
    let enclosed = [("${", "}"), ("$(", ")"), ("{", "}"), ("[", "]"), ("(", ")"), ("%", "%"), ("%(", ")s")];
    let mut chars = password.chars();
    let first = chars.next();
    first.is_none_or(|first| "*xX.-_?\u{2022}".contains(first) && chars.all(|c| c == first))
        || password.starts_with(MARKER)
        || password.strip_prefix('$').is_some_and(identifier)
        || password == "%s"
        || enclosed
            .iter()
            .any(|(open, close)| password.strip_prefix(open).is_some_and(|rest| rest.ends_with(close)))
}

#[cfg(test)]
mod tests {
    use super::super::redact_text;
    use super::*;
    use proptest::prelude::*;

    /// Makes a body of letters and digits; whole secrets in the source would alarm every scanner but this
    /// one.
    fn body(length: usize) -> String {
        "aB3dE6gH9kLmN0pQ".chars().cycle().take(length).collect()
    }

    fn samples() -> Vec<(&'static str, String)> {
        let hex64 = "0123456789abcdef".repeat(4);
        let jwt = format!("eyJ{}.eyJ{}.{}", body(33), body(40), body(43));
        vec![
            ("aws-access-key", format!("AKIA{}", "Q7Z2".repeat(4))),
            ("aws-access-key", format!("ASIA{}", "ABCD".repeat(4))),
            ("github-token", format!("ghp_{}", body(36))),
            ("github-token", format!("gho_{}", body(36))),
            ("github-token", format!("ghu_{}", "a".repeat(36))),
            ("github-token", format!("ghs_{}", body(80))),
            ("github-token", format!("ghr_{}", body(76))),
            ("github-token", format!("github_pat_{}_{}", body(22), body(59))),
            ("gitlab-token", format!("glpat-{}", body(20))),
            ("gitlab-token", format!("glpat-{}-x_{}.01.{}", body(9), body(9), body(7))),
            ("slack-token", format!("xoxb-{}-{}-{}", "1".repeat(12), "2".repeat(12), body(24))),
            ("slack-token", format!("xoxp-{}", body(40))),
            ("slack-token", format!("xoxe.xoxp-1-{}", body(40))),
            ("slack-token", format!("xapp-1-A0{}-1-{}", body(9), hex64)),
            (
                "slack-webhook",
                format!("https://hooks.slack.com/services/T{}/B{}/{}", body(8), body(8), body(24)),
            ),
            ("google-api-key", format!("AIza{}_-{}", body(20), body(13))),
            ("google-oauth", format!("ya29.{}-_{}", body(60), body(60))),
            ("google-oauth", format!("GOCSPX-{}", body(28))),
            ("openai-key", format!("sk-{}", body(48))),
            ("openai-key", format!("sk-{}T3BlbkFJ{}", body(20), body(20))),
            ("openai-key", format!("sk-proj-{}_{}", body(40), body(40))),
            ("openai-key", format!("sk-proj-{}", "abcdefghijklmnopqrstuvwxyz")),
            ("openai-key", format!("sk-svcacct-{}", body(60))),
            ("anthropic-key", format!("sk-ant-api03-{}-{}AA", body(50), body(40))),
            ("openrouter-key", format!("sk-or-v1-{hex64}")),
            ("stripe-key", format!("sk_live_{}", body(24))),
            ("stripe-key", format!("rk_live_{}", body(99))),
            ("stripe-key", format!("whsec_{}", body(32))),
            ("npm-token", format!("npm_{}", body(36))),
            ("pypi-token", format!("pypi-AgEIcHlwaS5vcmc{}-{}", body(40), body(40))),
            ("huggingface-token", format!("hf_{}", body(34))),
            ("sendgrid-key", format!("SG.{}.{}", body(22), body(43))),
            ("digitalocean-token", format!("dop_v1_{hex64}")),
            ("jwt", jwt),
            ("private-key", pem("PRIVATE KEY")),
            ("private-key", pem("RSA PRIVATE KEY")),
            ("private-key", pem("OPENSSH PRIVATE KEY")),
            ("private-key", pem("PGP PRIVATE KEY BLOCK")),
        ]
    }

    fn pem(label: &str) -> String {
        format!("-----BEGIN {label}-----\n{}\n{}==\n-----END {label}-----", body(64), body(20))
    }

    #[test]
    fn finds_each_kind_in_every_surrounding() {
        let around = [
            ("", ""),
            ("key: ", " and more"),
            ("\"", "\""),
            ("(", ")."),
            ("TOKEN=", "\n"),
            ("a,", ";b"),
            ("{\\\"token\\\":\\\"", "\\\"}"),
            ("line\\n", "\\nnext"),
            ("?q=%3D", "&x=1"),
            ("\\u003d", "\\u0026"),
            ("\u{e9}\u{65e5}", "\u{672c}"),
        ];
        for (rule, secret) in samples() {
            for (before, after) in around {
                let expected = format!("{before}{}{after}", marker(rule));
                assert_eq!(redact_text(&format!("{before}{secret}{after}")), Some(expected), "{secret}");
            }
        }
    }

    #[test]
    fn finds_several_and_keeps_what_lies_between() {
        let all: Vec<String> = samples().into_iter().map(|(_, secret)| secret).collect();
        let markers: Vec<String> = samples().into_iter().map(|(rule, _)| marker(rule)).collect();
        assert_eq!(redact_text(&all.join(" | ")), Some(markers.join(" | ")));
    }

    #[test]
    fn a_word_cannot_end_in_a_secret_nor_go_on_after_one() {
        for (rule, secret) in samples() {
            // A private key starts with no letter, and this token has another one inside.
            if rule != "private-key" && !secret.starts_with("xoxe.") {
                assert_eq!(redact_text(&format!("x{secret}")), None, "{secret}");
            }
        }
        let fixed = ["aws-access-key", "google-api-key", "npm-token", "digitalocean-token", "sendgrid-key"];
        for (rule, secret) in samples() {
            if fixed.contains(&rule) {
                let longer = format!("{secret}{}", body(40));
                assert_eq!(redact_text(&longer), None, "{longer}");
            }
        }
    }

    #[test]
    fn url_passwords() {
        let cases = [
            ("postgres://u:p@h", "postgres://u:[REDACTED:url-password]@h"),
            ("redis://:pass@host:6379/0", "redis://:[REDACTED:url-password]@host:6379/0"),
            ("mongodb+srv://a:b@h1,h2/db?x=y", "mongodb+srv://a:[REDACTED:url-password]@h1,h2/db?x=y"),
            ("(https://me:s3cr3t@example.com/x)", "(https://me:[REDACTED:url-password]@example.com/x)"),
            ("amqp://u:p@ss:w@rd@h", "amqp://u:[REDACTED:url-password]@h"),
            ("ftp://u:p\u{e9}\u{65e5}@h", "ftp://u:[REDACTED:url-password]@h"),
            ("a://u:p@/db b://u:q@h", "a://u:[REDACTED:url-password]@/db b://u:[REDACTED:url-password]@h"),
            ("DB=jdbc:mysql://root:toor@db:3306/x", "DB=jdbc:mysql://root:[REDACTED:url-password]@db:3306/x"),
            ("x://[REDACTED:jwt]:pw@h", "x://[REDACTED:jwt]:[REDACTED:url-password]@h"),
            ("x://u:$pa!ss@h", "x://u:[REDACTED:url-password]@h"),
        ];
        for (text, expected) in cases {
            assert_eq!(redact_text(text).as_deref(), Some(expected));
        }
        let token = format!("ghp_{}", body(36));
        assert_eq!(
            redact_text(&format!("https://{token}:x-oauth-basic@github.com/o/r")).as_deref(),
            Some("https://[REDACTED:github-token]:[REDACTED:url-password]@github.com/o/r"),
        );
        assert_eq!(
            redact_text(&format!("https://{token}@github.com/o/r")).as_deref(),
            Some("https://[REDACTED:github-token]@github.com/o/r"),
        );
    }

    #[test]
    fn values_behind_a_name() {
        let (key, secret, long) = (body(86), "/aB3+".repeat(8), body(30));
        let cases = [
            (format!("AccountKey={key}==;Suffix=x"), "AccountKey=[REDACTED:azure-storage-key];Suffix=x"),
            (format!("AWS_SECRET_ACCESS_KEY={secret}"), "AWS_SECRET_ACCESS_KEY=[REDACTED:aws-secret-key]"),
            (
                format!("aws_secret_access_key = {secret}\n"),
                "aws_secret_access_key = [REDACTED:aws-secret-key]\n",
            ),
            (
                format!("{{\\\"secretAccessKey\\\": \\\"{secret}\\\"}}"),
                "{\\\"secretAccessKey\\\": \\\"[REDACTED:aws-secret-key]\\\"}",
            ),
            (format!("Authorization: Bearer {long}"), "Authorization: Bearer [REDACTED:bearer]"),
            (
                format!("-H 'authorization: bearer {}'", "z".repeat(20)),
                "-H 'authorization: bearer [REDACTED:bearer]'",
            ),
            (
                format!("\"Authorization\": \"Bearer {long}\""),
                "\"Authorization\": \"Bearer [REDACTED:bearer]\"",
            ),
            (format!("Bearer {long}."), "Bearer [REDACTED:bearer]."),
            (format!("Bearer ghp_{}", body(36)), "Bearer [REDACTED:github-token]"),
        ];
        for (text, expected) in cases {
            assert_eq!(redact_text(&text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn private_keys_go_as_a_whole() {
        let key = pem("EC PRIVATE KEY");
        let (first, _) = key.split_at(key.len() - 30);
        let escaped = key.replace('\n', "\\n");
        let encrypted = "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: x";
        let cases = [
            (format!("a\n{key}\nb"), "a\n[REDACTED:private-key]\nb"),
            (format!("a {escaped} b"), "a [REDACTED:private-key] b"),
            (format!("{key}\n{key}"), "[REDACTED:private-key]\n[REDACTED:private-key]"),
            (format!("cut off: {first}"), "cut off: [REDACTED:private-key]"),
            (format!("cut off: {}", first.replace('\n', "\\n")), "cut off: [REDACTED:private-key]"),
            (encrypted.to_owned(), "[REDACTED:private-key]"),
        ];
        for (text, expected) in cases {
            assert_eq!(redact_text(&text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn ordinary_text_is_untouched() {
        let png =
            "iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/w38GIAXDIBKE0DHxgljNBAAO9TXL0Y4";
        let untouched = [
            "",
            "The quick brown fox; e-mail me@example.com, or you@sk-learn.org.",
            "0123456789abcdef0123456789abcdef01234567",
            "9e107d9d372bb6826bd81d3542a419d6",
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            "550e8400-e29b-41d4-a716-446655440000",
            "integrity sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==",
            &format!("data:image/png;base64,{png}"),
            &png.repeat(40),
            "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIB0123456789abcdefghijklmnopqrstuvwxyzABCD me@host",
            "sk-learn sk-ant sk- task-ant-farm risk-proj-1 sk-ant-colony-simulation-framework",
            "sk-proj-2024-roadmap-planning sk-proj-management-dashboard-widgets-and-more",
            "sk_live_ sk_live_key_goes_here sk_test_mode rk_live",
            "npm_config_registry npm_package_version_is_a_long_environment_name",
            "AKIA AKIA1234 AKIAshort ASIAPACIFIC ACCADEMIA AKIA_SOMETHING_ELSE_HERE",
            "ghp_ ghp_example gho_st github_pat_ github_pattern_matching_is_fun",
            "glpat- glpat-example xoxb- xoxb-x xapp-name-of-an-application hf_hub_download hf_",
            "AIza AIzaShort ya29. SG.1 SG.a.b whsec_ whsec_test_secret_value_goes_here_ok pypi-AgE pypi-server",
            "https://hooks.slack.com/services/YOUR/WEBHOOK/URL https://hooks.slack.com/",
            "eyJ eyJhbGciOiJIUzI1NiJ9 eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0 eyJa.eyJb.eyJc eyJhbGciOiJIUzI1NiJ9.abc.def",
            "http://localhost:8080/path@v2 https://example.com:443/?q=a@b http://[::1]:80/ x://host:1,h2:2",
            "https://unpkg.com/react@18 git@github.com:owner/repo.git ssh://git@host:22/repo git+ssh://git@h:o/r",
            "at 12:30@noon, ratio 3:1@best, a:b@c, //u:p@h, ://u:p@h",
            "postgres://user@host/db postgres://user:@host/db https://me@example.com",
            "postgres://u:${PASSWORD}@h postgres://u:$PASSWORD@h postgres://u:<password>@h postgres://u:{pw}@h",
            "postgres://u:***@h postgres://u:xxx@h postgres://u:XXXX@h postgres://u:...@h postgres://u:%s@h",
            "postgres://u:[YOUR-PASSWORD]@h postgres://u:$(cat pw)@h postgres://u:%PW%@h postgres://u:%(pw)s@h",
            "postgres://u:\u{2022}\u{2022}\u{2022}@h postgres://u:[REDACTED:url-password]@h",
            "Bearer token, bearer of bad news, Bearer authentication-is-not-a-token, Authorization: Bearer <token>",
            "Authorization: Bearer ${TOKEN} Authorization: Bearer $TOKEN authorization: bearer short",
            "AccountKey= AccountKey=abc AccountName=x secret_access_key secret_access_key = ask the vault",
            "SECRET_ACCESS_KEY=0123456789abcdef secretAccessKey: process.env.KEY",
            "-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkq\n-----END CERTIFICATE-----",
            "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A\n-----END PUBLIC KEY-----",
            "look for -----BEGIN RSA PRIVATE KEY----- in the file, then stop",
            "-----BEGIN PRIVATE KEY-----",
            "-----BEGIN -----END ---------- --- PRIVATE KEY-----",
            "\u{65e5}\u{672c}\u{8a9e}://\u{e9}:\u{e9}",
        ];
        for text in untouched {
            assert_eq!(redact_text(text), None);
        }
    }

    #[test]
    fn replacements_are_never_replaced() {
        for rule in RULES {
            let shown = format!("{0} x://{0}:{0}@{0} Bearer {0} Authorization: {0}", marker(rule.name));
            assert_eq!(redact_text(&shown), None);
        }
    }

    /// Each of these would take long if an attempt that fails could look at everything that follows.
    #[test]
    fn hostile_text_takes_linear_time() {
        let hostile = [
            "sk-",
            "sk-ant-",
            "eyJ-",
            "eyJaaaaaaaaa-",
            "eyJaaaaaaaaaaaa.eyJ-",
            "glpat-.",
            "xoxb-",
            "AIza-",
            "SG.",
            "-----BEGIN PRIVATE KEY-----",
            "-----BEGIN PRIVATE KEY-----\n-----END ",
            "a://",
            "a://u:",
            "a://u:y@",
            "Bearer ",
            "Bearer aaaaaaaaaaaaaaaaaaaa ",
            "secret_access_key=",
            "ghp_",
            "AccountKey=",
            "[REDACTED:",
            "a://[REDACTED:",
            "ya29.",
            "https://hooks.slack.com/services/",
            "-",
            "%",
            "\\n",
            "whsec_/",
        ];
        for piece in hostile {
            let text = piece.repeat(30_000 / piece.len());
            for text in [format!("{text}@"), format!("eyJ{text}.eyJ{text}")] {
                let once = redact_text(&text).unwrap_or(text);
                assert_eq!(redact_text(&once), None, "{piece}");
            }
        }
    }

    /// Texts made of pieces that rules care about, which random characters would almost never form.
    fn pieces() -> impl Strategy<Value = String> {
        let mut pieces: Vec<String> =
            RULES.iter().flat_map(|rule| rule.prefixes).map(ToString::to_string).collect();
        pieces.extend(samples().into_iter().map(|(_, secret)| secret));
        pieces.extend(RULES.iter().map(|rule| marker(rule.name)));
        pieces.extend([1, 16, 20, 34, 36, 40, 48].map(body));
        let glue = ": @ / . - _ = \\n % + x A 0 ://u: @h -----END\u{20}PRIVATE [ ] [REDACTED: \u{e9} \n \" AccountKey=/";
        pieces.extend(glue.split(' ').map(str::to_owned));
        pieces.push(" ".to_owned());
        proptest::collection::vec(proptest::sample::select(pieces), 0..12).prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn a_second_pass_changes_nothing(text in pieces()) {
            if let Some(once) = redact_text(&text) {
                prop_assert_ne!(&once, &text);
                prop_assert_eq!(redact_text(&once), None);
            }
        }

        #[test]
        fn nothing_panics(text in any::<String>(), mixed in "[a-z:/@\u{e9}\\\\%-]{0,40}") {
            let _ = redact_text(&text);
            let _ = redact_text(&format!("x://{mixed}:{text}@{mixed}"));
        }
    }
}
