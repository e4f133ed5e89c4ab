use interleaf_wire::{Family, lint};

use super::{fixture, vendor};

fn found(path: &str) -> Vec<&'static str> {
    let faults = lint::lint(vendor(), &fixture(path)).unwrap();
    faults.iter().map(|fault| fault.rule.id).collect()
}

#[test]
fn every_rule_has_a_body_that_breaks_it_and_one_that_keeps_it() {
    for rule in lint::rules(Family::Bedrock) {
        let name = rule.id.strip_prefix("bedrock/").unwrap();
        let bad = found(&format!("rules/bedrock/{name}.bad.json"));
        assert!(bad.iter().all(|id| *id == rule.id) && !bad.is_empty(), "{}: {bad:?}", rule.id);
        let good = found(&format!("rules/bedrock/{name}.good.json"));
        assert_eq!(good, Vec::<&str>::new(), "{}", rule.id);
    }
}

#[test]
fn a_fault_says_where_it_is() {
    let faults = lint::lint(vendor(), &fixture("rules/bedrock/calls-answered.bad.json")).unwrap();
    let [fault] = faults.as_slice() else { panic!("{faults:?}") };
    assert_eq!(fault.pointer, "/messages/2/content");
    assert_eq!(fault.detail, "tooluse_k2");
    assert!(fault.rule.api_text.starts_with("Expected toolResult blocks"));
}

/// Each in the place where it was reported, and in others.
#[test]
fn the_errors_that_people_report_are_found() {
    let table: &[(&str, &[(&str, &str)])] = &[
        // A message between call and result.
        (
            r#"{"toolConfig":{"tools":[{"toolSpec":{"name":"f","inputSchema":{"json":{"type":"object"}}}}]},
            "messages":[{"role":"user","content":[{"text":"a"}]},
            {"role":"assistant","content":[{"toolUse":{"toolUseId":"1","name":"f","input":{}}}]},
            {"role":"user","content":[{"text":"wait"}]},{"role":"assistant","content":[{"text":"b"}]},
            {"role":"user","content":[{"toolResult":{"toolUseId":"1","content":[]}}]}]}"#,
            &[
                ("bedrock/calls-answered", "/messages/2/content"),
                ("bedrock/results-called", "/messages/4/content/0/toolResult"),
            ],
        ),
        // Calls at the very end.
        (
            r#"{"toolConfig":{"tools":[{"toolSpec":{"name":"f","inputSchema":{"json":{"type":"object"}}}}]},
            "messages":[{"role":"user","content":[{"text":"a"}]},
            {"role":"assistant","content":[{"toolUse":{"toolUseId":"1","name":"f","input":{}}}]}]}"#,
            &[("bedrock/calls-answered", "/messages/2")],
        ),
        // A document beside results, on a model of Meta's.
        (
            r#"{"modelId":"us.meta.llama3-3-70b-instruct-v1:0","toolConfig":{"tools":[{"toolSpec":{"name":"f","inputSchema":{"json":{"type":"object"}}}}]},
            "messages":[{"role":"user","content":[{"text":"a"}]},
            {"role":"assistant","content":[{"toolUse":{"toolUseId":"1","name":"f","input":{}}}]},
            {"role":"user","content":[{"toolResult":{"toolUseId":"1","content":[]}},{"text":"and"},
            {"document":{"format":"pdf","name":"d","source":{"bytes":"JVBERi0xLjcK"}}}]}]}"#,
            &[
                ("bedrock/results-alone", "/messages/2/content/1"),
                ("bedrock/results-alone", "/messages/2/content/2"),
            ],
        ),
        // A cache point inside a result, and one at the head of a message.
        (
            r#"{"toolConfig":{"tools":[{"toolSpec":{"name":"f","inputSchema":{"json":{"type":"object"}}}}]},
            "messages":[{"role":"user","content":[{"cachePoint":{"type":"default"}},{"text":"a"}]},
            {"role":"assistant","content":[{"toolUse":{"toolUseId":"1","name":"f","input":{}}}]},
            {"role":"user","content":[{"toolResult":{"toolUseId":"1",
            "content":[{"text":"x"},{"cachePoint":{"type":"default"}}]}}]}]}"#,
            &[
                ("bedrock/cache-point-place", "/messages/0/content/0"),
                ("bedrock/block-place", "/messages/2/content/0/toolResult/content/1"),
            ],
        ),
        (
            r#"{"messages":[],"system":[{"text":" "}]}"#,
            &[("bedrock/text-blank", "/system/0/text"), ("bedrock/message-shape", "/messages")],
        ),
        ("[]", &[("bedrock/message-shape", "")]),
    ];
    for (body, expected) in table {
        let faults = lint::lint(vendor(), body).unwrap();
        let found: Vec<_> =
            faults.iter().map(|fault| (fault.rule.id, fault.pointer.as_str())).collect();
        assert_eq!(&found, expected, "{body}");
    }
}
