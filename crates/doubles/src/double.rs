//! The server's handle.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::server::{self, Inner};
use crate::{Exchange, Fault, Settings};

/// How long an answer may go on after the end.
const PATIENCE: Duration = Duration::from_secs(1);

/// A server on loopback that answers as five vendors do. It stops when it is dropped.
#[derive(Debug)]
pub struct Double {
    address: SocketAddr,
    inner: Arc<Inner>,
    stop: Option<oneshot::Sender<()>>,
    task: Option<JoinHandle<()>>,
}

impl Double {
    /// Starts it; there is an error if its port is taken.
    pub async fn start(settings: Settings) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, settings.port)).await?;
        let address = listener.local_addr()?;
        let inner = Arc::new(Inner::new(settings));
        let router = server::router(Arc::clone(&inner));
        let (stop, stopped) = oneshot::channel::<()>();
        let task = tokio::spawn(async move {
            // A handle that is dropped says the same as one that is stopped.
            let stopped = async { drop(stopped.await) };
            drop(axum::serve(listener, router).with_graceful_shutdown(stopped).await);
        });
        Ok(Self { address, inner, stop: Some(stop), task: Some(task) })
    }

    /// Its address without a path, such as `http://127.0.0.1:4711`.
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The address and port.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What it was sent, and what it said to it, in the order in which it came.
    pub fn requests(&self) -> Vec<Exchange> {
        self.inner.exchanges()
    }

    /// Waits until this many exchanges have ended, and gives back all that came.
    pub async fn ended(&self, n: usize) -> Vec<Exchange> {
        self.inner.ended(n).await
    }

    /// The next request that has no fault of its own meets this one; called again, the one after
    /// it meets the next.
    pub fn fail_next(&self, fault: Fault) {
        self.inner.fail_next(fault);
    }

    /// Forgets what it has cached and stored, and what it was sent.
    pub fn forget(&self) {
        self.inner.forget();
    }

    /// Stops it: its port is free at once and idle connections are closed. Answers that are on
    /// their way have a second to end.
    pub async fn stop(mut self) {
        drop(self.stop.take());
        if let Some(mut task) = self.task.take()
            && tokio::time::timeout(PATIENCE, &mut task).await.is_err()
        {
            task.abort();
        }
    }
}

/// The environment variables by which the vendors' SDKs find a double at an address.
pub fn environment(base_url: &str) -> Vec<(&'static str, String)> {
    let key = || "double".to_owned();
    vec![
        ("OPENAI_BASE_URL", format!("{base_url}/v1")),
        ("OPENAI_API_KEY", key()),
        ("ANTHROPIC_BASE_URL", base_url.to_owned()),
        ("ANTHROPIC_API_KEY", key()),
        ("GOOGLE_GEMINI_BASE_URL", base_url.to_owned()),
        ("GEMINI_API_KEY", key()),
        ("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", base_url.to_owned()),
        ("AWS_REGION", "us-east-1".to_owned()),
        // boto3 reads this one alone.
        ("AWS_DEFAULT_REGION", "us-east-1".to_owned()),
        // AWS's SDKs send a bearer token over HTTPS only.
        ("AWS_ACCESS_KEY_ID", key()),
        ("AWS_SECRET_ACCESS_KEY", key()),
    ]
}
