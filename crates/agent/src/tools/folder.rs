//! The folder that an agent works in, which its tools do not leave.

use std::io;
use std::path::{Component, Path, PathBuf};

use interleaf::model::{is_hidden, shown};

use crate::settings::at_home;
use crate::{Places, Scene, ToolError};

/// The most bytes of a file that is edited or written.
const MOST: u64 = 32 * 1024 * 1024;

/// Refuses what would make a file too large.
pub(super) fn not_too_large(path: &str, size: u64) -> Result<(), ToolError> {
    match size > MOST {
        true => Err(ToolError::new(format!(
            "{path:?} would have {size} bytes, and {MOST} may be: nothing is written"
        ))),
        false => Ok(()),
    }
}

/// The most bytes of a path, on most systems.
const LONGEST: usize = 4_096;

/// Files and folders that say what an agent is or may do, or that other programs run commands of
/// by themselves. What may write otherwise may not write these unasked: an agent would allow itself
/// the rest. What somebody has to start, such as a Makefile, is not among them.
const OWN: &[&str] = &[
    // Of agents: permissions, roles, servers to start.
    "interleaf.toml",
    ".interleaf",
    "AGENTS.md",
    "CLAUDE.md",
    ".claude",
    ".mcp.json",
    ".opencode",
    "opencode.json",
    "opencode.jsonc",
    ".codex",
    ".cursor",
    // Of repositories: hooks, and programs that their settings name.
    ".git",
    ".hg",
    ".svn",
    ".jj",
    ".husky",
    // Of editors and shells: what runs when a folder is opened or entered.
    ".vscode",
    ".idea",
    ".zed",
    ".devcontainer",
    ".envrc",
];

/// Where a path leads to when its links are followed.
struct Place {
    path: PathBuf,
    root: PathBuf,
    is_by_link: bool,
}

/// The file or folder that a path of the model's names. It must lie in the agent's folder, also
/// when links are followed; it need not exist.
pub(super) fn inside(scene: &Scene, path: &str) -> Result<PathBuf, ToolError> {
    place(scene.folder(), path).map(|place| place.path)
}

/// The same for what is written. What says what an agent may do must be called by its name: a
/// link may lead to it only since the call was allowed.
pub(super) fn to_write(scene: &Scene, path: &str) -> Result<PathBuf, ToolError> {
    let place = place(scene.folder(), path)?;
    if place.is_by_link && place.is_own() && !names_own(path) {
        let own = told(scene, &place.path);
        return Err(ToolError::new(format!(
            "{path:?} leads to {own}, which is written by its own name alone: name that"
        )));
    }
    Ok(place.path)
}

/// Whether a path, or where it leads to, is what says what an agent may do. A path may lead out
/// of the folder: servers of MCP can go there. What a `file:` address leads to is not looked for.
pub(crate) fn leads_to_own(folder: &Path, path: &str) -> bool {
    let is_address = path.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("file:"));
    // A longer text is the path of nothing.
    let is_path = path.len() <= LONGEST;
    let leads_there = || resolved(folder, at_home(path.as_ref())).is_ok_and(|it| it.is_own());
    is_address || names_own(path) || is_path && leads_there()
}

/// Whether a part of a path is what says what an agent may do. Some file systems take no note of
/// case, nor of characters that show nothing.
fn names_own(path: &str) -> bool {
    path.split(['/', '\\']).any(|part| {
        let part: String = part.chars().filter(|c| !is_hidden(*c)).collect();
        OWN.iter().any(|own| part.eq_ignore_ascii_case(own))
    })
}

impl Place {
    fn is_own(&self) -> bool {
        let inside = self.path.strip_prefix(&self.root);
        let below = inside.unwrap_or(&self.path);
        let n_below = below.components().count();
        let user = Places::of(&*self.root).user;
        let is_users = user.and_then(|user| user.canonicalize().ok());
        names_own(&below.to_string_lossy())
            || is_users.is_some_and(|user| self.path.starts_with(user))
            || self.path.ancestors().take(n_below + 1).any(is_git)
    }
}

/// Whether a folder is what `.git` usually is: a file of that name, or nothing, may stand for it.
fn is_git(folder: &Path) -> bool {
    let has = |name: &str| folder.join(name).symlink_metadata().is_ok();
    has("HEAD") && (has("objects") && has("refs") || has("commondir"))
}

fn place(folder: &Path, path: &str) -> Result<Place, ToolError> {
    let outside = || ToolError::new(format!("{path:?} is outside of the folder"));
    let place = resolved(folder, path).map_err(|_| outside())?;
    match place.path.starts_with(&place.root) {
        true => Ok(place),
        false => Err(outside()),
    }
}

/// Where a path leads to, inside of the folder or not.
fn resolved(folder: &Path, path: impl AsRef<Path>) -> io::Result<Place> {
    let root = folder.canonicalize()?;
    let (mut place, mut is_by_link) = (root.clone(), false);
    for component in root.join(path).components() {
        match component {
            Component::ParentDir => {
                place.pop();
            }
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => place = component.as_os_str().into(),
            Component::Normal(name) => {
                place.push(name);
                // A link may lead elsewhere, and `..` after it to where that is.
                if place.symlink_metadata().is_ok_and(|data| data.is_symlink()) {
                    place = place.canonicalize()?;
                    is_by_link = true;
                }
            }
        }
    }
    Ok(Place { path: place, root, is_by_link })
}

/// Why a file cannot be read.
pub(super) fn unread(path: &str, error: &std::io::Error) -> ToolError {
    ToolError::new(format!("{path:?} cannot be read: {error}"))
}

/// Refuses what is no file: to open a pipe would wait for whoever is at its other end.
pub(super) async fn regular(path: &Path, name: &str) -> Result<std::fs::Metadata, ToolError> {
    let data = tokio::fs::metadata(path).await.map_err(|e| unread(name, &e))?;
    match data.is_file() {
        true => Ok(data),
        false => Err(ToolError::new(format!("{name:?} is no file"))),
    }
}

/// A path as the model is told it, on one line.
pub(super) fn told(scene: &Scene, path: &Path) -> String {
    let root = scene.folder().canonicalize().unwrap_or_else(|_| scene.folder().to_owned());
    let short = path.strip_prefix(&root).unwrap_or(path);
    match short.as_os_str().is_empty() {
        true => ".".to_owned(),
        false => shown(&short.display().to_string()).into_owned(),
    }
}
