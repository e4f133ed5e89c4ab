//! Rules of contents and their parts.

use serde_json::Value;

use crate::family::{Incoming, Rule, rules};
use crate::refusal::{Refusal, Verdict, demand};
use crate::value::{fields, list, text};

pub(super) const RULES: &[Rule] = rules![
    contents_are_given,
    roles_are_known,
    contents_have_parts,
    part_fields_are_known,
    parts_have_one_kind,
    parts_are_in_their_place,
    calls_have_a_form,
    responses_have_a_form,
    media_have_a_source,
    system_text_is_text,
];

/// What a part may be.
const KINDS: [&str; 9] = [
    "text",
    "inlineData",
    "fileData",
    "functionCall",
    "functionResponse",
    "executableCode",
    "codeExecutionResult",
    "toolCall",
    "toolResponse",
];

/// What a part of a response may be.
const RESPONSE_PARTS: [&str; 2] = ["inlineData", "fileData"];

/// What may stand beside it.
const SIBLINGS: [&str; 8] = [
    "thought",
    "thoughtSignature",
    "mediaResolution",
    "videoMetadata",
    "partMetadata",
    "audioTranscription",
    "mediaProcessing",
    "speechMetadata",
];

fn contents_are_given(incoming: &Incoming<'_>) -> Verdict {
    match &incoming.body["contents"] {
        Value::Array(contents) if !contents.is_empty() => {
            let odd = contents.iter().position(|content| !content.is_object());
            odd.map_or(Ok(()), |i| {
                Err(Refusal::new(format!("Invalid value at 'contents[{i}]' (type.googleapis.com/google.ai.generativelanguage.v1beta.Content)")))
            })
        }
        Value::Null | Value::Array(_) => {
            Err(Refusal::new("* GenerateContentRequest.contents: contents is not specified\n"))
        }
        _ => Err(Refusal::new(
            "Invalid value at 'contents' (type.googleapis.com/google.ai.generativelanguage.v1beta.Content)",
        )),
    }
}

/// The contents with their numbers.
pub(super) fn contents<'a>(incoming: &Incoming<'a>) -> impl Iterator<Item = (usize, &'a Value)> {
    list(&incoming.body["contents"]).iter().enumerate()
}

/// All parts: where each stands, whose it is, and the part.
fn parts<'a>(incoming: &Incoming<'a>) -> impl Iterator<Item = (String, &'a str, &'a Value)> {
    contents(incoming).flat_map(|(i, content)| {
        let role = text(&content["role"]);
        let parts = list(&content["parts"]).iter().enumerate();
        parts.map(move |(j, part)| (format!("contents[{i}].parts[{j}]"), role, part))
    })
}

fn roles_are_known(incoming: &Incoming<'_>) -> Verdict {
    for (_, content) in contents(incoming) {
        match &content["role"] {
            Value::Null => {}
            role if role == "user" || role == "model" => {}
            role if role == "system" => {
                return Err(Refusal::new("Content with system role is not supported."));
            }
            _ => return Err(Refusal::new("Please use a valid role: user, model.")),
        }
    }
    Ok(())
}

fn contents_have_parts(incoming: &Incoming<'_>) -> Verdict {
    for (i, content) in contents(incoming) {
        demand(!list(&content["parts"]).is_empty(), || {
            Refusal::new(format!(
                "* GenerateContentRequest.contents[{i}].parts: contents.parts must not be empty.\n"
            ))
        })?;
    }
    Ok(())
}

fn part_fields_are_known(incoming: &Incoming<'_>) -> Verdict {
    for (i, content) in contents(incoming) {
        let unknown = fields(content).find(|(name, _)| !["role", "parts"].contains(name));
        unknown.map_or(Ok(()), |(name, _)| Err(unknown_name(name, &format!("contents[{i}]"))))?;
    }
    for (at, _, part) in parts(incoming) {
        let is_known = |name: &str| KINDS.contains(&name) || SIBLINGS.contains(&name);
        let unknown = fields(part).find(|(name, _)| !is_known(name));
        unknown.map_or(Ok(()), |(name, _)| Err(unknown_name(name, &at)))?;
    }
    Ok(())
}

/// What Google says of a name that it does not know.
pub(super) fn unknown_name(name: &str, at: &str) -> Refusal {
    let at = if at.is_empty() { String::new() } else { format!(" at '{at}'") };
    Refusal::new(format!(
        "Invalid JSON payload received. Unknown name \"{name}\"{at}: Cannot find field."
    ))
}

fn parts_have_one_kind(incoming: &Incoming<'_>) -> Verdict {
    for (at, _, part) in parts(incoming) {
        let n = KINDS.iter().filter(|kind| part.get(**kind).is_some()).count();
        demand(n > 0, || {
            Refusal::new(format!(
                "* GenerateContentRequest.{at}.data: required oneof field 'data' must have one initialized field\n"
            ))
        })?;
        demand(n == 1, || {
            Refusal::new(format!(
                "Invalid value at '{at}' (oneof), oneof field 'data' is already set."
            ))
        })?;
        let signature = text(&part["thoughtSignature"]);
        let is_base64 = |c: char| c.is_ascii_alphanumeric() || "+/=_-".contains(c);
        demand(signature.chars().all(is_base64), || {
            Refusal::new(format!(
                "Invalid value at '{at}.thought_signature' (TYPE_BYTES), Base64 decoding failed for \"{signature}\""
            ))
        })?;
        demand(part.get("text").is_none_or(Value::is_string), || {
            Refusal::new(format!("Invalid value at '{at}.text' (TYPE_STRING), {}", part["text"]))
        })?;
    }
    Ok(())
}

fn parts_are_in_their_place(incoming: &Incoming<'_>) -> Verdict {
    for (_, role, part) in parts(incoming) {
        let is_call = part.get("functionCall").is_some();
        demand(!is_call || role == "model", || {
            Refusal::new(
                "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
            )
        })?;
        let is_response = part.get("functionResponse").is_some();
        demand(!is_response || role != "model", || {
            Refusal::new(
                "Please ensure that function response turn comes immediately after a function call turn.",
            )
        })?;
    }
    Ok(())
}

fn calls_have_a_form(incoming: &Incoming<'_>) -> Verdict {
    for (at, _, part) in parts(incoming) {
        let Some(call) = part.get("functionCall") else { continue };
        demand(!text(&call["name"]).is_empty(), || {
            Refusal::new(format!(
                "* GenerateContentRequest.{at}.function_call.name: [FIELD_INVALID] Name cannot be empty.\n"
            ))
        })?;
        demand(call["args"].is_null() || call["args"].is_object(), || {
            Refusal::new(format!(
                "Invalid value at '{at}.function_call.args' (type.googleapis.com/google.protobuf.Struct), {}",
                call["args"]
            ))
        })?;
    }
    Ok(())
}

fn responses_have_a_form(incoming: &Incoming<'_>) -> Verdict {
    for (at, _, part) in parts(incoming) {
        let Some(response) = part.get("functionResponse") else { continue };
        let at = format!("{at}.function_response");
        demand(!text(&response["name"]).is_empty(), || {
            Refusal::new(format!(
                "* GenerateContentRequest.{at}.name: [FIELD_INVALID] Name cannot be empty.\n"
            ))
        })?;
        for (i, inner) in list(&response["parts"]).iter().enumerate() {
            let unknown = fields(inner).find(|(name, _)| !RESPONSE_PARTS.contains(name));
            unknown
                .map_or(Ok(()), |(name, _)| Err(unknown_name(name, &format!("{at}.parts[{i}]"))))?;
            let is_medium = inner.get("inlineData").is_some() || inner.get("fileData").is_some();
            demand(is_medium, || {
                Refusal::new(format!(
                    "* GenerateContentRequest.{at}.parts[{i}].data: required oneof field 'data' must have one initialized field\n"
                ))
            })?;
        }
        let given = &response["response"];
        demand(!given.is_null(), || {
            Refusal::new(format!(
                "* GenerateContentRequest.{at}.response: [REQUIRED_FIELD_MISSING]\n"
            ))
        })?;
        demand(given.is_object(), || {
            Refusal::new(format!(
                "Invalid value at '{at}.response' (type.googleapis.com/google.protobuf.Struct), {given}"
            ))
        })?;
    }
    Ok(())
}

fn media_have_a_source(incoming: &Incoming<'_>) -> Verdict {
    let mut all: Vec<(String, &Value)> = Vec::new();
    for (at, _, part) in parts(incoming) {
        for (i, inner) in list(&part["functionResponse"]["parts"]).iter().enumerate() {
            all.push((format!("{at}.function_response.parts[{i}]"), inner));
        }
        all.push((at, part));
    }
    for (at, part) in all {
        if let Some(data) = part.get("inlineData") {
            demand(!text(&data["mimeType"]).is_empty(), || {
                Refusal::new(format!(
                    "* GenerateContentRequest.{at}.inline_data.mime_type: [REQUIRED_FIELD_MISSING]\n"
                ))
            })?;
            let is_base64 = |c: char| c.is_ascii_alphanumeric() || "+/=-_".contains(c);
            let data = text(&data["data"]);
            demand(!data.is_empty() && data.chars().all(is_base64), || {
                Refusal::new(format!(
                    "Invalid value at '{at}.inline_data.data' (TYPE_BYTES), Base64 decoding failed"
                ))
            })?;
        }
        if let Some(data) = part.get("fileData") {
            demand(!text(&data["fileUri"]).is_empty(), || {
                Refusal::new(format!(
                    "* GenerateContentRequest.{at}.file_data.file_uri: [REQUIRED_FIELD_MISSING]\n"
                ))
            })?;
        }
    }
    Ok(())
}

fn system_text_is_text(incoming: &Incoming<'_>) -> Verdict {
    let system = &incoming.body["systemInstruction"];
    if system.is_null() {
        return Ok(());
    }
    let parts = list(&system["parts"]);
    demand(!parts.is_empty() && parts.iter().all(|part| part["text"].is_string()), || {
        Refusal::new(
            "* GenerateContentRequest.system_instruction.parts: system instruction must have text parts.\n",
        )
    })
}
