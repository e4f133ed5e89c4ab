//! Rules of thought signatures.

use serde_json::Value;

use super::generation;
use crate::Api;
use crate::family::{Incoming, Rule, rules};
use crate::refusal::{Refusal, Verdict, demand};
use crate::seal::seal;
use crate::value::{list, text};

pub(super) const RULES: &[Rule] = rules![first_calls_are_signed, signatures_are_right];

/// What may stand in place of a signature for a history from elsewhere.
const DUMMIES: [&str; 2] =
    ["skip_thought_signature_validator", "context_engineering_is_the_way_to_go"];

/// The signature of a call.
pub(super) fn of_call(call: &Value) -> String {
    seal(Api::Gemini, &format!("{} {}", text(&call["name"]), call["args"]))
}

/// Whether a part is the literal, or what an SDK makes of it: bytes in base64.
fn is_dummy(signature: &str) -> bool {
    DUMMIES.iter().any(|dummy| {
        signature == *dummy || signature.trim_end_matches('=') == base64(dummy.as_bytes())
    })
}

/// Base64 without padding, in either alphabet for these letters.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let mut bits = [0u8; 3];
        bits[..three.len()].copy_from_slice(three);
        let all = u32::from_be_bytes([0, bits[0], bits[1], bits[2]]);
        for i in 0..=three.len() {
            text.push(char::from(LETTERS[(all >> (18 - 6 * i) & 63) as usize]));
        }
    }
    text
}

/// The contents of the current turn: all after the last that a person wrote.
fn current<'a>(incoming: &Incoming<'a>) -> impl Iterator<Item = (usize, &'a Value)> {
    let contents = list(&incoming.body["contents"]);
    let is_response = |part: &Value| part.get("functionResponse").is_some();
    let is_question = |content: &Value| {
        content["role"] != "model" && !list(&content["parts"]).iter().all(is_response)
    };
    let from = contents.iter().rposition(is_question).map_or(0, |at| at + 1);
    contents.iter().enumerate().skip(from)
}

fn first_calls_are_signed(incoming: &Incoming<'_>) -> Verdict {
    if generation(incoming.model) < 3.0 {
        return Ok(());
    }
    for (i, content) in current(incoming) {
        let mut parts = list(&content["parts"]).iter();
        let Some(part) = parts.find(|part| part.get("functionCall").is_some()) else { continue };
        let name = text(&part["functionCall"]["name"]);
        demand(!text(&part["thoughtSignature"]).is_empty(), || {
            let position = i + 1;
            Refusal::new(format!(
                "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call `default_api:{name}` , position {position}. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details."
            ))
        })?;
    }
    Ok(())
}

fn signatures_are_right(incoming: &Incoming<'_>) -> Verdict {
    if generation(incoming.model) < 3.0 || !incoming.verify {
        return Ok(());
    }
    for (_, content) in current(incoming) {
        for part in list(&content["parts"]) {
            let (Some(call), Some(given)) =
                (part.get("functionCall"), part["thoughtSignature"].as_str())
            else {
                continue;
            };
            demand(given == of_call(call) || is_dummy(given), || {
                Refusal::new("Corrupted thought signature.")
            })?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_literal_is_known_in_base64_too() {
        assert_eq!(base64(b"skip"), "c2tpcA");
        assert!(is_dummy("c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I="));
    }
}
