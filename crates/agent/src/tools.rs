//! Tools that come with the crate.
//!
//! | tools | what they are for |
//! |---|---|
//! | [`reading`] | `read`, `list` and `search` in the agent's folder |
//! | [`writing`] | `write`, `edit` and `run`; a [`Hook`](crate::Hook) can ask a person before |
//! | [`keeping`] | `todo_…`, `info_…` and `note_…`: what stands in every request |
//! | [`remembering`] | `recall` what is no longer shown, and `compact` |
//!
//! A server of MCP is a [`Toolbox`](crate::Toolbox): its tools are called `server__tool`.
//!
//! None leaves the folder of the agent, through links or otherwise; a command that `run` runs can
//! go anywhere, and so can a server of MCP.

/// Changes the session, after what others wrote meanwhile.
macro_rules! changed {
    ($scene:expr, |$session:ident| $change:expr) => {{
        let mut $session = $scene.session().await;
        $crate::again::written!(*$session, $change)
    }};
}

mod edit;
mod folder;
mod info;
mod list;
mod mcp;
mod note;
mod read;
mod recall;
mod run;
mod save;
mod search;
mod todo;
mod walk;
mod write;

use std::sync::{Arc, LazyLock};

pub(crate) use self::folder::leads_to_own;
use crate::settings::Settings;
use crate::{Tool, tool};

/// The groups, with the names of their tools.
static GROUPS: LazyLock<[(&str, Vec<String>); 4]> = LazyLock::new(|| {
    let names = |tools: Vec<Arc<dyn Tool>>| {
        tools.iter().map(|tool| tool.spec().name.to_string()).collect::<Vec<_>>()
    };
    [
        ("reading", names(reading())),
        ("writing", names(writing())),
        ("keeping", names(keeping())),
        ("remembering", names(remembering())),
    ]
});

/// All of them.
pub fn all() -> Vec<Arc<dyn Tool>> {
    [reading(), writing(), keeping(), remembering()].concat()
}

/// The names of the groups: `reading`, `writing`, `keeping` and `remembering`.
pub fn groups() -> impl Iterator<Item = &'static str> {
    GROUPS.iter().map(|(group, _)| *group)
}

/// The names of the tools of a group; none, if there is no such group.
pub fn names(group: &str) -> Vec<&'static str> {
    let found = GROUPS.iter().find(|(name, _)| *name == group);
    found.into_iter().flat_map(|(_, names)| names.iter().map(String::as_str)).collect()
}

/// Whether a tool is meant by what a person wrote: its name, its group, or the beginning of its
/// name with a star, such as `files__*` for all tools of the MCP server `files`.
pub fn is_meant(written: &str, tool: &str) -> bool {
    match written.strip_suffix('*') {
        Some(beginning) => tool.starts_with(beginning),
        None => written == tool || names(written).contains(&tool),
    }
}

/// What looks at files and changes nothing.
pub fn reading() -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(tool("read", read::WHAT, read::read).reads()),
        Arc::new(tool("list", list::WHAT, list::list).reads()),
        Arc::new(tool("search", search::WHAT, search::search).reads()),
    ]
}

/// What changes files and runs commands. A command is handed the variables of the environment,
/// without those that hold keys of the known vendors.
pub fn writing() -> Vec<Arc<dyn Tool>> {
    writing_without(Settings::default().withheld())
}

/// The same, whose commands are not handed these variables of the environment
/// ([`Settings::withheld`]). What a command looks for, it may still find elsewhere.
pub fn writing_without(variables: impl IntoIterator<Item = String>) -> Vec<Arc<dyn Tool>> {
    let withheld: Arc<[String]> = variables.into_iter().collect();
    vec![
        Arc::new(tool("write", write::WHAT, write::write)),
        Arc::new(tool("edit", edit::WHAT, edit::edit)),
        Arc::new(tool("run", run::WHAT, move |it, scene| run::run(it, scene, withheld.clone()))),
    ]
}

/// What keeps the TODO list, the useful information and the folder notes of the session.
pub fn keeping() -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(tool("todo_add", todo::ADD, todo::add)),
        Arc::new(tool("todo_set", todo::SET, todo::set)),
        Arc::new(tool("todo_remove", todo::REMOVE, todo::remove)),
        Arc::new(tool("info_add", info::ADD, info::add)),
        Arc::new(tool("info_remove", info::REMOVE, info::remove)),
        Arc::new(tool("note_add", note::ADD, note::add)),
        Arc::new(tool("note_remove", note::REMOVE, note::remove)),
    ]
}

/// The way back to what is no longer shown.
pub fn remembering() -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(tool(recall::NAME, recall::WHAT, recall::recall).reads()),
        Arc::new(tool("compact", recall::COMPACT, recall::compact).reads()),
    ]
}
