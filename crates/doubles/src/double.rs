//! The server's handle.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::server::{self, Inner};
use crate::{Exchange, Settings};

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
            let serve = axum::serve(listener, router);
            tokio::select! {
                _ = serve => {}
                _ = stopped => {}
            }
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

    /// Waits until so many exchanges have ended, and gives back all that came.
    pub async fn ended(&self, n: usize) -> Vec<Exchange> {
        self.inner.ended(n).await
    }

    /// Forgets what it has cached and stored, and what it was sent.
    pub fn forget(&self) {
        self.inner.forget();
    }

    /// Stops it, and waits until its port is free.
    pub async fn stop(mut self) {
        drop(self.stop.take());
        if let Some(task) = self.task.take() {
            // It has been told to end; if it panicked there is nothing left to stop.
            drop(task.await);
        }
    }
}

impl Drop for Double {
    fn drop(&mut self) {
        if let Some(task) = &self.task {
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
        // AWS's SDKs send a bearer token over HTTPS only.
        ("AWS_ACCESS_KEY_ID", key()),
        ("AWS_SECRET_ACCESS_KEY", key()),
    ]
}
