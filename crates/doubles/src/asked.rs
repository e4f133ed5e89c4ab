//! What a model is asked, whichever API it came by.

use serde_json::Value;

use crate::Api;

/// A request as the model sees it. A brain answers it, and its tokens are counted from it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Asked {
    /// By which API it came.
    pub api: Api,
    /// The model's name.
    pub model: String,
    /// The tools it may call.
    pub tools: Vec<Tool>,
    /// The system text that stands before the turns.
    pub system: Vec<Piece>,
    /// The conversation.
    pub turns: Vec<Turn>,
    /// Whether it may or must call a tool.
    pub choice: Choice,
    /// Whether it may call several tools at once.
    pub parallel: bool,
    /// Whether it is asked to think, and to show it.
    pub thinking: bool,
    /// The most tokens it may answer with.
    pub max_tokens: Option<u64>,
    /// Whether the answer is streamed.
    pub stream: bool,
    /// What the client says to keep its cache apart.
    pub cache_key: Option<String>,
    /// Settings beside the prompt that change how the turns are computed: where they change,
    /// a cache that works by marks does not know the turns again.
    pub salt: String,
}

/// Whether a model may or must call a tool.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Choice {
    /// As it likes.
    #[default]
    Auto,
    /// Not at all.
    None,
    /// At least one.
    Any,
    /// This one.
    Named(String),
}

/// A tool that is offered.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// The schema of its arguments.
    pub parameters: Option<Value>,
    /// The schema as it was sent.
    pub schema: String,
    /// Whether the prompt up to here is to be cached.
    pub mark: Option<Ttl>,
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The rules of the game.
    System,
    /// A person, or a program in a person's place.
    User,
    /// The model.
    Assistant,
    /// A tool.
    Tool,
}

/// What one side says at a time.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Turn {
    /// Who.
    pub role: Role,
    /// What.
    pub pieces: Vec<Piece>,
}

/// A part of a turn, and whether the prompt up to its end is to be cached.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Piece {
    /// The part.
    pub part: Part,
    /// For how long the prompt up to here is to be cached.
    pub mark: Option<Ttl>,
}

/// A part of a turn.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Part {
    /// A text.
    Text(String),
    /// What the model thought.
    Thinking(String),
    /// A call of a tool.
    Call {
        /// Its id; empty where the API has none.
        id: String,
        /// The tool.
        name: String,
        /// The arguments, as JSON.
        arguments: String,
    },
    /// What a tool gave back.
    Result {
        /// The id of the call.
        id: String,
        /// What it gave back.
        parts: Vec<Part>,
        /// Whether the tool failed.
        is_error: bool,
    },
    /// A picture, by a hash of what it is.
    Image(u64),
    /// A file, by a hash of what it is, and its tokens.
    File(u64, u64),
    /// Something else, as JSON.
    Other(String),
}

/// For how long a marked prefix is kept: the shorter or the longer time that an API has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ttl {
    /// Five minutes; on OpenAI half an hour.
    Minutes,
    /// An hour; on OpenAI twelve.
    Hour,
}

impl Asked {
    pub(crate) fn new(api: Api, model: &str) -> Self {
        Self {
            api,
            model: model.to_owned(),
            tools: Vec::new(),
            system: Vec::new(),
            turns: Vec::new(),
            choice: Choice::Auto,
            parallel: true,
            thinking: false,
            max_tokens: None,
            stream: false,
            cache_key: None,
            salt: String::new(),
        }
    }

    /// The texts that the user's side wrote, results of tools not included.
    pub fn user_texts(&self) -> impl DoubleEndedIterator<Item = &str> {
        let users = self.turns.iter().filter(|turn| turn.role == Role::User);
        users.flat_map(|turn| &turn.pieces).filter_map(|piece| piece.part.text())
    }

    /// Every text in the prompt: system, turns, arguments of calls and results.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        let turns = self.turns.iter().flat_map(|turn| &turn.pieces);
        self.system.iter().chain(turns).flat_map(|piece| piece.part.texts())
    }

    /// How many times the model has called tools since the user last asked something.
    pub fn rounds(&self) -> usize {
        let calls = |turn: &&Turn| turn.pieces.iter().any(|piece| piece.part.is_call());
        self.since_question().iter().filter(calls).count()
    }

    /// What tools gave back since the user last asked something.
    pub fn results(&self) -> Vec<&Part> {
        let pieces = self.since_question().iter().flat_map(|turn| &turn.pieces);
        pieces.map(|piece| &piece.part).filter(|part| matches!(part, Part::Result { .. })).collect()
    }

    /// The turns after the user last asked something. What the user's side says right after
    /// results is no question: the model goes on with what it was asked before.
    fn since_question(&self) -> &[Turn] {
        let asks = |n: &usize| {
            let before = self.turns[..*n].iter().rev().find(|turn| !turn.is_from_a_person());
            self.turns[*n].is_from_a_person() && !before.is_some_and(Turn::has_results)
        };
        let question = (0..self.turns.len()).rev().find(asks);
        &self.turns[question.map_or(0, |n| n + 1)..]
    }
}

impl Role {
    /// The role of a name that Anthropic and Bedrock share.
    pub(crate) fn named(name: &str) -> Self {
        match name {
            "assistant" => Self::Assistant,
            "system" => Self::System,
            _ => Self::User,
        }
    }
}

impl Turn {
    pub(crate) fn new(role: Role, pieces: Vec<Piece>) -> Self {
        Self { role, pieces }
    }

    /// A user's turn with something beside results.
    fn is_from_a_person(&self) -> bool {
        self.role == Role::User && !self.has_results()
    }

    fn has_results(&self) -> bool {
        self.pieces.iter().any(|piece| matches!(piece.part, Part::Result { .. }))
    }
}

impl Piece {
    pub(crate) fn of(part: Part) -> Self {
        Self { part, mark: None }
    }

    pub(crate) fn text(text: &str) -> Self {
        Self::of(Part::Text(text.to_owned()))
    }
}

impl Part {
    /// The text, if it is one.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Every text in it.
    pub fn texts(&self) -> Vec<&str> {
        match self {
            Self::Text(text) | Self::Other(text) => vec![text],
            Self::Call { arguments, .. } => vec![arguments],
            Self::Result { parts, .. } => parts.iter().flat_map(Self::texts).collect(),
            Self::Thinking(_) | Self::Image(_) | Self::File(..) => Vec::new(),
        }
    }

    fn is_call(&self) -> bool {
        matches!(self, Self::Call { .. })
    }
}
