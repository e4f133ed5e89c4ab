//! The same conversation in the words of every API reads the same.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fmt::Write as _;

use interleaf_model::{Message, PartRef, Source, Status};
use interleaf_wire::{Family, ToolChoice, decode_request};

pub(crate) const BODIES: [(Family, &str); 5] = [
    (
        Family::OpenaiChat,
        r#"{"model":"m","max_completion_tokens":100,"tool_choice":"required","stop":["END"],
        "tools":[{"type":"function","function":{"name":"ls","description":"lists","parameters":{"type":"object"}}}],
        "messages":[{"role":"system","content":"be brief"},
        {"role":"user","content":[{"type":"text","text":"what is this?"},
            {"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}}]},
        {"role":"assistant","content":"I look","tool_calls":[
            {"id":"c1","type":"function","function":{"name":"ls","arguments":"{\"n\": 1e2}"}},
            {"id":"c2","type":"function","function":{"name":"ls","arguments":"{}"}}]},
        {"role":"tool","tool_call_id":"c1","content":"src"},
        {"role":"tool","tool_call_id":"c2","is_error":true,"content":"no such folder"},
        {"role":"user","content":"go on"}]}"#,
    ),
    (
        Family::OpenaiResponses,
        r#"{"model":"m","max_output_tokens":100,"tool_choice":"required","instructions":"be brief",
        "tools":[{"type":"function","name":"ls","description":"lists","parameters":{"type":"object"}}],
        "input":[{"role":"user","content":[{"type":"input_text","text":"what is this?"},
            {"type":"input_image","image_url":"data:image/png;base64,iVBORw0KGgo="}]},
        {"type":"message","role":"assistant","content":[{"type":"output_text","text":"I look"}]},
        {"type":"function_call","call_id":"c1","name":"ls","arguments":"{\"n\": 1e2}"},
        {"type":"function_call","call_id":"c2","name":"ls","arguments":"{}"},
        {"type":"function_call_output","call_id":"c1","output":"src"},
        {"type":"function_call_output","call_id":"c2","output":"no such folder"},
        {"role":"user","content":"go on"}]}"#,
    ),
    (
        Family::Anthropic,
        r#"{"model":"m","max_tokens":100,"tool_choice":{"type":"any"},"stop_sequences":["END"],"system":"be brief",
        "tools":[{"name":"ls","description":"lists","input_schema":{"type":"object"}}],
        "messages":[{"role":"user","content":[{"type":"text","text":"what is this?"},
            {"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}]},
        {"role":"assistant","content":[{"type":"text","text":"I look"},
            {"type":"tool_use","id":"c1","name":"ls","input":{"n": 1e2}},
            {"type":"tool_use","id":"c2","name":"ls","input":{}}]},
        {"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"src"},
            {"type":"tool_result","tool_use_id":"c2","is_error":true,"content":"no such folder"},
            {"type":"text","text":"go on"}]}]}"#,
    ),
    (
        Family::Gemini,
        r#"{"generationConfig":{"maxOutputTokens":100,"stopSequences":["END"]},
        "toolConfig":{"functionCallingConfig":{"mode":"ANY"}},"systemInstruction":{"parts":[{"text":"be brief"}]},
        "tools":[{"functionDeclarations":[{"name":"ls","description":"lists","parametersJsonSchema":{"type":"object"}}]}],
        "contents":[{"role":"user","parts":[{"text":"what is this?"},
            {"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgo="}}]},
        {"role":"model","parts":[{"text":"I look"},
            {"functionCall":{"id":"c1","name":"ls","args":{"n": 1e2}}},
            {"functionCall":{"id":"c2","name":"ls","args":{}}}]},
        {"role":"user","parts":[{"functionResponse":{"id":"c1","name":"ls","response":{"output":"src"}}},
            {"functionResponse":{"id":"c2","name":"ls","response":{"error":"no such folder"}}},
            {"text":"go on"}]}]}"#,
    ),
    (
        Family::Bedrock,
        r#"{"modelId":"m","inferenceConfig":{"maxTokens":100,"stopSequences":["END"]},"system":[{"text":"be brief"}],
        "toolConfig":{"toolChoice":{"any":{}},"tools":[
            {"toolSpec":{"name":"ls","description":"lists","inputSchema":{"json":{"type":"object"}}}}]},
        "messages":[{"role":"user","content":[{"text":"what is this?"},
            {"image":{"format":"png","source":{"bytes":"iVBORw0KGgo="}}}]},
        {"role":"assistant","content":[{"text":"I look"},
            {"toolUse":{"toolUseId":"c1","name":"ls","input":{"n": 1e2}}},
            {"toolUse":{"toolUseId":"c2","name":"ls","input":{}}}]},
        {"role":"user","content":[{"toolResult":{"toolUseId":"c1","content":[{"text":"src"}]}},
            {"toolResult":{"toolUseId":"c2","status":"error","content":[{"text":"no such folder"}]}},
            {"text":"go on"}]}]}"#,
    ),
];

const READ: &str = "\
system: be brief
user: what is this? <image/png iVBORw0KGgo=>
assistant: I look [c1 ls {\"n\": 1e2}] [c2 ls {}]
tool c1: src
tool c2 failed: no such folder
user: go on
";

fn shown(messages: &[Message]) -> String {
    let mut shown = String::new();
    for message in messages {
        write!(shown, "{}", message.role()).unwrap();
        if let Some(result) = message.as_result() {
            let status = if result.status == Status::Error { " failed" } else { "" };
            write!(shown, " {}{status}", result.call).unwrap();
        }
        let part = |part| match part {
            PartRef::Text(text) => format!(" {}", text.text),
            PartRef::Call(call) => {
                format!(" [{} {} {}]", call.id, call.name, call.arguments.as_str())
            }
            PartRef::Image(image) => match &image.source {
                Source::Base64(data) => {
                    format!(" <{} {data}>", image.media_type.as_deref().unwrap_or_default())
                }
                other => format!(" {other:?}"),
            },
            other => format!(" {other:?}"),
        };
        let parts: String = message.parts().map(part).collect();
        writeln!(shown, ":{parts}").unwrap();
    }
    shown
}

#[test]
fn one_conversation_reads_the_same_from_every_api() {
    for (family, body) in BODIES {
        let request = decode_request(family, body).unwrap();
        // This API has no mark for a result that failed.
        let is_unmarked = family == Family::OpenaiResponses;
        let expected = if is_unmarked { READ.replace(" failed", "") } else { READ.to_owned() };
        assert_eq!(shown(&request.messages), expected, "{family}");
    }
}

#[test]
fn one_set_of_tools_and_settings_reads_the_same_from_every_api() {
    for (family, body) in BODIES {
        let request = decode_request(family, body).unwrap();
        let [tool] = &*request.tools else { panic!("{family}: {:?}", request.tools) };
        assert_eq!(tool.name.as_str(), "ls");
        assert_eq!(tool.description.as_deref(), Some("lists"));
        assert_eq!(tool.parameters.as_ref().unwrap().as_str(), r#"{"type":"object"}"#);
        let options = request.options;
        // Where the body names no model, the address does.
        let model = if family == Family::Gemini { "" } else { "m" };
        assert_eq!(options.model, model, "{family}");
        assert_eq!(options.max_tokens, Some(100), "{family}");
        assert_eq!(options.tool_choice, Some(ToolChoice::Required), "{family}");
        // This API has no such setting.
        let stops: &[&str] = if family == Family::OpenaiResponses { &[] } else { &["END"] };
        assert_eq!(options.stop, stops, "{family}");
        assert_eq!(options.rest.iter().count(), 0, "{family}");
    }
}
