//! Which page a request is for.

use super::http::{Request, Response};
use super::{Site, actions};
use crate::cli::content;
use crate::cli::error::Failure;
use crate::cli::exit::Exit;
use crate::cli::pages::workflows::Query;
use crate::cli::pages::{self, Links, View};
use crate::cli::session::Session;
use ckpt_model::{Handle, WorkflowId};

/// The longest text that is searched for.
const MAX_SEARCH: usize = 200;

/// The answer to a request.
pub(super) enum Answer {
    Page(Response),
    /// The connection stays open for events.
    Events,
}

/// A page: its title and its content.
pub(super) type Content = (String, maud::Markup);

/// Answers a request.
pub(super) fn answer(site: &Site, request: &Request) -> Answer {
    if let Some(refused) = site.guard.check(request) {
        return Answer::Page(refused);
    }
    let session = &match site.program.session() {
        Ok(session) => session,
        Err(failure) => return Answer::Page(Response::refused(500, &failure.message)),
    };
    let token = site.has_actions.then(|| site.guard.token().to_owned());
    let view = View { now: session.now(), links: Links::Server, token };
    let segments: Vec<&str> = request.path.split('/').skip(1).collect();
    let page = match (request.method.as_str(), segments.as_slice()) {
        ("GET", ["events"]) => return Answer::Events,
        ("GET", [""]) => workflows(session, &view, request),
        ("GET", ["stats"]) => content::analytics(session, &view).map(|page| ("Analytics".to_owned(), page)),
        ("GET", ["diff"]) => diff(session, &view, request.parameter("from"), request.parameter("to")),
        ("GET", ["w", id]) => workflow(session, &view, id),
        ("GET", ["w", id, number]) => checkpoint(session, &view, &format!("{id}/{number}")),
        ("POST", ["plan"]) if site.has_actions => actions::plan(site, session, &view, request),
        ("POST", ["apply"]) if site.has_actions => actions::apply(site, session, &view, request),
        ("POST", ["plan" | "apply"]) => {
            return Answer::Page(Response::refused(403, "Actions are switched off by `--read-only`"));
        }
        ("GET", ["plan" | "apply"]) => return Answer::Page(Response::refused(405, "Actions are POST only")),
        _ => return Answer::Page(not_found(site, &view)),
    };
    Answer::Page(match page {
        Ok(page) => render(site, &view, 200, page),
        Err(failure) => failed(site, &view, &failure),
    })
}

fn render(site: &Site, view: &View, status: u16, (title, main): Content) -> Response {
    let store = site.program.store.display().to_string();
    Response::html(status, pages::layout::document(view, &title, &store, &main))
}

fn failed(site: &Site, view: &View, failure: &Failure) -> Response {
    let status = match failure.exit() {
        Exit::NotFound => 404,
        Exit::Usage => 400,
        Exit::Conflict | Exit::Refused | Exit::Ambiguous => 409,
        _ => 500,
    };
    let title = "This did not work";
    let main = pages::failure::failure(title, &failure.message, &failure.help);
    render(site, view, status, (title.to_owned(), main))
}

fn not_found(site: &Site, view: &View) -> Response {
    let main = pages::failure::failure("There is no such page", "Nothing is at this address", &[]);
    render(site, view, 404, ("Not found".to_owned(), main))
}

fn workflows(session: &Session, view: &View, request: &Request) -> Result<Content, Failure> {
    let query = Query {
        text: request.parameter("q").chars().take(MAX_SEARCH).collect(),
        status: request.parameter("status").to_owned(),
        sort: request.parameter("sort").to_owned(),
        page: request.parameter("page").parse().unwrap_or(1),
        archived: !request.parameter("archived").is_empty(),
    };
    content::workflows(session, view, &query).map(|page| ("Workflows".to_owned(), page))
}

fn workflow(session: &Session, view: &View, id: &str) -> Result<Content, Failure> {
    let id: WorkflowId = id.parse().map_err(Failure::from)?;
    content::workflow(session, view, &id).map(|page| (id.to_string(), page))
}

fn checkpoint(session: &Session, view: &View, handle: &str) -> Result<Content, Failure> {
    let handle: Handle = handle.parse().map_err(Failure::from)?;
    content::checkpoint(session, view, &handle).map(|page| (handle.to_string(), page))
}

fn diff(session: &Session, view: &View, from: &str, to: &str) -> Result<Content, Failure> {
    let [from, to]: [Handle; 2] = [from.parse().map_err(Failure::from)?, to.parse().map_err(Failure::from)?];
    content::diff(session, view, &from, &to).map(|page| (format!("{from} to {to}"), page))
}
