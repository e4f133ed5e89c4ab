//! Notices of change. They are hints: a lost one costs a late refresh and nothing
//! else, for what is written is checked against the sequence number.

use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use crate::SessionId;

/// The number of notices that wait for a slow listener before it is told that it missed some.
const WAITING: usize = 1024;

/// A session has changed, or notices were missed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notice {
    /// The session, and the number of events it has now.
    Changed {
        /// Which.
        session: SessionId,
        /// The sequence number of its next event.
        next_seq: u64,
    },
    /// This session is no more.
    Removed {
        /// Which.
        session: SessionId,
    },
    /// Some notices were lost: any session may have changed.
    Missed,
}

/// Notices, as they come.
#[derive(Debug)]
pub struct Notices(broadcast::Receiver<Notice>);

impl Notices {
    /// Waits for the next one; `None` once the store is closed.
    pub async fn next(&mut self) -> Option<Notice> {
        match self.0.recv().await {
            Ok(notice) => Some(notice),
            Err(RecvError::Lagged(_)) => Some(Notice::Missed),
            Err(RecvError::Closed) => None,
        }
    }
}

/// Where notices come from.
#[derive(Debug, Clone)]
pub(crate) struct Bell(broadcast::Sender<Notice>);

impl Bell {
    pub(crate) fn new() -> Self {
        Self(broadcast::Sender::new(WAITING))
    }

    /// Tells everyone; that no one listens is no fault.
    pub(crate) fn ring(&self, notice: Notice) {
        let _ = self.0.send(notice);
    }

    pub(crate) fn listen(&self) -> Notices {
        Notices(self.0.subscribe())
    }
}

/// The text of a notice between nodes, and back.
impl Notice {
    pub(crate) fn to_text(self) -> String {
        match self {
            Self::Changed { session, next_seq } => format!("{session}:{next_seq}"),
            Self::Removed { session } => format!("{session}:-"),
            Self::Missed => "?".to_owned(),
        }
    }

    /// What cannot be read may have been about anything.
    pub(crate) fn of_text(text: &str) -> Self {
        let read = || {
            let (session, rest) = text.split_once(':')?;
            let session = session.parse().ok()?;
            match rest {
                "-" => Some(Self::Removed { session }),
                next => Some(Self::Changed { session, next_seq: next.parse().ok()? }),
            }
        };
        read().unwrap_or(Self::Missed)
    }
}
