//! The real `ckpt-remote` in surroundings where it cannot succeed: what it says, and what it never says.

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::time::Duration;

use ckpt_sync::{Failure, Key, ObjectStoreRemote, Remote};

use ckpt::{ckpt_remote, script};

const SECRETS: [(&str, &str); 3] = [
    ("AWS_ACCESS_KEY_ID", "AKIAHUSHHUSHHUSHHUSH"),
    ("AWS_SECRET_ACCESS_KEY", "hush/secret/key/of/the/user"),
    ("AWS_SESSION_TOKEN", "hush-session-token"),
];

/// Runs `ckpt-remote` with these variables and no others of AWS, and asks for an object that is not there.
fn asked(url: &str, variables: &[(&str, &str)]) -> (Result<Option<Vec<u8>>, Failure>, String) {
    let dir = tempfile::tempdir().unwrap();
    let failure = ask(dir.path(), url, variables);
    (failure, fs::read_to_string(dir.path().join("stderr")).unwrap())
}

fn ask(dir: &Path, url: &str, variables: &[(&str, &str)]) -> Result<Option<Vec<u8>>, Failure> {
    let variables: String = variables.iter().map(|(name, value)| format!(" {name}='{value}'")).collect();
    let program = ckpt_remote();
    let program = program.display();
    let text = format!("exec env -i HOME={0}{variables} {program} 2>> {0}/stderr", dir.display());
    let program = script(dir, "ckpt-remote", &text);
    ObjectStoreRemote::new(Some(program), url.to_owned(), false, Duration::from_secs(60))
        .get(&Key::parse("wf/042/x").unwrap(), 100)
}

fn with_secrets<'a>(more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    [&SECRETS[..], more].concat()
}

#[test]
#[ignore = "run by tests/engines/run.sh"]
fn no_failure_says_a_secret() {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let echo = format!("http://{}", server.local_addr().unwrap());
    // A server that repeats what it was sent, as some do in their error messages.
    std::thread::spawn(move || {
        for stream in server.incoming().flatten() {
            repeat_request(stream);
        }
    });
    let cases = [
        ("s3://team/x", ("AWS_ENDPOINT_URL", echo.as_str()), "HTTP 403 (AccessDenied)"),
        ("s3://team/x", ("AWS_ENDPOINT_URL", "http://127.0.0.1:1"), "Connection refused"),
        ("s3://team/x", ("AWS_ENDPOINT_URL", "http://AKIAHUSHHUSHHUSHHUSH@example.com"), "not encrypted"),
        ("s3://team/x", ("AWS_ENDPOINT_URL", "http://[hush-session-token"), ""),
        ("s3://team--usw2-az1--x-s3/x", ("AWS_REGION", "us-west-2"), "S3 Express"),
        ("s3://AKIAHUSHHUSHHUSHHUSH:hush@team/x", ("AWS_REGION", "us-west-2"), "not the name of a bucket"),
    ];
    for (url, variable, reason) in cases {
        let (failure, stderr) = asked(url, &with_secrets(&[variable]));
        let said = format!("{} {stderr}", failure.unwrap_err());
        assert!(said.contains(reason), "{url}: {said}");
        // The last case has it in the URL, which the user wrote into a file.
        let hidden = if url.contains('@') { &SECRETS[1..] } else { &SECRETS[..] };
        for (_, secret) in hidden {
            assert!(!said.contains(secret), "{said}");
        }
    }
}

fn repeat_request(mut stream: std::net::TcpStream) {
    use std::io::{Read as _, Write as _};
    let mut request = [0; 4096];
    let length = stream.read(&mut request).unwrap_or(0);
    let request = String::from_utf8_lossy(&request[..length]);
    let body = format!("<Error><Code>AccessDenied</Code><Message>{request} {SECRETS:?}</Message></Error>");
    let head = format!("HTTP/1.1 403 Forbidden\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
    let _ = stream.write_all(format!("{head}{body}").as_bytes());
}

#[test]
#[ignore = "run by tests/engines/run.sh"]
fn unencrypted_connections_to_other_machines_need_the_consent_of_the_user() {
    let elsewhere = ("AWS_ENDPOINT_URL", "http://192.0.2.1:9000");
    let (failure, _) = asked("s3://team/x", &with_secrets(&[elsewhere]));
    let Failure::Refused(message) = failure.unwrap_err() else { panic!("it is refused before anything is sent") };
    assert!(message.contains("http://192.0.2.1:9000 is not encrypted"), "{message}");
}

#[test]
#[ignore = "run by tests/engines/run.sh"]
fn keys_come_from_a_profile_too() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join(".aws")).unwrap();
    fs::write(dir.path().join(".aws/credentials"), "[ci]\naws_access_key_id = A\naws_secret_access_key = hush\n")
        .unwrap();
    fs::write(dir.path().join(".aws/config"), "[profile ci]\nendpoint_url = http://127.0.0.1:1\n").unwrap();
    let failure = ask(dir.path(), "s3://team/x", &[("AWS_PROFILE", "ci")]).unwrap_err();
    assert!(matches!(failure, Failure::Unreachable(_)), "{failure}");
}

#[test]
#[ignore = "run by tests/engines/run.sh"]
fn a_machine_without_certificates_still_gets_as_far_as_the_connection() {
    let none = [("SSL_CERT_FILE", "/nonexistent"), ("SSL_CERT_DIR", "/nonexistent")];
    let endpoint = ("AWS_ENDPOINT_URL", "https://127.0.0.1:1");
    let (failure, _) = asked("s3://team/x", &with_secrets(&[none[0], none[1], endpoint]));
    let failure = failure.unwrap_err();
    assert!(matches!(failure, Failure::Unreachable(_)), "{failure}");
}
