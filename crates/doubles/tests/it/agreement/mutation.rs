//! Changes that break a body in one place, as programs do.

use interleaf_doubles::Api;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};

use super::drawn::models;

/// A change of a body. The places are drawn among those that the body has.
#[derive(Debug, Clone)]
pub(super) enum Mutation {
    /// Takes a field or an element out.
    Drop(Index),
    /// Puts an element there twice.
    Twice(Index),
    /// Puts an element elsewhere in its list.
    Move(Index, Index),
    /// Puts an element into another list of the same name.
    Across(Index, Index),
    /// Gives a field another name.
    Rename(Index, &'static str),
    /// Puts a value of any type in a place.
    Put(Index, Value),
    /// Gives a text the value that another field of the same name has.
    Same(Index, Index),
    /// Changes an id or a name.
    Call(Index, String),
    /// Gives a message another role.
    Role(Index, &'static str),
    /// Adds a field to an object.
    Add(Index, (&'static str, Value)),
    /// Puts a cache mark on everything that has a type or a text.
    MarkAll,
    /// Asks another model.
    Model(Index),
}

/// What is not the API's: it is replaced or dropped, and nothing inside it is changed.
const CARRIED: [&str; 6] = ["args", "response", "metadata", "enum", "required", "labels"];

pub(super) fn mutation(api: Api) -> impl Strategy<Value = Mutation> {
    let at = any::<Index>;
    let names = vec![
        String::new(),
        "a b".to_owned(),
        "no.such:name".to_owned(),
        "x".repeat(65),
        "x".repeat(129),
        "call_1".to_owned(),
        "1st".to_owned(),
        "é".to_owned(),
    ];
    let roles = ["user", "assistant", "system", "tool", "model", "developer", "function", "robot"];
    prop_oneof![
        6 => at().prop_map(Mutation::Drop),
        3 => at().prop_map(Mutation::Twice),
        3 => (at(), at()).prop_map(|(from, to)| Mutation::Move(from, to)),
        3 => (at(), at()).prop_map(|(from, to)| Mutation::Across(from, to)),
        2 => (at(), select(vec!["x_unknown", "text", "content", "type", "id", "name"]))
            .prop_map(|(at, name)| Mutation::Rename(at, name)),
        5 => (at(), select(values())).prop_map(|(at, value)| Mutation::Put(at, value)),
        3 => (at(), at()).prop_map(|(from, to)| Mutation::Same(from, to)),
        3 => (at(), select(names)).prop_map(|(at, name)| Mutation::Call(at, name)),
        3 => (at(), select(roles.to_vec())).prop_map(|(at, role)| Mutation::Role(at, role)),
        3 => (at(), select(fields(api))).prop_map(|(at, field)| Mutation::Add(at, field)),
        1 => Just(Mutation::MarkAll),
        1 => at().prop_map(Mutation::Model),
    ]
}

fn values() -> Vec<Value> {
    let mut values =
        vec![json!(null), json!(""), json!(" \n"), json!([]), json!({}), json!(true), json!(0)];
    values.extend([json!(-1), json!(1.5), json!(1e12), json!("text"), json!(["text"])]);
    values
}

/// Settings and fields of parts that some bodies lack, in their own and in the wrong place.
fn fields(api: Api) -> Vec<(&'static str, Value)> {
    let mut fields = vec![("temperature", json!(0.5)), ("stream", json!(true))];
    fields.extend(match api {
        Api::OpenAiChat => vec![
            ("max_tokens", json!(10)),
            ("max_completion_tokens", json!(10)),
            ("top_p", json!(2)),
            ("n", json!(0)),
            ("stop", json!(["a", "b", "c", "d", "e"])),
            ("reasoning_effort", json!("low")),
            ("parallel_tool_calls", json!(true)),
            ("stream_options", json!({"include_usage": true})),
            ("tool_choice", json!("required")),
            ("response_format", json!({"type": "json_object"})),
            ("refusal", json!("no")),
            ("name", json!("someone")),
            ("prompt_cache_breakpoint", json!({"mode": "explicit"})),
            ("prompt_cache_options", json!({"mode": "explicit"})),
            ("strict", json!(true)),
            ("tool_calls", json!([])),
        ],
        Api::OpenAiResponses => vec![
            ("max_output_tokens", json!(8)),
            ("top_p", json!(2)),
            ("instructions", json!("be brief")),
            ("reasoning", json!({"effort": "low"})),
            ("text", json!({"format": {"type": "json_object"}})),
            ("store", json!(false)),
            ("previous_response_id", json!("resp_1")),
            ("conversation", json!("conv_1")),
            ("tool_choice", json!("required")),
            ("messages", json!([])),
            ("max_tokens", json!(10)),
            ("truncation", json!("auto")),
            ("prompt_cache_breakpoint", json!({"mode": "explicit"})),
            ("prompt_cache_options", json!({"mode": "explicit", "ttl": "12h"})),
            ("strict", json!(true)),
            ("id", json!("item_1")),
        ],
        Api::Anthropic => vec![
            ("max_tokens", json!(10)),
            ("top_p", json!(0.9)),
            ("top_k", json!(-1)),
            ("stop_sequences", json!([" "])),
            ("thinking", json!({"type": "enabled", "budget_tokens": 2048})),
            ("thinking", json!({"type": "adaptive"})),
            ("thinking", json!({"type": "disabled"})),
            ("output_config", json!({"effort": "low"})),
            ("output_config", json!({"effort": "most"})),
            ("tool_choice", json!({"type": "any"})),
            ("tool_choice", json!({"type": "tool", "name": "bash"})),
            ("cache_control", json!({"type": "ephemeral"})),
            ("cache_control", json!({"type": "ephemeral", "ttl": "1h"})),
            ("cache_control", json!({"type": "lasting"})),
            ("defer_loading", json!(true)),
            ("strict", json!(true)),
            ("is_error", json!(true)),
            ("citations", json!([])),
        ],
        Api::Gemini => vec![
            ("generationConfig", json!({"temperature": 3})),
            ("generationConfig", json!({"topK": 0, "maxOutputTokens": 5})),
            ("generationConfig", json!({"thinkingConfig": {"thinkingBudget": 5}})),
            ("generation_config", json!({"response_mime_type": "application/json"})),
            ("toolConfig", json!({"functionCallingConfig": {"mode": "ANY"}})),
            ("toolConfig", json!({"functionCallingConfig": {"mode": "SOME"}})),
            ("cachedContent", json!("cachedContents/1")),
            ("systemInstruction", json!({"parts": [{"text": "be brief"}]})),
            ("thought", json!(true)),
            ("thoughtSignature", json!("AAAA")),
            ("thoughtSignature", json!("not base64!")),
            ("text", json!("more")),
            ("id", json!("fc-1")),
            ("googleSearch", json!({})),
            ("frequency_penalty", json!(0)),
        ],
        Api::Bedrock => vec![
            ("inferenceConfig", json!({"maxTokens": 0})),
            ("inferenceConfig", json!({"temperature": 1.5})),
            ("inferenceConfig", json!({"temperature": 1, "topP": 0.5})),
            ("inferenceConfig", json!({"stopSequences": [""]})),
            (
                "additionalModelRequestFields",
                json!({"thinking": {"type": "enabled", "budget_tokens": 1024}}),
            ),
            ("additionalModelRequestFields", json!({"thinking": {"type": "adaptive"}})),
            ("cachePoint", json!({"type": "default"})),
            ("status", json!("error")),
            ("status", json!("odd")),
            ("text", json!("more")),
            ("toolChoice", json!({"any": {}})),
            ("toolChoice", json!({"none": {}})),
            ("outputConfig", json!({"textFormat": {"type": "json_schema"}})),
            ("signature", json!("")),
        ],
    });
    fields
}

/// The places below a value that are the API's.
fn places(value: &Value, at: &str, found: &mut Vec<String>) {
    let is_carried = |name: &str, value: &Value| {
        // Arguments, and the properties of a schema, are the user's names.
        CARRIED.contains(&name) || (name == "input" && value.is_object())
    };
    match value {
        Value::Object(fields) => {
            for (name, inner) in fields {
                let at = format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"));
                found.push(at.clone());
                if !is_carried(name, inner) {
                    places(inner, &at, found);
                }
            }
        }
        Value::Array(list) => {
            for (i, inner) in list.iter().enumerate() {
                let at = format!("{at}/{i}");
                found.push(at.clone());
                places(inner, &at, found);
            }
        }
        _ => {}
    }
}

fn split(at: &str) -> (&str, String) {
    let (outer, name) = at.rsplit_once('/').unwrap();
    (outer, name.replace("~1", "/").replace("~0", "~"))
}

fn name_of(at: &str) -> &str {
    at.rsplit('/').find(|step| step.parse::<usize>().is_err()).unwrap_or_default()
}

impl Mutation {
    /// Changes a body; what finds no place changes nothing.
    pub(super) fn apply(&self, api: Api, body: &mut Value) {
        let mut all = Vec::new();
        places(body, "", &mut all);
        let elements: Vec<&String> = all
            .iter()
            .filter(|at| body.pointer(split(at).0).is_some_and(Value::is_array))
            .collect();
        let pick = |index: &Index, list: &[&String]| {
            (!list.is_empty()).then(|| list[index.index(list.len())].clone())
        };
        let every: Vec<&String> = all.iter().collect();
        let ending = |ends: &[&str]| -> Vec<&String> {
            all.iter().filter(|at| ends.contains(&split(at).1.as_str())).collect()
        };
        match self {
            Self::Drop(at) => {
                if let Some(at) = pick(at, &every) {
                    take(body, &at);
                }
            }
            Self::Twice(at) => {
                if let Some(at) = pick(at, &elements) {
                    let value = body.pointer(&at).unwrap().clone();
                    insert(body, &at, value);
                }
            }
            Self::Move(from, to) => {
                if let Some(at) = pick(from, &elements) {
                    let value = take(body, &at);
                    let (outer, _) = split(&at);
                    let len = body.pointer(outer).unwrap().as_array().unwrap().len();
                    insert(body, &format!("{outer}/{}", to.index(len + 1)), value);
                }
            }
            Self::Across(from, to) => {
                if let Some(at) = pick(from, &elements) {
                    let name = name_of(&at);
                    let same: Vec<&String> =
                        elements.iter().copied().filter(|other| name_of(other) == name).collect();
                    let to = pick(to, &same).unwrap();
                    let value = body.pointer(&at).unwrap().clone();
                    insert(body, &to, value);
                    // The place of the original has moved on, if it was behind.
                    let at = if to == at || split(&to).0 == split(&at).0 { to } else { at };
                    if body.pointer(&at).is_some() {
                        take(body, &at);
                    }
                }
            }
            Self::Rename(at, name) => {
                let named: Vec<&String> = all
                    .iter()
                    .filter(|at| body.pointer(split(at).0).is_some_and(Value::is_object))
                    .collect();
                if let Some(at) = pick(at, &named) {
                    let value = take(body, &at);
                    let outer = body.pointer_mut(split(&at).0).unwrap();
                    outer.as_object_mut().unwrap().insert((*name).to_owned(), value);
                }
            }
            Self::Put(at, value) => {
                if let Some(at) = pick(at, &every) {
                    *body.pointer_mut(&at).unwrap() = value.clone();
                }
            }
            Self::Same(from, to) => {
                let strings: Vec<&String> =
                    all.iter().filter(|at| body.pointer(at).unwrap().is_string()).collect();
                if let Some(at) = pick(from, &strings) {
                    let name = name_of(&at);
                    let same: Vec<&String> =
                        strings.iter().copied().filter(|other| name_of(other) == name).collect();
                    let value = body.pointer(&pick(to, &same).unwrap()).unwrap().clone();
                    *body.pointer_mut(&at).unwrap() = value;
                }
            }
            Self::Call(at, name) => {
                let ends = [
                    "id",
                    "call_id",
                    "tool_call_id",
                    "tool_use_id",
                    "toolUseId",
                    "name",
                    "signature",
                ];
                if let Some(at) = pick(at, &ending(&ends)) {
                    *body.pointer_mut(&at).unwrap() = json!(name);
                }
            }
            Self::Role(at, role) => {
                if let Some(at) = pick(at, &ending(&["role"])) {
                    *body.pointer_mut(&at).unwrap() = json!(role);
                }
            }
            Self::Add(at, (name, value)) => {
                let mut objects: Vec<String> = all
                    .iter()
                    .filter(|at| body.pointer(at).unwrap().is_object())
                    .cloned()
                    .collect();
                // The body itself, as often as anything in it.
                objects.extend(std::iter::repeat_n(String::new(), objects.len().max(1)));
                let at = &objects[at.index(objects.len())];
                if let Some(object) = body.pointer_mut(at).and_then(Value::as_object_mut) {
                    object.insert((*name).to_owned(), value.clone());
                }
            }
            Self::MarkAll => mark_all(api, body),
            Self::Model(at) => {
                let models = models(api);
                for name in ["model", "modelId"] {
                    if let Some(model) = body.get_mut(name) {
                        *model = json!(models[at.index(models.len())]);
                    }
                }
            }
        }
    }
}

fn mark_all(api: Api, value: &mut Value) {
    match value {
        Value::Array(list) => {
            list.iter_mut().for_each(|inner| mark_all(api, inner));
            let is_content = list
                .first()
                .is_some_and(|first| first.get("text").is_some() || first.get("toolUse").is_some());
            if api == Api::Bedrock && is_content {
                list.push(json!({"cachePoint": {"type": "default"}}));
            }
        }
        Value::Object(fields) => {
            if fields.contains_key("text") && fields.contains_key("type") {
                let mark = match api {
                    Api::Anthropic => Some(("cache_control", json!({"type": "ephemeral"}))),
                    Api::OpenAiChat | Api::OpenAiResponses => {
                        Some(("prompt_cache_breakpoint", json!({"mode": "explicit"})))
                    }
                    _ => None,
                };
                fields.extend(mark.map(|(name, value)| (name.to_owned(), value)));
            }
            fields.values_mut().for_each(|inner| mark_all(api, inner));
        }
        _ => {}
    }
}

fn take(body: &mut Value, at: &str) -> Value {
    let (outer, name) = split(at);
    match body.pointer_mut(outer) {
        Some(Value::Object(fields)) => fields.shift_remove(&name).unwrap_or_default(),
        Some(Value::Array(list)) => list.remove(name.parse().unwrap()),
        _ => Value::Null,
    }
}

fn insert(body: &mut Value, at: &str, value: Value) {
    let (outer, name) = split(at);
    if let Some(Value::Array(list)) = body.pointer_mut(outer) {
        let at = name.parse::<usize>().unwrap().min(list.len());
        list.insert(at, value);
    }
}
