//! The parts of contents and outputs.

use super::{Report, Side, rules, text};
use crate::tree::Value;

pub(super) fn check_parts(parts: &[Value], side: Side, place: &str, report: &mut Report<'_>) {
    for (i, part) in parts.iter().enumerate() {
        check_part(part, side, &format!("{place}/{i}"), report);
    }
}

pub(super) fn check_part(part: &Value, side: Side, place: &str, report: &mut Report<'_>) {
    let Some(kind) = text(part, "type") else {
        return report(&rules::PART_FORM, place.into(), "it has no `type`".into());
    };
    let is_wrong = match kind {
        "input_text" | "input_image" | "input_file" => side == Side::Output,
        "output_text" | "refusal" => side == Side::Input,
        // Parts of other APIs.
        "text" | "image_url" | "image" | "file" | "input_audio" | "tool_use" | "tool_result" => {
            true
        }
        _ => false,
    };
    if is_wrong {
        return report(&rules::PART_DIRECTION, place.into(), format!("it is {kind:?}"));
    }
    match kind {
        "input_text" | "output_text" if text(part, "text").is_none() => {
            report(&rules::PART_FORM, place.into(), "it has no `text`".into());
        }
        "input_image" => check_media(part, &["image_url", "file_id"], place, report),
        "input_file" => check_media(part, &["file_data", "file_url", "file_id"], place, report),
        _ => {}
    }
    check_breakpoint(part, side, place, report);
}

fn check_media(part: &Value, sources: &[&str], place: &str, report: &mut Report<'_>) {
    let given = |name: &&&str| text(part, name).is_some_and(|source| !source.is_empty());
    if !sources.iter().any(|name| given(&name)) {
        return report(&rules::MEDIA_SOURCE, place.into(), String::new());
    }
    for name in ["image_url", "file_url"] {
        if let Some(url) = text(part, name)
            && !is_address(url)
        {
            report(&rules::MEDIA_URL, format!("{place}/{name}"), String::new());
        }
    }
}

/// Whether the API can fetch what stands at an address.
pub(in crate::openai_responses) fn is_address(url: &str) -> bool {
    let begins = |scheme: &str| {
        url.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    };
    let is_legal = !url.contains(|c: char| c.is_whitespace() || c.is_control());
    let is_inline = begins("data:")
        && url
            .split_once(',')
            .is_some_and(|(head, data)| head.ends_with(";base64") && !data.is_empty());
    is_legal && (is_inline || begins("https://") || begins("http://"))
}

fn check_breakpoint(part: &Value, side: Side, place: &str, report: &mut Report<'_>) {
    let Some(mark) = part.get("prompt_cache_breakpoint").filter(|mark| !mark.is_null()) else {
        return;
    };
    let place = format!("{place}/prompt_cache_breakpoint");
    if side == Side::Output {
        report(&rules::CACHE_BREAKPOINT, place, "it is on an assistant's part".into());
    } else if !mark.is_object() {
        report(&rules::CACHE_BREAKPOINT, place, "it is no object".into());
    } else if !lives(mark) {
        report(&rules::CACHE_BREAKPOINT, place, "its `ttl` is unknown".into());
    }
}

/// Whether a mark, or the options of the cache, live as long as the API lets them.
fn lives(value: &Value) -> bool {
    value.get("ttl").is_none_or(|ttl| ttl.is_null() || ttl == "30m" || ttl == "12h")
}

/// What is set for the whole cache.
pub(super) fn check_cache_options(body: &Value, report: &mut Report<'_>) {
    let place = "/prompt_cache_options";
    let Some(options) = body.pointer(place).filter(|options| !options.is_null()) else { return };
    let mode = options.get("mode").filter(|mode| !mode.is_null());
    if !options.is_object() {
        report(&rules::CACHE_BREAKPOINT, place.into(), "it is no object".into());
    } else if mode.is_some_and(|mode| mode != "implicit" && mode != "explicit") {
        report(&rules::CACHE_BREAKPOINT, format!("{place}/mode"), "it is unknown".into());
    } else if !lives(options) {
        report(&rules::CACHE_BREAKPOINT, format!("{place}/ttl"), "it is unknown".into());
    }
}
