//! What a model answers, before an API's own words for it.

use serde::Deserialize;
use serde_json::Value;

/// What a brain says.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Answer {
    /// What is said, in order.
    pub parts: Vec<Said>,
    /// Why it ends; left out, it follows from the parts.
    pub finish: Option<Finish>,
}

/// A part of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Said {
    /// A text.
    Text(String),
    /// A thought; an API that shows none only counts it.
    Thinking(String),
    /// A call of a tool.
    Call {
        /// Its id; the double makes one if there is none.
        id: Option<String>,
        /// The tool.
        name: String,
        /// The arguments, as JSON.
        arguments: String,
    },
}

/// Why an answer ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    /// The model has said what it had to say.
    Stop,
    /// It waits for the results of its calls.
    Calls,
    /// It has used up its tokens.
    Length,
    /// It refuses, or a filter does.
    Refusal,
}

impl Answer {
    /// An answer with nothing in it.
    pub fn new() -> Self {
        Self::default()
    }

    /// An answer that is a text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new().with_text(text)
    }

    /// With a text more.
    #[must_use]
    pub fn with_text(mut self, text: impl Into<String>) -> Self {
        self.parts.push(Said::Text(text.into()));
        self
    }

    /// With a thought more.
    #[must_use]
    pub fn with_thinking(mut self, text: impl Into<String>) -> Self {
        self.parts.push(Said::Thinking(text.into()));
        self
    }

    /// With a call more.
    #[must_use]
    pub fn with_call(mut self, name: impl Into<String>, arguments: &Value) -> Self {
        let (name, arguments) = (name.into(), arguments.to_string());
        self.parts.push(Said::Call { id: None, name, arguments });
        self
    }

    /// With an end of its own.
    #[must_use]
    pub fn with_finish(mut self, finish: Finish) -> Self {
        self.finish = Some(finish);
        self
    }

    /// Why it ends.
    pub fn finish(&self) -> Finish {
        let calls = self.parts.iter().any(|part| matches!(part, Said::Call { .. }));
        self.finish.unwrap_or(if calls { Finish::Calls } else { Finish::Stop })
    }
}
