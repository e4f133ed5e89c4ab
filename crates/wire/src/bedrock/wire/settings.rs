//! What stands around the turns.

use std::borrow::Cow;

use serde::Serialize;

use interleaf_model::Json;

use super::{Block, CachePoint, Rest};
use crate::anthropic::thinking::Thinking;

/// What stands before the turns.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::bedrock) struct Head<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::bedrock) tool_config: Option<ToolConfig<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(in crate::bedrock) system: Vec<Block<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::bedrock) struct ToolConfig<'a> {
    pub(in crate::bedrock) tools: Vec<ToolEntry<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::bedrock) tool_choice: Option<Choice<'a>>,
    #[serde(flatten)]
    pub(in crate::bedrock) rest: Rest<'a>,
}

/// An element of `tools`.
#[derive(Serialize)]
#[serde(untagged)]
pub(in crate::bedrock) enum ToolEntry<'a> {
    #[serde(rename_all = "camelCase")]
    Spec {
        tool_spec: ToolSpec<'a>,
        #[serde(flatten)]
        rest: Rest<'a>,
    },
    #[serde(rename_all = "camelCase")]
    Mark {
        cache_point: CachePoint,
    },
    Own(&'a Json),
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::bedrock) struct ToolSpec<'a> {
    pub(in crate::bedrock) name: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::bedrock) description: Option<&'a str>,
    pub(in crate::bedrock) input_schema: InputSchema<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::bedrock) strict: Option<bool>,
    #[serde(flatten)]
    pub(in crate::bedrock) rest: Rest<'a>,
}

#[derive(Serialize)]
pub(in crate::bedrock) struct InputSchema<'a> {
    pub(in crate::bedrock) json: Json,
    #[serde(flatten)]
    pub(in crate::bedrock) rest: Rest<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::bedrock) enum Choice<'a> {
    Auto {},
    Any {},
    Tool { name: Cow<'a, str> },
}

/// What stands after the turns.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::bedrock) struct Tail<'a> {
    #[serde(skip_serializing_if = "InferenceConfig::is_empty")]
    pub(in crate::bedrock) inference_config: InferenceConfig<'a>,
    #[serde(skip_serializing_if = "ModelFields::is_empty")]
    pub(in crate::bedrock) additional_model_request_fields: ModelFields<'a>,
    #[serde(skip_serializing_if = "OutputConfig::is_empty")]
    pub(in crate::bedrock) output_config: OutputConfig<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::bedrock) model_id: Option<&'a str>,
    #[serde(flatten)]
    pub(in crate::bedrock) rest: Rest<'a>,
}

#[derive(Serialize, Default)]
#[serde(rename_all = "camelCase")]
pub(in crate::bedrock) struct InferenceConfig<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::bedrock) max_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::bedrock) temperature: Option<Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::bedrock) top_p: Option<Json>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(in crate::bedrock) stop_sequences: Vec<&'a str>,
    #[serde(flatten)]
    pub(in crate::bedrock) rest: Rest<'a>,
}

impl InferenceConfig<'_> {
    fn is_empty(&self) -> bool {
        self.max_tokens.is_none()
            && self.temperature.is_none()
            && self.top_p.is_none()
            && self.stop_sequences.is_empty()
            && self.rest.is_empty()
    }
}

/// What the model takes beside the API's own fields.
#[derive(Serialize, Default)]
pub(in crate::bedrock) struct ModelFields<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::bedrock) thinking: Option<Thinking<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::bedrock) top_k: Option<&'a Json>,
    #[serde(flatten)]
    pub(in crate::bedrock) rest: Rest<'a>,
}

impl ModelFields<'_> {
    fn is_empty(&self) -> bool {
        self.thinking.is_none() && self.top_k.is_none() && self.rest.is_empty()
    }
}

#[derive(Serialize, Default)]
#[serde(rename_all = "camelCase")]
pub(in crate::bedrock) struct OutputConfig<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::bedrock) text_format: Option<TextFormat<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::bedrock) effort: Option<&'static str>,
    #[serde(flatten)]
    pub(in crate::bedrock) rest: Rest<'a>,
}

impl OutputConfig<'_> {
    fn is_empty(&self) -> bool {
        self.text_format.is_none() && self.effort.is_none() && self.rest.is_empty()
    }
}

#[derive(Serialize)]
pub(in crate::bedrock) struct TextFormat<'a> {
    #[serde(rename = "type")]
    pub(in crate::bedrock) kind: &'static str,
    pub(in crate::bedrock) structure: Structure<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::bedrock) struct Structure<'a> {
    pub(in crate::bedrock) json_schema: JsonSchema<'a>,
}

#[derive(Serialize)]
pub(in crate::bedrock) struct JsonSchema<'a> {
    /// The text of a schema.
    pub(in crate::bedrock) schema: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::bedrock) name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::bedrock) description: Option<&'a str>,
}
