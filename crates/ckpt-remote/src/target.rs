//! The URL of a remote, taken apart and checked.

use ckpt_wire::PROGRAM;

/// The kinds of object stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    S3,
    Azure,
    Google,
}

/// A bucket or container, and the beginning of all keys in it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) kind: Kind,
    pub(crate) bucket: String,
    /// Without `/` at its ends; may be empty.
    pub(crate) prefix: String,
}

impl Target {
    /// Parses a URL; the error is a sentence for the user.
    ///
    /// A URL may come from a repository of a stranger. It names no host, so that it cannot send credentials anywhere.
    pub(crate) fn parse(url: &str) -> Result<Self, String> {
        let (scheme, rest) = url.split_once("://").ok_or_else(|| format!("`{url}` is not a URL"))?;
        let kind = match scheme {
            "s3" => Kind::S3,
            "az" => Kind::Azure,
            "gs" => Kind::Google,
            _ => return Err(format!("{PROGRAM} speaks to s3://, az:// and gs://, not to {scheme}://")),
        };
        let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        let prefix = prefix.trim_end_matches('/');
        let is_name = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        if bucket.is_empty() || !bucket.chars().all(is_name) {
            return Err(format!(
                "`{bucket}` is not the name of a bucket: expected {scheme}://BUCKET/PREFIX with letters, digits, `.`, `_` and `-`"
            ));
        }
        let is_part = |part: &str| {
            !part.is_empty() && !part.starts_with('.') && part.chars().all(|c| is_name(c) || "@+=".contains(c))
        };
        if !prefix.is_empty() && !prefix.split('/').all(is_part) {
            return Err(format!(
                "`{prefix}` cannot be a prefix: its parts have letters, digits and `._-@+=`, and do not start with a dot"
            ));
        }
        if let Some(reason) = unsuitable(kind, bucket) {
            return Err(format!("`{bucket}` cannot be a remote: {reason}"));
        }
        Ok(Self { kind, bucket: bucket.to_owned(), prefix: prefix.to_owned() })
    }
}

/// Returns why a bucket cannot be a remote, if its name says so.
fn unsuitable(kind: Kind, bucket: &str) -> Option<&'static str> {
    let ends = |ends: &[&str]| ends.iter().any(|end| bucket.ends_with(end));
    match kind {
        Kind::S3 if ends(&["--x-s3", "--xa-s3"]) => {
            Some("a directory bucket of S3 Express lists keys in no order, so the newest checkpoint cannot be found")
        }
        Kind::S3 if ends(&["--ol-s3"]) => {
            Some("an access point of S3 Object Lambda may answer with other bytes than were written")
        }
        Kind::S3 if ends(&[".mrap"]) => {
            Some("a multi-region access point copies objects later, so two writers may both create one key")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_taken_apart() {
        let cases = [
            ("s3://team/ckpt/x", Kind::S3, "team", "ckpt/x"),
            ("s3://team", Kind::S3, "team", ""),
            ("s3://team/", Kind::S3, "team", ""),
            ("az://box/a/", Kind::Azure, "box", "a"),
            ("gs://b.example.com/a", Kind::Google, "b.example.com", "a"),
        ];
        for (url, kind, bucket, prefix) in cases {
            let expected = Target { kind, bucket: bucket.to_owned(), prefix: prefix.to_owned() };
            assert_eq!(Target::parse(url), Ok(expected), "{url}");
        }
    }

    #[test]
    fn hosts_credentials_and_unsafe_prefixes_are_refused() {
        for url in [
            "team",
            "ftp://team",
            "https://s3.amazonaws.com/team",
            "s3://",
            "s3:///x",
            "s3://key:secret@team/x",
            "s3://team:9000/x",
            "s3://team/../x",
            "s3://team/a//b",
            "s3://team/a b",
            "s3://team/a?endpoint=http://evil",
            "s3://team/%2e%2e",
        ] {
            assert!(Target::parse(url).is_err(), "{url}");
        }
    }

    #[test]
    fn engines_that_cannot_keep_the_promises_are_refused_by_name() {
        for bucket in ["team--usw2-az1--x-s3", "team--usw2-az1--xa-s3", "team--ol-s3", "mfzwi23gnjvgw.mrap"] {
            let refusal = Target::parse(&format!("s3://{bucket}/x")).unwrap_err();
            assert!(refusal.contains("cannot be a remote"), "{refusal}");
        }
    }
}
