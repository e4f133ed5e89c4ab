//! Bodies, read and written again.

use interleaf_model::{Json, PartRef, Role};
use interleaf_wire::lint::lint;
use interleaf_wire::{
    Effort, Family, ResponseFormat, ThinkingMode, Thoughts, ToolChoice, decode_request,
};

use super::{FAMILY, again, body_of, vendor};

/// Every level has fields that nobody knows; numbers are odd.
const STRANGE: &str = concat!(
    r#"{"model":"m","instructions":"Be brief.","tools":["#,
    r#"{"type":"function","name":"ls","description":"Lists.","parameters":{"type":"object","properties":{}},"strict":false,"new_1":{ "a": 1e2 }},"#,
    r#"{"type":"web_search","new_2":[1.0]}],"input":["#,
    r#"{"type":"message","role":"developer","content":"You are terse.","new_3":1},"#,
    r#"{"type":"message","id":"msg_0","role":"user","content":[{"type":"input_text","text":"hi","new_4":-0},"#,
    r#"{"type":"input_image","image_url":"data:image/png;base64,AAAA","detail":"low","new_5":"\u00e9"},"#,
    r#"{"type":"input_file","filename":"a.pdf","file_data":"data:application/pdf;base64,AAAA","new_6":{}},"#,
    r#"{"type":"input_file","file_id":"file-1"},{"type":"input_smell","new_7":null},{"type":"odd"}],"status":"completed","new_8":[]},"#,
    r#"{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"a"},{"type":"summary_text","text":"b","new_9":0}],"encrypted_content":"gAAA","status":"completed","new_10":1E+2},"#,
    r#"{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"one","annotations":[],"new_11":true},"#,
    r#"{"type":"output_text","text":"two","annotations":[{"type":"url_citation"}]},{"type":"refusal","refusal":"no"}],"phase":"commentary","status":"completed","new_12":0},"#,
    r#"{"type":"web_search_call","id":"ws_1","status":"completed","new_13":1},"#,
    r#"{"type":"function_call","id":"fc_1","call_id":"c1","name":"ls","arguments":"{\"p\": 1e2}","status":"completed","async":false,"new_14":[ ]},"#,
    r#"{"type":"custom_tool_call","id":"ctc_1","call_id":"c2","name":"sql","input":" x ","new_15":1},"#,
    r#"{"type":"function_call_output","call_id":"c1","output":[{"type":"input_text","text":"out","new_16":1},{"type":"input_image","file_id":"file-2","detail":"auto"}],"status":"completed","new_17":1},"#,
    r#"{"type":"custom_tool_call_output","call_id":"c2","output":"","new_18":1},"#,
    r#"{"type":"message","role":"user","content":"go on"},"#,
    r#"{"type":"additional_tools","role":"developer","tools":[],"new_19":1}"#,
    r#"],"tool_choice":"auto","parallel_tool_calls":false,"max_output_tokens":100,"temperature":1.0,"top_p":0.50,"#,
    r#""text":{"format":{"type":"json_schema","name":"x","strict":false,"schema":{"type":"object"},"new_20":1},"verbosity":"low"},"#,
    r#""reasoning":{"effort":"low","summary":"concise"},"prompt_cache_key":"k","stream":true,"store":false,"metadata":{"a":"b"},"new_21":{ "deep": [1e2] }}"#,
);

#[test]
fn unknown_fields_come_back_byte_for_byte() {
    let encoded = again_with_head(STRANGE);
    assert_eq!(encoded, STRANGE);
}

/// The system message after the instructions stands alone only in a body: as a
/// prompt both are one head.
fn again_with_head(body: &str) -> String {
    let request = decode_request(FAMILY, body).unwrap();
    let systems: Vec<_> =
        request.messages.iter().filter(|message| message.role() == Role::System).collect();
    assert_eq!(systems.len(), 2);
    let mut entries: Vec<_> = request
        .messages
        .iter()
        .map(|message| interleaf_model::Entry {
            message: std::sync::Arc::new(message.clone()),
            provenance: interleaf_model::Provenance::Original,
        })
        .collect();
    // The head is a prompt and a summary; which is which does not show.
    entries[1].provenance = interleaf_model::Provenance::Summary;
    let prompt =
        interleaf_model::Prompt::check_for(crate::taking_blanks(), entries, request.tools.into())
            .unwrap();
    let encoded = interleaf_wire::encode(&prompt, vendor(), &request.options).unwrap();
    assert_eq!(encoded.adjustments, []);
    body_of(&encoded)
}

#[test]
fn a_body_is_read_into_messages() {
    let request = decode_request(FAMILY, STRANGE).unwrap();
    let roles: Vec<Role> = request.messages.iter().map(|message| message.role()).collect();
    use Role::{Assistant, System, Tool, User};
    assert_eq!(roles, [System, System, User, Assistant, Tool, Tool, User, User]);
    let kinds: String = request.messages[3]
        .parts()
        .map(|part| match part {
            PartRef::Thinking(_) => 'r',
            PartRef::Text(_) => 't',
            PartRef::Call(_) => 'c',
            PartRef::Opaque(_) => 'o',
            PartRef::Image(_) | PartRef::File(_) => 'm',
        })
        .collect();
    assert_eq!(kinds, "rttoocc");
    assert_eq!(request.tools.len(), 1);
    assert_eq!(request.options.hosted_tools.len(), 1);
    assert_eq!(request.options.tool_choice, Some(ToolChoice::Auto));
    assert_eq!(request.options.max_tokens, Some(100));
    let format = request.options.response_format.unwrap();
    let schema = Json::parse(r#"{"type":"object"}"#).unwrap();
    assert_eq!(format, ResponseFormat::schema("x", &schema, false));
    let rest: Vec<&str> = request.options.rest.iter().map(|(name, _)| name).collect();
    assert_eq!(rest, ["text", "reasoning", "store", "metadata", "new_21"]);
    let thinking = ThinkingMode::effort(Effort::Low).with_thoughts(Thoughts::Shown);
    assert_eq!(request.options.thinking, Some(thinking));
    assert!(request.options.rest.is_of(Family::OpenaiResponses));
}

#[test]
fn a_text_as_input_is_what_the_user_said() {
    let request = decode_request(FAMILY, r#"{"model":"m","input":"hi"}"#).unwrap();
    assert_eq!(request.messages.len(), 1);
    assert_eq!(request.messages[0].text(), "hi");
}

#[test]
fn neighbouring_messages_of_the_assistant_stay_apart() {
    let body = concat!(
        r#"{"model":"m","input":[{"type":"message","role":"user","content":"a"},"#,
        r#"{"type":"message","role":"assistant","content":"b"},"#,
        r#"{"type":"message","role":"assistant","content":"c"},"#,
        r#"{"type":"message","role":"user","content":"d"}]}"#,
    );
    assert_eq!(body_of(&again(body)), body);
}

/// Results whose calls the API has are sent on as they are.
#[test]
fn a_body_that_continues_an_answer_comes_back() {
    let body = concat!(
        r#"{"model":"m","input":[{"type":"function_call_output","call_id":"c","output":"x"},"#,
        r#"{"type":"message","role":"user","content":"go on"}],"previous_response_id":"resp_1"}"#,
    );
    assert_eq!(body_of(&again(body)), body);
}

/// What the API refuses but is plain is read, and written as it should have been.
#[test]
fn plain_faults_are_mended_by_writing_anew() {
    let table = [
        r#"{"model":"m","input":[{"role":"user","content":[{"type":"output_text","text":"hi"}]},
            {"role":"assistant","content":[{"type":"input_text","text":"ho"}]}]}"#,
        r#"{"model":"m","input":"x","max_tokens":5,"response_format":{"type":"json_object"}}"#,
        r#"{"model":"m","input":"x","text":{"format":{"type":"json_schema","json_schema":{"name":"a b","schema":{}}}}}"#,
        r#"{"model":"m","input":"x","tools":[{"type":"function","function":{"name":"a b","parameters":{"type":"null"}}}]}"#,
        r#"{"model":"m","input":[{"role":"user","content":"x"},{"type":"reasoning","id":"rs_1"},
            {"type":"function_call","id":"item_1","call_id":"c","name":"f","arguments":{"a":1}},
            {"type":"function_call_output","call_id":"c","output":{"b":2},"id":"fco_1"}]}"#,
        r#"{"model":"m","store":false,"input":[{"role":"user","content":"x"},{"type":"item_reference","id":"msg_1"},
            {"type":"reasoning","id":"rs_1","summary":[]},
            {"type":"message","id":"msg_2","role":"assistant","content":[{"type":"output_text","text":"y"}]}]}"#,
        r#"{"model":"m","input":[{"role":"user","content":"x"},{"type":"reasoning","id":"rs_1","summary":[]},
            {"role":"user","content":"y"}]}"#,
        r#"{"model":"m","previous_response_id":"resp_1","conversation":"conv_1","input":[
            {"type":"function_call_output","id":"fc_1","call_id":"c","output":"x"}]}"#,
        r#"{"model":"m","input":[{"role":"user","content":"x"},
            {"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"y"}]},
            {"role":"user","content":"x"},
            {"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"y"}]}]}"#,
    ];
    for body in table {
        assert_ne!(lint(vendor(), body).unwrap(), [], "{body}");
        let mended = body_of(&again(body));
        assert_eq!(lint(vendor(), &mended).unwrap(), [], "{mended}");
    }
}

#[test]
fn faults_name_place_and_rule() {
    let table = [
        ("7", "line 1 column 1: must be an object, not a number"),
        (
            r#"{"input":1}"#,
            "input, line 1 column 10: must be a string or a list of items, not a number",
        ),
        (r#"{"input":[1]}"#, "input[0], line 1 column 11: must be an object, not a number"),
        (
            r#"{"input":[{}]}"#,
            "input[0], line 1 column 11: an item needs `type`, or `role` if it is a message",
        ),
        (
            r#"{"input":[{"role":"tool"}]}"#,
            r#"input[0].role, line 1 column 19: unknown role "tool": it must be user, assistant, system or developer"#,
        ),
        (
            r#"{"input":[{"role":"user","content":[{"type":"input_image"}]}]}"#,
            "input[0].content[0], line 1 column 37: an image needs `image_url` or `file_id`",
        ),
        (
            r#"{"input":[{"type":"function_call"}]}"#,
            "input[0], line 1 column 11: a call needs `name`, the tool that it runs",
        ),
        (
            r#"{"input":"x","max_output_tokens":-1}"#,
            "max_output_tokens, line 1 column 34: must be a whole number of 0 or more, not -1",
        ),
        (
            r#"{"tools":[{"type":"function"}]}"#,
            "tools[0], line 1 column 11: a function needs `name`",
        ),
    ];
    for (body, expected) in table {
        let error = decode_request(FAMILY, body).unwrap_err();
        assert_eq!(error.to_string(), expected, "{body}");
    }
}
