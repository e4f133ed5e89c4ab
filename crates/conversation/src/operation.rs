//! Operations on the view, as data. Files and the command line use it.

use interleaf_model::{Message, Role};
use serde::{Deserialize, Serialize};

/// A change of the view: `{"truncate": {"keep_last": 5, "role": "user"}}`.
///
/// The form with the name in front is read as well, and so are fields in camel case:
///
/// ```
/// use interleaf_conversation::Operation;
///
/// let short = r#"{"truncate": {"role": "user", "keep_last": 5}}"#;
/// let long = r#"{"operation": "truncate", "truncate": {"role": "user", "keepLast": 5}}"#;
/// assert_eq!(Operation::from_json(short)?, Operation::from_json(long)?);
///
/// let negative = Operation::from_json(r#"{"truncate": {"keep_last": -1}}"#).unwrap_err();
/// assert_eq!(negative.place().path, "truncate.keep_last");
/// # Ok::<(), interleaf_model::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", try_from = "OperationForm")]
pub enum Operation {
    /// Hide by position.
    Truncate(Truncate),
    /// Show new messages at a position.
    Insert(Insert),
    /// Show a new message in place of another.
    Replace(Replace),
    /// Hide everything.
    Clear(Clear),
    /// Hide by role or text.
    Filter(Filter),
}

/// An operation as JSON says it. The name in front may be all, where the operation has no
/// settings.
#[derive(Default, Deserialize)]
#[serde(remote = "Self", default, deny_unknown_fields)]
struct OperationForm {
    operation: Option<String>,
    truncate: Option<Truncate>,
    insert: Option<Insert>,
    replace: Option<Replace>,
    clear: Option<Clear>,
    filter: Option<Filter>,
}

interleaf_model::only_objects!(read: OperationForm);

/// Hides messages by position.
///
/// One of `keep_first`, `keep_last`, `remove_first`, `remove_last`, `range` says
/// which stay; `keep_first` with `keep_last` keeps both ends, `remove_first` with
/// `remove_last` cuts both. Pinned messages stay, and without `role` system messages too.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(remote = "Self", default, deny_unknown_fields)]
pub struct Truncate {
    /// How many to keep at the start. More than there are keeps all.
    #[serde(skip_serializing_if = "Option::is_none", alias = "keepFirst")]
    pub keep_first: Option<usize>,
    /// How many to keep at the end; 0 keeps none.
    #[serde(skip_serializing_if = "Option::is_none", alias = "keepLast")]
    pub keep_last: Option<usize>,
    /// How many to hide at the start.
    #[serde(skip_serializing_if = "Option::is_none", alias = "removeFirst")]
    pub remove_first: Option<usize>,
    /// How many to hide at the end; 0 hides none.
    #[serde(skip_serializing_if = "Option::is_none", alias = "removeLast")]
    pub remove_last: Option<usize>,
    /// Keep these positions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<Span>,
    /// Count only messages of this role.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// With `role`: what happens to the other roles. Hidden, if it is not said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub others: Option<Others>,
    /// Without `role`: leave system messages visible, beside those that are counted. So it is
    /// unless it is said.
    #[serde(skip_serializing_if = "Option::is_none", alias = "keepSystem")]
    pub keep_system: Option<bool>,
    /// Allow part of a tool block to stay visible.
    #[serde(skip_serializing_if = "std::ops::Not::not", alias = "splitBlocks")]
    pub split_blocks: bool,
}

/// Positions from `start` up to, but without, `end`; both counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self", deny_unknown_fields)]
pub struct Span {
    /// The first position.
    pub start: usize,
    /// The position after the last.
    pub end: usize,
}

/// What a truncation by role does to the other roles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Others {
    /// They are hidden.
    Hide,
    /// They are left alone.
    Keep,
}

/// Shows new messages at a position of the view.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", deny_unknown_fields)]
pub struct Insert {
    /// Before the message that stands at this position now; the length of the view
    /// means at its end.
    pub position: usize,
    /// The new messages.
    pub messages: Vec<Message>,
    /// Allow a position inside a tool block.
    #[serde(default, skip_serializing_if = "std::ops::Not::not", alias = "splitBlocks")]
    pub split_blocks: bool,
}

/// Shows a new message in place of another, which stays in the log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", deny_unknown_fields)]
pub struct Replace {
    /// The position in the view.
    pub index: usize,
    /// The new message.
    pub message: Message,
    /// Allow it to leave calls without their results, or results without a call.
    #[serde(default, skip_serializing_if = "std::ops::Not::not", alias = "splitBlocks")]
    pub split_blocks: bool,
}

/// Hides everything, pinned messages too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self", default, deny_unknown_fields)]
pub struct Clear {
    /// Leave system messages visible; so it is unless it is said.
    #[serde(alias = "keepSystem", alias = "keep_system_message", alias = "keepSystemMessage")]
    pub keep_system: bool,
}

/// Hides what does not match. All criteria that are given must hold.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(remote = "Self", default, deny_unknown_fields)]
pub struct Filter {
    /// Keep messages of one of these roles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub roles: Option<Vec<Role>>,
    /// Keep messages whose text contains one of these.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(alias = "content_contains", alias = "contentContains")]
    pub contains: Option<Vec<String>>,
    /// Hide messages whose text contains one of these.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(alias = "content_excludes", alias = "contentExcludes")]
    pub excludes: Option<Vec<String>>,
    /// Allow part of a tool block to stay visible.
    #[serde(skip_serializing_if = "std::ops::Not::not", alias = "splitBlocks")]
    pub split_blocks: bool,
}

interleaf_model::only_objects!(Truncate, Span, Insert, Replace, Clear, Filter);

impl Default for Clear {
    fn default() -> Self {
        Self { keep_system: true }
    }
}

impl TryFrom<OperationForm> for Operation {
    type Error = String;

    fn try_from(form: OperationForm) -> Result<Self, String> {
        let OperationForm { operation: name, truncate, insert, replace, clear, filter } = form;
        let given = [
            truncate.map(Self::Truncate),
            insert.map(Self::Insert),
            replace.map(Self::Replace),
            clear.map(Self::Clear),
            filter.map(Self::Filter),
        ];
        let mut given = given.into_iter().flatten();
        match (name.as_deref(), given.next(), given.next()) {
            (_, Some(one), Some(other)) => {
                let (one, other) = (one.name(), other.name());
                Err(format!("`{one}` and `{other}` are two operations; one at a time"))
            }
            (None, Some(one), None) => Ok(one),
            (Some(name), Some(one), None) if name == one.name() => Ok(one),
            (Some(name), Some(one), None) => Err(format!(
                "`operation` says {name:?}, and the settings are those of `{}`",
                one.name()
            )),
            (Some("clear"), None, _) => Ok(Self::Clear(Clear::default())),
            (Some(name), None, _) if NAMES.contains(&name) => {
                Err(format!("`operation` says {name:?}, so it needs a field `{name}`"))
            }
            (name, None, _) => {
                let said = name.map_or_else(String::new, |name| format!(", not {name:?}"));
                Err(format!("an operation is one of {}{said}", NAMES.join(", ")))
            }
        }
    }
}

/// The names of all operations.
const NAMES: [&str; 5] = ["truncate", "insert", "replace", "clear", "filter"];

impl Operation {
    /// Reads an operation.
    ///
    /// # Errors
    /// If the text is none; the error names the field and the rule.
    pub fn from_json(text: &str) -> Result<Self, interleaf_model::Error> {
        interleaf_model::read_json(text)
    }

    /// The operation's name, as in its JSON form.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Truncate(_) => "truncate",
            Self::Insert(_) => "insert",
            Self::Replace(_) => "replace",
            Self::Clear(_) => "clear",
            Self::Filter(_) => "filter",
        }
    }
}
