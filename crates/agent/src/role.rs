//! The role of an agent, as its requests state it (C10).
//!
//! The role itself, what AGENTS.md says (the user's own, then the project's), the environment,
//! and for a sub-agent how it ends. Nothing of it changes by the minute.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use interleaf::assemble::Agent as Who;

use crate::{Agent, Scene};

/// What is said to a sub-agent of its end.
const TASK_NOTE: &str = "You were sent with a task by another agent. It hears only your last \
    message: say there all that it must know, and what you could not do.";

/// Longer files are cut.
const LONGEST: u64 = 64 * 1024;

/// The role, with all that belongs to it; none, if the agent has none.
pub(crate) async fn assembled(agent: &Agent, scene: &Scene) -> Option<String> {
    let mut text = agent.role.as_deref()?.trim_end().to_owned();
    if agent.reads_instructions {
        for path in instructions(scene.folder()) {
            if let Some(said) = read(&path).await {
                // Writing into a String cannot fail.
                let _ = write!(text, "\n\n### {}\n\n{}", path.display(), said.trim_end());
            }
        }
    }
    if agent.tells_environment {
        let _ = write!(text, "\n\n### Environment\n\n{}", environment(scene.folder()));
    }
    if let Who::Sub(_) = scene.who() {
        let _ = write!(text, "\n\n### Your task\n\n{TASK_NOTE}");
    }
    Some(text)
}

/// The files that may say how to work here: the user's, then those of the folders from the
/// project's root down.
fn instructions(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let config = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from);
    let home = std::env::var_os("HOME").map(|home| Path::new(&home).join(".config"));
    found.extend(config.or(home).map(|folder| folder.join("interleaf/AGENTS.md")));
    let above: Vec<&Path> = folder.ancestors().collect();
    let root = above.iter().position(|folder| folder.join(".git").exists()).unwrap_or(0);
    found.extend(above[..=root].iter().rev().map(|folder| folder.join("AGENTS.md")));
    found
}

/// What a file says; none, if there is none.
async fn read(path: &Path) -> Option<String> {
    use tokio::io::AsyncReadExt as _;
    let file = tokio::fs::File::open(path).await.ok()?;
    let mut bytes = Vec::new();
    file.take(LONGEST).read_to_end(&mut bytes).await.ok()?;
    let mut text = String::from_utf8_lossy(&bytes).into_owned();
    if bytes.len() as u64 == LONGEST {
        text.push_str("\n(The file goes on.)");
    }
    (!text.trim().is_empty()).then_some(text)
}

fn environment(folder: &Path) -> String {
    let (system, machine) = (std::env::consts::OS, std::env::consts::ARCH);
    format!("Folder: {}\nSystem: {system} ({machine})", folder.display())
}
