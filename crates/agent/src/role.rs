//! The role of an agent, as its requests state it (C10).
//!
//! The role itself, what AGENTS.md says (the user's own, then the project's), the environment,
//! and for a sub-agent how it ends. Nothing of it changes by the minute.

use std::fmt::Write as _;
use std::io;
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

/// What a file says, without headings that pass for the other parts of the role, however Markdown
/// writes them.
fn unlike(said: &str) -> String {
    let lines: Vec<&str> = said.lines().collect();
    let mut out = Vec::with_capacity(lines.len());
    for (n, line) in lines.iter().enumerate() {
        let seen = line.trim_start_matches(|c: char| c.is_whitespace() || is_hidden(c));
        let is_underlined = lines.get(n + 1).is_some_and(|next| underlines(next));
        let is_heading = seen.starts_with(is_hash) || is_underlined;
        out.push(match is_heading && is_ours(seen) {
            true => format!("\\{seen}"),
            false => (*line).to_owned(),
        });
    }
    out.join("\n")
}

/// Whether it makes a heading of the line before it.
fn underlines(line: &str) -> bool {
    let line = line.trim();
    !line.is_empty() && (line.chars().all(|c| c == '-') || line.chars().all(|c| c == '='))
}

fn is_hash(c: char) -> bool {
    narrow(c) == '#'
}

/// The letter that a full-width one looks like.
fn narrow(c: char) -> char {
    match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(c as u32 - 0xfee0).unwrap_or(c),
        _ => c,
    }
}

/// Whether a heading reads as one of the engine's. Only letters and digits tell: stars, colons and
/// marks at the end change nothing for whoever reads it.
fn is_ours(heading: &str) -> bool {
    let letters = heading.chars().map(narrow).filter(|c| c.is_alphanumeric());
    let title: String = letters.flat_map(char::to_lowercase).collect();
    title == "environment" || title == "yourtask" || title.ends_with("agentsmd")
}

/// What a file says, or why it cannot be read; none, if there is none or it is blank.
async fn read(path: &Path, within: Option<&Path>) -> Option<String> {
    match text_of(path, within).await {
        Ok(text) => (!text.trim().is_empty()).then_some(text),
        Err(_) if path.symlink_metadata().is_err() => None,
        Err(error) => Some(format!("(It cannot be read: {error}.)")),
    }
}

async fn text_of(path: &Path, within: Option<&Path>) -> io::Result<String> {
    use tokio::io::AsyncReadExt as _;
    // To open a pipe would wait for whoever is at its other end.
    if !tokio::fs::metadata(path).await?.is_file() {
        return Err(io::Error::other("it is no file"));
    }
    // A project may come from anybody, and name any file of the user's.
    if let Some(project) = within
        && !path.canonicalize()?.starts_with(project.canonicalize()?)
    {
        return Ok("(It leads out of the project, and is left out.)".to_owned());
    }
    let mut bytes = Vec::new();
    tokio::fs::File::open(path).await?.take(LONGEST).read_to_end(&mut bytes).await?;
    let mut text = String::from_utf8_lossy(&bytes).into_owned();
    if bytes.len() as u64 == LONGEST {
        text.push_str("\n(The file goes on.)");
    }
    Ok(text)
}

fn environment(folder: &Path) -> String {
    let (system, machine) = (std::env::consts::OS, std::env::consts::ARCH);
    let folder = shown(&folder.display().to_string()).into_owned();
    format!("Folder: {folder}\nSystem: {system} ({machine})")
}
