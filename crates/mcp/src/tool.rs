//! The tools of a server, in the order in which they were first seen.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use interleaf_model::Json;
use rmcp::model;

/// A tool of a server, as the server described it first.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ServerTool {
    /// Its name, at its server.
    pub name: String,
    /// What it does.
    pub description: String,
    /// A JSON Schema of its arguments.
    pub schema: Json,
    /// Whether the server says that it changes nothing.
    pub is_read_only: bool,
    /// Whether the server has it now. One that is gone stays in the list.
    pub is_there: bool,
}

impl ServerTool {
    fn new(tool: model::Tool) -> Self {
        let hints = tool.annotations.unwrap_or_default();
        let title = tool.title.or(hints.title);
        let description = tool.description.map(String::from).or(title).unwrap_or_default();
        let schema = serde_json::Value::Object((*tool.input_schema).clone());
        Self {
            name: tool.name.into_owned(),
            description,
            schema: schema.into(),
            is_read_only: hints.read_only_hint == Some(true),
            is_there: true,
        }
    }
}

/// What a server has been seen to have.
#[derive(Debug, Clone, Default)]
pub(crate) struct ToolList {
    tools: Arc<Mutex<Vec<ServerTool>>>,
    /// The names of all that it has now, though they are not offered.
    names: Arc<Mutex<Vec<String>>>,
}

impl ToolList {
    pub(crate) fn all(&self) -> Vec<ServerTool> {
        self.with(|tools| tools.clone())
    }

    pub(crate) fn find(&self, name: &str) -> Option<ServerTool> {
        self.with(|tools| tools.iter().find(|tool| tool.name == name).cloned())
    }

    /// The names of all that the server has now.
    pub(crate) fn names(&self) -> Vec<String> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Takes in what the server has now: new tools go to the end, and those that it has no
    /// longer stay.
    pub(crate) fn take_in(&self, now: Vec<model::Tool>, offers: impl Fn(&str) -> bool) {
        let names = now.iter().map(|tool| tool.name.to_string()).collect();
        *self.names.lock().unwrap_or_else(PoisonError::into_inner) = names;
        self.with(|tools| {
            let names: HashSet<&str> = now.iter().map(|tool| &*tool.name).collect();
            for tool in tools.iter_mut() {
                tool.is_there = names.contains(&*tool.name);
            }
            for tool in now.iter().filter(|tool| offers(&tool.name)) {
                if !tools.iter().any(|known| known.name == *tool.name) {
                    tools.push(ServerTool::new(tool.clone()));
                }
            }
        });
    }

    fn with<T>(&self, act: impl FnOnce(&mut Vec<ServerTool>) -> T) -> T {
        act(&mut self.tools.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
