//! What an API says when it refuses.

/// A refusal, in no API's shape yet.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refusal {
    /// The rule that was broken, by its name here.
    pub rule: &'static str,
    /// The HTTP status.
    pub status: u16,
    /// The API's sentence.
    pub message: String,
    /// The part of the body that it is about, in the API's notation.
    pub param: Option<String>,
    /// OpenAI's code.
    pub code: Option<&'static str>,
    /// When to try again, in seconds.
    pub retry_after: Option<u64>,
}

/// What a rule says of a body.
pub(crate) type Verdict = Result<(), Refusal>;

impl Refusal {
    /// A body that is not valid.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self::with_status(400, message)
    }

    /// A refusal with a status of its own.
    pub(crate) fn with_status(status: u16, message: impl Into<String>) -> Self {
        Self {
            rule: "",
            status,
            message: message.into(),
            param: None,
            code: None,
            retry_after: None,
        }
    }

    pub(crate) fn at(mut self, param: impl Into<String>) -> Self {
        self.param = Some(param.into());
        self
    }

    pub(crate) fn code(mut self, code: &'static str) -> Self {
        self.code = Some(code);
        self
    }

    pub(crate) fn rule(mut self, rule: &'static str) -> Self {
        self.rule = rule;
        self
    }
}

/// Refuses, unless something holds.
pub(crate) fn demand(holds: bool, refusal: impl FnOnce() -> Refusal) -> Verdict {
    if holds { Ok(()) } else { Err(refusal()) }
}
