//! Walking a folder, without what its ignore files name.
//!
//! A project may come from anywhere. So ignore files are read here, and not by the walker, which
//! would open whatever has their names: only regular files, as git does, and no long ones. A walk
//! ends when its time is over, or nobody waits for it any more.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use ignore::{DirEntry, Match, Walk, WalkBuilder};
use tokio::time::Instant;

use crate::Scene;

/// How long a walk may take.
pub(super) const LONGEST: Duration = Duration::from_secs(60);

/// The most bytes of an ignore file that is heeded.
const MOST: u64 = 64 * 1024;

/// The most bytes of all those that hold at one place.
const MOST_AT_ONCE: u64 = 1024 * 1024;

/// How much is named of what is left out.
const MOST_NAMED: usize = 5;

/// A walk that ends, and knows what it left out.
pub(super) struct Walking {
    walk: Walk,
    ends: Box<dyn Fn() -> bool + Send>,
    /// What was left out, and why: the first of it.
    left_out: Vec<(PathBuf, String)>,
    n_left_out: usize,
}

impl Walking {
    /// Begins to walk a folder, or looks at a file.
    pub(super) fn new(path: &Path, scene: &Scene, set: impl FnOnce(&mut WalkBuilder)) -> Self {
        Self::until(path, set, Self::ends(scene))
    }

    /// When a walk that begins now is to end.
    pub(super) fn ends(scene: &Scene) -> impl Fn() -> bool + Clone + Send + 'static {
        let (scene, begun) = (scene.clone(), Instant::now());
        move || scene.is_cut_short() || begun.elapsed() > LONGEST
    }

    pub(super) fn until(
        path: &Path,
        set: impl FnOnce(&mut WalkBuilder),
        ends: impl Fn() -> bool + Send + 'static,
    ) -> Self {
        let mut builder = WalkBuilder::new(path);
        builder.standard_filters(false);
        set(&mut builder);
        let ignored = Mutex::new(Ignored::default());
        builder.filter_entry(move |entry| {
            let mut ignored = ignored.lock().unwrap_or_else(PoisonError::into_inner);
            entry.file_name() != ".git" && !ignored.has(entry)
        });
        let walk = builder.build();
        Self { walk, ends: Box::new(ends), left_out: Vec::new(), n_left_out: 0 }
    }

    /// Whether it is to end.
    pub(super) fn is_over(&self) -> bool {
        (self.ends)()
    }

    /// Notes that something, or a part of it, is left out.
    pub(super) fn leave_out(&mut self, path: &Path, why: String) {
        self.n_left_out += 1;
        if self.left_out.len() < MOST_NAMED {
            self.left_out.push((path.to_owned(), why));
        }
    }

    /// Notes that something cannot be read.
    pub(super) fn unread(&mut self, path: &Path, error: &dyn std::fmt::Display) {
        self.leave_out(path, format!("cannot be read: {error}"));
    }

    /// What is said of what is left out: nothing, if all was looked at.
    pub(super) fn told(&self, name: impl Fn(&Path) -> String) -> Vec<String> {
        let named = self.left_out.iter().map(|(path, why)| format!("[… {}: {why} …]", name(path)));
        let mut said: Vec<String> = named.collect();
        if self.n_left_out > said.len() {
            said.push(format!("[… so it is with {} more …]", self.n_left_out - said.len()));
        }
        if self.is_over() {
            let seconds = LONGEST.as_secs();
            said.push(format!("[… not all was looked at: that takes more than {seconds} s …]"));
        }
        said
    }
}

impl Iterator for Walking {
    type Item = DirEntry;

    fn next(&mut self) -> Option<DirEntry> {
        while !self.is_over() {
            match self.walk.next()? {
                Ok(entry) => return Some(entry),
                Err(error) => {
                    // All that it says beside its kind is the whole path.
                    let kind = error.io_error().map(|error| error.kind().to_string());
                    self.unread(path_of(&error), &kind.unwrap_or_else(|| error.to_string()));
                }
            }
        }
        None
    }
}

/// What an error is about.
fn path_of(error: &ignore::Error) -> &Path {
    match error {
        ignore::Error::WithPath { path, .. } => path,
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => {
            path_of(err)
        }
        ignore::Error::Loop { child, .. } => child,
        _ => Path::new("something"),
    }
}

/// What the ignore files say of the folders from the root of the file system to where the walk is.
#[derive(Default)]
struct Ignored(Vec<Rules>);

/// What the ignore files of a folder say.
struct Rules {
    folder: PathBuf,
    ignore: Gitignore,
    git: Gitignore,
    /// What holds in a repository beside: of its own, and of the user's.
    beside: Option<[Gitignore; 2]>,
    size: u64,
}

impl Ignored {
    fn has(&mut self, entry: &DirEntry) -> bool {
        let path = entry.path();
        let Some(folder) = path.parent() else { return false };
        while self.0.last().is_some_and(|rules| !folder.starts_with(&rules.folder)) {
            self.0.pop();
        }
        let n_known = self.0.last().map_or(0, |rules| rules.folder.ancestors().count());
        let mut missing: Vec<&Path> = folder.ancestors().collect();
        missing.reverse();
        for folder in missing.split_off(n_known) {
            let room = MOST_AT_ONCE - self.0.iter().map(|rules| rules.size).sum::<u64>();
            self.0.push(Rules::of(folder, room));
        }
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        self.match_of(path, is_folder).is_ignore()
    }

    /// The nearest that says something holds; `.ignore` before what git goes by.
    fn match_of(&self, path: &Path, is_folder: bool) -> Match<()> {
        let said = |rules: &Gitignore| rules.matched(path, is_folder).map(drop);
        let by_ignore = self.0.iter().rev().map(|rules| said(&rules.ignore));
        let by_ignore = by_ignore.fold(Match::None, Match::or);
        // Outside of a repository, git says nothing.
        let Some(top) = self.0.iter().rposition(|rules| rules.beside.is_some()) else {
            return by_ignore;
        };
        let by_git = self.0[top..].iter().rev().map(|rules| said(&rules.git));
        let beside = self.0[top].beside.iter().flatten().map(said);
        by_git.chain(beside).fold(by_ignore, Match::or)
    }
}

impl Rules {
    fn of(folder: &Path, mut room: u64) -> Self {
        let before = room;
        let mut read = |name: &str| rules(folder, &folder.join(name), &mut room);
        let (ignore, git) = (read(".ignore"), read(".gitignore"));
        let is_top = [".git", ".jj"].iter().any(|name| folder.join(name).exists());
        let beside = is_top.then(|| [read(".git/info/exclude"), Gitignore::global().0]);
        Self { folder: folder.to_owned(), ignore, git, beside, size: before - room }
    }
}

/// What a file says of the folder, if it is one that is heeded.
fn rules(folder: &Path, path: &Path, room: &mut u64) -> Gitignore {
    let is_heeded = fs::symlink_metadata(path)
        .is_ok_and(|found| found.is_file() && found.len() <= MOST.min(*room));
    if !is_heeded {
        return Gitignore::empty();
    }
    let text = fs::read(path).unwrap_or_default();
    *room = room.saturating_sub(text.len() as u64);
    let text = String::from_utf8_lossy(&text);
    let mut builder = GitignoreBuilder::new(folder);
    for line in text.trim_start_matches('\u{feff}').lines() {
        // A line that says nothing is passed over, as git does.
        let _ = builder.add_line(None, line);
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path, ends: impl Fn() -> bool + Send + 'static) -> Vec<String> {
        let walking = Walking::until(folder, |_| {}, ends).filter(|entry| entry.depth() > 0);
        let below =
            |entry: DirEntry| entry.path().strip_prefix(folder).unwrap().display().to_string();
        let mut names: Vec<String> = walking.map(below).collect();
        names.sort();
        names
    }

    #[test]
    fn the_nearest_ignore_file_holds_and_git_s_only_in_a_repository() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        for name in ["a.log", "b/a.log", "b/c/a.log", "b/x", "t/y/z", "k"] {
            write(name, "");
        }
        write(".gitignore", "*.log\n/t/\n");
        write("b/.gitignore", "!a.log\n");
        write("b/c/.ignore", "a.log\n");
        let all = names(folder.path(), || false);
        let has = |all: &[String], name: &str| all.iter().any(|known| known == name);
        assert!(has(&all, "a.log") && has(&all, "t/y/z") && !has(&all, "b/c/a.log"), "{all:?}");
        write(".git/info/exclude", "k\n");
        let all = names(folder.path(), || false);
        assert_eq!(
            all,
            [".gitignore", "b", "b/.gitignore", "b/a.log", "b/c", "b/c/.ignore", "b/x"]
        );
        let below = names(&folder.path().join("b"), || false);
        assert_eq!(below, [".gitignore", "a.log", "c", "c/.ignore", "x"]);
    }

    #[test]
    fn a_walk_ends_when_it_is_to_end_and_says_so() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a"), "").unwrap();
        assert_eq!(names(folder.path(), || true), [""; 0]);
        let walking = Walking::until(folder.path(), |_| {}, || true);
        let said = walking.told(|path| path.display().to_string());
        assert!(said.iter().any(|said| said.contains("not all was looked at")), "{said:?}");
    }

    #[test]
    fn what_cannot_be_read_is_named_and_many_of_it_are_counted() {
        let folder = tempfile::tempdir().unwrap();
        let mut walking = Walking::until(&folder.path().join("gone"), |_| {}, || false);
        assert!(walking.next().is_none());
        let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
        let said = walking.told(name);
        assert!(said[0].starts_with("[… gone: cannot be read: entity not found"), "{said:?}");
        for n in 0..MOST_NAMED {
            walking.unread(&folder.path().join(format!("f{n}")), &"it is locked");
        }
        let said = walking.told(name);
        assert_eq!(said[1], "[… f0: cannot be read: it is locked …]");
        assert_eq!(said.last().unwrap(), "[… so it is with 1 more …]");
    }
}
