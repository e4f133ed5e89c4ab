//! The transcript: a conversation as a file, an HTTP body or a Python value.
//!
//! Version 1 is documented in `docs/transcript.md`, with a JSON Schema beside it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::form::{parse, read_message, rebase};
use crate::{Error, ErrorKind, Message, MessageId, Ranges, Usage};

/// The version of the format that this crate writes, and the newest that it reads.
pub const TRANSCRIPT_VERSION: u32 = 1;

/// A whole conversation as plain data: the log, and what is known about it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Transcript {
    /// Every message that was ever said, in the order of the log.
    pub messages: Vec<Arc<Message>>,
    /// Which of them are visible, in order; all of them if it is absent.
    pub view: Option<Ranges>,
    /// The log indices that carry each mark.
    pub marks: BTreeMap<String, Vec<u32>>,
    /// The batches that operations began, oldest first.
    pub batches: Vec<BatchRecord>,
    /// The token counters.
    pub usage: Option<UsageRecord>,
}

/// One batch of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BatchRecord {
    /// What began it, such as `truncate`.
    pub cause: String,
    /// The lowest original index that was visible when it began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boundary: Option<u32>,
    /// The view at its end; absent while it is the current one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<Ranges>,
    /// The tokens used up to its end.
    #[serde(default)]
    pub cumulative: Usage,
}

/// The token counters of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UsageRecord {
    /// The request that is running or was the last.
    pub current: Usage,
    /// All requests, `current` included; rewinds with roll back.
    pub cumulative: Usage,
    /// All requests ever; never rewinds.
    pub lifetime: Usage,
    /// How long the log was when the last request was made, if the view has not
    /// been changed by an operation since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_log_len: Option<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TranscriptForm<'a> {
    #[serde(rename = "interleaf")]
    _version: u32,
    #[serde(borrow)]
    messages: Vec<&'a RawValue>,
    #[serde(default)]
    view: Option<Ranges>,
    #[serde(default)]
    marks: BTreeMap<String, Vec<u32>>,
    #[serde(default)]
    batches: Vec<BatchRecord>,
    #[serde(default)]
    usage: Option<UsageRecord>,
}

#[derive(Deserialize)]
struct VersionForm {
    #[serde(rename = "interleaf")]
    version: Option<u64>,
}

impl Transcript {
    /// Messages and nothing else: all visible, no marks.
    pub fn of(messages: Vec<Message>) -> Self {
        Self { messages: messages.into_iter().map(Arc::new).collect(), ..Self::default() }
    }

    /// Reads a transcript.
    ///
    /// A message without an id gets one from its place in the log. The messages
    /// may be a broken history: how they fit together is not judged here.
    ///
    /// # Errors
    /// If the text is not JSON, has another shape, comes from a newer version, or
    /// holds a message that no role allows. The error names line, column and path.
    pub fn read(text: &str) -> Result<Self, Error> {
        if let VersionForm { version: Some(version) } = parse(text)?
            && !(1..=u64::from(TRANSCRIPT_VERSION)).contains(&version)
        {
            let rule = format!(
                "this is transcript version {version}, but this program reads up to version {TRANSCRIPT_VERSION}"
            );
            return Err(Error::new(ErrorKind::Version, rule).under("interleaf"));
        }
        let form: TranscriptForm<'_> = parse(text)?;
        let mut messages = Vec::with_capacity(form.messages.len());
        for (i, raw) in form.messages.iter().enumerate() {
            let mut message = read_message(raw.get())
                .map_err(|e| rebase(e, text, raw.get()).under(&format!("messages[{i}]")))?;
            if message.id.is_unassigned() {
                message.id = MessageId::of_index(i);
            }
            messages.push(Arc::new(message));
        }
        let transcript = Self {
            messages,
            view: form.view,
            marks: form.marks,
            batches: form.batches,
            usage: form.usage,
        };
        transcript.check()?;
        Ok(transcript)
    }

    /// Writes the transcript, one message a line, so that a change is a readable diff.
    pub fn write(&self) -> String {
        let mut out = format!("{{\n\"interleaf\": {TRANSCRIPT_VERSION},\n\"messages\": [");
        for (i, message) in self.messages.iter().enumerate() {
            out.push_str(if i == 0 { "\n" } else { ",\n" });
            out.push_str(&to_json(message));
        }
        out.push_str("\n]");
        let mut field = |name: &str, value: String| {
            // Writing into a String can not fail.
            let _ = write!(out, ",\n\"{name}\": {value}");
        };
        if let Some(view) = &self.view {
            field("view", to_json(view));
        }
        if !self.marks.is_empty() {
            field("marks", to_json(&self.marks));
        }
        if !self.batches.is_empty() {
            field("batches", to_json(&self.batches));
        }
        if let Some(usage) = &self.usage {
            field("usage", to_json(usage));
        }
        out.push_str("\n}\n");
        out
    }

    /// Checks that every index points into the log, that no view names a message
    /// twice, and that just the last batch is open. Reading does this.
    ///
    /// # Errors
    /// If one of these does not hold.
    pub fn check(&self) -> Result<(), Error> {
        let len = self.messages.len();
        let outside = |index: u32, place: &str| {
            let rule = format!("index {index} is outside the log of {len} messages");
            Error::rule(rule).under(place)
        };
        for (i, batch) in self.batches.iter().enumerate() {
            if let Some(end) = &batch.end {
                end.check_view_of(len).map_err(|e| e.under(&format!("batches[{i}].end")))?;
            }
            if let Some(boundary) = batch.boundary.filter(|&b| b as usize >= len) {
                return Err(outside(boundary, &format!("batches[{i}].boundary")));
            }
            let is_last = i + 1 == self.batches.len();
            if batch.end.is_some() == is_last {
                let rule = if is_last {
                    "the last batch is the current one and has no `end`"
                } else {
                    "a batch that was followed by another needs its `end`"
                };
                return Err(Error::rule(rule).under(&format!("batches[{i}]")));
            }
        }
        if let Some(view) = &self.view {
            view.check_view_of(len).map_err(|e| e.under("view"))?;
        }
        for (mark, indices) in &self.marks {
            if let Some(&index) = indices.iter().find(|&&index| index as usize >= len) {
                return Err(outside(index, &format!("marks.{mark}")));
            }
        }
        Ok(())
    }
}

fn to_json(value: &impl Serialize) -> String {
    // Our own types have string keys and no failing Serialize.
    serde_json::to_string(value).unwrap_or_default()
}
