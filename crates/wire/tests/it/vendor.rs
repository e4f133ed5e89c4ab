//! Vendors that are made at run time.

use interleaf_model::Secret;
use interleaf_wire::lint::lint;
use interleaf_wire::{Auth, Family, Options, Quirks, Vendor};

fn told(json: &str) -> Result<Vendor, String> {
    serde_json::from_str(json).map_err(|e| e.to_string())
}

#[test]
fn configuration_says_what_differs_and_the_family_the_rest() {
    let vendor = told(
        r#"{"name": "house", "family": "openai-chat", "base_url": "http://models.local/v1",
            "auth": {"header": "x-key"}, "window": 32000,
            "quirks": {"strict_alternation": true, "reasoning": "reasoning_content",
                       "call_ids": {"punctuation": "_", "longest": 12}}}"#,
    )
    .unwrap();
    let mut quirks = Quirks::of(Family::OpenaiChat);
    quirks.strict_alternation = true;
    quirks.reasoning = interleaf_wire::Reasoning::ReasoningContent;
    quirks.call_ids = interleaf_wire::Alphabet::new("_", 12);
    let made = Vendor::new("house", Family::OpenaiChat)
        .base_url("http://models.local/v1")
        .auth(Auth::Header("x-key".into()))
        .window(32_000)
        .quirks(quirks);
    assert_eq!(vendor, made);
}

#[test]
fn a_name_and_a_family_are_enough() {
    for family in Family::ALL {
        let vendor = told(&format!(r#"{{"name": "mine", "family": "{family}"}}"#)).unwrap();
        assert_eq!(vendor, Vendor::new("mine", family));
        assert_eq!(vendor.auth, Vendor::of(family).auth);
        assert_eq!(vendor.quirks, Quirks::of(family));
    }
}

#[test]
fn what_is_unknown_is_refused_by_its_name() {
    let faults = [
        (r#"{"name": "x", "family": "gemini", "url": "http://y"}"#, "unknown field `url`"),
        (r#"{"name": "x", "family": "gemini", "quirks": {"odd": 1}}"#, "unknown field `odd`"),
        (r#"{"name": "x", "family": "gemma"}"#, "unknown API \"gemma\""),
        (r#"{"name": "x", "family": "gemini", "auth": "cookie"}"#, "unknown variant `cookie`"),
        (r#"{"family": "gemini"}"#, "missing field `name`"),
    ];
    for (json, expected) in faults {
        let refusal = told(json).unwrap_err();
        assert!(refusal.contains(expected), "{json}: {refusal}");
    }
}

#[test]
fn vertex_is_a_quirk_and_not_a_name() {
    let body = r#"{"contents": [{"parts": [{"text": "a"}]}]}"#;
    let rules = |vendor: &Vendor| -> Vec<&str> {
        lint(vendor, body).unwrap().iter().map(|fault| fault.rule.id).collect()
    };
    let mine = told(r#"{"name": "mine", "family": "gemini", "quirks": {"vertex": true}}"#).unwrap();
    assert_eq!(rules(&mine), ["gemini/vertex-role"]);
    assert_eq!(rules(&Vendor::new("vertex", Family::Gemini)), [""; 0]);
}

#[test]
fn an_address_or_a_header_that_cannot_be_sent_is_refused_by_name() {
    let vendor =
        |field: &str| told(&format!(r#"{{"name":"mine","family":"openai-chat",{field}}}"#));
    let refused = [
        r#""auth":{"header":"x-key\r\nx-evil: 1"}"#,
        r#""auth":{"header":"x key"}"#,
        r#""auth":{"header":"clé"}"#,
        r#""auth":{"header":""}"#,
        r#""base_url":"ftp://models.example""#,
        r#""base_url":"models.example/v1""#,
        r#""base_url":"https://""#,
        r#""base_url":"https:///v1""#,
        r#""base_url":"https://:80/v1""#,
        r#""base_url":"https://models.example/v1#top""#,
        r#""base_url":"https://models.example/v 1""#,
        r#""base_url":"https://models.example/\r\nv1""#,
        r#""base_url":"https://me:hunter22@models.example/v1""#,
        r#""base_url":"ftp://me:hunter22@models.example/v1?key=hunter22""#,
    ];
    for field in refused {
        let error = vendor(field).unwrap_err();
        let name = if field.contains("header") { "`auth.header`" } else { "`base_url`" };
        assert!(error.contains(name) && !error.contains("hunter22"), "{field}: {error}");
    }
    let taken = [
        r#""base_url":"https://models.example""#,
        r#""base_url":"http://127.0.0.1:8080/v1?a=b@c""#,
        r#""base_url":"http://[::1]:8080/{model}""#,
        r#""auth":{"header":"X-Api-Key"}"#,
    ];
    for field in taken {
        assert_eq!(vendor(field).err(), None, "{field}");
    }
}

#[test]
fn what_is_secret_in_an_address_does_not_show() {
    let vendor = Vendor::new("mine", Family::OpenaiChat)
        .base_url("https://models.example/v1?code=hunter22&v=2");
    let mut options = Options::default();
    options.model = "m".into();
    let http = vendor.http(&options, Some(&Secret::new("sk-1"))).unwrap();
    assert!(http.url.ends_with("?code=hunter22&v=2"));
    let shown = format!("{vendor:?} {http:?}");
    assert!(shown.contains("?code=***&v=***") && !shown.contains("hunter22"), "{shown}");
    let vendor = vendor.base_url("https://me:hunter22@models.example");
    let error = vendor.http(&options, None).unwrap_err();
    assert!(!format!("{vendor:?} {error} {error:?}").contains("hunter22"), "{error}");
}

/// A body must name its model only where nothing else does.
#[test]
fn a_body_without_a_model_is_a_finding_where_the_api_wants_it_in_the_body() {
    let table = [
        ("openai", r#"{"messages":[{"role":"user","content":"q"}]}"#, true),
        ("groq", r#"{"messages":[{"role":"user","content":"q"}],"model":null}"#, true),
        ("azure", r#"{"messages":[{"role":"user","content":"q"}]}"#, false),
        ("vllm", r#"{"messages":[{"role":"user","content":"q"}]}"#, false),
        ("vllm", r#"{"messages":[{"role":"user","content":"q"}],"model":""}"#, true),
        ("openai-responses", r#"{"input":"q"}"#, true),
        ("openai-responses", r#"{"input":"q","prompt":{"id":"p"}}"#, false),
        ("anthropic", r#"{"max_tokens":9,"messages":[{"role":"user","content":"q"}]}"#, true),
        ("google", r#"{"contents":[{"role":"user","parts":[{"text":"q"}]}]}"#, false),
        ("bedrock", r#"{"messages":[{"role":"user","content":[{"text":"q"}]}]}"#, false),
    ];
    for (name, body, is_found) in table {
        let vendor = Vendor::named(name).unwrap();
        let faults = lint(vendor, body).unwrap();
        let found: Vec<&str> = faults.iter().map(|fault| fault.rule.id).collect();
        let expected = format!("{}/model", vendor.family);
        let expected: &[&str] = if is_found { &[&expected] } else { &[] };
        assert_eq!(found, expected, "{name}: {body}");
    }
    // The address of a deployment names it.
    let deployment = Vendor::new("deployment", Family::OpenaiChat)
        .base_url("https://models.example/openai/deployments/{model}");
    assert_eq!(lint(&deployment, table[0].1).unwrap(), []);
}
