//! Rules of content blocks.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::Api;
use crate::claude::claude;
use crate::family::{Incoming, Rule, rules};
use crate::place::blocks;
use crate::refusal::{Refusal, Verdict, demand};
use crate::seal::is_sealed;
use crate::value::{is_blank, is_name, list, text};

pub(super) const RULES: &[Rule] = rules![
    blocks_have_one_kind,
    blocks_are_in_their_place,
    texts_are_not_blank,
    calls_have_a_form,
    results_have_a_form,
    media_have_a_form,
    documents_are_named,
    documents_come_with_a_text,
    media_are_few,
    thoughts_are_signed,
];

#[rustfmt::skip]
const KINDS: [&str; 14] = [
    "text", "image", "document", "video", "audio", "toolUse", "toolResult", "guardContent",
    "cachePoint", "reasoningContent", "citationsContent", "searchResult", "toolAddition",
    "toolRemoval",
];

fn blocks_have_one_kind(incoming: &Incoming<'_>) -> Verdict {
    for place in blocks(incoming) {
        let n = KINDS.iter().filter(|kind| !place.block[**kind].is_null()).count();
        let unknown = place
            .block
            .as_object()
            .and_then(|block| block.keys().find(|name| !KINDS.contains(&name.as_str())));
        demand(n == 1 && unknown.is_none(), || {
            let at = place.at();
            let kinds = KINDS.join(", ");
            Refusal::new(format!(
                "The ContentBlock object at {at} must set one of the following keys: {kinds}."
            ))
        })?;
    }
    Ok(())
}

fn blocks_are_in_their_place(incoming: &Incoming<'_>) -> Verdict {
    for place in blocks(incoming) {
        let of_user = ["image", "document", "video", "audio", "toolResult"];
        let of_assistant = ["toolUse", "reasoningContent"];
        let has = |kinds: &[&str]| kinds.iter().any(|kind| place.block.get(*kind).is_some());
        let is_right = match place.role {
            "assistant" => !has(&of_user),
            "system" => !has(&of_user) && !has(&of_assistant),
            _ => !has(&of_assistant),
        };
        demand(is_right, || {
            let other = if place.role == "assistant" { "user" } else { "assistant" };
            Refusal::new(format!(
                "The content block at {} is not allowed in a message of the {} role; it belongs to the {other} role.",
                place.at(),
                place.role
            ))
        })?;
    }
    Ok(())
}

fn texts_are_not_blank(incoming: &Incoming<'_>) -> Verdict {
    let refuse = |at: String| {
        let rule = "is blank. Add text to the text field, and try again.";
        Err(Refusal::new(format!("The text field in the ContentBlock object at {at} {rule}")))
    };
    let blank = |block: &Value| {
        let text = &block["text"];
        !text.is_null() && text.as_str().is_none_or(is_blank)
    };
    for (i, block) in list(&incoming.body["system"]).iter().enumerate() {
        if blank(block) {
            return refuse(format!("system.{i}"));
        }
    }
    for place in blocks(incoming) {
        if blank(place.block) {
            return refuse(place.at());
        }
        for (i, inner) in list(&place.block["toolResult"]["content"]).iter().enumerate() {
            if blank(inner) {
                return refuse(format!("{}.toolResult.content.{i}", place.at()));
            }
        }
    }
    Ok(())
}

fn calls_have_a_form(incoming: &Incoming<'_>) -> Verdict {
    for place in blocks(incoming) {
        let Some(call) = place.block.get("toolUse") else { continue };
        let at = place.at();
        id(&format!("{at}.toolUse.toolUseId"), &call["toolUseId"], incoming.model)?;
        demand(is_name(text(&call["name"]), "_-", 64), || {
            pattern(&format!("{at}.toolUse.name"), text(&call["name"]), "[a-zA-Z0-9_-]+")
        })?;
        demand(call["input"].is_object(), || {
            Refusal::new(format!(
                "The format of the value at {at}.toolUse.input is invalid. Provide a json object for the field and try again."
            ))
        })?;
    }
    Ok(())
}

/// Claude behind Bedrock takes fewer signs than Bedrock itself.
fn id(at: &str, value: &Value, model: &str) -> Verdict {
    let (signs, words) = match claude(model).is_some() {
        true => ("_-", "[a-zA-Z0-9_-]+"),
        false => ("_.:-", "[a-zA-Z0-9_.:-]+"),
    };
    demand(is_name(text(value), signs, 64), || pattern(at, text(value), words))
}

pub(super) fn pattern(at: &str, value: &str, pattern: &str) -> Refusal {
    Refusal::new(format!(
        "1 validation error detected: Value '{value}' at '{at}' failed to satisfy constraint: Member must satisfy regular expression pattern: {pattern}"
    ))
}

fn results_have_a_form(incoming: &Incoming<'_>) -> Verdict {
    for place in blocks(incoming) {
        let Some(result) = place.block.get("toolResult") else { continue };
        let at = format!("{}.toolResult", place.at());
        id(&format!("{at}.toolUseId"), &result["toolUseId"], incoming.model)?;
        let (content, status) = (&result["content"], &result["status"]);
        demand(content.is_array(), || {
            Refusal::new(format!("The content field at {at} must be a list."))
        })?;
        demand(status.is_null() || ["success", "error"].contains(&text(status)), || {
            Refusal::new(format!(
                "1 validation error detected: Value '{}' at '{at}.status' failed to satisfy constraint: Member must satisfy enum value set: [success, error]",
                text(status)
            ))
        })?;
        demand(status != "error" || !list(content).is_empty(), || {
            Refusal::new(format!(
                "The content field at {at} cannot be empty when status value is error."
            ))
        })?;
        for (i, inner) in list(content).iter().enumerate() {
            let known = ["json", "text", "image", "document", "video", "searchResult"];
            let n = known.iter().filter(|kind| !inner[**kind].is_null()).count();
            let n_fields = inner.as_object().map_or(0, serde_json::Map::len);
            demand(n == 1 && n_fields == 1, || {
                Refusal::new(format!(
                    "The ToolResultContentBlock object at {at}.content.{i} must set one of the following keys: {}.",
                    known.join(", ")
                ))
            })?;
            demand(inner.get("json").is_none_or(Value::is_object), || {
                Refusal::new(format!(
                    "The format of the value at {at}.content.{i}.json is invalid. Provide a json object for the field and try again."
                ))
            })?;
        }
    }
    Ok(())
}

/// Pictures and files, in messages and in results: where each stands, its kind, and itself.
fn media<'a>(incoming: &Incoming<'a>) -> Vec<(String, &'static str, &'a Value)> {
    let mut media = Vec::new();
    let mut add = |at: String, block: &'a Value| {
        for kind in ["image", "document", "video", "audio"] {
            if let Some(medium) = block.get(kind) {
                media.push((format!("{at}.{kind}"), kind, medium));
            }
        }
    };
    for place in blocks(incoming) {
        add(place.at(), place.block);
        for (i, inner) in list(&place.block["toolResult"]["content"]).iter().enumerate() {
            add(format!("{}.toolResult.content.{i}", place.at()), inner);
        }
    }
    media
}

fn media_have_a_form(incoming: &Incoming<'_>) -> Verdict {
    for (at, kind, medium) in media(incoming) {
        let formats: &[&str] = match kind {
            "image" => &["png", "jpeg", "gif", "webp"],
            "document" => &["pdf", "csv", "doc", "docx", "xls", "xlsx", "html", "txt", "md"],
            "video" => &["mkv", "mov", "mp4", "webm", "flv", "mpeg", "mpg", "wmv", "three_gp"],
            _ => &[
                "mp3", "opus", "wav", "aac", "flac", "mp4", "ogg", "mkv", "mka", "x-aac", "m4a",
                "mpeg", "mpga", "pcm", "webm",
            ],
        };
        let format = text(&medium["format"]);
        // A document need not say what it is.
        let may_lack = kind == "document" && medium["format"].is_null();
        demand(formats.contains(&format) || may_lack, || {
            let known = formats.join(", ");
            Refusal::new(format!(
                "1 validation error detected: Value '{format}' at '{at}.format' failed to satisfy constraint: Member must satisfy enum value set: [{known}]"
            ))
        })?;
        let sources: &[&str] = match kind {
            "document" => &["bytes", "s3Location", "text", "content"],
            _ => &["bytes", "s3Location"],
        };
        let n = sources.iter().filter(|source| !medium["source"][**source].is_null()).count();
        let bytes = &medium["source"]["bytes"];
        let is_base64 = |c: char| c.is_ascii_alphanumeric() || "+/=".contains(c);
        let is_data =
            bytes.is_null() || !text(bytes).is_empty() && text(bytes).chars().all(is_base64);
        let place = &medium["source"]["s3Location"];
        let is_place = place.is_null() || text(&place["uri"]).starts_with("s3://");
        let said = &medium["source"]["text"];
        let is_text = said.is_null() || said.as_str().is_some_and(|said| !is_blank(said));
        let content = &medium["source"]["content"];
        let is_content = content.is_null() || !list(content).is_empty();
        demand(n == 1 && is_data && is_place && is_text && is_content, || {
            let known = sources.join(", ");
            Refusal::new(format!(
                "The source at {at}.source must set one of the following keys: {known}."
            ))
        })?;
    }
    Ok(())
}

fn documents_are_named(incoming: &Incoming<'_>) -> Verdict {
    let mut seen = BTreeSet::new();
    for (at, _, document) in media(incoming).into_iter().filter(|(_, kind, _)| *kind == "document")
    {
        let name = text(&document["name"]);
        let is_right = is_name(name, " -()[]", 200) && !name.contains("  ");
        demand(is_right, || {
            Refusal::new(format!(
                "The document file name at {at}.name can only contain alphanumeric characters, whitespace characters, hyphens, parentheses, and square brackets. The name can't contain more than one consecutive whitespace character."
            ))
        })?;
        demand(seen.insert(name), || {
            Refusal::new(
                "Messages can't contain duplicate document names. Rename the document and retry your request.",
            )
        })?;
    }
    Ok(())
}

fn documents_come_with_a_text(incoming: &Incoming<'_>) -> Verdict {
    for message in list(&incoming.body["messages"]) {
        let has =
            |kind: &str| list(&message["content"]).iter().any(|block| block.get(kind).is_some());
        demand(!has("document") || has("text"), || {
            Refusal::new(
                "A text block must be included when a document is provided. Add a text block to the message and try again.",
            )
        })?;
    }
    Ok(())
}

fn media_are_few(incoming: &Incoming<'_>) -> Verdict {
    let n = |kind: &str| media(incoming).iter().filter(|(_, of, _)| *of == kind).count();
    demand(n("document") <= 5, || {
        Refusal::new("You can't include more than 5 documents in a request.")
    })?;
    demand(n("image") <= 20 || claude(incoming.model).is_some(), || {
        Refusal::new("You can't include more than 20 images in a request.")
    })
}

fn thoughts_are_signed(incoming: &Incoming<'_>) -> Verdict {
    let is_claude = claude(incoming.model).is_some();
    for place in blocks(incoming) {
        let Some(thought) = place.block.get("reasoningContent") else { continue };
        let at = place.at();
        let words = &thought["reasoningText"];
        let has = [words.is_object(), !thought["redactedContent"].is_null()];
        demand(has[0] != has[1], || {
            Refusal::new(format!(
                "The ReasoningContentBlock object at {at}.reasoningContent must set one of the following keys: reasoningText, redactedContent."
            ))
        })?;
        if !has[0] {
            continue;
        }
        demand(words["text"].is_string(), || {
            Refusal::new(format!(
                "The text field at {at}.reasoningContent.reasoningText is required."
            ))
        })?;
        let signature = text(&words["signature"]);
        let begins = "The model returned the following errors:";
        demand(!is_claude || !signature.is_empty(), || {
            Refusal::new(format!("{begins} {at}.thinking.signature: Field required"))
        })?;
        demand(words["signature"].is_null() || !signature.is_empty(), || {
            Refusal::new(format!(
                "The signature field at {at}.reasoningContent.reasoningText is blank."
            ))
        })?;
        let is_ours = is_sealed(Api::Bedrock, text(&words["text"]), signature);
        demand(!is_claude || !incoming.verify || is_ours, || {
            Refusal::new(format!("{begins} {at}: Invalid `signature` in `thinking` block"))
        })?;
    }
    Ok(())
}
