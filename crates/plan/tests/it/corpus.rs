//! What models write, and what must come out: `fixtures/plan/replies`.

use interleaf_plan::read_tools;
use interleaf_plan::xml::Protocol;
use serde_json::{Value, json};

use super::fixture;

#[test]
fn every_odd_reply_is_read_as_the_corpus_says() {
    let tools = read_tools(&serde_json::from_str(&fixture("replies/tools.json")).unwrap()).unwrap();
    let protocol = Protocol::new(&tools);
    let text = fixture("replies/cases.jsonl");
    let cases: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(cases.len() >= 150, "only {} cases", cases.len());
    let mut wrong = Vec::new();
    for case in &cases {
        let reading = protocol.read(case["text"].as_str().unwrap());
        let calls: Vec<Value> = reading
            .calls
            .iter()
            .map(|call| json!({"name": call.tool, "arguments": call.arguments}))
            .collect();
        let refused: Vec<Value> = reading
            .refusals
            .iter()
            .map(|refusal| json!({"tool": refusal.tool, "reason": refusal.reason.as_str()}))
            .collect();
        let found = json!({"calls": calls, "refused": refused, "content": reading.content});
        let expected = json!({
            "calls": case["calls"], "refused": case["refused"], "content": case["content"],
        });
        if found != expected {
            wrong.push(format!("{}:\n  found    {found}\n  expected {expected}", case["name"]));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

#[test]
fn a_single_tool_is_meant_by_its_arguments_alone() {
    let tools = read_tools(&serde_json::from_str(&fixture("replies/tools.json")).unwrap()).unwrap();
    let protocol = Protocol::new([&tools[0]]);
    let reading = protocol.read("```json\n{\"city\": \"Paris\"}\n```");
    assert_eq!(reading.calls[0].arguments["city"], "Paris");
    assert!(protocol.read("{\"mood\": 1}").calls.is_empty());
    assert!(Protocol::new(&tools).read("{\"city\": \"Paris\"}").calls.is_empty());
}

/// Texts that a careless reader would read over and over.
#[test]
fn hostile_texts_are_read_in_time() {
    let tools = read_tools(&serde_json::from_str(&fixture("replies/tools.json")).unwrap()).unwrap();
    let protocol = Protocol::new(&tools);
    let start = std::time::Instant::now();
    for piece in [
        "<think>",
        "<tool>",
        "<tool_call>",
        "<invoke>",
        "<invoke name=\"ping\">",
        "<invoke name=\"get_weather\"><city>",
        "<parameter name=\"zz\">x</parameter>y",
        "<a b=“",
        "<a b=\"",
        "<![CDATA[",
        "&amp;",
        "</invoke>",
        "<get_weather>",
    ] {
        for head in [
            "",
            "<invoke name=\"get_weather\"><parameter name=\"zz\">",
            "<invoke name=\"run_code\"><parameter name=\"env\">",
        ] {
            let text = format!("{head}{}", piece.repeat(20_000 / piece.len()));
            protocol.read(&text);
            protocol.read(&format!("{text}</think></parameter></invoke>"));
        }
    }
    // It takes a second or two; the limit is for a busy machine.
    assert!(start.elapsed().as_secs() < 120, "{:?}", start.elapsed());
}
