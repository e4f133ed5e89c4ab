//! Whatever is read, it is read or refused, and an error names a place inside the text.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::path::Path;

use proptest::prelude::*;
use proptest::sample::{Index, select};

use interleaf_wire::lint::lint;
use interleaf_wire::{Family, VENDORS, decode_request};

/// Pieces that turn one valid token into another.
const SPLICES: [&str; 16] = [
    "", "null", "[]", "{}", "\"\"", "1e9", "true", "\"tool\"", ",", ":", "{", "]", "\\", "\"",
    "\\ud800", "é",
];

/// Bodies with every part and with fields that nobody knows, to be broken in any place.
fn bodies(family: Family) -> Vec<String> {
    let names: &[&str] = match family {
        Family::OpenaiChat => &["exchanges/openai-chat/unknown-fields.request.json"],
        Family::OpenaiResponses => &["exchanges/openai-responses/unknown-fields.request.json"],
        Family::Anthropic => &[
            "exchanges/anthropic/every-part.request.json",
            "exchanges/anthropic/unknown-fields.request.json",
        ],
        Family::Gemini => {
            &["exchanges/gemini/full.request.json", "exchanges/gemini/unknown.request.json"]
        }
        Family::Bedrock => &[
            "exchanges/bedrock/every-part.request.json",
            "exchanges/bedrock/every-field.request.json",
        ],
    };
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures"));
    names.iter().map(|name| std::fs::read_to_string(root.join(name)).unwrap()).collect()
}

fn family_and_body() -> impl Strategy<Value = (Family, String)> {
    let all = Family::ALL.into_iter();
    select(
        all.flat_map(|family| bodies(family).into_iter().map(move |body| (family, body)))
            .collect::<Vec<_>>(),
    )
}

fn read_or_refused(family: Family, text: &str) -> Result<(), TestCaseError> {
    for vendor in VENDORS.iter().filter(|vendor| vendor.family == family) {
        let _ = lint(vendor, text);
    }
    let Err(error) = decode_request(family, text) else { return Ok(()) };
    if let Some((line, column)) = error.place().line_column {
        let width = text.split('\n').nth(line - 1).map(|line| line.chars().count());
        prop_assert!(column >= 1, "{error}");
        prop_assert!(width.is_some_and(|width| column <= width + 1), "{error}");
    }
    Ok(())
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(family in select(Family::ALL.to_vec()), text in any::<String>()) {
        read_or_refused(family, &text)?;
    }

    #[test]
    fn a_broken_body_is_read_or_refused(
        (family, body) in family_and_body(),
        cuts in prop::collection::vec((any::<Index>(), 0_usize..12, select(SPLICES.to_vec())), 1..4),
    ) {
        let mut body: Vec<char> = body.chars().collect();
        for (at, len, splice) in cuts {
            let start = at.index(body.len());
            let end = (start + len).min(body.len());
            body.splice(start..end, splice.chars());
        }
        read_or_refused(family, &body.iter().collect::<String>())?;
    }

    #[test]
    fn a_value_of_any_type_in_any_place_is_read_or_refused(
        (family, mut body) in family_and_body(),
        tokens in prop::collection::vec((any::<Index>(), select(SPLICES[1..8].to_vec())), 1..4),
    ) {
        for (at, token) in tokens {
            // The body stays JSON: only whole strings and numbers are replaced.
            let values: Vec<(usize, &str)> = body
                .match_indices(':')
                .filter_map(|(i, _)| {
                    let rest = &body[i + 1..];
                    let value: &serde_json::value::RawValue =
                        serde_json::Deserializer::from_str(rest).into_iter().next()?.ok()?;
                    Some((i + 1, value.get()))
                })
                .collect();
            prop_assume!(!values.is_empty());
            let (start, value) = values[at.index(values.len())];
            let end = start + value.len();
            body.replace_range(start..end, token);
        }
        read_or_refused(family, &body)?;
    }
}
