//! The connections to the server.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::{
    ClientWrapper, Connect, Hook, HookError, Manager, ManagerConfig, Pool, RecyclingMethod, Runtime,
};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{Client, Config, Connection, Error, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::address::Address;
use super::tls::connector;
use crate::error::Failure;
use crate::{ErrorKind, OpenOptions};

/// A server that stands in for another, so that the first one that answers is taken.
#[derive(Clone)]
pub(crate) struct Hosts {
    configs: Arc<[Config]>,
    pub(crate) tls: MakeRustlsConnect,
    patience: Duration,
}

type Connected =
    (Client, Connection<Socket, <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream>);

impl Hosts {
    pub(crate) fn new(address: Address, options: &OpenOptions) -> Result<Self, Failure> {
        let tls = connector(&address.proof)?;
        Ok(Self { configs: address.hosts.into(), tls, patience: options.patience })
    }

    /// Connects to the first host that takes part. One that does not answer is left after a
    /// while; only the last one is waited for, as long as the caller does.
    pub(crate) async fn connect(&self) -> Result<Connected, Error> {
        let (last, others) = match self.configs.split_last() {
            Some((last, others)) => (last, others),
            None => return Config::new().connect(self.tls.clone()).await,
        };
        for config in others {
            let patience = self.patience_with(config);
            if let Ok(Ok(connected)) = timeout(patience, config.connect(self.tls.clone())).await {
                return Ok(connected);
            }
        }
        last.connect(self.tls.clone()).await
    }
}

impl Hosts {
    /// The same, and the last one is not waited for for ever either.
    pub(crate) async fn connect_in_time(&self) -> Result<Connected, Failure> {
        let late = |_| crate::Error::new(ErrorKind::Unavailable, "the server does not answer");
        Ok(timeout(self.limit(), self.connect()).await.map_err(late)??)
    }

    /// How long one host is waited for: as the address says, or else the options.
    fn patience_with(&self, config: &Config) -> Duration {
        config.get_connect_timeout().copied().unwrap_or(self.patience)
    }

    fn limit(&self) -> Duration {
        let each = self.configs.iter().map(|config| self.patience_with(config));
        each.fold(Duration::ZERO, Duration::saturating_add)
    }
}

impl Connect for Hosts {
    fn connect(
        &self,
        _: &Config,
    ) -> Pin<Box<dyn Future<Output = Result<(Client, JoinHandle<()>), Error>> + Send + '_>> {
        Box::pin(async move {
            let (client, connection) = self.connect().await?;
            let task = async move {
                // Whoever uses the connection learns of it.
                let _ = connection.await;
            };
            Ok((client, tokio::spawn(task)))
        })
    }
}

pub(crate) fn pool(hosts: &Hosts, options: &OpenOptions) -> Result<Pool, Failure> {
    let recycling = ManagerConfig { recycling_method: RecyclingMethod::Fast };
    let manager = Manager::from_connect(Config::new(), hosts.clone(), recycling);
    let limits = limits(options);
    let limit = Hook::async_fn(move |client: &mut ClientWrapper, _| {
        let limits = limits.clone();
        Box::pin(async move {
            client.batch_execute(&limits).await.map_err(HookError::Backend)?;
            // Older servers and some systems do not have it.
            match client.batch_execute(NOTICE_WHO_LEFT).await {
                Err(e) if e.as_db_error().is_none() => Err(HookError::Backend(e)),
                _ => Ok(()),
            }
        })
    });
    let pool = Pool::builder(manager)
        .post_create(limit)
        .max_size(options.connections.max(1))
        .runtime(Runtime::Tokio1)
        .wait_timeout(Some(options.patience))
        .create_timeout(Some(hosts.limit()));
    Ok(pool.build()?)
}

/// While a query runs, the server looks now and then whether its client is still there.
const NOTICE_WHO_LEFT: &str = "SET client_connection_check_interval = '2s'";

/// A row that another holds is not waited for for ever, and a query does not outlast the
/// call that asked it: the server gives up shortly before we do, and says so.
fn limits(options: &OpenOptions) -> String {
    let milliseconds = |limit: Duration| limit.as_millis().clamp(1, i32::MAX as u128);
    let (lock, statement) = (options.patience, options.deadline.mul_f64(0.9));
    format!(
        "SET lock_timeout = {}; SET statement_timeout = {}",
        milliseconds(lock),
        milliseconds(statement)
    )
}
