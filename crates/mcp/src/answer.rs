//! What a call answers.

use interleaf_model::Image;
use rmcp::model::{CallToolResult, ContentBlock, Resource, ResourceContents};
use serde_json::Value;

/// The most bytes of all pictures of an answer, in base64.
const MOST_PICTURED: usize = 8 * 1024 * 1024;

/// What a call answers.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Answer {
    /// In words; what cannot be shown is named.
    pub text: String,
    /// In pictures.
    pub images: Vec<Image>,
    /// Whether the tool says that it failed.
    pub is_error: bool,
}

impl From<CallToolResult> for Answer {
    fn from(result: CallToolResult) -> Self {
        let mut out = Self { is_error: result.is_error == Some(true), ..Self::default() };
        let mut room = MOST_PICTURED;
        let texts = || result.content.iter().filter_map(ContentBlock::as_text);
        let repeats = |value: &Value| texts().any(|text| is_said(value, &text.text));
        let structured = result.structured_content.as_ref().filter(|value| !repeats(value));
        let structured = structured.map(ToString::to_string);
        for block in result.content {
            match block {
                ContentBlock::Text(text) => out.say(&text.text),
                ContentBlock::Image(image) => out.show(&image.mime_type, image.data, &mut room),
                ContentBlock::Audio(audio) => out.leave_out(&audio.mime_type, audio.data.len()),
                ContentBlock::Resource(resource) => match resource.resource {
                    ResourceContents::TextResourceContents { uri, text, .. } => {
                        out.say(&format!("[{uri}]\n{text}"));
                    }
                    ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => {
                        out.say(&format!("[{uri}]"));
                        match mime_type.as_deref() {
                            Some(kind) if kind.starts_with("image/") => {
                                out.show(kind, blob, &mut room);
                            }
                            kind => out.leave_out(kind.unwrap_or("an unknown type"), blob.len()),
                        }
                    }
                    _ => out.say("[a resource of a kind that is not known]"),
                },
                ContentBlock::ResourceLink(link) => out.say(&linked(&link)),
                _ => out.say("[content of a kind that is not known]"),
            }
        }
        if let Some(structured) = structured {
            out.say(&structured);
        }
        out
    }
}

impl Answer {
    fn say(&mut self, text: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(text);
    }

    fn show(&mut self, kind: &str, data: String, room: &mut usize) {
        match room.checked_sub(data.len()) {
            Some(left) => {
                *room = left;
                self.images.push(Image::base64(kind, data));
            }
            None => self.leave_out(kind, data.len()),
        }
    }

    fn leave_out(&mut self, kind: &str, n: usize) {
        self.say(&format!("[content of {kind}, {n} bytes in base64, is left out]"));
    }
}

/// Whether a text says a value, as servers are to say their structured content: as JSON, or, of a
/// value that was wrapped to be an object, as that.
fn is_said(value: &Value, text: &str) -> bool {
    let says = |value: &Value| match value {
        Value::String(words) if words == text => true,
        _ => serde_json::from_str::<Value>(text).is_ok_and(|said| said == *value),
    };
    let inner = value.as_object().filter(|object| object.len() == 1);
    says(value) || inner.is_some_and(|object| object.values().any(says))
}

fn linked(link: &Resource) -> String {
    let what = link.description.as_ref().map(|what| format!(": {what}")).unwrap_or_default();
    format!("[see {} ({}){what}]", link.uri, link.name)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::is_said;

    #[test]
    fn structured_content_that_the_text_says_is_not_said_twice() {
        let said = [
            (json!({"n": 1}), "{ \"n\": 1 }"),
            (json!({"result": "hi"}), "hi"),
            (json!({"result": [1, 2]}), "[1,2]"),
        ];
        assert!(said.iter().all(|(value, text)| is_said(value, text)));
        let unsaid = [(json!({"n": 1}), "one"), (json!({"a": "hi", "b": "hi"}), "hi")];
        assert!(!unsaid.iter().any(|(value, text)| is_said(value, text)));
    }
}
