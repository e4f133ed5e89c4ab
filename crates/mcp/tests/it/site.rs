//! An MCP server over HTTP that forgets, cuts, floods and comes back, in this process. It knows
//! nothing of the crate, nor of the SDK.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Method, Request, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// A server, until it is dropped.
pub(crate) struct Site {
    pub(crate) address: SocketAddr,
    pub(crate) seen: Arc<Seen>,
    task: JoinHandle<()>,
}

/// What a server has seen, and how it is to be.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) calls: Mutex<Vec<String>>,
    /// The session that is known.
    pub(crate) session: Mutex<usize>,
    /// With which status a session is told to be unknown.
    pub(crate) unknown: Mutex<u16>,
    pub(crate) keys: Mutex<Vec<String>>,
    has_grown: Mutex<bool>,
    listeners: Mutex<Vec<mpsc::UnboundedSender<String>>>,
}

impl Seen {
    pub(crate) fn calls(&self) -> Vec<String> {
        self.calls.lock().unwrap().clone()
    }
}

impl Site {
    pub(crate) async fn start() -> Self {
        Self::start_at(SocketAddr::from(([127, 0, 0, 1], 0))).await
    }

    pub(crate) async fn start_at(address: SocketAddr) -> Self {
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Seen { unknown: Mutex::new(404), ..Seen::default() });
        let router = Router::new().fallback(answer).with_state(seen.clone());
        let task = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { address, seen, task }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn answer(State(seen): State<Arc<Seen>>, request: Request<Body>) -> Response {
    let (head, body) = request.into_parts();
    let body = axum::body::to_bytes(body, usize::MAX).await.unwrap();
    if head.uri.path() == "/moved" {
        let there = Uri::from_static("/mcp").to_string();
        return (StatusCode::TEMPORARY_REDIRECT, [("location", there)]).into_response();
    }
    if head.uri.path() == "/closed" {
        return (StatusCode::UNAUTHORIZED, "no key").into_response();
    }
    if head.uri.path() == "/echo" {
        let asked: Value = serde_json::from_slice(&body).unwrap();
        let key = head.headers.get("authorization").map(|key| key.to_str().unwrap());
        let error = json!({"code": -32001, "message": format!("no such key: {key:?}")});
        let body = json!({"jsonrpc": "2.0", "id": asked["id"], "error": error}).to_string();
        return ([("content-type", "application/json")], body).into_response();
    }
    match head.method {
        Method::POST => post(&seen, &head.headers, &body),
        Method::GET => {
            let (tell, told) = mpsc::unbounded_channel();
            seen.listeners.lock().unwrap().push(tell);
            let events = stream::unfold(told, |mut told| async {
                let event = told.recv().await?;
                Some((Ok::<_, Infallible>(format!("data: {event}\n\n")), told))
            });
            ([("content-type", "text/event-stream")], Body::from_stream(events)).into_response()
        }
        _ => StatusCode::OK.into_response(),
    }
}

fn post(seen: &Arc<Seen>, headers: &HeaderMap, body: &Bytes) -> Response {
    let message: Value = serde_json::from_slice(body).unwrap();
    let key = headers.get("authorization").map(|key| key.to_str().unwrap().to_owned());
    seen.keys.lock().unwrap().extend(key);
    let id = &message["id"];
    let json = |result: Value| {
        let body = json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string();
        ([("content-type", "application/json")], body).into_response()
    };
    let method = message["method"].as_str().unwrap_or_default();
    if method == "initialize" {
        let mut session = seen.session.lock().unwrap();
        *session += 1;
        let can = json!({"tools": {"listChanged": true}});
        let info = json!({"name": "site", "version": "1"});
        let version = &message["params"]["protocolVersion"];
        let mut answer =
            json(json!({"protocolVersion": version, "capabilities": can, "serverInfo": info}));
        let value = session.to_string().parse().unwrap();
        answer.headers_mut().insert("mcp-session-id", value);
        return answer;
    }
    let session = headers.get("mcp-session-id").map(|id| id.to_str().unwrap().to_owned());
    if session != Some(seen.session.lock().unwrap().to_string()) {
        let status = StatusCode::from_u16(*seen.unknown.lock().unwrap()).unwrap();
        let error = json!({"code": -32000, "message": "Bad Request: No valid session ID provided"});
        let body = json!({"jsonrpc": "2.0", "id": null, "error": error}).to_string();
        return (status, [("content-type", "application/json")], body).into_response();
    }
    match method {
        "tools/list" => {
            let tool = |name: &str, reads: bool| {
                json!({"name": name, "inputSchema": {"type": "object"},
                    "annotations": {"readOnlyHint": reads}})
            };
            let mut tools = vec![
                tool("look", true),
                tool("write", false),
                tool("cut_look", true),
                tool("cut_write", false),
                tool("huge_json", true),
                tool("huge_events", true),
                tool("grow", false),
            ];
            if *seen.has_grown.lock().unwrap() {
                tools.insert(0, tool("late", true));
            }
            json(json!({"tools": tools}))
        }
        "tools/call" => {
            let name = message["params"]["name"].as_str().unwrap();
            seen.calls.lock().unwrap().push(name.to_owned());
            call(seen, name, id)
        }
        _ => StatusCode::ACCEPTED.into_response(),
    }
}

fn call(seen: &Arc<Seen>, name: &str, id: &Value) -> Response {
    let text = |text: &str| {
        let result = json!({"content": [{"type": "text", "text": text}]});
        json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string()
    };
    let events = "text/event-stream";
    match name {
        "huge_json" => {
            let kind = [("content-type", "application/json")];
            (kind, flood(text("").replace("\"\"", "\"a"))).into_response()
        }
        "huge_events" => {
            let begins = format!("data: {}", text("").replace("\"\"", "\"a"));
            ([("content-type", events)], flood(begins)).into_response()
        }
        // The first call is cut after it took effect.
        "cut_look" | "cut_write"
            if seen.calls().iter().filter(|call| *call == name).count() == 1 =>
        {
            let pieces = [Ok("data: {\"jsonrpc\""), Err(std::io::Error::other("cut"))];
            let body = Body::from_stream(stream::iter(pieces));
            ([("content-type", events)], body).into_response()
        }
        "grow" => {
            *seen.has_grown.lock().unwrap() = true;
            let method = "notifications/tools/list_changed";
            let told = json!({"jsonrpc": "2.0", "method": method}).to_string();
            seen.listeners.lock().unwrap().retain(|tell| tell.send(told.clone()).is_ok());
            ([("content-type", "application/json")], text("grown")).into_response()
        }
        name => {
            let body = format!(": a comment\n\nevent: message\ndata: {}\n\n", text(name));
            ([("content-type", events)], body).into_response()
        }
    }
}

/// Fifty megabytes, in pieces.
fn flood(begins: String) -> Body {
    let pieces = std::iter::repeat_n("a".repeat(50_000), 1_000);
    let pieces = std::iter::once(begins).chain(pieces).map(Ok::<_, Infallible>);
    Body::from_stream(stream::iter(pieces))
}
