//! Where requests go, with which headers, and what their targets ask of them.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use interleaf_model::{Json, Opaque, Requirements, Secret};
use interleaf_wire::{Auth, ErrorKind, Family, Http, Options, OwnFields, Vendor};

fn options(model: &str, stream: bool) -> Options {
    {
        let mut options = Options::model(model);
        options.stream = stream;
        options
    }
}

fn sent(vendor: &Vendor, model: &str, stream: bool) -> Http {
    vendor.http(&options(model, stream), Some(&Secret::new("key-1"))).unwrap()
}

#[test]
fn each_family_has_its_address() {
    let azure = Vendor::named("azure").unwrap().clone().base_url(
        "https://mine.openai.azure.com/openai/deployments/{model}/?api-version=2024-10-21",
    );
    let vertex = Vendor::named("vertex").unwrap().clone().base_url(
        "https://us-central1-aiplatform.googleapis.com/v1/projects/p/locations/us-central1/publishers/google",
    );
    let bedrock = Vendor::named("bedrock")
        .unwrap()
        .clone()
        .base_url("https://bedrock-runtime.us-east-1.amazonaws.com/");
    let named = |name: &str| Vendor::named(name).unwrap().clone();
    let table = [
        (named("openai"), "gpt-5", false, "https://api.openai.com/v1/chat/completions"),
        (named("openai-responses"), "gpt-5", true, "https://api.openai.com/v1/responses"),
        (named("anthropic"), "claude-opus-5", true, "https://api.anthropic.com/v1/messages"),
        (
            named("google"),
            "gemini-3-pro",
            false,
            "https://generativelanguage.googleapis.com/v1beta/models/gemini-3-pro:generateContent",
        ),
        (
            named("google"),
            "tunedModels/my model",
            true,
            "https://generativelanguage.googleapis.com/v1beta/tunedModels/my%20model:streamGenerateContent?alt=sse",
        ),
        (
            vertex,
            "gemini-3-pro",
            true,
            "https://us-central1-aiplatform.googleapis.com/v1/projects/p/locations/us-central1/publishers/google/models/gemini-3-pro:streamGenerateContent?alt=sse",
        ),
        (
            bedrock.clone(),
            "us.anthropic.claude-sonnet-5-v1:0",
            false,
            "https://bedrock-runtime.us-east-1.amazonaws.com/model/us.anthropic.claude-sonnet-5-v1%3A0/converse",
        ),
        (
            bedrock,
            "arn:aws:bedrock:us-east-1:1:inference-profile/p",
            true,
            "https://bedrock-runtime.us-east-1.amazonaws.com/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Ainference-profile%2Fp/converse-stream",
        ),
        (
            azure,
            "my-gpt",
            false,
            "https://mine.openai.azure.com/openai/deployments/my-gpt/chat/completions?api-version=2024-10-21",
        ),
    ];
    for (vendor, model, stream, url) in table {
        let http = sent(&vendor, model, stream);
        assert_eq!((http.method, http.url.as_str()), ("POST", url));
        assert_eq!(http.header("Content-Type"), Some("application/json"));
    }
}

#[test]
fn the_key_travels_as_the_vendor_wants_it_and_is_never_shown() {
    let table = [
        ("openai", "authorization", "Bearer key-1"),
        ("anthropic", "x-api-key", "key-1"),
        ("google", "x-goog-api-key", "key-1"),
        ("vllm", "authorization", "Bearer key-1"),
    ];
    for (name, header, value) in table {
        let http = sent(Vendor::named(name).unwrap(), "m", false);
        assert_eq!(http.header(header), Some(value), "{name}");
        assert!(!format!("{http:?}").contains("key-1"));
        assert!(http.headers.iter().all(|(_, value)| !value.to_string().contains("key-1")));
        assert!(!http.url.contains("key-1"));
    }
    let aws = Vendor::named("bedrock").unwrap().clone().base_url("https://aws.example");
    assert_eq!(sent(&aws, "m", false).header("authorization"), Some("Bearer key-1"));
    let unsigned = aws.http(&options("m", false), None).unwrap();
    assert!(unsigned.needs_signature && unsigned.header("authorization").is_none());
    let local = Vendor::named("ollama").unwrap().http(&options("m", false), None).unwrap();
    assert!(!local.needs_signature && local.header("authorization").is_none());
}

#[test]
fn what_is_missing_is_named() {
    let key = Secret::new("key-1");
    let told = |vendor: &Vendor, model: &str, key: Option<&Secret>| {
        let error = vendor.http(&options(model, false), key).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Rule);
        error.to_string()
    };
    let openai = Vendor::named("openai").unwrap();
    assert_eq!(
        told(openai, "m", None),
        "the vendor \"openai\" needs a key in the header `authorization`, and none is given; \
         it is usually kept in OPENAI_API_KEY"
    );
    assert_eq!(told(openai, "m", Some(&Secret::new(" "))), told(openai, "m", None));
    assert_eq!(
        told(openai, "m", Some(&Secret::new("key\r\nx: y"))),
        "the key for the vendor \"openai\" holds characters that a header cannot hold"
    );
    assert_eq!(
        told(Vendor::named("azure").unwrap(), "m", Some(&key)),
        "the vendor \"azure\" has no address of its own: set its `base_url`"
    );
    assert_eq!(
        told(Vendor::named("google").unwrap(), "", Some(&key)),
        "the address of the vendor \"google\" contains the model: give one"
    );
    assert_eq!(
        told(Vendor::named("anthropic").unwrap(), " ", Some(&key)),
        "the vendor \"anthropic\" asks for a model, and none is given"
    );
    let odd = Vendor::new("odd", Family::OpenaiChat).base_url("localhost:1").auth(Auth::None);
    assert_eq!(
        told(&odd, "m", None),
        "the `base_url` of the vendor \"odd\" must begin with http:// or https://, and is \"localhost:1\""
    );
}

#[test]
fn the_address_of_anthropics_api_may_leave_its_version_out() {
    for (base, url) in [
        ("https://api.anthropic.com", "https://api.anthropic.com/v1/messages"),
        ("https://api.anthropic.com/", "https://api.anthropic.com/v1/messages"),
        ("https://api.anthropic.com/v1", "https://api.anthropic.com/v1/messages"),
        ("https://v1.example", "https://v1.example/v1/messages"),
        ("https://gateway.example/anthropic", "https://gateway.example/anthropic/v1/messages"),
        ("https://gateway.example/a/v2/?team=7", "https://gateway.example/a/v2/messages?team=7"),
    ] {
        let vendor = Vendor::of(Family::Anthropic).clone().base_url(base);
        assert_eq!(sent(&vendor, "claude-opus-5", false).url, url);
    }
    let openai = Vendor::of(Family::OpenaiChat).clone().base_url("https://gateway.example");
    assert_eq!(sent(&openai, "gpt-5", false).url, "https://gateway.example/chat/completions");
}

#[test]
fn a_stream_is_asked_for_in_the_form_that_the_decoder_reads() {
    let accepts = |name: &str, stream: bool| {
        let vendor = Vendor::named(name).unwrap().clone().base_url("https://x.example");
        sent(&vendor, "m", stream).header("accept").unwrap().to_owned()
    };
    assert_eq!(accepts("openai", false), "application/json");
    assert_eq!(accepts("openai", true), "text/event-stream");
    assert_eq!(accepts("bedrock", true), "application/vnd.amazon.eventstream");
}

#[test]
fn anthropic_is_told_its_version_and_the_betas_that_the_options_need() {
    let anthropic = Vendor::of(Family::Anthropic);
    let plain = sent(anthropic, "claude-opus-5", false);
    assert_eq!(plain.header("anthropic-version"), Some("2023-06-01"));
    assert_eq!(plain.header("anthropic-beta"), None);
    let tool = |owner: &str| Opaque {
        owner: owner.into(),
        value: Json::parse(r#"{"type":"computer_20250124","name":"computer"}"#).unwrap(),
    };
    let mut options = options("claude-opus-4-1", false);
    options.hosted_tools = vec![tool("anthropic"), tool("anthropic"), tool("openai")];
    let http = anthropic.http(&options, Some(&Secret::new("k"))).unwrap();
    assert_eq!(http.header("anthropic-beta"), Some("computer-use-2025-01-24"));
    options.hosted_tools = vec![tool("openai")];
    let http = anthropic.http(&options, Some(&Secret::new("k"))).unwrap();
    assert_eq!(http.header("anthropic-beta"), None);
    let toolset = Json::parse(r#"{"type":"mcp_toolset","mcp_server_name":"files"}"#).unwrap();
    let servers = Json::parse("[]").unwrap();
    options.rest = OwnFields::of(Family::OpenaiChat).with("mcp_servers", servers.clone());
    let http = anthropic.http(&options, Some(&Secret::new("k"))).unwrap();
    assert_eq!(http.header("anthropic-beta"), None);
    options.rest = OwnFields::of(Family::Anthropic).with("mcp_servers", servers);
    let http = anthropic.http(&options, Some(&Secret::new("k"))).unwrap();
    assert_eq!(http.header("anthropic-beta"), Some("mcp-client-2025-04-04"));
    options.hosted_tools = vec![Opaque { owner: "anthropic".into(), value: toolset }];
    let http = anthropic.http(&options, Some(&Secret::new("k"))).unwrap();
    assert_eq!(http.header("anthropic-beta"), Some("mcp-client-2025-11-20"));
}

#[test]
fn b6_a_target_asks_for_what_its_api_and_model_refuse_otherwise() {
    let asked = |name: &str, model: &str| Vendor::named(name).unwrap().requirements(model);
    assert_eq!(asked("openai", "gpt-5"), Requirements::NONE);
    assert_eq!(asked("openai-responses", "gpt-5"), Requirements::NONE);
    assert_eq!(asked("llama-cpp", "qwen"), Requirements::STRICT);
    assert_eq!(asked("anthropic", "claude-opus-4-1"), Requirements::STRICT);
    let mut no_prefill = Requirements::STRICT;
    no_prefill.no_trailing_assistant = true;
    assert_eq!(asked("anthropic", "claude-opus-4-6"), no_prefill);
    assert_eq!(asked("bedrock", "us.anthropic.claude-sonnet-5-v1:0"), no_prefill);
    assert_eq!(asked("bedrock", "amazon.nova-pro-v1:0"), Requirements::STRICT);
    let gemini = asked("google", "gemini-3-pro");
    assert!(gemini.user_first && gemini.beside_system && !gemini.no_blank_user);
}
