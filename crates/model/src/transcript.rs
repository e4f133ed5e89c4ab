//! The transcript: a conversation as a file, an HTTP body or a Python value.
//!
//! Version 1 is documented in `docs/transcript.md`, with a JSON Schema beside it.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::form::read_message;
use crate::fragment::{read_json, rebase};
use crate::{AgentName, Error, ErrorKind, Message, MessageId, Ranges, Usage, json_text};

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
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(remote = "Self", deny_unknown_fields)]
pub struct BatchRecord {
    /// What began it, such as `truncate`.
    pub cause: String,
    /// The lowest original index that was visible when it began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boundary: Option<u32>,
    /// The view at its end; absent while it is the current one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<Ranges>,
    /// The marks at its end, if they are not those at the end of the next batch, or of the
    /// transcript.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marks: Option<BTreeMap<String, Vec<u32>>>,
    /// The tokens used up to its end.
    #[serde(default)]
    pub cumulative: Usage,
    /// The tokens that each sub-agent used up to its end.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub agents: BTreeMap<AgentName, Usage>,
}

/// The token counters of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(remote = "Self", deny_unknown_fields)]
pub struct UsageRecord {
    /// The request that is running or was the last.
    pub current: Usage,
    /// All requests, `current` included; rewinds with a rollback.
    pub cumulative: Usage,
    /// All requests ever; never rewinds.
    pub lifetime: Usage,
    /// How long the log was when the last request was made, if the view has not
    /// been changed by an operation since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_log_len: Option<u32>,
    /// The counters of each sub-agent, which are not part of these.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub agents: BTreeMap<AgentName, UsageRecord>,
}

crate::only_objects!(BatchRecord, UsageRecord);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TranscriptForm<'a> {
    #[serde(rename = "interleaf")]
    _version: u32,
    #[serde(borrow)]
    messages: Vec<&'a RawValue>,
    #[serde(default, borrow)]
    view: Option<&'a RawValue>,
    #[serde(default, borrow)]
    marks: BTreeMap<String, &'a RawValue>,
    #[serde(default, borrow)]
    batches: Vec<&'a RawValue>,
    #[serde(default, borrow)]
    usage: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct VersionForm<'a> {
    #[serde(rename = "interleaf", borrow)]
    version: Option<&'a RawValue>,
}

impl Transcript {
    /// Messages and nothing else: all visible, no marks.
    pub fn of(messages: Vec<Message>) -> Self {
        Self { messages: messages.into_iter().map(Arc::new).collect(), ..Self::default() }
    }

    /// Messages and nothing else, each with an id: one that has none gets that of its place,
    /// or one like it if another message has that.
    pub fn named(mut messages: Vec<Message>) -> Self {
        let ids = messages.iter().map(|message| &message.id);
        let given: HashSet<MessageId> = ids.filter(|id| !id.is_unassigned()).cloned().collect();
        for (i, message) in messages.iter_mut().enumerate() {
            if message.id.is_unassigned() {
                let like_it = (2_u32..).map(|n| MessageId::new(format!("m{i}_{n}")));
                let mut ids = std::iter::once(MessageId::of_index(i)).chain(like_it);
                message.id = ids.find(|id| !given.contains(id)).unwrap_or_default();
            }
        }
        Self::of(messages)
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
        check_version(text)?;
        let form: TranscriptForm<'_> = read_json(text)?;
        let mut messages = Vec::with_capacity(form.messages.len());
        for (i, raw) in form.messages.iter().enumerate() {
            messages.push(placed(text, raw, &format!("messages[{i}]"), read_message)?);
        }
        let len = messages.len();
        let mut transcript = Self::named(messages);
        if let Some(raw) = form.view {
            let view: Ranges = placed(text, raw, "view", read_json)?;
            placed(text, raw, "view", |_| view.check_view_of(len))?;
            transcript.view = Some(view);
        }
        for (mark, raw) in form.marks {
            let path = format!("marks.{mark}");
            let indices: Vec<u32> = placed(text, raw, &path, read_json)?;
            placed(text, raw, &path, |_| check_indices(&indices, len))?;
            transcript.marks.insert(mark, indices);
        }
        for (i, raw) in form.batches.iter().enumerate() {
            let path = format!("batches[{i}]");
            let batch: BatchRecord = placed(text, raw, &path, read_json)?;
            let is_last = i + 1 == form.batches.len();
            placed(text, raw, &path, |_| check_batch(&batch, is_last, len))?;
            transcript.batches.push(batch);
        }
        if let Some(raw) = form.usage {
            let usage: UsageRecord = placed(text, raw, "usage", read_json)?;
            placed(text, raw, "usage", |_| check_usage(&usage, len))?;
            transcript.usage = Some(usage);
        }
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
            // Writing into a String cannot fail.
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
    /// twice, that just the last batch is open, and that the log was never longer
    /// than it is. Reading does this.
    ///
    /// # Errors
    /// If one of these does not hold.
    pub fn check(&self) -> Result<(), Error> {
        let len = self.messages.len();
        if let Some(view) = &self.view {
            view.check_view_of(len).map_err(|e| e.under("view"))?;
        }
        for (mark, indices) in &self.marks {
            check_indices(indices, len).map_err(|e| e.under(&format!("marks.{mark}")))?;
        }
        for (i, batch) in self.batches.iter().enumerate() {
            check_batch(batch, i + 1 == self.batches.len(), len)
                .map_err(|e| e.under(&format!("batches[{i}]")))?;
        }
        self.usage
            .iter()
            .try_for_each(|usage| check_usage(usage, len).map_err(|e| e.under("usage")))
    }
}

fn check_version(text: &str) -> Result<(), Error> {
    let Some(raw) = read_json::<VersionForm<'_>>(text)?.version else {
        return Ok(());
    };
    placed(text, raw, "interleaf", |json| match read_json::<u64>(json)? {
        version if (1..=u64::from(TRANSCRIPT_VERSION)).contains(&version) => Ok(()),
        version => Err(Error::new(
            ErrorKind::Version,
            format!(
                "this is transcript version {version}, but this program reads up to version {TRANSCRIPT_VERSION}"
            ),
        )),
    })
}

/// What `read` makes of a slice of `text`, with a fault placed in the whole.
fn placed<'a, T>(
    text: &str,
    raw: &'a RawValue,
    path: &str,
    read: impl FnOnce(&'a str) -> Result<T, Error>,
) -> Result<T, Error> {
    read(raw.get()).map_err(|e| rebase(e, text, raw.get()).under(path))
}

fn check_batch(batch: &BatchRecord, is_last: bool, len: usize) -> Result<(), Error> {
    if let Some(end) = &batch.end {
        end.check_view_of(len).map_err(|e| e.under("end"))?;
    }
    check_indices(batch.boundary.as_slice(), len).map_err(|e| e.under("boundary"))?;
    for (mark, indices) in batch.marks.iter().flatten() {
        check_indices(indices, len).map_err(|e| e.under(&format!("marks.{mark}")))?;
    }
    match (is_last, &batch.end) {
        (true, Some(_)) => Err(Error::rule("the last batch is the current one and has no `end`")),
        (false, None) => Err(Error::rule("a batch that another one followed needs its `end`")),
        (true, None) | (false, Some(_)) => Ok(()),
    }
}

fn check_usage(usage: &UsageRecord, len: usize) -> Result<(), Error> {
    for (name, used) in &usage.agents {
        let under = |e: Error| e.under(&format!("agents.{name}"));
        if !used.agents.is_empty() {
            return Err(under(Error::rule(
                "the counters of a sub-agent cannot hold those of others",
            )));
        }
        check_usage(used, len).map_err(under)?;
    }
    match usage.request_log_len {
        Some(then) if then as usize > len => {
            let rule = format!(
                "the log has {len} messages, so it cannot have had {then} at the last request"
            );
            Err(Error::rule(rule).under("request_log_len"))
        }
        _ => Ok(()),
    }
}

fn check_indices(indices: &[u32], len: usize) -> Result<(), Error> {
    match indices.iter().find(|&&index| index as usize >= len) {
        None => Ok(()),
        Some(index) => {
            Err(Error::rule(format!("index {index} is outside the log, whose length is {len}")))
        }
    }
}

fn to_json(value: &impl Serialize) -> String {
    // Our own types have string keys and no failing Serialize.
    json_text(value).unwrap_or_default()
}
