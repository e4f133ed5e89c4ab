//! A model API on loopback that does what a test tells it.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, Response};
use axum::serve::ListenerExt as _;
use tokio::net::TcpListener;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// How long a test waits for something that must happen.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// What the server does with a request.
#[derive(Debug, Clone)]
pub(crate) enum Act {
    /// It answers at once.
    Answer { status: u16, headers: Vec<(&'static str, String)>, body: Bytes },
    /// It answers in pieces.
    Pieces { kind: &'static str, pieces: Vec<Piece> },
    /// It never answers.
    Silence,
}

/// A piece of an answer.
#[derive(Debug, Clone)]
pub(crate) enum Piece {
    Bytes(Bytes),
    /// Nothing more comes, and the connection stays open.
    Stall,
    /// Comments come, for ever.
    Chatter,
    /// The connection is closed without an end.
    Cut,
}

/// A request as it came.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Act {
    pub(crate) fn json(status: u16, body: impl Into<Bytes>) -> Self {
        let headers = vec![("content-type", "application/json".to_owned())];
        Self::Answer { status, headers, body: body.into() }
    }

    /// A stream in pieces of this many bytes.
    pub(crate) fn stream(bytes: &[u8], size: usize) -> Self {
        let pieces = bytes.chunks(size).map(|piece| Piece::Bytes(Bytes::copy_from_slice(piece)));
        Self::Pieces { kind: "text/event-stream", pieces: pieces.collect() }
    }

    /// The same, and then this.
    pub(crate) fn then(self, last: Piece) -> Self {
        match self {
            Self::Pieces { kind, mut pieces } => {
                pieces.push(last);
                Self::Pieces { kind, pieces }
            }
            other => other,
        }
    }

    pub(crate) fn header(self, name: &'static str, value: &str) -> Self {
        match self {
            Self::Answer { status, mut headers, body } => {
                headers.push((name, value.to_owned()));
                Self::Answer { status, headers, body }
            }
            other => other,
        }
    }
}

#[derive(Default)]
struct State {
    acts: Mutex<VecDeque<Act>>,
    seen: Mutex<Vec<Seen>>,
    n_connections: AtomicUsize,
}

/// The server. The last of its acts is repeated.
pub(crate) struct Server {
    pub(crate) url: String,
    state: Arc<State>,
    /// Tells of each answer whose client left before its end.
    left: tokio::sync::Mutex<UnboundedReceiver<()>>,
}

impl Server {
    pub(crate) async fn start(acts: impl IntoIterator<Item = Act>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::new(State::default());
        *state.acts.lock().unwrap() = acts.into_iter().collect();
        let (sender, left) = unbounded_channel();
        let counter = state.clone();
        let listener = listener.tap_io(move |_| {
            counter.n_connections.fetch_add(1, Ordering::SeqCst);
        });
        let served = state.clone();
        let router = Router::new().fallback(move |request: Request| {
            let (state, sender) = (served.clone(), sender.clone());
            async move { state.answer(request, sender).await }
        });
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { url, state, left: tokio::sync::Mutex::new(left) }
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.state.seen.lock().unwrap().clone()
    }

    pub(crate) fn n_connections(&self) -> usize {
        self.state.n_connections.load(Ordering::SeqCst)
    }

    /// Waits until a client leaves.
    pub(crate) async fn left(&self) {
        let left = async { self.left.lock().await.recv().await };
        tokio::time::timeout(PATIENCE, left).await.expect("the client did not leave").unwrap();
    }

    /// Waits until this many requests have come.
    pub(crate) async fn has_seen(&self, n: usize) {
        let waits = async {
            while self.seen().len() < n {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        };
        tokio::time::timeout(PATIENCE, waits).await.expect("the requests did not come");
    }
}

impl State {
    async fn answer(
        &self,
        request: Request,
        left: UnboundedSender<()>,
    ) -> Result<Response<Body>, Infallible> {
        let (head, body) = request.into_parts();
        let body = to_bytes(body, usize::MAX).await.unwrap_or_default();
        let path = head.uri.path_and_query().map(ToString::to_string).unwrap_or_default();
        self.seen.lock().unwrap().push(Seen { path, headers: head.headers, body });
        let act = {
            let mut acts = self.acts.lock().unwrap();
            if acts.len() > 1 { acts.pop_front() } else { acts.front().cloned() }
        };
        let mut guard = Leaving { left, is_done: false };
        Ok(match act.unwrap_or(Act::Silence) {
            Act::Answer { status, headers, body } => {
                guard.is_done = true;
                let mut response = Response::builder().status(status);
                for (name, value) in headers {
                    response = response.header(name, value);
                }
                response.body(Body::from(body)).unwrap()
            }
            Act::Pieces { kind, pieces } => {
                let body =
                    Body::from_stream(Pieces { pieces: pieces.into(), guard, is_paused: false });
                Response::builder().header("content-type", kind).body(body).unwrap()
            }
            Act::Silence => {
                std::future::pending::<()>().await;
                drop(guard);
                Response::new(Body::empty())
            }
        })
    }
}

/// Tells, when it is dropped, that the client has left.
struct Leaving {
    left: UnboundedSender<()>,
    is_done: bool,
}

impl Drop for Leaving {
    fn drop(&mut self) {
        if !self.is_done {
            let _ = self.left.send(());
        }
    }
}

/// A body in pieces.
struct Pieces {
    pieces: VecDeque<Piece>,
    guard: Leaving,
    /// Whether the server had a moment to send what came before.
    is_paused: bool,
}

impl futures_core::Stream for Pieces {
    type Item = Result<Bytes, std::io::Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        // Each piece is flushed before the next, so that a cut does not swallow what was said.
        if !std::mem::replace(&mut self.is_paused, true) {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        self.is_paused = false;
        match self.pieces.front() {
            None => {
                self.guard.is_done = true;
                Poll::Ready(None)
            }
            Some(Piece::Stall) => Poll::Pending,
            Some(Piece::Chatter) => Poll::Ready(Some(Ok(Bytes::from_static(b": still here\n\n")))),
            Some(Piece::Cut) => {
                self.guard.is_done = true;
                Poll::Ready(Some(Err(std::io::Error::other("cut"))))
            }
            Some(Piece::Bytes(_)) => match self.pieces.pop_front() {
                Some(Piece::Bytes(bytes)) => Poll::Ready(Some(Ok(bytes))),
                _ => Poll::Ready(None),
            },
        }
    }
}
