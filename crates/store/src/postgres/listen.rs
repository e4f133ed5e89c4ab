//! Hearing from other nodes what changed, on a connection of its own.

use std::future::poll_fn;
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio_postgres::{AsyncMessage, Client};

use super::connect::Hosts;
use super::notify::CHANNEL;
use crate::error::Failure;
use crate::notice::Bell;
use crate::{Error, Notice};

/// How long to wait before a lost connection is made again.
const PAUSE: Duration = Duration::from_millis(500);

/// Listens until it is dropped.
pub(crate) struct Listener(JoinHandle<()>);

impl Listener {
    /// Listens from when this is done. A connection that breaks is made again, and
    /// those who watch are told that they may have missed something.
    pub(crate) async fn start(hosts: &Hosts, bell: &Bell) -> Result<Self, Error> {
        let (hosts, bell) = (hosts.clone(), bell.clone());
        let mut connected = connect(&hosts, &bell).await?;
        let task = async move {
            loop {
                connected.broken().await;
                bell.ring(Notice::Missed);
                connected = loop {
                    tokio::time::sleep(PAUSE).await;
                    if let Ok(connected) = connect(&hosts, &bell).await {
                        break connected;
                    }
                };
                // Between the two connections anything may have happened.
                bell.ring(Notice::Missed);
            }
        };
        Ok(Self(tokio::spawn(task)))
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// A connection that listens, and the task that reads from it.
struct Connected {
    _client: Client,
    reader: JoinHandle<()>,
}

impl Connected {
    async fn broken(&mut self) {
        // However the task ended, nothing comes from it any more.
        let _ = (&mut self.reader).await;
    }
}

impl Drop for Connected {
    fn drop(&mut self) {
        self.reader.abort();
    }
}

async fn connect(hosts: &Hosts, bell: &Bell) -> Result<Connected, Failure> {
    let (client, mut connection) = hosts.connect_in_time().await?;
    let bell = bell.clone();
    let reader = tokio::spawn(async move {
        while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
            if let AsyncMessage::Notification(notification) = message {
                notification.payload().split(',').map(Notice::of_text).for_each(|n| bell.ring(n));
            }
        }
    });
    let connected = Connected { _client: client, reader };
    connected._client.batch_execute(&format!("LISTEN {CHANNEL}")).await?;
    Ok(connected)
}
