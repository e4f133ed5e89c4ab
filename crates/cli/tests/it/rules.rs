//! The rules of every API: each has a body that breaks it, which `lint` finds and
//! `lint --fix` mends, and one that keeps it; all of them are in `docs/rules.md`.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use interleaf::wire::lint::{Rule, lint, rules};
use interleaf::wire::{Family, VENDORS, Vendor};

use super::{root, run_with, text};

/// Bodies that `lint --fix` refuses or leaves as they are instead of mending them, and why.
pub(crate) const UNMENDED: &[(&str, &str)] = &[
    ("openai-chat/body", UNNAMED),
    ("openai-chat/model", UNNAMED),
    ("openai-chat/messages", "There is nothing to say."),
    ("openai-chat/role", "Who speaks is not known."),
    ("openai-chat/result-id", "Which call the result answers is not known."),
    ("openai-chat/tool", "What the tool is called is not known."),
    ("openai-chat/functions-limit", MISSED),
    ("openai-chat/setting-type", MEANT),
    ("openai-chat/foreign-form", "A conversation has one form."),
    ("openai-responses/body", UNNAMED),
    ("openai-responses/model", UNNAMED),
    ("openai-responses/input", "There is nothing to say."),
    ("openai-responses/setting-type", MEANT),
    ("openai-responses/item-type", "What the item is is not known."),
    ("openai-responses/role", "Who speaks is not known, and a result would name its call."),
    ("openai-responses/part-form", "What the text was is not known."),
    ("openai-responses/media-source", "Where the picture is is not known."),
    ("openai-responses/foreign-form", "A conversation has one form."),
    ("anthropic/body-form", "There is nothing to say."),
    ("anthropic/model", UNNAMED),
    ("anthropic/setting-type", MEANT),
    ("anthropic/messages-not-empty", "There is nothing to say."),
    ("anthropic/role", "Who speaks is not known, and a result would name its call."),
    ("anthropic/content-form", "What the block is is not known."),
    ("gemini/contents", "There is nothing to say."),
    ("gemini/file-data", "Where the file is is not known."),
    ("gemini/function-count", MISSED),
    ("gemini/setting-type", MEANT),
    ("bedrock/setting-type", MEANT),
];

const MEANT: &str = "What the setting should be is not known.";
const MISSED: &str = "Which of too many functions can be missed is not known.";
const UNNAMED: &str = "Which model is meant is not known; `--model` names it.";

const PAGE: &str = "docs/rules.md";
const GENERATED: &str = "<!-- From here on generated from the rules and their fixtures: \
    `INTERLEAF_BLESS=1 cargo test -p interleaf-cli` -->\n";

/// Every rule, with its family.
pub(crate) fn all_rules() -> impl Iterator<Item = (Family, &'static Rule)> {
    Family::ALL.into_iter().flat_map(|family| rules(family).iter().map(move |rule| (family, rule)))
}

/// The path of a rule's fixture, from the root.
pub(crate) fn fixture(rule: &Rule, kind: &str) -> String {
    format!("fixtures/rules/{}.{kind}.json", rule.id)
}

fn read(rule: &Rule, kind: &str) -> String {
    let path = fixture(rule, kind);
    fs::read_to_string(root().join(&path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

pub(crate) fn ids(vendor: &Vendor, body: &str) -> BTreeSet<&'static str> {
    lint(vendor, body).unwrap().iter().map(|fault| fault.rule.id).collect()
}

/// Those who have a rule: who refuses the body that breaks it.
fn vendors_with(family: Family, rule: &Rule) -> Vec<&'static Vendor> {
    let bad = read(rule, "bad");
    let has = |vendor: &&Vendor| vendor.family == family && ids(vendor, &bad).contains(rule.id);
    VENDORS.iter().filter(has).collect()
}

/// Who has nothing against the body that breaks a rule but the rule.
fn vendor_of(family: Family, rule: &Rule) -> &'static Vendor {
    let bad = read(rule, "bad");
    let mut vendors = VENDORS.iter().filter(|vendor| vendor.family == family);
    let vendor = vendors.find(|vendor| ids(vendor, &bad) == BTreeSet::from([rule.id]));
    vendor.unwrap_or_else(|| panic!("{}: nobody finds it, and nothing else", rule.id))
}

/// What `lint --fix` makes of the body that breaks a rule, or why it makes nothing.
pub(crate) fn mended(vendor: &Vendor, rule: &Rule) -> Result<String, String> {
    let path = fixture(rule, "bad");
    let output = run_with(&["lint", &path, "--vendor", &vendor.name, "--fix"], b"");
    match output.status.code() {
        Some(0) => Ok(text(&output.stdout)),
        _ => Err(text(&output.stderr)),
    }
}

#[test]
fn every_rule_has_a_name_and_two_bodies_and_every_body_a_rule() {
    let mut expected = BTreeSet::new();
    for (family, rule) in all_rules() {
        assert!(rule.id.starts_with(&format!("{family}/")), "{}", rule.id);
        assert!(rule.sentence.ends_with(['.', '…']), "{}", rule.id);
        for kind in ["bad", "good"] {
            assert!(expected.insert(PathBuf::from(fixture(rule, kind))), "{} twice", rule.id);
        }
    }
    let mut found = BTreeSet::new();
    for family in Family::ALL {
        let folder = PathBuf::from(format!("fixtures/rules/{family}"));
        for file in fs::read_dir(root().join(&folder)).unwrap() {
            found.insert(folder.join(file.unwrap().file_name()));
        }
    }
    assert_eq!(found, expected);
}

#[test]
fn a_body_breaks_its_rule_alone_or_none() {
    for (family, rule) in all_rules() {
        let vendor = vendor_of(family, rule);
        assert_eq!(ids(vendor, &read(rule, "good")), BTreeSet::new(), "{}", rule.id);
    }
}

#[test]
fn what_lint_mends_is_clean() {
    let mut refused = Vec::new();
    for (family, rule) in all_rules() {
        let vendor = vendor_of(family, rule);
        match mended(vendor, rule) {
            Ok(body) => assert_eq!(ids(vendor, &body), BTreeSet::new(), "{}: {body}", rule.id),
            Err(_) => refused.push(rule.id),
        }
    }
    let expected: Vec<&str> = UNMENDED.iter().map(|(id, _)| *id).collect();
    assert_eq!(refused, expected, "refused, and what is said to be refused");
}

#[test]
fn a_model_is_named_by_whoever_asks_for_the_mended_body() {
    for (family, rule) in all_rules().filter(|(_, rule)| rule.id.ends_with("/model")) {
        let vendor = vendor_of(family, rule);
        let path = fixture(rule, "bad");
        let arguments = ["lint", &path, "--vendor", &vendor.name, "--fix", "--model", "m"];
        let output = run_with(&arguments, b"");
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let body = text(&output.stdout);
        assert!(body.contains(r#""model":"m""#), "{body}");
        assert_eq!(ids(vendor, &body), BTreeSet::new(), "{body}");
        assert!(text(&output.stderr).contains(&format!("added /model ({})", rule.id)));
    }
}

/// Other bodies than the fixtures: what they break, and what is left in the end.
#[test]
fn what_breaks_a_rule_in_another_way_is_mended_too() {
    let table = [
        // A format that does not say what it is.
        (
            "openai-responses/text-format",
            r#"{"model":"m","input":"hi","text":{"format":{"name":"x"},"verbosity":"low"}}"#,
            r#"{"model":"m","input":[{"type":"message","role":"user","content":"hi"}],"text":{"verbosity":"low"}}"#,
        ),
        // The result of a search whose beginning was cut away.
        (
            "anthropic/server-tool-pairs",
            r#"{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[
                {"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]},{"type":"text","text":"b"}]},
                {"role":"user","content":"c"}]}"#,
            r#"{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c"}]}"#,
        ),
        // What is left when a tool of the API's is not sent is the model's to go on with.
        (
            "anthropic/server-call-id",
            r#"{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[
                {"type":"text","text":"b "},{"type":"server_tool_use","id":"x","name":"web_search","input":{}}]}]}"#,
            r#"{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}"#,
        ),
        // Documents that only the API understands.
        (
            "bedrock/document-name-unique",
            r#"{"messages":[{"role":"user","content":[{"text":"a"},{"document":{"name":"d","source":{"text":"1"}}}]},
                {"role":"assistant","content":[{"text":"b"}]},
                {"role":"user","content":[{"text":"c"},{"document":{"name":"D","source":{"text":"2"}}}]}]}"#,
            r#"{"messages":[{"role":"user","content":[{"text":"a"},{"document":{"name":"d","source":{"text":"1"}}}]},{"role":"assistant","content":[{"text":"b"}]},{"role":"user","content":[{"text":"c"},{"document":{"name":"D 2","source":{"text":"2"}}}]}]}"#,
        ),
        // A tool of the API's own in the history, and none declared.
        (
            "bedrock/tool-config",
            r#"{"messages":[{"role":"user","content":[{"text":"a"}]},{"role":"assistant","content":[
                {"toolUse":{"toolUseId":"1","name":"nova_grounding","type":"server_tool_use","input":{}}},{"text":"b"}]},
                {"role":"user","content":[{"text":"c"}]}]}"#,
            r#"{"toolConfig":{"tools":[{"toolSpec":{"name":"nova_grounding","inputSchema":{"json":{"type":"object","properties":{}}}}}]},"messages":[{"role":"user","content":[{"text":"a"}]},{"role":"assistant","content":[{"toolUse":{"toolUseId":"1","name":"nova_grounding","type":"server_tool_use","input":{}}},{"text":"b"}]},{"role":"user","content":[{"text":"c"}]}]}"#,
        ),
    ];
    for (id, body, expected) in table {
        let family = id.split_once('/').unwrap().0;
        assert!(ids(Vendor::of(family.parse().unwrap()), body).contains(id), "{id}");
        let output = run_with(&["lint", "--api", family, "--fix"], body.as_bytes());
        assert_eq!(text(&output.stdout).trim_end(), expected, "{id}: {}", text(&output.stderr));
        assert_eq!(output.status.code(), Some(0), "{id}: {}", text(&output.stderr));
    }
}

#[test]
fn what_is_left_unmended_is_told_with_its_place_and_by_the_exit_code() {
    let body = br#"{"messages":[{"role":"user","content":"q"}]}"#;
    let single = run_with(&["lint", "--api", "openai-chat", "--fix"], body);
    assert_eq!(single.status.code(), Some(1));
    assert!(text(&single.stderr).contains("not mended: /: openai-chat/model"));
    let batch = run_with(&["lint", "--api", "openai-chat", "--fix", "--batch"], body);
    assert_eq!(batch.status.code(), Some(1), "{}", text(&batch.stdout));
}

#[test]
fn the_page_of_rules_is_fresh() {
    let path = root().join(PAGE);
    let page = fs::read_to_string(&path).unwrap();
    let (head, _) = page.split_once(GENERATED).unwrap();
    let fresh = format!("{head}{GENERATED}{}", tables());
    if page != fresh && std::env::var_os("INTERLEAF_BLESS").is_some() {
        fs::write(&path, &fresh).unwrap();
    } else {
        let advice = "INTERLEAF_BLESS=1 cargo test -p interleaf-cli writes it anew";
        assert!(page == fresh, "{PAGE} is not what the rules say: {advice}");
    }
}

fn tables() -> String {
    let mut out = String::new();
    for family in Family::ALL {
        out += &format!("\n## {family}\n\n");
        out += "| Rule | What must hold | What the API answers | Fixtures |\n|---|---|---|---|\n";
        for rule in rules(family) {
            out += &row(family, rule);
        }
    }
    out
}

fn row(family: Family, rule: &Rule) -> String {
    let name = rule.id.split_once('/').unwrap().1;
    let link = |kind: &str| format!("[{kind}](../{})", fixture(rule, kind));
    let (bad, good) = (link("bad"), link("good"));
    let sentence = cell(rule.sentence);
    let answer = if rule.api_text.is_empty() { String::new() } else { code(rule.api_text) };
    let whom = whom(family, rule);
    format!("| `{name}` | {sentence}{whom} | {answer} | {bad} · {good} |\n")
}

/// Whose rule it is, if it is not the family's.
fn whom(family: Family, rule: &Rule) -> String {
    let names = |vendors: &[&Vendor]| {
        let names: Vec<String> =
            vendors.iter().map(|vendor| format!("`{}`", vendor.name)).collect();
        names.join(", ")
    };
    let with = vendors_with(family, rule);
    let is_without = |vendor: &&Vendor| vendor.family == family && !with.contains(vendor);
    let without: Vec<&Vendor> = VENDORS.iter().filter(is_without).collect();
    match (with.len(), without.len()) {
        (_, 0) => String::new(),
        (n_with, n_without) if n_with <= n_without => format!(" Only {}.", names(&with)),
        _ => format!(" All but {}.", names(&without)),
    }
}

fn cell(text: &str) -> String {
    text.replace('|', r"\|").replace('<', "&lt;")
}

/// A span of code; what stands in it may have backticks.
fn code(text: &str) -> String {
    let text = text.replace('|', r"\|").replace('\n', " ");
    if text.contains('`') { format!("`` {text} ``") } else { format!("`{text}`") }
}
