//! What is written, field by field in order.

mod names;

use std::borrow::Cow;

use interleaf_model::Json;
use serde::{Serialize, Serializer};

use crate::raw::Fields;

pub(super) use crate::rest::Rest;
pub(super) use names::{DATA, SIBLINGS, is_name, own_name, peek, snake_case, take};

/// All up to the turns.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Head<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) system_instruction: Option<SystemInstruction<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) tools: Vec<ToolGroup<'a>>,
}

/// The system text.
#[derive(Serialize)]
pub(super) struct SystemInstruction<'a> {
    pub(super) parts: Vec<Element<'a>>,
    #[serde(flatten)]
    pub(super) rest: Rest<'a>,
}

/// A turn.
#[derive(Serialize)]
pub(super) struct Content<'a> {
    pub(super) role: &'static str,
    pub(super) parts: Vec<Element<'a>>,
    #[serde(flatten)]
    pub(super) rest: Rest<'a>,
}

/// A part that we write, or one that was kept as it came.
pub(super) enum Element<'a> {
    Part(Part<'a>),
    Kept(&'a Json),
}

/// A part: what it holds, and what stands beside it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Part<'a> {
    #[serde(flatten)]
    pub(super) data: Data<'a>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) thought: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) thought_signature: Option<Cow<'a, str>>,
    #[serde(flatten)]
    pub(super) rest: Rest<'a>,
}

/// What a part holds; exactly one of these.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Data<'a> {
    Text(Cow<'a, str>),
    InlineData(InlineData<'a>),
    FileData(FileData<'a>),
    FunctionCall(FunctionCall<'a>),
    FunctionResponse(FunctionResponse<'a>),
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct InlineData<'a> {
    pub(super) mime_type: Cow<'a, str>,
    pub(super) data: Cow<'a, str>,
    #[serde(flatten)]
    pub(super) rest: Rest<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FileData<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) mime_type: Option<Cow<'a, str>>,
    pub(super) file_uri: &'a str,
    #[serde(flatten)]
    pub(super) rest: Rest<'a>,
}

#[derive(Serialize)]
pub(super) struct FunctionCall<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<Cow<'a, str>>,
    pub(super) name: Cow<'a, str>,
    pub(super) args: Json,
    #[serde(flatten)]
    pub(super) rest: Rest<'a>,
}

#[derive(Serialize)]
pub(super) struct FunctionResponse<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<Cow<'a, str>>,
    pub(super) name: Cow<'a, str>,
    pub(super) response: Response<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) parts: Vec<Element<'a>>,
    #[serde(flatten)]
    pub(super) rest: Rest<'a>,
}

/// What a tool said, as the object that the API wants.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Said<'a> {
    Output(Cow<'a, str>),
    Result(Cow<'a, str>),
    Error(Cow<'a, str>),
}

/// What a tool said, or an object that was kept as it came.
pub(super) enum Response<'a> {
    Said(Said<'a>),
    Kept(Json),
}

/// Functions, or a tool that the vendor runs.
pub(super) enum ToolGroup<'a> {
    Functions(FunctionGroup<'a>),
    Hosted(&'a Json),
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FunctionGroup<'a> {
    pub(super) function_declarations: Vec<FunctionDeclaration<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FunctionDeclaration<'a> {
    pub(super) name: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) description: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) parameters: Option<Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) parameters_json_schema: Option<Json>,
    #[serde(flatten)]
    pub(super) rest: Rest<'a>,
}

/// All after the turns.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Tail<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool_config: Option<ToolConfig<'a>>,
    #[serde(skip_serializing_if = "GenerationConfig::is_empty")]
    pub(super) generation_config: GenerationConfig<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) model: Option<&'a str>,
    #[serde(flatten)]
    pub(super) rest: Rest<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ToolConfig<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) function_calling_config: Option<FunctionCallingConfig<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) include_server_side_tool_invocations: Option<bool>,
    #[serde(flatten)]
    pub(super) rest: Rest<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FunctionCallingConfig<'a> {
    pub(super) mode: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) allowed_function_names: Vec<Cow<'a, str>>,
}

#[derive(Serialize, Default)]
#[serde(rename_all = "camelCase")]
pub(super) struct GenerationConfig<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) max_output_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) temperature: Option<&'a Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) top_p: Option<&'a Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) top_k: Option<&'a Json>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub(super) stop_sequences: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) response_mime_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) response_json_schema: Option<Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) thinking_config: Option<ThinkingConfig<'a>>,
    #[serde(flatten)]
    pub(super) rest: Rest<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ThinkingConfig<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) include_thoughts: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) thinking_budget: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) thinking_level: Option<&'static str>,
    #[serde(flatten)]
    pub(super) rest: Rest<'a>,
}

impl GenerationConfig<'_> {
    fn is_empty(&self) -> bool {
        self.max_output_tokens.is_none()
            && self.temperature.is_none()
            && self.top_p.is_none()
            && self.top_k.is_none()
            && self.stop_sequences.is_empty()
            && self.response_mime_type.is_none()
            && self.response_json_schema.is_none()
            && self.thinking_config.is_none()
            && self.rest.is_empty()
    }
}

/// What an object has beside the fields of these names. A name of the API's own is written
/// in camel case; of two spellings the first stays.
pub(super) fn rest_without<'a>(fields: &Fields<'a>, names: &[&str]) -> Rest<'a> {
    let mut rest = Rest::NONE;
    for (name, value) in Rest::of_fields(fields, &[]) {
        let name = own_name(&name).map_or(name, Cow::Borrowed);
        if !names.contains(&&*name) {
            rest.add(name, value);
        }
    }
    rest
}

impl Serialize for Element<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Part(part) => part.serialize(serializer),
            Self::Kept(json) => json.serialize(serializer),
        }
    }
}

impl Serialize for Response<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Said(said) => said.serialize(serializer),
            Self::Kept(json) => json.serialize(serializer),
        }
    }
}

impl Serialize for ToolGroup<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Functions(group) => group.serialize(serializer),
            Self::Hosted(json) => json.serialize(serializer),
        }
    }
}
