//! What comes in large numbers. None of these ends in time if its cost grows faster than
//! its size.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod calls;

use crate::{decode_response, decode_stream};
use interleaf_wire::lint;
use interleaf_wire::{
    AnswerHead, Decoder, Delta, Family, NameMap, StreamWriter, Vendor, decode_error,
};

const MANY: u64 = 20_000;

#[test]
fn limits_in_the_headers_of_an_error() {
    let names: Vec<String> = (0..MANY).map(|n| format!("x-ratelimit-reset-{n}")).collect();
    let headers = names.iter().map(|name| (name.as_str(), "2s"));
    let error = decode_error(Family::OpenaiChat, 429, headers, b"{}");
    assert_eq!(error.retry_after(), Some(std::time::Duration::from_secs(2)));
}

#[test]
fn an_event_that_cannot_be_read_is_quoted_in_part_and_without_the_key() {
    const KEY: &str = "open-sesame-0123456";
    let long = "a".repeat(8 << 20);
    for family in [Family::OpenaiChat, Family::OpenaiResponses, Family::Anthropic, Family::Gemini] {
        for place in (900..1000).chain(4000..4100) {
            let hidden = Decoder::new(family, NameMap::default()).hiding(&KEY.into());
            let (before, after) = ("b".repeat(place), if place == 900 { &*long } else { "" });
            let event = format!("event: {}\ndata: {{{before} {KEY} {after}\n\n", "e".repeat(9));
            let error = hidden.stream().push(event.as_bytes()).unwrap_err().to_string();
            assert!(error.chars().count() < 1100, "{family}: {} long", error.len());
            // Four letters of it are no secret.
            assert!(!error.contains(&KEY[..5]), "{family} at {place}: {error}");
        }
    }
}

fn call(part: u64) -> Delta {
    Delta::Call { part, id: format!("c{part}"), name: "ls".to_owned() }
}

fn arguments(part: u64, text: &str) -> Delta {
    Delta::Arguments { part, text: text.to_owned() }
}

/// The calls and the text that a stream of these pieces holds.
fn written(deltas: impl IntoIterator<Item = Delta>) -> (usize, String) {
    let mut bytes = Vec::new();
    let mut writer = StreamWriter::new(Family::Anthropic, AnswerHead::default());
    for delta in deltas {
        writer.push(&delta, &mut bytes);
    }
    writer.finish(&mut bytes);
    let reply = decode_stream(Family::Anthropic, &bytes, &NameMap::default()).unwrap();
    (reply.message.calls().count(), reply.message.text().into_owned())
}

#[test]
fn pieces_of_arguments_while_a_text_waits() {
    let text = Delta::Text { part: 1, text: "then".to_owned() };
    let begin = [call(0), arguments(0, "{\"a\":["), text];
    let middle = (0..MANY).map(|_| arguments(0, "0,"));
    let end = [arguments(0, "0]}")];
    assert_eq!(written(begin.into_iter().chain(middle).chain(end)), (1, "then".to_owned()));
}

#[test]
fn calls_whose_pieces_are_mixed() {
    let begin = (0..MANY).map(call);
    let first = (0..MANY).map(|part| arguments(part, "{\"a\":"));
    let second = (0..MANY).map(|part| arguments(part, "1}"));
    let deltas = begin.chain(first).chain(second);
    assert_eq!(written(deltas), (MANY as usize, String::new()));
}

#[test]
fn calls_without_ids() {
    let call = r#"{"functionCall":{"name":"ls","args":{}}}"#;
    let piece = |calls: &str, end: &str| {
        format!(r#"{{"candidates":[{{"content":{{"parts":[{calls}]}}{end}}}]}}"#)
    };
    let end = r#","finishReason":"STOP""#;
    let calls = vec![call; MANY as usize].join(",");
    let whole = decode_response(Family::Gemini, &piece(&calls, end), &NameMap::default()).unwrap();
    let event = format!("data: {}\n\n", piece(call, ""));
    let mut bytes = event.repeat(MANY as usize);
    bytes += &format!("data: {}\n\n", piece("", end));
    let mut stream = Decoder::new(Family::Gemini, NameMap::default()).stream().tell_parts();
    stream.push(bytes.as_bytes()).unwrap();
    assert_eq!(stream.finish().unwrap().message.body, whole.message.body);
}

#[test]
fn a_call_with_a_large_input() {
    let input = format!(r#"{{"raw_arguments":[{}{{}}]}}"#, "{},".repeat(1_000_000));
    let body = format!(
        r#"{{"content":[{{"type":"tool_use","id":"c","name":"ls","input":{input}}}],"stop_reason":"tool_use"}}"#
    );
    let reply = decode_response(Family::Anthropic, &body, &NameMap::default()).unwrap();
    assert_eq!(reply.message.calls().next().unwrap().arguments.as_str(), input);
}

/// Of each rule the first places are listed, and the others counted.
#[test]
fn a_list_of_forty_thousand_numbers_has_few_findings_that_count_them_all() {
    const NUMBERS: usize = 40_000;
    for family in Family::ALL {
        let list = match family {
            Family::OpenaiChat | Family::Anthropic | Family::Bedrock => "messages",
            Family::OpenaiResponses => "input",
            Family::Gemini => "contents",
        };
        let numbers = vec!["0"; NUMBERS].join(",");
        let body = format!(r#"{{"model":"m","max_tokens":9,"{list}":[{numbers}]}}"#);
        let faults = lint::lint(Vendor::of(family), &body).unwrap();
        assert!(faults.len() < 1000, "{family}: {}", faults.len());
        let counted: usize = faults.iter().map(|fault| 1 + fault.more).sum();
        assert!(counted >= NUMBERS, "{family}: {counted}");
        let first = &faults.iter().find(|fault| fault.more > 0).unwrap().rule.id;
        let own: Vec<_> = faults.iter().filter(|fault| fault.rule.id == *first).collect();
        assert_eq!(own.len(), 100, "{family}");
        assert_eq!(own.iter().filter(|fault| fault.more > 0).count(), 1, "{family}");
    }
}
