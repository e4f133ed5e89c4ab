//! Marks for the cache on OpenAI's APIs.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::sync::Arc;

use interleaf_model::{
    ContextKind, Entry, Message, Prompt, Provenance, Requirements, Role, SystemInPlace, notation,
};
use interleaf_samples::strategy::conversation;
use interleaf_wire::{
    CacheMarks, Encoded, Marks, Options, SessionEncoder, VENDORS, Vendor, encode,
};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};

use crate::lints_clean;

const MARK: &str = r#","prompt_cache_breakpoint":{"mode":"explicit"}"#;

/// What takes marks.
const HEEDING: [(&str, &str); 4] = [
    ("openai", "gpt-5.6"),
    ("azure", "gpt-5.6-luna"),
    ("openai-responses", "gpt-5.6"),
    ("openai-responses", "gpt-6.1-sol"),
];

fn options(model: &str, cache: CacheMarks) -> Options {
    let mut options = Options::model(model);
    options.cache = cache;
    options
}

fn requires() -> Requirements {
    let mut requires = Requirements::NONE;
    requires.system_in_place = SystemInPlace::Anywhere;
    requires
}

/// The messages as a prompt, of which one of the user's may be context.
fn prompt(messages: &[Arc<Message>], context: Option<usize>) -> Option<Prompt> {
    let entry = |(at, message): (usize, &Arc<Message>)| {
        let provenance = match message.role() {
            Role::System => Provenance::System,
            Role::User if context == Some(at) => Provenance::Context(ContextKind::Todo),
            _ => Provenance::Original,
        };
        Entry { message: message.clone(), provenance }
    };
    let entries = messages.iter().enumerate().map(entry).collect();
    Prompt::check_for(requires(), entries, Arc::new([])).ok()
}

fn text(body: &Encoded) -> String {
    String::from_utf8(body.to_bytes()).unwrap()
}

/// The messages of a body, without marks, each content a list.
fn plain(body: &str) -> Value {
    let mut body: Value = serde_json::from_str(body).unwrap();
    let list = if body["messages"].is_array() { "messages" } else { "input" };
    for message in body[list].as_array_mut().unwrap() {
        for field in ["content", "output"] {
            let said = message.get(field).and_then(Value::as_str).map(str::to_owned);
            let is_output = message["role"] == "assistant";
            let kind = match (list, is_output) {
                ("messages", _) => "text",
                (_, true) => "output_text",
                (_, false) => "input_text",
            };
            if let Some(said) = said {
                message[field] = json!([{"type": kind, "text": said}]);
            }
            for part in message.get_mut(field).and_then(Value::as_array_mut).into_iter().flatten() {
                if let Some(fields) = part.as_object_mut() {
                    fields.shift_remove("prompt_cache_breakpoint");
                }
            }
        }
    }
    body
}

/// The list of turns without marks.
fn list(body: &Encoded) -> String {
    text(body)[body.outline.list.clone()].replace(MARK, "")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn h1_marks_change_nothing_but_marks(
        messages in conversation(1..20),
        (vendor, model) in select(&HEEDING[..]),
        context in any::<Index>(),
    ) {
        let vendor = Vendor::named(vendor).unwrap();
        let messages: Vec<Arc<Message>> = messages.into_iter().map(Arc::new).collect();
        let users: Vec<usize> =
            (0..messages.len()).filter(|&at| messages[at].role() == Role::User).collect();
        let mut session = SessionEncoder::new();
        let mut before: Option<[Encoded; 2]> = None;
        for end in 1..=messages.len() {
            let context = users.get(context.index(users.len() + 1)).copied();
            let Some(prompt) = prompt(&messages[..end], context) else { continue };
            let on = options(model, CacheMarks::On);
            let marked = encode(&prompt, vendor, &on).unwrap();
            let plainly = encode(&prompt, vendor, &options(model, CacheMarks::Off)).unwrap();
            prop_assert_eq!(text(&session.encode(&prompt, vendor, &on).unwrap()), text(&marked));
            if !lints_clean(vendor, &text(&marked)) {
                continue;
            }
            let marks = Marks::of(&prompt, vendor, model);
            let n_head = prompt.entries().iter().take_while(|e| e.message.role() == Role::System);
            let n_head = n_head.count();
            let in_turns = marks.message.is_some_and(|at| at >= n_head);
            let n = text(&marked).matches(MARK).count();
            prop_assert_eq!(n, usize::from(marks.head) + usize::from(in_turns), "{}", text(&marked));
            prop_assert_eq!(plain(&text(&marked)), plain(&text(&plainly)));
            let now = [marked, plainly];
            if let Some([marked, plainly]) = &before
                && list(&now[1]).starts_with(&list(plainly))
            {
                prop_assert!(list(&now[0]).starts_with(&list(marked)), "{}", text(marked));
            }
            before = Some(now);
        }
    }

    #[test]
    fn h1_models_before_and_servers_that_imitate_openai_get_no_mark(
        messages in conversation(1..12),
        vendor in select(VENDORS),
        model in select(vec!["gpt-5.5", "gpt-5", "gpt-4.1", "o3", "gpt-oss-120b", "gpt-5.6"]),
    ) {
        let owner = vendor.family.owner();
        let is_openai = matches!(&*vendor.name, "openai" | "azure" | "openai-responses" | "azure-responses");
        if is_openai && model == "gpt-5.6" || matches!(owner, "anthropic" | "bedrock") {
            return Ok(());
        }
        let messages: Vec<Arc<Message>> = messages.into_iter().map(Arc::new).collect();
        let Some(prompt) = prompt(&messages, None) else { return Ok(()) };
        let [on, off] = [CacheMarks::On, CacheMarks::Off].map(|cache| {
            let body = encode(&prompt, &vendor, &options(model, cache));
            body.map(|body| (text(&body), body.adjustments)).ok()
        });
        prop_assert_eq!(on, off);
    }
}

fn said() -> Vec<Message> {
    let lines = r#"
        s You mend programs.
        u What is here?
        a I look. [call c1 ls {"path":"."}]
        t c1= a.rs
        a [call c2 ls {"path":"."}]
        t c2= [empty]
        a One file.
        u Mend it.
    "#;
    read(lines)
}

fn read(lines: &str) -> Vec<Message> {
    let lines: Vec<&str> = lines.lines().map(str::trim).collect();
    notation::parse(&lines.join("\n")).unwrap()
}

/// The places of the marks in a body, and what the last message before `n` looks like.
fn places(messages: &[Message], vendor: &str) -> Vec<String> {
    let messages: Vec<Arc<Message>> = messages.iter().cloned().map(Arc::new).collect();
    let prompt = prompt(&messages, None).unwrap();
    let vendor = Vendor::named(vendor).unwrap();
    let body = encode(&prompt, vendor, &options("gpt-5.6", CacheMarks::On)).unwrap();
    let body: Value = serde_json::from_str(&text(&body)).unwrap();
    let mut places = Vec::new();
    for (list, field) in [("messages", "content"), ("input", "content"), ("input", "output")] {
        for (i, message) in body[list].as_array().into_iter().flatten().enumerate() {
            for part in message[field].as_array().into_iter().flatten() {
                if part.get("prompt_cache_breakpoint").is_some() {
                    places.push(format!("{i} {}", part["text"].as_str().unwrap_or_default()));
                }
            }
        }
    }
    places
}

#[test]
fn h1_the_mark_stands_on_the_last_message_that_can_have_one() {
    let said = said();
    let head = "0 You mend programs.";
    for vendor in ["openai", "openai-responses"] {
        let at = |n: usize| places(&said[..n], vendor);
        assert_eq!(at(2), [head, "1 What is here?"]);
        assert_eq!(at(4)[0], head);
        assert!(at(4)[1].ends_with("a.rs"), "{:?}", at(4));
        // An empty result has no part, and what the model says takes no mark: one turn of the
        // model's is passed over, not two.
        assert_eq!(at(6), at(4));
        assert_eq!(at(7), [head]);
        assert!(at(8)[1].ends_with("Mend it."), "{:?}", at(8));
    }
}

#[test]
fn h1_a_mark_looks_as_openai_has_it() {
    let messages: Vec<Arc<Message>> = said().into_iter().take(4).map(Arc::new).collect();
    let prompt = prompt(&messages, None).unwrap();
    let on = options("gpt-5.6", CacheMarks::On);
    let body = |vendor: &str| text(&encode(&prompt, Vendor::named(vendor).unwrap(), &on).unwrap());
    let chat = concat!(
        r#"{"model":"gpt-5.6","messages":["#,
        r#"{"role":"system","content":[{"type":"text","text":"You mend programs.","prompt_cache_breakpoint":{"mode":"explicit"}}]},"#,
        r#"{"role":"user","content":[{"type":"text","text":"What is here?"}]},"#,
        r#"{"role":"assistant","content":"I look.","tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{\"path\":\".\"}"}}]},"#,
        r#"{"role":"tool","tool_call_id":"c1","content":[{"type":"text","text":"a.rs","prompt_cache_breakpoint":{"mode":"explicit"}}]}]}"#,
    );
    assert_eq!(body("openai"), chat);
    let responses = concat!(
        r#"{"model":"gpt-5.6","input":["#,
        r#"{"type":"message","role":"system","content":[{"type":"input_text","text":"You mend programs.","prompt_cache_breakpoint":{"mode":"explicit"}}]},"#,
        r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"What is here?"}]},"#,
        r#"{"type":"message","role":"assistant","content":"I look."},"#,
        r#"{"type":"function_call","call_id":"c1","name":"ls","arguments":"{\"path\":\".\"}"},"#,
        r#"{"type":"function_call_output","call_id":"c1","output":[{"type":"input_text","text":"a.rs","prompt_cache_breakpoint":{"mode":"explicit"}}]}]}"#,
    );
    assert_eq!(body("openai-responses"), responses);
}

#[test]
fn h1_instructions_take_no_mark_and_a_mark_of_the_messages_own_gives_way() {
    let messages = read(
        r#"
        s{extra={"openai_responses":{"role":"instructions"}}} Be brief.
        u [{"type":"text","text":"Old.","extra":{"openai_responses":{"prompt_cache_breakpoint":{"mode":"explicit","ttl":"12h"}}}}]
        a Yes.
        u New.
        "#,
    );
    assert_eq!(places(&messages, "openai-responses"), ["2 New."]);
    let messages: Vec<Arc<Message>> = messages.into_iter().map(Arc::new).collect();
    let prompt = prompt(&messages, None).unwrap();
    let vendor = Vendor::named("openai-responses").unwrap();
    let on = options("gpt-5.6", CacheMarks::On);
    let body = encode(&prompt, vendor, &on).unwrap();
    assert!(!Marks::of(&prompt, vendor, "gpt-5.6").head);
    let told: Vec<&str> = body.adjustments.iter().map(|told| told.detail.as_str()).collect();
    assert_eq!(told, ["prompt_cache_breakpoint gives way to the cache marks that are set anew"]);
    let off = encode(&prompt, vendor, &options("gpt-5.6", CacheMarks::Off)).unwrap();
    assert!(text(&off).contains(r#""ttl":"12h""#));
}
