//! The words of the API: what is written, in the order in which it is written.
//!
//! Reading is by hand, in `decode`.

mod settings;

use std::borrow::Cow;

use interleaf_model::{Extra, Json};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::raw::Fields;

pub(super) use self::settings::{
    Choice, Head, InferenceConfig, InputSchema, JsonSchema, ModelFields, OutputConfig, Structure,
    Tail, TextFormat, ToolConfig, ToolEntry, ToolSpec,
};
pub(super) use crate::rest::Rest;

/// Whose the opaque parts and extra fields are.
pub(super) const OWNER: &str = "bedrock";

/// The kinds of content block. A block has exactly one.
pub(super) const KINDS: &[&str] = &[
    "text",
    "image",
    "document",
    "video",
    "audio",
    "toolUse",
    "toolResult",
    "reasoningContent",
    "cachePoint",
    "guardContent",
    "citationsContent",
    "searchResult",
    "toolAddition",
    "toolRemoval",
    "json",
];

/// Where a tool message keeps the breakpoint that stands after its result.
pub(super) const AFTER_RESULT: &str = "cachePoint";

/// Where a tool message keeps the unknown fields of the block around its result.
pub(super) const AROUND_RESULT: &str = "contentBlock";

/// One turn.
#[derive(Serialize)]
pub(super) struct Message<'a> {
    pub(super) role: &'static str,
    pub(super) content: Vec<Block<'a>>,
    #[serde(flatten)]
    pub(super) rest: Rest<'a>,
}

/// A content block.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Block<'a> {
    /// One that we write.
    Known(Known<'a>),
    /// One that is given back as it came.
    Own(&'a RawValue),
}

/// A content block of a kind that we know.
#[derive(Serialize)]
pub(super) struct Known<'a> {
    #[serde(flatten)]
    pub(super) kind: Kind<'a>,
    #[serde(flatten)]
    pub(super) rest: Rest<'a>,
}

/// A content block, by its one key.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Kind<'a> {
    Text(Cow<'a, str>),
    /// In a result only.
    Json(&'a RawValue),
    Image(Media<'a>),
    Document(Document<'a>),
    Video(Media<'a>),
    Audio(Media<'a>),
    ToolUse(ToolUse<'a>),
    ToolResult(ToolResult<'a>),
    ReasoningContent(Reasoning<'a>),
    CachePoint(CachePoint),
}

/// A picture, a film or a sound.
#[derive(Serialize)]
pub(super) struct Media<'a> {
    pub(super) format: &'static str,
    pub(super) source: Source<'a>,
    #[serde(flatten)]
    pub(super) rest: Rest<'a>,
}

/// A document.
#[derive(Serialize)]
pub(super) struct Document<'a> {
    pub(super) format: &'static str,
    pub(super) name: String,
    pub(super) source: Source<'a>,
    #[serde(flatten)]
    pub(super) rest: Rest<'a>,
}

/// Where bytes are.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Source<'a> {
    /// In base64.
    Bytes(&'a str),
    S3Location(S3Location<'a>),
}

#[derive(Serialize)]
pub(super) struct S3Location<'a> {
    pub(super) uri: &'a str,
    #[serde(flatten)]
    pub(super) rest: Rest<'a>,
}

/// A call.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ToolUse<'a> {
    pub(super) tool_use_id: Cow<'a, str>,
    pub(super) name: Cow<'a, str>,
    pub(super) input: Json,
    #[serde(flatten)]
    pub(super) rest: Rest<'a>,
}

/// The result of a call.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ToolResult<'a> {
    pub(super) tool_use_id: Cow<'a, str>,
    pub(super) content: Vec<Block<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) status: Option<&'static str>,
    #[serde(flatten)]
    pub(super) rest: Rest<'a>,
}

/// A thought.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Reasoning<'a> {
    ReasoningText(ReasoningText<'a>),
    /// In base64.
    RedactedContent(&'a str),
}

#[derive(Serialize)]
pub(super) struct ReasoningText<'a> {
    pub(super) text: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) signature: Option<&'a str>,
    #[serde(flatten)]
    pub(super) rest: Rest<'a>,
}

/// A cache breakpoint.
#[derive(Serialize)]
pub(super) struct CachePoint {
    #[serde(rename = "type")]
    kind: &'static str,
}

impl CachePoint {
    pub(super) const DEFAULT: Self = Self { kind: "default" };
}

/// One of our fields in what was attached.
pub(super) fn own_field<'a>(extra: &'a Extra, name: &str) -> Option<&'a RawValue> {
    extra.get(OWNER).and_then(object)?.peek(name)
}

/// A value as the fields that it has.
pub(super) fn object(json: &Json) -> Option<Fields<'_>> {
    Fields::read(raw(json)?).ok()
}

/// The value as it is written.
pub(super) fn raw(json: &Json) -> Option<&RawValue> {
    serde_json::from_str(json.as_str()).ok()
}

impl<'a> Block<'a> {
    /// A block without unknown fields.
    pub(super) fn plain(kind: Kind<'a>) -> Self {
        Self::Known(Known { kind, rest: Rest::NONE })
    }

    /// A block with what was attached to the part.
    pub(super) fn with(kind: Kind<'a>, extra: &'a Extra) -> Self {
        Self::Known(Known { kind, rest: Rest::of(extra, OWNER, KINDS) })
    }

    pub(super) fn text(text: impl Into<Cow<'a, str>>) -> Self {
        Self::plain(Kind::Text(text.into()))
    }

    pub(super) fn cache_point() -> Self {
        Self::plain(Kind::CachePoint(CachePoint::DEFAULT))
    }

    /// The block's key.
    pub(super) fn kind(&self) -> &str {
        match self {
            Self::Known(known) => match &known.kind {
                Kind::Text(_) => "text",
                Kind::Json(_) => "json",
                Kind::Image(_) => "image",
                Kind::Document(_) => "document",
                Kind::Video(_) => "video",
                Kind::Audio(_) => "audio",
                Kind::ToolUse(_) => "toolUse",
                Kind::ToolResult(_) => "toolResult",
                Kind::ReasoningContent(_) => "reasoningContent",
                Kind::CachePoint(_) => "cachePoint",
            },
            Self::Own(raw) => kind_of(raw).unwrap_or(""),
        }
    }
}

/// The one known key of a block that came from outside, if it has just one.
pub(super) fn kind_of(raw: &RawValue) -> Option<&'static str> {
    let fields = Fields::read(raw).ok()?;
    let mut kinds = KINDS.iter().filter(|kind| fields.iter().any(|(name, _)| name == **kind));
    let first = kinds.next()?;
    kinds.next().is_none().then_some(first)
}
