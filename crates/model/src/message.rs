//! The message: an envelope around a body whose role decides what it may hold.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{
    AgentName, Arguments, AssistantPart, CallId, ContentPart, Error, ErrorKind, Extra, MessageId,
    PartRef, SystemPart, Text, Timestamp, ToolCall, ToolName,
};

/// One message of a conversation.
///
/// ```
/// use interleaf_model::{Image, Message, Role};
///
/// let asked = Message::user("What is this?");
/// let shown = Message::user_parts(["And this?".into(), Image::base64("image/png", "aGk=").into()])?;
/// assert_eq!((asked.role(), shown.parts().count()), (Role::User, 2));
/// # Ok::<(), interleaf_model::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Its name for ever; unassigned until it is appended.
    pub id: MessageId,
    /// When it was said, where known.
    pub at: Option<Timestamp>,
    /// Whose conversation it belongs to.
    pub origin: Origin,
    /// Who speaks, and what.
    pub body: Body,
    /// What a vendor attached to the message as a whole.
    pub extra: Extra,
}

/// Who speaks, and what they may say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// Instructions.
    System(Parts<SystemPart>),
    /// A person, or whatever stands in for one.
    User(Parts<ContentPart>),
    /// The model.
    Assistant(Parts<AssistantPart>),
    /// A tool, answering one call.
    Tool(ToolResult),
}

/// What a tool answered to one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolResult {
    /// The call that it answers.
    pub call: CallId,
    /// The tool's name, where known.
    pub name: Option<ToolName>,
    /// Whether the tool did its work.
    pub status: Status,
    /// What it said.
    pub parts: Parts<ContentPart>,
}

/// Whether a tool did its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Status {
    /// It did.
    #[default]
    Ok,
    /// It failed; the parts say how.
    Error,
}

/// Whose conversation a message belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub enum Origin {
    /// The main agent's.
    #[default]
    Main,
    /// A sub-agent's own loop. Only that sub-agent's requests carry it.
    SubAgent(AgentName),
    /// The program's own notes. No request carries it.
    Internal,
}

/// The four roles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Instructions.
    System,
    /// A person.
    User,
    /// The model.
    Assistant,
    /// A tool.
    Tool,
}

/// At least one part, in order.
#[derive(Clone, PartialEq, Eq)]
pub struct Parts<T>(Vec<T>);

impl<T> Parts<T> {
    /// Takes a list of parts.
    ///
    /// # Errors
    /// If the list is empty: a message says something, if only an empty text.
    pub fn new(mut parts: Vec<T>) -> Result<Self, Error> {
        if parts.is_empty() {
            return Err(Error::rule("a message needs at least one part"));
        }
        // Most lists grew by pushing, and have room for four where there is one.
        parts.shrink_to_fit();
        Ok(Self(parts))
    }

    /// Exactly one part.
    pub fn one(part: T) -> Self {
        Self(vec![part])
    }

    /// The list.
    pub fn into_vec(self) -> Vec<T> {
        self.0
    }
}

impl<T> Deref for Parts<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T: fmt::Debug> fmt::Debug for Parts<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Role {
    /// All roles, in the order in which they are listed everywhere.
    pub const ALL: [Self; 4] = [Self::System, Self::User, Self::Assistant, Self::Tool];

    /// The role's name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Role {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::ALL.into_iter().find(|role| role.as_str() == text).ok_or_else(|| {
            Error::new(
                ErrorKind::Form,
                format!("unknown role {text:?}: it must be system, user, assistant or tool"),
            )
        })
    }
}

impl ToolCall {
    /// A call of a tool, with arguments as a model writes them.
    ///
    /// ```
    /// use interleaf_model::{Message, ToolCall};
    ///
    /// let call = ToolCall::new("c1", "read_file", r#"{"path":"a.rs"}"#)?;
    /// let said = Message::assistant_parts([call.clone().into()])?;
    /// assert_eq!(said.calls().next(), Some(&call));
    /// # Ok::<(), interleaf_model::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the id is empty.
    pub fn new(id: &str, name: &str, arguments: &str) -> Result<Self, Error> {
        let (id, name) = (CallId::new(id)?, ToolName::new(name));
        Ok(Self { id, name, arguments: Arguments::from_text(arguments), extra: Extra::NONE })
    }

    /// What the tool answered to this call.
    pub fn result(&self, text: &str) -> Message {
        self.answered(Status::Ok, text)
    }

    /// Why the tool could not do what this call asks for.
    pub fn failure(&self, text: &str) -> Message {
        self.answered(Status::Error, text)
    }

    fn answered(&self, status: Status, text: &str) -> Message {
        let parts = Parts::one(ContentPart::Text(Text::new(text)));
        let (call, name) = (self.id.clone(), Some(self.name.clone()));
        Body::Tool(ToolResult { call, name, status, parts }).into()
    }
}

impl From<ToolCall> for AssistantPart {
    fn from(call: ToolCall) -> Self {
        Self::Call(call)
    }
}

impl From<Body> for Message {
    fn from(body: Body) -> Self {
        Self { id: MessageId::default(), at: None, origin: Origin::Main, body, extra: Extra::NONE }
    }
}

impl Message {
    /// A system message of one text.
    pub fn system(text: &str) -> Self {
        Body::System(Parts::one(SystemPart::Text(Text::new(text)))).into()
    }

    /// A user message of one text.
    pub fn user(text: &str) -> Self {
        Body::User(Parts::one(ContentPart::Text(Text::new(text)))).into()
    }

    /// A user message of several parts: text, pictures, files.
    ///
    /// # Errors
    /// If there is none.
    pub fn user_parts(parts: impl IntoIterator<Item = ContentPart>) -> Result<Self, Error> {
        Ok(Body::User(Parts::new(parts.into_iter().collect())?).into())
    }

    /// An assistant message of one text.
    pub fn assistant(text: &str) -> Self {
        Body::Assistant(Parts::one(AssistantPart::Text(Text::new(text)))).into()
    }

    /// An assistant message of several parts: text, thinking, calls.
    ///
    /// # Errors
    /// If there is none.
    pub fn assistant_parts(parts: impl IntoIterator<Item = AssistantPart>) -> Result<Self, Error> {
        Ok(Body::Assistant(Parts::new(parts.into_iter().collect())?).into())
    }

    /// A tool result of one text.
    pub fn tool(call: CallId, status: Status, text: &str) -> Self {
        let parts = Parts::one(ContentPart::Text(Text::new(text)));
        Body::Tool(ToolResult { call, name: None, status, parts }).into()
    }

    /// The same message under another name.
    pub fn with_id(mut self, id: MessageId) -> Self {
        self.id = id;
        self
    }

    /// The same message, as part of another conversation.
    pub fn with_origin(mut self, origin: Origin) -> Self {
        self.origin = origin;
        self
    }

    /// Who speaks.
    pub fn role(&self) -> Role {
        match self.body {
            Body::System(_) => Role::System,
            Body::User(_) => Role::User,
            Body::Assistant(_) => Role::Assistant,
            Body::Tool(_) => Role::Tool,
        }
    }

    /// The parts, whatever the role.
    pub fn parts(&self) -> impl DoubleEndedIterator<Item = PartRef<'_>> {
        let (system, content, assistant): (&[SystemPart], &[ContentPart], &[AssistantPart]) =
            match &self.body {
                Body::System(parts) => (parts, &[], &[]),
                Body::User(parts) => (&[], parts, &[]),
                Body::Assistant(parts) => (&[], &[], parts),
                Body::Tool(result) => (&[], &result.parts, &[]),
            };
        let parts = system.iter().map(PartRef::from);
        let parts = parts.chain(content.iter().map(PartRef::from));
        parts.chain(assistant.iter().map(PartRef::from))
    }

    /// The tool calls, in order; none for any role but the assistant.
    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.parts().filter_map(|part| match part {
            PartRef::Call(call) => Some(call),
            _ => None,
        })
    }

    /// Whether the message opens a tool block.
    pub fn has_calls(&self) -> bool {
        self.calls().next().is_some()
    }

    /// Whether the first thing that it says is a thought.
    pub fn begins_with_thinking(&self) -> bool {
        match &self.body {
            Body::Assistant(parts) => matches!(parts.first(), Some(AssistantPart::Thinking(_))),
            Body::System(_) | Body::User(_) | Body::Tool(_) => false,
        }
    }

    /// The tool result, if it is one.
    pub fn as_result(&self) -> Option<&ToolResult> {
        match &self.body {
            Body::Tool(result) => Some(result),
            Body::System(_) | Body::User(_) | Body::Assistant(_) => None,
        }
    }

    /// The runs of text, in order. Thinking is not text.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.parts().filter_map(|part| match part {
            PartRef::Text(text) => Some(&*text.text),
            _ => None,
        })
    }

    /// All text, the runs joined with a newline.
    pub fn text(&self) -> Cow<'_, str> {
        let mut texts = self.texts();
        let first = texts.next().unwrap_or_default();
        match texts.next() {
            None => Cow::Borrowed(first),
            Some(second) => {
                let mut all = format!("{first}\n{second}");
                for text in texts {
                    all.push('\n');
                    all.push_str(text);
                }
                Cow::Owned(all)
            }
        }
    }

    /// Whether the message says nothing: no call, no picture, no file, no opaque
    /// part, and no text but white space. Thinking alone says nothing.
    pub fn is_blank(&self) -> bool {
        self.parts().all(|part| match part {
            PartRef::Text(text) => text.is_blank(),
            PartRef::Thinking(_) => true,
            PartRef::Call(_) | PartRef::Image(_) | PartRef::File(_) | PartRef::Opaque(_) => false,
        })
    }
}
