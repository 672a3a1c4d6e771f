//! Who may ask: a person who has the printed address, through a browser that shows no other site.

use std::io;
use std::sync::Mutex;

use super::http::{Request, Response};
use ckpt_model::digest::Digest;

/// Checks requests.
pub(super) struct Guard {
    port: u16,
    token: String,
    /// A token that works once.
    once: Mutex<Option<String>>,
}

impl Guard {
    pub(super) fn new(port: u16) -> io::Result<Self> {
        Ok(Self { port, token: random()?, once: Mutex::new(None) })
    }

    pub(super) fn token(&self) -> &str {
        &self.token
    }

    pub(super) fn secret_address(&self) -> String {
        format!("http://127.0.0.1:{}/?token={}", self.port, self.token)
    }

    pub(super) fn once_address(&self) -> io::Result<String> {
        let token = random()?;
        if let Ok(mut once) = self.once.lock() {
            *once = Some(token.clone());
        }
        Ok(format!("http://127.0.0.1:{}/?token={token}", self.port))
    }

    /// Returns the answer to a request that is refused, or that exchanges the token for a cookie; none if it may pass.
    pub(super) fn check(&self, request: &Request) -> Option<Response> {
        if !self.names_this_server(request) {
            return Some(Response::refused(421, "This server has another name"));
        }
        if self.is_of_another_site(request) {
            return Some(Response::refused(403, "Another site asked for this"));
        }
        if !matches!(request.method.as_str(), "GET" | "POST") {
            return Some(Response::refused(405, "Only GET and POST are understood"));
        }
        let given = request.parameter("token");
        if request.method == "GET" && !given.is_empty() {
            if self.is_token(given) || self.is_once(given) {
                return Some(Response::redirect("/").with_header("Set-Cookie", self.cookie()));
            }
            let why = "This address is not valid any more; `ckpt ui` prints the present one";
            return Some(Response::refused(403, why));
        }
        if !self.has_cookie(request) {
            return Some(Response::refused(403, "Open the address that `ckpt ui` printed"));
        }
        if request.method == "POST" {
            // Browsers send it with every form; a program must say it, too.
            if request.header("origin").is_none() {
                return Some(Response::refused(403, "The origin of the form is missing"));
            }
            if !self.is_token(request.field("token")) {
                return Some(Response::refused(403, "The token of the form is missing"));
            }
        }
        None
    }

    fn names_this_server(&self, request: &Request) -> bool {
        let names = ["127.0.0.1", "localhost"].map(|name| format!("{name}:{}", self.port));
        request.header("host").is_some_and(|host| names.iter().any(|name| name == host))
    }

    fn is_of_another_site(&self, request: &Request) -> bool {
        let own = request.header("host").map(|host| format!("http://{host}"));
        let other_origin = request.has_header("origin") && request.header("origin") != own.as_deref();
        let other_fetch = request.header("sec-fetch-site").is_some_and(|site| !matches!(site, "same-origin" | "none"));
        // A link on another page may lead to the printed address, which shows nothing without the cookie.
        let is_navigation = request.method == "GET" && request.header("sec-fetch-mode") == Some("navigate");
        other_origin || (other_fetch && !is_navigation)
    }

    /// Compares by digest, so that the time does not tell how much of it is right.
    fn is_token(&self, given: &str) -> bool {
        Digest::of(given.as_bytes()) == Digest::of(self.token.as_bytes())
    }

    fn is_once(&self, given: &str) -> bool {
        let Ok(mut once) = self.once.lock() else { return false };
        once.take_if(|token| Digest::of(given.as_bytes()) == Digest::of(token.as_bytes())).is_some()
    }

    /// Cookies do not know ports, so the name has it.
    fn cookie_name(&self) -> String {
        format!("ckpt-{}", self.port)
    }

    fn cookie(&self) -> String {
        format!("{}={}; HttpOnly; SameSite=Strict; Path=/", self.cookie_name(), self.token)
    }

    fn has_cookie(&self, request: &Request) -> bool {
        let name = self.cookie_name();
        let cookies = request.header("cookie").unwrap_or_default().split(';');
        cookies
            .filter_map(|cookie| cookie.trim().split_once('='))
            .any(|(known, value)| known == name && self.is_token(value))
    }
}

/// Returns 128 random bits as text.
fn random() -> io::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
