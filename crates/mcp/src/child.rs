//! A server that is a program.
//!
//! It leads a group of processes of its own. The group is ended when the program ends by itself,
//! when its connection is closed, and when whoever holds it lets go.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::{ChildStdin, ChildStdout, Command};
use tokio::sync::watch;

use crate::Group;
use crate::secrets::ending;

/// The variables that a server gets from us, beside its own: keys of ours are none of them.
pub(crate) const INHERITED: [&str; 17] = [
    "HOME",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "LOGNAME",
    "PATH",
    "SHELL",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
];

/// The most bytes that are told of what it writes to its standard error: the last ones.
const MOST_SAID: usize = 4 * 1024;

/// How long a program may take to end once nothing is said to it any more.
const GRACE: Duration = Duration::from_secs(2);

/// A program that runs.
pub(crate) struct Child {
    group: Group,
    said: Arc<Said>,
    ended: watch::Receiver<Option<ExitStatus>>,
}

/// What a program is started with.
pub(crate) struct Started<'a> {
    pub(crate) command: &'a str,
    pub(crate) args: &'a [String],
    pub(crate) env: BTreeMap<&'a str, String>,
    pub(crate) folder: Option<&'a Path>,
}

impl Child {
    /// Starts a program.
    pub(crate) fn start(with: Started<'_>) -> io::Result<(Self, ChildStdin, ChildStdout)> {
        let mut command = Command::new(with.command);
        command.args(with.args).env_clear();
        for name in INHERITED {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        command.envs(with.env);
        if let Some(folder) = with.folder {
            command.current_dir(folder);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.process_group(0).kill_on_drop(true);
        let mut child = command.spawn()?;
        let group = Group::of(child.id());
        let lacks = || io::Error::other("its standard streams cannot be had");
        let stdin = child.stdin.take().ok_or_else(lacks)?;
        let stdout = child.stdout.take().ok_or_else(lacks)?;
        let said = Arc::new(Said::default());
        if let Some(stderr) = child.stderr.take() {
            tokio::spawn(listen(stderr, said.clone()));
        }
        let (tell, ended) = watch::channel(None);
        let left = group.clone();
        tokio::spawn(async move {
            let status = child.wait().await;
            // What it started does not outlive it.
            left.end();
            tell.send_replace(status.ok());
        });
        Ok((Self { group, said, ended }, stdin, stdout))
    }

    /// Ends it, and all that it started.
    pub(crate) fn end(&self) {
        self.group.end();
    }

    /// Lets it end by itself, and then ends it.
    pub(crate) async fn leave(&self) {
        let mut ended = self.ended.clone();
        let _ = tokio::time::timeout(GRACE, ended.wait_for(Option::is_some)).await;
        self.end();
    }

    /// How it ended and what it said last, for an error; waits a moment for both.
    pub(crate) async fn last_words(&self) -> String {
        let mut ended = self.ended.clone();
        let ended = tokio::time::timeout(GRACE, ended.wait_for(Option::is_some)).await;
        let status = ended.ok().and_then(|ended| ended.ok().and_then(|status| *status));
        let mut words = match status {
            Some(status) => format!("; it ended with {status}"),
            None => String::new(),
        };
        let said = self.said.text();
        if !said.is_empty() {
            words.push_str("; it said: ");
            words.push_str(&said);
        }
        words
    }
}

/// The end of what a program writes to its standard error.
#[derive(Default)]
struct Said(Mutex<Vec<u8>>);

impl Said {
    fn add(&self, piece: &[u8]) {
        let mut said = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        said.extend_from_slice(piece);
        // Twice as many as are told, so that it is known whether something stood before.
        let more = said.len().saturating_sub(2 * MOST_SAID);
        said.drain(..more);
    }

    fn text(&self) -> String {
        let said = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        ending(&String::from_utf8_lossy(&said), MOST_SAID).trim().to_owned()
    }
}

async fn listen(mut stderr: impl AsyncRead + Unpin, said: Arc<Said>) {
    let mut piece = vec![0; 4 * 1024];
    while let Ok(n @ 1..) = stderr.read(&mut piece).await {
        said.add(&piece[..n]);
    }
}
