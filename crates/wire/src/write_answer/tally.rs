//! A reply, part by part, in the words that an API has for it.
//!
//! | in the reply | in an answer that has no place for it |
//! |---|---|
//! | a seal | the thought goes without it; a thought that is nothing but its seal is left out |
//! | a picture, a file, an opaque part | left out |
//! | a refusal | text |
//! | arguments that are no object | an object with one field that holds them |
//! | fields of another vendor | left out |
//! | a reason to stop | an ordinary stop |
//! | a count of tokens | left out; where the API insists on counts and none are known, zero |
//!
//! Each of these is reported.

use std::borrow::Cow;

use super::voice::{Merges, Voice};
use crate::adjustment::{AdjustmentKind, Adjustments};
use crate::raw::nearest;
use crate::tree::Value;
use interleaf_model::{
    Arguments, AssistantPart, Extra, File, Finish, Image, Json, Opaque, Reply, Seal, Text,
    Thinking, ToolCall, Usage,
};

/// A part that an API has a place for. `own` is what its owner attached.
pub(crate) enum Said<'a> {
    Text { text: Cow<'a, str>, own: Option<&'a Json> },
    Thinking { text: &'a str, seal: Option<&'a Seal>, own: Option<&'a Json> },
    Call { call: &'a ToolCall, own: Option<&'a Json> },
    Image { image: &'a Image, own: Option<&'a Json> },
    File { file: &'a File, own: Option<&'a Json> },
    Refusal(String),
    Opaque(&'a Json),
}

/// What of a part decides where it stands and what it becomes one with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Thinking,
    Text,
    Refusal,
    Other,
    Call,
}

/// What has been said so far, and what could not be.
pub(crate) struct Tally {
    voice: &'static Voice,
    /// The kind of the last part, and whether nothing tells its end.
    last: Option<(Kind, bool)>,
    has: [bool; 5],
    pub(crate) adjustments: Adjustments,
}

impl Tally {
    pub(crate) fn new(voice: &'static Voice) -> Self {
        Self { voice, last: None, has: [false; 5], adjustments: Adjustments::default() }
    }

    fn report(&mut self, kind: AdjustmentKind, detail: impl Into<String>) {
        self.adjustments.add_general(kind, detail);
    }

    /// What is said of a part; nothing if there is no place for it.
    pub(crate) fn part<'a>(&mut self, part: &'a AssistantPart) -> Option<Said<'a>> {
        let said = match part {
            AssistantPart::Text(text) => self.text(text)?,
            AssistantPart::Thinking(thinking) => self.thinking(thinking)?,
            AssistantPart::Call(call) => self.call(call),
            AssistantPart::Image(image) if (self.voice.image)(image) => {
                Said::Image { image, own: self.fields(&image.extra, Kind::Other) }
            }
            AssistantPart::File(file) if (self.voice.file)(file) => {
                Said::File { file, own: self.fields(&file.extra, Kind::Other) }
            }
            AssistantPart::Image(_) => {
                self.report(AdjustmentKind::MediaDropped, "a picture");
                return None;
            }
            AssistantPart::File(_) => {
                self.report(AdjustmentKind::MediaDropped, "a file");
                return None;
            }
            AssistantPart::Opaque(opaque) => self.opaque(opaque)?,
        };
        self.place(&said);
        Some(said)
    }

    fn text<'a>(&mut self, text: &'a Text) -> Option<Said<'a>> {
        let own = self.fields(&text.extra, Kind::Text);
        if text.text.is_empty() && own.is_none() {
            return None;
        }
        Some(Said::Text { text: Cow::Borrowed(&text.text), own })
    }

    fn thinking<'a>(&mut self, thinking: &'a Thinking) -> Option<Said<'a>> {
        let own = self.fields(&thinking.extra, Kind::Thinking);
        let seal = thinking.seal.as_ref();
        let kept = seal.filter(|seal| (self.voice.seals)(&thinking.text, seal));
        if thinking.text.is_empty() && kept.is_none() && own.is_none() {
            self.report(
                AdjustmentKind::ThinkingDropped,
                "there is no place for what it is sealed in",
            );
            return None;
        }
        if seal.is_some() && kept.is_none() {
            self.seal_dropped();
        }
        Some(Said::Thinking { text: &thinking.text, seal: kept, own })
    }

    /// A thought goes without its seal.
    pub(crate) fn seal_dropped(&mut self) {
        self.report(AdjustmentKind::SealDropped, "");
    }

    fn call<'a>(&mut self, call: &'a ToolCall) -> Said<'a> {
        if let Arguments::Invalid(text) = &call.arguments
            && (self.voice.wraps)(text)
        {
            self.report(AdjustmentKind::ArgumentsWrapped, format!("of {}", call.id));
        }
        Said::Call { call, own: self.fields(&call.extra, Kind::Call) }
    }

    fn opaque<'a>(&mut self, opaque: &'a Opaque) -> Option<Said<'a>> {
        if opaque.owner.as_str() == self.voice.owner && (self.voice.opaque)(&opaque.value) {
            return Some(Said::Opaque(&opaque.value));
        }
        if let Some(cited) = cited(&opaque.value) {
            self.report(AdjustmentKind::FieldsDropped, format!("{}'s citations", opaque.owner));
            return Some(Said::Text { text: Cow::Owned(cited), own: None });
        }
        let Some(refusal) = refusal(&opaque.value) else {
            self.report(AdjustmentKind::OpaqueDropped, format!("of {}", opaque.owner));
            return None;
        };
        if self.voice.refusals {
            return Some(Said::Refusal(refusal));
        }
        self.report(AdjustmentKind::RefusalInText, "");
        Some(Said::Text { text: Cow::Owned(refusal), own: None })
    }

    /// What the owner attached to a part, if such parts have fields; reports the rest.
    fn fields<'a>(&mut self, extra: &'a Extra, kind: Kind) -> Option<&'a Json> {
        self.foreign(extra, kind);
        let own = extra.get(self.voice.owner);
        if own.is_some() && !(self.voice.part_fields)(kind) {
            self.report(AdjustmentKind::FieldsDropped, format!("{}'s", self.voice.owner));
            return None;
        }
        own
    }

    /// Reports the fields of other owners, but for one that has a place all the same.
    fn foreign(&mut self, extra: &Extra, kind: Kind) {
        let is_lent =
            |owner: &str, name: &str| self.voice.lends == Some((owner, name)) && kind == Kind::Call;
        let mut dropped = Vec::new();
        for (owner, fields) in extra.iter().filter(|(owner, _)| owner.as_str() != self.voice.owner)
        {
            let Value::Object(fields) = nearest(fields) else { continue };
            let names = fields.keys();
            let names: Vec<&str> = names.filter(|name| !is_lent(owner.as_str(), name)).collect();
            if !names.is_empty() {
                dropped.push(format!("{owner}'s {}", names.join(", ")));
            }
        }
        for detail in dropped {
            self.report(AdjustmentKind::FieldsDropped, detail);
        }
    }

    /// Fields that came when it was too late to write them.
    pub(crate) fn late(&mut self, owner: &str) {
        self.report(AdjustmentKind::FieldsDropped, format!("{owner}'s, told after the part began"));
    }

    /// Notes where a part stands; reports what the API will not keep apart.
    fn place(&mut self, said: &Said<'_>) {
        let kind = said.kind();
        let is_one = matches!(kind, Kind::Text | Kind::Thinking | Kind::Refusal);
        match self.voice.merges {
            Merges::Nothing => {}
            Merges::Neighbours => {
                if is_one && said.joins() && self.last == Some((kind, true)) {
                    self.report(AdjustmentKind::PartsMerged, said.name());
                }
            }
            Merges::Kinds => {
                if is_one && self.has[kind as usize] {
                    self.report(AdjustmentKind::PartsMerged, said.name());
                } else if self.last.is_some_and(|(last, _)| last > kind) {
                    self.report(AdjustmentKind::PartsReordered, said.name());
                }
            }
        }
        self.has[kind as usize] = true;
        self.last = Some((kind, said.is_open()));
    }

    /// The word for why the model stopped.
    pub(crate) fn finish<'a>(&mut self, finish: &'a Finish) -> &'a str {
        let (has_calls, has_refusal) =
            (self.has[Kind::Call as usize], self.has[Kind::Refusal as usize]);
        let (word, meaning) = self.voice.finish.word(finish, has_calls, has_refusal);
        if meaning != *finish {
            self.report(AdjustmentKind::FinishChanged, format!("{finish} is {meaning}"));
        }
        word
    }

    /// The counts that the API can tell.
    pub(crate) fn usage(&mut self, usage: Option<Usage>) -> Option<Usage> {
        let counts = &self.voice.counts;
        let told = usage.map(|usage| counts.told(usage)).or(counts.needed.then(Usage::default));
        if told != usage {
            let detail = if usage.is_none() { "none are known" } else { "some have no field" };
            self.report(AdjustmentKind::UsageChanged, detail);
        }
        told
    }

    /// What the owner attached to the message as a whole.
    pub(crate) fn message<'a>(&mut self, extra: &'a Extra) -> Option<&'a Json> {
        self.foreign(extra, Kind::Other);
        let own = extra.get(self.voice.owner);
        if own.is_some() && !self.voice.message_fields {
            self.report(AdjustmentKind::FieldsDropped, format!("{}'s", self.voice.owner));
            return None;
        }
        own
    }

    /// The answer's names, where the API has no place for them.
    pub(crate) fn names(&mut self, reply: &Reply) {
        if !self.voice.named && (reply.id.is_some() || reply.model.is_some()) {
            self.report(AdjustmentKind::NamesDropped, "");
        }
    }
}

impl<'a> Said<'a> {
    /// The text of a text or a thought, or the arguments of a call.
    pub(crate) fn text(&self) -> &str {
        match self {
            Self::Text { text, .. } => text,
            Self::Thinking { text, .. } => text,
            Self::Call { call, .. } => call.arguments.as_str(),
            Self::Image { .. } | Self::File { .. } | Self::Refusal(_) | Self::Opaque(_) => "",
        }
    }

    /// What the owner attached.
    pub(crate) fn own(&self) -> Option<&'a Json> {
        match self {
            Self::Text { own, .. }
            | Self::Thinking { own, .. }
            | Self::Call { own, .. }
            | Self::Image { own, .. }
            | Self::File { own, .. } => *own,
            Self::Refusal(_) | Self::Opaque(_) => None,
        }
    }

    fn kind(&self) -> Kind {
        match self {
            Self::Thinking { .. } => Kind::Thinking,
            Self::Text { .. } => Kind::Text,
            Self::Refusal(_) => Kind::Refusal,
            Self::Image { .. } | Self::File { .. } => Kind::Other,
            Self::Opaque(value) if refusal(value).is_some() => Kind::Refusal,
            Self::Opaque(_) => Kind::Other,
            Self::Call { .. } => Kind::Call,
        }
    }

    fn name(&self) -> &'static str {
        match self.kind() {
            Kind::Thinking => "thoughts",
            Kind::Text => "texts",
            Kind::Refusal => "refusals",
            Kind::Other => "others",
            Kind::Call => "calls",
        }
    }

    /// Whether nothing tells it from more of the part before it.
    fn joins(&self) -> bool {
        match self {
            Self::Text { own, .. } | Self::Thinking { own, .. } => own.is_none(),
            _ => true,
        }
    }

    /// Whether nothing tells its end.
    fn is_open(&self) -> bool {
        match self {
            Self::Thinking { seal: Some(_), .. } => false,
            _ => self.joins(),
        }
    }
}

/// The words to search for of a refusal: of the part itself, or of a message that holds one.
pub(crate) fn refusal(value: &Json) -> Option<String> {
    if !value.as_str().contains("refusal") {
        return None;
    }
    let value = nearest(value);
    let words = |part: &Value| part.get("refusal")?.as_str().map(str::to_owned);
    let parts = value.get("content").and_then(Value::as_array);
    words(&value).or_else(|| parts?.iter().find_map(words))
}

/// The words to search for of a text that is kept with what it cites.
fn cited(value: &Json) -> Option<String> {
    if !value.as_str().contains("citationsContent") {
        return None;
    }
    let value = nearest(value);
    let content = value.get("citationsContent")?.get("content")?.as_array()?;
    Some(content.iter().filter_map(|piece| piece.get("text")?.as_str()).collect())
}
