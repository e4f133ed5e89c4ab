//! Laws of the reader: calls come back as they were written, in every form; and what is
//! quoted, thought or part of a result is no call.

use interleaf_model::{Extra, Json, Tool};
use interleaf_plan::calls::{Reading, TextTools};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::laws::{any_value, text};

const NAMES: [&str; 3] = ["get_weather", "search-all", "f"];

fn tools(names: &[&str]) -> TextTools {
    let tool = |name: &&str| Tool {
        name: (*name).into(),
        description: None,
        parameters: Some(Json::from(json!({"type": "object"}))),
        strict: None,
        extra: Extra::NONE,
    };
    TextTools::new(&names.iter().map(tool).collect::<Vec<_>>())
}

/// A name and the text of the arguments, an object.
type Written = (&'static str, String);

/// Text that looks like calls, thoughts, results and quotes.
fn tricky() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("<invoke name=\"f\"><parameter name=\"a\">1</parameter></invoke>".to_owned()),
        Just("<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>".to_owned()),
        Just("[TOOL_CALLS]f[ARGS]{}".to_owned()),
        Just("<｜tool▁call▁end｜>".to_owned()),
        Just("<|tool_call_end|>".to_owned()),
        Just("</tool_calls>".to_owned()),
        Just("<think>".to_owned()),
        Just("</think>".to_owned()),
        Just("<result>".to_owned()),
        Just("functools[".to_owned()),
        Just("[f(a=1)]".to_owned()),
        Just("{\"name\": \"f\", \"arguments\": {\"a\": 1}}".to_owned()),
        Just("\n> ".to_owned()),
        Just("\n```\n".to_owned()),
        Just("`".to_owned()),
        text(),
    ];
    proptest::collection::vec(piece, 0..4).prop_map(|pieces| pieces.concat())
}

/// The text of a JSON value, with integers that fit no machine word.
fn json_text() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => any_value().prop_map(|value| value.to_string()),
        1 => "-?[1-9][0-9]{18,40}",
        2 => tricky().prop_map(|text| Value::from(text).to_string()),
        1 => "[1-9][0-9]{25}".prop_map(|n| format!("{{\"n\": [{n}, 1.50, {n}]}}")),
    ]
}

fn written() -> impl Strategy<Value = Vec<Written>> {
    let fields = proptest::collection::vec(("[a-z]{1,5}", json_text()), 0..4);
    let arguments = fields.prop_map(|fields| {
        let mut known: Map<String, Value> = Map::new();
        let fields = fields
            .into_iter()
            .filter(|(name, _)| known.insert(name.clone(), Value::Null).is_none());
        let fields: Vec<String> =
            fields.map(|(name, value)| format!("\"{name}\": {value}")).collect();
        format!("{{{}}}", fields.join(", "))
    });
    let call = (proptest::sample::select(NAMES.to_vec()), arguments);
    proptest::collection::vec(call, 1..4)
}

fn object((name, arguments): &Written, key: &str) -> String {
    format!("{{\"name\": \"{name}\", \"{key}\": {arguments}}}")
}

fn list(calls: &[Written], key: &str) -> String {
    let calls: Vec<String> = calls.iter().map(|call| object(call, key)).collect();
    format!("[{}]", calls.join(", "))
}

/// A JSON value as Python.
fn python(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => format!("'{}'", python_text(text)),
        Value::Array(items) => {
            format!("[{}]", items.iter().map(python).collect::<Vec<_>>().join(", "))
        }
        Value::Object(fields) => {
            let field = |(name, own): (&String, &Value)| {
                format!("'{}': {}", python_text(name), python(own))
            };
            format!("{{{}}}", fields.iter().map(field).collect::<Vec<_>>().join(", "))
        }
    }
}

fn python_text(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('\'', "\\'");
    text.replace('\n', "\\n").replace('\r', "\\r").replace('\0', "\\x00")
}

type Writer = fn(&[Written]) -> String;

/// Every form of calls as JSON, as a model writes it.
const WRITERS: [(&str, Writer); 17] = [
    ("Hermes", |calls| {
        each(calls, |call| format!("<tool_call>\n{}\n</tool_call>\n", object(call, "arguments")))
    }),
    ("Hermes, no end", |calls| {
        each(calls, |call| format!("<tool_call>{}", object(call, "arguments")))
    }),
    ("Llama", |calls| {
        let calls: Vec<String> = calls.iter().map(|call| object(call, "parameters")).collect();
        format!("<|python_tag|>{}<|eom_id|>", calls.join("; "))
    }),
    ("Llama tag", |calls| {
        each(calls, |(name, arguments)| format!("<function={name}>{arguments}</function>"))
    }),
    ("Mistral", |calls| format!("[TOOL_CALLS] {}</s>", list(calls, "arguments"))),
    ("Mistral named", |calls| {
        each(calls, |(name, arguments)| format!("[TOOL_CALLS]{name}[ARGS]{arguments}"))
    }),
    ("Mistral plain", |calls| {
        each(calls, |(name, arguments)| format!("[TOOL_CALLS]{name}{arguments}"))
    }),
    ("Qwen Agent", |calls| {
        each(calls, |(name, arguments)| format!("✿FUNCTION✿: {name}\n✿ARGS✿: {arguments}\n"))
    }),
    ("DeepSeek V3", |calls| {
        let call = |(name, arguments): &Written| {
            format!(
                "<｜tool▁call▁begin｜>function<｜tool▁sep｜>{name}\n```json\n{arguments}\n```<｜tool▁call▁end｜>"
            )
        };
        format!("<｜tool▁calls▁begin｜>{}<｜tool▁calls▁end｜>", each(calls, call))
    }),
    ("DeepSeek V3.1", |calls| {
        let call = |(name, arguments): &Written| {
            format!("<｜tool▁call▁begin｜>{name}<｜tool▁sep｜>{arguments}<｜tool▁call▁end｜>")
        };
        format!("<｜tool▁calls▁begin｜>{}<｜tool▁calls▁end｜>", each(calls, call))
    }),
    ("Granite", |calls| format!("<|tool_call|>{}", list(calls, "arguments"))),
    ("Granite 20B", |calls| {
        each(calls, |call| format!("<function_call> {}", object(call, "arguments")))
    }),
    ("Phi", |calls| format!("functools{}", list(calls, "arguments"))),
    ("xLAM", |calls| list(calls, "arguments")),
    ("Jamba", |calls| format!("<tool_calls>{}</tool_calls>", list(calls, "arguments"))),
    ("InternLM", |calls| {
        each(calls, |call| {
            format!("<|action_start|><|plugin|>\n{}<|action_end|>\n", object(call, "parameters"))
        })
    }),
    ("LongCat", |calls| {
        each(calls, |call| {
            format!("<longcat_tool_call>\n{}\n</longcat_tool_call>\n", object(call, "arguments"))
        })
    }),
];

fn each(calls: &[Written], write: impl Fn(&Written) -> String) -> String {
    calls.iter().map(write).collect()
}

fn found(reading: &Reading) -> Vec<(&str, &str)> {
    reading.calls.iter().map(|call| (call.tool.as_str(), call.arguments.as_str())).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn calls_in_every_form_come_back_exactly_and_none_is_lost(
        calls in written(),
        before in "[A-Za-z ,.\n]{0,20}",
        after in "[A-Za-z ,.]{0,20}",
    ) {
        let tools = tools(&NAMES);
        let expected: Vec<(&str, &str)> =
            calls.iter().map(|(name, arguments)| (*name, arguments.as_str())).collect();
        for (form, write) in WRITERS {
            let written = write(&calls);
            let text = if form == "xLAM" { written } else { format!("{before}\n{written}\n{after}") };
            let reading = tools.read(&text);
            prop_assert_eq!(&found(&reading), &expected, "{}: {}", form, text);
            prop_assert!(reading.refusals.is_empty(), "{}: {} {:?}", form, text, reading.refusals);
            if form != "xLAM" {
                let said = reading.content.split_whitespace().collect::<Vec<_>>().join(" ");
                let meant = format!("{before} {after}");
                let meant = meant.split_whitespace().collect::<Vec<_>>().join(" ");
                prop_assert_eq!(said, meant, "{}: {}", form, text);
            }
        }
    }

    #[test]
    fn calls_in_python_come_back(
        arguments in proptest::collection::vec(("[a-z]{1,5}", any_value()), 0..4),
        bare in any::<bool>(),
    ) {
        let arguments: Map<String, Value> = arguments.into_iter().collect();
        let given: Vec<String> =
            arguments.iter().map(|(name, value)| format!("{name}={}", python(value))).collect();
        let list = format!("[get_weather({}), f()]", given.join(", "));
        let text = if bare { list } else { format!("<|python_start|>{list}<|python_end|>") };
        let reading = tools(&NAMES).read(&text);
        prop_assert_eq!(reading.calls.len(), 2, "{}", text);
        prop_assert_eq!(&reading.calls[0].arguments.to_value(), &Value::Object(arguments), "{}", text);
    }

    #[test]
    fn what_is_quoted_thought_or_a_result_is_no_call(calls in written(), more in "[a-z .]{0,12}") {
        let tools = tools(&NAMES);
        for (form, write) in WRITERS {
            // A quote ends where its text says; what is put into it must not say so.
            let inner = write(&calls);
            let ends = ["</think>", "[/THINK]", "</result>", "</tool_response>", "```", "`", "\n", "<think>", "<result>"];
            if ends.iter().any(|end| inner.trim_end().contains(end)) && form != "xLAM" {
                continue;
            }
            let inner = inner.trim_end();
            for text in [
                format!("<think>{inner}</think>{more}"),
                format!("<think>{more}{inner}"),
                format!("<think>{inner}"),
                format!("{inner}</think>{more}"),
                format!("[THINK]{inner}[/THINK]"),
                format!("<result step=\"1\"><data>{inner}</data></result>{more}"),
                format!("<tool_response>{inner}"),
                format!("{more}\n> {inner}"),
                format!("x `{inner}` {more}"),
                format!("```markdown\n{inner}\n```\n{more}"),
                format!("````\n```\n{inner}\n```\n````\n{more}"),
            ] {
                if form == "xLAM" && ends.iter().any(|end| inner.contains(end)) {
                    continue;
                }
                let reading = tools.read(&text);
                prop_assert!(reading.calls.is_empty(), "{}: {}", form, text);
            }
        }
    }
}
