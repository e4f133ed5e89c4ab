//! C16, D10: a system message in mid-conversation, where an API takes one.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::sync::Arc;

use interleaf_model::{
    Entry, Message, Prompt, Provenance, Requirements, Role, SystemInPlace, notation,
};
use interleaf_samples::strategy::conversation;
use interleaf_wire::lint::lint;
use interleaf_wire::{CacheMarks, Family, Options, Vendor, decode_request, encode};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

fn prompt(requires: Requirements, messages: Vec<Message>) -> Option<Prompt> {
    let entry = |message| Entry { message: Arc::new(message), provenance: Provenance::Original };
    Prompt::check_for(requires, messages.into_iter().map(entry).collect(), Arc::new([])).ok()
}

fn body(prompt: &Prompt, vendor: &str, model: &str) -> String {
    let mut options = Options::model(model);
    options.cache = CacheMarks::On;
    let vendor = Vendor::named(vendor).unwrap();
    let body = String::from_utf8(encode(prompt, vendor, &options).unwrap().to_bytes()).unwrap();
    assert_eq!(lint(vendor, &body).unwrap(), [], "{body}");
    body
}

const LOOP: &str = "s Be careful.\nu go\na [call c1 ls]\nt c1= src\ns Be brief.\ns Be kind.";

#[test]
fn c16_each_api_has_its_own_form_for_it() {
    let messages = notation::parse(LOOP).unwrap();
    let any = prompt(Requirements::NONE, messages.clone()).unwrap();
    let chat = body(&any, "openai", "gpt-5.2");
    let systems = |form: &str| {
        let texts = ["Be brief.", "Be kind."].map(|text| form.replace('_', text));
        format!("{}]", texts.join(","))
    };
    let form = r#"{"role":"system","content":"_"}"#;
    assert!(chat.contains(&systems(form)), "{chat}");
    let responses = body(&any, "openai-responses", "gpt-5.2");
    let item = r#"{"type":"message","role":"system","content":"_"}"#;
    assert!(responses.contains(&systems(item)), "{responses}");
    let anthropic = Vendor::of(Family::Anthropic);
    let new = prompt(anthropic.requirements("claude-opus-5"), messages).unwrap();
    let claude = body(&new, "anthropic", "claude-opus-5");
    let brief = r#"{"role":"system","content":[{"type":"text","text":"Be brief."}]}"#;
    let kind = r#"{"type":"text","text":"Be kind.","cache_control":{"type":"ephemeral"}}"#;
    let end = format!(r#"{brief},{{"role":"system","content":[{kind}]}}]}}"#);
    assert!(claude.ends_with(&end), "{claude}");
    assert_eq!(claude.matches("cache_control").count(), 2, "{claude}");
}

#[test]
fn c11_a_mark_that_moves_on_leaves_the_system_messages_before_it_as_they_were() {
    let anthropic = Vendor::of(Family::Anthropic);
    let requires = anthropic.requirements("claude-opus-5");
    let longer = format!("{LOOP}\na [call c2 ls]\nt c2= doc\ns Be swift.");
    let bodies = [LOOP, &longer].map(|text| {
        let prompt = prompt(requires, notation::parse(text).unwrap()).unwrap();
        body(&prompt, "anthropic", "claude-opus-5")
    });
    let mark = r#","cache_control":{"type":"ephemeral"}"#;
    let [before, after] = bodies.map(|body| body.replace(mark, ""));
    let before = before.strip_suffix("]}").unwrap();
    assert!(after.starts_with(before), "{before}\n{after}");
}

#[test]
fn c11_no_mark_stands_on_a_system_message_that_is_cleared() {
    let anthropic = Vendor::of(Family::Anthropic);
    let turn = |clear_at: &str, mark: &str| {
        let text = format!(r#"{{"type":"text","text":"Be brief."{mark}}}"#);
        format!(
            r#"{{"model":"claude-opus-5","max_tokens":9,"messages":[{{"role":"user","content":"go"}},{{"role":"system","content":[{text}],"clear_at":{clear_at}}}]}}"#
        )
    };
    let mark = r#","cache_control":{"type":"ephemeral"}"#;
    for (clear_at, is_markable) in [(r#""next_user_message""#, false), (r#""never""#, true)] {
        let faults = lint(anthropic, &turn(clear_at, mark)).unwrap();
        let names: Vec<&str> = faults.iter().map(|fault| fault.rule.id).collect();
        assert_eq!(names.contains(&"anthropic/cache-mark-place"), !is_markable, "{names:?}");
        for cache in [CacheMarks::On, CacheMarks::Off] {
            let read = decode_request(Family::Anthropic, &turn(clear_at, mark)).unwrap();
            let prompt = prompt(anthropic.requirements("claude-opus-5"), read.messages).unwrap();
            let mut options = Options::model("claude-opus-5");
            options.cache = cache;
            let body = encode(&prompt, anthropic, &options).unwrap().to_bytes();
            let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
            let has_mark = |message: usize| {
                let at = format!("/messages/{message}/content/0/cache_control");
                body.pointer(&at).is_some()
            };
            let is_ours = cache == CacheMarks::On;
            assert_eq!(
                (has_mark(0), has_mark(1)),
                (is_ours && !is_markable, is_markable),
                "{body}"
            );
        }
    }
}

#[test]
fn b6_the_row_of_vendor_and_model_says_who_takes_it() {
    for (vendor, model, takes) in [
        ("openai", "gpt-5.2", SystemInPlace::Anywhere),
        ("openai-responses", "gpt-5.2", SystemInPlace::Anywhere),
        ("deepseek", "deepseek-chat", SystemInPlace::Anywhere),
        ("anthropic", "claude-opus-4-8", SystemInPlace::AfterUser),
        ("anthropic", "claude-opus-5", SystemInPlace::AfterUser),
        ("anthropic", "claude-fable-5-1", SystemInPlace::AfterUser),
        ("anthropic", "claude-sonnet-5-5", SystemInPlace::AfterUser),
        ("anthropic", "claude-sonnet-5", SystemInPlace::Nowhere),
        ("anthropic", "claude-opus-4-7", SystemInPlace::Nowhere),
        // Of a model that is not known nothing is assumed.
        ("anthropic", "a-model", SystemInPlace::Nowhere),
        ("google", "gemini-3-pro", SystemInPlace::Nowhere),
        ("bedrock", "anthropic.claude-opus-5-v1:0", SystemInPlace::Nowhere),
        ("mistral", "mistral-large-latest", SystemInPlace::Nowhere),
        ("qwen", "qwen3", SystemInPlace::Nowhere),
        ("vllm", "qwen3", SystemInPlace::Nowhere),
        ("llama-cpp", "qwen3", SystemInPlace::Nowhere),
    ] {
        let asked = Vendor::named(vendor).unwrap().requirements(model);
        assert_eq!(asked.system_in_place, takes, "{vendor} {model}");
    }
}

#[test]
fn b6_who_takes_none_is_not_sent_one() {
    let any = prompt(Requirements::NONE, notation::parse(LOOP).unwrap()).unwrap();
    for (family, model) in [
        (Family::Anthropic, "claude-sonnet-4-5"),
        (Family::Gemini, "gemini-3-pro"),
        (Family::Bedrock, "a-model"),
    ] {
        let error = encode(&any, Vendor::of(family), &Options::model(model)).unwrap_err();
        assert!(error.to_string().contains("message 4"), "{error}");
        assert!(error.to_string().contains("system messages must be at the head"), "{error}");
    }
}

/// Roles and words, neighbours of one role joined.
fn told(messages: &[Message]) -> Vec<(Role, String)> {
    let mut told: Vec<(Role, String)> = Vec::new();
    for message in messages {
        let text = message.texts().map(str::trim).filter(|t| !t.is_empty()).collect::<Vec<_>>();
        match told.last_mut() {
            Some((role, before)) if *role == message.role() => {
                *before = format!("{before}\n{}", text.join("\n"));
            }
            _ => told.push((message.role(), text.join("\n"))),
        }
    }
    told
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn d7_a_system_message_is_read_back_where_it_stood(
        shape in conversation(2..16), systems in vec((any::<Index>(), "[a-z]{1,8}"), 1..5),
    ) {
        // Words alone: what else is lost on the way is not tried here.
        let mut messages: Vec<Message> = vec![Message::user("go")];
        for message in &shape {
            match message.role() {
                Role::User => messages.push(Message::user("and?")),
                Role::Assistant if messages.last().map(Message::role) != Some(Role::Assistant) => {
                    messages.push(notation::parse("a Well.").unwrap().remove(0));
                }
                Role::Assistant | Role::System | Role::Tool => {}
            }
        }
        messages.push(Message::user("now?"));
        for (at, text) in systems {
            messages.insert(1 + at.index(messages.len()), Message::system(&text));
        }
        for (vendor, model) in [
            ("openai", "gpt-5.2"), ("openai-responses", "gpt-5.2"), ("anthropic", "claude-opus-5"),
        ] {
            let vendor = Vendor::named(vendor).unwrap();
            let requires = vendor.requirements(model);
            // A prompt of ours has it only where it may stand.
            let Some(prompt) = prompt(requires, messages.clone()) else { continue };
            let body = encode(&prompt, vendor, &Options::model(model)).unwrap().to_bytes();
            let body = String::from_utf8(body).unwrap();
            prop_assert_eq!(lint(vendor, &body).unwrap(), [], "{}", body);
            let read = decode_request(vendor.family, &body).unwrap().messages;
            prop_assert_eq!(told(&read), told(&messages), "{}", body);
        }
    }
}
