//! What counts as a secret: the table of prefixes, alphabets and lengths.
//!
//! To add a rule, add a row and a test in [`super::scan`]; only a secret that is more than "a prefix and so
//! many characters" needs a [`Shape`] of its own. Prefixes are chosen so that no ordinary word, identifier,
//! hash or encoded picture has one together with the required length.

/// The name of the one rule that also applies to JSON values by their key.
pub(super) const AWS_SECRET: &str = "aws-secret-key";
/// Stands for "as long as it goes on"; one less than the largest number, so that adding one is safe.
pub(super) const NO_LIMIT: usize = usize::MAX - 1;

/// How secrets of one kind begin, and what has to follow.
pub(super) struct Rule {
    pub(super) name: &'static str,
    pub(super) prefixes: &'static [&'static str],
    pub(super) shape: Shape,
}

pub(super) type Alphabet = fn(u8) -> bool;

#[derive(Clone, Copy)]
pub(super) enum Shape {
    /// So many characters of an alphabet.
    Run(Alphabet, usize, usize),
    /// The same, but the prefix is no part of the secret.
    After(Alphabet, usize, usize),
    /// At least so many characters that are not merely words joined by hyphens.
    Random(usize),
    /// A key with the mark that its vendor puts in the middle.
    Marked(&'static [u8]),
    Jwt,
    SendGrid,
    PrivateKey,
    Bearer,
    AwsSecret,
    UrlPassword,
}

/// The rules; where several fit, the first one wins.
#[rustfmt::skip]
pub(super) const RULES: &[Rule] = &[
    rule("aws-access-key", &["AKIA", "ASIA", "ABIA", "ACCA"], Shape::Run(upper, 16, 16)),
    rule(AWS_SECRET, &["secret_access_key", "SECRET_ACCESS_KEY"], Shape::AwsSecret),
    rule(AWS_SECRET, &["secretAccessKey", "SecretAccessKey"], Shape::AwsSecret),
    rule("github-token", &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], Shape::Run(alphanumeric, 36, NO_LIMIT)),
    rule("github-token", &["github_pat_"], Shape::Run(word, 60, NO_LIMIT)),
    rule("gitlab-token", &["glpat-", "gldt-", "glrt-", "glptt-"], Shape::Run(dotted, 20, NO_LIMIT)),
    rule("slack-token", &["xoxa-", "xoxb-", "xoxc-", "xoxd-", "xoxe-"], Shape::Run(slack, 10, NO_LIMIT)),
    rule("slack-token", &["xoxo-", "xoxp-", "xoxr-", "xoxs-"], Shape::Run(slack, 10, NO_LIMIT)),
    rule("slack-token", &["xoxe.xox", "xapp-1-"], Shape::Run(slack, 10, NO_LIMIT)),
    rule("slack-webhook", &["https://hooks.slack.com/services/"], Shape::Run(path, 20, NO_LIMIT)),
    rule("slack-webhook", &["https://hooks.slack.com/workflows/"], Shape::Run(path, 20, NO_LIMIT)),
    rule("slack-webhook", &["https://hooks.slack.com/triggers/"], Shape::Run(path, 20, NO_LIMIT)),
    rule("google-api-key", &["AIza"], Shape::Run(word, 35, 35)),
    rule("google-oauth", &["ya29."], Shape::Run(dotted, 20, NO_LIMIT)),
    rule("google-oauth", &["GOCSPX-"], Shape::Run(word, 28, 28)),
    rule("anthropic-key", &["sk-ant-"], Shape::Random(20)),
    rule("openai-key", &["sk-proj-", "sk-svcacct-", "sk-admin-"], Shape::Random(20)),
    rule("openai-key", &["sk-"], Shape::Marked(b"T3BlbkFJ")),
    rule("openai-key", &["sk-"], Shape::Run(alphanumeric, 48, 48)),
    rule("openrouter-key", &["sk-or-v1-"], Shape::Run(hex, 64, 64)),
    rule("stripe-key", &["sk_live_", "rk_live_"], Shape::Run(alphanumeric, 16, NO_LIMIT)),
    rule("stripe-key", &["whsec_"], Shape::Run(base64, 24, NO_LIMIT)),
    rule("npm-token", &["npm_"], Shape::Run(alphanumeric, 36, 36)),
    rule("pypi-token", &["pypi-AgE"], Shape::Run(word, 50, NO_LIMIT)),
    rule("huggingface-token", &["hf_"], Shape::Run(alphanumeric, 34, 40)),
    rule("sendgrid-key", &["SG."], Shape::SendGrid),
    rule("digitalocean-token", &["dop_v1_", "doo_v1_", "dor_v1_"], Shape::Run(hex, 64, 64)),
    rule("azure-storage-key", &["AccountKey="], Shape::After(base64, 40, 128)),
    rule("jwt", &["eyJ"], Shape::Jwt),
    rule("private-key", &["-----BEGIN "], Shape::PrivateKey),
    rule("bearer", &["Bearer ", "bearer ", "BEARER "], Shape::Bearer),
    rule("url-password", &["://"], Shape::UrlPassword),
];

const fn rule(name: &'static str, prefixes: &'static [&'static str], shape: Shape) -> Rule {
    Rule { name, prefixes, shape }
}

/// For each byte the rules with a prefix that has it in first place, one bit each.
pub(super) static FIRST: [u64; 256] = rules_by_byte(0);
/// For each byte the rules with a prefix that has it in second place, one bit each.
pub(super) static SECOND: [u64; 256] = rules_by_byte(1);

const fn rules_by_byte(place: usize) -> [u64; 256] {
    assert!(RULES.len() <= 64, "one bit per rule");
    let mut rules = [0; 256];
    let mut number = 0;
    while number < RULES.len() {
        let prefixes = RULES[number].prefixes;
        let mut at = 0;
        while at < prefixes.len() {
            rules[prefixes[at].as_bytes()[place] as usize] |= 1 << number;
            at += 1;
        }
        number += 1;
    }
    rules
}

pub(super) fn alphanumeric(b: u8) -> bool {
    b.is_ascii_alphanumeric()
}

pub(super) fn upper(b: u8) -> bool {
    b.is_ascii_uppercase() || b.is_ascii_digit()
}

pub(super) fn hex(b: u8) -> bool {
    b.is_ascii_hexdigit()
}

pub(super) fn word(b: u8) -> bool {
    alphanumeric(b) || matches!(b, b'_' | b'-')
}

pub(super) fn dotted(b: u8) -> bool {
    word(b) || b == b'.'
}

fn slack(b: u8) -> bool {
    alphanumeric(b) || matches!(b, b'-' | b'%')
}

fn path(b: u8) -> bool {
    word(b) || b == b'/'
}

pub(super) fn base64(b: u8) -> bool {
    alphanumeric(b) || matches!(b, b'+' | b'/' | b'=')
}

pub(super) fn token(b: u8) -> bool {
    dotted(b) || base64(b) || b == b'~'
}
