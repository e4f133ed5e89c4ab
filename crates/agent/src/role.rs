//! The role of an agent, as its requests state it (C10).
//!
//! The role itself, what AGENTS.md says (the user's own, then the project's), the environment,
//! and for a sub-agent how it ends. Nothing of it changes by the minute.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use interleaf::assemble::Agent as Who;
use interleaf::model::{is_hidden, shown};

use crate::{Agent, Places, Scene};

/// What is said to a sub-agent of its end.
const TASK_NOTE: &str = "You were sent with a task by another agent. It hears only your last \
    message: say there all that it must know, and what you could not do.";

/// Longer files are cut.
const LONGEST: u64 = 64 * 1024;

/// The role, with all that belongs to it; none, if the agent has none.
pub(crate) async fn assembled(agent: &Agent, scene: &Scene) -> Option<String> {
    let mut text = agent.role.as_deref()?.trim_end().to_owned();
    if agent.reads_instructions {
        for (path, within) in instructions(scene.folder()) {
            if let Some(said) = read(&path, within.as_deref()).await {
                let path = shown(&path.display().to_string()).into_owned();
                // Writing into a String cannot fail.
                let _ = write!(text, "\n\n### {path}\n\n{}", unlike(said.trim_end()));
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
/// project's root down, which must not lead out of the project.
fn instructions(folder: &Path) -> Vec<(PathBuf, Option<PathBuf>)> {
    let places = Places::of(folder);
    let user = places.user.iter().map(|user| (user.join("AGENTS.md"), None));
    let root = places.root();
    let project = places.project().into_iter().rev();
    let project = project.map(|folder| (folder.join("AGENTS.md"), Some(root.to_owned())));
    user.chain(project).collect()
}

/// What a file says, without lines that pass for the other parts of the role.
fn unlike(said: &str) -> String {
    let is_ours = |line: &&str| {
        let title = line.trim_start_matches('#').trim().to_lowercase();
        line.starts_with('#')
            && (title == "environment" || title == "your task" || title.ends_with("agents.md"))
    };
    let mut lines = Vec::new();
    for line in said.lines() {
        let seen = line.trim_start_matches(|c: char| c.is_whitespace() || is_hidden(c));
        lines.push(match Some(seen).filter(is_ours) {
            Some(ours) => format!("\\{ours}"),
            None => line.to_owned(),
        });
    }
    lines.join("\n")
}

/// What a file says; none, if there is none.
async fn read(path: &Path, within: Option<&Path>) -> Option<String> {
    use tokio::io::AsyncReadExt as _;
    // To open a pipe would wait for whoever is at its other end.
    if !tokio::fs::metadata(path).await.ok()?.is_file() {
        return None;
    }
    if let Some(project) = within {
        let (file, project) = (path.canonicalize().ok()?, project.canonicalize().ok()?);
        // A project may come from anybody, and name any file of the user's.
        if !file.starts_with(project) {
            return Some("(It leads out of the project, and is left out.)".to_owned());
        }
    }
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
    let folder = shown(&folder.display().to_string()).into_owned();
    format!("Folder: {folder}\nSystem: {system} ({machine})")
}
