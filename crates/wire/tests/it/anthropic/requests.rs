//! Requests, written and read.

use interleaf_model::{
    Arguments, AssistantPart, Body, CallId, ContentPart, Extra, File, Image, Json, Message, Opaque,
    Parts, Producer, Seal, Source, Status, Text, Thinking, Tool, ToolCall, ToolResult,
};
use interleaf_wire::lint::lint;
use interleaf_wire::{
    AdjustmentKind, CacheMarks, ErrorKind, Family, Options, OwnFields, ToolChoice, decode_request,
    encode,
};
use interleaf_wire::{Effort, Number, ResponseFormat, ThinkingMode, Thoughts};
use serde_json::{Value, json};

use super::answers::exchange;
use super::{encode_all, prompt, text_of, vendor};

fn options(model: &str) -> Options {
    Options::model(model)
}

fn json_text(value: Value) -> Json {
    Json::from(&value)
}

fn body(messages: Vec<Message>, options: &Options) -> Value {
    let text = text_of(&encode_all(messages, options));
    assert_eq!(lint(vendor(), &text).unwrap(), [], "{text}");
    serde_json::from_str(&text).unwrap()
}

fn kinds(messages: Vec<Message>, options: &Options) -> Vec<AdjustmentKind> {
    encode_all(messages, options).adjustments.iter().map(|it| it.kind).collect()
}

fn assistant(parts: Vec<AssistantPart>) -> Message {
    Body::Assistant(Parts::new(parts).unwrap()).into()
}

fn user(parts: Vec<ContentPart>) -> Message {
    Body::User(Parts::new(parts).unwrap()).into()
}

fn call(id: &str, name: &str, arguments: &str) -> AssistantPart {
    AssistantPart::Call(ToolCall {
        id: CallId::new(id).unwrap(),
        name: name.into(),
        arguments: Arguments::from_text(arguments),
        extra: Extra::NONE,
    })
}

fn result(id: &str, status: Status, parts: Vec<ContentPart>) -> Message {
    let parts = Parts::new(parts).unwrap();
    Body::Tool(ToolResult { call: CallId::new(id).unwrap(), name: None, status, parts }).into()
}

fn text(text: &str) -> ContentPart {
    ContentPart::Text(Text::new(text))
}

fn said(text: &str) -> AssistantPart {
    AssistantPart::Text(Text::new(text))
}

fn image(data: &str, media_type: &str) -> ContentPart {
    let source = Source::Base64(data.into());
    ContentPart::Image(Image { source, media_type: Some(media_type.into()), extra: Extra::NONE })
}

fn file(source: Source, media_type: &str, name: &str) -> ContentPart {
    let (media_type, name) = (Some(media_type.into()), Some(name.into()));
    ContentPart::File(File { source, media_type, name, extra: Extra::NONE })
}

fn thought(text: &str, seal: Option<Seal>) -> AssistantPart {
    let producer = Some(Producer { vendor: "anthropic".into(), model: None });
    AssistantPart::Thinking(Thinking { text: text.into(), seal, producer, extra: Extra::NONE })
}

fn signed(text: &str) -> AssistantPart {
    thought(text, Some(Seal::Signature("EqQBCgIY".into())))
}

fn tool(name: &str, parameters: Option<Value>) -> Tool {
    let parameters = parameters.map(json_text);
    Tool { name: name.into(), description: None, parameters, strict: None, extra: Extra::NONE }
}

#[test]
fn a_tool_conversation_with_every_kind_of_part() {
    let messages = vec![
        Message::system("Be brief."),
        user(vec![
            text("What is this?"),
            image("iVBORw0KGgo=", "image/png"),
            file(Source::Base64("JVBERi0=".into()), "application/pdf", "a.pdf"),
            file(Source::Base64("b25lIGZpbGU=".into()), "text/markdown", "files.md"),
        ]),
        assistant(vec![
            signed("I look."),
            thought("", Some(Seal::Encrypted("EmwKAhgB".into()))),
            said("I look at both."),
            call("toolu_01", "show", r#"{"path": "a","n":1e2}"#),
            call("c:2", "files.list", "[1]"),
        ]),
        result("toolu_01", Status::Ok, vec![text("a picture"), image("/9j/AA==", "image/jpg")]),
        result("c:2", Status::Error, vec![text("no such folder")]),
        Message::user("And now?"),
        Message::user("Well?"),
    ];
    let tools = vec![
        tool("show", None),
        tool("files.list", Some(json!({"type": "object", "properties": {"path": {}}}))),
    ];
    let prompt = prompt(messages, tools);
    let cache = CacheMarks::On;
    let mut options = options("claude-sonnet-4-5");
    options.thinking = Some(ThinkingMode::budget(2000));
    options.cache = cache;
    options.stream = true;
    let encoded = encode(&prompt, vendor(), &options).unwrap();
    let body = text_of(&encoded);
    assert_eq!(lint(vendor(), &body).unwrap(), []);
    let body: Value = serde_json::from_str(&body).unwrap();
    let pretty = format!("{}\n", serde_json::to_string_pretty(&body).unwrap());
    assert_eq!(pretty, exchange("every-part.request.json"));
    let adjustments: Vec<AdjustmentKind> = encoded.adjustments.iter().map(|it| it.kind).collect();
    assert_eq!(
        adjustments,
        [
            AdjustmentKind::ToolNameRewritten,
            AdjustmentKind::CallIdRewritten,
            AdjustmentKind::ToolNameRewritten,
            AdjustmentKind::ArgumentsWrapped,
            AdjustmentKind::TurnsMerged,
        ]
    );
}

#[test]
fn fields_that_nobody_knows_survive_at_every_level() {
    let text = exchange("unknown-fields.request.json");
    let request = decode_request(Family::Anthropic, &text).unwrap();
    let prompt = prompt(request.messages.clone(), request.tools.clone());
    let written = text_of(&encode(&prompt, vendor(), &request.options).unwrap());
    let read: Value = serde_json::from_str(&text).unwrap();
    let back: Value = serde_json::from_str(&written).unwrap();
    assert_eq!(read, back);
    let again = decode_request(Family::Anthropic, &written).unwrap();
    assert_eq!(again.messages, request.messages);
    assert_eq!(again.tools, request.tools);
    // Numbers inside are as they were written.
    assert!(written.contains("\"n\": 1e2"), "{written}");
}

#[test]
fn results_become_messages_of_their_own_and_know_their_tool() {
    let text = exchange("unknown-fields.request.json");
    let request = decode_request(Family::Anthropic, &text).unwrap();
    let roles: Vec<&str> = request.messages.iter().map(|m| m.role().as_str()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool", "tool", "assistant", "user"]);
    let second = request.messages[4].as_result().unwrap();
    assert_eq!(second.status, Status::Error);
    assert_eq!(second.name.as_ref().unwrap().as_str(), "read_file");
    assert_eq!(request.options.parallel_tool_calls, Some(false));
    assert_eq!(request.options.tool_choice, Some(ToolChoice::Auto));
    assert_eq!(request.options.hosted_tools.len(), 1);
}

#[test]
fn a_broken_history_is_read_as_it_is() {
    let request = decode_request(
        Family::Anthropic,
        r#"{"messages":[{"role":"user","content":[{"type":"text","text":"a"},
            {"type":"tool_result","tool_use_id":"c9"},{"type":"text","text":"b"}]},
            {"role":"assistant","content":[]}]}"#,
    )
    .unwrap();
    let roles: Vec<&str> = request.messages.iter().map(|m| m.role().as_str()).collect();
    assert_eq!(roles, ["user", "tool", "user", "assistant"]);
}

#[test]
fn faults_name_place_and_rule() {
    let table: &[(&str, ErrorKind, &str)] = &[
        ("{", ErrorKind::Syntax, "line 1 column 2: EOF while parsing an object"),
        ("7", ErrorKind::Form, "line 1 column 1: must be an object, not a number"),
        ("{}", ErrorKind::Form, "line 1 column 1: a request needs `messages`"),
        (
            r#"{"messages":[{"role":"tool"}]}"#,
            ErrorKind::Form,
            "messages[0].role, line 1 column 22: unknown role \"tool\": it must be user, assistant or system",
        ),
        (
            r#"{"messages":[{"role":"user","content":[{"type":"tool_result"}]}]}"#,
            ErrorKind::Form,
            "messages[0].content[0], line 1 column 40: a result needs `tool_use_id`, the id of the call that it answers",
        ),
        (
            r#"{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":" ","name":"a"}]}]}"#,
            ErrorKind::Rule,
            "messages[0].content[0].id, line 1 column 69: a call needs `id`, which ties its result to it",
        ),
        (
            r#"{"messages":[{"role":"user","content":[{"type":"image","source":{"type":"url"}}]}]}"#,
            ErrorKind::Form,
            "messages[0].content[0].source, line 1 column 65: a source needs its bytes, its address or its id",
        ),
        (
            r#"{"messages":[],"max_tokens":"1"}"#,
            ErrorKind::Form,
            "max_tokens, line 1 column 29: must be a whole number of 0 or more, not a string",
        ),
    ];
    for (body, kind, message) in table {
        let error = decode_request(Family::Anthropic, body).unwrap_err();
        assert_eq!((error.kind(), error.to_string().as_str()), (*kind, *message));
    }
}

#[test]
fn marks_stand_on_tools_system_and_the_breakpoint() {
    let own = Extra::of(
        "anthropic".into(),
        Json::parse(r#"{"cache_control":{"type":"ephemeral","ttl":"1h"}}"#).unwrap(),
    );
    let marked = Text { text: "old".into(), extra: own.unwrap() };
    let messages = vec![
        Message::system("s"),
        user(vec![ContentPart::Text(marked)]),
        Message::assistant("a"),
        user(vec![text("b"), text("c")]),
    ];
    let prompt = prompt(messages, vec![tool("t", None), tool("u", None)]);
    let count = |cache: CacheMarks| {
        let mut options = options("claude-sonnet-4-5");
        options.cache = cache;
        let text = text_of(&encode(&prompt, vendor(), &options).unwrap());
        assert_eq!(lint(vendor(), &text).unwrap(), []);
        let body: Value = serde_json::from_str(&text).unwrap();
        let places = [
            "/tools/0/cache_control",
            "/tools/1/cache_control",
            "/system/0/cache_control",
            "/messages/0/content/0/cache_control",
            "/messages/2/content/1/cache_control",
        ];
        places.map(|place| body.pointer(place).is_some())
    };
    assert_eq!(count(CacheMarks::Off), [false, false, false, true, false]);
    assert_eq!(count(CacheMarks::On), [false, true, true, false, true]);
}

#[test]
fn a_mark_is_never_set_on_thinking() {
    let messages =
        vec![Message::user("a"), assistant(vec![said("b"), signed("t")]), Message::user(" ")];
    let mut options = options("claude-sonnet-4-5");
    options.cache = CacheMarks::On;
    let body = body(messages, &options);
    assert!(body.pointer("/messages/2/content/0/cache_control").is_some(), "{body}");
}

#[test]
fn the_last_word_is_the_users_where_the_model_wants_it() {
    let messages = || vec![Message::user("a"), Message::assistant("b \n")];
    let old = body(messages(), &options("claude-sonnet-4-5"));
    assert_eq!(old["messages"][1]["content"], "b");
    assert_eq!(old["messages"].as_array().unwrap().len(), 2);
    for model in [
        "claude-opus-4-6",
        "claude-sonnet-5",
        "claude-fable-5",
        "us.anthropic.claude-mythos-preview",
    ] {
        let new = body(messages(), &options(model));
        assert_eq!(new["messages"][2], json!({"role": "user", "content": "Continue."}), "{model}");
        assert_eq!(kinds(messages(), &options(model)), [AdjustmentKind::TurnInserted]);
    }
}

#[test]
fn thinking_without_a_proper_signature_is_left_out() {
    let foreign = Producer { vendor: "openai".into(), model: None };
    let parts = vec![
        thought("no seal", None),
        thought("not base64", Some(Seal::Signature("ein Siegel".into()))),
        thought("text and data", Some(Seal::Encrypted("EmwK".into()))),
        AssistantPart::Thinking(Thinking {
            text: "".into(),
            seal: Some(Seal::Encrypted("EmwK".into())),
            producer: Some(foreign),
            extra: Extra::NONE,
        }),
        signed("mine"),
        said("b"),
    ];
    let messages = vec![Message::user("a"), assistant(parts), Message::user("c")];
    assert_eq!(kinds(messages.clone(), &options("m")), [AdjustmentKind::ThinkingDropped; 4]);
    let body = body(messages, &options("m"));
    assert_eq!(body["messages"][1]["content"][0]["thinking"], "mine");
}

#[test]
fn a_budget_is_given_up_where_the_loop_began_without_thinking() {
    let messages = |first: AssistantPart| {
        let opener = assistant(vec![first, call("c1", "ls", "{}")]);
        let result = Message::tool(CallId::new("c1").unwrap(), Status::Ok, "src");
        let next = assistant(vec![call("c2", "ls", "{}")]);
        let last = Message::tool(CallId::new("c2").unwrap(), Status::Ok, "docs");
        vec![Message::user("a"), opener, result, next, last]
    };
    let mut options = options("claude-sonnet-4-5");
    options.thinking = Some(ThinkingMode::budget(2000));
    let kept = body(messages(signed("t")), &options);
    assert_eq!((&kept["thinking"]["type"], &kept["max_tokens"]), (&json!("enabled"), &json!(6096)));
    let given_up = body(messages(said("t")), &options);
    assert_eq!(given_up.get("thinking"), None);
    // A budget that nobody gets is not said to stand for anything.
    for mode in [ThinkingMode::on(), ThinkingMode::effort(Effort::High)] {
        options.thinking = Some(mode);
        let prompt = prompt(messages(said("t")), vec![tool("ls", None)]);
        let adjustments = encode(&prompt, vendor(), &options).unwrap().adjustments;
        let details: Vec<&str> = adjustments.iter().map(|it| it.detail.as_str()).collect();
        assert_eq!(details, ["thinking: the running tool loop began without thinking"]);
    }
}

#[test]
fn settings_are_those_that_the_model_takes() {
    let (on, off) = (ThinkingMode::on(), ThinkingMode::off());
    let budget = ThinkingMode::budget(1024);
    let high = ThinkingMode::effort(Effort::High);
    let least = on.with_effort(Effort::Minimal).with_thoughts(Thoughts::Hidden);
    let enabled = |tokens: u64| json!({"type": "enabled", "budget_tokens": tokens});
    let adaptive = json!({"type": "adaptive"});
    let disabled = json!({"type": "disabled"});
    let omitted = json!({"type": "adaptive", "display": "omitted"});
    let table = [
        ("claude-sonnet-4-5", budget, enabled(1024), json!(null)),
        ("claude-sonnet-4-5", on, enabled(8192), json!(null)),
        ("claude-sonnet-4-5", high, enabled(16384), json!(null)),
        ("claude-opus-4-5", high, json!(null), json!("high")),
        ("claude-opus-4-6", budget, enabled(1024), json!(null)),
        ("claude-opus-4-6", least, omitted, json!("low")),
        ("claude-opus-4-7", budget, adaptive, json!("low")),
        ("claude-opus-5", off, disabled, json!(null)),
        ("claude-opus-5", off.with_effort(Effort::Max), json!(null), json!("max")),
        ("claude-fable-5-1", off, json!(null), json!(null)),
        ("glm-4.7", budget, enabled(1024), json!(null)),
    ];
    for (model, thinking, expected, effort) in table {
        let mut options = options(model);
        options.thinking = Some(thinking);
        let body = body(vec![Message::user("a")], &options);
        assert_eq!(body["thinking"], expected, "{model} {thinking:?}");
        assert_eq!(body["output_config"]["effort"], effort, "{model} {thinking:?}");
    }
    let number = |text: &str| Some(Json::parse(text).unwrap());
    let temperature = number("0.3");
    let options = |model| {
        let mut options = options(model);
        options.temperature = temperature.clone().map(Number::from_json);
        options
    };
    let warm = body(vec![Message::user("a")], &options("claude-sonnet-4-5"));
    assert_eq!(warm["temperature"], 0.3);
    let cold = body(vec![Message::user("a")], &options("claude-opus-5"));
    assert_eq!(cold.get("temperature"), None);
}

#[test]
fn a_tool_can_be_forced_where_the_model_allows_it() {
    let written = |model: &str, choice: ToolChoice, parallel: Option<bool>, thinks: bool| {
        let mut options = options(model);
        options.tool_choice = Some(choice);
        options.parallel_tool_calls = parallel;
        options.thinking = thinks.then_some(ThinkingMode::budget(1024));
        let prompt = prompt(vec![Message::user("a")], vec![tool("a.b", None)]);
        let text = text_of(&encode(&prompt, vendor(), &options).unwrap());
        assert_eq!(lint(vendor(), &text).unwrap(), []);
        let body: Value = serde_json::from_str(&text).unwrap();
        let is_same = body["tool_choice"]["name"] == body["tools"][0]["name"];
        (body["tool_choice"]["type"].as_str().unwrap().to_owned(), is_same)
    };
    let old = "claude-sonnet-4-5";
    assert_eq!(written(old, ToolChoice::Required, Some(false), false), ("any".into(), false));
    assert_eq!(written(old, ToolChoice::Tool("a.b".into()), None, false), ("tool".into(), true));
    assert_eq!(written(old, ToolChoice::Required, None, true), ("auto".into(), false));
    assert_eq!(written(old, ToolChoice::None, Some(false), false), ("none".into(), false));
    let new = "claude-opus-5-5";
    assert_eq!(written(new, ToolChoice::Required, None, false), ("auto".into(), false));
}

#[test]
fn alternatives_at_the_top_of_a_schema_become_one_object() {
    let schema = json!({
        "description": "where",
        "anyOf": [
            {"properties": {"path": {"type": "string"}, "n": {"type": "integer"}}, "required": ["path", "n"]},
            {"$ref": "#/$defs/Url"}
        ],
        "$defs": {"Url": {"properties": {"url": {"type": "string"}, "n": {"type": "string"}}, "required": ["n"]}}
    });
    let prompt = prompt(vec![Message::user("a")], vec![tool("t", Some(schema))]);
    let encoded = encode(&prompt, vendor(), &options("m")).unwrap();
    assert_eq!(encoded.adjustments[0].kind, AdjustmentKind::SchemaChanged);
    let body: Value = serde_json::from_str(&text_of(&encoded)).unwrap();
    assert_eq!(
        body["tools"][0]["input_schema"],
        json!({
            "type": "object",
            "properties": {
                "path": {"type": "string"},
                "n": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
                "url": {"type": "string"}
            },
            "required": ["n"],
            "description": "where",
            "$defs": {"Url": {"properties": {"url": {"type": "string"}, "n": {"type": "string"}}, "required": ["n"]}}
        })
    );
}

#[test]
fn a_form_for_the_answer_is_written_and_read() {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}, "required": ["n"]});
    let mut options = options("claude-sonnet-4-5");
    options.response_format = Some(ResponseFormat::schema("count", json_text(schema), true));
    let encoded = encode_all(vec![Message::user("a")], &options);
    assert_eq!(encoded.adjustments[0].kind, AdjustmentKind::SchemaChanged);
    let text = text_of(&encoded);
    assert_eq!(lint(vendor(), &text).unwrap(), []);
    let body: Value = serde_json::from_str(&text).unwrap();
    let held = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": false});
    assert_eq!(body["output_config"]["format"], json!({"type": "json_schema", "schema": held}));
    let read = decode_request(Family::Anthropic, &text).unwrap().options.response_format.unwrap();
    assert_eq!(read.as_schema().unwrap().schema.to_value(), held);
}

#[test]
fn media_that_can_not_travel_leave_a_note() {
    let elsewhere = Source::Id { owner: "openai".into(), id: "file-1".into() };
    let messages = vec![
        user(vec![
            image("Qk0=", "image/bmp"),
            file(Source::Base64("UklG".into()), "audio/wav", "a.wav"),
            file(elsewhere, "application/pdf", "b.pdf"),
        ]),
        assistant(vec![said("a")]),
        Message::user("b"),
    ];
    let body = body(messages.clone(), &options("m"));
    assert_eq!(kinds(messages, &options("m")), [AdjustmentKind::MediaDropped; 3]);
    let texts = body["messages"][0]["content"].as_array().unwrap();
    let texts: Vec<&str> = texts.iter().map(|block| block["text"].as_str().unwrap()).collect();
    assert_eq!(
        texts,
        [
            "[image not sent: its type is image/bmp]",
            "[file a.wav not sent: its type is audio/wav]",
            "[file b.pdf not sent: its bytes are not at hand]",
        ]
    );
}

#[test]
fn half_of_a_tool_that_the_api_ran_does_not_go_alone() {
    let half = |value: Value| {
        AssistantPart::Opaque(Opaque { owner: "anthropic".into(), value: json_text(value) })
    };
    let used =
        json!({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}});
    let found =
        json!({"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []});
    let messages =
        |parts: Vec<AssistantPart>| vec![Message::user("a"), assistant(parts), Message::user("b")];
    let both = messages(vec![said("c"), half(used.clone()), half(found.clone()), said("d")]);
    assert_eq!(kinds(both.clone(), &options("m")), []);
    assert_eq!(body(both, &options("m"))["messages"][1]["content"][1], used);
    for alone in [used.clone(), found] {
        let messages = messages(vec![said("c"), half(alone)]);
        assert_eq!(kinds(messages, &options("m")), [AdjustmentKind::OpaqueDropped]);
    }
    // A turn that the API paused is sent back as it is.
    let paused = vec![Message::user("a"), assistant(vec![half(used)])];
    let body = body(paused, &options("claude-opus-5"));
    assert_eq!(body["messages"].as_array().unwrap().len(), 2);
}

#[test]
fn settings_without_a_word_here_are_reported() {
    let mut options = options("m");
    options.cache_key = Some("k".into());
    options.rest = OwnFields::of(Family::OpenaiChat).with("seed", Json::parse("1").unwrap());
    options.hosted_tools =
        vec![Opaque { owner: "openai".into(), value: json_text(json!({"type": "x"})) }];
    options.tool_choice = Some(ToolChoice::Auto);
    let encoded = encode_all(vec![Message::user("a")], &options);
    let details: Vec<&str> = encoded.adjustments.iter().map(|it| it.detail.as_str()).collect();
    assert_eq!(
        details,
        ["a tool of openai", "tool_choice: there are no tools", "cache_key", "seed"]
    );
    assert_eq!(
        text_of(&encoded),
        r#"{"model":"m","max_tokens":4096,"messages":[{"role":"user","content":"a"}]}"#
    );
}

#[test]
fn thinking_goes_back_to_its_model_by_either_name() {
    let made_by = |model: &str| {
        let producer = Some(Producer { vendor: "anthropic".into(), model: Some(model.into()) });
        let seal = Some(Seal::Signature("EqQBCgIY".into()));
        let thought = Thinking { text: "t".into(), seal, producer, extra: Extra::NONE };
        let parts = vec![AssistantPart::Thinking(thought), said("b")];
        vec![Message::user("a"), assistant(parts), Message::user("c")]
    };
    let table = [
        ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5", true),
        ("claude-sonnet-4-20250514", "claude-sonnet-4-0", true),
        ("claude-3-7-sonnet-20250219", "claude-3-7-sonnet-latest", true),
        ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5@20250929", true),
        ("claude-sonnet-4-5-20250929", "claude-opus-4-5", false),
        ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5-20991231", false),
    ];
    for (made, asked, goes_back) in table {
        let is_kept = kinds(made_by(made), &options(asked)).is_empty();
        assert_eq!(is_kept, goes_back, "{made} to {asked}");
    }
}

#[test]
fn anthropic_gets_no_field_at_the_top_that_it_does_not_know() {
    let body = r#"{"model":"claude-sonnet-4-5","max_tokens":9,"messages":[{"role":"user","content":"hi"}],
        "n":1,"betas":["x"],"mcp_servers":[],"service_tier":"auto"}"#;
    let request = decode_request(Family::Anthropic, body).unwrap();
    let encoded =
        encode(&prompt(request.messages, request.tools), vendor(), &request.options).unwrap();
    let expected = r#"{"model":"claude-sonnet-4-5","max_tokens":9,"messages":[{"role":"user","content":"hi"}],"mcp_servers":[],"service_tier":"auto"}"#;
    assert_eq!(text_of(&encoded), expected);
    let details: Vec<&str> = encoded.adjustments.iter().map(|it| it.detail.as_str()).collect();
    assert_eq!(details, ["n: the API does not know it", "betas: the API does not know it"]);
    let faults = lint(vendor(), body).unwrap();
    let found: Vec<_> = faults.iter().map(|fault| (fault.rule.id, &*fault.pointer)).collect();
    assert_eq!(found, [("anthropic/known-fields", "/n"), ("anthropic/known-fields", "/betas")]);
}

#[test]
fn a_body_for_a_cloud_names_no_model() {
    let body = r#"{"anthropic_version":"vertex-2023-10-16","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}"#;
    assert_eq!(lint(vendor(), body).unwrap(), []);
    let other =
        body.replace("anthropic_version", "metadata").replace("\"vertex-2023-10-16\"", "{}");
    let faults = lint(vendor(), &other).unwrap();
    assert_eq!(faults[0].rule.id, "anthropic/model");
}
