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
        let repeats = |value: &Value| {
            let mut texts = result.content.iter().filter_map(ContentBlock::as_text);
            // A server is to say its structured content as text too.
            texts.any(|text| serde_json::from_str::<Value>(&text.text).ok().as_ref() == Some(value))
        };
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

fn linked(link: &Resource) -> String {
    let what = link.description.as_ref().map(|what| format!(": {what}")).unwrap_or_default();
    format!("[see {} ({}){what}]", link.uri, link.name)
}
