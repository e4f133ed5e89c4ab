use super::decode_request;
use interleaf_model::{
    AssistantPart, Body, ContentPart, Extra, File, Image, Json, Message, Opaque, Parts, Producer,
    Seal, Source, Status, Text, Thinking, Tool, ToolCall, ToolResult,
};
use interleaf_wire::{
    Adjustment, AdjustmentKind, ErrorKind, Family, Options, OwnFields, ToolChoice, encode,
    lint::lint,
};
use interleaf_wire::{Number, ResponseFormat, ThinkingMode};

use super::{messages_of, prompt, rewritten, text, vendor, written};

fn call(id: &str, name: &str, arguments: &str) -> AssistantPart {
    AssistantPart::Call(ToolCall {
        id: interleaf_model::CallId::new(id).unwrap(),
        name: name.into(),
        arguments: interleaf_model::Arguments::from_text(arguments),
        extra: Extra::NONE,
    })
}

fn result(id: &str, status: Status, parts: Vec<ContentPart>) -> Message {
    let call = interleaf_model::CallId::new(id).unwrap();
    let parts = Parts::new(parts).unwrap();
    Body::Tool(ToolResult { call, name: None, status, parts }).into()
}

fn said(parts: Vec<AssistantPart>) -> Message {
    Body::Assistant(Parts::new(parts).unwrap()).into()
}

fn picture() -> ContentPart {
    ContentPart::Image(Image {
        source: Source::Base64("iVBORw0KGgo=".into()),
        media_type: Some("image/png".into()),
        extra: Extra::NONE,
    })
}

fn words(text: &str) -> ContentPart {
    ContentPart::Text(Text::new(text))
}

fn file(source: Source, media_type: &str, name: Option<&str>) -> ContentPart {
    let media_type = Some(media_type).filter(|m| !m.is_empty()).map(Into::into);
    ContentPart::File(File { source, media_type, name: name.map(Into::into), extra: Extra::NONE })
}

fn tool(name: &str, parameters: &str) -> Tool {
    Tool {
        name: name.into(),
        description: Some("does it".into()),
        parameters: Json::parse(parameters).ok(),
        strict: None,
        extra: Extra::NONE,
    }
}

fn kinds(adjustments: &[Adjustment]) -> Vec<AdjustmentKind> {
    adjustments.iter().map(|it| it.kind).collect()
}

/// Every kind of part once.
fn conversation() -> Vec<Message> {
    vec![
        Message::system("Be brief."),
        Body::User(
            Parts::new(vec![
                words("Look at these."),
                picture(),
                file(Source::Base64("JVBE".into()), "application/pdf", Some("a.pdf")),
                file(Source::Base64("UklG".into()), "audio/wav", None),
                file(Source::Id { owner: "openai".into(), id: "file-1".into() }, "", None),
                file(Source::Url("https://example.org/b.pdf".into()), "", None),
                ContentPart::Opaque(Opaque {
                    owner: "openai".into(),
                    value: Json::parse(r#"{"type":"video_url","fps":1e0}"#).unwrap(),
                }),
                ContentPart::Opaque(Opaque {
                    owner: "anthropic".into(),
                    value: Json::parse(r#"{"type":"search_result"}"#).unwrap(),
                }),
            ])
            .unwrap(),
        )
        .into(),
        said(vec![
            AssistantPart::Thinking(Thinking {
                text: "Hm.".into(),
                seal: Some(Seal::Signature("c2ln".into())),
                producer: Some(Producer { vendor: "anthropic".into(), model: None }),
                extra: Extra::NONE,
            }),
            AssistantPart::Text(Text::new("I take two.")),
            call("c1", "screenshot", ""),
            call("c2", "read_file", r#"{"path": "a"}"#),
            call("c3", "read_file", r#"{"path": "#),
        ]),
        result("c1", Status::Ok, vec![words("taken"), picture()]),
        result("c2", Status::Error, vec![words("no such file")]),
        result("c3", Status::Ok, vec![words(" ")]),
        Message::user("And?"),
        Message::assistant("It is a tree."),
    ]
}

#[test]
fn a_conversation_with_every_kind_of_part_becomes_this_body() {
    let options = Options::model("gpt-4.1");
    let (body, adjustments) = written(&conversation(), Vec::new(), &options, "openai");
    let expected = [
        r#"{"model":"gpt-4.1","messages":["#,
        r#"{"role":"system","content":"Be brief."},"#,
        r#"{"role":"user","content":["#,
        r#"{"type":"text","text":"Look at these."},"#,
        r#"{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}},"#,
        r#"{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,JVBE"}},"#,
        r#"{"type":"input_audio","input_audio":{"data":"UklG","format":"wav"}},"#,
        r#"{"type":"file","file":{"file_id":"file-1"}},"#,
        r#"{"type":"text","text":"[file left out: it is at https://example.org/b.pdf]"},"#,
        r#"{"type":"video_url","fps":1e0}]},"#,
        r#"{"role":"assistant","content":"I take two.","tool_calls":["#,
        r#"{"id":"c1","type":"function","function":{"name":"screenshot","arguments":"{}"}},"#,
        r#"{"id":"c2","type":"function","function":{"name":"read_file","arguments":"{\"path\": \"a\"}"}},"#,
        r#"{"id":"c3","type":"function","function":{"name":"read_file","arguments":"{\"raw_arguments\":\"{\\\"path\\\": \"}"}}]},"#,
        r#"{"role":"tool","tool_call_id":"c1","content":[{"type":"text","text":"taken"},{"type":"text","text":"[image 1 of call c1 follows]"}]},"#,
        r#"{"role":"tool","tool_call_id":"c2","content":"Error: no such file"},"#,
        r#"{"role":"tool","tool_call_id":"c3","content":""},"#,
        r#"{"role":"user","content":[{"type":"text","text":"[image 1 of call c1]"},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}}]},"#,
        r#"{"role":"user","content":"And?"},"#,
        r#"{"role":"assistant","content":"It is a tree."}]}"#,
    ];
    assert_eq!(body, expected.concat());
    use AdjustmentKind::*;
    let expected = [
        MediaDropped,
        OpaqueDropped,
        ThinkingDropped,
        ArgumentsWrapped,
        MediaMoved,
        ErrorInText,
        BlankText,
    ];
    assert_eq!(kinds(&adjustments), expected);
    assert_eq!(lint(vendor("openai"), &body).unwrap(), []);
}

#[test]
fn settings_stand_behind_the_messages() {
    let mut options = Options::model("gpt-4.1");
    options.max_tokens = Some(100);
    options.temperature = Json::parse("0.10").ok().map(Number::from_json);
    options.top_p = Json::parse("1").ok().map(Number::from_json);
    options.top_k = Json::parse("40").ok().map(Number::from_json);
    options.stop = vec!["a".into(), "b".into(), "c".into(), "d".into(), "e".into()];
    options.stream = true;
    options.tool_choice = Some(ToolChoice::Tool("ls".into()));
    options.parallel_tool_calls = Some(false);
    options.thinking = Some(ThinkingMode::budget(1024));
    options.response_format = Some(ResponseFormat::Text);
    options.hosted_tools = vec![
        Opaque {
            owner: "openai".into(),
            value: Json::parse(r#"{"type":"custom","custom":{"name":"sql"}}"#).unwrap(),
        },
        Opaque {
            owner: "anthropic".into(),
            value: Json::parse(r#"{"type":"bash_20250124","name":"bash"}"#).unwrap(),
        },
    ];
    options.cache_key = Some("k".into());
    options.rest = OwnFields::of(Family::OpenaiChat)
        .with("seed", Json::parse("7").unwrap())
        .with("n", Json::parse("0").unwrap());
    let tools = vec![tool("ls", r#"{"type": "object"}"#)];
    let (body, adjustments) = written(&[Message::user("hi")], tools, &options, "openai");
    let expected = [
        r#"{"model":"gpt-4.1","tools":["#,
        r#"{"type":"function","function":{"name":"ls","description":"does it","parameters":{"type": "object"}}},"#,
        r#"{"type":"custom","custom":{"name":"sql"}}],"#,
        r#""messages":[{"role":"user","content":"hi"}],"#,
        r#""tool_choice":{"type":"function","function":{"name":"ls"}},"parallel_tool_calls":false,"#,
        r#""max_completion_tokens":100,"temperature":0.10,"top_p":1,"stop":["a","b","c","d"],"#,
        r#""response_format":{"type":"text"},"stream":true,"stream_options":{"include_usage":true},"#,
        r#""prompt_cache_key":"k","seed":7}"#,
    ];
    assert_eq!(body, expected.concat());
    let dropped: Vec<_> = adjustments.iter().map(|it| it.detail.as_str()).collect();
    assert_eq!(
        dropped,
        [
            "a hosted tool: anthropic runs it",
            "top_k: the API has no such setting",
            "stop: all but the first 4",
            "thinking: the model does not think",
            "n: 0",
        ]
    );
    assert_eq!(lint(vendor("openai"), &body).unwrap(), []);
}

#[test]
fn fields_of_another_api_are_left_out_and_named() {
    let mut options = Options::default();
    options.rest = OwnFields::of(Family::Anthropic).with("top_a", Json::parse("1").unwrap());
    let (body, adjustments) = written(&[Message::user("hi")], Vec::new(), &options, "openai");
    assert_eq!(body, r#"{"messages":[{"role":"user","content":"hi"}]}"#);
    assert_eq!(kinds(&adjustments), [AdjustmentKind::OptionDropped]);
    assert_eq!(adjustments[0].detail, "top_a: it came from another API");
}

#[test]
fn system_messages_stay_apart_and_the_developer_stays_one() {
    let body = r#"{"messages":[{"role":"developer","content":"a"},{"role":"system","content":"b"},{"role":"user","content":"hi"}]}"#;
    assert_eq!(rewritten(body, "openai"), (body.to_owned(), Vec::new()));
    let (azure, _) = rewritten(body, "azure");
    assert_eq!(azure, body);
    let (groq, _) = rewritten(body, "groq");
    assert_eq!(groq, body.replace("developer", "system"));
}

#[test]
fn a_refusal_is_a_part_alone_and_a_field_beside_text() {
    let alone = r#"{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"refusal","refusal":"no"}]}]}"#;
    assert_eq!(rewritten(alone, "openai").0, alone);
    let beside = r#"{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"well","refusal":"no"}]}"#;
    assert_eq!(rewritten(beside, "openai").0, beside);
    let (vllm, _) = rewritten(beside, "vllm");
    assert_eq!(
        messages_of(&vllm).lines().last(),
        Some(r#"{"role":"assistant","content":"well\nno"}"#)
    );
}

#[test]
fn ids_and_names_that_are_refused_are_rewritten_everywhere_alike() {
    let long = "toolu_".repeat(10);
    let messages = [
        Message::user("hi"),
        said(vec![call(&long, "fs.read file", "{}")]),
        result(&long, Status::Ok, vec![words("1")]),
    ];
    let tools = vec![tool("fs.read file", r#"{"type":"object"}"#)];
    let mut options = Options::model("gpt-4.1");
    options.tool_choice = Some(ToolChoice::Tool("fs.read file".into()));
    let encoded = encode(&prompt(&messages, tools), vendor("openai"), &options).unwrap();
    let body: serde_json::Value = serde_json::from_str(&text(&encoded)).unwrap();
    let call = &body["messages"][1]["tool_calls"][0];
    let name = body["tools"][0]["function"]["name"].as_str().unwrap();
    assert_eq!(call["id"], body["messages"][2]["tool_call_id"]);
    assert!(call["id"].as_str().unwrap().len() <= 40);
    assert_eq!(call["function"]["name"], name);
    assert_eq!(body["tool_choice"]["function"]["name"], name);
    assert_eq!(encoded.names.original(name).as_str(), "fs.read file");
    assert_eq!(lint(vendor("openai"), &text(&encoded)).unwrap(), []);
}

#[test]
fn a_message_that_says_nothing_is_left_out_but_a_turn_is_not() {
    let blank = |text: &str| Message::assistant(text);
    let messages = [
        Message::user("hi"),
        blank(" "),
        Message::assistant("yes"),
        Message::user("well?"),
        blank(""),
    ];
    let (body, adjustments) = written(&messages, Vec::new(), &Options::default(), "openai");
    let expected = [
        r#"{"role":"user","content":"hi"}"#,
        r#"{"role":"assistant","content":"yes"}"#,
        r#"{"role":"user","content":"well?"}"#,
        r#"{"role":"assistant","content":"."}"#,
    ];
    assert_eq!(messages_of(&body).lines().collect::<Vec<_>>(), expected);
    assert_eq!(kinds(&adjustments), [AdjustmentKind::BlankText; 3]);
}

#[test]
fn a_schema_that_can_not_be_strict_is_sent_without_that() {
    let mut ls = tool("ls", r#"{"type":"object","properties":{"a":{"type":"string"}}}"#);
    ls.strict = Some(true);
    let schema = Json::parse(r#"{"type":"object"}"#).unwrap();
    let mut options = Options::model("gpt-4.1");
    options.response_format = Some(ResponseFormat::schema("x", &schema, true));
    let (body, adjustments) = written(&[Message::user("hi")], vec![ls], &options, "openai");
    assert!(!body.contains("strict"), "{body}");
    assert_eq!(kinds(&adjustments), [AdjustmentKind::SchemaChanged; 2]);
    assert_eq!(lint(vendor("openai"), &body).unwrap(), []);
}

#[test]
fn tools_and_effort_keep_out_of_each_others_way() {
    let tools = || vec![tool("ls", r#"{"type":"object"}"#)];
    let with_model = |model: &str| Options::model(model);
    let messages = [Message::user("hi")];
    let (body, _) = written(&messages, tools(), &with_model("gpt-5.6-luna"), "openai");
    assert!(body.ends_with(r#","reasoning_effort":"none"}"#), "{body}");
    let (body, _) = written(&messages, tools(), &with_model("gpt-5"), "openai");
    assert!(!body.contains("reasoning_effort"), "{body}");
    let prompt = prompt(&messages, tools());
    let error = encode(&prompt, vendor("openai"), &with_model("gpt-6.1-sol")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Rule);
    assert!(encode(&prompt, vendor("openrouter"), &with_model("openai/gpt-6.1-sol")).is_ok());
}

#[test]
fn json_is_asked_for_where_nobody_does() {
    let mut options = Options::default();
    options.response_format = Some(ResponseFormat::Json);
    let (body, adjustments) = written(&[Message::user("hi")], Vec::new(), &options, "openai");
    assert!(body.contains("Answer in JSON."), "{body}");
    assert_eq!(kinds(&adjustments), [AdjustmentKind::TurnInserted]);
    let (body, adjustments) =
        written(&[Message::user("as Json, please")], Vec::new(), &options, "openai");
    assert!(!body.contains("Answer in JSON."), "{body}");
    assert_eq!(adjustments, []);
}

#[test]
fn a_custom_call_goes_back_as_one() {
    let body = r#"{"tools":[{"type":"custom","custom":{"name":"sql"}}],"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"custom","custom":{"name":"sql","input":"SELECT 1"}}]},{"role":"tool","tool_call_id":"c1","content":"1"}]}"#;
    assert_eq!(rewritten(body, "openai").0, body);
    let (groq, _) = rewritten(body, "groq");
    let calls = r#"{"id":"c1","type":"function","function":{"name":"sql","arguments":"{\"raw_arguments\":\"SELECT 1\"}"}}"#;
    assert!(groq.contains(calls), "{groq}");
}

#[test]
fn wrapped_arguments_are_read_as_they_were() {
    let (body, _) = written(&conversation(), Vec::new(), &Options::default(), "openai");
    let request = decode_request(&body).unwrap();
    let calls: Vec<_> = request.messages.iter().flat_map(Message::calls).collect();
    assert_eq!(calls[2].arguments.as_str(), r#"{"path": "#);
}
