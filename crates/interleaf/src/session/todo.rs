//! The TODO list: nested items, each a record of its own (C12).

use std::fmt::Write as _;

use interleaf_assemble::Agent;
use interleaf_store::{RecordChange, RecordKind};
use serde::{Deserialize, Serialize};

use super::Session;
use super::records::put;
use crate::Error;

/// An item of the TODO list. Its id says where it stands: `2.1` is the first item
/// under `2`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TodoItem {
    /// Its place among the items, from the outside in.
    place: Vec<u32>,
    /// What is to be done.
    pub text: String,
    /// How far it is.
    pub status: TodoStatus,
}

/// How far an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TodoStatus {
    /// It is not begun.
    #[default]
    Pending,
    /// It is being done.
    InProgress,
    /// It is done.
    Done,
}

/// An item as it is stored.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TodoBody {
    text: String,
    #[serde(default)]
    status: TodoStatus,
}

/// The TODO list of a session. It stands in every request whose recipe has none.
///
/// ```
/// use interleaf::{Session, TodoStatus, store};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let mut session = Session::create(store::open("memory:").await?, "").await?;
/// let mut todo = session.todo();
/// let tests = todo.add("mend the tests").await?;
/// let first = todo.add_under(&tests, "find out why").await?;
/// todo.set(&first, TodoStatus::Done).await?;
/// assert_eq!((tests.as_str(), first.as_str()), ("1", "1.1"));
/// assert_eq!(todo.text().await?, "## TODO\n- [ ] 1 mend the tests\n  - [x] 1.1 find out why\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug)]
pub struct Todo<'s>(&'s mut Session);

impl Session {
    /// The TODO list.
    pub fn todo(&mut self) -> Todo<'_> {
        Todo(self)
    }
}

impl Todo<'_> {
    /// Every item, in the order in which they are shown.
    ///
    /// # Errors
    /// If the store refuses, or an item is damaged.
    pub async fn items(&mut self) -> Result<Vec<TodoItem>, Error> {
        let mut items = self.0.kept().await?.todo.clone();
        items.sort_by(|a, b| a.place.cmp(&b.place));
        Ok(items)
    }

    /// The list as the main agent sees it.
    ///
    /// # Errors
    /// As [`items`](Self::items).
    pub async fn text(&mut self) -> Result<String, Error> {
        Ok(render(&self.0.kept().await?.todo, &Agent::Main))
    }

    /// Adds an item at the end, and gives its id.
    ///
    /// # Errors
    /// If the text is blank, or another writer was first.
    pub async fn add(&mut self, text: &str) -> Result<String, Error> {
        self.add_at(&[], text).await
    }

    /// Adds an item under another, and gives its id.
    ///
    /// # Errors
    /// If there is no such item, the text is blank, or another writer was first.
    pub async fn add_under(&mut self, id: &str, text: &str) -> Result<String, Error> {
        let parent = self.item(id).await?;
        self.add_at(&parent.place, text).await
    }

    /// Says how far an item is.
    ///
    /// # Errors
    /// If there is no such item, or another writer was first.
    pub async fn set(&mut self, id: &str, status: TodoStatus) -> Result<(), Error> {
        let item = self.item(id).await?;
        self.write(TodoItem { status, ..item }).await
    }

    /// Says an item in other words.
    ///
    /// # Errors
    /// If there is no such item, the text is blank, or another writer was first.
    pub async fn rewrite(&mut self, id: &str, text: &str) -> Result<(), Error> {
        let item = self.item(id).await?;
        self.write(TodoItem { text: text.to_owned(), ..item }).await
    }

    /// Removes an item and all under it.
    ///
    /// # Errors
    /// If there is no such item, or another writer was first.
    pub async fn remove(&mut self, id: &str) -> Result<(), Error> {
        let gone = self.item(id).await?;
        let items = self.0.kept().await?.todo.iter();
        let under = items.filter(|item| item.place.starts_with(&gone.place));
        let changes = under.map(|item| RecordChange::remove(RecordKind::Todo, item.id())).collect();
        self.0.change_records(changes).await
    }

    async fn item(&mut self, id: &str) -> Result<TodoItem, Error> {
        let found = self.0.kept().await?.todo.iter().find(|item| item.id() == id).cloned();
        found.ok_or_else(|| Error::rule(format!("there is no TODO item {id:?}")))
    }

    async fn add_at(&mut self, parent: &[u32], text: &str) -> Result<String, Error> {
        let items = self.0.kept().await?.todo.iter();
        let siblings = items.filter_map(|item| match item.place.split_last() {
            Some((last, above)) if above == parent => Some(*last),
            _ => None,
        });
        let next = siblings.max().unwrap_or(0).saturating_add(1);
        let place = [parent, &[next]].concat();
        let item = TodoItem { place, text: text.to_owned(), status: TodoStatus::Pending };
        let id = item.id();
        self.write(item).await?;
        Ok(id)
    }

    async fn write(&mut self, item: TodoItem) -> Result<(), Error> {
        if item.text.trim().is_empty() {
            return Err(Error::rule("a TODO item must say something: its text is blank"));
        }
        let id = item.id();
        let change =
            put(RecordKind::Todo, &id, &TodoBody { text: item.text, status: item.status })?;
        self.0.change_records(vec![change]).await
    }
}

impl TodoItem {
    pub(super) fn of(id: &str, body: TodoBody) -> Result<Self, Error> {
        let place: Result<Vec<u32>, _> = id.split('.').map(str::parse).collect();
        let wrong = |_| Error::rule(format!("{id:?} is no id of a TODO item, such as 2.1"));
        Ok(Self { place: place.map_err(wrong)?, text: body.text, status: body.status })
    }

    /// Its id.
    pub fn id(&self) -> String {
        self.place.iter().map(u32::to_string).collect::<Vec<_>>().join(".")
    }

    /// How deep it stands: 0 for an item of the list itself.
    pub fn depth(&self) -> usize {
        self.place.len() - 1
    }
}

/// The list as an agent is shown it.
pub(super) fn render(items: &[TodoItem], agent: &Agent) -> String {
    let mut items: Vec<&TodoItem> = items.iter().collect();
    items.sort_by(|a, b| a.place.cmp(&b.place));
    let mut out = String::from("## TODO\n");
    if let Agent::Sub(_) = agent {
        out.push_str("This is the list of the main agent, for you to read. Do your own task.\n");
    }
    for item in items {
        let state = match item.status {
            TodoStatus::Pending => ' ',
            TodoStatus::InProgress => '~',
            TodoStatus::Done => 'x',
        };
        let indent = "  ".repeat(item.depth());
        // A line of its own could pass for another item.
        let text = item.text.replace('\n', " ");
        // Writing into a String cannot fail.
        let _ = writeln!(out, "{indent}- [{state}] {} {text}", item.id());
    }
    out
}
