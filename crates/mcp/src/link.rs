//! A connection to a server.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use interleaf_model::Secret;
use reqwest::header::{HeaderName, HeaderValue};
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, CancelledNotificationParam,
    ClientRequest, InputRequest, InputRequiredResult, InputResponses, JsonObject, RequestId,
    ServerResult,
};
use rmcp::service::{
    ClientInitializeError, Peer, PeerRequestOptions, RoleClient, RunningService, ServiceError,
    ServiceExt as _,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClientTransportConfig, StreamableHttpError,
};

use crate::child::{Child, Started};
use crate::http::Http;
use crate::lines::Lines;
use crate::listener::Listener;
use crate::sent::Sent;
use crate::variables::filled;
use crate::{ErrorKind, Reach, ServerSettings, SettingsError};

/// How often a server may ask something in one call.
const MOST_ROUNDS: usize = 10;

/// Headers that belong to the protocol.
const RESERVED: [&str; 4] = ["accept", "last-event-id", "mcp-protocol-version", "mcp-session-id"];

/// A connection to a server. A program that is the server ends with it.
pub(crate) struct Link {
    service: RunningService<RoleClient, Listener>,
    sent: Sent,
    child: Option<Arc<Child>>,
}

/// Why there is no connection.
pub(crate) type NoLink = (ErrorKind, String);

/// Why a call has no result.
pub(crate) enum Failure {
    /// The connection is lost.
    Lost {
        /// Whether the server may have seen the call.
        reached: bool,
        why: String,
    },
    /// It took too long.
    Timeout,
    /// The server refused it.
    Refused(String),
}

impl Link {
    /// Connects to a server, and lists its tools.
    pub(crate) async fn connect(
        settings: &ServerSettings,
        listener: Listener,
    ) -> Result<Self, NoLink> {
        let sent = Sent::default();
        let (child, began) = match &settings.reach {
            Reach::Command { command, args, env, folder } => {
                let env = variables("env", env).map_err(unusable)?;
                let env = env.iter().map(|(name, value)| (*name, value.clone())).collect();
                let with = Started { command, args, env, folder: folder.as_deref() };
                let (child, stdin, stdout) = Child::start(with).map_err(|error| {
                    (ErrorKind::Unreached, format!("{command:?} cannot be started: {error}"))
                })?;
                let child = Arc::new(child);
                let lines = Lines::new(stdin, stdout, child.clone(), sent.clone());
                (Some(child), within(settings.start_timeout, listener.serve(lines)).await)
            }
            Reach::Url { url, headers } => {
                let headers = named(headers).map_err(unusable)?;
                let http = Http::new(sent.clone(), settings.start_timeout)
                    .map_err(|error| (ErrorKind::Unreached, chain(&error)))?;
                let mut config = StreamableHttpClientTransportConfig::with_uri(url.as_str());
                config.custom_headers = headers;
                // A session that is forgotten is a connection that is lost.
                config.reinit_on_expired_session = false;
                let transport = StreamableHttpClientTransport::with_client(http, config);
                (None, within(settings.start_timeout, listener.serve(transport)).await)
            }
        };
        let began = match began {
            Ok(service) => {
                let listing = service.service().list(service.peer());
                let listed = tokio::time::timeout(settings.start_timeout, listing).await;
                match listed {
                    Ok(Ok(())) => Ok(service),
                    Ok(Err(error)) => Err(format!("its tools cannot be listed: {error}")),
                    Err(_) => Err(late("to list its tools", settings.start_timeout)),
                }
            }
            Err(why) => Err(why),
        };
        match (began, &child) {
            (Ok(service), _) => Ok(Self { service, sent, child }),
            (Err(why), Some(child)) => {
                let words = child.last_words().await;
                Err((ErrorKind::Unreached, format!("{why}{words}")))
            }
            (Err(why), None) => Err((ErrorKind::Unreached, why)),
        }
    }

    /// Whether it is known to be lost.
    pub(crate) fn is_lost(&self) -> bool {
        self.service.peer().is_transport_closed()
    }

    /// Makes a call.
    pub(crate) async fn call(
        &self,
        tool: &str,
        arguments: JsonObject,
        settings: &ServerSettings,
    ) -> Result<CallToolResult, Failure> {
        let mut params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        for _ in 0..MOST_ROUNDS {
            match self.ask(params.clone(), settings).await? {
                ServerResult::CallToolResult(result) => return Ok(result),
                ServerResult::InputRequiredResult(asked) => {
                    params.request_state.clone_from(&asked.request_state);
                    params.input_responses = Some(self.respond(asked).await?);
                }
                ServerResult::EmptyResult(_) => return Ok(CallToolResult::success(Vec::new())),
                other => {
                    let what = serde_json::to_string(&other).unwrap_or_default();
                    let what = &what[..what.floor_char_boundary(300)];
                    return Err(Failure::Refused(format!("what it answers is no result: {what}")));
                }
            }
        }
        Err(Failure::Refused(format!("it asked more than {MOST_ROUNDS} times in one call")))
    }

    async fn ask(
        &self,
        params: CallToolRequestParams,
        settings: &ServerSettings,
    ) -> Result<ServerResult, Failure> {
        let peer = self.service.peer();
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let asked = peer.send_request_with_option(request, PeerRequestOptions::no_options());
        let mut handle = asked
            .await
            .map_err(|error| Failure::Lost { reached: false, why: error.to_string() })?;
        let progress = settings
            .progress_extends
            .then(|| self.service.service().progress.watch(handle.progress_token.clone()));
        let mut open = Open { peer, sent: &self.sent, id: Some(handle.id.clone()) };
        let timer = tokio::time::sleep(settings.timeout);
        tokio::pin!(timer);
        let answer = loop {
            let told = async {
                match &progress {
                    Some(progress) => progress.told().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                answer = &mut handle.rx => break answer,
                () = told => {
                    timer.as_mut().reset(tokio::time::Instant::now() + settings.timeout);
                }
                // What is left open is called off.
                () = &mut timer => return Err(Failure::Timeout),
            }
        };
        let reached = self.sent.has(&handle.id);
        open.close();
        let error = match answer {
            Ok(Ok(result)) => return Ok(result),
            Ok(Err(error)) => error,
            Err(_) => ServiceError::TransportClosed,
        };
        Err(match error {
            ServiceError::McpError(error) => {
                Failure::Refused(format!("{} (code {})", error.message, error.code.0))
            }
            ServiceError::TransportSend(error) if is_refusal(&*error.error) => {
                Failure::Refused(chain(&*error.error))
            }
            ServiceError::TransportSend(error) => {
                Failure::Lost { reached, why: chain(&*error.error) }
            }
            ServiceError::TransportClosed => {
                let why = match &self.child {
                    Some(child) => format!("it is gone{}", child.last_words().await),
                    None => "the connection was closed".to_owned(),
                };
                Failure::Lost { reached, why }
            }
            error => Failure::Refused(error.to_string()),
        })
    }

    /// Answers what a server asks before it makes a call.
    async fn respond(&self, asked: InputRequiredResult) -> Result<InputResponses, Failure> {
        let mut out = InputResponses::new();
        for (name, request) in asked.input_requests.unwrap_or_default() {
            let InputRequest::Elicitation(request) = request else {
                return Err(Failure::Refused("it asks for more than an answer of a user".into()));
            };
            let answer = self.service.service().answer(request.params).await;
            let answer = serde_json::to_value(answer);
            out.insert(name, answer.map_err(|error| Failure::Refused(error.to_string()))?);
        }
        Ok(out)
    }

    /// Says goodbye: a program may end by itself.
    pub(crate) async fn close(mut self) {
        let _ = self.service.close().await;
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        if let Some(child) = &self.child {
            child.end();
        }
    }
}

/// A call that is open; one that is let go is called off.
struct Open<'a> {
    peer: &'a Peer<RoleClient>,
    sent: &'a Sent,
    id: Option<RequestId>,
}

impl Open<'_> {
    fn close(&mut self) {
        if let Some(id) = self.id.take() {
            self.sent.forget(&id);
        }
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        let Some(id) = self.id.take() else { return };
        self.sent.forget(&id);
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let peer = self.peer.clone();
        let params = CancelledNotificationParam::new(Some(id), Some("no longer waited for".into()));
        runtime.spawn(async move { peer.notify_cancelled(params).await });
    }
}

async fn within(
    limit: Duration,
    began: impl Future<Output = Result<RunningService<RoleClient, Listener>, ClientInitializeError>>,
) -> Result<RunningService<RoleClient, Listener>, String> {
    match tokio::time::timeout(limit, began).await {
        Ok(Ok(service)) => Ok(service),
        Ok(Err(error)) => Err(format!("it does not start: {}", chain(&error))),
        Err(_) => Err(late("to start", limit)),
    }
}

fn late(what: &str, limit: Duration) -> String {
    format!("it took more than {} s {what}", limit.as_secs_f64())
}

fn unusable(error: SettingsError) -> NoLink {
    (ErrorKind::Settings, error.to_string())
}

/// The variables of a server's environment.
fn variables<'a>(
    field: &str,
    values: &'a BTreeMap<String, Secret>,
) -> Result<BTreeMap<&'a str, String>, SettingsError> {
    let fill = |(name, value): (&'a String, &Secret)| {
        let value =
            filled(&format!("{field}.{name}"), value.expose(), |name| std::env::var(name).ok())?;
        Ok((name.as_str(), value))
    };
    values.iter().map(fill).collect()
}

/// The headers that are sent with every request.
fn named(
    values: &BTreeMap<String, Secret>,
) -> Result<HashMap<HeaderName, HeaderValue>, SettingsError> {
    let header = |(name, value): (&str, String)| {
        let field = |rule: &str| SettingsError::new(format!("`headers.{name}` {rule}"));
        if RESERVED.iter().any(|own| own.eq_ignore_ascii_case(name)) {
            return Err(field("belongs to the protocol"));
        }
        let key = HeaderName::try_from(name).map_err(|_| field("is no name of a header"))?;
        let mut value = HeaderValue::try_from(value).map_err(|_| field("is no value"))?;
        value.set_sensitive(true);
        Ok((key, value))
    };
    variables("headers", values)?.into_iter().map(header).collect()
}

/// Whether a server has answered, and refused: it is there.
fn is_refusal(error: &(dyn std::error::Error + 'static)) -> bool {
    let error = error.downcast_ref::<StreamableHttpError<reqwest::Error>>();
    error.is_some_and(|error| {
        matches!(
            error,
            StreamableHttpError::UnexpectedServerResponse(_)
                | StreamableHttpError::UnexpectedContentType(_)
                | StreamableHttpError::HttpStatus(_)
                | StreamableHttpError::AuthRequired(_)
                | StreamableHttpError::InsufficientScope(_)
        )
    })
}

/// An error with its causes.
fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let more = cause.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        source = cause.source();
    }
    text
}
