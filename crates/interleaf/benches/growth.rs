//! What time and memory grow like, for inputs that are hard on a careless program: each at
//! a size, and at twice the size. Twice the input should take twice the time; a square would
//! take four times.
//!
//! Each case runs in a process of its own, so that its memory is its own.
//!
//! `cargo bench -p interleaf --bench growth`

#![expect(clippy::unwrap_used, clippy::panic, reason = "a bench that cannot go on has failed")]

use std::fs;
use std::hint::black_box;
use std::process::Command;
use std::time::Instant;

use interleaf::assemble::{Outcome, Recipe, View, assemble, counter_for};
use interleaf::model::{Extra, Finish, Json, Message, Reply, Requirements, Tool};
use interleaf::plan::calls::TextTools;
use interleaf::wire::{
    AnswerHead, Decoder, Family, NameMap, Options, Vendor, decode_request, encode, lint,
    write_answer,
};
use interleaf::{OnConflict, Session, append_said, read, store};
use serde_json::{Value, json};

/// Parallel calls in one turn.
const CALLS: usize = 40_000;

/// A case: what it reads, and what it does with it.
struct Case {
    name: String,
    size: usize,
    input: Box<dyn Fn(usize) -> String>,
    run: Box<dyn Fn(&str)>,
}

fn case(
    name: impl Into<String>,
    size: usize,
    input: impl Fn(usize) -> String + 'static,
    run: impl Fn(&str) + 'static,
) -> Case {
    Case { name: name.into(), size, input: Box::new(input), run: Box::new(run) }
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, _, name, factor] = &arguments[..]
        && arguments[1] == "--case"
    {
        let cases = cases();
        let case = cases.iter().find(|case| case.name == *name).unwrap();
        return measure(case, factor.parse().unwrap());
    }
    println!(
        "| {:<40} | {:>8} | {:>8} | {:>8} | {:>6} | {:>12} |",
        "input", "bytes", "time", "per byte", "twice", "memory"
    );
    println!("|{:-<42}|{:->10}|{:->10}|{:->10}|{:->8}|{:->14}|", "", ":", ":", ":", ":", ":");
    for case in cases() {
        let [one, two] = [1, 2].map(|factor| in_a_process(&case.name, factor));
        println!(
            "| {:<40} | {:>5.1} MB | {:>6.2} s | {:>5.0} ns | {:>5.1}x | {:>4.1} to {:>4.1} |",
            case.name,
            one.bytes / 1e6,
            one.seconds,
            one.seconds * 1e9 / one.bytes,
            two.seconds / one.seconds,
            one.peak / one.bytes,
            two.peak / two.bytes,
        );
    }
}

/// What one run of a case took.
struct Taken {
    bytes: f64,
    seconds: f64,
    peak: f64,
}

fn in_a_process(name: &str, factor: usize) -> Taken {
    let program = std::env::current_exe().unwrap();
    let output = Command::new(program).args(["--case", name, &factor.to_string()]).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let numbers: Vec<f64> = text.split_whitespace().map(|n| n.parse().unwrap()).collect();
    let [bytes, seconds, peak] = numbers[..] else { panic!("{text}") };
    Taken { bytes, seconds, peak }
}

fn measure(case: &Case, factor: usize) {
    let input = (case.input)(case.size * factor);
    let before = memory("VmRSS:") - input.len() as f64;
    // From here on, the peak is counted anew, where the system can do that.
    let _ = fs::write("/proc/self/clear_refs", "5");
    let start = Instant::now();
    (case.run)(&input);
    let seconds = start.elapsed().as_secs_f64();
    println!("{} {seconds} {}", input.len(), (memory("VmHWM:") - before).max(0.0));
}

/// What the system says of this process's memory, in bytes; nothing where it does not tell.
fn memory(what: &str) -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(what));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse().ok());
    kilobytes.map_or(0.0, |kilobytes: f64| kilobytes * 1024.0)
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for family in Family::ALL {
        let name = |what: &str| format!("{what} parallel calls, {}", family.as_str());
        let body = move |n: usize| body(family, n);
        cases.push(case(name("lint"), CALLS, body, move |text| {
            black_box(lint::lint(Vendor::of(family), text).unwrap());
        }));
        cases.push(case(name("build"), CALLS, body, move |text| build(family, text)));
        let answer = move |n| write_answer(family, &reply(n), &AnswerHead::default()).body;
        cases.push(case(name("decode"), CALLS, answer, move |text| {
            let decoder = Decoder::new(family, NameMap::default());
            black_box(decoder.whole(200, [], text.as_bytes()).unwrap());
        }));
    }
    cases.push(case("decode a chat stream of calls", 100_000, stream, |text| {
        let mut stream = Decoder::new(Family::OpenaiChat, NameMap::default()).stream();
        black_box(stream.push(text.as_bytes()).unwrap());
        black_box(stream.finish().unwrap());
    }));
    cases.push(case("read calls in <![CDATA[<![CDATA[…", 100_000, cdata, |text| {
        let parameters = Some(Json::from(json!({"type": "object"})));
        let tool = Tool {
            name: "f".into(),
            description: None,
            parameters,
            strict: None,
            extra: Extra::NONE,
        };
        black_box(TextTools::new([&tool]).read(text));
    }));
    cases.push(case(
        "count the tokens of aaaa…",
        4_000_000,
        |n| "a".repeat(n),
        |text| {
            black_box(counter_for("gpt-4o").count(text));
        },
    ));
    cases.push(case("lint [0,0,…]", 2_000_000, zeros, |text| {
        black_box(lint::lint(Vendor::of(Family::OpenaiChat), text).unwrap());
    }));
    cases.push(case("append messages to a session", 500_000, messages, append));
    cases
}

/// A turn with parallel calls and their results, as a request of an API.
fn body(family: Family, n: usize) -> String {
    let chat = chat(n);
    let request = decode_request(Family::OpenaiChat, &chat).unwrap();
    let messages = request.messages.into_iter().map(std::sync::Arc::new);
    encoded(family, &View::of(messages))
}

fn chat(n: usize) -> String {
    let call = |i: usize| {
        let function = json!({"name": "f", "arguments": "{\"n\":1}"});
        json!({"id": format!("call_{i}"), "type": "function", "function": function})
    };
    let calls: Vec<Value> = (0..n).map(call).collect();
    let mut messages = vec![
        json!({"role": "user", "content": "go"}),
        json!({"role": "assistant", "content": "", "tool_calls": calls}),
    ];
    let result =
        |i: usize| json!({"role": "tool", "tool_call_id": format!("call_{i}"), "content": "ok"});
    messages.extend((0..n).map(result));
    Value::from(messages).to_string()
}

fn encoded(family: Family, view: &View) -> String {
    let assembly = assemble(view, &Recipe::new(), Requirements::STRICT, None).unwrap();
    let Outcome::Ready(prompt) = assembly.outcome else { panic!("it is ready") };
    let body = encode(&prompt, Vendor::of(family), &Options::model("a-model")).unwrap();
    String::from_utf8(body.to_bytes()).unwrap()
}

fn build(family: Family, text: &str) {
    let request = decode_request(family, text).unwrap();
    let messages = request.messages.into_iter().map(std::sync::Arc::new);
    black_box(encoded(family, &View::of(messages)));
}

fn reply(n: usize) -> Reply {
    let calls: Vec<Value> = (0..n)
        .map(|i| json!({"type": "call", "id": format!("call_{i}"), "name": "f", "arguments": {}}))
        .collect();
    let message = json!({"role": "assistant", "parts": calls});
    Reply::new(Message::from_json(&message.to_string()).unwrap(), Finish::ToolCalls)
}

fn stream(n: usize) -> String {
    let mut text = String::new();
    for i in 0..n {
        let function = json!({"name": "f", "arguments": "{}"});
        let call = json!({"index": i, "id": format!("call_{i}"), "function": function});
        let delta = json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]});
        text += &format!("data: {delta}\n\n");
    }
    let end = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]});
    text + &format!("data: {end}\n\ndata: [DONE]\n\n")
}

fn cdata(n: usize) -> String {
    format!("<invoke name=\"f\"><parameter name=\"a\">{}", "<![CDATA[".repeat(n))
}

fn zeros(n: usize) -> String {
    format!("[{}0]", "0,".repeat(n))
}

fn messages(n: usize) -> String {
    let message = |i: usize| {
        let role = if i.is_multiple_of(2) { "user" } else { "assistant" };
        format!(r#"{{"role":"{role}","content":"{i}"}}"#)
    };
    format!("[{}]", (0..n).map(message).collect::<Vec<_>>().join(","))
}

fn append(text: &str) {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", folder.path().join("sessions.db").display());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let store = store::open(&url).await.unwrap();
        let mut session = Session::create(store, "growth").await.unwrap();
        let said = read::said(text).unwrap();
        append_said(&mut session, said, OnConflict::Refuse).await.unwrap();
    });
}
