//! The methods of the protocol, in both eras.

use serde_json::{Map, Value, json};

use super::lines::Line;
use super::message::{Answer, Complete, Message, Replies, Reply, Request, RpcCode, RpcError};
use super::{prompts, resources, tools};
use crate::cli::caller::Caller;
use crate::cli::session::Session;
use ckpt_agents::hosts::Host;

/// The versions with a handshake, the newest last.
const WITH_HANDSHAKE: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
/// The version without one.
const WITHOUT_HANDSHAKE: &str = "2026-07-28";

const VERSION_MEMBER: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES_MEMBER: &str = "io.modelcontextprotocol/clientCapabilities";
const CLIENT_MEMBER: &str = "io.modelcontextprotocol/clientInfo";
const SERVER_MEMBER: &str = "io.modelcontextprotocol/serverInfo";

const INSTRUCTIONS: &str = "ckpt keeps the state of multi-phase work across sessions. Call resume before continuing \
                            unfinished work and save when a phase begins, ends or fails.";

/// The era that a request belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Era {
    /// `initialize` comes first.
    Handshake,
    /// Every request stands for itself.
    Stateless,
}

/// How long a client may keep an answer, in the stateless era.
#[derive(Debug, Clone, Copy)]
enum Caching {
    /// The same for everybody, until another version is installed.
    Hour,
    /// It may be another one the next time.
    None,
    /// The method has no such members.
    Unsaid,
}

/// Answers messages. The only thing it remembers of them is the handshake.
pub(super) struct Server<'s> {
    session: &'s Session,
    has_greeted: bool,
    /// The name of the client.
    client: Option<String>,
}

impl<'s> Server<'s> {
    pub(super) fn new(session: &'s Session) -> Self {
        Self { session, has_greeted: false, client: None }
    }

    /// Returns the answer to a line, if it wants one.
    pub(super) fn answer(&mut self, line: Line) -> Option<Replies> {
        let message = match line {
            Line::Complete(line) => Message::read(&line),
            Line::TooLong => Message::Invalid(
                Value::Null,
                RpcError::new(RpcCode::InvalidRequest, "the message is too long; 16 MiB are read"),
            ),
        };
        match message {
            Message::Batch(messages) => {
                let replies: Vec<Reply> = messages.into_iter().filter_map(|message| self.reply(message)).collect();
                (!replies.is_empty()).then_some(Replies::Batch(replies))
            }
            message => self.reply(message).map(Replies::One),
        }
    }

    fn reply(&mut self, message: Message) -> Option<Reply> {
        match message {
            Message::Request(request) => {
                let id = request.id.clone();
                Some(Reply::new(id, self.serve(request)))
            }
            Message::Invalid(id, error) => Some(Reply::new(id, Err(error))),
            Message::Unanswered | Message::Batch(_) => None,
        }
    }

    fn serve(&mut self, request: Request) -> Result<Complete, RpcError> {
        let era = self.era(&request)?;
        let Request { method, params, .. } = request;
        let session = self.session;
        let (answer, caching) = match (method.as_str(), era) {
            ("tools/call", _) => (tools::call(session, self.caller(&params), params)?, Caching::Unsaid),
            ("initialize", Era::Handshake) => {
                self.has_greeted = true;
                self.client = name_of(params.get("clientInfo"));
                (initialize(&params).into(), Caching::Unsaid)
            }
            ("server/discover", Era::Stateless) => (discover().into(), Caching::Hour),
            ("ping", Era::Handshake) => (json!({}).into(), Caching::Unsaid),
            ("tools/list", _) => (tools::list().into(), Caching::Hour),
            ("resources/list", _) => (resources::list(session).into(), Caching::None),
            ("resources/templates/list", _) => (resources::templates().into(), Caching::Hour),
            ("resources/read", _) => (resources::read(session, &params, era)?.into(), Caching::None),
            ("prompts/list", _) => (prompts::list().into(), Caching::Hour),
            ("prompts/get", _) => (prompts::get(session, &params)?.into(), Caching::Unsaid),
            (method, _) => {
                return Err(RpcError::new(RpcCode::MethodNotFound, format!("there is no method {method:?}")));
            }
        };
        Ok(match era {
            Era::Handshake => complete(answer, None, Caching::Unsaid),
            Era::Stateless => complete(answer, Some("complete"), caching),
        })
    }

    /// Returns the agent of the client and its session. Codex sets no variables for its servers, and tells it here.
    fn caller(&self, params: &Map<String, Value>) -> Option<Caller> {
        let meta = params.get("_meta");
        let name = name_of(meta.and_then(|meta| meta.get(CLIENT_MEMBER))).or_else(|| self.client.clone())?;
        let host = Host::ALL.into_iter().find(|host| name.starts_with(host.word()))?;
        let session = meta.and_then(|meta| meta.get("sessionId")).and_then(Value::as_str);
        Some(Caller { name: host.agent(), session: session.map(str::to_owned) })
    }

    fn era(&self, request: &Request) -> Result<Era, RpcError> {
        let meta = request.params.get("_meta");
        let Some(version) = meta.and_then(|meta| meta.get(VERSION_MEMBER)) else {
            if self.has_greeted || matches!(request.method.as_str(), "initialize" | "ping") {
                return Ok(Era::Handshake);
            }
            let message = format!("begin with `initialize`, or name `{VERSION_MEMBER}` in `_meta`");
            return Err(RpcError::invalid_params(message));
        };
        if version != WITHOUT_HANDSHAKE {
            let data = json!({"supported": [WITHOUT_HANDSHAKE], "requested": version});
            let error = RpcError::new(RpcCode::UnsupportedVersion, "Unsupported protocol version");
            return Err(RpcError { data: Some(data), ..error });
        }
        if !meta.and_then(|meta| meta.get(CAPABILITIES_MEMBER)).is_some_and(Value::is_object) {
            return Err(RpcError::invalid_params(format!("`_meta` lacks `{CAPABILITIES_MEMBER}`")));
        }
        Ok(Era::Stateless)
    }
}

fn name_of(client: Option<&Value>) -> Option<String> {
    client?.get("name")?.as_str().map(str::to_owned)
}

/// Adds the members that every result has in the stateless era.
fn complete(answer: Answer, result_type: Option<&'static str>, caching: Caching) -> Complete {
    let (ttl_ms, cache_scope) = match caching {
        Caching::Hour => (Some(3_600_000), Some("public")),
        Caching::None => (Some(0), Some("private")),
        Caching::Unsaid => (None, None),
    };
    Complete { result_type, ttl_ms, cache_scope, answer }
}

fn capabilities() -> Value {
    json!({"tools": {}, "resources": {}, "prompts": {}})
}

fn server_info() -> Value {
    json!({"name": "ckpt", "version": env!("CARGO_PKG_VERSION")})
}

/// Agrees to the version that was asked for or, if it is not known, offers the newest with a handshake.
fn initialize(params: &Map<String, Value>) -> Value {
    let asked = params.get("protocolVersion").and_then(Value::as_str);
    let version = asked.and_then(|asked| WITH_HANDSHAKE.into_iter().find(|known| *known == asked));
    let version = version.unwrap_or(WITH_HANDSHAKE[WITH_HANDSHAKE.len() - 1]);
    json!({
        "protocolVersion": version,
        "capabilities": capabilities(),
        "serverInfo": server_info(),
        "instructions": INSTRUCTIONS,
    })
}

fn discover() -> Value {
    json!({
        "supportedVersions": [WITHOUT_HANDSHAKE],
        "capabilities": capabilities(),
        "instructions": INSTRUCTIONS,
        "_meta": {SERVER_MEMBER: server_info()},
    })
}
