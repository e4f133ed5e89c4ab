//! What a message is made of.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use smol_str::SmolStr;

use crate::{CallId, Error, Json, ToolName, VendorName, fragment};

/// A run of text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    /// The text itself; may be empty.
    pub text: Arc<str>,
    /// What a vendor attached to it.
    pub extra: Extra,
}

/// A picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// Where its bytes are.
    pub source: Source,
    /// Such as `image/png`, where known.
    pub media_type: Option<SmolStr>,
    /// What a vendor attached to it.
    pub extra: Extra,
}

/// A document, a sound, any attachment that is not a picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Where its bytes are.
    pub source: Source,
    /// Such as `application/pdf` or `audio/wav`, where known.
    pub media_type: Option<SmolStr>,
    /// Its file name, where known.
    pub name: Option<SmolStr>,
    /// What a vendor attached to it.
    pub extra: Extra,
}

/// Where the bytes of an image or a file are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// Inline, in base64.
    Base64(Arc<str>),
    /// At an address.
    Url(Arc<str>),
    /// Uploaded to a vendor, who knows them by this id.
    Id {
        /// Who keeps the file.
        owner: VendorName,
        /// Their name for it.
        id: Arc<str>,
    },
}

/// What a model thought before it spoke.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thinking {
    /// The thought or its summary; empty if it is sealed.
    pub text: Arc<str>,
    /// What its producer needs to accept it back.
    pub seal: Option<Seal>,
    /// Who thought it. Thinking is replayed only to its producer.
    pub producer: Option<Producer>,
    /// What a vendor attached to it.
    pub extra: Extra,
}

/// The proof that thinking is genuine, opaque to everyone but its producer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Seal {
    /// A signature over the readable text.
    Signature(Arc<str>),
    /// The thought itself, encrypted or redacted.
    Encrypted(Arc<str>),
}

/// The vendor and model that made a part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Producer {
    /// Who served the model.
    pub vendor: VendorName,
    /// Which model, where known.
    pub model: Option<SmolStr>,
}

/// A model's wish to run a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    /// What its result will refer to.
    pub id: CallId,
    /// Which tool.
    pub name: ToolName,
    /// With what.
    pub arguments: Arguments,
    /// What a vendor attached to it.
    pub extra: Extra,
}

/// The arguments of a call, byte for byte as the model wrote them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Arguments {
    /// A JSON object.
    Object(Json),
    /// Something else: cut off, or not JSON at all. Kept, never sent where an
    /// object is needed.
    Invalid(Arc<str>),
}

impl Arguments {
    /// Takes what a model wrote. An empty text means no arguments, and so does `null`.
    pub fn from_text(text: &str) -> Self {
        if matches!(text.trim(), "" | "null") {
            return Self::none();
        }
        match Json::parse(text) {
            Ok(json) => Self::from_json(json),
            Err(_) => Self::Invalid(text.into()),
        }
    }

    /// Takes a JSON value. An object that not every parser reads (half a surrogate
    /// pair, a number out of range, a nesting of more than 100 levels) is no
    /// object that can be sent.
    pub fn from_json(json: Json) -> Self {
        if json.is_object() && json.is_readable() {
            Self::Object(json)
        } else {
            Self::Invalid(json.as_str().into())
        }
    }

    /// The empty object.
    pub fn none() -> Self {
        Self::Object(Json::from(&serde_json::Value::Object(serde_json::Map::new())))
    }

    /// The arguments as a Rust value.
    ///
    /// ```
    /// use interleaf_model::Arguments;
    /// use serde::Deserialize;
    ///
    /// #[derive(Debug, Deserialize)]
    /// struct ReadFile {
    ///     path: String,
    /// }
    ///
    /// let read: ReadFile = Arguments::from_text(r#"{"path": "a.rs"}"#).parse()?;
    /// assert_eq!(read.path, "a.rs");
    /// let error = Arguments::from_text("{}").parse::<ReadFile>().unwrap_err();
    /// assert_eq!(error.message(), "missing field `path`");
    /// # Ok::<(), interleaf_model::Error>(())
    /// ```
    ///
    /// # Errors
    /// If they are no JSON object, or one of another form; the error says where, in words
    /// that can be told to the model.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, Error> {
        fragment::read_json(self.as_str()).map_err(|error| error.under("arguments"))
    }

    /// The text as it was written.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Object(json) => json.as_str(),
            Self::Invalid(text) => text,
        }
    }
}

/// A part that only its owner understands, carried and given back to that owner
/// alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opaque {
    /// Whose it is.
    pub owner: VendorName,
    /// The part as it came.
    pub value: Json,
}

/// Fields that a vendor attached to something we model, by owner.
///
/// Each owner's value is a JSON object. Empty costs one word.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Extra(Option<Arc<BTreeMap<VendorName, Json>>>);

impl Extra {
    /// Nothing attached.
    pub const NONE: Self = Self(None);

    /// One owner's fields.
    ///
    /// # Errors
    /// If `fields` is not a JSON object.
    pub fn of(owner: VendorName, fields: Json) -> Result<Self, Error> {
        Self::from_map(BTreeMap::from([(owner, fields)]))
    }

    /// The fields of several owners.
    ///
    /// # Errors
    /// If one owner's fields are not a JSON object.
    pub fn from_map(map: BTreeMap<VendorName, Json>) -> Result<Self, Error> {
        if let Some((owner, _)) = map.iter().find(|(_, fields)| !fields.is_object()) {
            return Err(Error::rule(format!("the extra fields of {owner:?} must be an object")));
        }
        Ok(if map.is_empty() { Self::NONE } else { Self(Some(Arc::new(map))) })
    }

    /// The same, with the fields of one owner set to these.
    ///
    /// # Errors
    /// If `fields` is not a JSON object.
    pub fn with(self, owner: VendorName, fields: Json) -> Result<Self, Error> {
        let mut map = self.0.map_or_else(BTreeMap::new, Arc::unwrap_or_clone);
        map.insert(owner, fields);
        Self::from_map(map)
    }

    /// Whether nothing is attached.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// The fields of one owner.
    pub fn get(&self, owner: &str) -> Option<&Json> {
        self.0.as_ref()?.get(owner)
    }

    /// All owners and their fields, by name of owner.
    pub fn iter(&self) -> impl Iterator<Item = (&VendorName, &Json)> {
        self.0.iter().flat_map(|map| map.iter())
    }
}

/// A part of a system message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SystemPart {
    /// Text.
    Text(Text),
    /// Someone else's.
    Opaque(Opaque),
}

/// A part of a user message or of a tool result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ContentPart {
    /// Text.
    Text(Text),
    /// A picture.
    Image(Image),
    /// An attachment.
    File(File),
    /// Someone else's.
    Opaque(Opaque),
}

/// A part of an assistant message; they stand in the order the model made them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AssistantPart {
    /// Text.
    Text(Text),
    /// A thought.
    Thinking(Thinking),
    /// A tool call.
    Call(ToolCall),
    /// A picture that the model made.
    Image(Image),
    /// A file that the model made.
    File(File),
    /// Someone else's.
    Opaque(Opaque),
}

impl Text {
    /// Text with nothing attached.
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        Self { text: text.into(), extra: Extra::NONE }
    }

    /// Whether there is nothing but white space.
    pub fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }
}

impl Image {
    /// A picture whose bytes are here, in base64.
    pub fn base64(media_type: &str, data: impl Into<Arc<str>>) -> Self {
        let media_type = Some(SmolStr::new(media_type));
        Self { source: Source::Base64(data.into()), media_type, extra: Extra::NONE }
    }

    /// A picture at an address.
    pub fn url(url: impl Into<Arc<str>>) -> Self {
        Self { source: Source::Url(url.into()), media_type: None, extra: Extra::NONE }
    }
}

impl File {
    /// A file whose bytes are here, in base64.
    pub fn base64(media_type: &str, data: impl Into<Arc<str>>) -> Self {
        let media_type = Some(SmolStr::new(media_type));
        Self { source: Source::Base64(data.into()), media_type, name: None, extra: Extra::NONE }
    }
}

impl From<&str> for ContentPart {
    fn from(text: &str) -> Self {
        Self::Text(Text::new(text))
    }
}

impl From<Image> for ContentPart {
    fn from(image: Image) -> Self {
        Self::Image(image)
    }
}

impl From<File> for ContentPart {
    fn from(file: File) -> Self {
        Self::File(file)
    }
}

impl ContentPart {
    /// The text, if it is one.
    pub fn as_text(&self) -> Option<&Text> {
        match self {
            Self::Text(text) => Some(text),
            Self::Image(_) | Self::File(_) | Self::Opaque(_) => None,
        }
    }
}

/// A part of any role, borrowed: what code that treats all roles alike looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartRef<'a> {
    /// Text.
    Text(&'a Text),
    /// A thought.
    Thinking(&'a Thinking),
    /// A tool call.
    Call(&'a ToolCall),
    /// A picture.
    Image(&'a Image),
    /// An attachment.
    File(&'a File),
    /// Someone else's.
    Opaque(&'a Opaque),
}

impl<'a> From<&'a SystemPart> for PartRef<'a> {
    fn from(part: &'a SystemPart) -> Self {
        match part {
            SystemPart::Text(text) => Self::Text(text),
            SystemPart::Opaque(opaque) => Self::Opaque(opaque),
        }
    }
}

impl<'a> From<&'a ContentPart> for PartRef<'a> {
    fn from(part: &'a ContentPart) -> Self {
        match part {
            ContentPart::Text(text) => Self::Text(text),
            ContentPart::Image(image) => Self::Image(image),
            ContentPart::File(file) => Self::File(file),
            ContentPart::Opaque(opaque) => Self::Opaque(opaque),
        }
    }
}

impl<'a> From<&'a AssistantPart> for PartRef<'a> {
    fn from(part: &'a AssistantPart) -> Self {
        match part {
            AssistantPart::Text(text) => Self::Text(text),
            AssistantPart::Thinking(thinking) => Self::Thinking(thinking),
            AssistantPart::Call(call) => Self::Call(call),
            AssistantPart::Image(image) => Self::Image(image),
            AssistantPart::File(file) => Self::File(file),
            AssistantPart::Opaque(opaque) => Self::Opaque(opaque),
        }
    }
}
