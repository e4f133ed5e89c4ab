//! Bodies that lie in `fixtures/`.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use interleaf_model::{Entry, Prompt, Provenance, Role};
use interleaf_wire::{Family, Vendor, decode_request, encode};

use super::{Case, Kind};

/// Bodies of servers that imitate OpenAI have fields that OpenAI does not know.
const IMITATED: [&str; 3] = ["last-message", "reasoning-lost", "reasoning-name"];

/// Bodies with fields that nobody knows, to see that they survive.
const MADE_UP: [&str; 3] = ["unknown", "unknown-fields", "every-field"];

/// Bodies that break a rule that a type can say, below a list.
const WRONG: [(Family, &str); 5] = [
    (Family::OpenaiChat, "call"),
    (Family::OpenaiResponses, "arguments-text"),
    (Family::Anthropic, "thinking-signed"),
    (Family::Gemini, "call-args"),
    (Family::Bedrock, "one-kind"),
];

fn read(family: Family, folder: &str, ending: &str) -> Vec<Case> {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures"));
    let mut cases = Vec::new();
    for file in fs::read_dir(root.join(folder).join(family.as_str())).unwrap() {
        let path = file.unwrap().path();
        let file = path.file_name().unwrap().to_str().unwrap();
        if let Some(name) = file.strip_suffix(ending)
            && !MADE_UP.contains(&name)
        {
            let body = fs::read_to_string(&path).unwrap();
            cases.push(Case {
                kind: Kind::Request,
                family,
                name: format!("{folder}/{family}/{name}"),
                body,
            });
        }
    }
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    cases
}

/// Bodies that keep our rules, and bodies with every part.
pub(super) fn as_they_are() -> Vec<Case> {
    let read = |family| {
        let mut cases = read(family, "rules", ".good.json");
        cases.extend(self::read(family, "exchanges", ".request.json"));
        cases
    };
    let mut cases: Vec<Case> = Family::ALL.into_iter().flat_map(read).collect();
    cases.retain(|case| !IMITATED.iter().any(|name| case.name.ends_with(name)));
    cases
}

/// The same bodies, read and written for every API.
pub(super) fn carried() -> Vec<Case> {
    let mut cases = Vec::new();
    for case in as_they_are() {
        let request = decode_request(case.family, &case.body).unwrap();
        let mut options = request.options;
        if options.model.is_empty() {
            options.model = "a-model".into();
        }
        let entry =
            |message| Entry { message: Arc::new(message), provenance: Provenance::Original };
        let mut entries: Vec<Entry> = request.messages.into_iter().map(entry).collect();
        entries.sort_by_key(|entry| entry.message.role() != Role::System);
        // A history that is broken is not written.
        let Ok(prompt) = Prompt::check_for(crate::taking_blanks(), entries, request.tools.into())
        else {
            continue;
        };
        for family in Family::ALL {
            // What continues an answer of OpenAI's is written for no other.
            let Ok(encoded) = encode(&prompt, Vendor::of(family), &options) else {
                assert!(
                    options.rest.get(Family::OpenaiResponses, "previous_response_id").is_some()
                );
                continue;
            };
            let body = String::from_utf8(encoded.to_bytes()).unwrap();
            cases.push(Case {
                kind: Kind::Request,
                family,
                name: format!("from {}", case.name),
                body,
            });
        }
    }
    cases
}

/// A body of each API that its types must refuse.
pub(super) fn wrong() -> Vec<Case> {
    let read = |(family, rule)| {
        let name = format!("rules/{family}/{rule}");
        read(family, "rules", ".bad.json").into_iter().find(|case| case.name == name).unwrap()
    };
    WRONG.map(read).into()
}
