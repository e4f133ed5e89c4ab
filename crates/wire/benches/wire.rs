//! Writing and reading bodies and streams, against the JSON library alone.
//!
//! `cargo bench -p interleaf-wire`
//!
//! - encode: a coding agent's session to a body from scratch, every piece of it, and
//!   `encode + join` to one text as well; against `serde_json::to_vec` of the finished
//!   body, read into a `serde_json::Value` beforehand. That is the same JSON from a
//!   tree that is already in the API's form; what is decided on the way to that form
//!   is ours alone.
//! - decode: that body to messages, tools and options; against a `Value` of the same
//!   bytes, and against a `&RawValue`, which only finds its end.
//! - stream: a long answer, in chunks as a socket gives them, to deltas and a reply;
//!   against cutting it into lines (frames, on Bedrock) and making each event's JSON
//!   a `&RawValue` or a `Value`.
//!
//! A body of 10 k messages is so large that the allocator of glibc may hand its pages
//! back to the kernel after each round, and to whom that happens is chance. The same
//! for all: `MALLOC_MMAP_THRESHOLD_=1000000000 MALLOC_TRIM_THRESHOLD_=1000000000`.
//!
//! Times are the best of several, taken in turns, with megabytes in a second; the ratio
//! is of the first to the last. `cargo bench -p interleaf-wire -- encode` prints only
//! that table.

#![expect(clippy::unwrap_used, reason = "a bench that cannot go on has failed")]

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use aws_smithy_eventstream::frame::write_message_to;
use aws_smithy_types::event_stream::{Header, HeaderValue, Message as Frame};
use interleaf_model::{Entry, Prompt, Provenance, Role};
use interleaf_samples::generate::agent_session;
use interleaf_wire::{Family, NameMap, Options, StreamDecoder, Vendor, decode_request, encode};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// How often each is measured.
const ROUNDS: usize = 15;

/// How many deltas of text, and as many of arguments, a stream has.
const N_DELTAS: usize = 10_000;

/// What a socket gives at once.
const CHUNK_BYTES: usize = 16 * 1024;

fn main() {
    // A word on the command line is the one table that is wanted.
    let wanted = std::env::args().skip(1).find(|word| !word.starts_with('-'));
    let is_wanted = |table: &str| wanted.as_ref().is_none_or(|wanted| wanted == table);
    if is_wanted("encode") {
        table("encode", ["encode", "encode + join", "Value to_vec"]);
        each_body(|family, n, prompt, body| {
            let vendor = Vendor::of(family);
            let value: Value = serde_json::from_slice(body).unwrap();
            let times = race([
                &mut || drop(black_box(encode(prompt, vendor, &options()))),
                &mut || drop(black_box(encode(prompt, vendor, &options()).unwrap().to_bytes())),
                &mut || drop(black_box(serde_json::to_vec(&value))),
            ]);
            row(family, n, body.len(), times);
        });
    }
    if is_wanted("decode") {
        table("decode", ["decode", "&RawValue", "Value"]);
        each_body(|family, n, _, body| {
            let text = std::str::from_utf8(body).unwrap();
            let times = race([
                &mut || drop(black_box(decode_request(family, text))),
                &mut || drop(black_box(serde_json::from_slice::<&RawValue>(body))),
                &mut || drop(black_box(serde_json::from_slice::<Value>(body))),
            ]);
            row(family, n, body.len(), times);
        });
    }
    if is_wanted("stream") {
        table("stream", ["decode", "&RawValue each", "Value each"]);
        for family in Family::ALL {
            let events = events(family);
            let bytes = stream(family, &events);
            let times = race([
                &mut || decoded(family, &bytes),
                &mut || parsed::<&RawValue>(family, &bytes),
                &mut || parsed::<Value>(family, &bytes),
            ]);
            row(family, events.len(), bytes.len(), times);
        }
    }
}

fn each_body(mut measure: impl FnMut(Family, usize, &Prompt, &[u8])) {
    for family in Family::ALL {
        for n in [1_000, 10_000] {
            let prompt = prompt(n);
            let body = encode(&prompt, Vendor::of(family), &options()).unwrap().to_bytes();
            measure(family, n, &prompt, &body);
        }
    }
}

/// The best time of each, in rounds: what else runs on the machine disturbs all alike.
fn race(mut runners: [&mut dyn FnMut(); 3]) -> [Duration; 3] {
    let mut best = [Duration::MAX; 3];
    for _ in 0..ROUNDS {
        for (runner, best) in runners.iter_mut().zip(&mut best) {
            let start = Instant::now();
            runner();
            *best = start.elapsed().min(*best);
        }
    }
    best
}

fn table(name: &str, columns: [&str; 3]) {
    let [a, b, c] = columns;
    println!("\n{name:>18} {:>7} {:>7} {a:>15} {b:>15} {c:>15} {:>7}", "n", "MB", "ratio");
}

fn row(family: Family, n: usize, n_bytes: usize, times: [Duration; 3]) {
    let megabytes = n_bytes as f64 / 1e6;
    let cell = |time: Duration| {
        let seconds = time.as_secs_f64();
        format!("{:.2} ms {:>5.0}", seconds * 1e3, megabytes / seconds)
    };
    let ratio = times[0].as_secs_f64() / times[2].as_secs_f64();
    let [a, b, c] = times.map(cell);
    println!("{family:>18} {n:>7} {megabytes:>7.2} {a:>15} {b:>15} {c:>15} {ratio:>6.2}x");
}

fn prompt(n_messages: usize) -> Prompt {
    let entry = |message: interleaf_model::Message| {
        let is_system = message.role() == Role::System;
        let provenance = if is_system { Provenance::System } else { Provenance::Original };
        Entry { message: Arc::new(message), provenance }
    };
    let entries = agent_session(n_messages).into_iter().map(entry).collect();
    Prompt::check(entries, Arc::new([])).unwrap()
}

fn options() -> Options {
    {
        let mut options = Options::model("a-model");
        options.max_tokens = Some(4096);
        options
    }
}

/// The events of an answer, each with its name: a text in small pieces, then a call
/// whose arguments come so too, but for Gemini, which sends calls whole.
fn events(family: Family) -> Vec<(&'static str, Value)> {
    let (begin, call, end) = frame_events(family);
    let mut events = begin;
    let piece = |i| format!("piece {i} of \"the\" answer\n");
    events.extend((0..N_DELTAS).map(|i| text(family, &piece(i))));
    events.extend(call);
    if family != Family::Gemini {
        events.push(arguments(family, "{\"text\":\""));
        events.extend((0..N_DELTAS).map(|i| arguments(family, &format!("piece {i} of them; "))));
        events.push(arguments(family, "\"}"));
    }
    events.extend(end);
    events
}

type Events = Vec<(&'static str, Value)>;

/// What stands before the text, between the two, and after the arguments.
fn frame_events(family: Family) -> (Events, Events, Events) {
    match family {
        Family::OpenaiChat => {
            let call = json!({"tool_calls": [{"index": 0, "id": "call_1", "type": "function",
                "function": {"name": "write", "arguments": ""}}]});
            let mut end = chat(json!({}));
            end.1["choices"][0]["finish_reason"] = "tool_calls".into();
            (vec![chat(json!({"role": "assistant"}))], vec![chat(call)], vec![end])
        }
        Family::OpenaiResponses => {
            let added = |at: u64, item: Value| {
                let data =
                    json!({"type": "response.output_item.added", "output_index": at, "item": item});
                ("response.output_item.added", data)
            };
            let message =
                json!({"type": "message", "id": "msg_1", "role": "assistant", "content": []});
            let call = json!({"type": "function_call", "id": "fc_1", "call_id": "call_1",
                "name": "write", "arguments": ""});
            let done = json!({"type": "response.completed", "response": {"id": "resp_1",
                "status": "completed", "output": [], "usage": {"input_tokens": 9, "output_tokens": 9}}});
            (vec![added(0, message)], vec![added(1, call)], vec![("response.completed", done)])
        }
        Family::Anthropic => {
            let begin = json!({"type": "message_start", "message": {"id": "msg_1", "role": "assistant",
                "model": "a-model", "content": [], "usage": {"input_tokens": 9, "output_tokens": 1}}});
            let block = |at: u64, block: Value| {
                let data =
                    json!({"type": "content_block_start", "index": at, "content_block": block});
                ("content_block_start", data)
            };
            let close = |at: u64| {
                ("content_block_stop", json!({"type": "content_block_stop", "index": at}))
            };
            let text = block(0, json!({"type": "text", "text": ""}));
            let call = json!({"type": "tool_use", "id": "toolu_1", "name": "write", "input": {}});
            let delta = json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"},
                "usage": {"output_tokens": 9}});
            let stop = ("message_stop", json!({"type": "message_stop"}));
            (
                vec![("message_start", begin), text],
                vec![close(0), block(1, call)],
                vec![close(1), ("message_delta", delta), stop],
            )
        }
        Family::Gemini => {
            let call = json!({"functionCall": {"name": "write", "args": {"text": "all of it"}}});
            let mut end = gemini(json!({"text": "Done."}));
            end.1["candidates"][0]["finishReason"] = "STOP".into();
            (vec![], vec![gemini(call)], vec![end])
        }
        Family::Bedrock => {
            let close = |at: u64| ("contentBlockStop", json!({"contentBlockIndex": at}));
            let call = json!({"contentBlockIndex": 1,
                "start": {"toolUse": {"toolUseId": "tooluse_1", "name": "write"}}});
            (
                vec![("messageStart", json!({"role": "assistant"}))],
                vec![close(0), ("contentBlockStart", call)],
                vec![close(1), ("messageStop", json!({"stopReason": "tool_use"}))],
            )
        }
    }
}

fn text(family: Family, text: &str) -> (&'static str, Value) {
    match family {
        Family::OpenaiChat => chat(json!({"content": text})),
        Family::OpenaiResponses => {
            let name = "response.output_text.delta";
            let data = json!({"type": name, "sequence_number": 1, "item_id": "msg_1",
                "output_index": 0, "content_index": 0, "delta": text, "logprobs": []});
            (name, data)
        }
        Family::Anthropic => anthropic(0, json!({"type": "text_delta", "text": text})),
        Family::Gemini => gemini(json!({"text": text})),
        Family::Bedrock => {
            ("contentBlockDelta", json!({"contentBlockIndex": 0, "delta": {"text": text}}))
        }
    }
}

fn arguments(family: Family, text: &str) -> (&'static str, Value) {
    match family {
        Family::OpenaiChat => {
            chat(json!({"tool_calls": [{"index": 0, "function": {"arguments": text}}]}))
        }
        Family::OpenaiResponses => {
            let name = "response.function_call_arguments.delta";
            let data = json!({"type": name, "sequence_number": 1, "item_id": "fc_1",
                "output_index": 1, "delta": text});
            (name, data)
        }
        Family::Anthropic => {
            anthropic(1, json!({"type": "input_json_delta", "partial_json": text}))
        }
        Family::Gemini => gemini(json!({"text": text})),
        Family::Bedrock => {
            let delta = json!({"toolUse": {"input": text}});
            ("contentBlockDelta", json!({"contentBlockIndex": 1, "delta": delta}))
        }
    }
}

fn chat(delta: Value) -> (&'static str, Value) {
    let choice = json!({"index": 0, "delta": delta, "logprobs": null, "finish_reason": null});
    let data = json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1767225600,
        "model": "a-model", "choices": [choice], "usage": null});
    ("", data)
}

fn anthropic(index: u64, delta: Value) -> (&'static str, Value) {
    let name = "content_block_delta";
    (name, json!({"type": name, "index": index, "delta": delta}))
}

fn gemini(part: Value) -> (&'static str, Value) {
    let content = json!({"parts": [part], "role": "model"});
    let data = json!({"candidates": [{"content": content, "index": 0}],
        "modelVersion": "a-model", "responseId": "r-1"});
    ("", data)
}

/// The bytes of a stream.
fn stream(family: Family, events: &[(&'static str, Value)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (name, data) in events {
        if family == Family::Bedrock {
            let header = |name: &'static str, value: &'static str| {
                Header::new(name, HeaderValue::String(value.into()))
            };
            let frame = Frame::new(data.to_string().into_bytes())
                .add_header(header(":event-type", name))
                .add_header(header(":content-type", "application/json"))
                .add_header(header(":message-type", "event"));
            write_message_to(&frame, &mut bytes).unwrap();
            continue;
        }
        if !name.is_empty() {
            bytes.extend_from_slice(format!("event: {name}\n").as_bytes());
        }
        bytes.extend_from_slice(format!("data: {data}\n\n").as_bytes());
    }
    if family == Family::OpenaiChat {
        bytes.extend_from_slice(b"data: [DONE]\n\n");
    }
    bytes
}

fn decoded(family: Family, bytes: &[u8]) {
    let mut decoder = StreamDecoder::new(family, NameMap::default());
    for chunk in bytes.chunks(CHUNK_BYTES) {
        black_box(decoder.push(chunk).unwrap());
    }
    black_box(decoder.finish().unwrap());
}

/// Only the JSON of each event.
fn parsed<'a, T: Deserialize<'a>>(family: Family, bytes: &'a [u8]) {
    let parse = |data: &'a [u8]| drop(black_box(serde_json::from_slice::<T>(data)));
    if family != Family::Bedrock {
        let lines = bytes.split(|byte| *byte == b'\n');
        return lines.filter_map(|line| line.strip_prefix(b"data: ")).for_each(parse);
    }
    let mut rest = bytes;
    while let Some((prelude, _)) = rest.split_first_chunk::<8>() {
        let [a, b, c, d, e, f, g, h] = *prelude;
        let (total, headers) = (u32::from_be_bytes([a, b, c, d]), u32::from_be_bytes([e, f, g, h]));
        // A prelude of 12 bytes, the headers, the payload, a checksum of 4.
        let (frame, after) = rest.split_at(total as usize);
        parse(&frame[12 + headers as usize..frame.len() - 4]);
        rest = after;
    }
}
