//! Where a person's files are looked for: in the user's own folder, and in a project.

use std::path::{Path, PathBuf};

/// Where settings, agents and instructions are looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Places {
    /// The user's own folder, such as `~/.config/interleaf`; none, if it is not known.
    pub user: Option<PathBuf>,
    /// The folder that an agent works in.
    pub folder: PathBuf,
}

impl Places {
    /// Those of a folder, and of the user who runs the program: `$XDG_CONFIG_HOME/interleaf`, or
    /// `~/.config/interleaf`.
    pub fn of(folder: impl Into<PathBuf>) -> Self {
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let config = set("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
        let home = || set("HOME").map(|home| Path::new(&home).join(".config"));
        let user = config.or_else(home).map(|folder| folder.join("interleaf"));
        Self { user, folder: folder.into() }
    }

    /// The same with another folder of the user's.
    #[must_use]
    pub fn with_user(mut self, user: impl Into<PathBuf>) -> Self {
        self.user = Some(user.into());
        self
    }

    /// The folders of the project, from this one up to its root, where `.git` is. Without a
    /// root, this one alone.
    pub fn project(&self) -> Vec<&Path> {
        let mut above: Vec<&Path> = self.folder.ancestors().collect();
        let root = above.iter().position(|folder| folder.join(".git").exists()).unwrap_or(0);
        above.truncate(root + 1);
        above
    }

    /// Whether a file is the project's, and not the user's own.
    pub fn has(&self, path: &Path) -> bool {
        let is_own = self.user.as_ref().is_some_and(|user| path.starts_with(user));
        path.starts_with(self.root()) && !is_own
    }

    /// The root of the project.
    pub fn root(&self) -> &Path {
        self.project().last().copied().unwrap_or(&self.folder)
    }
}
