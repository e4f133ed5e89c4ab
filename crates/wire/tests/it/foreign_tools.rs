//! Tools in the form of another API.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use interleaf_model::Message;
use interleaf_wire::lint::lint;
use interleaf_wire::{Family, Vendor, decode_request, encode};
use serde_json::{Value, json};

use super::openai_chat::prompt;

fn schema() -> Value {
    json!({"type": "object", "properties": {"path": {"type": "string"}}})
}

/// A tool in a family's own form.
fn tool(family: Family) -> Value {
    let (name, schema) = ("ls", schema());
    match family {
        Family::OpenaiChat => {
            json!({"type": "function", "function": {"name": name, "parameters": schema}})
        }
        Family::OpenaiResponses => {
            json!({"type": "function", "name": name, "parameters": schema})
        }
        Family::Anthropic => json!({"name": name, "input_schema": schema}),
        Family::Gemini => {
            json!({"functionDeclarations": [{"name": name, "parametersJsonSchema": schema}]})
        }
        Family::Bedrock => {
            json!({"toolSpec": {"name": name, "inputSchema": {"json": schema}}})
        }
    }
}

fn body(family: Family, tool: &Value) -> String {
    let said = match family {
        Family::OpenaiChat => {
            json!({"model": "gpt-4.1", "messages": [{"role": "user", "content": "q"}]})
        }
        Family::OpenaiResponses => json!({"model": "gpt-4.1", "input": "q"}),
        Family::Anthropic => {
            json!({"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": [{"role": "user", "content": "q"}]})
        }
        Family::Gemini => json!({"contents": [{"role": "user", "parts": [{"text": "q"}]}]}),
        Family::Bedrock => json!({"messages": [{"role": "user", "content": [{"text": "q"}]}]}),
    };
    let mut body = said;
    match family {
        Family::Bedrock => body["toolConfig"] = json!({"tools": [tool]}),
        _ => body["tools"] = json!([tool]),
    }
    body.to_string()
}

#[test]
fn a_tool_in_any_form_is_read_in_any_body_and_lint_finds_it_where_it_is_foreign() {
    for own in Family::ALL {
        for theirs in Family::ALL {
            let text = body(own, &tool(theirs));
            let found = lint(Vendor::of(own), &text).unwrap();
            let found: Vec<&str> = found.iter().map(|fault| fault.rule.id).collect();
            let rule = format!("{own}/foreign-form");
            let expected = if own == theirs { vec![] } else { vec![rule.as_str()] };
            assert_eq!(found, expected, "{theirs} in {own}: {text}");

            let request = decode_request(own, &text).unwrap();
            assert_eq!(request.options.hosted_tools, [], "{theirs} in {own}");
            let [read] = &request.tools[..] else { panic!("{theirs} in {own}: {request:?}") };
            assert_eq!(read.name.as_str(), "ls");
            assert_eq!(read.parameters.as_ref().unwrap().to_value(), schema(), "{theirs} in {own}");

            let written = encode(
                &prompt(&[Message::user("q")], request.tools),
                Vendor::of(own),
                &request.options,
            );
            let written = String::from_utf8(written.unwrap().to_bytes()).unwrap();
            assert_eq!(lint(Vendor::of(own), &written).unwrap(), [], "{written}");
            assert!(written.contains("\"ls\""), "{written}");
        }
    }
}

#[test]
fn tools_beside_the_messages_of_a_bedrock_body_are_read() {
    for theirs in Family::ALL {
        let body = json!({"messages": [{"role": "user", "content": [{"text": "q"}]}],
                          "tools": [tool(theirs)]});
        let found = lint(Vendor::of(Family::Bedrock), &body.to_string()).unwrap();
        let found: Vec<(&str, &str)> =
            found.iter().map(|fault| (fault.rule.id, fault.pointer.as_str())).collect();
        assert_eq!(found, [("bedrock/foreign-form", "/tools")], "{theirs}");
        let request = decode_request(Family::Bedrock, &body.to_string()).unwrap();
        assert_eq!(request.tools[0].name.as_str(), "ls", "{theirs}");
        assert!(request.options.rest.get(Family::Bedrock, "tools").is_none(), "{theirs}");
    }
}

#[test]
fn a_function_that_stands_alone_is_a_tool() {
    let bare = json!({"name": "ls", "parameters": schema()});
    for family in Family::ALL {
        let text = body(family, &bare);
        assert_ne!(lint(Vendor::of(family), &text).unwrap(), [], "{family}");
        let request = decode_request(family, &text).unwrap();
        assert_eq!(request.tools[0].parameters.as_ref().unwrap().to_value(), schema(), "{family}");
    }
}

#[test]
fn a_foreign_tool_that_cannot_be_read_is_an_error_that_names_its_place() {
    let text = body(Family::Anthropic, &json!({"type": "function", "function": {"strict": 3}}));
    let error = decode_request(Family::Anthropic, &text).unwrap_err().to_string();
    assert!(error.starts_with("tools[0]"), "{error}");
    assert!(error.contains("needs `name`"), "{error}");
}

/// The choice of the tool `ls`, and that of any tool, in a family's form.
fn choices(family: Family) -> [Value; 2] {
    match family {
        Family::OpenaiChat => {
            [json!({"type": "function", "function": {"name": "ls"}}), json!("required")]
        }
        Family::OpenaiResponses => [json!({"type": "function", "name": "ls"}), json!("required")],
        Family::Anthropic => [json!({"type": "tool", "name": "ls"}), json!({"type": "any"})],
        Family::Gemini => [
            json!({"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["ls"]}}),
            json!({"functionCallingConfig": {"mode": "ANY"}}),
        ],
        Family::Bedrock => [json!({"tool": {"name": "ls"}}), json!({"any": {}})],
    }
}

/// A body with a choice where its family has it; Gemini's is said beside the tools if it is
/// another's.
fn choosing(own: Family, choice: &Value, is_own: bool) -> Value {
    let mut body: Value = serde_json::from_str(&body(own, &tool(own))).unwrap();
    match own {
        Family::Bedrock => body["toolConfig"]["toolChoice"] = choice.clone(),
        Family::Gemini if is_own => body["toolConfig"] = choice.clone(),
        _ => body["tool_choice"] = choice.clone(),
    }
    body
}

#[test]
fn a_choice_of_tools_in_any_form_is_found_and_written_in_the_bodys_own() {
    for own in Family::ALL {
        let vendor = Vendor::of(own);
        for theirs in Family::ALL {
            for (mine, choice) in choices(own).iter().zip(choices(theirs)) {
                let text = choosing(own, &choice, own == theirs).to_string();
                let is_foreign = own != theirs && *mine != choice;
                let found = lint(vendor, &text).unwrap();
                assert_eq!(found.is_empty(), !is_foreign, "{theirs} in {own}: {text} {found:?}");
                let request = decode_request(own, &text).unwrap();
                let prompt = prompt(&[Message::user("q")], request.tools);
                let encoded = encode(&prompt, vendor, &request.options).unwrap();
                let written: Value = serde_json::from_slice(&encoded.to_bytes()).unwrap();
                let expected = choosing(own, mine, true);
                for place in
                    ["/tool_choice", "/toolConfig/toolChoice", "/toolConfig/functionCallingConfig"]
                {
                    let wanted = expected.pointer(place);
                    assert_eq!(written.pointer(place), wanted, "{theirs} in {own}: {written}");
                }
                assert_eq!(lint(vendor, &written.to_string()).unwrap(), [], "{written}");
            }
        }
    }
}

#[test]
fn whether_calls_may_be_parallel_is_read_in_the_words_of_both_who_say_it() {
    let chat = choosing(
        Family::OpenaiChat,
        &json!({"type": "auto", "disable_parallel_tool_use": true}),
        false,
    );
    let options = decode_request(Family::OpenaiChat, &chat.to_string()).unwrap().options;
    assert_eq!(options.parallel_tool_calls, Some(false));
    let mut claude: Value =
        serde_json::from_str(&body(Family::Anthropic, &tool(Family::Anthropic))).unwrap();
    claude["parallel_tool_calls"] = json!(false);
    let vendor = Vendor::of(Family::Anthropic);
    let found = lint(vendor, &claude.to_string()).unwrap();
    assert_eq!(found[0].rule.id, "anthropic/known-fields");
    let request = decode_request(Family::Anthropic, &claude.to_string()).unwrap();
    let prompt = prompt(&[Message::user("q")], request.tools);
    let encoded = encode(&prompt, vendor, &request.options).unwrap();
    let written: Value = serde_json::from_slice(&encoded.to_bytes()).unwrap();
    assert_eq!(written["tool_choice"], json!({"type": "auto", "disable_parallel_tool_use": true}));
}
