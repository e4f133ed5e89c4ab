//! The JSON of a chat request as it is written. The order of the fields here is the
//! order in the body: to change it moves bytes that caches remember.

use std::borrow::Cow;

use interleaf_model::{Extra, Json};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::raw::Fields;

/// All before the messages.
#[derive(Serialize)]
pub(super) struct Head<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    pub(super) model: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) tools: Vec<Tool<'a>>,
}

/// All behind the messages.
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
    pub(super) response_format: Option<Cow<'a, Json>>,
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
#[serde(untagged)]
pub(super) enum Thinking<'a> {
    Raw(&'a Json),
    Switch {
        #[serde(rename = "type")]
        kind: &'static str,
    },
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
}

impl<'a> Part<'a> {
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

/// Fields that we have no word for, in order, each value as the bytes it came in.
#[derive(Default)]
pub(super) struct Rest<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> Rest<'a> {
    /// What the vendor attached, but for fields that have a place of their own.
    pub(super) fn of(extra: &'a Extra, owner: &str, taken: &[&str]) -> Self {
        let mut rest = Self::default();
        let raw = extra.get(owner).and_then(|own| serde_json::from_str(own.as_str()).ok());
        if let Some(fields) = raw.and_then(|raw| Fields::read(raw).ok()) {
            for (name, value) in fields.into_list() {
                if !taken.contains(&&*name) {
                    rest.push(name, value);
                }
            }
        }
        rest
    }

    /// Adds a field; of two of one name the last one stays.
    pub(super) fn push(&mut self, name: Cow<'a, str>, value: &'a RawValue) {
        self.0.retain(|(before, _)| *before != name);
        self.0.push((name, value));
    }

    /// The value of a field, which then is no longer here.
    pub(super) fn take(&mut self, name: &str) -> Option<&'a RawValue> {
        let at = self.0.iter().position(|(key, _)| key == name)?;
        Some(self.0.remove(at).1)
    }

    /// The fields of an object that stands under `name`, but for those that have a
    /// place of their own.
    pub(super) fn take_inner(&mut self, name: &str, taken: &[&str]) -> Self {
        let mut inner = Self::default();
        if let Some(fields) = self.take(name).and_then(|raw| Fields::read(raw).ok()) {
            for (name, value) in fields.into_list() {
                if !taken.contains(&&*name) {
                    inner.push(name, value);
                }
            }
        }
        inner
    }

    /// Adds what another has and this has not.
    pub(super) fn merge(&mut self, other: Self) {
        for (name, value) in other.0 {
            if !self.0.iter().any(|(key, _)| *key == name) {
                self.0.push((name, value));
            }
        }
    }

    /// The value of a field.
    pub(super) fn get(&self, name: &str) -> Option<&'a RawValue> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| *value)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Serialize for Rest<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}
