//! Redaction takes linear time, whatever the text.

use ckpt_model::redact::{redact_text, redact_value};
use serde_json::{Map, Value};

use ckpt::cpu::assert_linear;

/// Repeated, each of these makes attempts of rules that fail late. If a failed attempt could look at everything that
/// follows it, or each pass replaced only one more secret, the time would be quadratic.
const HOSTILE: &[&str] = &[
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
    "password=",
    "token: ",
    "token=a1",
    "secret='",
    "a1b2.token=",
    "curl -u ",
    "curl -u a:",
    "--password ",
    "mysql -p",
    "login a ",
    "login a password ",
    ":5432:",
    ":5432:a:b:",
    "jdbc:oracle:thin:a/",
    "Basic ",
    "Basic YTpi",
    "a://u:p/",
    "a://u:p/@",
    "PuTTY-User-Key-File-",
    "PuTTY-User-Key-File-Private-Lines:",
    "~",
    "aB38Q~",
    ":AA",
    "1:AA",
    "=",
    ":",
    "sig=",
    "MT",
    "MTaaaaaaaaaaaaaaaaaaaaaa.",
    "pat",
    "glpat-a-",
];

#[test]
fn hostile_text_takes_linear_time() {
    for piece in HOSTILE {
        let text = |size: usize| piece.repeat(size / piece.len());
        let run = |text: String| drop(redact_text(&text));
        assert_linear(piece, (2_000, 128_000), |size| format!("{}@", text(size)), run);
        assert_linear(piece, (2_000, 128_000), |size| format!("eyJ{0}.eyJ{0}", text(size / 2)), run);
    }
}

#[test]
fn hostile_text_is_redacted_in_one_go() {
    for piece in HOSTILE {
        let text = piece.repeat(2_000 / piece.len());
        for text in [format!("{text}@"), format!("eyJ{text}.eyJ{text}")] {
            let once = redact_text(&text).unwrap_or(text);
            assert_eq!(redact_text(&once), None, "{piece}");
        }
    }
}

#[test]
fn secrets_as_keys_that_collide_take_linear_time() {
    let object = |size: usize| {
        let key = |number: usize| format!("ghp_{number:0>36}aB3");
        (0..size).map(|number| (key(number), Value::Null)).collect::<Map<_, _>>()
    };
    let redact = |members: Map<String, Value>| {
        let (mut value, mut redacted) = (Value::Object(members), Vec::new());
        redact_value(&mut value, "", &mut redacted);
        assert!(!redacted.is_empty());
    };
    assert_linear("keys", (100, 10_000), object, redact);
}
