//! What a model reads that writes a summary: a transcript in which a call stands with its
//! result, and says whether it is done (F3).

use std::collections::BTreeMap;
use std::sync::Arc;

use interleaf_model::{CallId, ContentPart, Message, PartRef, Status, ToolResult};

/// Tags of the transcript. What is said cannot close them.
const TAGS: [&str; 5] = ["transcript", "earlier_summary", "message", "call", "result"];

/// The characters that are left of a result or of arguments, from one try to the next; of what
/// is said four times as many.
const LENGTHS: [usize; 8] = [usize::MAX / 4, 16_000, 6_000, 2_500, 1_000, 400, 150, 60];

/// A transcript of at most this many tokens: where there are more, what is long is shortened in
/// its middle. What it has at the least, if that is more.
pub(crate) fn transcript(
    messages: &[Arc<Message>],
    earlier: Option<&str>,
    (count, most): (impl Fn(&str) -> u64, u64),
) -> Result<String, u64> {
    let mut least = 0;
    for length in LENGTHS {
        let text = written(messages, earlier, length);
        least = count(&text);
        if least <= most {
            return Ok(text);
        }
    }
    Err(least)
}

fn written(messages: &[Arc<Message>], earlier: Option<&str>, length: usize) -> String {
    // In an order that is the same in every process.
    let mut results: BTreeMap<&CallId, Vec<&ToolResult>> = BTreeMap::new();
    for result in messages.iter().filter_map(|message| message.as_result()) {
        results.entry(&result.call).or_default().push(result);
    }
    let mut out = String::from("<transcript>\n");
    if let Some(earlier) = earlier {
        element(&mut out, "earlier_summary", "", earlier, usize::MAX);
    }
    for message in messages.iter().filter(|message| message.as_result().is_none()) {
        let role = message.role();
        out += &format!("<message role=\"{role}\" id=\"{}\">\n", escaped(message.id.as_str()));
        for part in message.parts() {
            match part {
                PartRef::Text(text) => said(&mut out, &text.text, 4 * length),
                PartRef::Thinking(_) => {}
                PartRef::Call(call) => {
                    let answers = results.get_mut(&call.id);
                    let result = answers.filter(|some| !some.is_empty()).map(|some| some.remove(0));
                    let state = match result {
                        Some(result) if result.status == Status::Error => "failed",
                        Some(_) => "done",
                        None => "pending",
                    };
                    let name = escaped(call.name.as_str());
                    out += &format!("<call name=\"{name}\" state=\"{state}\">\n");
                    said(&mut out, call.arguments.as_str(), length);
                    if let Some(result) = result {
                        element(&mut out, "result", "", &text_of(result), length);
                    }
                    out += "</call>\n";
                }
                PartRef::Image(_) => out += "[an image]\n",
                PartRef::File(_) => out += "[a file]\n",
                PartRef::Opaque(_) => {}
            }
        }
        out += "</message>\n";
    }
    // A result whose call is not here.
    for result in results.into_values().flatten() {
        let call = format!(" call=\"{}\"", escaped(result.call.as_str()));
        element(&mut out, "result", &call, &text_of(result), length);
    }
    out + "</transcript>\n"
}

fn text_of(result: &ToolResult) -> String {
    let texts = result.parts.iter().map(|part| match part {
        ContentPart::Text(text) => text.text.to_string(),
        ContentPart::Image(_) => "[an image]".to_owned(),
        ContentPart::File(_) => "[a file]".to_owned(),
        ContentPart::Opaque(_) => String::new(),
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn element(out: &mut String, tag: &str, attributes: &str, text: &str, length: usize) {
    *out += &format!("<{tag}{attributes}>\n");
    said(out, text, length);
    *out += &format!("</{tag}>\n");
}

/// A text that closes no tag of ours, shortened in its middle if it is long.
fn said(out: &mut String, text: &str, length: usize) {
    let mut text = shortened(text.trim(), length);
    for tag in TAGS {
        text = text.replace(&format!("</{tag}"), &format!("<\\/{tag}"));
    }
    if !text.is_empty() {
        *out += &text;
        out.push('\n');
    }
}

/// A text of about this many characters at most, without its middle if it has more.
pub(crate) fn shortened(text: &str, length: usize) -> String {
    let n = text.chars().count();
    if n <= length {
        return text.to_owned();
    }
    let (head, tail) = (length * 2 / 3, length / 3);
    let head: String = text.chars().take(head).collect();
    let tail: String = text.chars().skip(n - tail).collect();
    format!("{head}\n[… {} characters …]\n{tail}", n - length)
}

/// A text inside of quotes.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;")
}
