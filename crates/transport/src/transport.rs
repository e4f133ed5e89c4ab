//! The transport: one pool of connections, and what all its calls keep to.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use interleaf::model::{Reply, Secret, Spent};
use smol_str::SmolStr;
use tokio::time::Instant;

use crate::answer::Answer;
use crate::compact::Compacts;
use crate::exchange::Begun;
use crate::failed::Failed;
use crate::incoming::Deadline;
use crate::key::Keys;
use crate::price::Prices;
use crate::proxy;
use crate::setback::Listener;
use crate::stream::Pump;
use crate::tries::Course;
use crate::{
    Amount, Attempts, Call, Error, ErrorKind, KeySource, Limit, Rates, Retries, Streaming, Timeouts,
};

/// How long a connection that nobody uses is kept.
const POOL_TIME: Duration = Duration::from_secs(90);

/// Sends calls to model APIs. Clones share one pool of connections and the same keys.
///
/// ```no_run
/// use interleaf::assemble::Recipe;
/// use interleaf::model::{Message, Tool, ToolCall};
/// use interleaf::{Session, Target, store};
/// use interleaf_transport::Transport;
///
/// # fn run_tool(call: &ToolCall) -> Message {
/// #     call.result("none")
/// # }
/// # async fn example(tools: Vec<Tool>) -> Result<(), Box<dyn std::error::Error>> {
/// let transport = Transport::new()?; // the key is in ANTHROPIC_API_KEY
/// let target = Target::new("anthropic", "claude-sonnet-4-5")?;
/// let recipe = Recipe::new().with_system("You are a careful agent.").with_tools(tools);
///
/// let mut session = Session::create(store::open("sqlite:agent.db").await?, "a title").await?;
/// session.append(Message::user("Which files are here?")).await?;
/// session.todo().add("list the files").await?; // is in every request from now on
///
/// let mut answer = transport.ask(&mut session, &recipe, &target).await?;
/// while answer.reply.message.has_calls() {
///     let results: Vec<Message> = session.open_calls().iter().map(run_tool).collect();
///     session.results(results).await?;
///     answer = transport.ask(&mut session, &recipe, &target).await?;
/// }
/// println!("{}", answer.reply.message.text());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Transport(
    pub(crate) Arc<Inner>,
    pub(crate) Option<Arc<Compacts>>,
    pub(crate) Option<Listener>,
);

pub(crate) struct Inner {
    pub(crate) client: reqwest::Client,
    pub(crate) keys: Keys,
    pub(crate) timeouts: Timeouts,
    pub(crate) retries: Retries,
    pub(crate) most_bytes: u64,
    /// Those of the environment, if it counts.
    pub(crate) proxies: Option<proxy::Environment>,
    /// What is secret in the addresses of proxies.
    pub(crate) proxy_secrets: Vec<Secret>,
    prices: Prices,
}

/// What a transport keeps to.
#[derive(Default)]
#[must_use]
pub struct Builder {
    keys: Keys,
    timeouts: Timeouts,
    retries: Retries,
    most_bytes: Option<u64>,
    proxy: Proxies,
    certificates: Vec<u8>,
    prices: Prices,
}

/// Which proxies are used.
#[derive(Default)]
enum Proxies {
    #[default]
    Environment,
    None,
    At(String),
}

/// The most bytes that an answer may have, unless another bound is set.
const MOST_BYTES: u64 = 256 * 1024 * 1024;

impl Transport {
    /// A transport with the usual time-outs and retries. Keys are in the variables of the
    /// vendors' rows, proxies in `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`.
    ///
    /// # Errors
    /// If the system's certificates cannot be used.
    pub fn new() -> Result<Self, Error> {
        Self::builder().build()
    }

    /// A transport with other settings.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// Sends a call and waits for the whole answer. If the call asks for a stream, it is read
    /// to its end.
    ///
    /// # Errors
    /// If there is no answer after all tries.
    pub async fn send(&self, call: &Call) -> Result<Answer, Error> {
        self.send_any(std::slice::from_ref(call)).await
    }

    /// Sends a call and hands on what comes, piece by piece. It waits for the first piece of
    /// content: until then the call may be tried again.
    ///
    /// # Errors
    /// If no answer begins after all tries.
    pub async fn stream(&self, call: &Call) -> Result<Streaming, Error> {
        self.stream_any(std::slice::from_ref(call)).await
    }

    /// As [`send`](Self::send), of the first of these calls that gives an answer. The next
    /// one is made if what is wrong is the vendor and not the request.
    ///
    /// # Errors
    /// As [`send`](Self::send); with the last call's failure.
    pub async fn send_any(&self, calls: &[Call]) -> Result<Answer, Error> {
        self.send_until(self.total(), calls).await
    }

    /// As [`send_any`](Self::send_any), as a part of something that must be done by then.
    pub(crate) async fn send_until(
        &self,
        total: Option<Deadline>,
        calls: &[Call],
    ) -> Result<Answer, Error> {
        let (begun, call, attempts) = Course::until(total, self, false).run_any(calls).await?;
        self.streaming(begun, call, attempts).finish().await
    }

    /// When a call that begins now must be done.
    pub(crate) fn total(&self) -> Option<Deadline> {
        let Timeouts { total, began, .. } = self.0.timeouts;
        let began = began.map_or_else(Instant::now, Instant::from_std);
        Deadline::since(began, Limit::Total, total)
    }

    /// As [`stream`](Self::stream), of the first of these calls that gives an answer. There is
    /// no change once a piece was handed on.
    ///
    /// # Errors
    /// As [`stream`](Self::stream); with the last call's failure.
    pub async fn stream_any(&self, calls: &[Call]) -> Result<Streaming, Error> {
        let (begun, call, attempts) = Course::new(self, true).run_any(calls).await?;
        Ok(self.streaming(begun, call, attempts))
    }

    pub(crate) fn streaming(&self, begun: Begun, call: &Call, attempts: Attempts) -> Streaming {
        let pump = match begun {
            Begun::Whole(reply, ended) => Pump::of_whole(*reply, ended, &call.decoder),
            Begun::Stream(pump) => *pump,
        };
        Streaming::new(pump, self.clone(), &call.target, attempts)
    }

    /// What a reply comes to in money, if its usage and the model's rates are known. Of one that
    /// broke off it is the least: what was made after the last count is not in it.
    pub fn price(&self, vendor: &str, model: &str, reply: &Reply) -> Option<Amount> {
        let rates = self.0.prices.of(vendor, model)?;
        Some(rates.price(&Spent::from(reply.usage?)))
    }

    /// Whether it is known what tokens of a model cost.
    pub fn knows_price(&self, vendor: &str, model: &str) -> bool {
        self.0.prices.of(vendor, model).is_some()
    }

    /// The sign of the money that prices are in: `$` for list prices. None, if rates were set:
    /// those may be in any.
    pub fn currency(&self) -> &'static str {
        if self.0.prices.are_listed() { "$" } else { "" }
    }

    pub(crate) fn answer(
        &self,
        reply: Reply,
        vendor: &SmolStr,
        model: &SmolStr,
        attempts: Attempts,
    ) -> Answer {
        let spent = reply.usage.map(Spent::from);
        let price = self.price(vendor, model, &reply);
        let (vendor, model) = (vendor.clone(), model.clone());
        Answer {
            reply,
            vendor,
            model,
            spent,
            price,
            ended_early: None,
            attempts,
            message: None,
            impact: None,
            compactions: Vec::new(),
            not_compacted: None,
        }
    }
}

impl Builder {
    /// Where the key of a vendor comes from, in place of its variable.
    pub fn key(mut self, vendor: impl Into<SmolStr>, source: KeySource) -> Self {
        self.keys.put(Some(vendor.into()), source);
        self
    }

    /// Where the keys of all vendors come from that have no source of their own.
    pub fn any_key(mut self, source: KeySource) -> Self {
        self.keys.put(None, source);
        self
    }

    /// How long calls may take.
    pub fn timeouts(mut self, timeouts: Timeouts) -> Self {
        self.timeouts = timeouts;
        self
    }

    /// How often calls are tried again.
    pub fn retries(mut self, retries: Retries) -> Self {
        self.retries = retries;
        self
    }

    /// The most bytes that an answer may have; 256 MiB unless it is set.
    pub fn most_bytes(mut self, most: u64) -> Self {
        self.most_bytes = Some(most);
        self
    }

    /// What a million tokens of a model cost, in place of its list price. An empty name
    /// stands for all models of the vendor.
    pub fn rates(
        mut self,
        vendor: impl Into<SmolStr>,
        model: impl Into<SmolStr>,
        rates: Rates,
    ) -> Self {
        self.prices.put(vendor.into(), model.into(), rates);
        self
    }

    /// No proxy, whatever the environment says.
    pub fn no_proxy(mut self) -> Self {
        self.proxy = Proxies::None;
        self
    }

    /// This proxy, whatever the environment says.
    pub fn proxy(mut self, url: impl Into<String>) -> Self {
        self.proxy = Proxies::At(url.into());
        self
    }

    /// Trusts these certificates too, beside the system's: those of a proxy that looks into
    /// connections, or of a server of one's own. They are in the PEM form.
    pub fn certificates(mut self, pem: impl AsRef<[u8]>) -> Self {
        self.certificates.extend_from_slice(pem.as_ref());
        self
    }

    /// Makes the transport.
    ///
    /// # Errors
    /// If the proxy's address is none, what is given as certificates has none, or the system's certificates cannot be used.
    pub fn build(self) -> Result<Transport, Error> {
        // Whoever uses this library may have chosen another; that one is used then.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut client = reqwest::Client::builder()
            // A redirect would take the key elsewhere.
            .redirect(reqwest::redirect::Policy::none())
            .pool_idle_timeout(POOL_TIME)
            .tcp_nodelay(true)
            .user_agent(concat!("interleaf/", env!("CARGO_PKG_VERSION")));
        if let Some(limit) = self.timeouts.connect {
            client = client.connect_timeout(limit);
        }
        let refuse = |text: String| {
            Error::of(Failed::new(ErrorKind::Request, text), ("", ""), Attempts::default())
        };
        let (mut proxies, mut proxy_secrets) = (None, Vec::new());
        client = match self.proxy {
            Proxies::Environment => {
                let named = proxy::Environment::read(|name| std::env::var(name).ok());
                proxy_secrets.extend(named.secrets());
                proxies = Some(named);
                client
            }
            Proxies::None => client.no_proxy(),
            // The address may hold a password, so it is not shown.
            Proxies::At(url) => {
                proxy_secrets = proxy::secrets(&url);
                let proxy = reqwest::Proxy::all(url);
                client.proxy(proxy.map_err(|_| refuse("the proxy's address is none".into()))?)
            }
        };
        if !self.certificates.is_empty() {
            let read = reqwest::Certificate::from_pem_bundle(&self.certificates);
            let given = read.unwrap_or_default();
            if given.is_empty() {
                return Err(refuse(
                    "what is given as certificates has none in the PEM form".into(),
                ));
            }
            client = client.tls_certs_merge(given);
        }
        let client = client.build().map_err(|e| {
            refuse(format!("no HTTP client can be made: {}", Failed::http(e, None).text))
        })?;
        let Self { keys, timeouts, retries, most_bytes, prices, .. } = self;
        let most_bytes = most_bytes.unwrap_or(MOST_BYTES);
        let inner =
            Inner { client, keys, timeouts, retries, most_bytes, proxies, proxy_secrets, prices };
        Ok(Transport(Arc::new(inner), None, None))
    }
}

impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { timeouts, retries, most_bytes, .. } = &*self.0;
        f.debug_struct("Transport")
            .field("timeouts", timeouts)
            .field("retries", retries)
            .field("most_bytes", most_bytes)
            .finish_non_exhaustive()
    }
}
