//! A connection to a server.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, CancelledNotificationParam,
    ClientRequest, InputRequest, InputRequiredResult, InputResponses, JsonObject, RequestId,
    ServerResult,
};
use rmcp::service::{Peer, PeerRequestOptions, RoleClient, RunningService, ServiceError};
use rmcp::transport::streamable_http_client::StreamableHttpError;

use tokio::time::Instant;

use crate::ServerSettings;
use crate::child::Child;
use crate::listener::Listener;
use crate::secrets::beginning;
use crate::sent::Sent;

/// How often a server may ask something in one call.
const MOST_ROUNDS: usize = 10;

/// The most bytes of what a server says that are told in an error.
const MOST_TOLD: usize = 4 * 1024;

/// A connection to a server. A program that is the server ends with it.
pub(crate) struct Link {
    pub(crate) service: RunningService<RoleClient, Listener>,
    pub(crate) sent: Sent,
    pub(crate) child: Option<Arc<Child>>,
}

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
    /// Whether it is known to be lost.
    pub(crate) fn is_lost(&self) -> bool {
        self.service.peer().is_transport_closed()
    }

    /// Makes a call, which must be over by then.
    pub(crate) async fn call(
        &self,
        tool: &str,
        arguments: JsonObject,
        settings: &ServerSettings,
        deadline: &mut Instant,
    ) -> Result<CallToolResult, Failure> {
        let mut params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        for _ in 0..MOST_ROUNDS {
            match self.ask(params.clone(), settings, deadline).await? {
                ServerResult::CallToolResult(result) => return Ok(result),
                ServerResult::InputRequiredResult(asked) => {
                    params.request_state.clone_from(&asked.request_state);
                    params.input_responses = Some(self.respond(asked).await?);
                }
                ServerResult::EmptyResult(_) => return Ok(CallToolResult::success(Vec::new())),
                other => {
                    let what = serde_json::to_string(&other).unwrap_or_default();
                    let why =
                        format!("what it answers is no result: {}", beginning(&what, MOST_TOLD));
                    return Err(Failure::Refused(why));
                }
            }
        }
        Err(Failure::Refused(format!("it asked more than {MOST_ROUNDS} times in one call")))
    }

    async fn ask(
        &self,
        params: CallToolRequestParams,
        settings: &ServerSettings,
        deadline: &mut Instant,
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
        let timer = tokio::time::sleep_until(*deadline);
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
                    *deadline = after(settings.timeout);
                    timer.as_mut().reset(*deadline);
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
            ServiceError::McpError(error) => Failure::Refused(format!(
                "{} (code {})",
                beginning(&error.message, MOST_TOLD),
                error.code.0
            )),
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

/// When this time is over. What has no end is over in thirty years.
pub(crate) fn after(time: Duration) -> Instant {
    const FAR: Duration = Duration::from_secs(30 * 365 * 86_400);
    Instant::now() + time.min(FAR)
}

/// An error with its causes.
pub(crate) fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    // The SDK names neither this one's cause nor what it is about.
    if let Some(StreamableHttpError::Client(error)) = error.downcast_ref::<crate::http::Failed>() {
        return chain(error);
    }
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
