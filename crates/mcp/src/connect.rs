//! Connecting to a server.
//!
//! A server is greeted as most know it, with `initialize`. One that does not know that any more is
//! asked what it is, with `server/discover`.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use interleaf_model::Secret;
use reqwest::header::{HeaderName, HeaderValue};
use rmcp::model::{ErrorCode, ProtocolVersion};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, RoleClient, RunningService,
    serve_client_with_lifecycle,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;

use crate::child::{Child, Started};
use crate::http::Http;
use crate::lines::Lines;
use crate::link::{Link, chain};
use crate::listener::{Listener, late};
use crate::sent::Sent;
use crate::variables::filled;
use crate::{ErrorKind, Reach, ServerSettings, SettingsError};

/// Headers that belong to the protocol.
const RESERVED: [&str; 4] = ["accept", "last-event-id", "mcp-protocol-version", "mcp-session-id"];

/// Why there is no connection.
pub(crate) type NoLink = (ErrorKind, String);

type Service = RunningService<RoleClient, Listener>;

/// Why a server does not start.
enum Unstarted {
    /// It does not know how it was greeted.
    Modern,
    Failed(String),
}

/// Connects to a server, and lists its tools.
pub(crate) async fn connect(settings: &ServerSettings, listener: Listener) -> Result<Link, NoLink> {
    let greets = ClientLifecycleMode::Initialize;
    let (mut link, mut began) = begin(settings, listener.clone(), greets).await?;
    if matches!(began, Err(Unstarted::Modern)) {
        let preferred_versions = vec![ProtocolVersion::LATEST];
        let asks = ClientLifecycleMode::Discover { preferred_versions };
        (link, began) = begin(settings, listener.clone(), asks).await?;
    }
    let began = match began {
        Ok(service) => listed(settings, service).await,
        Err(Unstarted::Modern) => Err("it does not start: it knows neither greeting".to_owned()),
        Err(Unstarted::Failed(why)) => Err(why),
    };
    let Begun { sent, child } = link;
    match (began, &child) {
        (Ok(service), _) => Ok(Link { service, sent, child }),
        (Err(why), Some(child)) => {
            // How it ended and what it said tell more than how that was noticed.
            let words = child.last_words().await;
            let words = words.trim_start_matches("; ");
            let why = if words.is_empty() { why } else { format!("{words}; {why}") };
            Err((ErrorKind::Unreached, why))
        }
        (Err(why), None) => Err((ErrorKind::Unreached, why)),
    }
}

/// What a connection has beside its service.
struct Begun {
    sent: Sent,
    child: Option<Arc<Child>>,
}

async fn begin(
    settings: &ServerSettings,
    listener: Listener,
    mode: ClientLifecycleMode,
) -> Result<(Begun, Result<Service, Unstarted>), NoLink> {
    let (sent, limit) = (Sent::default(), settings.start_timeout);
    match &settings.reach {
        Reach::Command { command, args, env, folder } => {
            let env = variables("env", env).map_err(unusable)?;
            let with = Started { command, args, env, folder: folder.as_deref() };
            let (child, stdin, stdout) = Child::start(with).map_err(|error| {
                (ErrorKind::Unreached, format!("{command:?} cannot be started: {error}"))
            })?;
            let child = Arc::new(child);
            let lines = Lines::new(stdin, stdout, child.clone(), sent.clone());
            let began = within(limit, serve_client_with_lifecycle(listener, lines, mode)).await;
            Ok((Begun { sent, child: Some(child) }, began))
        }
        Reach::Url { url, headers } => {
            let headers = named(headers).map_err(unusable)?;
            let http = Http::new(sent.clone(), limit)
                .map_err(|error| (ErrorKind::Unreached, chain(&error)))?;
            let mut config = StreamableHttpClientTransportConfig::with_uri(url.as_str());
            config.custom_headers = headers;
            // A session that is forgotten is a connection that is lost.
            config.reinit_on_expired_session = false;
            let transport = StreamableHttpClientTransport::with_client(http, config);
            let began = within(limit, serve_client_with_lifecycle(listener, transport, mode)).await;
            Ok((Begun { sent, child: None }, began))
        }
    }
}

async fn within(
    limit: Duration,
    began: impl Future<Output = Result<Service, ClientInitializeError>>,
) -> Result<Service, Unstarted> {
    match tokio::time::timeout(limit, began).await {
        Ok(Ok(service)) => Ok(service),
        Ok(Err(ClientInitializeError::JsonRpcError(error)))
            if [ErrorCode::METHOD_NOT_FOUND, ErrorCode::UNSUPPORTED_PROTOCOL_VERSION]
                .contains(&error.code) =>
        {
            Err(Unstarted::Modern)
        }
        // The name of its transport says nothing to anybody.
        Ok(Err(ClientInitializeError::TransportError { error, .. })) => {
            let why = chain(error.error.as_ref());
            Err(Unstarted::Failed(format!("it does not start: {why}")))
        }
        Ok(Err(error)) => Err(Unstarted::Failed(format!("it does not start: {}", chain(&error)))),
        Err(_) => Err(Unstarted::Failed(late("to start", limit))),
    }
}

/// Lists the tools of a server, and hears of it when they change.
async fn listed(settings: &ServerSettings, service: Service) -> Result<Service, String> {
    let listener = service.service();
    listener.list(service.peer(), settings.start_timeout).await?;
    let version = service.peer().peer_info().map(|info| info.protocol_version.clone());
    if version.is_some_and(|version| !version.has_initialize()) {
        // Such a server tells only who asks.
        tokio::spawn(listener.clone().subscribe(service.peer().clone()));
    }
    Ok(service)
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
