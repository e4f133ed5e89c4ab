//! Rules of content blocks.

use serde_json::Value;

use crate::family::{Incoming, Rule, rules};
use crate::place::{Place, blocks};
use crate::refusal::{Refusal, Verdict, demand};
use crate::value::{is_blank, is_name, list, text};

pub(super) const RULES: &[Rule] = rules![
    blocks_are_known,
    blocks_are_in_their_place,
    texts_are_not_blank,
    calls_have_a_form,
    results_have_a_form,
    media_have_a_source,
    the_new_version_takes_no_documents_from_the_assistant,
];

impl Place<'_> {
    pub(super) fn kind(&self) -> &str {
        text(&self.block["type"])
    }

    /// A refusal that names this place, and maybe a field of the block.
    pub(super) fn refuse(&self, field: &str, words: &str) -> Refusal {
        Refusal::new(format!("{}{field}: {words}", self.at()))
    }
}

/// Blocks that the API makes itself, and takes back as they are.
fn is_echoed(kind: &str) -> bool {
    let echoed = ["server_tool_use", "container_upload", "compaction", "fallback", "mcp_tool_use"];
    echoed.contains(&kind) || (kind.ends_with("_tool_result") && kind != "tool_result")
}

fn blocks_are_known(incoming: &Incoming<'_>) -> Verdict {
    const KNOWN: [&str; 11] = [
        "text",
        "image",
        "document",
        "search_result",
        "thinking",
        "redacted_thinking",
        "tool_use",
        "tool_result",
        "tool_addition",
        "tool_removal",
        "tool_reference",
    ];
    for place in blocks(incoming) {
        demand(place.block.is_object(), || place.refuse("", "Input should be an object"))?;
        let kind = place.kind();
        demand(!kind.is_empty(), || place.refuse(".type", "Field required"))?;
        demand(KNOWN.contains(&kind) || is_echoed(kind), || {
            let known = KNOWN[..8].iter().map(|known| format!("'{known}'")).collect::<Vec<_>>();
            let known = known.join(", ");
            let words = format!(
                "Input tag '{kind}' found using 'type' does not match any of the expected tags: {known}"
            );
            place.refuse("", &words)
        })?;
    }
    Ok(())
}

fn blocks_are_in_their_place(incoming: &Incoming<'_>) -> Verdict {
    for place in blocks(incoming) {
        let kind = place.kind();
        let of_assistant = ["thinking", "redacted_thinking", "tool_use", "server_tool_use"];
        let of_user = ["tool_result", "image", "search_result"];
        let is_right = match place.role {
            "assistant" => !of_user.contains(&kind),
            "system" => !of_user.contains(&kind) && !of_assistant.contains(&kind),
            _ => !of_assistant.contains(&kind),
        };
        demand(is_right, || {
            let owner = if of_user.contains(&kind) { "user" } else { "assistant" };
            let words = format!("`{kind}` blocks can only be in `{owner}` messages");
            Refusal::new(format!("messages.{}: {words}", place.message))
        })?;
    }
    Ok(())
}

fn not_blank(owner: &str, block: &Value) -> Verdict {
    if block["type"] != "text" {
        return Ok(());
    }
    let Some(text) = block["text"].as_str() else {
        return Err(Refusal::new(format!("{owner}.text: Field required")));
    };
    demand(!text.is_empty() || block["cache_control"].is_null(), || {
        Refusal::new(format!("{owner}: cache_control cannot be set for empty text blocks"))
    })?;
    demand(!text.is_empty(), || {
        Refusal::new(format!("{owner}: text content blocks must be non-empty"))
    })?;
    demand(!is_blank(text), || {
        Refusal::new(format!("{owner}: text content blocks must contain non-whitespace text"))
    })
}

fn texts_are_not_blank(incoming: &Incoming<'_>) -> Verdict {
    let system = &incoming.body["system"];
    for block in list(system) {
        not_blank("system", block)?;
    }
    for place in blocks(incoming) {
        not_blank("messages", place.block)?;
        let content = &place.block["content"];
        for inner in list(content) {
            not_blank("messages", inner)?;
        }
        // A result may be empty, but not blank.
        let said = text(if place.kind() == "tool_result" { content } else { &Value::Null });
        demand(said.is_empty() || !is_blank(said), || {
            Refusal::new("messages: text content blocks must contain non-whitespace text")
        })?;
    }
    Ok(())
}

fn calls_have_a_form(incoming: &Incoming<'_>) -> Verdict {
    for place in blocks(incoming) {
        let kind = place.kind().to_owned();
        if kind != "tool_use" && kind != "server_tool_use" {
            continue;
        }
        let id = text(&place.block["id"]);
        let field = |name: &str| format!(".{kind}.{name}");
        demand(place.block["id"].is_string(), || place.refuse(&field("id"), "Field required"))?;
        let (is_right, pattern) = match kind == "tool_use" {
            true => (is_name(id, "_-", usize::MAX), "^[a-zA-Z0-9_-]+$"),
            false => {
                let rest = id.strip_prefix("srvtoolu_");
                (
                    rest.is_some_and(|rest| is_name(rest, "_", usize::MAX)),
                    "^srvtoolu_[a-zA-Z0-9_]+$",
                )
            }
        };
        demand(is_right, || {
            place.refuse(&field("id"), &format!("String should match pattern '{pattern}'"))
        })?;
        let name = text(&place.block["name"]);
        demand(place.block["name"].is_string(), || place.refuse(&field("name"), "Field required"))?;
        demand(is_name(name, "_-", 128), || {
            place.refuse(&field("name"), "String should match pattern '^[a-zA-Z0-9_-]{1,128}$'")
        })?;
        demand(!place.block["input"].is_null(), || {
            place.refuse(&field("input"), "Field required")
        })?;
        demand(place.block["input"].is_object(), || {
            place.refuse(&field("input"), "Input should be a valid dictionary")
        })?;
    }
    Ok(())
}

fn results_have_a_form(incoming: &Incoming<'_>) -> Verdict {
    const KNOWN: [&str; 6] =
        ["text", "image", "document", "search_result", "tool_reference", "browser_state"];
    for place in blocks(incoming).filter(|place| place.kind() == "tool_result") {
        let id = &place.block["tool_use_id"];
        demand(id.is_string(), || place.refuse(".tool_result.tool_use_id", "Field required"))?;
        let content = &place.block["content"];
        demand(content.is_null() || content.is_string() || content.is_array(), || {
            place.refuse(".tool_result.content", "Input should be a valid list")
        })?;
        for (i, inner) in list(content).iter().enumerate() {
            let kind = text(&inner["type"]);
            demand(KNOWN.contains(&kind), || {
                let words = format!(
                    "Input tag '{kind}' found using 'type' does not match any of the expected tags: 'text', 'image', 'search_result', 'document'"
                );
                place.refuse(&format!(".tool_result.content.{i}"), &words)
            })?;
        }
        let is_error = &place.block["is_error"];
        demand(is_error.is_null() || is_error.is_boolean(), || {
            place.refuse(".tool_result.is_error", "Input should be a valid boolean")
        })?;
        let is_empty = content.is_null() || *content == "" || *content == Value::Array(Vec::new());
        demand(*is_error != true || !is_empty, || {
            place.refuse(".tool_result", "content cannot be empty if `is_error` is true")
        })?;
    }
    Ok(())
}

fn media_have_a_source(incoming: &Incoming<'_>) -> Verdict {
    for place in blocks(incoming) {
        medium(&place, "", place.block)?;
        for (i, inner) in list(&place.block["content"]).iter().enumerate() {
            medium(&place, &format!(".tool_result.content.{i}"), inner)?;
        }
    }
    Ok(())
}

fn medium(place: &Place<'_>, at: &str, block: &Value) -> Verdict {
    let kind = text(&block["type"]);
    let (sources, types): (&[&str], &[&str]) = match kind {
        "image" => {
            (&["base64", "url", "file"], &["image/jpeg", "image/png", "image/gif", "image/webp"])
        }
        "document" => (&["base64", "text", "content", "url", "file"], &["application/pdf"]),
        _ => return Ok(()),
    };
    let source = &block["source"];
    let at = format!("{at}.{kind}.source");
    demand(source.is_object(), || place.refuse(&at, "Field required"))?;
    let of = text(&source["type"]);
    demand(sources.contains(&of), || {
        let known = sources.iter().map(|known| format!("'{known}'")).collect::<Vec<_>>().join(", ");
        let words = format!(
            "Input tag '{of}' found using 'type' does not match any of the expected tags: {known}"
        );
        place.refuse(&at, &words)
    })?;
    let field = match of {
        "url" => "url",
        "file" => "file_id",
        "content" => "content",
        _ => "data",
    };
    let has = source[field].is_string() || of == "content" && source[field].is_array();
    demand(has, || place.refuse(&format!("{at}.{of}.{field}"), "Field required"))?;
    if of == "base64" {
        let media_type = text(&source["media_type"]);
        demand(types.contains(&media_type), || {
            let known = types.iter().map(|known| format!("'{known}'")).collect::<Vec<_>>();
            let words = format!("Input should be {}", known.join(" or "));
            place.refuse(&format!("{at}.base64.media_type"), &words)
        })?;
        let data = text(&source["data"]);
        let is_base64 = |c: char| c.is_ascii_alphanumeric() || "+/=\n\r".contains(c);
        demand(!data.is_empty() && data.chars().all(is_base64), || {
            place.refuse(&format!("{at}.base64"), "invalid base64 data")
        })?;
    }
    Ok(())
}

fn the_new_version_takes_no_documents_from_the_assistant(incoming: &Incoming<'_>) -> Verdict {
    for place in blocks(incoming).filter(|_| incoming.version == "2026-10-21") {
        demand(place.role != "assistant" || place.kind() != "document", || {
            place.refuse("", "`document` blocks can only be in `user` messages")
        })?;
    }
    Ok(())
}
