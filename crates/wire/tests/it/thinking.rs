//! How much a Claude thinks: whatever is asked for, of whichever model, within whatever
//! limit, the body is one that the model takes, and what was changed is said.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use interleaf_model::{Entry, Message, Prompt, Provenance, Requirements};
use interleaf_wire::lint::lint;
use interleaf_wire::{
    Adjustment, AdjustmentKind, Effort, Family, Options, ThinkingAmount, ThinkingMode, Thoughts,
    Vendor, decode_request, encode,
};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::Value;

const NONE: &[&str] = &[];
const THREE: &[&str] = &["low", "medium", "high"];
const FOUR: &[&str] = &["low", "medium", "high", "max"];
const FIVE: &[&str] = &["low", "medium", "high", "xhigh", "max"];

const BUDGET: &[&str] = &["enabled", "disabled"];
const ANY: &[&str] = &["enabled", "adaptive", "disabled"];
const ADAPTIVE: &[&str] = &["adaptive", "disabled"];
const ALWAYS: &[&str] = &["adaptive"];

/// What is published of each model: the `thinking` that it takes, the efforts that it
/// knows, and the most tokens that it writes.
const MODELS: &[(&str, &[&str], &[&str], u64)] = &[
    ("claude-opus-4-20250514", BUDGET, NONE, 32_000),
    ("claude-opus-4-1", BUDGET, NONE, 32_000),
    ("claude-sonnet-4-20250514", BUDGET, NONE, 64_000),
    ("claude-sonnet-4-5", BUDGET, NONE, 64_000),
    ("claude-haiku-4-5", BUDGET, NONE, 64_000),
    ("claude-opus-4-5", BUDGET, THREE, 64_000),
    ("claude-opus-4-6", ANY, FOUR, 128_000),
    ("claude-sonnet-4-6", ANY, FOUR, 128_000),
    ("claude-opus-4-7", ADAPTIVE, FIVE, 128_000),
    ("claude-opus-4-8", ADAPTIVE, FIVE, 128_000),
    ("claude-opus-5", ADAPTIVE, FIVE, 128_000),
    ("claude-sonnet-5", ADAPTIVE, FIVE, 128_000),
    ("claude-haiku-5-5", ADAPTIVE, FIVE, 128_000),
    ("claude-mythos-preview", ALWAYS, FOUR, u64::MAX),
    ("claude-fable-5", ALWAYS, FIVE, 128_000),
    ("claude-fable-5-2", ALWAYS, FIVE, 128_000),
    ("claude-opus-5-5", ALWAYS, FIVE, 128_000),
    ("a-model", ANY, FIVE, u64::MAX),
];

fn tokens() -> impl Strategy<Value = u64> {
    let edges = [
        0,
        1,
        500,
        1000,
        1023,
        1024,
        1025,
        2047,
        2048,
        2049,
        4096,
        8192,
        20_000,
        31_999,
        32_000,
        32_001,
        62_000,
        63_999,
        64_000,
        64_001,
        127_999,
        128_000,
        128_001,
        u64::MAX,
    ];
    prop_oneof![select(edges.to_vec()), 0..200_000_u64]
}

fn amount() -> impl Strategy<Value = Option<ThinkingAmount>> {
    prop_oneof![
        Just(None),
        Just(Some(ThinkingAmount::Off)),
        Just(Some(ThinkingAmount::Free)),
        tokens().prop_map(|tokens| Some(ThinkingAmount::Budget(tokens))),
    ]
}

fn mode() -> impl Strategy<Value = ThinkingMode> {
    let thoughts = [None, Some(Thoughts::Shown), Some(Thoughts::Hidden)];
    let effort = prop::option::of(select(Effort::ALL.to_vec()));
    (amount(), effort, select(thoughts.to_vec())).prop_map(|(amount, effort, thoughts)| {
        let mut mode = ThinkingMode::default();
        (mode.amount, mode.effort, mode.thoughts) = (amount, effort, thoughts);
        mode
    })
}

fn asked(model: &str, mode: ThinkingMode, max_tokens: Option<u64>) -> Options {
    let mut options = Options::model(model);
    options.thinking = Some(mode).filter(|mode| *mode != ThinkingMode::default());
    options.max_tokens = max_tokens;
    options
}

fn written(options: &Options, family: Family) -> (String, Vec<Adjustment>) {
    let entries =
        vec![Entry { message: Message::user("why?").into(), provenance: Provenance::Original }];
    let prompt = Prompt::check_for(Requirements::NONE, entries, Vec::new().into()).unwrap();
    let encoded = encode(&prompt, Vendor::of(family), options).unwrap();
    (String::from_utf8(encoded.to_bytes()).unwrap(), encoded.adjustments)
}

/// What a body says of thinking: its type, its budget, the effort and the limit.
fn settings(
    body: &str,
    family: Family,
) -> (Option<String>, Option<u64>, Option<String>, Option<u64>) {
    let body: Value = serde_json::from_str(body).unwrap();
    let (thinking, effort, limit) = match family {
        Family::Bedrock => (
            "/additionalModelRequestFields/thinking",
            "/outputConfig/effort",
            "/inferenceConfig/maxTokens",
        ),
        _ => ("/thinking", "/output_config/effort", "/max_tokens"),
    };
    let word = |at: &str| body.pointer(at).map(|word| word.as_str().unwrap().to_owned());
    let number = |at: &str| body.pointer(at).map(|number| number.as_u64().unwrap());
    let budget = number(&format!("{thinking}/budget_tokens"));
    (word(&format!("{thinking}/type")), budget, word(effort), number(limit))
}

fn is_said(names: &[&str], adjustments: &[Adjustment]) -> bool {
    let starts = |it: &Adjustment| names.iter().any(|name| it.detail.starts_with(name));
    adjustments.iter().any(starts)
}

proptest! {
    #[test]
    fn whatever_is_asked_for_is_what_the_model_takes(
        (model, modes, efforts, most) in select(MODELS.to_vec()),
        family in select(vec![Family::Anthropic, Family::Bedrock]),
        mode in mode(),
        max_tokens in prop::option::of(tokens()),
    ) {
        let options = asked(model, mode, max_tokens);
        let (body, adjustments) = written(&options, family);
        let shown = format!("{model} {mode:?} {max_tokens:?}\n{body}\n{adjustments:?}");
        prop_assert_eq!(lint(Vendor::of(family), &body).unwrap(), vec![], "{}", shown);

        let (kind, budget, effort, limit) = settings(&body, family);
        prop_assert!(kind.as_deref().is_none_or(|kind| modes.contains(&kind)), "{shown}");
        prop_assert!(effort.as_deref().is_none_or(|effort| efforts.contains(&effort)), "{shown}");
        prop_assert!(limit.is_none_or(|limit| limit <= most), "{shown}");
        let below = limit.unwrap_or(most);
        prop_assert!(budget.is_none_or(|budget| 1024 <= budget && budget < below), "{shown}");

        let got = decode_request(family, &body).unwrap().options;
        let now = got.thinking.unwrap_or_default();
        let is_same = (mode.amount, mode.effort) == (now.amount, now.effort);
        let is_thinking_said = is_said(&["thinking", "effort"], &adjustments);
        prop_assert_eq!(!is_same, is_thinking_said, "{}", shown);
        prop_assert_eq!(mode.thoughts != now.thoughts, is_said(&["thoughts"], &adjustments), "{}", shown);
        if max_tokens.is_some() {
            let is_limit_said = is_said(&["max_tokens"], &adjustments);
            prop_assert_eq!(max_tokens != limit, is_limit_said, "{}", shown);
        }
    }

    #[test]
    fn what_is_said_of_a_change_is_true(
        (model, ..) in select(MODELS.to_vec()),
        mode in mode(),
        max_tokens in prop::option::of(tokens()),
    ) {
        let (body, adjustments) = written(&asked(model, mode, max_tokens), Family::Anthropic);
        let shown = format!("{model} {mode:?} {max_tokens:?}\n{body}\n{adjustments:?}");
        let (kind, budget, effort, limit) = settings(&body, Family::Anthropic);
        for Adjustment { kind: change, detail, .. } in &adjustments {
            let number = detail.split(' ').find_map(|word| word.parse::<u64>().ok());
            if detail.starts_with("max_tokens:") {
                prop_assert_eq!(number, limit, "{}", shown);
            } else if *change == AdjustmentKind::OptionChanged && number.is_some() {
                prop_assert_eq!(number, budget, "{}", shown);
            } else if *change == AdjustmentKind::OptionChanged {
                prop_assert!(effort.as_deref().is_some_and(|effort| detail.contains(effort)), "{shown}");
            } else if detail.starts_with("thinking:") {
                prop_assert_eq!(kind.as_ref(), None, "{}", shown);
            }
        }
        let (again, more) = written(&decode_request(Family::Anthropic, &body).unwrap().options, Family::Anthropic);
        prop_assert_eq!((again, more), (body, vec![]), "{}", shown);
    }
}

const SAID: &str = "\
claude-sonnet-4-5 on, at most 1000: no thinking, max_tokens 1000
  setting left out: thinking: max_tokens leaves no room for it
claude-sonnet-4-5 on, at most 1025: enabled 1024, max_tokens 1025
  setting changed: thinking: the model needs a budget, and gets 1024 tokens
claude-haiku-4-5 effort high, at most 1000: no thinking, max_tokens 1000
  setting left out: thinking: max_tokens leaves no room for it
claude-opus-4-5 effort max: no thinking, effort high, max_tokens 4096
  setting changed: effort: high is the nearest that the model knows
claude-sonnet-4-6 effort xhigh: no thinking, effort high, max_tokens 4096
  setting changed: effort: high is the nearest that the model knows
claude-sonnet-4-6 effort max: no thinking, effort max, max_tokens 4096
claude-opus-4-7 effort xhigh: no thinking, effort xhigh, max_tokens 4096
claude-opus-4-5 budget 62000: enabled 62000, max_tokens 64000
  setting changed: max_tokens: 64000 is the most that the model writes
claude-opus-4-5 budget 64000: enabled 32000, max_tokens 36096
  setting changed: thinking.budget_tokens: 32000 leaves room for an answer
claude-opus-4-5 budget 500: enabled 1024, max_tokens 5120
  setting changed: thinking.budget_tokens: 1024 is the least there is
claude-opus-4-5 budget 8192, at most 4000: enabled 2000, max_tokens 4000
  setting changed: thinking.budget_tokens: 2000 leaves room for an answer
claude-opus-5 on, at most 200000: adaptive, max_tokens 128000
  setting changed: max_tokens: 128000 is the most that the model writes
";

#[test]
fn what_a_model_cannot_do_becomes_what_comes_nearest() {
    let (on, budget, effort) = (ThinkingMode::on(), ThinkingMode::budget, ThinkingMode::effort);
    let table = [
        ("claude-sonnet-4-5", "on", on, Some(1000)),
        ("claude-sonnet-4-5", "on", on, Some(1025)),
        ("claude-haiku-4-5", "effort high", effort(Effort::High), Some(1000)),
        ("claude-opus-4-5", "effort max", effort(Effort::Max), None),
        ("claude-sonnet-4-6", "effort xhigh", effort(Effort::ExtraHigh), None),
        ("claude-sonnet-4-6", "effort max", effort(Effort::Max), None),
        ("claude-opus-4-7", "effort xhigh", effort(Effort::ExtraHigh), None),
        ("claude-opus-4-5", "budget 62000", budget(62_000), None),
        ("claude-opus-4-5", "budget 64000", budget(64_000), None),
        ("claude-opus-4-5", "budget 500", budget(500), None),
        ("claude-opus-4-5", "budget 8192", budget(8192), Some(4000)),
        ("claude-opus-5", "on", on, Some(200_000)),
    ];
    let mut shown = String::new();
    for (model, asks, mode, max_tokens) in table {
        let (body, adjustments) = written(&asked(model, mode, max_tokens), Family::Anthropic);
        let (kind, budget, effort, limit) = settings(&body, Family::Anthropic);
        let within = max_tokens.map_or(String::new(), |most| format!(", at most {most}"));
        let kind = kind.unwrap_or("no thinking".to_owned());
        let budget = budget.map_or(String::new(), |tokens| format!(" {tokens}"));
        let effort = effort.map_or(String::new(), |effort| format!(", effort {effort}"));
        let limit = limit.unwrap();
        shown += &format!("{model} {asks}{within}: {kind}{budget}{effort}, max_tokens {limit}\n");
        for adjustment in adjustments {
            shown += &format!("  {}: {}\n", adjustment.kind, adjustment.detail);
        }
    }
    assert_eq!(shown, SAID, "{shown}");
}

/// A body in the form of chat whose model thought, and signed it.
fn signed(model: &str) -> String {
    format!(
        r#"{{"model":"{model}","messages":[{{"role":"user","content":"q"}},{{"role":"assistant","content":"a",
        "thinking_blocks":[{{"type":"thinking","thinking":"musing","signature":"QUJD"}}]}},
        {{"role":"user","content":"r"}}]}}"#
    )
}

#[test]
fn thinking_without_a_named_producer_is_of_the_conversation_s_own_model() {
    let table = [
        ("gemini-2.5-pro", Family::Gemini, "gemini-2.5-pro", true),
        ("claude-sonnet-4-5", Family::Anthropic, "claude-sonnet-4-5", true),
        ("claude-sonnet-4-5", Family::Gemini, "gemini-2.5-pro", false),
        ("gemini-2.5-pro", Family::Anthropic, "claude-sonnet-4-5", false),
        ("", Family::Gemini, "gemini-2.5-pro", true),
        ("", Family::Anthropic, "claude-sonnet-4-5", true),
        ("", Family::Bedrock, "anthropic.claude-sonnet-4-5", true),
    ];
    for (made_by, family, model, goes_back) in table {
        let request = decode_request(Family::OpenaiChat, &signed(made_by)).unwrap();
        let prompt = super::openai_chat::prompt(&request.messages, Vec::new());
        let encoded = encode(&prompt, Vendor::of(family), &Options::model(model)).unwrap();
        let body = String::from_utf8(encoded.to_bytes()).unwrap();
        assert_eq!(body.contains("musing"), goes_back, "{made_by:?} to {model}: {body}");
    }
    let request = decode_request(Family::OpenaiChat, &signed("magistral-medium")).unwrap();
    let prompt = super::openai_chat::prompt(&request.messages, Vec::new());
    let mistral = Vendor::named("mistral").unwrap();
    let encoded = encode(&prompt, mistral, &Options::model("magistral-medium")).unwrap();
    assert!(String::from_utf8(encoded.to_bytes()).unwrap().contains("musing"));
}
