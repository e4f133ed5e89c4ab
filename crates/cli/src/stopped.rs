//! The wish of whoever runs the program that it end.

use tokio::signal::ctrl_c;
#[cfg(unix)]
use tokio::signal::unix::{SignalKind, signal};

/// Waits until the program is asked to end: by Ctrl-C, by a terminal that closes, or by `kill`.
pub(crate) async fn stopped() {
    #[cfg(unix)]
    if let Ok(mut hang_up) = signal(SignalKind::hangup())
        && let Ok(mut end) = signal(SignalKind::terminate())
    {
        return tokio::select! {
            _ = hang_up.recv() => {}
            _ = end.recv() => {}
            _ = ctrl_c() => {}
        };
    }
    let _ = ctrl_c().await;
}
