//! What happens in a run, while it happens.

use std::fmt;
use std::sync::Arc;

use interleaf::assemble::Tokens;
use interleaf::model::{Message, ToolCall, plural, shown};
use interleaf_transport::{Answer, CompactionDone, Setback};

use crate::End;

/// What happens in a run.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Event {
    /// More text of an answer.
    Text(String),
    /// More of a thought.
    Thinking(String),
    /// An answer is whole: what it said, what it cost, and what its cache made of it.
    Answered(Box<Answer>),
    /// There was no answer yet: it is tried again, after a wait, or another model is asked.
    Setback(Box<Setback>),
    /// An answer broke off and is asked for again.
    BrokeOff(String),
    /// A call begins to run.
    Started(ToolCall),
    /// A call has its result.
    Result(Arc<Message>),
    /// Something was said to the agent while it ran.
    Heard(String),
    /// The session was compacted.
    Compacted(Box<CompactionDone>),
    /// A compaction that was asked for was not done, and why.
    NotCompacted(String),
    /// The limit of money cannot hold for these models, because their prices are not known.
    Unpriced(Vec<String>),
    /// Tools joined while it runs, such as those of a server that was reached late.
    Joined(Vec<String>),
    /// Tools of a toolbox are not offered, because the API takes no more.
    LeftOut {
        /// The toolbox, such as `the MCP server files`.
        toolbox: String,
        /// How many of its tools.
        n_tools: usize,
        /// The most tools that the API takes.
        most: usize,
    },
    /// A sub-agent is about to make its first request: how large that is, part by part.
    Begins(Box<Tokens>),
    /// What happens in a run of a sub-agent.
    Sub {
        /// Its name, with the call that began it.
        agent: String,
        /// What happens.
        event: Box<Event>,
    },
    /// A run has ended.
    Ended(End),
}

/// How much of a text a line has.
const WIDTH: usize = 100;

/// In a line, for a person. Nothing in it does anything to a terminal.
impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(&line(text)),
            Self::Thinking(text) => write!(f, "(thinking) {}", line(text)),
            Self::Answered(answer) => match &answer.spent {
                Some(spent) => write!(f, "answered: {spent}"),
                None => f.write_str("answered"),
            },
            Self::Setback(setback) => f.write_str(&line(&setback.to_string())),
            Self::BrokeOff(why) => write!(f, "broke off, asked again: {}", line(why)),
            Self::Started(call) => {
                write!(f, "{}({})", line(call.name.as_str()), line(call.arguments.as_str()))
            }
            Self::Result(result) => write!(f, "= {}", line(&result.text())),
            Self::Heard(text) => write!(f, "heard: {}", line(text)),
            Self::Compacted(done) => write!(f, "compacted: {}", line(&done.to_string())),
            Self::NotCompacted(why) => write!(f, "not compacted: {}", line(why)),
            Self::Unpriced(models) => write!(
                f,
                "the limit of money does not hold for {}: no price is known; `[price]` or --price \
                 says one",
                line(&models.join(", "))
            ),
            Self::Joined(tools) => write!(f, "tools joined: {}", line(&tools.join(", "))),
            Self::LeftOut { toolbox, n_tools, most } => write!(
                f,
                "{} of {} left out: the API takes at most {most} in all; `tools = […]` of its \
                 settings names those to offer",
                plural(*n_tools, "tool"),
                line(toolbox)
            ),
            Self::Begins(tokens) => {
                let Tokens { system, context, tools, history, .. } = &**tokens;
                write!(
                    f,
                    "begins with {} tokens: {system} of system texts, {context} of context, \
                     {tools} of tools, {history} of what was said",
                    tokens.total()
                )
            }
            Self::Sub { agent, event } => write!(f, "{}: {event}", line(agent)),
            Self::Ended(end) => f.write_str(&line(&end.to_string())),
        }
    }
}

/// The beginning of a text, in a line.
pub(crate) fn line(text: &str) -> String {
    // A text may have megabytes, of which a line is wanted.
    let mut words = String::new();
    for word in text.split_whitespace() {
        if !words.is_empty() {
            words.push(' ');
        }
        words.extend(word.chars().take(WIDTH + 1));
        if words.chars().count() > WIDTH {
            break;
        }
    }
    if let Some((end, _)) = words.char_indices().nth(WIDTH) {
        words.truncate(end);
        words.push('…');
    }
    shown(&words).into_owned()
}
