//! The JSON that is written: the only place that knows the order of its fields.

use std::borrow::Cow;

use interleaf_model::Json;
use serde::Serialize;
use serde_json::value::RawValue;

pub(super) use crate::rest::Rest;

/// All that stands before `input`.
#[derive(Serialize, Default)]
pub(super) struct Head<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    pub(super) model: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) instructions: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) tools: Vec<Tool<'a>>,
}

/// All that stands after `input`.
#[derive(Serialize, Default)]
pub(super) struct Tail<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool_choice: Option<ToolChoice<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) parallel_tool_calls: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) max_output_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) temperature: Option<&'a Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) top_p: Option<&'a Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<TextSettings<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reasoning: Option<ReasoningSettings<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) prompt_cache_key: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stream: Option<bool>,
    #[serde(flatten)]
    pub(super) rest: Rest<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Tool<'a> {
    Function(Function<'a>),
    /// One that the vendor runs, as it came.
    Hosted(&'a Json),
}

#[derive(Serialize)]
pub(super) struct Function<'a> {
    pub(super) r#type: &'static str,
    pub(super) name: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) description: Option<&'a str>,
    pub(super) parameters: Json,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) strict: Option<bool>,
    #[serde(flatten)]
    pub(super) extra: Rest<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum ToolChoice<'a> {
    Mode(&'static str),
    Function { r#type: &'static str, name: Cow<'a, str> },
}

#[derive(Serialize)]
pub(super) struct TextSettings<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) format: Option<Format<'a>>,
    #[serde(flatten)]
    pub(super) extra: Rest<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Format<'a> {
    Plain {
        r#type: &'static str,
        #[serde(flatten)]
        extra: Rest<'a>,
    },
    Schema {
        r#type: &'static str,
        name: Cow<'a, str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        description: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        strict: Option<bool>,
        schema: &'a Json,
        #[serde(flatten)]
        extra: Rest<'a>,
    },
}

#[derive(Serialize)]
pub(super) struct ReasoningSettings<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) summary: Option<&'static str>,
    #[serde(flatten)]
    pub(super) rest: Rest<'a>,
}

/// A `message` item of any role.
#[derive(Serialize)]
pub(super) struct Message<'a> {
    pub(super) r#type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<Cow<'a, str>>,
    pub(super) role: &'static str,
    pub(super) content: Content<'a>,
    #[serde(flatten)]
    pub(super) extra: Rest<'a>,
}

/// `content` of a message, or `output` of a result.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Content<'a> {
    Text(Cow<'a, str>),
    Parts(Vec<Part<'a>>),
}

#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Part<'a> {
    Text(Text<'a>),
    Image(Image<'a>),
    File(File<'a>),
    /// A part of the vendor's own, as it came.
    Raw(Cow<'a, RawValue>),
    /// The same, but for a field.
    Changed(Rest<'a>),
}

impl<'a> Part<'a> {
    /// The fields that we have no word for, if it is a part that takes some.
    pub(super) fn extra_mut(&mut self) -> Option<&mut Rest<'a>> {
        match self {
            Self::Text(text) => Some(&mut text.extra),
            Self::Image(image) => Some(&mut image.extra),
            Self::File(file) => Some(&mut file.extra),
            Self::Raw(_) | Self::Changed(_) => None,
        }
    }
}

#[derive(Serialize)]
pub(super) struct Text<'a> {
    pub(super) r#type: &'static str,
    pub(super) text: Cow<'a, str>,
    /// An empty list, where the API insists on the field and the extra has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) annotations: Option<[(); 0]>,
    #[serde(flatten)]
    pub(super) extra: Rest<'a>,
}

#[derive(Serialize)]
pub(super) struct Image<'a> {
    pub(super) r#type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) image_url: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) file_id: Option<&'a str>,
    pub(super) detail: Cow<'a, str>,
    #[serde(flatten)]
    pub(super) extra: Rest<'a>,
}

#[derive(Serialize)]
pub(super) struct File<'a> {
    pub(super) r#type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) filename: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) file_data: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) file_url: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) file_id: Option<&'a str>,
    #[serde(flatten)]
    pub(super) extra: Rest<'a>,
}

#[derive(Serialize)]
pub(super) struct Reasoning<'a> {
    pub(super) r#type: &'static str,
    pub(super) id: Cow<'a, str>,
    pub(super) summary: Summary<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) encrypted_content: Option<&'a str>,
    #[serde(flatten)]
    pub(super) extra: Rest<'a>,
}

/// `summary`, which must be there even if it is empty.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Summary<'a> {
    /// As it came.
    Raw(&'a RawValue),
    One([SummaryText<'a>; 1]),
    Empty([(); 0]),
}

#[derive(Serialize)]
pub(super) struct SummaryText<'a> {
    pub(super) r#type: &'static str,
    pub(super) text: &'a str,
}

/// `function_call` or `custom_tool_call`.
#[derive(Serialize)]
pub(super) struct Call<'a> {
    pub(super) r#type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<Cow<'a, str>>,
    pub(super) call_id: Cow<'a, str>,
    pub(super) name: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) arguments: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) input: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) namespace: Option<String>,
    #[serde(flatten)]
    pub(super) extra: Rest<'a>,
}

/// `function_call_output` or `custom_tool_call_output`.
#[derive(Serialize)]
pub(super) struct Output<'a> {
    pub(super) r#type: &'static str,
    pub(super) call_id: Cow<'a, str>,
    pub(super) output: Content<'a>,
    #[serde(flatten)]
    pub(super) extra: Rest<'a>,
}

/// A picture that the API itself made.
#[derive(Serialize)]
pub(super) struct ImageCall<'a> {
    pub(super) r#type: &'static str,
    pub(super) id: Cow<'a, str>,
    pub(super) result: &'a str,
    #[serde(flatten)]
    pub(super) extra: Rest<'a>,
}
