//! Running a command.

use std::collections::VecDeque;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use interleaf_mcp::Group;
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::Command;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::{Output, Scene, ToolError};

pub(super) const WHAT: &str =
    "Runs a shell command in the folder, and gives what it prints and its exit code.";

/// How long a command may take, if it is not said.
const USUAL: u64 = 120;

/// How long it may take at most.
const LONGEST: u64 = 3_600;

/// The most bytes that are shown of what it prints.
const MOST_TOLD: usize = 64 * 1024;

/// The most bytes that are kept of each of its two outputs.
const MOST_KEPT: usize = 2 * 1024 * 1024 - 1024;

/// How long the outputs of a command that has ended may be silent before they are let go: what it
/// left running outside of its group may hold them for ever.
const SILENCE: Duration = Duration::from_secs(2);

/// How long something that it left running is listened to that is never silent.
const LONGEST_HEARD: Duration = Duration::from_secs(5);

#[derive(Deserialize, JsonSchema)]
pub(super) struct Run {
    /// The command, for `sh -c`.
    command: String,
    /// How many seconds it may take.
    #[serde(default)]
    seconds: Option<u64>,
}

/// Runs a command, which is not handed these variables.
pub(super) async fn run(
    run: Run,
    scene: Scene,
    withheld: Arc<[String]>,
) -> Result<Output, ToolError> {
    let seconds = run.seconds.unwrap_or(USUAL).clamp(1, LONGEST);
    let mut command = Command::new("sh");
    command.arg("-c").arg(&run.command).current_dir(scene.folder());
    // What a command prints goes into the log, and to the model's vendor.
    for name in &*withheld {
        command.env_remove(name);
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // A group of its own: what it starts ends with it.
    command.process_group(0).kill_on_drop(true);
    let mut child = command.spawn()?;
    let group = Group::of(child.id());
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let (tell, over) = watch::channel(None);
    let ended = async {
        let ended = tokio::time::timeout(Duration::from_secs(seconds), child.wait()).await;
        // What it left running holds on to what it prints into.
        drop(group);
        tell.send_replace(Some(Instant::now()));
        ended
    };
    let (out, err, ended) =
        tokio::join!(printed(out, over.clone()), printed(err, over.clone()), ended);
    let (how, is_error) = match ended {
        Err(_) => (format!("the command took more than {seconds} s and was ended"), true),
        Ok(status) => {
            let status = status?;
            let code = status.code().map(|code| format!("[exit code {code}]"));
            (code.unwrap_or_else(|| "[ended by a signal]".to_owned()), !status.success())
        }
    };
    let is_held = out.is_held || err.is_held;
    let (mut said, err) = (out.told(), err.told());
    if !err.is_empty() {
        said.push_str("\n[standard error]\n");
        said.push_str(&err);
    }
    let mut text = format!("{how}\n{said}");
    text.truncate(text.trim_end().len());
    if is_held {
        text.push_str(
            "\n[Something that the command started still runs, outside of its group, and holds \
             its output. What it prints from here on is lost.]",
        );
    }
    Ok(Output { is_error, ..text.into() }.showing(MOST_TOLD))
}

/// What a command printed: the beginning, the end, and how much there was in between.
#[derive(Default)]
struct Printed {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    n_left_out: usize,
    /// Whether somebody may still print.
    is_held: bool,
}

impl Printed {
    fn take(&mut self, piece: &[u8]) {
        let (head, rest) = piece.split_at(piece.len().min(MOST_KEPT / 2 - self.head.len()));
        self.head.extend_from_slice(head);
        self.tail.extend(rest);
        let n_over = self.tail.len().saturating_sub(MOST_KEPT / 2);
        self.tail.drain(..n_over);
        self.n_left_out += n_over;
    }

    fn told(mut self) -> String {
        let gap = match self.n_left_out {
            0 => String::new(),
            n => format!("\n[… {n} bytes are left out here …]\n"),
        };
        // A letter may lie on both sides where nothing is left out.
        self.head.extend_from_slice(gap.as_bytes());
        self.head.extend(self.tail);
        String::from_utf8_lossy(&self.head).into_owned()
    }
}

/// Reads to the end, or until the command is over and what it left running is silent.
async fn printed(
    from: Option<impl AsyncRead + Unpin>,
    mut over: watch::Receiver<Option<Instant>>,
) -> Printed {
    let mut printed = Printed::default();
    let Some(mut from) = from else { return printed };
    let mut piece = vec![0; 64 * 1024];
    loop {
        let silent = async {
            let _ = over.wait_for(Option::is_some).await;
            tokio::time::sleep(SILENCE).await;
        };
        let read = tokio::select! {
            // What is there is read, however late that is.
            biased;
            read = from.read(&mut piece) => read,
            () = silent => {
                printed.is_held = true;
                return printed;
            }
        };
        let Ok(n @ 1..) = read else { return printed };
        printed.take(&piece[..n]);
        if over.borrow().is_some_and(|ended| ended.elapsed() > LONGEST_HEARD) {
            printed.is_held = true;
            return printed;
        }
    }
}
