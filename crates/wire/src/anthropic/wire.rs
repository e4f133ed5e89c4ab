//! What is written: the structs of a request, their fields in the order of the bytes.

use std::borrow::Cow;

use interleaf_model::Json;
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use serde_json::value::RawValue;

use super::thinking::Thinking;
use crate::CacheMarks;
pub(super) use crate::rest::Rest;

/// A request up to its messages. What a model is told first stands first.
#[derive(serde::Serialize)]
pub(super) struct Head<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    pub(super) model: &'a str,
    pub(super) max_tokens: u64,
    #[serde(skip_serializing_if = "is_false")]
    pub(super) stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) temperature: Option<&'a Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) top_p: Option<&'a Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) top_k: Option<&'a Json>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) stop_sequences: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) thinking: Option<Setting<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) output_config: Option<OutputConfig<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool_choice: Option<Choice<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) tools: Vec<Declared<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) system: Option<Content<'a>>,
}

/// The field `thinking`.
#[derive(serde::Serialize)]
#[serde(untagged)]
pub(super) enum Setting<'a> {
    Known(Thinking<'a>),
    /// Of a type that has no neutral word.
    Own(&'a RawValue),
}

#[derive(serde::Serialize)]
pub(super) struct OutputConfig<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) format: Option<Format<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) effort: Option<&'static str>,
    #[serde(flatten)]
    pub(super) rest: Rest<'a>,
}

#[derive(serde::Serialize)]
#[serde(tag = "type", rename = "json_schema")]
pub(super) struct Format<'a> {
    pub(super) schema: Cow<'a, RawValue>,
}

#[derive(serde::Serialize)]
pub(super) struct Choice<'a> {
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "is_false")]
    pub(super) disable_parallel_tool_use: bool,
}

/// An element of `tools`.
#[derive(serde::Serialize)]
#[serde(untagged)]
pub(super) enum Declared<'a> {
    Tool(ToolForm<'a>),
    /// A tool that the API runs itself.
    Hosted(RawObject<'a>),
}

#[derive(serde::Serialize)]
pub(super) struct ToolForm<'a> {
    pub(super) name: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) description: Option<&'a str>,
    pub(super) input_schema: Cow<'a, RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) strict: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cache_control: Option<CacheMark<'a>>,
    #[serde(flatten)]
    pub(super) rest: Rest<'a>,
}

#[derive(serde::Serialize)]
pub(super) struct Message<'a> {
    pub(super) role: &'static str,
    pub(super) content: Content<'a>,
    #[serde(flatten)]
    pub(super) rest: Rest<'a>,
}

/// A string if it is one plain text, else a list. Where we set marks it is a list in any case:
/// a mark that moves on would make another form of the same text.
pub(super) struct Content<'a>(pub(super) Vec<Block<'a>>, pub(super) CacheMarks);

/// A block of a message, of the system prompt or of a result.
#[derive(serde::Serialize)]
#[serde(untagged)]
pub(super) enum Block<'a> {
    Text(TextBlock<'a>),
    Image(ImageBlock<'a>),
    Document(DocumentBlock<'a>),
    Thinking(ThinkingBlock<'a>),
    Redacted(RedactedBlock<'a>),
    Call(CallBlock<'a>),
    Result(ResultBlock<'a>),
    Opaque(RawObject<'a>),
}

#[derive(serde::Serialize)]
#[serde(tag = "type", rename = "text")]
pub(super) struct TextBlock<'a> {
    pub(super) text: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cache_control: Option<CacheMark<'a>>,
    #[serde(flatten)]
    pub(super) rest: Rest<'a>,
}

#[derive(serde::Serialize)]
#[serde(tag = "type", rename = "image")]
pub(super) struct ImageBlock<'a> {
    pub(super) source: SourceForm<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cache_control: Option<CacheMark<'a>>,
    #[serde(flatten)]
    pub(super) rest: Rest<'a>,
}

#[derive(serde::Serialize)]
#[serde(tag = "type", rename = "document")]
pub(super) struct DocumentBlock<'a> {
    pub(super) source: SourceForm<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) title: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cache_control: Option<CacheMark<'a>>,
    #[serde(flatten)]
    pub(super) rest: Rest<'a>,
}

/// Where the bytes of an image or a document are.
#[derive(serde::Serialize)]
pub(super) struct SourceForm<'a> {
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) media_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) data: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) url: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) file_id: Option<&'a str>,
    #[serde(flatten)]
    pub(super) rest: Rest<'a>,
}

#[derive(serde::Serialize)]
#[serde(tag = "type", rename = "thinking")]
pub(super) struct ThinkingBlock<'a> {
    pub(super) thinking: &'a str,
    pub(super) signature: &'a str,
    #[serde(flatten)]
    pub(super) rest: Rest<'a>,
}

#[derive(serde::Serialize)]
#[serde(tag = "type", rename = "redacted_thinking")]
pub(super) struct RedactedBlock<'a> {
    pub(super) data: &'a str,
    #[serde(flatten)]
    pub(super) rest: Rest<'a>,
}

#[derive(serde::Serialize)]
#[serde(tag = "type", rename = "tool_use")]
pub(super) struct CallBlock<'a> {
    pub(super) id: Cow<'a, str>,
    pub(super) name: Cow<'a, str>,
    pub(super) input: Cow<'a, RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cache_control: Option<CacheMark<'a>>,
    #[serde(flatten)]
    pub(super) rest: Rest<'a>,
}

#[derive(serde::Serialize)]
#[serde(tag = "type", rename = "tool_result")]
pub(super) struct ResultBlock<'a> {
    pub(super) tool_use_id: Cow<'a, str>,
    #[serde(skip_serializing_if = "Content::is_empty")]
    pub(super) content: Content<'a>,
    #[serde(skip_serializing_if = "is_false")]
    pub(super) is_error: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cache_control: Option<CacheMark<'a>>,
    #[serde(flatten)]
    pub(super) rest: Rest<'a>,
}

/// An object that is written as it came, but for its cache mark.
#[derive(serde::Serialize)]
#[serde(untagged)]
pub(super) enum RawObject<'a> {
    Whole(&'a RawValue),
    Changed {
        #[serde(flatten)]
        rest: Rest<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheMark<'a>>,
    },
}

/// A cache breakpoint: as a request says it for itself, or the plain one.
#[derive(Debug, Clone, Copy)]
pub(super) struct CacheMark<'a>(pub(super) Option<&'a RawValue>);

impl Content<'_> {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Serialize for Content<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let [Block::Text(TextBlock { text, cache_control: None, rest })] = self.0.as_slice()
            && rest.is_empty()
            && self.1 == CacheMarks::Off
        {
            return serializer.serialize_str(text);
        }
        let mut list = serializer.serialize_seq(Some(self.0.len()))?;
        for block in &self.0 {
            list.serialize_element(block)?;
        }
        list.end()
    }
}

impl Serialize for CacheMark<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Some(raw) = self.0 {
            return raw.serialize(serializer);
        }
        let mut mark = serializer.serialize_map(Some(1))?;
        mark.serialize_entry("type", "ephemeral")?;
        mark.end()
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands fields over by reference")]
fn is_false(value: &bool) -> bool {
    !value
}
