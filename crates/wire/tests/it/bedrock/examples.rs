//! Worked examples.

use interleaf_model::{
    AssistantPart, Body, CallId, ContentPart, Extra, File, Image, Json, Message, MessageId, Opaque,
    Parts, Producer, Seal, Source, Status, Text, Thinking, ToolName, VendorName, notation,
};
use interleaf_wire::{
    AdjustmentKind, CacheMarks, Encoded, Family, Options, OwnFields, ToolChoice, decode_request,
};
use interleaf_wire::{Effort, Number, ResponseFormat, ThinkingMode};
use serde_json::{Value, json};

use super::{body, fixture, prompt, tool};
use crate::decode_response;

fn messages(lines: &str) -> Vec<Message> {
    notation::parse(lines).unwrap()
}

fn kinds(encoded: &Encoded) -> Vec<AdjustmentKind> {
    let mut kinds: Vec<AdjustmentKind> = encoded.adjustments.iter().map(|it| it.kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}

fn json_of(text: &str) -> Json {
    Json::parse(text).unwrap()
}

fn file(name: &str, media_type: &str, data: &str) -> ContentPart {
    ContentPart::File(File {
        source: Source::Base64(data.into()),
        media_type: Some(media_type.into()),
        name: Some(name.into()),
        extra: Extra::NONE,
    })
}

fn image(source: Source) -> ContentPart {
    let media_type = Some("image/png".into());
    ContentPart::Image(Image { source, media_type, extra: Extra::NONE })
}

fn user(parts: Vec<ContentPart>) -> Message {
    Body::User(Parts::new(parts).unwrap()).into()
}

fn result(call: &str, parts: Vec<ContentPart>) -> Message {
    let (call, name) = (CallId::new(call).unwrap(), Some(ToolName::new("ls")));
    let parts = Parts::new(parts).unwrap();
    let result = interleaf_model::ToolResult { call, name, status: Status::Ok, parts };
    Body::Tool(result).into()
}

fn content(text: &str) -> ContentPart {
    ContentPart::Text(Text::new(text))
}

const LOOP: &str = "u list the files\na [call c1 ls {\"path\":\".\"}] [call c2 ls {}]\nt c1= src\nt c2! no such folder\n";

#[test]
fn a_whole_conversation_with_every_kind_of_part() {
    let thinking = Thinking {
        text: "Two folders.".into(),
        seal: Some(Seal::Signature("c2lnbmVk".into())),
        producer: Some(Producer { vendor: VendorName::new("bedrock"), model: None }),
        extra: Extra::NONE,
    };
    let sealed = Thinking {
        text: "".into(),
        seal: Some(Seal::Encrypted("c2VhbGVk".into())),
        producer: Some(Producer { vendor: VendorName::new("anthropic"), model: None }),
        extra: Extra::NONE,
    };
    let owner = VendorName::new("bedrock");
    let cited = json_of(r#"{"citationsContent":{"content":[{"text":"as the guide says"}]}}"#);
    let mut all = messages("s You are terse.\n");
    all.push(user(vec![
        content("list the files"),
        image(Source::Base64("iVBORw0KGgo=".into())),
        file("plan v2.pdf", "application/pdf", "JVBERi0xLjcK"),
        image(Source::Url("s3://pictures/a.png".into())),
    ]));
    all.push(Message::user("of both folders"));
    let mut assistant = vec![AssistantPart::Thinking(thinking), AssistantPart::Thinking(sealed)];
    assistant.push(AssistantPart::Text(Text::new("Looking.")));
    assistant.push(AssistantPart::Opaque(Opaque { owner, value: cited }));
    assistant.extend(messages(LOOP)[1].calls().cloned().map(AssistantPart::Call));
    all.push(Body::Assistant(Parts::new(assistant).unwrap()).into());
    all.push(result("c1", vec![content("src"), image(Source::Base64("iVBORw0KGgo=".into()))]));
    all.push(messages(LOOP)[3].clone());
    all.push(Message::user("go on"));
    for (i, message) in all.iter_mut().enumerate() {
        message.id = MessageId::of_index(i);
    }
    let mut ls = tool("ls");
    ls.description = Some("Lists a folder.".into());
    ls.parameters = Some(json_of(r#"{"type":"object","properties":{"path":{"type":"string"}}}"#));
    let mut options = Options::model("us.anthropic.claude-sonnet-4-6");
    options.max_tokens = Some(1024);
    options.temperature = Some(Number::from_json(json_of("1.0")));
    options.stop = vec!["\nUser:".to_owned()];
    options.thinking = Some(ThinkingMode::on());
    options.tool_choice = Some(ToolChoice::Auto);
    options.cache = CacheMarks::On;
    let (body, encoded) = body(&prompt(all, vec![ls]), &options);
    let expected: Value =
        serde_json::from_str(&fixture("exchanges/bedrock/every-part.request.json")).unwrap();
    assert_eq!(format!("{body:#}"), format!("{expected:#}"));
    assert_eq!(kinds(&encoded), [AdjustmentKind::TurnsMerged, AdjustmentKind::FileRenamed]);
}

#[test]
fn results_of_a_turn_stand_in_one_user_message_with_what_follows() {
    let mut all = messages(LOOP);
    all.push(Message::user("go on"));
    let (body, encoded) = body(&prompt(all, vec![tool("ls")]), &Options::default());
    assert_eq!(
        body["messages"][2],
        json!({"role": "user", "content": [
            {"toolResult": {"toolUseId": "c1", "content": [{"text": "src"}]}},
            {"toolResult": {"toolUseId": "c2", "content": [{"text": "no such folder"}], "status": "error"}},
            {"text": "go on"}]})
    );
    assert_eq!(encoded.adjustments, []);
}

#[test]
fn llama_and_mistral_get_a_turn_between_results_and_the_user() {
    let mut all = messages(LOOP);
    all.push(Message::user("go on"));
    for model in ["us.meta.llama3-3-70b-instruct-v1:0", "mistral.mistral-large-2407-v1:0"] {
        let options = Options::model(model);
        let (body, encoded) = body(&prompt(all.clone(), vec![tool("ls")]), &options);
        assert_eq!(body["messages"][2]["content"].as_array().unwrap().len(), 2);
        assert_eq!(body["messages"][3], json!({"role": "assistant", "content": [{"text": "."}]}));
        assert_eq!(body["messages"][4], json!({"role": "user", "content": [{"text": "go on"}]}));
        assert_eq!(kinds(&encoded), [AdjustmentKind::TurnInserted]);
    }
}

#[test]
fn a_document_stands_beside_results() {
    let mut all = messages(LOOP);
    all.push(user(vec![file("a.md", "text/markdown", "IyBB")]));
    let (body, encoded) = body(&prompt(all, vec![tool("ls")]), &Options::default());
    let last = &body["messages"][2]["content"];
    assert_eq!(last[2]["document"]["format"], "md");
    assert_eq!(last[3], json!({"text": "."}));
    assert_eq!(kinds(&encoded), [AdjustmentKind::BlankText, AdjustmentKind::FileRenamed]);
}

#[test]
fn tools_are_declared_from_the_history() {
    let (body, encoded) = body(&prompt(messages(LOOP), vec![]), &Options::default());
    assert_eq!(
        body["toolConfig"],
        json!({"tools": [{"toolSpec": {"name": "ls",
            "inputSchema": {"json": {"type": "object", "properties": {}}}}}]})
    );
    assert_eq!(kinds(&encoded), [AdjustmentKind::ToolsDeclared]);
}

#[test]
fn there_is_no_choice_of_none_and_none_of_an_unknown_tool() {
    let table = [
        (ToolChoice::None, Value::Null, true),
        (ToolChoice::Auto, json!({"auto": {}}), false),
        (ToolChoice::Required, json!({"any": {}}), false),
        (ToolChoice::Tool("ls".into()), json!({"tool": {"name": "ls"}}), false),
        (ToolChoice::Tool("rm".into()), Value::Null, true),
    ];
    for (choice, expected, is_dropped) in table {
        let mut options = Options::default();
        options.tool_choice = Some(choice);
        let (body, encoded) = body(&prompt(messages(LOOP), vec![tool("ls")]), &options);
        assert_eq!(body["toolConfig"]["toolChoice"], expected);
        assert_eq!(!encoded.adjustments.is_empty(), is_dropped);
    }
}

#[test]
fn names_and_ids_are_rewritten_and_mapped_back() {
    let lines = "u go\na [call \"call|1\" fs.read {}]\nt \"call|1\"= x\n";
    let mut options = Options::default();
    options.tool_choice = Some(ToolChoice::Tool("fs.read".into()));
    let (body, encoded) = body(&prompt(messages(lines), vec![tool("fs.read")]), &options);
    let written = body["toolConfig"]["tools"][0]["toolSpec"]["name"].as_str().unwrap();
    assert_eq!(body["toolConfig"]["toolChoice"]["tool"]["name"], written);
    assert_eq!(body["messages"][1]["content"][0]["toolUse"]["name"], written);
    assert_eq!(
        body["messages"][1]["content"][0]["toolUse"]["toolUseId"],
        body["messages"][2]["content"][0]["toolResult"]["toolUseId"]
    );
    let expected = [AdjustmentKind::CallIdRewritten, AdjustmentKind::ToolNameRewritten];
    assert_eq!(kinds(&encoded), expected);
    let answer = json!({"output": {"message": {"role": "assistant", "content": [
        {"toolUse": {"toolUseId": "t1", "name": written, "input": {}}}]}}, "stopReason": "tool_use"});
    let reply = decode_response(Family::Bedrock, &answer.to_string(), &encoded.names).unwrap();
    assert_eq!(reply.message.calls().next().unwrap().name.as_str(), "fs.read");
}

#[test]
fn what_is_blank_is_left_out_or_gets_a_placeholder() {
    let (body, encoded) = body(
        &prompt(
            vec![
                user(vec![content(" "), content("hi")]),
                Message::assistant(""),
                Message::user("\n"),
                Message::assistant("prefix \n"),
            ],
            vec![],
        ),
        &Options::default(),
    );
    let texts: Vec<&Value> = body["messages"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|message| message["content"].as_array().unwrap())
        .map(|block| &block["text"])
        .collect();
    assert_eq!(texts, ["hi", ".", ".", "prefix"]);
    assert_eq!(kinds(&encoded), [AdjustmentKind::BlankText]);
}

#[test]
fn a_failed_result_is_never_empty_and_a_good_one_may_be() {
    let mut all = messages(LOOP);
    all[2] = Message::tool(CallId::new("c1").unwrap(), Status::Ok, "");
    all[3] = Message::tool(CallId::new("c2").unwrap(), Status::Error, " ");
    let (body, _) = body(&prompt(all, vec![tool("ls")]), &Options::default());
    let results = &body["messages"][2]["content"];
    assert_eq!(results[0]["toolResult"]["content"], json!([]));
    assert_eq!(results[1]["toolResult"]["content"], json!([{"text": "the tool failed"}]));
}

#[test]
fn media_that_can_not_travel_becomes_a_note() {
    let id = Source::Id { owner: VendorName::new("openai"), id: "file-1".into() };
    let parts = vec![
        image(Source::Url("https://example.org/a.png".into())),
        image(id),
        file("song.mid", "audio/midi", "TVRoZA=="),
        file("clip.mp4", "video/mp4", "AAAAGGZ0"),
        ContentPart::Image(Image {
            source: Source::Url("data:image/gif;base64,R0lGODlh".into()),
            media_type: None,
            extra: Extra::NONE,
        }),
    ];
    let (body, encoded) = body(&prompt(vec![user(parts)], vec![]), &Options::default());
    assert_eq!(
        body["messages"][0]["content"],
        json!([
            {"text": "[image left out: the API does not fetch addresses]"},
            {"text": "[image left out: the API has no uploaded files]"},
            {"text": "[song.mid left out: the API does not take its format]"},
            {"video": {"format": "mp4", "source": {"bytes": "AAAAGGZ0"}}},
            {"image": {"format": "gif", "source": {"bytes": "R0lGODlh"}}}])
    );
    assert_eq!(kinds(&encoded), [AdjustmentKind::MediaDropped]);
}

#[test]
fn a_sound_in_a_result_follows_after_all_results() {
    let mut all = messages(LOOP);
    all[2] = result("c1", vec![file("a.wav", "audio/wav", "UklGRg==")]);
    let (body, encoded) = body(&prompt(all, vec![tool("ls")]), &Options::default());
    let note = json!([{"text": "[audio 1 of call c1 follows]"}]);
    assert_eq!(body["messages"][2]["content"][0]["toolResult"]["content"], note);
    assert_eq!(body["messages"][2]["content"][2]["audio"]["format"], "wav");
    assert_eq!(kinds(&encoded), [AdjustmentKind::MediaMoved]);
}

#[test]
fn documents_have_legal_names_of_their_own_and_are_five_at_most() {
    let names = ["Q1 report.pdf", "Q1 report.pdf", "", "人事/2026.pdf", "plain", "sixth"];
    let mut parts = vec![content("compare")];
    parts.extend(names.map(|name| file(name, "application/pdf", "JVBERi0xLjcK")));
    let (body, encoded) = body(&prompt(vec![user(parts)], vec![]), &Options::default());
    let blocks = body["messages"][0]["content"].as_array().unwrap();
    let names: Vec<&str> =
        blocks.iter().filter_map(|block| block["document"]["name"].as_str()).collect();
    for (name, start) in
        names.iter().zip(["Q1 report-", "Q1 report-", "document-", "2026-", "plain-"])
    {
        assert!(name.starts_with(start), "{name}");
    }
    assert_eq!(names.len(), 5);
    assert_eq!(blocks[6]["text"], "[sixth left out: there are too many documents]");
    assert_eq!(kinds(&encoded), [AdjustmentKind::MediaDropped, AdjustmentKind::FileRenamed]);
}

#[test]
fn thinking_goes_back_to_its_producer_only() {
    let seal = |seal: &str| Some(Seal::Signature(seal.into()));
    let by = |vendor: &str, model: Option<&str>| {
        let model = model.map(Into::into);
        Some(Producer { vendor: VendorName::new(vendor), model })
    };
    let table = [
        (seal("s"), by("bedrock", None), true),
        (seal("s"), by("bedrock", Some("anthropic.claude-a")), true),
        (seal("s"), by("bedrock", Some("anthropic.claude-b")), false),
        (seal("s"), by("anthropic", None), true),
        (seal("s"), by("anthropic", Some("claude-a")), false),
        (seal("s"), by("openai", None), false),
        (seal("s"), None, true),
        (seal(""), None, false),
        (None, by("bedrock", None), false),
        (Some(Seal::Encrypted("no base64!".into())), None, false),
    ];
    for (seal, producer, goes) in table {
        let thinking = Thinking { text: "hm".into(), seal, producer, extra: Extra::NONE };
        let shown = format!("{thinking:?}");
        let parts = vec![AssistantPart::Thinking(thinking), AssistantPart::Text(Text::new("well"))];
        let all = vec![
            Message::user("go"),
            Body::Assistant(Parts::new(parts).unwrap()).into(),
            Message::user("on"),
        ];
        let options = Options::model("anthropic.claude-a");
        let (body, encoded) = body(&prompt(all, vec![]), &options);
        let n_blocks = body["messages"][1]["content"].as_array().unwrap().len();
        assert_eq!(n_blocks, if goes { 2 } else { 1 }, "{shown}");
        assert_eq!(encoded.adjustments.is_empty(), goes, "{shown}");
    }
}

#[test]
fn cache_points_stand_behind_tools_system_and_the_breakpoint() {
    let lines = "s be brief\nu hi\na hello\nu bye\n";
    let mut options = Options::default();
    options.cache = CacheMarks::On;
    let (body, _) = body(&prompt(messages(lines), vec![tool("ls")]), &options);
    let point = json!({"cachePoint": {"type": "default"}});
    assert_eq!(body["toolConfig"]["tools"][1], point);
    assert_eq!(body["system"], json!([{"text": "be brief"}, point]));
    assert_eq!(body["messages"][2]["content"], json!([{"text": "bye"}, point]));
    assert_eq!(body["messages"][0]["content"], json!([{"text": "hi"}]));
}

#[test]
fn a_cache_point_never_follows_a_document_and_nova_has_none_among_tools() {
    let all = vec![user(vec![content("read"), file("a.md", "text/markdown", "IyBB")])];
    let mut options = Options::default();
    options.cache = CacheMarks::On;
    options.model = "amazon.nova-pro-v1:0".into();
    let (body, _) = body(&prompt(all, vec![tool("ls")]), &options);
    let kinds: Vec<&String> = body["messages"][0]["content"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|block| block.as_object()?.keys().next())
        .collect();
    assert_eq!(kinds, ["text", "cachePoint", "document"]);
    assert_eq!(body["toolConfig"]["tools"].as_array().unwrap().len(), 1);
}

#[test]
fn options_are_mapped_and_what_the_api_lacks_is_reported() {
    let mut options = Options::model("m");
    options.stream = true;
    options.max_tokens = Some(9);
    options.temperature = Some(Number::from_json(json_of("1.7")));
    options.top_p = Some(Number::from_json(json_of("0.90")));
    options.top_k = Some(Number::from_json(json_of("40")));
    options.stop = vec!["END".to_owned(), "\n".to_owned()];
    options.parallel_tool_calls = Some(false);
    options.thinking = Some(ThinkingMode::off());
    options.response_format =
        Some(ResponseFormat::schema("a", json_of(r#"{"type": "object"}"#), true));
    options.rest = OwnFields::of(Family::OpenaiChat).with("seed", json_of("1"));
    options.cache_key = Some("k".into());
    let (body, encoded) = body(&prompt(messages("u hi\n"), vec![]), &options);
    assert_eq!(
        body,
        json!({
            "messages": [{"role": "user", "content": [{"text": "hi"}]}],
            "inferenceConfig": {"maxTokens": 9, "temperature": 1, "topP": 0.9, "stopSequences": ["END"]},
            "additionalModelRequestFields": {"thinking": {"type": "disabled"}, "top_k": 40},
            "outputConfig": {"textFormat": {"type": "json_schema",
                "structure": {"jsonSchema": {"schema": "{\"type\": \"object\"}", "name": "a"}}}}
        })
    );
    let dropped: Vec<&str> = encoded.adjustments.iter().map(|it| it.detail.as_str()).collect();
    assert_eq!(
        dropped,
        [
            "temperature 1.7: the API takes 0 to 1, 1 is sent",
            "stop: blank ones, or more than 2500",
            "seed",
            "parallel_tool_calls",
            "cache_key",
        ]
    );
}

#[test]
fn a_schema_is_of_type_object() {
    let table = [
        (None, r#"{"type":"object","properties":{}}"#, false),
        (Some(r#"{"type":"object"}"#), r#"{"type":"object"}"#, false),
        (Some(r#"{"properties":{"a":1e2}}"#), r#"{"type":"object","properties":{"a":1e2}}"#, true),
        (Some("true"), r#"{"type":"object","properties":{}}"#, true),
    ];
    for (given, expected, is_changed) in table {
        let mut tool = tool("ls");
        tool.parameters = given.map(json_of);
        let prompt = prompt(messages("u hi\n"), vec![tool]);
        let (_, encoded) = body(&prompt, &Options::default());
        let written = super::text(&encoded);
        assert!(written.contains(&format!(r#""inputSchema":{{"json":{expected}}}"#)), "{written}");
        assert_eq!(!encoded.adjustments.is_empty(), is_changed);
    }
}

#[test]
fn a_body_is_read() {
    let request =
        decode_request(Family::Bedrock, &fixture("exchanges/bedrock/every-field.request.json"))
            .unwrap();
    let roles: String =
        request.messages.iter().map(|message| &message.role().as_str()[..1]).collect();
    assert_eq!(roles, "suattu");
    assert_eq!(request.messages[3].text(), "{\"lines\":  [1, 2.50]}\ndone");
    assert_eq!(request.messages[4].as_result().unwrap().status, Status::Error);
    let options = request.options;
    assert_eq!(options.max_tokens, Some(512));
    assert_eq!(options.stop, ["\nUser:"]);
    assert_eq!(options.tool_choice, Some(ToolChoice::Required));
    assert_eq!(options.thinking, Some(ThinkingMode::on().with_effort(Effort::High)));
    assert_eq!(options.hosted_tools.len(), 2);
    let rest: Vec<&str> = options.rest.iter().map(|(name, _)| name).collect();
    assert_eq!(
        rest,
        [
            "toolConfig",
            "inferenceConfig",
            "additionalModelRequestFields",
            "guardrailConfig",
            "requestMetadata"
        ]
    );
    let named = decode_request(Family::Bedrock, r#"{"modelId":"m","messages":[]}"#).unwrap();
    assert_eq!(named.options.model, "m");
}

#[test]
fn a_broken_history_is_read_as_it_is() {
    let text = r#"{"messages":[{"role":"assistant","content":[]},{"role":"user","content":[
        {"text":"a"},{"toolResult":{"toolUseId":"lost","content":[]}},{"text":"b"}]}]}"#;
    let request = decode_request(Family::Bedrock, text).unwrap();
    let expected = vec![
        Message::assistant(""),
        Message::user("a"),
        Message::tool(CallId::new("lost").unwrap(), Status::Ok, ""),
        Message::user("b"),
    ];
    assert_eq!(request.messages, expected);
}

#[test]
fn faults_name_place_and_rule() {
    let table = [
        ("7", "line 1 column 1: must be an object, not a number"),
        ("{}", "line 1 column 1: a request needs `messages`"),
        (r#"{"messages":{}}"#, "messages, line 1 column 13: must be a list, not an object"),
        (
            r#"{"messages":[{"role":"robot","content":[]}]}"#,
            r#"messages[0].role, line 1 column 22: unknown role "robot": it must be user, assistant or system"#,
        ),
        (
            r#"{"messages":[{"role":"user","content":1}]}"#,
            "messages[0].content, line 1 column 39: must be a list, not a number",
        ),
        (
            r#"{"messages":[{"role":"user","content":[{"text":1}]}]}"#,
            "messages[0].content[0].text, line 1 column 48: must be a string, not a number",
        ),
        (
            r#"{"messages":[{"role":"assistant","content":[{"toolUse":{"toolUseId":"a"}}]}]}"#,
            "messages[0].content[0].toolUse, line 1 column 56: a call needs `name`, the tool that it wants to run",
        ),
        (
            r#"{"messages":[{"role":"user","content":[{"toolResult":{"content":[]}}]}]}"#,
            "messages[0].content[0].toolResult, line 1 column 54: a result needs `toolUseId`",
        ),
        (
            r#"{"messages":[],"system":{}}"#,
            "system, line 1 column 25: must be a list, not an object",
        ),
        (
            r#"{"messages":[],"toolConfig":{"tools":[{"toolSpec":{}}]}}"#,
            "toolConfig.tools[0].toolSpec, line 1 column 51: a tool needs `name`",
        ),
        (
            r#"{"messages":[],"inferenceConfig":{"maxTokens":"9"}}"#,
            "inferenceConfig.maxTokens, line 1 column 47: must be a whole number of 0 or more, not a string",
        ),
    ];
    for (text, expected) in table {
        let error = decode_request(Family::Bedrock, text).unwrap_err();
        assert_eq!(error.to_string(), expected, "{text}");
    }
}
