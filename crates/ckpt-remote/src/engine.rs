//! The verbs on an object store, and the meaning of its answers.
//!
//! | answer of HTTP | outcome |
//! |---|---|
//! | 412, 304; of Azure also 409 `BlobAlreadyExists` | exists |
//! | 404 `NoSuchKey`, `BlobNotFound` or without a code, to a read | absent |
//! | 408, 409, 429, 5xx without 501; none, although the request was sent | unknown |
//! | 2xx that cannot be understood | unknown; of a read, unusable |
//! | no connection | unreachable |
//! | any other, above all 400, 401, 403, other 404, 501 | refused |
//!
//! 409 of S3 means that another request for the same key was under way, and that nothing was written: `object_store` calls
//! that "already exists", which it may not be.

use std::sync::Arc;
use std::time::Duration;

use ckpt_wire::{Failure, MAX_LISTED, Outcome, Verb, time_limit};
use object_store::aws::AmazonS3;
use object_store::azure::MicrosoftAzure;
use object_store::gcp::GoogleCloudStorage;
use object_store::list::{PaginatedListOptions, PaginatedListStore};
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload};

use super::connection::{Reply, observe};
use super::settings::Secrets;
use super::target::{Kind, Target};

/// The longest reason that is taken over from an engine.
const MAX_REASON: usize = 300;

/// An object store, and the place of the remote in it.
pub(crate) struct Engine {
    objects: Arc<dyn ObjectStore>,
    pages: Arc<dyn PaginatedListStore>,
    credentials: Credentials,
    kind: Kind,
    /// Empty, or ends with `/`.
    prefix: String,
    secrets: Secrets,
}

/// The client again, for what its kinds do not share.
enum Credentials {
    S3(AmazonS3),
    Azure(MicrosoftAzure),
    Google(GoogleCloudStorage),
}

/// The kind of a request, where that decides on the meaning of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    Get,
    List,
    Change,
}

/// An operation that failed inside this program, or at the engine.
enum Problem {
    Engine(object_store::Error),
    TooLarge(u64),
}

impl From<object_store::Error> for Problem {
    fn from(error: object_store::Error) -> Self {
        Self::Engine(error)
    }
}

impl Engine {
    pub(crate) fn s3(client: AmazonS3, target: &Target) -> Self {
        Self::new(client.clone(), Credentials::S3(client), target)
    }

    pub(crate) fn azure(client: MicrosoftAzure, target: &Target) -> Self {
        Self::new(client.clone(), Credentials::Azure(client), target)
    }

    pub(crate) fn google(client: GoogleCloudStorage, target: &Target) -> Self {
        Self::new(client.clone(), Credentials::Google(client), target)
    }

    fn new(client: impl ObjectStore + PaginatedListStore + Clone, credentials: Credentials, target: &Target) -> Self {
        let prefix = if target.prefix.is_empty() { String::new() } else { format!("{}/", target.prefix) };
        let secrets = Secrets::default();
        Self {
            objects: Arc::new(client.clone()),
            pages: Arc::new(client),
            credentials,
            kind: target.kind,
            prefix,
            secrets,
        }
    }

    /// Hides these values in all messages.
    pub(crate) fn hiding(self, secrets: Secrets) -> Self {
        Self { secrets, ..self }
    }

    /// Finds credentials, so that a lack of them is reported as such, and not as a failure of the engine.
    pub(crate) async fn authenticate(&self) -> Outcome {
        let limit = Duration::from_secs(time_limit(0));
        let (result, _) = observe(limit, async {
            match &self.credentials {
                Credentials::S3(client) => client.credentials().get_credential().await.map(drop),
                Credentials::Azure(client) => client.credentials().get_credential().await.map(drop),
                Credentials::Google(client) => client.credentials().get_credential().await.map(drop),
            }
        })
        .await;
        let help = match self.kind {
            Kind::S3 => "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE",
            Kind::Azure => "set AZURE_STORAGE_ACCOUNT and AZURE_STORAGE_KEY or AZURE_STORAGE_SAS_TOKEN",
            Kind::Google => "set GOOGLE_APPLICATION_CREDENTIALS",
        };
        match result {
            Some(Ok(())) => Outcome::Done,
            Some(Err(_)) | None => {
                let message = format!("no credentials: {help}; this machine has no role that gives any");
                Outcome::Failed(Failure::Refused(message))
            }
        }
    }

    /// Carries out a request, and returns the content that was read.
    pub(crate) async fn carry_out(&self, verb: Verb, body: Vec<u8>) -> (Outcome, Vec<u8>) {
        let (asked, bytes) = match &verb {
            Verb::Create { .. } => (Asked::Change, body.len() as u64),
            Verb::Empty { .. } => (Asked::Change, 0),
            Verb::Get { limit, .. } => (Asked::Get, *limit),
            Verb::List { .. } => (Asked::List, 0),
        };
        let limit = Duration::from_secs(time_limit(bytes));
        match observe(limit, self.perform(verb, body)).await {
            (Some(Ok((outcome, body))), _) => (outcome, body),
            (Some(Err(Problem::TooLarge(size))), _) => {
                let message = format!("the object has {size} bytes, which is too many");
                (Outcome::Failed(Failure::Unusable(message)), Vec::new())
            }
            (Some(Err(Problem::Engine(error))), reply) => (self.meaning(&error, reply, asked), Vec::new()),
            (None, Reply::None | Reply::NotConnected) => {
                let message = "no connection in time".to_owned();
                (Outcome::Failed(Failure::Unreachable(message)), Vec::new())
            }
            (None, Reply::Lost | Reply::Status(_)) => {
                let message = format!("no answer in {} seconds", limit.as_secs());
                (Outcome::Failed(Failure::Unknown(message)), Vec::new())
            }
        }
    }

    async fn perform(&self, verb: Verb, body: Vec<u8>) -> Result<(Outcome, Vec<u8>), Problem> {
        match verb {
            Verb::Create { key } => self.put(&key, body, PutMode::Create).await,
            Verb::Empty { key } => self.put(&key, Vec::new(), PutMode::Overwrite).await,
            Verb::Get { key, limit } => {
                let found = self.objects.get(&self.path(&key)?).await?;
                if found.meta.size > limit {
                    return Err(Problem::TooLarge(found.meta.size));
                }
                Ok((Outcome::Done, found.bytes().await?.to_vec()))
            }
            Verb::List { prefix, after, limit } => {
                let outcome = self.list(&prefix, &after, limit.clamp(1, MAX_LISTED)).await?;
                Ok((outcome, Vec::new()))
            }
        }
    }

    async fn put(&self, key: &str, body: Vec<u8>, mode: PutMode) -> Result<(Outcome, Vec<u8>), Problem> {
        let options = PutOptions { mode, ..PutOptions::default() };
        self.objects.put_opts(&self.path(key)?, PutPayload::from(body), options).await?;
        Ok((Outcome::Done, Vec::new()))
    }

    /// Lists at most `limit` keys after `after`. Azurite and others ignore where to start, so what they repeat is left out.
    async fn list(&self, prefix: &str, after: &str, limit: usize) -> Result<Outcome, Problem> {
        let full = format!("{}{prefix}", self.prefix);
        let mut objects: Vec<(String, u64)> = Vec::new();
        let mut page_token = None;
        loop {
            let options = PaginatedListOptions {
                offset: (!after.is_empty()).then(|| format!("{}{after}", self.prefix)),
                max_keys: Some(limit),
                page_token,
                ..PaginatedListOptions::default()
            };
            let page = self.pages.list_paginated(Some(&full), options).await?;
            for object in page.result.objects {
                let key = object.location.as_ref().strip_prefix(&self.prefix).unwrap_or_default();
                if key > after && objects.len() < limit {
                    objects.push((key.to_owned(), object.size));
                }
            }
            page_token = page.page_token;
            let more = page_token.is_some();
            if !more || objects.len() >= limit {
                return Ok(Outcome::Listed { objects, more });
            }
        }
    }

    fn path(&self, key: &str) -> Result<Path, object_store::Error> {
        Ok(Path::parse(format!("{}{key}", self.prefix))?)
    }

    fn meaning(&self, error: &object_store::Error, reply: Reply, asked: Asked) -> Outcome {
        // The text of an error has URLs, which may have a signature in them; its code is enough.
        let code = code_of(&error.to_string());
        let failure: fn(String) -> Failure = match (reply, code.as_deref()) {
            (Reply::Status(404), None | Some("NoSuchKey" | "BlobNotFound")) if asked == Asked::Get => {
                return Outcome::Absent;
            }
            (Reply::Status(412 | 304), _) => return Outcome::Failed(Failure::Exists),
            (Reply::Status(409), Some("BlobAlreadyExists")) if self.kind == Kind::Azure => {
                return Outcome::Failed(Failure::Exists);
            }
            (Reply::Status(200..=299), _) if asked != Asked::Change => Failure::Unusable,
            (Reply::Status(200..=299 | 408 | 409 | 429 | 500 | 502..=599) | Reply::Lost, _) => Failure::Unknown,
            (Reply::NotConnected, _) => Failure::Unreachable,
            (Reply::None | Reply::Status(_), _) => Failure::Refused,
        };
        let message = match (reply, code) {
            (Reply::Status(status), Some(code)) => format!("HTTP {status} ({code})"),
            (Reply::Status(status), None) if !(200..300).contains(&status) => format!("HTTP {status}"),
            _ => self.secrets.hide(&innermost(error)),
        };
        Outcome::Failed(failure(message))
    }
}

/// Returns the code in the body of an answer: `<Code>AccessDenied</Code>`.
fn code_of(text: &str) -> Option<String> {
    let (_, rest) = text.split_once("<Code>")?;
    let (code, _) = rest.split_once("</Code>")?;
    let is_code = !code.is_empty() && code.len() <= 64 && code.bytes().all(|b| b.is_ascii_alphanumeric());
    is_code.then(|| code.to_owned())
}

/// Returns the cause of an error: the outer ones only say in which request it happened.
fn innermost(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string().chars().filter(|c| !c.is_control()).take(MAX_REASON).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_of_an_answer_is_found_and_nothing_else() {
        let body =
            "Server returned non-2xx status code: 403 Forbidden: <Error><Code>AccessDenied</Code><Key>x</Key></Error>";
        assert_eq!(code_of(body).as_deref(), Some("AccessDenied"));
        for text in ["", "<Code>", "<Code></Code>", "<Code>a b</Code>", "<Code>\u{1b}[2J</Code>"] {
            assert_eq!(code_of(text), None, "{text:?}");
        }
    }
}
