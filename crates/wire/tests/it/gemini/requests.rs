//! Requests, both ways.

use interleaf_model::{
    Arguments, AssistantPart, Body, CallId, ContentPart, Extra, File, Image, Json, Message, Opaque,
    Parts, Producer, Role, Seal, Source, Status, Text, Thinking, Tool, ToolCall, ToolName,
    ToolResult, VendorName,
};
use interleaf_wire::lint::lint;
use interleaf_wire::{
    AdjustmentKind, Encoded, Family, Options, OwnFields, SessionEncoder, ToolChoice, Vendor,
    decode_request, encode,
};
use interleaf_wire::{AnswerSchema, Number, ResponseFormat, ThinkingMode, Thoughts};
use serde_json::{Value, json};

use super::{body, fixture, google, model, prompt, written};

fn extra(fields: &str) -> Extra {
    Extra::of("google".into(), Json::parse(fields).unwrap()).unwrap()
}

fn call(id: &str, name: &str, arguments: &str, extra: Extra) -> AssistantPart {
    AssistantPart::Call(ToolCall {
        id: CallId::new(id).unwrap(),
        name: ToolName::new(name),
        arguments: Arguments::from_text(arguments),
        extra,
    })
}

fn thinking(
    text: &str,
    seal: Option<Seal>,
    producer: Option<(&str, Option<&str>)>,
) -> AssistantPart {
    let producer = producer.map(|(vendor, model)| Producer {
        vendor: VendorName::new(vendor),
        model: model.map(Into::into),
    });
    AssistantPart::Thinking(Thinking { text: text.into(), seal, producer, extra: Extra::NONE })
}

fn assistant(parts: Vec<AssistantPart>) -> Message {
    Body::Assistant(Parts::new(parts).unwrap()).into()
}

fn user(parts: Vec<ContentPart>) -> Message {
    Body::User(Parts::new(parts).unwrap()).into()
}

fn result(id: &str, status: Status, parts: Vec<ContentPart>) -> Message {
    let call = CallId::new(id).unwrap();
    Body::Tool(ToolResult { call, name: None, status, parts: Parts::new(parts).unwrap() }).into()
}

fn text(text: &str) -> ContentPart {
    ContentPart::Text(Text::new(text))
}

fn image(source: Source, media_type: Option<&str>) -> ContentPart {
    let media_type = media_type.map(Into::into);
    ContentPart::Image(Image { source, media_type, extra: Extra::NONE })
}

fn kinds(encoded: &Encoded) -> Vec<AdjustmentKind> {
    encoded.adjustments.iter().map(|it| it.kind).collect()
}

/// A conversation with every kind of part.
fn full() -> (Vec<Message>, Vec<Tool>, Options) {
    let messages = vec![
        Message::system("You are careful."),
        user(vec![
            text("What is in this picture?"),
            image(Source::Base64("iVBORw0KGgo=".into()), Some("image/png")),
            ContentPart::File(File {
                source: Source::Url("https://example.com/report.pdf".into()),
                media_type: None,
                name: None,
                extra: Extra::NONE,
            }),
        ]),
        assistant(vec![
            thinking("I should look closer.", None, Some(("google", None))),
            AssistantPart::Text(Text::new("Let me zoom in.")),
            call("c1", "zoom", r#"{"x":1,"y":1e2}"#, extra(r#"{"thoughtSignature":"QUJD"}"#)),
            call("c2", "measure", "{}", Extra::NONE),
        ]),
        result(
            "c1",
            Status::Ok,
            vec![text("a detail"), image(Source::Base64("iVBORw0KGgoAAAA=".into()), None)],
        ),
        result("c2", Status::Error, vec![text("no ruler")]),
        Message::user("Never mind the ruler."),
    ];
    let tools = vec![
        Tool {
            name: ToolName::new("zoom"),
            description: Some("Looks closer.".into()),
            parameters: Some(
                Json::parse(r#"{"type":"object","properties":{"x":{"type":"integer"}}}"#).unwrap(),
            ),
            strict: None,
            extra: Extra::NONE,
        },
        Tool {
            name: ToolName::new("measure"),
            description: None,
            parameters: None,
            strict: None,
            extra: Extra::NONE,
        },
    ];
    let mut options = Options::model("gemini-3-pro-preview");
    options.max_tokens = Some(2048);
    options.temperature = Some(Number::from_json(Json::parse("0.70").unwrap()));
    options.stop = vec!["END".into()];
    options.tool_choice = Some(ToolChoice::Tool("zoom".into()));
    options.thinking = Some(ThinkingMode::budget(1024).with_thoughts(Thoughts::Shown));
    (messages, tools, options)
}

#[test]
fn a_conversation_of_all_kinds_is_written_so() {
    let (messages, tools, options) = full();
    let encoded = encode(&prompt(messages, tools), google(), &options).unwrap();
    let expected: Value =
        serde_json::from_str(&fixture("exchanges/gemini/full.request.json")).unwrap();
    // Byte for byte, but for the numbers that the parser rounds.
    let bytes = String::from_utf8(encoded.to_bytes()).unwrap();
    assert_eq!(bytes.replace("1e2", "100.0").replace("0.70", "0.7"), expected.to_string());
    assert_eq!(encoded.adjustments, []);
    assert_eq!(lint(google(), &bytes).unwrap(), []);
}

#[test]
fn what_was_written_is_read_back() {
    let (messages, tools, options) = full();
    let encoded = encode(&prompt(messages.clone(), tools.clone()), google(), &options).unwrap();
    let text = String::from_utf8(encoded.to_bytes()).unwrap();
    let request = decode_request(Family::Gemini, &text).unwrap();
    let roles: Vec<Role> = request.messages.iter().map(Message::role).collect();
    assert_eq!(roles, messages.iter().map(Message::role).collect::<Vec<_>>());
    let texts = |messages: &[Message]| -> Vec<String> {
        messages.iter().map(|message| message.text().into_owned()).collect()
    };
    assert_eq!(texts(&request.messages), texts(&messages));
    assert_eq!(request.tools, tools);
    let mut read = request.options;
    read.model = options.model.clone();
    read.rest = OwnFields::default();
    assert_eq!(read, options);
    let ids: Vec<&str> = request.messages[2].calls().map(|call| call.id.as_str()).collect();
    assert_eq!(ids, ["call_1_2", "call_1_3"]);
    let answered = |at: usize| request.messages[at].as_result().unwrap();
    assert_eq!(answered(3).call.as_str(), "call_1_2");
    assert_eq!((answered(4).call.as_str(), answered(4).status), ("call_1_3", Status::Error));
}

#[test]
fn calls_of_the_running_loop_get_a_stand_in_for_a_signature() {
    let notation = "u one\na [call c1 f {}]\nt c1= 1\na done\nu two\na [call c2 f {}] [call c3 f {}]\nt c2= 2\nt c3= 3\na [call c4 f {}]\nt c4= 4\n";
    let signatures = |name: &str| -> Vec<Option<String>> {
        let body = written(notation, &model(name));
        let contents = body["contents"].as_array().unwrap().clone();
        let parts = contents.iter().flat_map(|content| content["parts"].as_array().unwrap());
        parts
            .filter(|part| part.get("functionCall").is_some())
            .map(|part| part["thoughtSignature"].as_str().map(str::to_owned))
            .collect()
    };
    let stand_in = || Some("skip_thought_signature_validator".to_owned());
    assert_eq!(signatures("gemini-3.5-flash"), [None, stand_in(), None, stand_in()]);
    assert_eq!(signatures("gemini-2.5-flash"), [None, None, None, None]);
}

#[test]
fn signatures_of_another_model_are_left_out() {
    let signed = || extra(r#"{"thoughtSignature":"QUJD"}"#);
    let messages = |made_by| {
        vec![
            Message::user("go"),
            assistant(vec![thinking("hm", None, Some(made_by)), call("c1", "f", "{}", signed())]),
            result("c1", Status::Ok, vec![text("1")]),
        ]
    };
    let signature = |made_by, target: &str| {
        let encoded = encode(&prompt(messages(made_by), vec![]), google(), &model(target)).unwrap();
        let body = body(&encoded);
        let parts = body["contents"][1]["parts"].as_array().unwrap().clone();
        let call = parts.iter().find(|part| part.get("functionCall").is_some()).unwrap().clone();
        (call["thoughtSignature"].as_str().map(str::to_owned), kinds(&encoded))
    };
    let own = ("google", Some("gemini-3-pro"));
    assert_eq!(signature(own, "gemini-3-pro"), (Some("QUJD".into()), vec![]));
    assert_eq!(
        signature(own, "gemini-2.5-pro"),
        (None, vec![AdjustmentKind::ThinkingDropped, AdjustmentKind::ThinkingDropped])
    );
    let (stand_in, adjustments) = signature(("anthropic", None), "gemini-3-pro");
    assert_eq!(stand_in.as_deref(), Some("skip_thought_signature_validator"));
    assert!(adjustments.contains(&AdjustmentKind::SignatureStandIn), "{adjustments:?}");
}

#[test]
fn thinking_goes_back_to_google_alone() {
    let messages = vec![
        Message::user("go"),
        assistant(vec![
            thinking("a", Some(Seal::Signature("QUJD".into())), Some(("google", None))),
            thinking("b", Some(Seal::Signature("QUJD".into())), Some(("anthropic", None))),
            thinking("c", None, None),
            thinking("", Some(Seal::Encrypted("QUJD".into())), None),
            AssistantPart::Text(Text::new("done")),
        ]),
        Message::user("more"),
    ];
    let encoded = encode(&prompt(messages, vec![]), google(), &Options::default()).unwrap();
    assert_eq!(
        body(&encoded)["contents"][1]["parts"],
        json!([
            {"text": "a", "thought": true, "thoughtSignature": "QUJD"},
            {"text": "c", "thought": true},
            {"text": "done"},
        ])
    );
    assert_eq!(
        kinds(&encoded),
        [
            AdjustmentKind::ThinkingDropped,
            AdjustmentKind::ThinkingDropped,
            AdjustmentKind::BlankText
        ]
    );
}

#[test]
fn ids_go_back_only_where_they_came_from() {
    let body = r#"{"contents": [
        {"role": "user", "parts": [{"text": "go"}]},
        {"role": "model", "parts": [
            {"functionCall": {"id": "k1", "name": "f", "args": {}}},
            {"functionCall": {"name": "f", "args": {}}}]},
        {"role": "user", "parts": [
            {"functionResponse": {"name": "f", "response": {"output": "second"}}},
            {"functionResponse": {"id": "k1", "name": "f", "response": {"output": "first"}}}]}]}"#;
    let request = decode_request(Family::Gemini, body).unwrap();
    let answered: Vec<&str> =
        request.messages[2..].iter().map(|m| m.as_result().unwrap().call.as_str()).collect();
    assert_eq!(answered, ["call_1_1", "k1"]);

    let messages = vec![
        Message::user("go"),
        assistant(vec![
            call("k1", "f", "{}", extra(r#"{"functionCall":{"id":"k1"}}"#)),
            call("c2", "f", "{}", Extra::NONE),
        ]),
        result("k1", Status::Ok, vec![text("1")]),
        result("c2", Status::Ok, vec![text("2")]),
    ];
    let body = super::body(&encode(&prompt(messages, vec![]), google(), &model("")).unwrap());
    let id = |at: &str| body.pointer(at).cloned();
    assert_eq!(id("/contents/1/parts/0/functionCall/id"), Some(json!("k1")));
    assert_eq!(id("/contents/2/parts/0/functionResponse/id"), Some(json!("k1")));
    assert_eq!(id("/contents/1/parts/1/functionCall/id"), None);
    assert_eq!(id("/contents/2/parts/1/functionResponse/id"), None);
}

#[test]
fn results_come_back_in_the_form_they_were_said_in() {
    for (response, text) in [
        (json!({"n": 1}), r#"{"n":1}"#),
        (json!({"result": "sunny"}), "sunny"),
        (json!({"output": "sunny"}), "sunny"),
        (json!({"error": "no network"}), "no network"),
    ] {
        let body = json!({"contents": [
            {"role": "user", "parts": [{"text": "go"}]},
            {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": response}}]}]});
        let request = decode_request(Family::Gemini, &body.to_string()).unwrap();
        assert_eq!(request.messages[2].text(), text);
        let prompt = prompt(request.messages, request.tools);
        assert_eq!(super::body(&encode(&prompt, google(), &request.options).unwrap()), body);
    }
}

#[test]
fn what_can_not_travel_is_told_in_a_note() {
    let kept = Source::Id { owner: "openai".into(), id: "file-1".into() };
    let messages = vec![
        user(vec![image(kept.clone(), None)]),
        assistant(vec![call("c1", "f", "{}", Extra::NONE)]),
        result("c1", Status::Ok, vec![text("see"), image(kept, None)]),
    ];
    let encoded = encode(&prompt(messages, vec![]), google(), &Options::default()).unwrap();
    let body = body(&encoded);
    let note = "[an image is left out: another vendor keeps it]";
    assert_eq!(body["contents"][0]["parts"][0]["text"], note);
    let said = &body["contents"][2]["parts"][0]["functionResponse"]["response"]["output"];
    assert_eq!(*said, format!("see\n{note}"));
    assert_eq!(kinds(&encoded), [AdjustmentKind::MediaDropped, AdjustmentKind::MediaDropped]);
}

#[test]
fn blank_turns_are_filled_where_something_must_stand() {
    let parts = |notation: &str, at: usize| {
        written(notation, &Options::default())["contents"][at]["parts"].clone()
    };
    assert_eq!(
        parts("u go\na [call c1 f {}]\nt c1= 1\nu  \n", 2),
        json!([{"functionResponse": {"name": "f", "response": {"output": "1"}}}, {"text": "."}])
    );
    let blank = || vec![Message::user("")];
    let on = |vendor: &Vendor| {
        body(&encode(&prompt(blank(), vec![]), vendor, &Options::default()).unwrap())
    };
    assert_eq!(on(google())["contents"][0]["parts"], json!([{"text": ""}]));
    let vertex = Vendor::named("vertex").unwrap();
    assert_eq!(on(vertex)["contents"][0]["parts"], json!([{"text": "."}]));
}

#[test]
fn the_model_may_have_the_last_word() {
    let body = written("u go\na half a sen\n", &Options::default());
    assert_eq!(body["contents"].as_array().unwrap().len(), 2);
    assert_eq!(lint(google(), &body.to_string()).unwrap(), []);
}

#[test]
fn neighbours_of_one_role_become_one_content() {
    let body = written("u one\nu two\na three\na four\nu five\n", &Options::default());
    let shape: Vec<(String, usize)> = body["contents"]
        .as_array()
        .unwrap()
        .iter()
        .map(|content| {
            let n_parts = content["parts"].as_array().unwrap().len();
            (content["role"].as_str().unwrap().to_owned(), n_parts)
        })
        .collect();
    assert_eq!(shape, [("user".into(), 2), ("model".into(), 2), ("user".into(), 1)]);
}

#[test]
fn a_schema_goes_out_in_the_words_it_is_in() {
    let tool = |schema: &str| Tool {
        name: ToolName::new("f"),
        description: None,
        parameters: Some(Json::parse(schema).unwrap()),
        strict: None,
        extra: Extra::NONE,
    };
    let declared = |schema: &str| {
        let prompt = prompt(vec![Message::user("go")], vec![tool(schema)]);
        let encoded = encode(&prompt, google(), &Options::default()).unwrap();
        let declared = body(&encoded)["tools"][0]["functionDeclarations"][0].clone();
        (declared, encoded.adjustments.len())
    };
    let json_schema = r#"{"type":"object","properties":{"a":{"const":1}}}"#;
    let value: Value = serde_json::from_str(json_schema).unwrap();
    let expected = json!({"name": "f", "parametersJsonSchema": value});
    assert_eq!(declared(json_schema), (expected, 0));
    let googles = r#"{"type":"OBJECT","properties":{"a":{"type":"STRING"}}}"#;
    let value: Value = serde_json::from_str(googles).unwrap();
    assert_eq!(declared(googles), (json!({"name": "f", "parameters": value}), 0));
    let mixed = r#"{"type":"OBJECT","properties":{"a":{"type":"STRING","const":"x"}}}"#;
    let expected = json!({"name": "f", "parametersJsonSchema":
        {"type": "object", "properties": {"a": {"type": "string", "const": "x"}}}});
    assert_eq!(declared(mixed), (expected, 1));
}

#[test]
fn a_schema_in_googles_words_is_read_as_json_schema_and_goes_back_as_it_was() {
    let body = json!({
        "tools": [{"functionDeclarations": [{"name": "f", "parameters": {
            "type": "OBJECT",
            "properties": {
                "a": {"type": "STRING", "nullable": true, "enum": ["x"]},
                "b": {"type": "ARRAY", "items": {"type": "NUMBER"}, "min_items": "2"}
            }}}]}],
        "contents": [{"role": "user", "parts": [{"text": "go"}]}]});
    let request = decode_request(Family::Gemini, &body.to_string()).unwrap();
    assert_eq!(
        request.tools[0].parameters.as_ref().unwrap().to_value(),
        json!({"type": "object", "properties": {
            "a": {"type": ["string", "null"], "enum": ["x", null]},
            "b": {"type": "array", "items": {"type": "number"}, "minItems": 2}}})
    );
    let prompt = prompt(request.messages, request.tools);
    assert_eq!(super::body(&encode(&prompt, google(), &request.options).unwrap()), body);
}

#[test]
fn names_that_google_refuses_are_rewritten_everywhere_alike() {
    let tool = Tool {
        name: ToolName::new("7 días"),
        description: None,
        parameters: None,
        strict: None,
        extra: Extra::NONE,
    };
    let messages = vec![
        Message::user("go"),
        assistant(vec![call("c1", "7 días", "{}", Extra::NONE)]),
        result("c1", Status::Ok, vec![text("1")]),
    ];
    let mut options = model("");
    options.tool_choice = Some(ToolChoice::Tool("7 días".into()));
    let encoded = encode(&prompt(messages, vec![tool]), google(), &options).unwrap();
    let body = body(&encoded);
    let name = body["tools"][0]["functionDeclarations"][0]["name"].as_str().unwrap();
    assert_eq!(body["contents"][1]["parts"][0]["functionCall"]["name"], name);
    assert_eq!(body["contents"][2]["parts"][0]["functionResponse"]["name"], name);
    let config = &body["toolConfig"]["functionCallingConfig"];
    assert_eq!(*config, json!({"mode": "ANY", "allowedFunctionNames": [name]}));
    assert_eq!(encoded.names.original(name).as_str(), "7 días");
    assert_eq!(lint(google(), &body.to_string()).unwrap(), []);
}

#[test]
fn unknown_fields_survive_at_every_level() {
    let body = fixture("exchanges/gemini/unknown.request.json");
    let expected: Value = serde_json::from_str(&body).unwrap();
    let request = decode_request(Family::Gemini, &body).unwrap();
    let prompt = prompt(request.messages, request.tools);
    // Who only speaks the API may know more fields than Google does.
    let gateway = Vendor::new("gateway", Family::Gemini);
    let encoded = encode(&prompt, &gateway, &request.options).unwrap();
    assert_eq!(super::body(&encoded), expected);
    assert_eq!(encoded.adjustments, []);
}

#[test]
fn google_gets_no_field_at_the_top_that_it_does_not_know() {
    let body = r#"{"contents":[{"role":"user","parts":[{"text":"hi"}]}],"stream":true,"store":false,
        "safety_settings":[],"labels":{"a":"b"},"a/b":1}"#;
    let request = decode_request(Family::Gemini, body).unwrap();
    let encoded =
        encode(&prompt(request.messages, request.tools), google(), &request.options).unwrap();
    let expected = json!({"contents": [{"role": "user", "parts": [{"text": "hi"}]}],
        "store": false, "safetySettings": [], "labels": {"a": "b"}});
    assert_eq!(super::body(&encoded), expected);
    let details: Vec<&str> = encoded.adjustments.iter().map(|it| it.detail.as_str()).collect();
    assert_eq!(details, ["stream: the API does not know it", "a/b: the API does not know it"]);
    let faults = lint(google(), body).unwrap();
    let found: Vec<_> = faults.iter().map(|fault| (fault.rule.id, &*fault.pointer)).collect();
    let id = "gemini/known-fields";
    assert_eq!(found, [(id, "/stream"), (id, "/a~1b")]);
}

#[test]
fn parts_and_fields_of_other_vendors_stay_behind() {
    let foreign = Extra::of("openai".into(), Json::parse(r#"{"x":1}"#).unwrap()).unwrap();
    let opaque = |owner: &str, value: &str| {
        let value = Json::parse(value).unwrap();
        ContentPart::Opaque(Opaque { owner: owner.into(), value })
    };
    let messages = vec![user(vec![
        ContentPart::Text(Text { text: "hi".into(), extra: foreign }),
        opaque("openai", r#"{"type":"refusal"}"#),
        opaque("google", r#"{"executableCode":{"code":"1"}}"#),
        opaque("google", "{}"),
        opaque("google", r#"{"functionCall":{"name":"f"}}"#),
    ])];
    let encoded = encode(&prompt(messages, vec![]), google(), &Options::default()).unwrap();
    let expected = json!([{"text": "hi"}, {"executableCode": {"code": "1"}}]);
    assert_eq!(body(&encoded)["contents"][0]["parts"], expected);
    let dropped = AdjustmentKind::OpaqueDropped;
    assert_eq!(kinds(&encoded), [dropped, dropped, dropped, AdjustmentKind::FieldsDropped]);
    assert_eq!(encoded.adjustments[3].detail, "openai's x");
}

#[test]
fn kept_fields_never_displace_what_is_written() {
    let fields = r#"{"text":"other","functionCall":{},"inline_data":{},"thought":true,
        "thoughtSignature":"not base64!","role":1,"parts":[],"media_resolution":{}}"#;
    let message = Message {
        extra: extra(r#"{"role":"model","parts":[],"x":1}"#),
        ..user(vec![ContentPart::Text(Text { text: "hi".into(), extra: extra(fields) })])
    };
    let body = body(&encode(&prompt(vec![message], vec![]), google(), &model("")).unwrap());
    let expected = json!({"role": "user", "x": 1, "parts": [
        {"text": "hi", "role": 1, "parts": [], "mediaResolution": {}}]});
    assert_eq!(body["contents"][0], expected);
}

#[test]
fn settings_without_a_place_are_reported() {
    let mut options = model("gemini-3-pro");
    options.parallel_tool_calls = Some(false);
    options.cache_key = Some("k".into());
    options.tool_choice = Some(ToolChoice::Required);
    options.thinking = Some(ThinkingMode::off());
    options.rest = OwnFields::of(Family::OpenaiChat).with("logprobs", Json::parse("1").unwrap());
    let prompt = prompt(vec![Message::user("go")], vec![]);
    let encoded = encode(&prompt, google(), &options).unwrap();
    let expected = json!({"contents": [{"role": "user", "parts": [{"text": "go"}]}]});
    assert_eq!(body(&encoded), expected);
    assert_eq!(kinds(&encoded), [AdjustmentKind::OptionDropped; 5]);
}

#[test]
fn the_form_of_the_answer_travels_both_ways() {
    let mut options = Options::default();
    options.response_format = Some(ResponseFormat::Schema(AnswerSchema::new(
        Json::parse(r#"{"type":"object"}"#).unwrap(),
    )));
    let prompt = prompt(vec![Message::user("go")], vec![]);
    let encoded = encode(&prompt, google(), &options).unwrap();
    let config = json!({
        "responseMimeType": "application/json", "responseJsonSchema": {"type": "object"}});
    assert_eq!(body(&encoded)["generationConfig"], config);
    let text = String::from_utf8(encoded.to_bytes()).unwrap();
    let read = decode_request(Family::Gemini, &text).unwrap().options;
    assert_eq!(read.response_format, options.response_format);
    assert_eq!(read.rest.iter().count(), 0);
}

#[test]
fn faults_name_place_and_rule() {
    let table = [
        ("{}", "line 1 column 1: a request needs `contents`"),
        (r#"{"contents":5}"#, "contents, line 1 column 13: must be a list, not a number"),
        (
            r#"{"contents":[{"role":"robot"}]}"#,
            r#"contents[0].role, line 1 column 22: unknown role "robot": it must be user or model"#,
        ),
        (
            r#"{"contents":[{"parts":[5]}]}"#,
            "contents[0].parts[0], line 1 column 24: must be an object, not a number",
        ),
        (
            r#"{"contents":[{"role":"model","parts":[{"functionCall":{}}]}]}"#,
            "contents[0].parts[0].functionCall, line 1 column 55: a call needs `name`, the tool that it wants to run",
        ),
        (
            r#"{"contents":[],"tools":[{"functionDeclarations":[{}]}]}"#,
            "tools[0].functionDeclarations[0], line 1 column 50: a function needs `name`",
        ),
        (
            r#"{"contents":[],"generationConfig":{"stopSequences":"x"}}"#,
            "generationConfig.stopSequences, line 1 column 52: must be a list of strings, not a string",
        ),
    ];
    for (text, expected) in table {
        let error = decode_request(Family::Gemini, text).unwrap_err();
        assert_eq!(error.to_string(), expected, "{text}");
    }
}

#[test]
fn a_session_writes_the_same_as_from_scratch() {
    let (messages, tools, options) = full();
    let mut session = SessionEncoder::new();
    for end in [2, 5, 6] {
        let prompt = prompt(messages[..end].to_vec(), tools.clone());
        let kept = session.encode(&prompt, google(), &options).unwrap();
        let anew = encode(&prompt, google(), &options).unwrap();
        assert_eq!(kept.to_bytes(), anew.to_bytes());
        assert_eq!((kept.adjustments, kept.names), (anew.adjustments, anew.names));
    }
}
