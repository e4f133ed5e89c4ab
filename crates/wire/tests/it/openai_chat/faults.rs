use super::{decode_messages, decode_request};
use interleaf_wire::ErrorKind::{self, Form, Rule, Syntax};

#[test]
fn faults_in_messages_name_place_and_rule() {
    let table: &[(&str, ErrorKind, &str)] = &[
        ("[", Syntax, "line 1 column 2: EOF while parsing a list"),
        ("[]\n]", Syntax, "line 2 column 1: trailing characters"),
        (r#"["é" 1]"#, Syntax, "line 1 column 6: expected `,` or `]`"),
        (r#"["é", 1]"#, Form, "messages[0], line 1 column 2: must be an object, not a string"),
        (
            r#"[{"x":"é","role":1}]"#,
            Form,
            "messages[0].role, line 1 column 18: must be a string, not a number",
        ),
        (
            "[{\"role\":\"user\"},\n  7]",
            Form,
            "messages[1], line 2 column 3: must be an object, not a number",
        ),
        (r#"[{"content":"hi"}]"#, Form, "messages[0], line 1 column 2: a message needs `role`"),
        (
            r#"[{"role":true}]"#,
            Form,
            "messages[0].role, line 1 column 10: must be a string, not a boolean",
        ),
        (
            r#"[{"role":"robot"}]"#,
            Form,
            r#"messages[0].role, line 1 column 10: unknown role "robot": it must be system, developer, user, assistant, tool or function"#,
        ),
        (
            r#"[{"role":"tool","content":"x"}]"#,
            Form,
            "messages[0], line 1 column 2: a tool message needs `tool_call_id`, the id of the call that it answers",
        ),
        (
            r#"[{"role":"tool","tool_call_id":""}]"#,
            Rule,
            "messages[0].tool_call_id, line 1 column 32: a tool message needs `tool_call_id`, the id of the call that it answers",
        ),
        (
            r#"[{"role":"tool","tool_call_id":"c","is_error":"yes"}]"#,
            Form,
            "messages[0].is_error, line 1 column 47: must be true or false, not a string",
        ),
        (
            r#"[{"role":"function","content":"x"}]"#,
            Form,
            "messages[0], line 1 column 2: a function message needs `name`, the function that it answers for",
        ),
        (
            r#"[{"role":"user","content":5}]"#,
            Form,
            "messages[0].content, line 1 column 27: must be a string, null or a list of parts, not a number",
        ),
        (
            r#"[{"role":"user","content":["hi"]}]"#,
            Form,
            "messages[0].content[0], line 1 column 28: must be an object, not a string",
        ),
        (
            r#"[{"role":"user","content":[{"text":"hi"}]}]"#,
            Form,
            "messages[0].content[0], line 1 column 28: a part needs `type`",
        ),
        (
            r#"[{"role":"user","content":[{"type":"text"}]}]"#,
            Form,
            "messages[0].content[0], line 1 column 28: a text part needs `text`",
        ),
        (
            r#"[{"role":"user","content":[{"type":"image_url","image_url":{"url":1}}]}]"#,
            Form,
            "messages[0].content[0].image_url.url, line 1 column 67: must be a string, not a number",
        ),
        (
            r#"[{"role":"user","content":[{"type":"image_url","image_url":{}}]}]"#,
            Form,
            "messages[0].content[0].image_url, line 1 column 60: an image needs `url`",
        ),
        (
            r#"[{"role":"user","content":[{"type":"file"}]}]"#,
            Form,
            "messages[0].content[0], line 1 column 28: a part of type file needs `file`",
        ),
        (
            r#"[{"role":"user","content":[{"type":"file","file":{}}]}]"#,
            Form,
            "messages[0].content[0].file, line 1 column 50: a file needs `file_data`, `file_id` or `file_url`",
        ),
        (
            r#"[{"role":"assistant","tool_calls":{}}]"#,
            Form,
            "messages[0].tool_calls, line 1 column 35: must be a list, not an object",
        ),
        (
            r#"[{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f"}},{"id":1}]}]"#,
            Form,
            "messages[0].tool_calls[1].id, line 1 column 77: must be a string, not a number",
        ),
        (
            r#"[{"role":"assistant","tool_calls":[{"id":"a","type":"search"}]}]"#,
            Form,
            "messages[0].tool_calls[0], line 1 column 36: a call needs `function` or `custom`, what it wants to run",
        ),
        (
            r#"[{"role":"assistant","tool_calls":[{"id":"a","function":{"arguments":"{}"}}]}]"#,
            Form,
            "messages[0].tool_calls[0].function, line 1 column 57: a call needs `name`, the tool that it wants to run",
        ),
        (
            r#"[{"role":"assistant","thinking_blocks":[{"type":"redacted_thinking"}]}]"#,
            Form,
            "messages[0].thinking_blocks[0], line 1 column 41: redacted thinking needs `data`",
        ),
        (
            r#"[{"role":"user","content":"\ud800"}]"#,
            Syntax,
            "messages[0].content, line 1 column 27: unexpected end of hex escape",
        ),
    ];
    for (text, kind, expected) in table {
        let error = decode_messages(text).unwrap_err();
        assert_eq!((error.kind(), error.to_string().as_str()), (*kind, *expected), "{text}");
    }
}

#[test]
fn faults_in_a_request_name_place_and_rule() {
    let table: &[(&str, ErrorKind, &str)] = &[
        ("", Syntax, "line 1 column 1: EOF while parsing a value"),
        ("7", Form, "line 1 column 1: must be an object, not a number"),
        (r#"{"model":"m"}"#, Form, "line 1 column 1: a request needs `messages`"),
        (r#"{"messages":"hi"}"#, Form, "messages, line 1 column 13: must be a list, not a string"),
        (
            r#"{"messages":[],"max_tokens":1.5}"#,
            Form,
            "max_tokens, line 1 column 29: must be a whole number of 0 or more, not 1.5",
        ),
        (
            r#"{"messages":[],"stream":1}"#,
            Form,
            "stream, line 1 column 25: must be true or false, not a number",
        ),
        (
            r#"{"messages":[],"stop":["a",1]}"#,
            Form,
            "stop[1], line 1 column 28: must be a string, not a number",
        ),
        (
            r#"{"messages":[],"tools":[{"type":"function"}]}"#,
            Form,
            "tools[0], line 1 column 25: a function tool needs `function`, its description",
        ),
        (
            r#"{"messages":[],"tools":[{"type":"function","function":{"strict":0}}]}"#,
            Form,
            "tools[0].function, line 1 column 55: a tool needs `name`",
        ),
        (
            r#"{"messages":[],"tools":[{"type":"function","function":{"name":"f","strict":0}}]}"#,
            Form,
            "tools[0].function.strict, line 1 column 76: must be true or false, not a number",
        ),
        (
            "{\"model\":\"m\",\n \"messages\":[\n  {\"role\":\"tool\"}]}",
            Form,
            "messages[0], line 3 column 3: a tool message needs `tool_call_id`, the id of the call that it answers",
        ),
    ];
    for (text, kind, expected) in table {
        let error = decode_request(text).unwrap_err();
        assert_eq!((error.kind(), error.to_string().as_str()), (*kind, *expected), "{text}");
    }
}
