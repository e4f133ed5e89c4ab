//! The body of an answer: cut into chunks, and slow, stalled or broken where a fault says so.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use futures_util::stream;

use crate::exchange::End;
use crate::server::Inner;
use crate::settings::Chunk;

/// What is left to send.
struct Sending {
    chunks: std::vec::IntoIter<Bytes>,
    stall: Option<(usize, Duration)>,
    cut: Option<usize>,
    sent: usize,
    end: End,
    number: u64,
    inner: Arc<Inner>,
}

/// The body of events, or of one piece.
pub(crate) fn body(
    inner: &Arc<Inner>,
    number: u64,
    pieces: Vec<Bytes>,
    stall: Option<(usize, Duration)>,
    cut: Option<usize>,
) -> Body {
    let borders: Vec<usize> = [stall.map(|(at, _)| at), cut].into_iter().flatten().collect();
    let chunks = chunks(pieces, inner.settings.chunk, &borders);
    let inner = Arc::clone(inner);
    let state =
        Sending { chunks: chunks.into_iter(), stall, cut, sent: 0, end: End::Left, number, inner };
    Body::from_stream(stream::unfold(state, next))
}

async fn next(mut state: Sending) -> Option<(io::Result<Bytes>, Sending)> {
    if let Some((_, lasts)) = state.stall.take_if(|(at, _)| state.sent >= *at) {
        tokio::time::sleep(lasts).await;
    }
    if state.cut.is_some_and(|at| state.sent >= at) {
        if state.end == End::Cut {
            return None;
        }
        state.end = End::Cut;
        // What was sent reaches the client before the connection breaks: the connection is
        // flushed when the body has nothing to give for a moment.
        tokio::time::sleep(Duration::from_millis(5)).await;
        return Some((Err(io::Error::from(io::ErrorKind::ConnectionAborted)), state));
    }
    match state.chunks.next() {
        Some(chunk) => {
            state.sent += chunk.len();
            // Without a pause all chunks would reach the client as one.
            tokio::task::yield_now().await;
            Some((Ok(chunk), state))
        }
        None => {
            state.end = End::Whole;
            None
        }
    }
}

impl Drop for Sending {
    fn drop(&mut self) {
        // A body that has given its last chunk is not asked again if its length is known.
        let is_whole = self.end == End::Left && self.chunks.as_slice().is_empty();
        let end = if is_whole && self.cut.is_none() { End::Whole } else { self.end };
        self.inner.note(self.number, |exchange| {
            exchange.sent = self.sent;
            exchange.end = end;
        });
    }
}

/// Pieces cut into chunks that end at each border.
fn chunks(pieces: Vec<Bytes>, chunk: Chunk, borders: &[usize]) -> Vec<Bytes> {
    let pieces = match chunk {
        Chunk::Events => pieces,
        Chunk::Bytes(size) => {
            let mut all = BytesMut::new();
            pieces.iter().for_each(|piece| all.extend_from_slice(piece));
            let mut all = all.freeze();
            let mut cut = Vec::new();
            while !all.is_empty() {
                cut.push(all.split_to(size.min(all.len())));
            }
            cut
        }
    };
    let (mut at, mut cut) = (0, Vec::with_capacity(pieces.len()));
    for mut piece in pieces {
        let mut inside: Vec<usize> =
            borders.iter().filter(|b| (at + 1..at + piece.len()).contains(*b)).copied().collect();
        inside.sort_unstable();
        for border in inside {
            if border > at {
                cut.push(piece.split_to(border - at));
                at = border;
            }
        }
        at += piece.len();
        cut.push(piece);
    }
    cut
}
