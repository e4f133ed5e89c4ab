//! Servers for tests, and what became of their processes.

use std::time::Duration;

use interleaf_mcp::{Server, ServerSettings};
use tempfile::TempDir;

use crate::double;

/// A server that is a double, and where it notes what happened.
pub(crate) struct World {
    pub(crate) server: Server,
    pub(crate) notes: TempDir,
}

impl World {
    pub(crate) fn new(change: impl FnOnce(&mut ServerSettings)) -> Self {
        let notes = tempfile::tempdir().unwrap();
        let mut settings = double::settings(notes.path());
        change(&mut settings);
        Self { server: Server::new("double", settings), notes }
    }

    pub(crate) fn noted(&self, name: &str) -> Vec<String> {
        double::noted(self.notes.path(), name)
    }

    /// The text of a call's answer, or its error.
    pub(crate) async fn call(&self, tool: &str, text: &str) -> Result<String, String> {
        let arguments = serde_json::json!({"text": text}).to_string();
        let answer = self.server.call(tool, &arguments).await;
        answer.map(|answer| answer.text).map_err(|error| error.to_string())
    }
}

/// Waits for something, for as long as a busy machine may need.
pub(crate) async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    for _ in 0..1_200 {
        if is_so() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("it never came to be: {what}");
}

/// Whether a process runs. One that has ended and that nobody has asked for does not.
pub(crate) fn runs(id: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    let state = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().next());
    // The first thread may be gone before the others, which hold on to the pipes.
    let tasks = std::fs::read_dir(format!("/proc/{id}/task"));
    let n_tasks = tasks.map_or(0, Iterator::count);
    !matches!(state, None | Some("Z")) || n_tasks > 1
}
