//! The parts of a content list.

use super::facts::Facts;
use super::rules;
use crate::lint::Faults;
use crate::tree::Value;

pub(super) fn check(list: &[Value], role: &str, at: &str, facts: &Facts, faults: &mut Faults) {
    let n_refusals = list.iter().filter(|part| part["type"] == "refusal").count();
    if n_refusals > 0 && list.len() > 1 {
        faults.add(&rules::REFUSAL, at, format!("{} parts", list.len()));
    }
    for (i, part) in list.iter().enumerate() {
        check_part(part, role, &format!("{at}/{i}"), facts, faults);
    }
}

fn check_part(part: &Value, role: &str, at: &str, facts: &Facts, faults: &mut Faults) {
    let Some(kind) = part["type"].as_str() else {
        faults.add(&rules::PART, at, "it has no type");
        return;
    };
    let missing = match kind {
        "text" if !part["text"].is_string() => Some("`text`"),
        "refusal" if !part["refusal"].is_string() => Some("`refusal`"),
        "refusal" if role != "assistant" => Some("the role assistant"),
        "image_url" if address(part).is_none() => Some("`image_url.url`"),
        "input_audio" => audio_misses(&part["input_audio"]),
        "file" => {
            let file = &part["file"];
            let has_source = file["file_data"].is_string() || file["file_id"].is_string();
            (!has_source).then_some("`file.file_data` or `file.file_id`")
        }
        _ => None,
    };
    if let Some(missing) = missing {
        faults.add(&rules::PART, at, format!("{kind} needs {missing}"));
    }
    if matches!(kind, "image_url" | "input_audio" | "file") && role != "user" {
        faults.add(&rules::MEDIA, at, format!("{kind} in a message of role {role}"));
    }
    if let ("image_url", Some(url)) = (kind, address(part)) {
        let scheme = url.split(':').next().unwrap_or_default().to_ascii_lowercase();
        if !matches!(&*scheme, "https" | "http" | "data") {
            faults.add(&rules::IMAGE, format!("{at}/image_url/url"), "");
        } else if facts.quirks.inline_images && scheme != "data" {
            faults.add(&rules::INLINE_IMAGE, format!("{at}/image_url/url"), "");
        }
    }
    check_cache_mark(part, role, at, faults);
    let known = ["type", "name", "detail", kind];
    let fields = part.as_object().filter(|_| facts.quirks.known_fields && kind != "thinking");
    for name in fields.into_iter().flat_map(|fields| fields.keys()) {
        if !known.contains(&name) {
            faults.add(&rules::KNOWN_FIELDS, format!("{at}/{name}"), "");
        }
    }
}

fn address(part: &Value) -> Option<&str> {
    part["image_url"]["url"].as_str()
}

fn audio_misses(audio: &Value) -> Option<&'static str> {
    if !audio["data"].is_string() {
        return Some("`input_audio.data`");
    }
    let is_known = audio["format"] == "wav" || audio["format"] == "mp3";
    (!is_known).then_some("`input_audio.format`, which is wav or mp3")
}

fn check_cache_mark(part: &Value, role: &str, at: &str, faults: &mut Faults) {
    let mark = &part["prompt_cache_breakpoint"];
    if mark.is_null() {
        return;
    }
    let at = format!("{at}/prompt_cache_breakpoint");
    if role == "assistant" {
        faults.add(&rules::CACHE, at, "in an assistant message");
    } else if !mark["ttl"].is_null() && mark["ttl"] != "30m" {
        faults.add(&rules::CACHE, format!("{at}/ttl"), mark["ttl"].to_string());
    } else if !mark.is_object() {
        faults.add(&rules::CACHE, at, "must be an object");
    }
}
