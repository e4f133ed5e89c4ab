//! How a server is reached, as a person writes it down.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use interleaf_model::Secret;
use serde::Deserialize;

use crate::variables::named;

/// How a server is reached, how long it may take, and which of its tools are offered.
///
/// It is read from an object, such as a table of a TOML file. There is a `command`, or a `url`:
///
/// ```toml
/// [mcp.files]
/// command = "npx"
/// args = ["-y", "@modelcontextprotocol/server-filesystem", "."]
/// env = { LOG_LEVEL = "warn", TOKEN = "${FILES_TOKEN}" }
/// folder = "/srv/project"
/// tools = ["read_text_file", "list_directory"]
///
/// [mcp.search]
/// url = "https://search.example/mcp"
/// headers = { Authorization = "Bearer ${SEARCH_KEY}" }
/// timeout = 120
/// ```
///
/// | field | meaning | without it |
/// |---|---|---|
/// | `command` | the program, which speaks over its standard input and output | |
/// | `args` | its arguments | none |
/// | `env` | its variables, beside the few that every program needs, such as `PATH` and `HOME` | none |
/// | `folder` | where it runs | the folder of this program |
/// | `url` | the address of a server that speaks streamable HTTP | |
/// | `headers` | what is sent with every request | none |
/// | `timeout` | how many seconds a call may take | 60 |
/// | `start_timeout` | how many seconds it may take to start | 60 |
/// | `progress_extends` | whether a call that tells its progress has its time anew | no |
/// | `tools` | the only tools that are offered | all |
///
/// `${NAME}` in a value of `env` or `headers` stands for that variable of the environment, which
/// is read when the server is connected. Values of both are never printed.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "Written")]
#[non_exhaustive]
pub struct ServerSettings {
    /// How it is reached.
    pub reach: Reach,
    /// How long a call may take.
    pub timeout: Duration,
    /// How long it may take to start.
    pub start_timeout: Duration,
    /// Whether a call that tells its progress has its time anew.
    pub progress_extends: bool,
    /// The only tools that are offered; without it all are.
    pub tools: Option<Vec<String>>,
}

/// How a server is reached.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Reach {
    /// It is a program that is started.
    Command {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Variables of its environment, beside the few that every program needs.
        env: BTreeMap<String, Secret>,
        /// Where it runs.
        folder: Option<PathBuf>,
    },
    /// It is asked over HTTP.
    Url {
        /// Its address.
        url: String,
        /// What is sent with every request.
        headers: BTreeMap<String, Secret>,
    },
}

/// How long a call, or the start of a server, may take, if it is not said.
const USUAL: Duration = Duration::from_secs(60);

impl ServerSettings {
    /// A server that is a program, which is started with these arguments.
    ///
    /// ```
    /// use interleaf_mcp::ServerSettings;
    ///
    /// let files = ServerSettings::command("npx", ["-y", "@modelcontextprotocol/server-filesystem", "."]);
    /// assert_eq!(files.timeout.as_secs(), 60);
    /// ```
    pub fn command(
        command: impl Into<String>,
        args: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        let args = args.into_iter().map(Into::into).collect();
        let (env, folder) = (BTreeMap::new(), None);
        Self::reached_by(Reach::Command { command: command.into(), args, env, folder })
    }

    /// A server that is asked over HTTP.
    pub fn url(url: impl Into<String>) -> Self {
        Self::reached_by(Reach::Url { url: url.into(), headers: BTreeMap::new() })
    }

    fn reached_by(reach: Reach) -> Self {
        let (timeout, start_timeout) = (USUAL, USUAL);
        Self { reach, timeout, start_timeout, progress_extends: false, tools: None }
    }

    /// The variables of the environment that its own variables or headers are made of.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        let (Reach::Command { env: values, .. } | Reach::Url { headers: values, .. }) = &self.reach;
        values.values().flat_map(|value| named(value.expose()))
    }

    /// Whether a tool of this name is offered.
    pub fn offers(&self, tool: &str) -> bool {
        self.tools.as_ref().is_none_or(|tools| tools.iter().any(|name| name == tool))
    }
}

/// The fields as they are written.
#[derive(Deserialize)]
#[serde(remote = "Self", deny_unknown_fields)]
struct Written {
    command: Option<String>,
    args: Option<Vec<String>>,
    env: Option<BTreeMap<String, String>>,
    folder: Option<PathBuf>,
    url: Option<String>,
    headers: Option<BTreeMap<String, String>>,
    timeout: Option<f64>,
    start_timeout: Option<f64>,
    #[serde(default)]
    progress_extends: bool,
    tools: Option<Vec<String>>,
}

interleaf_model::only_objects!(read: Written);

/// Why settings cannot be used. It names the field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsError(String);

impl SettingsError {
    pub(crate) fn new(rule: impl Into<String>) -> Self {
        Self(rule.into())
    }
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SettingsError {}

impl TryFrom<Written> for ServerSettings {
    type Error = SettingsError;

    fn try_from(written: Written) -> Result<Self, SettingsError> {
        let only = |is_there: bool, field: &str, other: &str| match is_there {
            true => Err(SettingsError(format!("`{field}` is of servers with a `{other}`"))),
            false => Ok(()),
        };
        let reach = match (written.command, written.url) {
            (Some(_), Some(_)) => {
                return Err(SettingsError::new("a server has a `command` or a `url`, not both"));
            }
            (None, None) => {
                return Err(SettingsError::new("a server needs a `command` or a `url`"));
            }
            (Some(command), None) => {
                only(written.headers.is_some(), "headers", "url")?;
                if command.trim().is_empty() {
                    return Err(SettingsError::new("`command` is blank"));
                }
                let (args, env) = (written.args.unwrap_or_default(), hidden(written.env));
                Reach::Command { command, args, env, folder: written.folder }
            }
            (None, Some(url)) => {
                only(written.args.is_some(), "args", "command")?;
                only(written.env.is_some(), "env", "command")?;
                only(written.folder.is_some(), "folder", "command")?;
                if !["http://", "https://"].iter().any(|scheme| url.starts_with(scheme)) {
                    // It may hold a key, so it is not shown.
                    return Err(SettingsError::new("`url` must begin with http:// or https://"));
                }
                Reach::Url { url, headers: hidden(written.headers) }
            }
        };
        Ok(Self {
            timeout: seconds("timeout", written.timeout)?,
            start_timeout: seconds("start_timeout", written.start_timeout)?,
            progress_extends: written.progress_extends,
            tools: written.tools,
            reach,
        })
    }
}

fn hidden(values: Option<BTreeMap<String, String>>) -> BTreeMap<String, Secret> {
    values.unwrap_or_default().into_iter().map(|(name, value)| (name, value.into())).collect()
}

fn seconds(field: &str, written: Option<f64>) -> Result<Duration, SettingsError> {
    let Some(seconds) = written else { return Ok(USUAL) };
    let length = Duration::try_from_secs_f64(seconds).ok().filter(|length| !length.is_zero());
    length.ok_or_else(|| {
        SettingsError(format!("`{field}` must be a number of seconds above 0, and is {seconds}"))
    })
}
