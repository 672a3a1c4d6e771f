//! Tests of the rules: on their own examples, on a corpus, in every surrounding, and on hostile text.

use proptest::prelude::*;

use super::corpus::{HARMLESS, SECRETS};
use super::redact_text;
use super::rules::{EXAMPLES, RULES};
use super::scan::marker;

/// Makes a body of letters and digits; whole secrets in the source would alarm every scanner but this
/// one.
fn body(length: usize) -> String {
    "aB3dE6gH9kLmN0pQ".chars().cycle().take(length).collect()
}

/// Writes out the notation of examples. Whole secrets in the source would alarm every scanner but this one.
fn written_out(example: &str) -> String {
    let mut text = String::new();
    let mut rest = example;
    while let Some((before, after)) = rest.split_once('{') {
        text.push_str(before);
        let filled = after.split_once('}').and_then(|(hole, after)| {
            let (kind, length) = hole.split_at_checked(1)?;
            let alphabet = match kind {
                "a" => "aB3dE6gH9kLmN0pQrS7tUvW2xYz",
                "d" => "4815162342",
                "x" => "0f1e2d3c4b5a6978",
                "u" => "Q7Z2M4K6T3",
                "b" => "aB3+dE6/gH9kLmN0pQ",
                _ => return None,
            };
            Some((alphabet.chars().cycle().take(length.parse().ok()?).collect::<String>(), after))
        });
        match filled {
            Some((filled, after)) => {
                text.push_str(&filled);
                rest = after;
            }
            None => {
                text.push('{');
                rest = after;
            }
        }
    }
    text + rest
}

/// The examples that are nothing but a secret.
fn samples() -> Vec<(&'static str, String)> {
    let examples = EXAMPLES.iter().map(|(rule, example, _)| (*rule, written_out(example)));
    examples.filter(|(rule, example)| redact_text(example) == Some(marker(rule))).collect()
}

fn pem(label: &str) -> String {
    format!("-----BEGIN {label}-----\n{}\n{}==\n-----END {label}-----", body(64), body(20))
}

#[test]
fn every_rule_finds_its_example_and_leaves_its_counter_example() {
    for (rule, example, harmless) in EXAMPLES {
        let example = written_out(example);
        let redacted = redact_text(&example);
        assert!(redacted.as_ref().is_some_and(|text| text.contains(&marker(rule))), "{rule}: {example}: {redacted:?}");
        assert_eq!(redact_text(harmless), None, "{rule}");
    }
    assert!(samples().len() > EXAMPLES.len() / 2);
}

#[test]
fn secrets_are_found_in_the_forms_in_which_they_turn_up() {
    let missed: Vec<_> = SECRETS
        .iter()
        .map(|(text, secret)| (written_out(text), written_out(secret)))
        .filter(|(text, secret)| redact_text(text).unwrap_or_else(|| text.clone()).contains(secret.as_str()))
        .collect();
    assert!(missed.is_empty(), "{} of {}: {missed:#?}", missed.len(), SECRETS.len());
}

#[test]
fn what_resembles_a_secret_is_left_as_it_is() {
    let altered: Vec<_> = HARMLESS.iter().filter_map(|text| redact_text(text)).collect();
    assert!(altered.is_empty(), "{} of {}: {altered:#?}", altered.len(), HARMLESS.len());
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
            let redacted = redact_text(&format!("{before}{secret}{after}"));
            // After a name that says enough, the name may be quicker than the rule.
            let expected = [rule, "secret"].map(|rule| Some(format!("{before}{}{after}", marker(rule))));
            assert!(expected.contains(&redacted), "{rule}: {secret}: {redacted:?}");
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
    let (key, secret, long) = (body(86), "/aB3+dE6gx".repeat(4), body(30));
    let cases = [
        (format!("AccountKey={key}==;Suffix=x"), "AccountKey=[REDACTED:azure-storage-key];Suffix=x"),
        (format!("AWS_SECRET_ACCESS_KEY={secret}"), "AWS_SECRET_ACCESS_KEY=[REDACTED:aws-secret-key]"),
        (format!("aws_secret_access_key = {secret}\n"), "aws_secret_access_key = [REDACTED:aws-secret-key]\n"),
        (
            format!("{{\\\"secretAccessKey\\\": \\\"{secret}\\\"}}"),
            "{\\\"secretAccessKey\\\": \\\"[REDACTED:aws-secret-key]\\\"}",
        ),
        (format!("Authorization: Bearer {long}"), "Authorization: Bearer [REDACTED:bearer]"),
        (format!("-H 'authorization: bearer {}'", body(12)), "-H 'authorization: bearer [REDACTED:bearer]'"),
        (format!("\"Authorization\": \"Bearer {long}\""), "\"Authorization\": \"Bearer [REDACTED:bearer]\""),
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
    let png = "iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/w38GIAXDIBKE0DHxgljNBAAO9TXL0Y4";
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
        "secretAccessKey: process.env.KEY",
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

/// Texts made of pieces that rules care about, which random characters would almost never form.
fn pieces() -> impl Strategy<Value = String> {
    let mut pieces: Vec<String> = RULES.iter().flat_map(|rule| rule.prefixes).map(ToString::to_string).collect();
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
