//! A reply that grows, piece by piece.

use std::collections::BTreeMap;

use interleaf_model::{
    Arguments, AssistantPart, Body, CallId, Extra, File, Finish, Image, Json, Message, Opaque,
    Parts, Producer, Reply, Seal, Text, Thinking, ToolCall, Usage, VendorName,
};
use smol_str::SmolStr;

use crate::NameMap;

/// Collects the pieces of an answer, whole or streamed, into a reply.
///
/// Pieces are told apart by a key; parts stand in the order of their keys.
#[derive(Debug, Default)]
pub(crate) struct ReplyBuilder {
    slots: BTreeMap<u64, Slot>,
    pub(crate) finish: Option<Finish>,
    pub(crate) usage: Option<Usage>,
    pub(crate) model: Option<SmolStr>,
    pub(crate) id: Option<SmolStr>,
    /// What the vendor attached to the message as a whole.
    pub(crate) extra: Extra,
    /// Whether an ordinary stop is meant as such beside calls: the API has another
    /// word for calls that it chose to make.
    pub(crate) keeps_stop: bool,
}

#[derive(Debug)]
enum Slot {
    Text { text: String, extra: Extra },
    Thinking { text: String, seal: Option<Seal>, extra: Extra },
    Call { id: String, name: String, arguments: String, extra: Extra },
    Image(Image),
    File(File),
    Opaque(Opaque),
}

impl ReplyBuilder {
    /// Adds to a run of text.
    pub(crate) fn text(&mut self, key: u64, more: &str) {
        let slot = || Slot::Text { text: String::new(), extra: Extra::NONE };
        if let Slot::Text { text, .. } = self.slots.entry(key).or_insert_with(slot) {
            text.push_str(more);
        }
    }

    /// Adds to a thought.
    pub(crate) fn thinking(&mut self, key: u64, more: &str) {
        if let Slot::Thinking { text, .. } = self.thinking_slot(key) {
            text.push_str(more);
        }
    }

    /// Seals a thought.
    pub(crate) fn seal(&mut self, key: u64, new: Seal) {
        if let Slot::Thinking { seal, .. } = self.thinking_slot(key) {
            *seal = Some(new);
        }
    }

    /// Adds to the signature of a thought.
    pub(crate) fn sign(&mut self, key: u64, more: &str) {
        if let Slot::Thinking { seal, .. } = self.thinking_slot(key) {
            let before = match seal.take() {
                Some(Seal::Signature(before)) => before,
                _ => "".into(),
            };
            *seal = Some(Seal::Signature(format!("{before}{more}").into()));
        }
    }

    fn thinking_slot(&mut self, key: u64) -> &mut Slot {
        let slot = || Slot::Thinking { text: String::new(), seal: None, extra: Extra::NONE };
        self.slots.entry(key).or_insert_with(slot)
    }

    /// Begins a call, or adds to what is known of it: an id or name that came before
    /// stays.
    pub(crate) fn call(&mut self, key: u64, new_id: &str, new_name: &str) {
        if let Slot::Call { id, name, .. } = self.call_slot(key) {
            if id.is_empty() {
                new_id.clone_into(id);
            }
            if name.is_empty() {
                new_name.clone_into(name);
            }
        }
    }

    /// Adds to the arguments of a call.
    pub(crate) fn arguments(&mut self, key: u64, more: &str) {
        if let Slot::Call { arguments, .. } = self.call_slot(key) {
            arguments.push_str(more);
        }
    }

    fn call_slot(&mut self, key: u64) -> &mut Slot {
        let slot = || Slot::Call {
            id: String::new(),
            name: String::new(),
            arguments: String::new(),
            extra: Extra::NONE,
        };
        self.slots.entry(key).or_insert_with(slot)
    }

    /// Adds a picture.
    pub(crate) fn image(&mut self, key: u64, image: Image) {
        self.slots.insert(key, Slot::Image(image));
    }

    /// Adds a file.
    pub(crate) fn file(&mut self, key: u64, file: File) {
        self.slots.insert(key, Slot::File(file));
    }

    /// Adds a part that only its owner understands.
    pub(crate) fn opaque(&mut self, key: u64, owner: &str, value: Json) {
        let owner = VendorName::new(owner);
        self.slots.insert(key, Slot::Opaque(Opaque { owner, value }));
    }

    /// Adds a part that came whole.
    pub(crate) fn part(&mut self, key: u64, part: AssistantPart) {
        match part {
            AssistantPart::Text(text) => {
                self.text(key, &text.text);
                self.attach(key, text.extra);
            }
            AssistantPart::Thinking(thinking) => {
                self.thinking(key, &thinking.text);
                if let Some(seal) = thinking.seal {
                    self.seal(key, seal);
                }
                self.attach(key, thinking.extra);
            }
            AssistantPart::Call(call) => {
                self.call(key, call.id.as_str(), call.name.as_str());
                self.arguments(key, call.arguments.as_str());
                self.attach(key, call.extra);
            }
            AssistantPart::Image(image) => self.image(key, image),
            AssistantPart::File(file) => self.file(key, file),
            AssistantPart::Opaque(opaque) => self.opaque(key, opaque.owner.as_str(), opaque.value),
        }
    }

    /// Attaches vendor's fields to the part with this key.
    pub(crate) fn attach(&mut self, key: u64, new: Extra) {
        match self.slots.get_mut(&key) {
            Some(
                Slot::Text { extra, .. } | Slot::Thinking { extra, .. } | Slot::Call { extra, .. },
            ) => *extra = new,
            Some(Slot::Image(image)) => image.extra = new,
            Some(Slot::File(file)) => file.extra = new,
            Some(Slot::Opaque(_)) | None => {}
        }
    }

    /// The key behind all that are taken.
    pub(crate) fn next_key(&self) -> u64 {
        self.slots.last_key_value().map_or(0, |(key, _)| key + 1)
    }

    /// Whether any call was made.
    pub(crate) fn has_calls(&self) -> bool {
        self.slots.values().any(|slot| matches!(slot, Slot::Call { .. }))
    }

    /// The reply. A call without an id gets one from its place; an empty answer is an
    /// empty text.
    pub(crate) fn build(self, names: &NameMap, owner: &str) -> Reply {
        let producer = Producer { vendor: VendorName::new(owner), model: self.model.clone() };
        let mut n_calls = 0;
        let mut part = |slot: Slot| -> Option<AssistantPart> {
            Some(match slot {
                Slot::Text { text, extra } => {
                    AssistantPart::Text(Text { text: text.into(), extra })
                }
                Slot::Thinking { text, seal, extra } => AssistantPart::Thinking(Thinking {
                    text: text.into(),
                    seal,
                    producer: Some(producer.clone()),
                    extra,
                }),
                Slot::Call { id, name, arguments, extra } => {
                    let made = format!("call_{n_calls}");
                    n_calls += 1;
                    // A made id is never empty.
                    let id = CallId::new(&id).or_else(|_| CallId::new(&made)).ok()?;
                    let name = names.original(&name);
                    let arguments = Arguments::from_text(&arguments);
                    AssistantPart::Call(ToolCall { id, name, arguments, extra })
                }
                Slot::Image(image) => AssistantPart::Image(image),
                Slot::File(file) => AssistantPart::File(file),
                Slot::Opaque(opaque) => AssistantPart::Opaque(opaque),
            })
        };
        let has_calls = self.slots.values().any(|slot| matches!(slot, Slot::Call { .. }));
        let parts: Vec<AssistantPart> = self.slots.into_values().filter_map(&mut part).collect();
        let parts =
            Parts::new(parts).unwrap_or_else(|_| Parts::one(AssistantPart::Text(Text::new(""))));
        let message = Message { extra: self.extra, ..Message::from(Body::Assistant(parts)) };
        // Several APIs report an ordinary stop when they want results.
        let finish = match self.finish {
            Some(Finish::Stop) if has_calls && !self.keeps_stop => Finish::ToolCalls,
            None if has_calls => Finish::ToolCalls,
            Some(finish) => finish,
            None => Finish::Stop,
        };
        Reply { message, finish, usage: self.usage, model: self.model, id: self.id }
    }
}
