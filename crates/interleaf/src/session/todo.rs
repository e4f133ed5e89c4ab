//! The TODO list: nested items, each a record of its own (C12).

use std::fmt::Write as _;
use std::sync::Arc;

use interleaf_assemble::{Agent, ContextText};
use interleaf_model::{ContextKind, Timestamp};
use interleaf_store::{RecordChange, RecordKind};
use serde::{Deserialize, Serialize};

use super::one_line::one_line;
use super::records::{Records, expired_only, put};
use super::{Session, now};
use crate::Error;

const HEADING: &str = "## TODO\n";

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
    /// From then on it is not shown any more, nor is what stands under it.
    pub until: Option<Timestamp>,
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
#[serde(remote = "Self", deny_unknown_fields)]
pub(super) struct TodoBody {
    text: String,
    #[serde(default)]
    status: TodoStatus,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    until: Option<Timestamp>,
}

interleaf_model::only_objects!(TodoBody);

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
    /// If the store refuses. An item that cannot be read is left out; see
    /// [`Session::damaged_records`].
    pub async fn items(&mut self) -> Result<Vec<TodoItem>, Error> {
        Ok(self.0.kept().await?.todo.values().cloned().collect())
    }

    /// The list as the main agent sees it.
    ///
    /// # Errors
    /// As [`items`](Self::items).
    pub async fn text(&mut self) -> Result<String, Error> {
        let text = render(self.0.kept().await?, &Agent::Main, now()?);
        Ok(format!("{HEADING}{}", text.map_or(Arc::default(), |text| text.text)))
    }

    /// The list as its keeper sees it: with the items that have expired, which no request
    /// shows, and with the time until which each holds.
    ///
    /// # Errors
    /// As [`items`](Self::items).
    pub async fn listing(&mut self) -> Result<String, Error> {
        let kept = self.0.kept().await?;
        let until = |item: &TodoItem| item.until.map(|until| format!(" (until {until})"));
        let line =
            |item: &TodoItem| format!("{}{}\n", item.line(), until(item).unwrap_or_default());
        let mut out: String = kept.todo.values().map(line).collect();
        if is_all_done(kept.todo.values()) {
            out.push_str(ALL_DONE);
        }
        Ok(format!("{HEADING}{out}{}", kept.damaged_lines(&[RecordKind::Todo])))
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

    /// Says until when an item holds; nothing means that it holds until it is removed.
    ///
    /// # Errors
    /// If there is no such item, or another writer was first.
    pub async fn set_until(&mut self, id: &str, until: Option<Timestamp>) -> Result<(), Error> {
        let item = self.item(id).await?;
        self.write(TodoItem { until, ..item }).await
    }

    /// Removes an item and all under it.
    ///
    /// # Errors
    /// If there is no such item, or another writer was first.
    pub async fn remove(&mut self, id: &str) -> Result<(), Error> {
        let kept = self.0.kept().await?;
        let gone = place_of(id).filter(|place| kept.todo.contains_key(place));
        let changes: Vec<RecordChange> = match gone {
            Some(gone) => {
                let under = kept.todo.range(gone.clone()..);
                let under = under.take_while(|(place, _)| place.starts_with(&gone));
                under.map(|(_, item)| RecordChange::remove(RecordKind::Todo, item.id())).collect()
            }
            None if kept.damaged.contains_key(&(RecordKind::Todo, id.to_owned())) => {
                vec![RecordChange::remove(RecordKind::Todo, id)]
            }
            None => return Err(no_item(id)),
        };
        self.0.change_records(changes).await
    }

    async fn item(&mut self, id: &str) -> Result<TodoItem, Error> {
        let items = &self.0.kept().await?.todo;
        place_of(id).and_then(|place| items.get(&place).cloned()).ok_or_else(|| no_item(id))
    }

    async fn add_at(&mut self, parent: &[u32], text: &str) -> Result<String, Error> {
        let kept = self.0.kept().await?;
        let number = next_number(kept, parent).ok_or_else(|| Error::rule("the list is full"))?;
        let place = [parent, &[number]].concat();
        let (text, status) = (text.to_owned(), TodoStatus::Pending);
        let item = TodoItem { place, text, status, until: None };
        let id = item.id();
        self.write(item).await?;
        Ok(id)
    }

    async fn write(&mut self, item: TodoItem) -> Result<(), Error> {
        if item.text.trim().is_empty() {
            return Err(Error::rule("a TODO item must say something: its text is blank"));
        }
        let id = item.id();
        let TodoItem { text, status, until, .. } = item;
        let change = put(RecordKind::Todo, &id, &TodoBody { text, status, until })?;
        self.0.change_records(vec![change]).await
    }
}

impl TodoItem {
    pub(super) fn of(id: &str, body: TodoBody) -> Result<Self, String> {
        let wrong = || format!("{id:?} is not the id of a TODO item, such as 2.1");
        let place = place_of(id).ok_or_else(wrong)?;
        let TodoBody { text, status, until } = body;
        Ok(Self { place, text, status, until })
    }

    pub(super) fn place(&self) -> &[u32] {
        &self.place
    }

    /// Its id.
    pub fn id(&self) -> String {
        id_of(&self.place)
    }

    /// How deep it stands: 0 for an item of the list itself.
    pub fn depth(&self) -> usize {
        self.place.len() - 1
    }

    fn line(&self) -> String {
        let state = match self.status {
            TodoStatus::Pending => ' ',
            TodoStatus::InProgress => '~',
            TodoStatus::Done => 'x',
        };
        let indent = "  ".repeat(self.depth());
        format!("{indent}- [{state}] {} {}", self.id(), one_line(&self.text))
    }
}

fn id_of(place: &[u32]) -> String {
    place.iter().map(u32::to_string).collect::<Vec<_>>().join(".")
}

/// The place that an id names. Of each place there is one id: `01` is none.
pub(super) fn place_of(id: &str) -> Option<Vec<u32>> {
    let place: Vec<u32> = id.split('.').map(|n| n.parse().ok()).collect::<Option<_>>()?;
    (id_of(&place) == id).then_some(place)
}

fn no_item(id: &str) -> Error {
    Error::rule(format!("there is no TODO item {id:?}"))
}

/// The number after the last one under an item, or else one that is free.
fn next_number(kept: &Records, parent: &[u32]) -> Option<u32> {
    let above = [parent, &[u32::MAX, u32::MAX]].concat();
    let last = kept.todo.range(parent.to_vec()..above).next_back();
    let last = last.and_then(|(place, _)| place.get(parent.len()).copied());
    let is_free = |number: &u32| {
        let place = [parent, &[*number]].concat();
        let key = (RecordKind::Todo, id_of(&place));
        !kept.todo.contains_key(&place) && !kept.damaged.contains_key(&key)
    };
    let after = last.unwrap_or(0).checked_add(1);
    after.and_then(|next| (next..=u32::MAX).find(is_free)).or_else(|| (1..u32::MAX).find(is_free))
}

/// What is said below a list of which every item is done, so that nobody does one again.
const ALL_DONE: &str = "Every item is done: nothing of this list is left to do.\n";

fn is_all_done<'i>(items: impl IntoIterator<Item = &'i TodoItem>) -> bool {
    let mut items = items.into_iter().peekable();
    items.peek().is_some() && items.all(|item| item.status == TodoStatus::Done)
}

/// The list as an agent is shown it at a time; none if it is empty.
pub(super) fn render(kept: &Records, agent: &Agent, at: Timestamp) -> Option<ContextText> {
    let damaged = kept.damaged_lines(&[RecordKind::Todo]);
    let mut expired: Vec<&TodoItem> = Vec::new();
    let mut items: Vec<&TodoItem> = Vec::with_capacity(kept.todo.len());
    for item in kept.todo.values() {
        let is_under = expired.last().is_some_and(|above| item.place.starts_with(&above.place));
        if item.until.is_some_and(|until| until <= at) && !is_under {
            expired.push(item);
        } else if !is_under {
            items.push(item);
        }
    }
    let expired = expired.into_iter().map(TodoItem::id);
    if items.is_empty() && damaged.is_empty() {
        return expired_only(ContextKind::Todo, expired);
    }
    let mut out = String::new();
    if let Agent::Sub(_) = agent {
        out.push_str("This is the list of the main agent, for you to read. Do your own task.\n");
    }
    for item in &items {
        // Writing into a String cannot fail.
        let _ = writeln!(out, "{}", item.line());
    }
    if is_all_done(items) {
        out.push_str(ALL_DONE);
    }
    out.push_str(&damaged);
    Some(ContextText::new(ContextKind::Todo, out).without(expired))
}
