//! Running a command.

use std::collections::VecDeque;
use std::process::Stdio;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::Command;

use crate::{Output, Scene, ToolError};

pub(super) const WHAT: &str =
    "Runs a shell command in the folder, and gives what it prints and its exit code.";

/// How long a command may take, if it is not said.
const USUAL: u64 = 120;

/// How long it may take at most.
const LONGEST: u64 = 3_600;

/// The most bytes that are told of what it prints.
const MOST_TOLD: usize = 32 * 1024;

#[derive(Deserialize, JsonSchema)]
pub(super) struct Run {
    /// The command, for `sh -c`.
    command: String,
    /// How many seconds it may take.
    #[serde(default)]
    seconds: Option<u64>,
}

pub(super) async fn run(run: Run, scene: Scene) -> Result<Output, ToolError> {
    let seconds = run.seconds.unwrap_or(USUAL).clamp(1, LONGEST);
    let mut command = Command::new("sh");
    command.arg("-c").arg(&run.command).current_dir(scene.folder());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // A group of its own: what it starts ends with it.
    command.process_group(0).kill_on_drop(true);
    let mut child = command.spawn()?;
    let group = Group(child.id());
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let ended = async {
        let status = child.wait().await;
        // What it left running holds on to what it prints into, and would never let go.
        drop(group);
        status
    };
    let all = async { tokio::join!(printed(out), printed(err), ended) };
    let Ok((out, err, status)) = tokio::time::timeout(Duration::from_secs(seconds), all).await
    else {
        return Err(ToolError::new(format!(
            "the command took more than {seconds} s and was ended"
        )));
    };
    let status = status?;
    let (mut said, err) = (out.told(), err.told());
    if !err.is_empty() {
        said.push_str("\n[standard error]\n");
        said.push_str(&err);
    }
    let code = match status.code() {
        Some(code) => format!("exit code {code}"),
        None => "ended by a signal".to_owned(),
    };
    let text = format!("[{code}]\n{said}");
    Ok(Output { is_error: !status.success(), ..text.trim_end().into() })
}

/// Ends a group of processes when it is dropped.
struct Group(Option<u32>);

impl Drop for Group {
    fn drop(&mut self) {
        let Some(id) = self.0 else { return };
        // The shell that leads it may be gone, and others of it not.
        let _ = std::process::Command::new("kill")
            .args(["-KILL", "--", &format!("-{id}")])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
    }
}

/// What a command printed: the beginning, the end, and how much there was in between.
#[derive(Default)]
struct Printed {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    n_left_out: usize,
}

impl Printed {
    fn take(&mut self, piece: &[u8]) {
        let (head, rest) = piece.split_at(piece.len().min(MOST_TOLD / 2 - self.head.len()));
        self.head.extend_from_slice(head);
        self.tail.extend(rest);
        let n_over = self.tail.len().saturating_sub(MOST_TOLD / 2);
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

/// Reads to the end.
async fn printed(from: Option<impl AsyncRead + Unpin>) -> Printed {
    let mut printed = Printed::default();
    let Some(mut from) = from else { return printed };
    let mut piece = vec![0; 64 * 1024];
    while let Ok(n @ 1..) = from.read(&mut piece).await {
        printed.take(&piece[..n]);
    }
    printed
}
