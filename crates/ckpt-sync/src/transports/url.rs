//! The address of a remote, as given by a person or found in settings.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use ckpt_model::digest::Digest;

/// Where a remote is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RemoteUrl {
    /// A directory: `file:///srv/ckpt`.
    File(PathBuf),
    /// A git repository, by the name of a remote of the project or by its URL: `git:origin`.
    Git(String),
    /// An object store: `s3://bucket/prefix`, `az://`, `gs://`.
    Engine(String),
}

/// A text that is not the address of a remote.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not the address of a remote: {why}", given.escape_debug())]
pub(crate) struct BadUrl {
    /// The text as given; without what may be a password.
    pub(crate) given: String,
    /// The problem.
    pub(crate) why: &'static str,
}

const GIT_SCHEMES: [&str; 5] = ["https://", "http://", "ssh://", "git://", "file://"];
const ENGINE_SCHEMES: [&str; 3] = ["s3://", "az://", "gs://"];

impl RemoteUrl {
    /// Returns the digest that tells this remote from others, for ledgers.
    pub(crate) fn identity(&self) -> Digest {
        Digest::of(self.to_string().as_bytes())
    }
}

impl FromStr for RemoteUrl {
    type Err = BadUrl;

    fn from_str(given: &str) -> Result<Self, BadUrl> {
        let bad = |why| Err(BadUrl { given: without_password(given), why });
        if given.is_empty() || given.len() > 2000 || given.chars().any(|c| c.is_control() || c.is_whitespace()) {
            return bad("it is empty, too long, or has spaces in it");
        }
        if has_password(given) {
            return bad("a password in it would be stored and shown; credentials come from the environment");
        }
        if let Some(path) = given.strip_prefix("file://") {
            if !path.starts_with('/') && !is_drive(path) {
                return bad("the path behind `file://` is absolute: `file:///srv/ckpt`");
            }
            let path = if is_drive(path.trim_start_matches('/')) { path.trim_start_matches('/') } else { path };
            return Ok(Self::File(PathBuf::from(path)));
        }
        if let Some(place) = given.strip_prefix("git:") {
            return match check_git(place) {
                Ok(()) => Ok(Self::Git(place.to_owned())),
                Err(why) => bad(why),
            };
        }
        if ENGINE_SCHEMES.iter().any(|scheme| given.strip_prefix(scheme).is_some_and(|rest| !rest.is_empty())) {
            return Ok(Self::Engine(given.to_owned()));
        }
        bad("it starts with `file:///`, `git:`, `s3://`, `az://` or `gs://`")
    }
}

impl fmt::Display for RemoteUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "file://{}", path.display()),
            Self::Git(place) => write!(f, "git:{place}"),
            Self::Engine(url) => f.write_str(url),
        }
    }
}

/// Checks that git does not take a place for an option or for a program to run, such as `ext::sh -c ...`.
pub(super) fn check_git(place: &str) -> Result<(), &'static str> {
    if place.is_empty() || place.starts_with('-') {
        return Err("git would take it for an option");
    }
    if place.contains("::") {
        return Err("git would run a program for it");
    }
    if has_password(place) {
        return Err("a password in it would be stored and shown; use a credential helper of git");
    }
    match place.find("://") {
        Some(_) if GIT_SCHEMES.iter().any(|scheme| place.starts_with(scheme)) => Ok(()),
        Some(_) => Err("git remotes are https, ssh, git or file URLs, or the name of a remote"),
        None => Ok(()),
    }
}

/// Returns true for `scheme://user:password@host`.
fn has_password(url: &str) -> bool {
    let Some((_, rest)) = url.split_once("://") else { return false };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    authority.rsplit_once('@').is_some_and(|(user, _)| user.contains(':'))
}

fn without_password(url: &str) -> String {
    match url.split_once("://") {
        Some((scheme, rest)) if has_password(url) => {
            let host = rest.split_once('@').map_or(rest, |(_, host)| host);
            format!("{scheme}://...@{host}")
        }
        _ => url.to_owned(),
    }
}

/// Returns true for a path with a drive letter, as on Windows.
fn is_drive(path: &str) -> bool {
    matches!(path.as_bytes(), [letter, b':', b'/', ..] if letter.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_shown_again() {
        for url in [
            "file:///srv/ckpt",
            "git:origin",
            "git:https://example.com/a.git",
            "git:me@example.com:a.git",
            "git:/srv/a.git",
            "s3://bucket/prefix",
            "az://account/container",
            "gs://bucket",
        ] {
            assert_eq!(url.parse::<RemoteUrl>().unwrap().to_string(), url);
        }
    }

    #[test]
    fn hostile_addresses_are_refused() {
        for url in [
            "",
            "origin",
            "file://relative",
            "git:",
            "git:--upload-pack=touch /tmp/x",
            "git:--upload-pack=x",
            "git:-c",
            "git:ext::sh",
            "git:fd::17",
            "git:ftp://example.com/a",
            "http://example.com",
            "s3://",
            "s3://a b",
            "git:https://me:secret@example.com/a",
            "s3://key:secret@bucket",
        ] {
            let refused = url.parse::<RemoteUrl>().unwrap_err();
            assert!(!refused.to_string().contains("secret"), "{refused}");
        }
    }
}
