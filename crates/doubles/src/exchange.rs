//! What a double was sent, and what it said to it.

use std::fmt;

use serde_json::Value;

use crate::{Answer, Api, Asked, Fault, Refusal, Usage};

/// A request and what became of it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Exchange {
    /// Its number, from 1.
    pub number: u64,
    /// The API; none, if the address is none of theirs.
    pub api: Option<Api>,
    /// The method and the address, without what might be a key in it.
    pub line: String,
    /// The headers, those with keys without their values.
    pub headers: Vec<(String, String)>,
    /// The body; null, if it is not JSON.
    pub body: Value,
    /// The request as the model saw it, if it came that far.
    pub asked: Option<Asked>,
    /// The status of the answer.
    pub status: u16,
    /// Why it was refused.
    pub refusal: Option<Refusal>,
    /// What was answered.
    pub answer: Option<Answer>,
    /// What it took.
    pub usage: Option<Usage>,
    /// What went wrong on purpose.
    pub fault: Option<Fault>,
    /// How many bytes of the answer's body were handed to the connection.
    pub sent: usize,
    /// How it ended.
    pub end: End,
}

/// How an exchange ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// It has not ended yet.
    Open,
    /// The whole answer was sent.
    Whole,
    /// The double broke it off, as a fault demands.
    Cut,
    /// The client left before the end.
    Left,
}

impl Exchange {
    pub(crate) fn new(number: u64, line: String, headers: Vec<(String, String)>) -> Self {
        Self {
            number,
            api: None,
            line,
            headers,
            body: Value::Null,
            asked: None,
            status: 0,
            refusal: None,
            answer: None,
            usage: None,
            fault: None,
            sent: 0,
            end: End::Open,
        }
    }
}

/// One line: the address, the status, and what it took or why it was refused.
impl fmt::Display for Exchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.number, self.line)?;
        match (self.status, self.end) {
            (0, End::Open) => return f.write_str(" not answered"),
            (0, _) => return f.write_str(" the client left before the answer"),
            (status, _) => write!(f, " {status}")?,
        }
        if let Some(refusal) = &self.refusal {
            write!(f, " {}: {}", refusal.rule, refusal.message)?;
        }
        if let Some(usage) = &self.usage {
            let written = usage.written + usage.written_hour;
            let (input, read, output) = (usage.input(), usage.read, usage.output);
            write!(f, " input {input} (read {read}, written {written}) output {output}")?;
        }
        match self.end {
            End::Open | End::Whole => Ok(()),
            End::Cut => write!(f, " cut after {} bytes", self.sent),
            End::Left => write!(f, " the client left after {} bytes", self.sent),
        }
    }
}
