//! D7: the same effect everywhere. What every API's body says is the same
//! conversation, and stays so when it is carried from any API to any other.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use interleaf_model::{
    AssistantPart, Body, ContentPart, Entry, Message, Parts, Prompt, Provenance, Role, Status,
    SystemPart, Text,
};
use interleaf_samples::strategy::conversation;
use interleaf_wire::lint::lint;
use interleaf_wire::{Family, Options, Vendor, decode_request, encode};
use proptest::prelude::*;
use serde_json::Value;

/// What one side said until the other did.
#[derive(Debug, PartialEq)]
enum Told {
    System(String),
    User { results: Vec<String>, said: String },
    Assistant { said: String, calls: Vec<(String, Value)> },
}

/// The conversation up to what APIs force: neighbours of one role are one, ids do not
/// count, blank texts say nothing, a failed result says so in its text or by a flag.
fn told(messages: &[Message]) -> Vec<Told> {
    let mut told: Vec<Told> = Vec::new();
    for message in messages {
        let text = words(message.texts());
        match message.role() {
            Role::System => match told.last_mut() {
                Some(Told::System(before)) => *before = words([&**before, &*text].into_iter()),
                _ => told.push(Told::System(text)),
            },
            Role::Assistant => {
                if !matches!(told.last(), Some(Told::Assistant { .. })) {
                    told.push(Told::Assistant { said: String::new(), calls: Vec::new() });
                }
                if let Some(Told::Assistant { said, calls }) = told.last_mut() {
                    *said = words([&**said, &*text].into_iter());
                    calls.extend(message.calls().map(|call| {
                        let arguments = serde_json::from_str(call.arguments.as_str());
                        let arguments = arguments.unwrap_or(call.arguments.as_str().into());
                        (call.name.to_string(), arguments)
                    }));
                }
            }
            Role::User | Role::Tool => {
                if !matches!(told.last(), Some(Told::User { .. })) {
                    told.push(Told::User { results: Vec::new(), said: String::new() });
                }
                if let Some(Told::User { results, said }) = told.last_mut() {
                    match message.as_result() {
                        Some(result) => results.push(outcome(&text, result.status)),
                        None => *said = words([&**said, &*text].into_iter()),
                    }
                }
            }
        }
    }
    // A short turn that only an API's order asks for says nothing.
    told.retain(|told| !matches!(told, Told::System(text) if text.is_empty()));
    told
}

/// Texts that say something, without the white space around them; a placeholder says
/// nothing.
fn words<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    let texts = texts.map(str::trim).filter(|text| !text.is_empty() && *text != ".");
    texts.collect::<Vec<_>>().join("\n")
}

fn outcome(text: &str, status: Status) -> String {
    let failed = status == Status::Error || text.to_lowercase().starts_with("error");
    let said = words([text.strip_prefix("Error: ").unwrap_or(text)].into_iter());
    let said = if said == "Error:" { "" } else { &said };
    if failed { format!("failed: {said}") } else { said.to_owned() }
}

/// Only what every API has a word for: text, calls and results.
fn plain(messages: Vec<Message>) -> Vec<Message> {
    let text = |part: Text| Text::new(part.text);
    let keep = |parts: &Parts<ContentPart>| {
        // What stands for a blank text is each API's own affair.
        let texts = parts.iter().filter_map(|part| part.as_text().cloned());
        let texts = texts.filter(|text| !text.is_blank());
        let texts: Vec<_> = texts.map(text).map(ContentPart::Text).collect();
        Parts::new(texts).unwrap_or_else(|_| Parts::one(ContentPart::Text(Text::new("seen"))))
    };
    let body = |message: &Message| match &message.body {
        Body::System(_) => Body::System(Parts::one(SystemPart::Text(Text::new(&*message.text())))),
        Body::User(parts) => Body::User(keep(parts)),
        Body::Tool(result) => {
            let mut result = result.clone();
            result.parts = keep(&result.parts);
            Body::Tool(result)
        }
        Body::Assistant(parts) => {
            let parts = parts.iter().filter_map(|part| match part {
                AssistantPart::Text(part) => Some(AssistantPart::Text(text(part.clone()))),
                AssistantPart::Call(call) => {
                    let mut call = call.clone();
                    call.extra = interleaf_model::Extra::NONE;
                    Some(AssistantPart::Call(call))
                }
                _ => None,
            });
            let said = Parts::one(AssistantPart::Text(Text::new("done")));
            Body::Assistant(Parts::new(parts.collect()).unwrap_or(said))
        }
    };
    messages.iter().map(|message| Message::from(body(message))).collect()
}

fn prompt(messages: Vec<Message>) -> Option<Prompt> {
    let (system, mut rest): (Vec<_>, Vec<_>) =
        messages.into_iter().partition(|message| message.role() == Role::System);
    let texts: Vec<String> = system.iter().map(|m| m.text().into_owned()).collect();
    let mut all = Vec::new();
    if texts.iter().any(|text| !text.trim().is_empty()) {
        all.push(Message::system(&texts.join("\n")));
    }
    if rest.first().is_some_and(|message| message.role() == Role::Assistant) {
        all.push(Message::user("go on"));
    }
    // Several APIs want the user to speak last; that is not what is tried here.
    if rest.last().is_some_and(|message| message.role() == Role::Assistant) {
        rest.push(Message::user("and then?"));
    }
    all.append(&mut rest);
    let entry =
        |message| Entry { message: std::sync::Arc::new(message), provenance: Provenance::Original };
    Prompt::check_for(
        crate::taking_blanks(),
        all.into_iter().map(entry).collect(),
        std::sync::Arc::new([]),
    )
    .ok()
}

/// What an API is sent, read back.
fn carried(prompt: &Prompt, family: Family) -> Vec<Message> {
    let options = Options::model("a-model");
    let vendor = Vendor::of(family);
    let body = encode(prompt, vendor, &options).unwrap().to_bytes();
    let body = String::from_utf8(body).unwrap();
    assert_eq!(lint(vendor, &body).unwrap(), [], "{family}: {body}");
    decode_request(family, &body).unwrap().messages
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_api_is_told_the_same_conversation(messages in conversation(1..24)) {
        let Some(prompt) = prompt(plain(messages)) else { return Ok(()) };
        let original: Vec<Message> = prompt.messages().map(|m| Message::clone(m)).collect();
        for family in Family::ALL {
            let told_there = told(&carried(&prompt, family));
            prop_assert_eq!(told_there, told(&original), "{}", family);
        }
    }

    #[test]
    fn a_conversation_is_the_same_after_any_two_apis(messages in conversation(1..16)) {
        let Some(original) = prompt(plain(messages)) else { return Ok(()) };
        for from in Family::ALL {
            let read = carried(&original, from);
            let Some(again) = prompt(read.clone()) else {
                return Err(TestCaseError::fail(format!("{from} gives no valid prompt")));
            };
            for to in Family::ALL {
                let told_there = told(&carried(&again, to));
                prop_assert_eq!(told_there, told(&read), "{} to {}", from, to);
            }
        }
    }
}
