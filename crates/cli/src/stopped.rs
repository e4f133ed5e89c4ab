//! The wish of whoever runs the program that it end.

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

/// What asks the program to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(unix), expect(dead_code, reason = "only Ctrl-C is heard there"))]
pub(crate) enum Wish {
    /// Ctrl-C, which a terminal sends to all that run in it.
    Interrupt,
    /// The terminal was closed.
    HangUp,
    /// `kill`.
    End,
}

/// Listens for wishes. None is lost while somebody listens.
pub(crate) struct Wishes {
    #[cfg(unix)]
    heard: [(Wish, Option<Signal>); 3],
}

#[cfg(unix)]
impl Wishes {
    pub(crate) fn listen() -> Self {
        let listen = |wish, kind: SignalKind| {
            // What is ignored stays so, as under `nohup` a terminal that closes.
            (wish, if is_ignored(kind) { None } else { signal(kind).ok() })
        };
        Self {
            heard: [
                listen(Wish::Interrupt, SignalKind::interrupt()),
                listen(Wish::HangUp, SignalKind::hangup()),
                listen(Wish::End, SignalKind::terminate()),
            ],
        }
    }

    /// Waits for the next one.
    pub(crate) async fn next(&mut self) -> Wish {
        std::future::poll_fn(|cx| {
            let mut heard = self.heard.iter_mut();
            let wish = heard.find_map(|(wish, signal)| {
                let signal = signal.as_mut()?;
                signal.poll_recv(cx).is_ready().then_some(*wish)
            });
            wish.map_or(std::task::Poll::Pending, std::task::Poll::Ready)
        })
        .await
    }
}

#[cfg(not(unix))]
impl Wishes {
    pub(crate) fn listen() -> Self {
        Self {}
    }

    /// Waits for the next one.
    pub(crate) async fn next(&mut self) -> Wish {
        let _ = tokio::signal::ctrl_c().await;
        Wish::Interrupt
    }
}

/// Whether whoever started the program had it ignore this signal. Only Linux tells.
#[cfg(unix)]
fn is_ignored(kind: SignalKind) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_some_and(|mask| mask >> (kind.as_raw_value() - 1) & 1 == 1)
}

/// Waits until the program is asked to end: by Ctrl-C, by a terminal that closes, or by `kill`.
pub(crate) async fn stopped() {
    Wishes::listen().next().await;
}
