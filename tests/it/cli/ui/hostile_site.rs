//! Another site, another account, another program: none of them can read or act.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::support::project::World;
use ckpt::site::Site;

fn site() -> (World, Site) {
    let world = World::with_checkpoints(2);
    let site = Site::start(&world, &[]);
    (world, site)
}

#[test]
fn only_the_own_name_is_answered() {
    let (_world, site) = site();
    let cookie = format!("Cookie: ckpt-{}={}\r\n", site.port, site.token);
    for host in
        ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example", &format!("evil.example:{}", site.port)]
    {
        assert_eq!(site.get_with("/", &format!("Host: {host}\r\n{cookie}")).status, 421, "{host}");
    }
    assert_eq!(site.get_with("/", &cookie).status, 421, "without a name");
    let twice = format!("Host: {0}\r\nHost: {0}\r\n{cookie}", site.host());
    assert_eq!(site.get_with("/", &twice).status, 421, "with two names");
    assert_eq!(site.get_with("/", &format!("Host: localhost:{}\r\n{cookie}", site.port)).status, 200);
}

#[test]
fn nothing_is_shown_without_the_printed_address() {
    let (_world, site) = site();
    let host = format!("Host: {}\r\n", site.host());
    for path in ["/", "/w/042", "/w/042/1", "/stats", "/diff?from=042/1&to=042/2", "/events", "/nothing"] {
        let answer = site.get_with(path, &host);
        assert_eq!(answer.status, 403, "{path}");
        assert!(!answer.body.contains("042"), "{}", answer.body);
    }
    assert_eq!(site.get_with("/?token=wrong", &host).status, 403);
    let entered = site.get_with(&format!("/?token={}", site.token), &host);
    assert_eq!(entered.status, 303);
    assert!(entered.head.contains("HttpOnly; SameSite=Strict"), "{}", entered.head);
    assert_eq!(site.get("/").status, 200);
}

#[test]
fn a_request_of_another_site_is_refused() {
    let (_world, site) = site();
    for origin in ["http://evil.example", "null", "https://127.0.0.1", "http://127.0.0.1:1"] {
        let headers = format!("{}Origin: {origin}\r\n", site.trusted());
        assert_eq!(site.get_with("/", &headers).status, 403, "{origin}");
    }
    let fetched = format!("{}Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\n", site.trusted());
    assert_eq!(site.get_with("/", &fetched).status, 403);
}

#[test]
fn an_action_needs_post_origin_cookie_and_token() {
    let (world, site) = site();
    let form = "name=rollback&workflow=042&head=042%2F2&what=042%2F1";
    let origin = format!("Origin: http://{}\r\n", site.host());
    let with_token = format!("token={}&{form}", site.token);
    let host = format!("Host: {}\r\n", site.host());
    for path in ["/plan", "/apply"] {
        assert_eq!(site.get(&format!("{path}?{form}")).status, 405, "GET");
        let get_with_token = site.get(&format!("{path}?{with_token}"));
        assert_eq!(get_with_token.status, 303, "a token in an address only opens the first page");
        let trusted = site.trusted();
        let cases = [
            ("no token", format!("{trusted}{origin}"), form.to_owned()),
            ("a wrong token", format!("{trusted}{origin}"), format!("token=0&{form}")),
            ("no cookie", format!("{host}{origin}"), with_token.clone()),
            ("no origin", trusted.clone(), with_token.clone()),
            ("another origin", format!("{trusted}Origin: http://evil.example\r\n"), with_token.clone()),
            ("a form of another site", format!("{host}Origin: http://evil.example\r\n"), form.to_owned()),
        ];
        for (what, headers, form) in cases {
            assert_eq!(site.post_with(path, &headers, &form).status, 403, "{what}");
        }
        let json = format!(
            "POST {path} HTTP/1.1\r\n{trusted}{origin}Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{{}}"
        );
        assert_eq!(site.send(&json).status, 415);
    }
    assert_eq!(world.numbers("042"), [1, 2], "nothing was saved");
}

#[test]
fn every_answer_forbids_what_a_page_does_not_need() {
    let (_world, site) = site();
    for path in ["/", "/w/042", "/nothing", "/plan"] {
        let head = site.get(path).head.to_lowercase();
        for header in [
            "content-security-policy: default-src 'none'; style-src 'sha256-",
            "x-content-type-options: nosniff",
            "x-frame-options: deny",
            "cache-control: no-store",
            "cross-origin-resource-policy: same-origin",
        ] {
            assert!(head.contains(header), "{path}: {head}");
        }
        assert!(!head.contains("access-control") && !head.contains("unsafe"), "{head}");
    }
}

#[test]
fn junk_and_too_much_are_refused_and_the_server_lives() {
    let (_world, site) = site();
    assert_eq!(site.send("nonsense\r\n\r\n").status, 400);
    assert_eq!(site.send("GET http://evil.example/ HTTP/1.1\r\n\r\n").status, 400);
    assert_eq!(site.send(&format!("GET / HTTP/1.1\r\nX: {}\r\n\r\n", "x".repeat(100_000))).status, 431);
    assert_eq!(site.send("POST /plan HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n").status, 413);
    assert_eq!(site.send("POST /plan HTTP/1.1\r\nContent-Length: x\r\n\r\n").status, 400);
    assert_eq!(site.send("POST /plan HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n").status, 411);
    assert_eq!(site.send(&format!("DELETE / HTTP/1.1\r\n{}\r\n", site.trusted())).status, 405);
    for path in ["/w/..%2F..%2Fetc", "/w/--help", "/w/042/x", "/w/042/999", "/diff?from=--json&to=x", "/w/"] {
        let status = site.get(path).status;
        assert!((400..500).contains(&status), "{path}: {status}");
    }
    assert_eq!(site.get("/").status, 200);
}

#[test]
fn a_slow_request_is_given_up_and_holds_nobody_else_up() {
    let (_world, site) = site();
    let begun = Instant::now();
    let mut slow: Vec<TcpStream> = (0..5).map(|_| TcpStream::connect(("127.0.0.1", site.port)).unwrap()).collect();
    slow.iter_mut().for_each(|stream| stream.write_all(b"GET / HT").unwrap());
    assert_eq!(site.get("/").status, 200);
    assert!(begun.elapsed() < Duration::from_secs(9), "others are answered meanwhile");
    let stream = &mut slow[0];
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let end = loop {
        match stream.read(&mut [0; 10]) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            end => break end,
        }
    };
    assert_eq!(*end.as_ref().unwrap_or(&0), 0, "the connection is closed");
    assert!(begun.elapsed() > Duration::from_secs(5), "{end:?} after {:?}", begun.elapsed());
}

#[test]
fn a_server_without_a_free_descriptor_answers_when_there_is_one_again() {
    const LIMIT: usize = 24;
    let world = World::with_checkpoints(2);
    let limited = world.ckpt(&["ui", "--json"]).in_shell(&format!("ulimit -n {LIMIT}; exec \"$@\""));
    let site = Site::start_as(&limited);
    let idle: Vec<TcpStream> = (0..LIMIT).map(|_| TcpStream::connect(("127.0.0.1", site.port)).unwrap()).collect();
    while site.descriptors().expect("the server continues") < LIMIT {
        std::thread::yield_now();
    }
    drop(idle);
    while site.descriptors().expect("the server continues") > LIMIT / 2 {
        std::thread::yield_now();
    }
    assert_eq!(site.get("/").status, 200);
}
