//! The way to a double, which can be cut off.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// How long nobody gets through after a cut.
const AWAY: Duration = Duration::from_millis(20);

pub(super) struct Upstream {
    address: SocketAddr,
    /// Counts the cuts.
    cuts: watch::Sender<u64>,
    is_away: watch::Sender<bool>,
}

impl Upstream {
    pub(super) async fn start(to: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (cuts, cut) = watch::channel(0);
        let (is_away, away) = watch::channel(false);
        tokio::spawn(async move {
            while let Ok((mut from, _)) = listener.accept().await {
                if *away.borrow() {
                    continue;
                }
                let mut cut = cut.clone();
                cut.mark_unchanged();
                tokio::spawn(async move {
                    let Ok(mut to) = TcpStream::connect(to).await else { return };
                    tokio::select! {
                        _ = cut.changed() => {
                            // Nothing more is sent, not even an end.
                            let _ = from.set_zero_linger();
                            let _ = to.set_zero_linger();
                        }
                        _ = copy_bidirectional(&mut from, &mut to) => {}
                    }
                });
            }
        });
        Self { address, cuts, is_away }
    }

    pub(super) fn port(&self) -> u16 {
        self.address.port()
    }

    /// Breaks all connections, and takes no other for a while.
    pub(super) async fn cut(&self) {
        self.is_away.send_replace(true);
        self.cuts.send_modify(|n| *n += 1);
        tokio::time::sleep(AWAY).await;
        self.is_away.send_replace(false);
    }
}
