//! Do the double and `interleaf lint` agree on bodies of yours?
//!
//! ```sh
//! cargo run -p interleaf-doubles --example agree -- anthropic bodies.jsonl
//! ```
//!
//! A line is a body, or an object with one under `body` or `expected.body`. It prints the lines
//! on which the two differ, and how many bodies both take and both refuse. With `--taken` after
//! the API's name, it also prints those that either refuses.

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a program for the terminal")]

use interleaf_doubles::{Api, verdict};
use interleaf_wire::lint::lint;
use interleaf_wire::{Family, Vendor};
use serde_json::Value;

fn main() {
    let mut arguments = std::env::args().skip(1).peekable();
    let api = arguments.next().and_then(|name| Api::named(&name)).unwrap();
    let is_taken = arguments.next_if(|argument| argument == "--taken").is_some();
    let family = Family::ALL.into_iter().find(|family| family.as_str() == api.as_str()).unwrap();
    let (mut taken, mut refused, mut differ) = (0, 0, 0);
    for path in arguments {
        let text = std::fs::read_to_string(&path).unwrap();
        for (i, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let line: Value = serde_json::from_str(line).unwrap();
            let inner = line.pointer("/expected/body").or(line.get("body"));
            let mut body = inner.unwrap_or(&line).clone();
            let named = |body: &Value| {
                body["model"].as_str().or(body["modelId"].as_str()).map(str::to_owned)
            };
            let outer = line.pointer("/input/model").and_then(Value::as_str).map(str::to_owned);
            let model = named(&body).or(outer).unwrap_or_default();
            let field = if api == Api::Bedrock { "modelId" } else { "model" };
            if let (Some(fields), false) = (body.as_object_mut(), model.is_empty()) {
                fields.insert(field.to_owned(), model.as_str().into());
            }
            let ours = lint(Vendor::of(family), &body.to_string()).unwrap();
            let theirs = verdict(api, &model, &body);
            match (ours.first(), &theirs) {
                (None, Ok(())) => taken += 1,
                (Some(_), Err(_)) => refused += 1,
                _ => differ += 1,
            }
            let is_shown = ours.is_empty() != theirs.is_ok() || is_taken && theirs.is_err();
            if is_shown {
                println!("{path}:{} ({model})", i + 1);
                for fault in &ours {
                    println!("  lint: {} {} {}", fault.rule.id, fault.pointer, fault.detail);
                }
                if let Err(refusal) = &theirs {
                    println!("  double: {} {}", refusal.rule, refusal.message);
                }
            }
        }
    }
    println!("{api}: both take {taken}, both refuse {refused}, they differ on {differ}");
}
