//! A clock that a test can set.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Tells the double what time it is.
#[derive(Debug, Clone, Default)]
pub struct Clock {
    /// Seconds since 1970, if the clock stands still.
    set: Option<Arc<AtomicU64>>,
}

impl Clock {
    /// The machine's own.
    pub fn system() -> Self {
        Self::default()
    }

    /// One that stands at some seconds since 1970, until it is moved.
    pub fn at(seconds: u64) -> Self {
        Self { set: Some(Arc::new(AtomicU64::new(seconds))) }
    }

    /// Moves a clock that stands; the machine's own cannot be moved.
    pub fn advance(&self, by: Duration) {
        if let Some(set) = &self.set {
            set.fetch_add(by.as_secs(), Ordering::SeqCst);
        }
    }

    /// Seconds since 1970.
    pub fn now(&self) -> u64 {
        match &self.set {
            Some(set) => set.load(Ordering::SeqCst),
            None => SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs(),
        }
    }
}
