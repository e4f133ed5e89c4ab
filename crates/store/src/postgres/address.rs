//! The address of the server, read.
//!
//! ```text
//!   postgres://user:password@host:port,host:port/database?sslmode=…&sslrootcert=…&target_session_attrs=…
//! ```
//!
//! The driver reads it, but for what says how the server proves who it is.

use std::path::PathBuf;
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};

use crate::{Error, OpenOptions};

/// Where the server is.
pub(crate) struct Address {
    /// One for each host, in the order in which they are tried.
    pub(crate) hosts: Vec<Config>,
    /// What the server has to prove.
    pub(crate) proof: Proof,
    /// Hosts and database, without user and password.
    pub(crate) place: String,
}

/// What a server has to prove about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Proof {
    /// Nothing.
    Nothing,
    /// That one of these authorities knows it.
    Authority(Roots),
    /// That, and that the authority knows it by the name that it was called by.
    Name(Roots),
}

/// Where the authorities are listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Roots {
    System,
    File(PathBuf),
}

impl Address {
    pub(crate) fn parse(url: &str, options: &OpenOptions) -> Result<Self, Error> {
        let Pieces { before, hosts, after, parameters } = Pieces::of(url);
        let (mut mode, mut roots, mut others) = (None, None, vec![]);
        for parameter in parameters {
            match parameter.split_once('=') {
                Some(("sslmode", value)) => mode = Some(value),
                Some(("sslrootcert", value)) => roots = Some(decoded(value)?),
                _ => others.push(parameter),
            }
        }
        let (ssl_mode, proof) = security(mode.unwrap_or("prefer"), roots)?;
        let query =
            if others.is_empty() { String::new() } else { format!("?{}", others.join("&")) };
        let config = |host: &str| config(&format!("{before}{host}{after}{query}"), options);
        let mut hosts = hosts.split(',').map(config).collect::<Result<Vec<_>, _>>()?;
        for config in &mut hosts {
            config.ssl_mode(ssl_mode);
        }
        let names: Vec<String> = hosts.iter().flat_map(Config::get_hosts).map(name).collect();
        let database = hosts.first().and_then(|config| config.get_dbname()).unwrap_or("(unnamed)");
        let place = format!("{database} on {}", names.join(", "));
        Ok(Self { hosts, proof, place })
    }

    /// Whether it leads to the one server of several that may be written to.
    pub(crate) fn chooses(&self) -> bool {
        let attributes = self.hosts.first().map(Config::get_target_session_attrs);
        self.hosts.len() > 1 || attributes == Some(TargetSessionAttrs::ReadWrite)
    }
}

/// An address in pieces, as the driver cuts it.
struct Pieces<'a> {
    /// Scheme, user and password.
    before: &'a str,
    hosts: &'a str,
    /// The database.
    after: &'a str,
    parameters: Vec<&'a str>,
}

impl<'a> Pieces<'a> {
    fn of(url: &'a str) -> Self {
        let scheme = url.find("://").map_or(0, |at| at + 3);
        let start = url[scheme..].find('@').map_or(scheme, |at| scheme + at + 1);
        let (before, rest) = url.split_at(start);
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (hosts, after) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let parameters = query.split('&').filter(|parameter| !parameter.is_empty()).collect();
        Self { before, hosts, after, parameters }
    }
}

fn config(url: &str, options: &OpenOptions) -> Result<Config, Error> {
    // The driver's message does not repeat the URL, which may hold a password.
    let wrong = |e: tokio_postgres::Error| {
        let why = std::error::Error::source(&e).map(|why| format!(": {why}")).unwrap_or_default();
        Error::invalid(format!("the address of the PostgreSQL server is wrong{why}"))
    };
    let mut config: Config = url.parse().map_err(wrong)?;
    if config.get_hosts().is_empty() {
        return Err(Error::invalid("the address of the PostgreSQL server names no host"));
    }
    if config.get_hosts().iter().any(|host| matches!(host, Host::Tcp(name) if name.contains('@'))) {
        let rule = "a user or password with an @ is written with %40 in its place";
        let message = format!("the address of the PostgreSQL server is wrong: {rule}");
        return Err(Error::invalid(message));
    }
    // What the address says counts.
    if config.get_application_name().is_none() {
        config.application_name("interleaf");
    }
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(options.patience);
    }
    // A server that is gone without a word is noticed.
    if !url.contains("keepalives_idle=") {
        config.keepalives_idle(Duration::from_secs(30));
    }
    if config.get_tcp_user_timeout().is_none() {
        config.tcp_user_timeout(options.patience.saturating_mul(4));
    }
    Ok(config)
}

/// What a mode asks for, as `libpq` has it: `require` alone keeps out those who listen, but
/// not those who pretend to be the server.
fn security(mode: &str, roots: Option<String>) -> Result<(SslMode, Proof), Error> {
    let given = roots.is_some();
    let roots = match roots.as_deref() {
        None | Some("system") => Roots::System,
        Some(path) => Roots::File(PathBuf::from(path)),
    };
    if (mode == "verify-ca" || mode == "require" && given) && roots == Roots::System {
        let rule = "anyone can have a certificate from the authorities of the system, so that \
                    the server's name counts: write sslmode=verify-full, or name a file of \
                    your own authorities with sslrootcert";
        return Err(Error::invalid(rule));
    }
    match mode {
        "disable" => Ok((SslMode::Disable, Proof::Nothing)),
        "prefer" => Ok((SslMode::Prefer, Proof::Nothing)),
        "require" if !given => Ok((SslMode::Require, Proof::Nothing)),
        "require" | "verify-ca" => Ok((SslMode::Require, Proof::Authority(roots))),
        "verify-full" => Ok((SslMode::Require, Proof::Name(roots))),
        _ => Err(Error::invalid("sslmode is disable, prefer, require, verify-ca or verify-full")),
    }
}

fn decoded(value: &str) -> Result<String, Error> {
    let wrong = || Error::invalid("sslrootcert is the path of a file, or system");
    let mut bytes = vec![];
    let mut rest = value.as_bytes();
    while let Some((&byte, more)) = rest.split_first() {
        rest = more;
        bytes.push(match byte {
            b'%' => {
                let (digits, more) = rest.split_at_checked(2).ok_or_else(wrong)?;
                rest = more;
                let digits = std::str::from_utf8(digits).map_err(|_| wrong())?;
                u8::from_str_radix(digits, 16).map_err(|_| wrong())?
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).map_err(|_| wrong())
}

fn name(host: &Host) -> String {
    match host {
        Host::Tcp(host) => host.clone(),
        #[cfg(unix)]
        Host::Unix(path) => path.display().to_string(),
    }
}
