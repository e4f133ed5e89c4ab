//! What a server says by itself, while it is connected.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::ClientHandler;
use rmcp::model::{
    ClientCapabilities, ClientConfig, ClientRequest, CustomResult, ElicitRequestParams,
    ElicitResult, ElicitationAction, ElicitationCapability, ErrorData, FormElicitationCapability,
    Implementation, ListToolsRequest, PaginatedRequestParams, ProgressNotificationParam,
    ProgressToken, ProtocolVersion, ServerResult, SubscriptionFilter, Tool,
};
use rmcp::service::{NotificationContext, Peer, RequestContext, RoleClient, ServiceError};
use tokio::sync::Notify;

use crate::question::{Question, Respondent, defaults};
use crate::secrets::Secrets;
use crate::tool::ToolList;

/// The most tools that are taken in, and the most pages in which they come.
const MOST_TOOLS: usize = 10_000;

/// How long it may take to list them anew.
const LIST_LIMIT: Duration = Duration::from_secs(60);

/// Hears what a server says by itself.
#[derive(Clone)]
pub(crate) struct Listener {
    pub(crate) server: Arc<str>,
    pub(crate) tools: ToolList,
    pub(crate) offered: Option<Arc<[String]>>,
    pub(crate) respondent: Option<Arc<dyn Respondent>>,
    pub(crate) progress: Progress,
    /// One list at a time, so that an older one never follows a newer one.
    pub(crate) listing: Arc<tokio::sync::Mutex<()>>,
    /// Whether somebody waits to list them: whoever comes then need not wait too.
    pub(crate) is_due: Arc<AtomicBool>,
    pub(crate) secrets: Secrets,
}

/// Calls that want to hear of their progress.
#[derive(Clone, Default)]
pub(crate) struct Progress(Arc<Mutex<HashMap<ProgressToken, Arc<Notify>>>>);

impl Progress {
    pub(crate) fn watch(&self, token: ProgressToken) -> Watch {
        let told = Arc::new(Notify::new());
        self.with(|calls| calls.insert(token.clone(), told.clone()));
        Watch { progress: self.clone(), token, told }
    }

    fn with<T>(&self, act: impl FnOnce(&mut HashMap<ProgressToken, Arc<Notify>>) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Hears of the progress of a call, until it is dropped.
pub(crate) struct Watch {
    progress: Progress,
    token: ProgressToken,
    told: Arc<Notify>,
}

impl Watch {
    pub(crate) async fn told(&self) {
        self.told.notified().await;
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.progress.with(|calls| calls.remove(&self.token));
    }
}

impl Listener {
    /// Takes in the tools that the server has now, within a time.
    pub(crate) async fn list(
        &self,
        peer: &Peer<RoleClient>,
        limit: Duration,
    ) -> Result<(), String> {
        let _turn = self.listing.lock().await;
        // What changes from here on, this list may not have.
        self.is_due.store(false, Ordering::Release);
        match tokio::time::timeout(limit, self.take_in(peer)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(format!("its tools cannot be listed: {error}")),
            Err(_) => Err(late("to list its tools", limit)),
        }
    }

    async fn take_in(&self, peer: &Peer<RoleClient>) -> Result<(), ServiceError> {
        let has_tools = peer.peer_info().is_some_and(|info| info.capabilities.tools.is_some());
        let now = if has_tools { listed(peer).await? } else { Vec::new() };
        let offers = |name: &str| match &self.offered {
            Some(offered) => offered.iter().any(|other| other == name),
            None => true,
        };
        self.tools.take_in(now, offers);
        Ok(())
    }

    /// Lists the tools anew. However often a server says that they have changed, one list is
    /// asked for at a time, and one more after it.
    async fn list_anew(&self, peer: &Peer<RoleClient>) {
        if self.is_due.swap(true, Ordering::AcqRel) {
            return;
        }
        if let Err(why) = self.list(peer, LIST_LIMIT).await {
            let why = self.secrets.hidden_in(&why);
            tracing::warn!(server = &*self.server, why, "not listed anew");
        }
    }

    /// Asks to be told of changes, and hears of them until the connection ends.
    pub(crate) async fn subscribe(self, peer: Peer<RoleClient>) {
        let mut wanted = SubscriptionFilter::new();
        wanted.tools_list_changed = Some(true);
        let mut changes = match peer.listen(wanted).await {
            Ok(changes) => changes,
            Err(error) => {
                tracing::debug!(server = &*self.server, %error, "it does not tell of changes");
                return;
            }
        };
        while let Ok(Some(_)) = changes.next().await {
            self.list_anew(&peer).await;
        }
    }

    /// Answers what the server asks: by the respondent, or with the defaults that it declares.
    pub(crate) async fn answer(&self, asked: ElicitRequestParams) -> ElicitResult {
        let decline = ElicitResult::new(ElicitationAction::Decline);
        let ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } = asked
        else {
            return decline;
        };
        let Ok(schema) = serde_json::to_value(&requested_schema) else { return decline };
        let values = match &self.respondent {
            Some(respondent) => {
                let server = self.server.to_string();
                respondent.answer(Question { server, text: message, schema }).await
            }
            None => defaults(&schema),
        };
        match values {
            Some(values) => ElicitResult::new(ElicitationAction::Accept).with_content(values),
            None => decline,
        }
    }
}

/// All tools of a server, page by page. A tool that cannot be understood is passed over, so that
/// it does not take the others with it.
async fn listed(peer: &Peer<RoleClient>) -> Result<Vec<Tool>, ServiceError> {
    let (mut tools, mut cursor) = (Vec::new(), None);
    for _ in 0..MOST_TOOLS {
        let page = PaginatedRequestParams::default().with_cursor(cursor);
        let request = ListToolsRequest::with_param(page);
        cursor = match peer.send_request(ClientRequest::ListToolsRequest(request)).await? {
            ServerResult::ListToolsResult(page) => {
                tools.extend(page.tools);
                page.next_cursor
            }
            ServerResult::CustomResult(CustomResult(page)) if page.get("tools").is_some() => {
                let rows = page.get("tools").and_then(serde_json::Value::as_array);
                for row in rows.into_iter().flatten() {
                    match serde_json::from_value(row.clone()) {
                        Ok(tool) => tools.push(tool),
                        Err(error) => tracing::warn!(%error, "a tool that is none"),
                    }
                }
                let next = page.get("nextCursor").and_then(serde_json::Value::as_str);
                next.map(str::to_owned)
            }
            _ => return Err(ServiceError::UnexpectedResponse),
        };
        if cursor.is_none() || tools.len() >= MOST_TOOLS {
            break;
        }
    }
    tools.truncate(MOST_TOOLS);
    Ok(tools)
}

pub(crate) fn late(what: &str, limit: Duration) -> String {
    format!("it took more than {} s {what}", limit.as_secs_f64())
}

impl ClientHandler for Listener {
    fn get_info(&self) -> ClientConfig {
        let form = FormElicitationCapability::default();
        let mut capabilities = ClientCapabilities::default();
        capabilities.elicitation = Some(ElicitationCapability::new().with_form(form));
        let ours = Implementation::new("interleaf", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(capabilities, ours)
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    async fn create_elicitation(
        &self,
        asked: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        Ok(self.answer(asked).await)
    }

    async fn on_progress(
        &self,
        told: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        if let Some(call) = self.progress.with(|calls| calls.get(&told.progress_token).cloned()) {
            call.notify_one();
        }
    }

    async fn on_tool_list_changed(&self, context: NotificationContext<RoleClient>) {
        self.list_anew(&context.peer).await;
    }
}
