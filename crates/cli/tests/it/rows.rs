//! The errors that people met and reported: each that can be seen in a body is a rule,
//! found and mended for whom it was reported.

use std::collections::BTreeSet;

use interleaf::wire::Vendor;
use interleaf::wire::lint::Rule;

use super::root;
use super::rules::{UNMENDED, all_rules, fixture, ids, mended};

/// What becomes of a reported error.
enum Row {
    /// A body shows it: whom it is sent to, and the rules that it breaks.
    Seen(&'static str, &'static [&'static str]),
    /// No body shows it.
    Unseen,
}

use Row::{Seen, Unseen};

const ROWS: [Row; 57] = [
    Seen("openai", &["openai-chat/unanswered-call"]),
    Seen("openai", &["openai-chat/orphan-result"]),
    Seen("openai", &["openai-chat/calls-empty"]),
    Seen("openai", &["openai-chat/messages"]),
    Seen("lm-studio", &["openai-chat/null-content"]),
    Seen("openai", &["openai-chat/call-id"]),
    Seen("openai", &["openai-chat/tool-name"]),
    Seen("openai", &["openai-chat/media-in-user"]),
    Seen("openai", &["openai-chat/effort-with-tools"]),
    // 10
    Seen("openai-responses", &["openai-responses/reasoning-followed"]),
    Seen("openai-responses", &["openai-responses/reasoning-kept"]),
    Seen("openai-responses", &["openai-responses/output-has-call"]),
    Seen("openai-responses", &["openai-responses/call-answered", "openai-responses/output-id"]),
    Seen("openai-responses", &["openai-responses/stored-only"]),
    Seen("openai-responses", &["openai-responses/item-id-unique"]),
    Seen("openai-responses", &["openai-responses/item-id-prefix"]),
    Seen("openai-responses", &["openai-responses/call-id-length"]),
    // Only a text that was cut; a whole one of another account looks like any other.
    Seen("openai-responses", &["openai-responses/reasoning-sealed"]),
    Seen("openai-responses", &["openai-responses/reasoning-summary"]),
    // 20
    Seen("openai-responses", &["openai-responses/namespace"]),
    Seen("openai-responses", &["openai-responses/output-call-id"]),
    Seen("anthropic", &["anthropic/calls-answered", "anthropic/results-first"]),
    Seen("anthropic", &["anthropic/result-has-call"]),
    Seen("anthropic", &["anthropic/server-tool-pairs"]),
    Seen("anthropic", &["anthropic/one-result"]),
    Seen("anthropic", &["anthropic/call-ids-unique"]),
    Seen("anthropic", &["anthropic/call-id"]),
    Seen("anthropic", &["anthropic/text-not-blank", "anthropic/message-not-empty"]),
    Seen("anthropic", &["anthropic/prefill-trailing-space"]),
    // 30
    Seen("anthropic", &["anthropic/no-prefill"]),
    Seen("anthropic", &["anthropic/thinking-first"]),
    Seen("anthropic", &["anthropic/thinking-off"]),
    // Only what was merged twice into one message; what was left out does not show.
    Seen("anthropic", &["anthropic/thinking-unchanged"]),
    Seen("anthropic", &["anthropic/thinking-foreign"]),
    // A signature does not tell which conversation it was made in.
    Unseen,
    Seen("anthropic", &["anthropic/cache-mark-count"]),
    Seen("anthropic", &["anthropic/cache-mark-place"]),
    Seen("anthropic", &["anthropic/schema-top-level"]),
    Seen("google", &["gemini/call-order", "gemini/response-order"]),
    // 40
    Seen("google", &["gemini/response-count"]),
    Seen("google", &["gemini/parts", "gemini/part-data"]),
    Seen("google", &["gemini/signature"]),
    Seen("google", &["gemini/schema-keyword", "gemini/schema-type"]),
    Seen("google", &["gemini/response-id"]),
    Seen("bedrock", &["bedrock/calls-answered"]),
    Seen("bedrock", &["bedrock/results-called", "bedrock/result-once"]),
    Seen("bedrock", &["bedrock/tool-config"]),
    Seen("bedrock", &["bedrock/results-alone"]),
    Seen("bedrock", &["bedrock/text-blank", "bedrock/result-error-empty"]),
    // 50
    Seen("mistral", &["openai-chat/exact-call-id"]),
    Seen("mistral", &["openai-chat/user-after-result"]),
    Seen("mistral", &["openai-chat/last-message", "openai-chat/unanswered-call"]),
    Seen("deepseek", &["openai-chat/reasoning-lost"]),
    Seen("llama-cpp", &["openai-chat/alternation"]),
    Seen("vllm", &["openai-chat/one-system"]),
    // The arguments are an object in Ollama's own API, which is none of the five.
    Seen("ollama", &["openai-chat/plain-content"]),
    Seen("vllm", &["openai-chat/reasoning-name"]),
];

/// What the API refuses but nobody can mend: a request without a message.
const REFUSED: &[&str] = &["openai-chat/messages"];

fn rule(id: &str) -> &'static Rule {
    let found = all_rules().map(|(_, rule)| rule).find(|rule| rule.id == id);
    found.unwrap_or_else(|| panic!("there is no rule {id}"))
}

#[test]
fn every_reported_error_is_found_and_mended() {
    for (number, row) in (1..).zip(&ROWS) {
        let Seen(vendor, breaks) = row else { continue };
        let vendor = Vendor::named(vendor).unwrap();
        for rule in breaks.iter().map(|id| rule(id)) {
            let bad = std::fs::read_to_string(root().join(fixture(rule, "bad"))).unwrap();
            assert!(ids(vendor, &bad).contains(rule.id), "{number}: {}", rule.id);
            if REFUSED.contains(&rule.id) {
                assert!(UNMENDED.iter().any(|(id, _)| *id == rule.id), "{number}: {}", rule.id);
                continue;
            }
            let body = mended(vendor, rule).unwrap_or_else(|e| panic!("{number}: {e}"));
            assert_eq!(ids(vendor, &body), BTreeSet::new(), "{number}: {}\n{body}", rule.id);
        }
    }
}
