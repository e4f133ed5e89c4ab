//! The JSON of a chat request as it is written. The order of the fields here is the
//! order in the body: to change it moves bytes that caches remember.

use std::borrow::Cow;

use interleaf_model::Json;
use serde::Serialize;
use serde_json::value::RawValue;

pub(super) use crate::rest::Rest;

/// All before the messages.
#[derive(Serialize)]
pub(super) struct Head<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    pub(super) model: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) tools: Vec<Tool<'a>>,
}

/// All after the messages.
#[derive(Serialize, Default)]
pub(super) struct Tail<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool_choice: Option<ToolChoice<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) parallel_tool_calls: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) max_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) max_completion_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) temperature: Option<&'a Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) top_p: Option<&'a Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) top_k: Option<&'a Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stop: Option<&'a [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reasoning_effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) thinking: Option<Thinking<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) enable_thinking: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) response_format: Option<ResponseFormat<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stream: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stream_options: Option<StreamOptions>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) prompt_cache_key: Option<&'a str>,
    #[serde(flatten)]
    pub(super) rest: Rest<'a>,
}

#[derive(Serialize)]
pub(super) struct StreamOptions {
    pub(super) include_usage: bool,
}

/// The switch of those who have one.
#[derive(Serialize)]
pub(super) struct Thinking<'a> {
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) budget_tokens: Option<u64>,
    #[serde(flatten)]
    pub(super) rest: Rest<'a>,
}

/// The form of the answer.
#[derive(Serialize)]
pub(super) struct ResponseFormat<'a> {
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) json_schema: Option<JsonSchema<'a>>,
    #[serde(flatten)]
    pub(super) rest: Rest<'a>,
}

#[derive(Serialize)]
pub(super) struct JsonSchema<'a> {
    pub(super) name: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) description: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) strict: Option<bool>,
    pub(super) schema: &'a Json,
    #[serde(flatten)]
    pub(super) rest: Rest<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum ToolChoice<'a> {
    Word(&'static str),
    Function {
        #[serde(rename = "type")]
        kind: &'static str,
        function: FunctionName<'a>,
    },
}

#[derive(Serialize)]
pub(super) struct FunctionName<'a> {
    pub(super) name: Cow<'a, str>,
}

/// One element of `tools`.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Tool<'a> {
    Function {
        #[serde(rename = "type")]
        kind: &'static str,
        function: Function<'a>,
        #[serde(flatten)]
        rest: Rest<'a>,
    },
    /// One that the vendor runs, as it came.
    Hosted(&'a Json),
}

#[derive(Serialize)]
pub(super) struct Function<'a> {
    pub(super) name: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) description: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) parameters: Option<Cow<'a, Json>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) strict: Option<bool>,
    #[serde(flatten)]
    pub(super) rest: Rest<'a>,
}

/// One element of `messages`, of any role.
#[derive(Serialize)]
pub(super) struct Message<'a> {
    pub(super) role: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool_call_id: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reasoning_content: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reasoning: Option<Cow<'a, str>>,
    pub(super) content: Content<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) refusal: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) tool_calls: Vec<Call<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) prefix: Option<bool>,
    #[serde(flatten)]
    pub(super) rest: Rest<'a>,
}

impl<'a> Message<'a> {
    /// A message that says only this.
    pub(super) fn new(role: &'static str, content: Content<'a>) -> Self {
        Self {
            role,
            tool_call_id: None,
            name: None,
            reasoning_content: None,
            reasoning: None,
            content,
            refusal: None,
            tool_calls: Vec::new(),
            prefix: None,
            rest: Rest::default(),
        }
    }
}

#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Content<'a> {
    Null,
    Text(Cow<'a, str>),
    Parts(Vec<Part<'a>>),
}

/// One element of a `content` list.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Part<'a> {
    Text {
        text: Cow<'a, str>,
        #[serde(flatten)]
        rest: Rest<'a>,
    },
    ImageUrl {
        image_url: ImageUrl<'a>,
        #[serde(flatten)]
        rest: Rest<'a>,
    },
    InputAudio {
        input_audio: InputAudio<'a>,
        #[serde(flatten)]
        rest: Rest<'a>,
    },
    File {
        file: File<'a>,
        #[serde(flatten)]
        rest: Rest<'a>,
    },
    Refusal {
        refusal: Cow<'a, str>,
    },
    /// Mistral's thought.
    Thinking {
        thinking: Vec<Part<'a>>,
    },
    /// The vendor's own, as it came.
    #[serde(untagged)]
    Raw(&'a Json),
    /// The same, but for a field.
    #[serde(untagged)]
    Changed(Rest<'a>),
}

impl<'a> Part<'a> {
    /// The fields that we have no word for, if it is a part that takes some.
    pub(super) fn rest_mut(&mut self) -> Option<&mut Rest<'a>> {
        match self {
            Self::Text { rest, .. }
            | Self::ImageUrl { rest, .. }
            | Self::InputAudio { rest, .. }
            | Self::File { rest, .. } => Some(rest),
            Self::Refusal { .. } | Self::Thinking { .. } | Self::Raw(_) | Self::Changed(_) => None,
        }
    }

    /// A text with nothing attached.
    pub(super) fn text(text: impl Into<Cow<'a, str>>) -> Self {
        Self::Text { text: text.into(), rest: Rest::default() }
    }
}

#[derive(Serialize)]
pub(super) struct ImageUrl<'a> {
    pub(super) url: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) detail: Option<&'a RawValue>,
    #[serde(flatten)]
    pub(super) rest: Rest<'a>,
}

#[derive(Serialize)]
pub(super) struct InputAudio<'a> {
    pub(super) data: &'a str,
    pub(super) format: &'static str,
    #[serde(flatten)]
    pub(super) rest: Rest<'a>,
}

#[derive(Serialize)]
pub(super) struct File<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) filename: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) file_data: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) file_id: Option<&'a str>,
    #[serde(flatten)]
    pub(super) rest: Rest<'a>,
}

/// One element of `tool_calls`.
#[derive(Serialize)]
pub(super) struct Call<'a> {
    pub(super) id: Cow<'a, str>,
    #[serde(flatten)]
    pub(super) form: CallForm<'a>,
    #[serde(flatten)]
    pub(super) rest: Rest<'a>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum CallForm<'a> {
    Function { function: FunctionCall<'a> },
    Custom { custom: CustomCall<'a> },
}

#[derive(Serialize)]
pub(super) struct FunctionCall<'a> {
    pub(super) name: Cow<'a, str>,
    pub(super) arguments: Cow<'a, str>,
    #[serde(flatten)]
    pub(super) rest: Rest<'a>,
}

#[derive(Serialize)]
pub(super) struct CustomCall<'a> {
    pub(super) name: Cow<'a, str>,
    pub(super) input: &'a str,
    #[serde(flatten)]
    pub(super) rest: Rest<'a>,
}
