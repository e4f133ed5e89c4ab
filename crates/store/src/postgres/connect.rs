//! Where the server is, and the connections to it.

use std::time::Duration;

use deadpool_postgres::{Hook, HookError, Manager, ManagerConfig, Pool, RecyclingMethod, Runtime};
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::{Config, NoTls};

use crate::error::Failure;
use crate::{Error, OpenOptions};

/// Reads the URL.
pub(crate) fn config(url: &str, options: &OpenOptions) -> Result<Config, Error> {
    // The driver's message does not repeat the URL, which may hold a password.
    let wrong = |e| Error::invalid("the address of the PostgreSQL server is wrong").caused_by(e);
    let mut config: Config = url.parse().map_err(wrong)?;
    if config.get_hosts().is_empty() {
        return Err(Error::invalid("the address of the PostgreSQL server names no host"));
    }
    if config.get_hosts().iter().any(|host| matches!(host, Host::Tcp(name) if name.contains('@'))) {
        let rule = "a user or password with an @ is written with %40 in its place";
        return Err(Error::invalid(format!(
            "the address of the PostgreSQL server is wrong: {rule}"
        )));
    }
    if config.get_ssl_mode() == SslMode::Require {
        return Err(Error::invalid("sslmode=require: this program is built without TLS"));
    }
    config.ssl_mode(SslMode::Disable);
    config.application_name("interleaf");
    config.connect_timeout(options.patience);
    // A server that is gone without a word is noticed.
    config.keepalives_idle(Duration::from_secs(30));
    config.tcp_user_timeout(options.patience.saturating_mul(4));
    Ok(config)
}

/// Host and database, without user and password.
pub(crate) fn place(config: &Config) -> String {
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(host)) => host.clone(),
        #[cfg(unix)]
        Some(Host::Unix(path)) => path.display().to_string(),
        None => String::new(),
    };
    format!("{} on {host}", config.get_dbname().unwrap_or("(unnamed)"))
}

pub(crate) fn pool(config: &Config, options: &OpenOptions) -> Result<Pool, Failure> {
    let recycling = ManagerConfig { recycling_method: RecyclingMethod::Fast };
    let manager = Manager::from_config(config.clone(), NoTls, recycling);
    // A row that another holds is not waited for for ever.
    let limit = format!("SET lock_timeout = {}", options.patience.as_millis().max(1));
    let limit = Hook::async_fn(move |client: &mut deadpool_postgres::ClientWrapper, _| {
        let limit = limit.clone();
        Box::pin(async move { client.batch_execute(&limit).await.map_err(HookError::Backend) })
    });
    let pool = Pool::builder(manager)
        .post_create(limit)
        .max_size(options.connections.max(1))
        .runtime(Runtime::Tokio1)
        .wait_timeout(Some(options.patience))
        .create_timeout(Some(options.patience));
    Ok(pool.build()?)
}
