//! What models write, and what must come out: `fixtures/plan/replies`.

use interleaf_plan::calls::TextTools;
use interleaf_plan::read_tools;
use serde_json::{Value, json};

use super::fixture;

/// What is read from a text, as the corpus writes it.
fn found(tools: &TextTools, text: &str) -> Value {
    let reading = tools.read(text);
    let calls: Vec<Value> = reading
        .calls
        .iter()
        .map(|call| json!({"name": call.tool, "arguments": call.arguments.to_value()}))
        .collect();
    let refused: Vec<Value> = reading
        .refusals
        .iter()
        .map(|refusal| json!({"tool": refusal.tool, "reason": refusal.reason.as_str()}))
        .collect();
    json!({"calls": calls, "refused": refused, "content": reading.content})
}

fn cases(name: &str) -> Vec<Value> {
    fixture(name).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn corpus_tools() -> TextTools {
    let tools = read_tools(&serde_json::from_str(&fixture("replies/tools.json")).unwrap()).unwrap();
    TextTools::new(&tools)
}

#[track_caller]
fn check_all(cases: &[Value], expected: impl Fn(&Value) -> Value) {
    let tools = corpus_tools();
    let wrong: Vec<String> = cases
        .iter()
        .filter_map(|case| {
            let (found, expected) = (found(&tools, case["text"].as_str().unwrap()), expected(case));
            let name = case.get("name").unwrap_or(&case["form"]);
            (found != expected)
                .then(|| format!("{name}:\n  found    {found}\n  expected {expected}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

#[test]
fn every_odd_reply_is_read_as_the_corpus_says() {
    let cases = cases("replies/cases.jsonl");
    assert!(cases.len() >= 220, "only {} cases", cases.len());
    check_all(
        &cases,
        |case| json!({"calls": case["calls"], "refused": case["refused"], "content": case["content"]}),
    );
}

#[test]
fn the_form_of_every_open_model_is_read() {
    let forms = cases("replies/forms.jsonl");
    for model in [
        "Hermes", "Llama", "Mistral", "Qwen", "DeepSeek", "Granite", "Phi", "xLAM", "Jamba",
        "InternLM", "LongCat",
    ] {
        let has = |form: &Value| {
            let named = form["models"].as_str().is_some_and(|models| models.contains(model));
            named && form["seen"].as_str().is_some_and(|seen| !seen.is_empty())
        };
        assert!(forms.iter().any(has), "{model}");
    }
    check_all(
        &forms,
        |form| json!({"calls": form["calls"], "refused": [], "content": form["content"]}),
    );
}

/// Wherever a reply is cut, no call has lost a part of its arguments: each is one of the
/// whole reply's.
#[test]
fn a_cut_reply_has_whole_calls_only() {
    let tools = corpus_tools();
    for case in cases("replies/forms.jsonl") {
        let text = case["text"].as_str().unwrap();
        let all = case["calls"].as_array().unwrap();
        for (end, _) in text.char_indices() {
            let found = found(&tools, &text[..end]);
            let calls = found["calls"].as_array().unwrap();
            assert!(calls.len() <= all.len(), "{}", &text[..end]);
            assert_eq!(calls[..], all[..calls.len()], "{}", &text[..end]);
        }
    }
}

#[test]
fn a_single_tool_is_meant_by_its_arguments_alone() {
    let tools = read_tools(&serde_json::from_str(&fixture("replies/tools.json")).unwrap()).unwrap();
    let protocol = TextTools::new([&tools[0]]);
    let reading = protocol.read("```json\n{\"city\": \"Paris\"}\n```");
    assert_eq!(reading.calls[0].arguments.as_str(), "{\"city\": \"Paris\"}");
    assert!(protocol.read("{\"mood\": 1}").calls.is_empty());
    assert!(TextTools::new(&tools).read("{\"city\": \"Paris\"}").calls.is_empty());
}

/// Texts that a careless reader would read over and over.
#[test]
fn hostile_texts_are_read_to_their_end() {
    let tools = corpus_tools();
    // Of this length, whatever takes more than linear time does not come back.
    for piece in HOSTILE {
        tools.read(&piece.repeat(400_000 / piece.len()));
    }
    for piece in HOSTILE {
        for head in [
            "",
            "<invoke name=\"get_weather\"><parameter name=\"zz\">",
            "<invoke name=\"run_code\"><parameter name=\"env\">",
            "<tool_call>",
        ] {
            let text = format!("{head}{}", piece.repeat(20_000 / piece.len()));
            tools.read(&text);
            tools.read(&format!("{text}</think></parameter></invoke>"));
        }
    }
}

const HOSTILE: [&str; 36] = [
    "<think>",
    "</think>",
    "<tool>",
    "<tool_call>",
    "<tool_call>{",
    "<tool_call>{\"name\": \"ping\", \"arguments\": {}}",
    "<invoke>",
    "<invoke name=\"ping\">",
    "<invoke name=\"get_weather\"><city>",
    "<parameter name=\"zz\">x</parameter>y",
    "<parameter name=\"city\"><parameter name=\"x\">",
    "<a b=“",
    "<a b=\"",
    "<![CDATA[",
    "<!--<a>",
    "&amp;",
    "</invoke>",
    "<get_weather>",
    "<result>",
    "{\"a\":",
    "{\"a\":[1,",
    "{\"name\": \"ping\", \"arguments\": {}};",
    "[",
    "[{",
    "[ping(",
    "[ping(),",
    "functools[",
    "[TOOL_CALLS]",
    "[TOOL_CALLS]ping{",
    "<｜tool▁call▁begin｜>ping",
    "✿FUNCTION✿: ping",
    "`",
    "`a``",
    "```a\n",
    "````\n```\n",
    "\n> ",
];

/// Prints how the time grows with the length: twice the text takes twice the time.
#[test]
#[ignore = "for people: it prints times"]
fn growth() {
    let tools = corpus_tools();
    for piece in HOSTILE {
        let time = |length: usize| {
            let text = piece.repeat(length / piece.len());
            let start = std::time::Instant::now();
            tools.read(&text);
            start.elapsed().as_secs_f64()
        };
        let (one, four) = (time(50_000), time(200_000));
        println!("{:6.2} {one:8.4} {four:8.4} {piece:?}", four / one);
    }
}
