//! Settings in neutral words: what every API says of them, and that nothing of them is lost
//! in silence between any two.
//!
//! What changes without a word, because nothing is lost by it:
//!
//! | setting | on the way through | why |
//! |---|---|---|
//! | `model`, `stream` | Gemini, Bedrock | the address says it |
//! | `max_tokens`: none | Anthropic | one must stand there |
//! | `parallel_tool_calls`: true | Anthropic, Gemini, Bedrock | it is the default |
//! | `tool_choice`: none | Anthropic | `auto` holds `parallel_tool_calls` |
//! | `response_format`: text | Anthropic, Gemini, Bedrock | it is the default |
//! | `response_format`: `strict` | Anthropic, Gemini, Bedrock | it is always so |
//! | `response_format`: its name | Anthropic, Gemini | it says nothing to the model |
//! | `thinking`: on, with an effort | OpenAI, Gemini | the effort says it |
//! | `thoughts`: hidden | OpenAI Responses | it is the default |

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use interleaf_model::{Entry, Json, Message, Prompt, Provenance, Requirements, Tool};
use interleaf_wire::lint::lint;
use interleaf_wire::{
    Adjustment, Effort, Family, Options, ResponseFormat, ThinkingAmount, ThinkingMode, Thoughts,
    ToolChoice, Vendor, decode_request, encode,
};
use proptest::prelude::*;
use proptest::sample::select;

fn schema() -> Json {
    let text = r#"{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}"#;
    Json::parse(text).unwrap()
}

fn formats() -> Vec<ResponseFormat> {
    let mut described = ResponseFormat::schema("place", schema(), true);
    if let ResponseFormat::Schema(asked) = &mut described {
        asked.description = Some("where it is".to_owned());
    }
    let loose = ResponseFormat::schema("place", schema(), false);
    vec![ResponseFormat::Text, ResponseFormat::Json, described, loose]
}

fn thinking() -> impl Strategy<Value = Option<ThinkingMode>> {
    let amounts = [
        None,
        Some(ThinkingAmount::Off),
        Some(ThinkingAmount::Free),
        Some(ThinkingAmount::Budget(1024)),
        Some(ThinkingAmount::Budget(20_000)),
    ];
    let thoughts = [None, Some(Thoughts::Shown), Some(Thoughts::Hidden)];
    let effort = prop::option::of(select(Effort::ALL.to_vec()));
    (select(amounts.to_vec()), effort, select(thoughts.to_vec())).prop_map(
        |(amount, effort, thoughts)| {
            let mut mode = ThinkingMode::default();
            (mode.amount, mode.effort, mode.thoughts) = (amount, effort, thoughts);
            Some(mode).filter(|mode| *mode != ThinkingMode::default())
        },
    )
}

fn options() -> impl Strategy<Value = Options> {
    let number = || prop::option::of(select(vec!["0.10", "1", "0.5"]));
    let choice = select(vec![
        None,
        Some(ToolChoice::Auto),
        Some(ToolChoice::None),
        Some(ToolChoice::Required),
        Some(ToolChoice::Tool("ls".into())),
    ]);
    let stop = prop::collection::vec("[a-z]{1,3}", 0..6);
    (
        (prop::option::of(4_u64..40_000), number(), number(), prop::option::of(1_u32..99), stop),
        (any::<bool>(), choice, prop::option::of(any::<bool>()), any::<bool>()),
        (thinking(), prop::option::of(select(formats()))),
    )
        .prop_map(|(first, second, third)| {
            let mut options = Options::default();
            let number = |text| Json::parse(text).ok().map(interleaf_wire::Number::from_json);
            options.max_tokens = first.0;
            options.temperature = first.1.and_then(number);
            options.top_p = first.2.and_then(number);
            options.top_k = first.3.map(Into::into);
            options.stop = first.4;
            options.stream = second.0;
            options.tool_choice = second.1;
            options.parallel_tool_calls = second.2;
            options.cache_key = second.3.then(|| "k".into());
            (options.thinking, options.response_format) = third;
            options
        })
}

/// Models that take much, and models that take little.
fn models(family: Family) -> Vec<&'static str> {
    match family {
        Family::OpenaiChat => vec!["gpt-5.1", "gpt-4.1", "o3", "gpt-5.6", "a-model"],
        Family::OpenaiResponses => vec!["gpt-5.1", "gpt-4.1", "gpt-5", "a-model"],
        Family::Anthropic => {
            vec!["claude-opus-4-6", "claude-sonnet-4-5", "claude-opus-5-5", "a-model"]
        }
        Family::Gemini => vec!["gemini-2.5-pro", "gemini-3-pro", "a-model"],
        Family::Bedrock => vec!["us.anthropic.claude-opus-4-6-v1:0", "a-model"],
    }
}

fn family_and_model() -> impl Strategy<Value = (Family, &'static str)> {
    let all = Family::ALL
        .into_iter()
        .flat_map(|family| models(family).into_iter().map(move |m| (family, m)));
    select(all.collect::<Vec<_>>())
}

fn said(options: &Options, family: Family, model: &str) -> (String, Vec<Adjustment>) {
    let tools: Vec<Tool> = vec![Tool::new("ls", "lists", schema())];
    let entries = vec![Entry {
        message: Message::user("as JSON, please").into(),
        provenance: Provenance::Original,
    }];
    let prompt = Prompt::check_for(Requirements::NONE, entries, tools.into()).unwrap();
    let mut options = options.clone();
    options.model = model.into();
    let encoded = encode(&prompt, Vendor::of(family), &options).unwrap();
    (String::from_utf8(encoded.to_bytes()).unwrap(), encoded.adjustments)
}

fn read(body: &str, family: Family) -> Options {
    decode_request(family, body).unwrap().options
}

/// The settings that differ, by the names that adjustments have for them.
fn changed(asked: &Options, got: &Options, via: &[Family]) -> Vec<&'static str> {
    let through = |families: &[Family]| via.iter().any(|family| families.contains(family));
    use Family::{Anthropic, Bedrock, Gemini, OpenaiChat, OpenaiResponses};
    let mut changed = Vec::new();
    let mut note = |name, is_changed| {
        if is_changed {
            changed.push(name);
        }
    };
    let is_defaulted = asked.max_tokens.is_none() && through(&[Anthropic]);
    note("max_tokens", asked.max_tokens != got.max_tokens && !is_defaulted);
    note("temperature", asked.temperature != got.temperature);
    note("top_p", asked.top_p != got.top_p);
    note("top_k", asked.top_k != got.top_k);
    note("stop", asked.stop != got.stop);
    note("stream", asked.stream != got.stream && !through(&[Gemini, Bedrock]));
    let is_held = asked.tool_choice.is_none() && asked.parallel_tool_calls == Some(false);
    let is_auto = is_held && got.tool_choice == Some(ToolChoice::Auto) && through(&[Anthropic]);
    note("tool_choice", asked.tool_choice != got.tool_choice && !is_auto);
    let is_default = asked.parallel_tool_calls == Some(true)
        && got.parallel_tool_calls.is_none()
        && through(&[Anthropic, Gemini, Bedrock]);
    note(
        "parallel_tool_calls",
        asked.parallel_tool_calls != got.parallel_tool_calls && !is_default,
    );
    note("cache_key", asked.cache_key != got.cache_key);
    let (mode, now) = (asked.thinking.unwrap_or_default(), got.thinking.unwrap_or_default());
    let is_implied = mode.amount == Some(ThinkingAmount::Free)
        && mode.effort.is_some()
        && now.amount.is_none()
        && through(&[OpenaiChat, OpenaiResponses, Gemini]);
    note("thinking", mode.amount != now.amount && !is_implied);
    note("effort", mode.effort != now.effort);
    let is_hidden = mode.thoughts == Some(Thoughts::Hidden) && through(&[OpenaiResponses]);
    note("thoughts", mode.thoughts != now.thoughts && !is_hidden);
    note("response_format", form(asked, via) != form(got, via));
    changed
}

/// The form of the answer, without what one of the APIs says by saying nothing.
fn form(options: &Options, via: &[Family]) -> Option<ResponseFormat> {
    let through = |families: &[Family]| via.iter().any(|family| families.contains(family));
    let mut form = options.response_format.clone()?;
    match &mut form {
        ResponseFormat::Text if through(&[Family::Anthropic, Family::Gemini, Family::Bedrock]) => {
            return None;
        }
        ResponseFormat::Schema(asked) => {
            if through(&[Family::Anthropic, Family::Gemini, Family::Bedrock]) {
                asked.strict = None;
            }
            if through(&[Family::Anthropic, Family::Gemini]) {
                asked.name = None;
            }
        }
        _ => {}
    }
    Some(form)
}

/// Whether an adjustment says that a setting is another now.
fn is_named(name: &str, adjustments: &[Adjustment]) -> bool {
    let names: &[&str] = match name {
        // Each of them may stand for the other.
        "thinking" | "effort" => &["thinking", "effort", "reasoning_effort"],
        "cache_key" => &["cache_key", "prompt_cache_key"],
        _ => &[name],
    };
    let says = |it: &Adjustment| names.iter().any(|name| it.detail.starts_with(name));
    adjustments.iter().any(says)
}

proptest! {
    #[test]
    fn what_one_api_cannot_say_is_named((family, model) in family_and_model(), options in options()) {
        let (body, adjustments) = said(&options, family, model);
        let got = read(&body, family);
        for name in changed(&options, &got, &[family]) {
            prop_assert!(is_named(name, &adjustments), "{name}\n{options:?}\n{body}\n{adjustments:?}");
        }
        prop_assert_eq!(got.rest.iter().count(), 0, "{}", body);
        prop_assert_eq!(lint(Vendor::of(family), &body).unwrap(), vec![], "{}", body);
        // Said once, it is said the same again.
        let (again, more) = said(&got, family, model);
        prop_assert_eq!(&again, &body);
        prop_assert_eq!(more, vec![]);
    }

    #[test]
    fn between_any_two_apis_nothing_is_lost_in_silence(
        (from, model) in family_and_model(),
        (to, other) in family_and_model(),
        options in options(),
    ) {
        let (body, mut adjustments) = said(&options, from, model);
        let (body, more) = said(&read(&body, from), to, other);
        adjustments.extend(more);
        let got = read(&body, to);
        for name in changed(&options, &got, &[from, to]) {
            prop_assert!(is_named(name, &adjustments), "{name}\n{options:?}\n{body}\n{adjustments:?}");
        }
    }
}

const SAID: &str = r#"openai-chat gpt-5.1
  {"tool_choice":"auto","max_completion_tokens":20000,"stop":["END"],"reasoning_effort":"high","response_format":{"type":"json_schema","json_schema":{"name":"place","strict":true,"schema":SCHEMA}},"prompt_cache_key":"k"}
  setting left out: thoughts: the API has no such setting
openai-chat gpt-4.1
  {"tool_choice":"auto","max_completion_tokens":20000,"stop":["END"],"response_format":{"type":"json_schema","json_schema":{"name":"place","strict":true,"schema":SCHEMA}},"prompt_cache_key":"k"}
  setting left out: thoughts: the API has no such setting
  setting left out: thinking: the model does not think
openai-responses gpt-5.1
  {"tool_choice":"auto","max_output_tokens":20000,"text":{"format":{"type":"json_schema","name":"place","strict":true,"schema":SCHEMA}},"reasoning":{"effort":"high","summary":"auto"},"prompt_cache_key":"k"}
  setting left out: stop
openai-responses gpt-4.1
  {"tool_choice":"auto","max_output_tokens":20000,"text":{"format":{"type":"json_schema","name":"place","strict":true,"schema":SCHEMA}},"prompt_cache_key":"k"}
  setting left out: stop
  setting left out: thinking: the model does not think
  setting left out: thoughts: the model does not think
anthropic claude-opus-4-6
  {"max_tokens":20000,"stop_sequences":["END"],"thinking":{"type":"adaptive","display":"summarized"},"output_config":{"format":{"type":"json_schema","schema":SCHEMA},"effort":"high"},"tool_choice":{"type":"auto"}}
  setting left out: cache_key
anthropic claude-sonnet-4-5
  {"max_tokens":20000,"stop_sequences":["END"],"thinking":{"type":"enabled","budget_tokens":10000,"display":"summarized"},"output_config":{"format":{"type":"json_schema","schema":SCHEMA}},"tool_choice":{"type":"auto"}}
  setting changed: effort: 10000 tokens to think stand for it
  setting left out: cache_key
gemini gemini-2.5-pro
  {"toolConfig":{"functionCallingConfig":{"mode":"AUTO"}},"generationConfig":{"maxOutputTokens":20000,"stopSequences":["END"],"thinkingConfig":{"includeThoughts":true,"thinkingBudget":16384}}}
  setting left out: cache_key
  setting changed: effort: 16384 tokens to think stand for it
  setting left out: response_format: the model takes none beside functions
gemini gemini-3-pro
  {"toolConfig":{"functionCallingConfig":{"mode":"AUTO"}},"generationConfig":{"maxOutputTokens":20000,"stopSequences":["END"],"responseMimeType":"application/json","responseJsonSchema":SCHEMA,"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"HIGH"}}}
  setting left out: cache_key
bedrock us.anthropic.claude-opus-4-6-v1:0
  {"toolConfig":{"toolChoice":{"auto":{}}},"inferenceConfig":{"maxTokens":20000,"stopSequences":["END"]},"additionalModelRequestFields":{"thinking":{"type":"adaptive","display":"summarized"}},"outputConfig":{"textFormat":{"type":"json_schema","structure":{"jsonSchema":{"schema":SCHEMA,"name":"place"}}},"effort":"high"}}
  setting left out: cache_key
bedrock a-model
  {"toolConfig":{"toolChoice":{"auto":{}}},"inferenceConfig":{"maxTokens":20000,"stopSequences":["END"]},"additionalModelRequestFields":{"thinking":{"type":"adaptive","display":"summarized"}},"outputConfig":{"textFormat":{"type":"json_schema","structure":{"jsonSchema":{"schema":SCHEMA,"name":"place"}}},"effort":"high"}}
  setting left out: cache_key
"#;

#[test]
fn the_same_settings_in_the_words_of_every_api() {
    let mut options = Options::default();
    options.max_tokens = Some(20_000);
    options.stop = vec!["END".to_owned()];
    options.tool_choice = Some(ToolChoice::Auto);
    options.thinking =
        Some(ThinkingMode::on().with_effort(Effort::High).with_thoughts(Thoughts::Shown));
    options.response_format = Some(ResponseFormat::schema("place", schema(), true));
    options.cache_key = Some("k".into());
    let mut shown = String::new();
    for family in Family::ALL {
        for model in models(family).into_iter().take(2) {
            let (body, adjustments) = said(&options, family, model);
            let mut body: serde_json::Value = serde_json::from_str(&body).unwrap();
            let fields = body.as_object_mut().unwrap();
            let known = ["model", "messages", "input", "contents", "tools"];
            fields.retain(|name, _| !known.contains(&name.as_str()));
            if let Some(config) = body.get_mut("toolConfig").and_then(|it| it.as_object_mut()) {
                config.retain(|name, _| name != "tools");
            }
            let body = body.to_string().replace(schema().as_str(), "SCHEMA");
            let body = body.replace(&serde_json::json!(schema().as_str()).to_string(), "SCHEMA");
            shown += &format!("{family} {model}\n  {body}\n");
            for adjustment in adjustments {
                shown += &format!("  {}: {}\n", adjustment.kind, adjustment.detail);
            }
        }
    }
    assert_eq!(shown, SAID, "{shown}");
}
