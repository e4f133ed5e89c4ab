//! Tools in the form of another API.

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
