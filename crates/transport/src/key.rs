//! Keys: where they come from, and how long they are good for.

use std::collections::HashMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use interleaf::model::Secret;
use interleaf::wire::{Auth, Vendor};
use serde_json::Value;
use smol_str::SmolStr;
use tokio::io::AsyncReadExt as _;
use tokio::process::Command;
use tokio::sync::Mutex;

use crate::ErrorKind;
use crate::failed::Failed;

/// A key file or command holds no more than this many bytes.
const LONGEST_KEY: u64 = 64 * 1024;

/// How long a file or a command may take that gives a key.
const SOURCE_TIME: Duration = Duration::from_secs(60);

/// A key is asked for again this long before it expires.
const MARGIN: Duration = Duration::from_secs(60);

/// Where a key comes from. Its `Debug` form names the place and never the key.
///
/// A command prints the key alone, or JSON as cloud tools do: `token`, `access_token` or
/// `accessToken`, and `expires_in` (seconds) or `expires_on` (seconds since 1970). What it
/// printed is good until then, or until an API refuses it; then it is asked again, once.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeySource {
    /// An environment variable.
    Variable(String),
    /// A file that holds nothing else. It is read anew when an API refuses the key.
    File(PathBuf),
    /// A command line for the system's shell.
    Command(String),
}

/// The keys of a transport, by vendor.
#[derive(Default)]
pub(crate) struct Keys {
    by_vendor: HashMap<SmolStr, Arc<Kept>>,
    /// For every vendor without a source of its own.
    usual: Option<Arc<Kept>>,
}

/// A source, and what it gave last.
struct Kept {
    source: KeySource,
    last: Mutex<Option<Good>>,
}

struct Good {
    key: Secret,
    until: Option<Instant>,
}

impl Keys {
    pub(crate) fn put(&mut self, vendor: Option<SmolStr>, source: KeySource) {
        let kept = Arc::new(Kept { source, last: Mutex::new(None) });
        match vendor {
            Some(vendor) => drop(self.by_vendor.insert(vendor, kept)),
            None => self.usual = Some(kept),
        }
    }

    fn of(&self, vendor: &Vendor) -> Option<&Arc<Kept>> {
        self.by_vendor.get(&vendor.name).or(self.usual.as_ref())
    }

    /// The key for a vendor; none, if no source is named and its variable is not set.
    pub(crate) async fn key(&self, vendor: &Vendor) -> Result<Option<Secret>, Failed> {
        let Some(kept) = self.of(vendor) else {
            return Ok(variable(&vendor.key_variable));
        };
        let mut last = kept.last.lock().await;
        if let Some(good) = &*last
            && good.until.is_none_or(|until| Instant::now() < until)
        {
            return Ok(Some(good.key.clone()));
        }
        let good = kept.source.read().await?;
        let key = good.key.clone();
        *last = Some(good);
        Ok(Some(key))
    }

    /// Forgets a key that was refused. Whether another may be had: a variable never changes.
    pub(crate) async fn forget(&self, vendor: &Vendor, refused: &Secret) -> bool {
        let Some(kept) = self.of(vendor) else { return false };
        let mut last = kept.last.lock().await;
        // Another call may have asked again already.
        if last.as_ref().is_some_and(|good| good.key.expose() == refused.expose()) {
            *last = None;
        }
        !matches!(kept.source, KeySource::Variable(_))
    }
}

/// The key in a variable, unless it is empty.
fn variable(name: &str) -> Option<Secret> {
    if name.is_empty() {
        return None;
    }
    std::env::var(name).ok().map(Secret::from).filter(|key| !key.is_blank())
}

/// Whether a text is surely the name of a variable, and not a key that was put in its place.
fn is_name(text: &str) -> bool {
    let is_usual = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    text.bytes().all(is_usual) && (text.contains('_') || text.len() < 16)
}

/// Whether a name is surely that of a file: it is short, and has an ending as files have.
fn is_file_name(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let is_usual =
        (1..=4).contains(&ending.len()) && ending.bytes().all(|b| b.is_ascii_lowercase());
    is_usual && path.as_os_str().len() <= 20
}

impl KeySource {
    async fn read(&self) -> Result<Good, Failed> {
        let refuse = |text: String| Failed::new(ErrorKind::Key, text);
        match self {
            Self::Variable(name) => match variable(name) {
                Some(key) => Ok(Good { key, until: None }),
                None if is_name(name) => {
                    Err(refuse(format!("the variable {name} is not set, or is empty")))
                }
                None => Err(refuse("what is to name a variable may be a key itself".to_owned())),
            },
            Self::File(path) => {
                // Whoever gives a key in the place of its file gives no folder, and no file.
                let is_path = path.parent().is_some_and(|folder| !folder.as_os_str().is_empty())
                    || is_file_name(path)
                    || path.exists();
                let shown = match is_path {
                    true => path.display().to_string(),
                    false => "(its name is not shown: it may be a key)".to_owned(),
                };
                let key = in_file(path.clone()).await;
                let key = key.map_err(|why| refuse(format!("the key file {shown} {why}")))?;
                Ok(Good { key, until: None })
            }
            Self::Command(line) => printed(line).await.map_err(refuse),
        }
    }
}

/// The key in a file, or why there is none: nothing that stands there is shown. What is named may
/// be a pipe or a device, which nobody writes to or which never ends. A thread that waits for such
/// a one is left behind: unlike a task of the runtime's, it keeps no program from ending.
async fn in_file(path: PathBuf) -> Result<Secret, String> {
    let (sender, receiver) = tokio::sync::oneshot::channel();
    let read = move || {
        let mut text = Vec::new();
        let file = std::fs::File::open(path)?;
        file.take(LONGEST_KEY + 1).read_to_end(&mut text).map(|_| text)
    };
    let unread = |e: std::io::Error| match e.kind() {
        std::io::ErrorKind::NotFound => "does not exist".to_owned(),
        kind => format!("cannot be read: {kind}"),
    };
    // Nobody waits for it any more if what it says cannot be sent.
    let thread = std::thread::Builder::new().spawn(move || drop(sender.send(read())));
    thread.map_err(unread)?;
    let text = match tokio::time::timeout(SOURCE_TIME, receiver).await {
        Ok(Ok(text)) => text.map_err(unread)?,
        Ok(Err(_)) => return Err("cannot be read".to_owned()),
        Err(_) => return Err(format!("did not come to its end in {SOURCE_TIME:?}")),
    };
    if text.len() as u64 > LONGEST_KEY {
        return Err(format!("holds more than {LONGEST_KEY} bytes, which is no key"));
    }
    let text = String::from_utf8(text).map_err(|_| "is no text")?;
    match text.trim() {
        "" => Err("is empty".to_owned()),
        key => Ok(key.into()),
    }
}

/// What a command prints. Neither its output nor its errors are shown: both may hold a key.
async fn printed(line: &str) -> Result<Good, String> {
    let (shell, flag) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
    let mut command = Command::new(shell);
    command.args([flag, line]).stdin(Stdio::null()).stderr(Stdio::null()).stdout(Stdio::piped());
    #[cfg(unix)]
    command.process_group(0);
    let refused = |e: std::io::Error| format!("the key command cannot be run: {}", e.kind());
    let mut child = command.kill_on_drop(true).spawn().map_err(refused)?;
    let mut group = Group(child.id());
    let mut text = Vec::new();
    let ended = tokio::time::timeout(SOURCE_TIME, async {
        if let Some(stdout) = child.stdout.take() {
            stdout.take(LONGEST_KEY + 1).read_to_end(&mut text).await?;
        }
        match text.len() as u64 > LONGEST_KEY {
            true => Ok(None),
            false => child.wait().await.map(Some),
        }
    });
    let status = match ended.await {
        Ok(Ok(Some(status))) => status,
        Ok(Ok(None)) => return Err("the key command prints more than a key".to_owned()),
        Ok(Err(e)) => return Err(refused(e)),
        Err(_) => return Err(format!("the key command did not end in {SOURCE_TIME:?}")),
    };
    group.0 = None;
    if !status.success() {
        return Err(format!("the key command failed ({status}); run it by hand to see why"));
    }
    let text = String::from_utf8(text).map_err(|_| "the key command printed no text")?;
    read_printed(text.trim()).ok_or_else(|| "the key command printed no key".to_owned())
}

/// A command that runs, with all that it started: they end with it.
struct Group(Option<u32>);

impl Drop for Group {
    fn drop(&mut self) {
        let Some(id) = self.0.filter(|_| cfg!(unix)) else { return };
        let mut kill = std::process::Command::new("sh");
        kill.args(["-c", &format!("kill -9 -{id}")]).stdin(Stdio::null()).stdout(Stdio::null());
        // Nothing can be done if they cannot be ended.
        let _ = kill.stderr(Stdio::null()).status();
    }
}

/// A key alone, or the JSON of a cloud's tool.
fn read_printed(text: &str) -> Option<Good> {
    if !text.starts_with('{') {
        let is_key = !text.is_empty() && !text.contains(char::is_whitespace);
        return is_key.then(|| Good { key: text.into(), until: None });
    }
    let form: Value = serde_json::from_str(text).ok()?;
    let token =
        ["token", "access_token", "accessToken"].iter().find_map(|name| form[name].as_str());
    let number = |name: &str| match &form[name] {
        Value::String(text) => text.parse::<f64>().ok(),
        value => value.as_f64(),
    };
    let on = || {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
        Some(number("expires_on")? - now.as_secs_f64())
    };
    let left = number("expires_in").or_else(on);
    let left = left.map(|left| Duration::try_from_secs_f64(left.max(0.0)).unwrap_or(Duration::MAX));
    let until = left.and_then(|left| Instant::now().checked_add(left.saturating_sub(MARGIN)));
    let token = token.filter(|token| !token.trim().is_empty())?;
    Some(Good { key: token.into(), until })
}

/// How a vendor wants this key. A token of a cloud's directory (a JWT) goes as a bearer, also
/// to vendors whose own keys stand in a header of their own, such as Azure's.
pub(crate) fn suited(vendor: &Vendor, key: Option<&Secret>) -> Vendor {
    let is_token = |key: &Secret| {
        let text = key.expose();
        text.starts_with("eyJ") && text.split('.').count() == 3
    };
    match (&vendor.auth, key) {
        (Auth::Header(_), Some(key)) if is_token(key) => vendor.clone().auth(Auth::Bearer),
        _ => vendor.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_prints_a_key_alone_or_the_json_of_a_clouds_tool() {
        let plain = read_printed("ya29.token").unwrap();
        assert_eq!((plain.key.expose(), plain.until), ("ya29.token", None));
        let azure =
            read_printed(r#"{"accessToken": "eyJ.a.b", "expires_on": 4102444800}"#).unwrap();
        assert_eq!(azure.key.expose(), "eyJ.a.b");
        assert!(azure.until.unwrap() > Instant::now() + Duration::from_secs(3600));
        let spent = read_printed(r#"{"token": "t", "expires_in": "30"}"#).unwrap();
        assert!(spent.until.unwrap() <= Instant::now(), "it expires within the margin");
        assert!(read_printed("please log in").is_none());
        assert!(read_printed("").is_none());
        assert!(read_printed(r#"{"error": "no"}"#).is_none());
    }

    #[test]
    fn a_directory_token_goes_as_a_bearer_and_a_key_of_azures_in_its_own_header() {
        let azure = Vendor::named("azure").unwrap();
        let auth = |key: &str| suited(azure, Some(&key.into())).auth;
        assert_eq!(auth("eyJhbGciOi.eyJhdWQ.c2ln"), Auth::Bearer);
        assert_eq!(auth("0123456789abcdef"), azure.auth);
    }
}
