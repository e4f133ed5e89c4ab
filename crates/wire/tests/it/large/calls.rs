//! Parallel calls.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use interleaf_model::{Finish, Message, Reply};
use interleaf_wire::{
    AnswerHead, Decoder, Family, NameMap, Options, Vendor, decode_request, encode, lint,
    write_answer, write_stream,
};
use serde_json::json;

use crate::openai_chat::prompt;
use crate::{decode_response, decode_stream};

const CALLS: usize = 16_000;

/// A question, a message with many calls, each of a tool of its own, and their results.
fn conversation() -> Vec<Message> {
    let calls = (0..CALLS).map(|n| {
        let function = json!({"name": format!("tool.{n}"), "arguments": "{}"});
        json!({"id": format!("call{n}"), "type": "function", "function": function})
    });
    let calls: Vec<_> = calls.collect();
    let asks = json!({"role": "assistant", "content": null, "tool_calls": calls});
    let mut list = vec![json!({"role": "user", "content": "go"}), asks];
    list.extend(
        (0..CALLS).map(
            |n| json!({"role": "tool", "tool_call_id": format!("call{n}"), "content": "done"}),
        ),
    );
    let list = serde_json::Value::from(list).to_string();
    decode_request(Family::OpenaiChat, &list).unwrap().messages
}

#[test]
fn parallel_calls_in_a_request() {
    let messages = conversation();
    let prompt = prompt(&messages, Vec::new());
    for family in Family::ALL {
        let vendor = Vendor::of(family);
        let encoded = encode(&prompt, vendor, &Options::model("m")).unwrap();
        let body = String::from_utf8(encoded.to_bytes()).unwrap();
        assert_eq!(lint::lint(vendor, &body).unwrap(), [], "{family}");
        let read = decode_request(family, &body).unwrap().messages;
        let calls: Vec<_> =
            read[1].calls().map(|call| encoded.names.original(call.name.as_str())).collect();
        let said: Vec<_> = messages[1].calls().map(|call| call.name.clone()).collect();
        assert!(calls == said, "{family}");
        assert_eq!(read.len(), messages.len());
    }
}

#[test]
fn parallel_calls_whose_results_are_in_another_order_or_of_no_call() {
    let prompt = prompt(&conversation(), Vec::new());
    for family in Family::ALL {
        let vendor = Vendor::of(family);
        let encoded = encode(&prompt, vendor, &Options::model("m")).unwrap();
        let mut body: serde_json::Value = serde_json::from_slice(&encoded.to_bytes()).unwrap();
        let is_found = shuffle(&mut body);
        let body = body.to_string();
        let faults = lint::lint(vendor, &body).unwrap();
        let n_faults: usize = faults.iter().map(|fault| 1 + fault.more).sum();
        assert!(n_faults >= is_found, "{family}: {n_faults} of {is_found}");
        let read = decode_request(family, &body).unwrap().messages;
        assert_eq!(read.iter().filter(|message| message.as_result().is_some()).count(), CALLS);
    }
}

/// Puts the results of a body in the opposite order, and gives every other one an id that
/// no call has. Tells how many these are.
fn shuffle(body: &mut serde_json::Value) -> usize {
    let (place, name) = match body {
        _ if body.get("contents").is_some() => ("/contents/2/parts", "/functionResponse/id"),
        _ if body.get("input").is_some() => ("/input", "/call_id"),
        _ if body.pointer("/messages/2/content/0/toolResult").is_some() => {
            ("/messages/2/content", "/toolResult/toolUseId")
        }
        _ if body.pointer("/messages/2/content/0/tool_use_id").is_some() => {
            ("/messages/2/content", "/tool_use_id")
        }
        _ => ("/messages", "/tool_call_id"),
    };
    let list = body.pointer_mut(place).unwrap().as_array_mut().unwrap();
    let first = list.len() - CALLS;
    list[first..].reverse();
    let mut n_changed = 0;
    for result in list[first..].iter_mut().step_by(2) {
        if let Some(id) = result.pointer_mut(name) {
            *id = json!(format!("other{n_changed}"));
            n_changed += 1;
        }
    }
    n_changed
}

#[test]
fn parallel_calls_in_an_answer() {
    let message = conversation().swap_remove(1);
    let reply = Reply::new(message, Finish::ToolCalls);
    for family in Family::ALL {
        let (names, head) = (NameMap::default(), AnswerHead::default());
        let whole = write_answer(family, &reply, &head);
        let read = decode_response(family, &whole.body, &names).unwrap();
        assert_eq!(read.message.calls().count(), CALLS, "{family}");
        let stream = write_stream(family, &reply, &head, 1 << 20);
        let read = decode_stream(family, &stream.bytes, &names).unwrap();
        assert_eq!(read.message.calls().count(), CALLS, "{family}");
    }
}

#[test]
fn calls_of_a_chat_stream_whose_pieces_are_mixed() {
    let event = |call: serde_json::Value| {
        format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]}))
    };
    let pieces = |more: &str, is_named: bool| -> String {
        let events = (0..CALLS).map(|n| {
            let function = json!({"name": is_named.then_some("ls"), "arguments": more});
            let id = is_named.then(|| format!("c{n}"));
            event(json!({"index": n, "id": id, "type": "function", "function": function}))
        });
        events.collect()
    };
    let by_index = pieces("{\"a\":", true) + &pieces("1}", false);
    let by_id: String = ["{\"a\":", "1}"]
        .into_iter()
        .flat_map(|more| {
            (0..CALLS).map(move |n| {
                let function = json!({"name": "ls", "arguments": more});
                event(json!({"id": format!("c{n}"), "type": "function", "function": function}))
            })
        })
        .collect();
    for events in [by_index, by_id] {
        let end = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]});
        let bytes = format!("{events}data: {end}\n\ndata: [DONE]\n\n");
        let decoder = Decoder::new(Family::OpenaiChat, NameMap::default());
        let reply = decoder.recorded(bytes.as_bytes()).unwrap();
        assert_eq!(reply.message.calls().count(), CALLS);
        assert!(reply.message.calls().all(|call| call.arguments.as_str() == "{\"a\":1}"));
    }
}

#[test]
fn calls_of_a_responses_stream_that_are_all_open_at_once() {
    let event = |kind: &str, n: usize, arguments: &str| {
        let item = json!({"type": "function_call", "id": format!("fc{n}"), "name": "ls",
            "call_id": format!("c{n}"), "arguments": arguments});
        let event = json!({"type": kind, "output_index": n, "item": item});
        format!("event: {kind}\ndata: {event}\n\n")
    };
    let added = (0..CALLS).rev().map(|n| event("response.output_item.added", n, ""));
    let done = (0..CALLS).map(|n| event("response.output_item.done", n, "{}"));
    let events: String = added.chain(done).collect();
    let end = json!({"type": "response.completed",
        "response": {"id": "r", "status": "completed", "output": []}});
    let bytes = format!("{events}event: response.completed\ndata: {end}\n\n");
    let decoder = Decoder::new(Family::OpenaiResponses, NameMap::default());
    let reply = decoder.recorded(bytes.as_bytes()).unwrap();
    assert_eq!(reply.message.calls().count(), CALLS);
}
