//! A connection over streamable HTTP.
//!
//! Messages are sent here and not by the SDK's own client, for three reasons: it is noted which
//! calls went out, no answer is longer than what is taken in, and a server that has forgotten the
//! session is known by what servers really answer.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::BoxStream;
use futures_util::{Stream, StreamExt as _};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue};
use reqwest::{Response, StatusCode};
use rmcp::model::{ClientJsonRpcMessage, JsonRpcMessage, RequestId, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::{Sse, SseStream};

use crate::limit::{MOST_MESSAGE, too_long, unread};
use crate::secrets::beginning;
use crate::sent::{Sent, request_id};

const BOTH: &str = "application/json, text/event-stream";
const SESSION: &str = "mcp-session-id";

/// The most bytes of what comes with an error.
const MOST_TOLD: usize = 2 * 1024;

/// How far redirects are followed.
const MOST_REDIRECTS: usize = 5;

pub(crate) type Failed = StreamableHttpError<reqwest::Error>;
type Headers = HashMap<HeaderName, HeaderValue>;

/// Sends messages over HTTP.
#[derive(Clone)]
pub(crate) struct Http {
    client: reqwest::Client,
    sent: Sent,
}

impl Http {
    pub(crate) fn new(sent: Sent, connect: Duration) -> Result<Self, reqwest::Error> {
        // Whoever was first has chosen for the whole program.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder()
            .redirect(same_origin())
            .connect_timeout(connect)
            .tcp_nodelay(true)
            .user_agent(concat!("interleaf/", env!("CARGO_PKG_VERSION")))
            .build()?;
        Ok(Self { client, sent })
    }

    async fn post(
        &self,
        uri: &str,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        headers: Headers,
    ) -> Result<StreamableHttpPostResponse, Failed> {
        let id = request_id(&message);
        let mut request = self.client.post(uri).header(ACCEPT, BOTH);
        if let Some(session) = &session {
            request = request.header(SESSION, &**session);
        }
        let request = request.headers(headers.into_iter().collect()).json(&message);
        self.sent.begin(&message);
        let response = match request.send().await {
            Ok(response) => response,
            Err(error) => {
                if error.is_connect() {
                    self.never_left(id.as_ref());
                }
                return Err(hidden(error));
            }
        };
        let status = response.status();
        if !status.is_success() {
            let told = told_with(response).await;
            let has_forgotten = session.is_some() && forgets_session(status, &told);
            if has_forgotten {
                self.never_left(id.as_ref());
                return Err(StreamableHttpError::SessionExpired);
            }
            return refused(status, &told, id);
        }
        let Some(id) = id else { return Ok(StreamableHttpPostResponse::Accepted) };
        let opened = header(&response, SESSION);
        match header(&response, CONTENT_TYPE.as_str()) {
            Some(kind) if kind.starts_with("text/event-stream") => {
                Ok(StreamableHttpPostResponse::Sse(events(response, Some(id)), opened))
            }
            Some(kind) if kind.starts_with("application/json") => {
                Ok(StreamableHttpPostResponse::Json(whole(response, id).await?, opened))
            }
            _ if status == StatusCode::ACCEPTED => Ok(StreamableHttpPostResponse::Accepted),
            kind => Err(StreamableHttpError::UnexpectedContentType(kind)),
        }
    }

    fn never_left(&self, id: Option<&RequestId>) {
        if let Some(id) = id {
            self.sent.forget(id);
        }
    }
}

impl StreamableHttpClient for Http {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        _: Option<String>,
        headers: Headers,
    ) -> Result<StreamableHttpPostResponse, Failed> {
        self.post(&uri, message, session, headers).await
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        _: Option<String>,
        headers: Headers,
    ) -> Result<(), Failed> {
        StreamableHttpClient::delete_session(&self.client, uri, session, None, headers).await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last: Option<String>,
        _: Option<String>,
        headers: Headers,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Failed> {
        let client = &self.client;
        StreamableHttpClient::get_stream(client, uri, session, last, None, headers).await
    }
}

/// Follows a redirect that stays with the server and keeps the message.
fn same_origin() -> reqwest::redirect::Policy {
    reqwest::redirect::Policy::custom(|attempt| {
        let keeps = [StatusCode::TEMPORARY_REDIRECT, StatusCode::PERMANENT_REDIRECT];
        let first = attempt.previous().first();
        let stays = first.is_some_and(|first| first.origin() == attempt.url().origin());
        let goes = keeps.contains(&attempt.status()) && stays;
        match goes && attempt.previous().len() <= MOST_REDIRECTS {
            true => attempt.follow(),
            false => attempt.stop(),
        }
    })
}

/// An error that does not show the address, which may hold a key.
fn hidden(error: reqwest::Error) -> Failed {
    StreamableHttpError::Client(error.without_url())
}

fn header(response: &Response, name: &str) -> Option<String> {
    let value = response.headers().get(name)?;
    Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
}

/// Whether a server says that it does not know our session: MCP asks for 404, and many servers
/// answer 400 with words.
fn forgets_session(status: StatusCode, told: &str) -> bool {
    let says = || told.to_lowercase().contains("session");
    status == StatusCode::NOT_FOUND || (status == StatusCode::BAD_REQUEST && says())
}

/// What a server refused, in its own words where it has some.
fn refused(
    status: StatusCode,
    told: &str,
    id: Option<RequestId>,
) -> Result<StreamableHttpPostResponse, Failed> {
    let is_about_keys = [StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN].contains(&status);
    if !is_about_keys
        && let Some(id) = id
        && let Ok(JsonRpcMessage::Error(error)) = serde_json::from_str::<ServerJsonRpcMessage>(told)
    {
        let message = ServerJsonRpcMessage::error(error.error, Some(id));
        return Ok(StreamableHttpPostResponse::Json(message, None));
    }
    let text = format!("HTTP {status} {told}");
    Err(StreamableHttpError::UnexpectedServerResponse(Cow::Owned(text.trim_end().to_owned())))
}

/// The beginning of what comes with an error.
async fn told_with(mut response: Response) -> String {
    let mut told = Vec::new();
    while let Ok(Some(piece)) = response.chunk().await {
        told.extend_from_slice(&piece);
        if told.len() > MOST_TOLD {
            break;
        }
    }
    beginning(&String::from_utf8_lossy(&told), MOST_TOLD).to_owned()
}

/// An answer that comes as a whole.
async fn whole(mut response: Response, id: RequestId) -> Result<ServerJsonRpcMessage, Failed> {
    let mut body = Vec::new();
    while let Some(piece) = response.chunk().await.map_err(hidden)? {
        if body.len() + piece.len() > MOST_MESSAGE {
            return Ok(too_long(id));
        }
        body.extend_from_slice(&piece);
    }
    Ok(serde_json::from_slice(&body).unwrap_or_else(|error| unread(&error, id)))
}

/// An answer that comes as events.
fn events(response: Response, id: Option<RequestId>) -> BoxStream<'static, Result<Sse, SseError>> {
    let is_too_long = Arc::new(AtomicBool::new(false));
    let pieces = bounded(response.bytes_stream(), is_too_long.clone());
    let told = id.map(too_long).and_then(|message| serde_json::to_string(&message).ok());
    let events = SseStream::from_bytes_stream(pieces).map(move |event| match (event, &told) {
        (Err(_), Some(told)) if is_too_long.load(Ordering::Relaxed) => {
            Ok(Sse::default().data(told))
        }
        (event, _) => event,
    });
    events.boxed()
}

/// The bytes of events, until one is too long.
fn bounded(
    pieces: impl Stream<Item = Result<Bytes, reqwest::Error>> + Send + 'static,
    is_too_long: Arc<AtomicBool>,
) -> impl Stream<Item = Result<Bytes, std::io::Error>> + Send + 'static {
    let (mut n_event, mut n_line, mut was_return) = (0, 0, false);
    pieces.map(move |piece| {
        let piece = piece.map_err(std::io::Error::other)?;
        for &byte in &piece {
            let ends_same = byte == b'\n' && was_return;
            was_return = byte == b'\r';
            match byte {
                b'\n' | b'\r' if ends_same => {}
                b'\n' | b'\r' => {
                    // A blank line ends an event.
                    n_event = if n_line == 0 { 0 } else { n_event };
                    n_line = 0;
                }
                _ => (n_line, n_event) = (n_line + 1, n_event + 1),
            }
            if n_event > MOST_MESSAGE {
                is_too_long.store(true, Ordering::Relaxed);
                return Err(std::io::Error::other("an event is too long"));
            }
        }
        Ok(piece)
    })
}
