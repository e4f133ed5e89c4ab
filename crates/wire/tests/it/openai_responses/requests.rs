//! Prompts, written.

use interleaf_model::{
    Arguments, AssistantPart, Body, CallId, ContentPart, Extra, File, Image, Json, Message,
    MessageId, Opaque, Parts, Producer, Seal, Source, Status, SystemPart, Text, Thinking, Tool,
    ToolCall, ToolName, ToolResult, VendorName,
};
use interleaf_wire::lint::lint;
use interleaf_wire::{AdjustmentKind, Encoded, Options, OwnFields, ToolChoice, encode};
use interleaf_wire::{Number, ResponseFormat, ThinkingMode};

use super::{OWNER, body_of, encoded, prompt, vendor};

fn id(text: &str) -> CallId {
    CallId::new(text).unwrap()
}

fn call(call_id: &str, name: &str, arguments: &str) -> AssistantPart {
    let (id, name) = (id(call_id), ToolName::new(name));
    let arguments = Arguments::from_text(arguments);
    AssistantPart::Call(ToolCall { id, name, arguments, extra: Extra::NONE })
}

fn assistant(parts: Vec<AssistantPart>) -> Message {
    Body::Assistant(Parts::new(parts).unwrap()).into()
}

fn own(fields: &str) -> Extra {
    Extra::of(VendorName::new(OWNER), Json::parse(fields).unwrap()).unwrap()
}

fn thought(text: &str, seal: Option<Seal>, item_id: &str) -> AssistantPart {
    AssistantPart::Thinking(Thinking {
        text: text.into(),
        seal,
        producer: Some(Producer { vendor: VendorName::new(OWNER), model: None }),
        extra: own(&format!(r#"{{"id":"{item_id}"}}"#)),
    })
}

fn kinds(encoded: &Encoded) -> Vec<AdjustmentKind> {
    encoded.adjustments.iter().map(|it| it.kind).collect()
}

fn image(source: Source) -> Image {
    Image { source, media_type: Some("image/png".into()), extra: Extra::NONE }
}

fn pdf(name: Option<&str>) -> File {
    File {
        source: Source::Base64("JVBERi0=".into()),
        media_type: Some("application/pdf".into()),
        name: name.map(Into::into),
        extra: Extra::NONE,
    }
}

#[test]
fn a_whole_tool_conversation() {
    let opaque = |owner: &str, value: &str| Opaque {
        owner: VendorName::new(owner),
        value: Json::parse(value).unwrap(),
    };
    let messages = vec![
        Body::System(
            Parts::new(vec![
                SystemPart::Text(Text::new("You look after files.")),
                SystemPart::Text(Text::new("Be brief.")),
            ])
            .unwrap(),
        )
        .into(),
        Body::User(
            Parts::new(vec![
                ContentPart::Text(Text::new("What is this?")),
                ContentPart::Image(image(Source::Base64("AAAA".into()))),
                ContentPart::Image(image(Source::Url("https://example.org/a.png".into()))),
                ContentPart::File(pdf(Some("a.pdf"))),
            ])
            .unwrap(),
        )
        .into(),
        assistant(vec![
            thought("Two things to see.", Some(Seal::Encrypted("gAAAAA".into())), "rs_1"),
            AssistantPart::Text(Text::new("I look.")),
            call("call_1", "list files", r#"{"path": "src"}"#),
            call("call_2", "read_file", "src/main.rs"),
            AssistantPart::Opaque(opaque("anthropic", r#"{"type":"server_tool_use"}"#)),
        ]),
        Body::Tool(ToolResult {
            call: id("call_1"),
            name: None,
            status: Status::Ok,
            parts: Parts::new(vec![
                ContentPart::Text(Text::new("one picture")),
                ContentPart::Image(image(Source::Base64("BBBB".into()))),
                ContentPart::File(pdf(None)),
            ])
            .unwrap(),
        })
        .into(),
        Message::tool(id("call_2"), Status::Error, "no such file"),
        Message::user("And now?"),
    ];
    let tool = |name: &str, parameters: Option<&str>, strict| Tool {
        name: ToolName::new(name),
        description: Some("Lists.".into()),
        parameters: parameters.map(|text| Json::parse(text).unwrap()),
        strict,
        extra: Extra::NONE,
    };
    let tools = vec![
        tool("list files", Some(r#"{"type":"object","properties":{"path":{}}}"#), Some(true)),
        tool("read_file", None, None),
    ];
    let mut options = Options::model("gpt-5");
    options.max_tokens = Some(4);
    options.temperature = Some(Number::from_json(Json::parse("1.0").unwrap()));
    options.top_k = Some(Number::from_json(Json::parse("40").unwrap()));
    options.stop = vec!["END".to_owned()];
    options.stream = true;
    options.tool_choice = Some(ToolChoice::Tool("list files".into()));
    options.parallel_tool_calls = Some(true);
    options.thinking = Some(ThinkingMode::budget(5000));
    options.cache_key = Some("session-1".into());
    let encoded = encode(&prompt(messages, tools), vendor(), &options).unwrap();
    let expected = [
        r#"{"model":"gpt-5","tools":["#,
        r#"{"type":"function","name":"NAME","description":"Lists.","parameters":{"type":"object","properties":{"path":{}}},"strict":false},"#,
        r#"{"type":"function","name":"read_file","description":"Lists.","parameters":{"type":"object","properties":{}}}],"#,
        r#""input":["#,
        r#"{"type":"message","role":"system","content":[{"type":"input_text","text":"You look after files."},{"type":"input_text","text":"Be brief."}]},"#,
        r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"What is this?"},"#,
        r#"{"type":"input_image","image_url":"data:image/png;base64,AAAA","detail":"auto"},"#,
        r#"{"type":"input_image","image_url":"https://example.org/a.png","detail":"auto"},"#,
        r#"{"type":"input_file","filename":"a.pdf","file_data":"data:application/pdf;base64,JVBERi0="}]},"#,
        r#"{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"Two things to see."}],"encrypted_content":"gAAAAA"},"#,
        r#"{"type":"message","role":"assistant","content":"I look."},"#,
        r#"{"type":"function_call","call_id":"call_1","name":"NAME","arguments":"{\"path\": \"src\"}"},"#,
        r#"{"type":"function_call","call_id":"call_2","name":"read_file","arguments":"{\"raw_arguments\":\"src/main.rs\"}"},"#,
        r#"{"type":"function_call_output","call_id":"call_1","output":[{"type":"input_text","text":"one picture"},"#,
        r#"{"type":"input_image","image_url":"data:image/png;base64,BBBB","detail":"auto"},"#,
        r#"{"type":"input_file","filename":"attachment","file_data":"data:application/pdf;base64,JVBERi0="}]},"#,
        r#"{"type":"function_call_output","call_id":"call_2","output":"Error: no such file"},"#,
        r#"{"type":"message","role":"user","content":"And now?"}],"#,
        r#""tool_choice":{"type":"function","name":"NAME"},"parallel_tool_calls":true,"max_output_tokens":16,"#,
        r#""temperature":1.0,"reasoning":{"effort":"medium"},"prompt_cache_key":"session-1","stream":true}"#,
    ];
    let body = body_of(&encoded);
    let start = body.find(r#""name":""#).unwrap() + r#""name":""#.len();
    let name = body[start..].split('"').next().unwrap().to_owned();
    assert_eq!(body, expected.concat().replace("NAME", &name));
    assert_eq!(encoded.names.original(&name), ToolName::new("list files"));
    assert_eq!(lint(vendor(), &body).unwrap(), []);
    use AdjustmentKind::{
        ArgumentsWrapped, ErrorInText, OpaqueDropped, OptionChanged, OptionDropped, SchemaChanged,
        ToolNameRewritten,
    };
    assert_eq!(
        kinds(&encoded),
        [
            ToolNameRewritten,
            SchemaChanged,
            ToolNameRewritten,
            ArgumentsWrapped,
            OpaqueDropped,
            ErrorInText,
            OptionChanged,
            OptionDropped,
            OptionDropped,
            OptionChanged,
        ]
    );
}

#[test]
fn a_thought_needs_what_it_led_to() {
    let alone = assistant(vec![thought("hm", None, "rs_1")]);
    let messages = vec![Message::user("a"), alone, Message::user("b")];
    let encoded = encoded(messages, &Options::model("m"));
    assert!(!body_of(&encoded).contains("reasoning"), "{}", body_of(&encoded));
    assert_eq!(kinds(&encoded), [AdjustmentKind::ThinkingDropped]);
}

#[test]
fn thoughts_of_others_and_thoughts_without_an_id_stay_behind() {
    let table = [
        thought("hm", None, "item_1"),
        thought("hm", Some(Seal::Signature("x".into())), "rs_1"),
        AssistantPart::Thinking(Thinking {
            text: "hm".into(),
            seal: None,
            producer: None,
            extra: Extra::NONE,
        }),
        AssistantPart::Thinking(Thinking {
            text: "hm".into(),
            seal: Some(Seal::Signature("x".into())),
            producer: Some(Producer { vendor: VendorName::new("anthropic"), model: None }),
            extra: own(r#"{"id":"rs_1"}"#),
        }),
    ];
    for part in table {
        let said = Text { text: "b".into(), extra: own(r#"{"item":{"id":"msg_1"}}"#) };
        let message = assistant(vec![part, AssistantPart::Text(said)]);
        let encoded = encoded(vec![Message::user("a"), message], &Options::model("m"));
        let body = r#"{"model":"m","input":[{"type":"message","role":"user","content":"a"},{"type":"message","role":"assistant","content":"b"}]}"#;
        assert_eq!(body_of(&encoded), body);
        assert_eq!(
            kinds(&encoded),
            [AdjustmentKind::ThinkingDropped, AdjustmentKind::ItemIdDropped]
        );
    }
}

#[test]
fn a_snapshot_is_the_model_that_was_asked_for() {
    let part = |made_by: &str| {
        AssistantPart::Thinking(Thinking {
            text: "".into(),
            seal: None,
            producer: Some(Producer {
                vendor: VendorName::new(OWNER),
                model: Some(made_by.into()),
            }),
            extra: own(r#"{"id":"rs_1"}"#),
        })
    };
    let table = [
        ("gpt-5", "gpt-5-2025-08-07", true),
        ("gpt-5-2025-08-07", "gpt-5", true),
        ("gpt-5", "gpt-5-mini-2025-08-07", false),
        ("gpt-5", "gpt-5.2", false),
        ("gpt-5", "5-2025-08-07", false),
    ];
    for (asked, made_by, goes) in table {
        let message = assistant(vec![part(made_by), AssistantPart::Text(Text::new("b"))]);
        let options = Options::model(asked);
        let body = body_of(&encoded(vec![Message::user("a"), message], &options));
        assert_eq!(body.contains("rs_1"), goes, "{asked} {made_by}");
    }
}

#[test]
fn a_thought_that_chat_kept_for_us_goes_back() {
    let kept = Extra::of(VendorName::new("openai"), Json::parse(r#"{"id":"rs_1"}"#).unwrap());
    let part = AssistantPart::Thinking(Thinking {
        text: "hm".into(),
        seal: None,
        producer: Some(Producer { vendor: VendorName::new("openai"), model: None }),
        extra: kept.unwrap(),
    });
    let message = assistant(vec![part, AssistantPart::Text(Text::new("b"))]);
    let body = body_of(&encoded(vec![Message::user("a"), message], &Options::model("m")));
    let item =
        r#"{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hm"}]}"#;
    assert!(body.contains(item), "{body}");
}

#[test]
fn media_that_can_not_travel_is_told() {
    let foreign = Source::Id { owner: VendorName::new("google"), id: "f".into() };
    let audio = File { media_type: Some("audio/wav".into()), ..pdf(None) };
    let user = Body::User(
        Parts::new(vec![
            ContentPart::Image(image(foreign)),
            ContentPart::Image(image(Source::Url("not an address".into()))),
            ContentPart::File(audio),
        ])
        .unwrap(),
    );
    let picture = AssistantPart::Image(image(Source::Base64("AAAA".into())));
    let encoded = encoded(vec![user.into(), assistant(vec![picture])], &Options::model("m"));
    assert_eq!(kinds(&encoded), [AdjustmentKind::MediaDropped; 4]);
    assert_eq!(lint(vendor(), &body_of(&encoded)).unwrap(), []);
}

#[test]
fn an_illegal_call_id_is_rewritten_on_both_sides() {
    let long = "x".repeat(65);
    let messages = vec![
        Message::user("a"),
        assistant(vec![call(&long, "f", "{}")]),
        Message::tool(id(&long), Status::Ok, ""),
    ];
    let encoded = encoded(messages, &Options::model("m"));
    assert_eq!(kinds(&encoded), [AdjustmentKind::CallIdRewritten; 2]);
    assert_eq!(lint(vendor(), &body_of(&encoded)).unwrap(), []);
}

#[test]
fn blank_messages_are_left_out_unless_one_is_all_there_is() {
    let blank = vec![Message::user(" "), assistant(vec![AssistantPart::Text(Text::new(""))])];
    let encoded = encoded(blank, &Options::model("m"));
    let body = r#"{"model":"m","input":[{"type":"message","role":"user","content":" "}]}"#;
    assert_eq!(body_of(&encoded), body);
    assert_eq!(kinds(&encoded), [AdjustmentKind::BlankText]);
}

#[test]
fn settings_of_another_family_are_left_out() {
    let mut options = Options::default();
    options.rest = OwnFields::of(interleaf_wire::Family::OpenaiChat)
        .with("logit_bias", Json::parse("{}").unwrap());
    options.tool_choice = Some(ToolChoice::Required);
    options.parallel_tool_calls = Some(false);
    options.hosted_tools = vec![Opaque {
        owner: VendorName::new("anthropic"),
        value: Json::parse(r#"{"type":"bash"}"#).unwrap(),
    }];
    let encoded = encoded(vec![Message::user("a")], &options);
    assert_eq!(kinds(&encoded), [AdjustmentKind::OptionDropped; 4]);
    let body = r#"{"input":[{"type":"message","role":"user","content":"a"}]}"#;
    assert_eq!(body_of(&encoded), body);
}

#[test]
fn who_wants_json_says_so() {
    let mut options = Options::model("m");
    options.response_format = Some(ResponseFormat::Json);
    let asked = encoded(vec![Message::user("as Json, please")], &options);
    assert_eq!(asked.adjustments, []);
    let silent = encoded(vec![Message::user("hi")], &options);
    assert_eq!(kinds(&silent), [AdjustmentKind::TurnInserted]);
    assert_eq!(lint(vendor(), &body_of(&silent)).unwrap(), []);
}

#[test]
fn adjustments_name_the_message() {
    let blank = Message::user("").with_id(MessageId::new("m7"));
    let encoded = encoded(vec![Message::user("a"), blank], &Options::model("m"));
    assert_eq!(encoded.adjustments[0].message, Some(MessageId::new("m7")));
}
