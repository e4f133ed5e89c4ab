//! What goes with a conversation: tools to offer, and media to show.

use std::sync::Arc;

use interleaf_model::{ContentPart, Extra, File, Image, Json, Parts, Source, Tool};

/// A picture of one pixel.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// The first bytes of a document.
const PDF: &str = "JVBERi0xLjcK";

/// Pictures and files of every kind; each `n` leaves out some of them.
pub fn media(n: usize) -> Parts<ContentPart> {
    let image = |source, media_type: Option<&str>| {
        ContentPart::Image(Image {
            source,
            media_type: media_type.map(Into::into),
            extra: Extra::NONE,
        })
    };
    let file = |source, media_type: &str, name: Option<&str>| {
        let (media_type, name) = (Some(media_type.into()), name.map(Into::into));
        ContentPart::File(File { source, media_type, name, extra: Extra::NONE })
    };
    let inline = |data: &str| Source::Base64(data.into());
    let all = [
        image(inline(PNG), Some("image/png")),
        image(Source::Url("https://example.org/a.png".into()), None),
        file(inline(PDF), "application/pdf", Some("report.pdf")),
        file(Source::Url("https://example.org/a.pdf".into()), "application/pdf", None),
        file(inline("aGk="), "text/plain", Some("a.txt")),
        file(inline("UklGRg=="), "audio/wav", None),
    ];
    let from = n % all.len();
    Parts::new(all[from..].to_vec()).unwrap_or_else(|_| Parts::one(all[0].clone()))
}

/// Up to five tools, as `n` says: with and without a schema, strict and not, and one whose name
/// most APIs refuse.
pub fn tools(n: usize) -> Arc<[Tool]> {
    const OPEN: &str = r#"{"type":"object","properties":{"path":{"type":"string"}}}"#;
    const CLOSED: &str = r#"{"type":"object","properties":{"path":{"type":"string","enum":["a","b"]},
        "depth":{"type":["integer","null"]}},"required":["path","depth"],"additionalProperties":false}"#;
    const GOOGLES: &str = r#"{"type":"OBJECT","properties":{"path":{"type":"STRING"}}}"#;
    const REFERRING: &str = r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/A"},"b":{"anyOf":
        [{"type":"string"},{"type":"array","items":{"type":"number"}}]}},"$defs":{"A":{"const":1}}}"##;
    let tool = |name: &str, description: Option<&str>, schema: Option<&str>, strict| Tool {
        name: name.into(),
        description: description.map(Into::into),
        parameters: schema.and_then(|schema| Json::parse(schema).ok()),
        strict,
        extra: Extra::NONE,
    };
    let all = [
        tool("read_file", Some("Reads a file."), Some(OPEN), None),
        tool("write_file", Some("Writes a file."), Some(CLOSED), Some(true)),
        tool("bash", None, Some(REFERRING), Some(false)),
        tool("list", Some("Lists files."), None, None),
        tool("search the web!", Some(""), Some(GOOGLES), None),
    ];
    all[..n % (all.len() + 1)].into()
}
