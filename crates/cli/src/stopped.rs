//! The wish of whoever runs the program that it end.

use tokio::signal::ctrl_c;

/// Waits until the program is asked to end: by Ctrl-C, by a terminal that closes, or by `kill`.
pub(crate) async fn stopped() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};

        if let (Ok(mut hang_up), Ok(mut end)) =
            (signal(SignalKind::hangup()), signal(SignalKind::terminate()))
        {
            tokio::select! {
                _ = hang_up.recv() => {}
                _ = end.recv() => {}
                _ = ctrl_c() => {}
            }
            return;
        }
    }
    // Without a handler there is nothing to wait for, and the system ends the program.
    if ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}
